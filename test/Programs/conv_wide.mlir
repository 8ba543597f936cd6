// Convolutions of many features, which oneDNN gets in its own form: forward,
// strided, spatial dims and features sharded, and their gradients.
// RUN: %verify
// RUN: %verify-gradient
#mesh = #dtensor.mesh<x = 2, y = 4>
#n = #dtensor.layout<#mesh, [x, *, *, *]>
#h = #dtensor.layout<#mesh, [x, y, *, *]>
#o = #dtensor.layout<#mesh, [*, *, *, y]>

func.func @main(%x: tensor<6x9x7x64xf32, #n>, %u: tensor<3x3x64x72xf32>, %v: tensor<2x2x72x64xf32, #o>, %w: tensor<3x2x64x64xf32>) -> tensor<f32> {
  %0 = dtensor.convolution %x, %u dims [b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f] padding [1, 1, 1, 1] : (tensor<6x9x7x64xf32, #n>, tensor<3x3x64x72xf32>) -> tensor<6x9x7x72xf32>
  %1 = dtensor.constraint %0 : (tensor<6x9x7x72xf32>) -> tensor<6x9x7x72xf32, #h>
  %2 = dtensor.convolution %1, %v dims [b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f] strides [2, 1] : (tensor<6x9x7x72xf32, #h>, tensor<2x2x72x64xf32, #o>) -> tensor<6x4x6x64xf32>
  %3 = dtensor.convolution %2, %w dims [b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f] padding [2, 1, 0, 1] rhs_dilation [1, 2] : (tensor<6x4x6x64xf32>, tensor<3x2x64x64xf32>) -> tensor<6x5x5x64xf32>
  %4 = dtensor.multiply %3, %3 : tensor<6x5x5x64xf32>
  %5 = dtensor.reduce sum %4 dims [0, 1, 2, 3] : (tensor<6x5x5x64xf32>) -> tensor<f32>
  return %5 : tensor<f32>
}
