// Gradients of convolutions with sharded batch, features and spatial dims,
// strides, dilations and groups. The weight gradient of a sharded spatial dim
// sums over the devices, each of which sees its window.
// RUN: %verify
// RUN: %verify-gradient
#mesh = #dtensor.mesh<x = 2, y = 4>
#h = #dtensor.layout<#mesh, [*, x, *, *]>
#w = #dtensor.layout<#mesh, [*, *, {x, y}, *]>
#hw = #dtensor.layout<#mesh, [*, x, y, *]>
#bh = #dtensor.layout<#mesh, [x, y, *, *]>
#s = #dtensor.layout<#mesh, [*, {x, y}, *]>
#s1 = #dtensor.layout<#mesh, [*, x, *]>
#b = #dtensor.layout<#mesh, [x, *, *]>
#ch = #dtensor.layout<#mesh, [*, *, x, y]>

func.func @main(%x0: tensor<4x12x2xf32, #b>,
    %w0: tensor<3x2x4xf32>,
    %x1: tensor<4x20x2xf32, #s>,
    %w1: tensor<5x2x4xf32>,
    %x2: tensor<4x20x2xf32, #s>,
    %w2: tensor<3x2x4xf32>,
    %x3: tensor<4x20x2xf32, #s1>,
    %w3: tensor<3x2x4xf32>,
    %x4: tensor<4x9x2xf32, #s1>,
    %w4: tensor<3x2x4xf32>,
    %x5: tensor<4x9x6xf32>,
    %w5: tensor<3x3x4xf32>,
    %x6: tensor<4x9x6xf32, #s1>,
    %w6: tensor<3x6x4xf32>,
    %x7: tensor<2x8x6x2xf32, #hw>,
    %w7: tensor<3x3x2x3xf32>)
    -> (tensor<f32>) {
  // Batch.
  %y0 = dtensor.convolution %x0, %w0 dims [b, 0, f] x [0, i, o] -> [b, 0, f] padding [1, 1]
      : (tensor<4x12x2xf32, #b>, tensor<3x2x4xf32>) -> tensor<4x12x4xf32>
  %q0 = dtensor.multiply %y0, %y0 : tensor<4x12x4xf32>
  %s0 = dtensor.reduce sum %q0 dims [0, 1, 2] : (tensor<4x12x4xf32>) -> tensor<f32>
  // Spatial, two hops.
  %y1 = dtensor.convolution %x1, %w1 dims [b, 0, f] x [0, i, o] -> [b, 0, f] padding [2, 2]
      : (tensor<4x20x2xf32, #s>, tensor<5x2x4xf32>) -> tensor<4x20x4xf32>
  %r1 = dtensor.constraint %y1 : (tensor<4x20x4xf32>) -> tensor<4x20x4xf32, #s>
  %q1 = dtensor.multiply %r1, %r1 : tensor<4x20x4xf32, #s>
  %s1 = dtensor.reduce sum %q1 dims [0, 1, 2] : (tensor<4x20x4xf32, #s>) -> tensor<f32>
  // Stride.
  %y2 = dtensor.convolution %x2, %w2 dims [b, 0, f] x [0, i, o] -> [b, 0, f] strides [2] padding [1, 1]
      : (tensor<4x20x2xf32, #s>, tensor<3x2x4xf32>) -> tensor<4x10x4xf32>
  %r2 = dtensor.constraint %y2 : (tensor<4x10x4xf32>) -> tensor<4x10x4xf32, #s>
  %q2 = dtensor.multiply %r2, %r2 : tensor<4x10x4xf32, #s>
  %s2 = dtensor.reduce sum %q2 dims [0, 1, 2] : (tensor<4x10x4xf32, #s>) -> tensor<f32>
  // Kernel dilation.
  %y3 = dtensor.convolution %x3, %w3 dims [b, 0, f] x [0, i, o] -> [b, 0, f] padding [4, 1] rhs_dilation [2]
      : (tensor<4x20x2xf32, #s1>, tensor<3x2x4xf32>) -> tensor<4x21x4xf32>
  %r3 = dtensor.constraint %y3 : (tensor<4x21x4xf32>) -> tensor<4x21x4xf32, #s1>
  %q3 = dtensor.multiply %r3, %r3 : tensor<4x21x4xf32, #s1>
  %s3 = dtensor.reduce sum %q3 dims [0, 1, 2] : (tensor<4x21x4xf32, #s1>) -> tensor<f32>
  // lhs dilation, backwards.
  %y4 = dtensor.convolution %x4, %w4 dims [b, 0, f] x [0, i, o] -> [b, 0, f] padding [1, 2] lhs_dilation [2] reversal [1]
      : (tensor<4x9x2xf32, #s1>, tensor<3x2x4xf32>) -> tensor<4x18x4xf32>
  %q4 = dtensor.multiply %y4, %y4 : tensor<4x18x4xf32>
  %s4 = dtensor.reduce sum %q4 dims [0, 1, 2] : (tensor<4x18x4xf32>) -> tensor<f32>
  // Feature groups.
  %y5 = dtensor.convolution %x5, %w5 dims [b, 0, f] x [0, i, o] -> [b, 0, f] padding [1, 1] feature_groups 2
      : (tensor<4x9x6xf32>, tensor<3x3x4xf32>) -> tensor<4x9x4xf32>
  %r5 = dtensor.constraint %y5 : (tensor<4x9x4xf32>) -> tensor<4x9x4xf32, #b>
  %q5 = dtensor.multiply %r5, %r5 : tensor<4x9x4xf32, #b>
  %s5 = dtensor.reduce sum %q5 dims [0, 1, 2] : (tensor<4x9x4xf32, #b>) -> tensor<f32>
  // Batch groups.
  %y6 = dtensor.convolution %x6, %w6 dims [b, 0, f] x [0, i, o] -> [b, 0, f] batch_groups 2
      : (tensor<4x9x6xf32, #s1>, tensor<3x6x4xf32>) -> tensor<2x7x4xf32>
  %q6 = dtensor.multiply %y6, %y6 : tensor<2x7x4xf32>
  %s6 = dtensor.reduce sum %q6 dims [0, 1, 2] : (tensor<2x7x4xf32>) -> tensor<f32>
  // Two spatial dims.
  %y7 = dtensor.convolution %x7, %w7 dims [b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f] strides [2, 1] padding [1, 1, 1, 1]
      : (tensor<2x8x6x2xf32, #hw>, tensor<3x3x2x3xf32>) -> tensor<2x4x6x3xf32>
  %q7 = dtensor.multiply %y7, %y7 : tensor<2x4x6x3xf32>
  %s7 = dtensor.reduce sum %q7 dims [0, 1, 2, 3] : (tensor<2x4x6x3xf32>) -> tensor<f32>
  %l0 = dtensor.add %s0, %s1 : tensor<f32>
  %l1 = dtensor.add %l0, %s2 : tensor<f32>
  %l2 = dtensor.add %l1, %s3 : tensor<f32>
  %l3 = dtensor.add %l2, %s4 : tensor<f32>
  %l4 = dtensor.add %l3, %s5 : tensor<f32>
  %l5 = dtensor.add %l4, %s6 : tensor<f32>
  %l6 = dtensor.add %l5, %s7 : tensor<f32>
  return %l6 : tensor<f32>
}
