// Convolutions of every kind of element, grouped and not, with sharded batch,
// groups and features.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2, y = 4>
#b = #dtensor.layout<#mesh, [x, *, *]>
#f = #dtensor.layout<#mesh, [*, *, y]>
#i = #dtensor.layout<#mesh, [*, {x, y}, *]>
#o = #dtensor.layout<#mesh, [*, *, x]>
#s = #dtensor.layout<#mesh, [*, y, *]>

func.func @main(%x0: tensor<4x9x6xbf16, #b>,
    %w0: tensor<3x6x8xbf16, #o>,
    %x1: tensor<4x9x6xf16, #s>,
    %w1: tensor<3x6x8xf16>,
    %x2: tensor<4x9x8xf64, #f>,
    %w2: tensor<3x8x6xf64, #i>,
    %x3: tensor<4x9x6xi32, #s>,
    %w3: tensor<3x6x8xi32>,
    %x4: tensor<4x9x6xui8, #b>,
    %w4: tensor<3x6x8xui8>,
    %x5: tensor<4x9x6xi64, #b>,
    %w5: tensor<3x6x8xi64>,
    %x6: tensor<4x9x6xcomplex<f32>, #s>,
    %w6: tensor<3x6x8xcomplex<f32>>,
    %x7: tensor<4x9x8xf32, #f>,
    %w7: tensor<3x1x16xf32>,
    %x8: tensor<4x9x8xf32, #f>,
    %w8: tensor<3x2x8xf32>,
    %x9: tensor<4x9x8xf64, #s>,
    %w9: tensor<3x2x8xf64>,
    %x10: tensor<8x9x3xf32, #b>,
    %w10: tensor<3x3x8xf32>,
    %x11: tensor<8x9x3xf64, #s>,
    %w11: tensor<3x3x8xf64>,
    %x12: tensor<4x9x6xf32>,
    %w12: tensor<1x6x8xf32, #i>,
    %x13: tensor<4x9x6xf32, #s>,
    %w13: tensor<9x6x8xf32, #s>)
    -> (tensor<4x9x8xbf16>,
        tensor<4x4x8xf16, #s>,
        tensor<4x9x6xf64>,
        tensor<4x7x8xi32>,
        tensor<4x15x8xui8>,
        tensor<4x7x8xi64>,
        tensor<4x9x8xcomplex<f32>, #s>,
        tensor<4x9x16xf32, #f>,
        tensor<4x9x8xf32, #f>,
        tensor<4x9x8xf64, #s>,
        tensor<2x7x8xf32>,
        tensor<1x9x8xf64, #s>,
        tensor<4x9x8xf32, #s>,
        tensor<4x1x8xf32>) {
  // Rows and output features.
  %y0 = dtensor.convolution %x0, %w0 dims [b, 0, f] x [0, i, o] -> [b, 0, f] padding [1, 1]
      : (tensor<4x9x6xbf16, #b>, tensor<3x6x8xbf16, #o>) -> tensor<4x9x8xbf16>

  %y1 = dtensor.convolution %x1, %w1 dims [b, 0, f] x [0, i, o] -> [b, 0, f] strides [2]
      : (tensor<4x9x6xf16, #s>, tensor<3x6x8xf16>) -> tensor<4x4x8xf16>
  %r1 = dtensor.constraint %y1 : (tensor<4x4x8xf16>) -> tensor<4x4x8xf16, #s>
  // Input features: sums over devices.
  %y2 = dtensor.convolution %x2, %w2 dims [b, 0, f] x [0, i, o] -> [b, 0, f] padding [1, 1]
      : (tensor<4x9x8xf64, #f>, tensor<3x8x6xf64, #i>) -> tensor<4x9x6xf64>

  %y3 = dtensor.convolution %x3, %w3 dims [b, 0, f] x [0, i, o] -> [b, 0, f] padding [2, 0] rhs_dilation [2]
      : (tensor<4x9x6xi32, #s>, tensor<3x6x8xi32>) -> tensor<4x7x8xi32>

  %y4 = dtensor.convolution %x4, %w4 dims [b, 0, f] x [0, i, o] -> [b, 0, f] lhs_dilation [2]
      : (tensor<4x9x6xui8, #b>, tensor<3x6x8xui8>) -> tensor<4x15x8xui8>

  %y5 = dtensor.convolution %x5, %w5 dims [b, 0, f] x [0, i, o] -> [b, 0, f]
      : (tensor<4x9x6xi64, #b>, tensor<3x6x8xi64>) -> tensor<4x7x8xi64>

  %y6 = dtensor.convolution %x6, %w6 dims [b, 0, f] x [0, i, o] -> [b, 0, f] padding [1, 1]
      : (tensor<4x9x6xcomplex<f32>, #s>, tensor<3x6x8xcomplex<f32>>) -> tensor<4x9x8xcomplex<f32>>
  %r6 = dtensor.constraint %y6 : (tensor<4x9x8xcomplex<f32>>) -> tensor<4x9x8xcomplex<f32>, #s>
  // Depthwise, groups over devices.
  %y7 = dtensor.convolution %x7, %w7 dims [b, 0, f] x [0, i, o] -> [b, 0, f] padding [1, 1] feature_groups 8
      : (tensor<4x9x8xf32, #f>, tensor<3x1x16xf32>) -> tensor<4x9x16xf32>
  %r7 = dtensor.constraint %y7 : (tensor<4x9x16xf32>) -> tensor<4x9x16xf32, #f>
  // Four groups of two over four devices.
  %y8 = dtensor.convolution %x8, %w8 dims [b, 0, f] x [0, i, o] -> [b, 0, f] padding [1, 1] feature_groups 4
      : (tensor<4x9x8xf32, #f>, tensor<3x2x8xf32>) -> tensor<4x9x8xf32>
  %r8 = dtensor.constraint %y8 : (tensor<4x9x8xf32>) -> tensor<4x9x8xf32, #f>

  %y9 = dtensor.convolution %x9, %w9 dims [b, 0, f] x [0, i, o] -> [b, 0, f] padding [1, 1] reversal [1] feature_groups 4
      : (tensor<4x9x8xf64, #s>, tensor<3x2x8xf64>) -> tensor<4x9x8xf64>
  %r9 = dtensor.constraint %y9 : (tensor<4x9x8xf64>) -> tensor<4x9x8xf64, #s>
  // Batch groups: the major part of the batch.
  %y10 = dtensor.convolution %x10, %w10 dims [b, 0, f] x [0, i, o] -> [b, 0, f] batch_groups 4
      : (tensor<8x9x3xf32, #b>, tensor<3x3x8xf32>) -> tensor<2x7x8xf32>

  %y11 = dtensor.convolution %x11, %w11 dims [b, 0, f] x [0, i, o] -> [b, 0, f] padding [1, 1] batch_groups 8
      : (tensor<8x9x3xf64, #s>, tensor<3x3x8xf64>) -> tensor<1x9x8xf64>
  %r11 = dtensor.constraint %y11 : (tensor<1x9x8xf64>) -> tensor<1x9x8xf64, #s>
  // One element: a product, its dims sharded at will.
  %y12 = dtensor.convolution %x12, %w12 dims [b, 0, f] x [0, i, o] -> [b, 0, f]
      : (tensor<4x9x6xf32>, tensor<1x6x8xf32, #i>) -> tensor<4x9x8xf32>
  %r12 = dtensor.constraint %y12 : (tensor<4x9x8xf32>) -> tensor<4x9x8xf32, #s>
  // A kernel as large as lhs: both spatial dims sharded.
  %y13 = dtensor.convolution %x13, %w13 dims [b, 0, f] x [0, i, o] -> [b, 0, f]
      : (tensor<4x9x6xf32, #s>, tensor<9x6x8xf32, #s>) -> tensor<4x1x8xf32>
  return %y0, %r1, %y2, %y3, %y4, %y5, %r6, %r7, %r8, %r9, %y10, %r11, %r12, %y13 : tensor<4x9x8xbf16>, tensor<4x4x8xf16, #s>, tensor<4x9x6xf64>, tensor<4x7x8xi32>, tensor<4x15x8xui8>, tensor<4x7x8xi64>, tensor<4x9x8xcomplex<f32>, #s>, tensor<4x9x16xf32, #f>, tensor<4x9x8xf32, #f>, tensor<4x9x8xf64, #s>, tensor<2x7x8xf32>, tensor<1x9x8xf64, #s>, tensor<4x9x8xf32, #s>, tensor<4x1x8xf32>
}
