// An MLP over tokens, then one over channels: the transposes move the sharded
// dim. Its gradient too.
// RUN: %verify-gradient
#mesh = #dtensor.mesh<data = 2, tokens = 4>
#x = #dtensor.layout<#mesh, [data, tokens, *]>
#w = #dtensor.layout<#mesh, [*, *]>

func.func @main(%x: tensor<4x8x6xf32, #x>, %a: tensor<8x8xf32, #w>, %b: tensor<6x6xf32, #w>) -> tensor<f32> {
  %0 = dtensor.transpose %x dims [0, 2, 1] : (tensor<4x8x6xf32, #x>) -> tensor<4x6x8xf32>
  %1 = dtensor.dot_general %0, %a contracting [2] x [0] : (tensor<4x6x8xf32>, tensor<8x8xf32, #w>) -> tensor<4x6x8xf32>
  %2 = dtensor.erf %1 : tensor<4x6x8xf32>
  %3 = dtensor.transpose %2 dims [0, 2, 1] : (tensor<4x6x8xf32>) -> tensor<4x8x6xf32>
  %4 = dtensor.add %3, %x : (tensor<4x8x6xf32>, tensor<4x8x6xf32, #x>) -> tensor<4x8x6xf32>
  %5 = dtensor.dot_general %4, %b contracting [2] x [0] : (tensor<4x8x6xf32>, tensor<6x6xf32, #w>) -> tensor<4x8x6xf32>
  %6 = dtensor.logistic %5 : tensor<4x8x6xf32>
  %7 = dtensor.add %6, %4 : tensor<4x8x6xf32>
  %8 = dtensor.multiply %7, %7 : tensor<4x8x6xf32>
  %9 = dtensor.reduce sum %8 dims [0, 1, 2] : (tensor<4x8x6xf32>) -> tensor<f32>
  return %9 : tensor<f32>
}
