// Convolutions whose spatial dims are sharded: SAME and VALID, strides, both
// dilations, kernels read backwards, more padding than a shard is long, uneven
// and empty shards, windows over several hops, two sharded spatial dims.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2, y = 4>
#h = #dtensor.layout<#mesh, [*, x, *, *]>
#w = #dtensor.layout<#mesh, [*, *, {x, y}, *]>
#hw = #dtensor.layout<#mesh, [*, x, y, *]>
#bh = #dtensor.layout<#mesh, [x, y, *, *]>
#s = #dtensor.layout<#mesh, [*, {x, y}, *]>
#s1 = #dtensor.layout<#mesh, [*, x, *]>
#b = #dtensor.layout<#mesh, [x, *, *]>
#ch = #dtensor.layout<#mesh, [*, *, x, y]>

func.func @main(%x0: tensor<2x16x9x3xf32, #h>,
    %w0: tensor<3x3x3x5xf32>,
    %x1: tensor<2x16x9x3xf32, #hw>,
    %w1: tensor<3x3x3x5xf32>,
    %x2: tensor<2x3x16x9xf32, #ch>,
    %w2: tensor<5x3x3x2xf32>,
    %x3: tensor<2x13x11x3xf32, #w>,
    %w3: tensor<3x4x3x2xf32>,
    %x4: tensor<3x20x2xf32, #s>,
    %w4: tensor<9x2x4xf32>,
    %x5: tensor<3x20x2xf32, #s>,
    %w5: tensor<3x2x4xf32>,
    %x6: tensor<3x20x2xf32, #s>,
    %w6: tensor<4x2x4xf32>,
    %x7: tensor<3x20x2xf32, #s>,
    %w7: tensor<4x2x4xf32>,
    %x8: tensor<3x20x2xf32, #s>,
    %w8: tensor<3x2x4xf32>,
    %x9: tensor<3x5x2xf32, #s>,
    %w9: tensor<3x2x4xf32>,
    %x10: tensor<3x5x2xf32, #s>,
    %w10: tensor<3x2x4xf32>,
    %x11: tensor<3x0x2xf32, #s>,
    %w11: tensor<3x2x4xf32>)
    -> (tensor<2x16x9x5xf32, #h>,
        tensor<2x14x7x5xf32, #hw>,
        tensor<2x5x16x9xf32, #ch>,
        tensor<2x7x4x2xf32, #w>,
        tensor<3x20x4xf32, #s>,
        tensor<3x20x4xf32, #s>,
        tensor<3x60x4xf32, #s>,
        tensor<3x30x4xf32, #s1>,
        tensor<3x13x4xf32, #s>,
        tensor<3x5x4xf32, #s>,
        tensor<3x21x4xf32, #s>,
        tensor<3x4x4xf32, #s>) {
  // SAME, rows in two.
  %y0 = dtensor.convolution %x0, %w0 dims [b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f] padding [1, 1, 1, 1]
      : (tensor<2x16x9x3xf32, #h>, tensor<3x3x3x5xf32>) -> tensor<2x16x9x5xf32>
  %r0 = dtensor.constraint %y0 : (tensor<2x16x9x5xf32>) -> tensor<2x16x9x5xf32, #h>
  // VALID, rows and columns: 14 x 7 places.
  %y1 = dtensor.convolution %x1, %w1 dims [b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]
      : (tensor<2x16x9x3xf32, #hw>, tensor<3x3x3x5xf32>) -> tensor<2x14x7x5xf32>
  %r1 = dtensor.constraint %y1 : (tensor<2x14x7x5xf32>) -> tensor<2x14x7x5xf32, #hw>
  // Channels first.
  %y2 = dtensor.convolution %x2, %w2 dims [b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1] padding [1, 1, 1, 0]
      : (tensor<2x3x16x9xf32, #ch>, tensor<5x3x3x2xf32>) -> tensor<2x5x16x9xf32>
  %r2 = dtensor.constraint %y2 : (tensor<2x5x16x9xf32>) -> tensor<2x5x16x9xf32, #ch>
  // Strides; 11 columns over 8 devices.
  %y3 = dtensor.convolution %x3, %w3 dims [b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f] strides [2, 3] padding [1, 1, 2, 1]
      : (tensor<2x13x11x3xf32, #w>, tensor<3x4x3x2xf32>) -> tensor<2x7x4x2xf32>
  %r3 = dtensor.constraint %y3 : (tensor<2x7x4x2xf32>) -> tensor<2x7x4x2xf32, #w>
  // A window of 9 over shards of 3: three hops.
  %y4 = dtensor.convolution %x4, %w4 dims [b, 0, f] x [0, i, o] -> [b, 0, f] padding [4, 4]
      : (tensor<3x20x2xf32, #s>, tensor<9x2x4xf32>) -> tensor<3x20x4xf32>
  %r4 = dtensor.constraint %y4 : (tensor<3x20x4xf32>) -> tensor<3x20x4xf32, #s>
  // Elements 6 and 12 away, none between.
  %y5 = dtensor.convolution %x5, %w5 dims [b, 0, f] x [0, i, o] -> [b, 0, f] padding [12, 0] rhs_dilation [6]
      : (tensor<3x20x2xf32, #s>, tensor<3x2x4xf32>) -> tensor<3x20x4xf32>
  %r5 = dtensor.constraint %y5 : (tensor<3x20x4xf32>) -> tensor<3x20x4xf32, #s>
  // The data gradient of a convolution with stride 3.
  %y6 = dtensor.convolution %x6, %w6 dims [b, 0, f] x [0, i, o] -> [b, 0, f] padding [2, 3] lhs_dilation [3]
      : (tensor<3x20x2xf32, #s>, tensor<4x2x4xf32>) -> tensor<3x60x4xf32>
  %r6 = dtensor.constraint %y6 : (tensor<3x60x4xf32>) -> tensor<3x60x4xf32, #s>
  // Dilated and strided.
  %y7 = dtensor.convolution %x7, %w7 dims [b, 0, f] x [0, i, o] -> [b, 0, f] strides [2] padding [2, 3] lhs_dilation [3]
      : (tensor<3x20x2xf32, #s>, tensor<4x2x4xf32>) -> tensor<3x30x4xf32>
  %r7 = dtensor.constraint %y7 : (tensor<3x30x4xf32>) -> tensor<3x30x4xf32, #s1>
  // Cropped, and the kernel backwards.
  %y8 = dtensor.convolution %x8, %w8 dims [b, 0, f] x [0, i, o] -> [b, 0, f] padding [-3, -2] reversal [1]
      : (tensor<3x20x2xf32, #s>, tensor<3x2x4xf32>) -> tensor<3x13x4xf32>
  %r8 = dtensor.constraint %y8 : (tensor<3x13x4xf32>) -> tensor<3x13x4xf32, #s>
  // More devices than places.
  %y9 = dtensor.convolution %x9, %w9 dims [b, 0, f] x [0, i, o] -> [b, 0, f] padding [1, 1]
      : (tensor<3x5x2xf32, #s>, tensor<3x2x4xf32>) -> tensor<3x5x4xf32>
  %r9 = dtensor.constraint %y9 : (tensor<3x5x4xf32>) -> tensor<3x5x4xf32, #s>
  // Most places see padding only.
  %y10 = dtensor.convolution %x10, %w10 dims [b, 0, f] x [0, i, o] -> [b, 0, f] padding [9, 9]
      : (tensor<3x5x2xf32, #s>, tensor<3x2x4xf32>) -> tensor<3x21x4xf32>
  %r10 = dtensor.constraint %y10 : (tensor<3x21x4xf32>) -> tensor<3x21x4xf32, #s>
  // Nothing but padding.
  %y11 = dtensor.convolution %x11, %w11 dims [b, 0, f] x [0, i, o] -> [b, 0, f] padding [3, 3]
      : (tensor<3x0x2xf32, #s>, tensor<3x2x4xf32>) -> tensor<3x4x4xf32>
  %r11 = dtensor.constraint %y11 : (tensor<3x4x4xf32>) -> tensor<3x4x4xf32, #s>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11 : tensor<2x16x9x5xf32, #h>, tensor<2x14x7x5xf32, #hw>, tensor<2x5x16x9xf32, #ch>, tensor<2x7x4x2xf32, #w>, tensor<3x20x4xf32, #s>, tensor<3x20x4xf32, #s>, tensor<3x60x4xf32, #s>, tensor<3x30x4xf32, #s1>, tensor<3x13x4xf32, #s>, tensor<3x5x4xf32, #s>, tensor<3x21x4xf32, #s>, tensor<3x4x4xf32, #s>
}
