// Attention with batch on one axis and heads on the other, and its gradient.
// RUN: %verify-gradient
#mesh = #dtensor.mesh<data = 2, model = 4>
#qkv = #dtensor.layout<#mesh, [data, *, model, *]>

func.func @main(%q: tensor<4x6x4x8xf32, #qkv>, %k: tensor<4x6x4x8xf32, #qkv>,
                %v: tensor<4x6x4x8xf32, #qkv>) -> tensor<f32> {
  %0 = dtensor.dot_general %q, %k batching [0, 2] x [0, 2] contracting [3] x [3]
      : (tensor<4x6x4x8xf32, #qkv>, tensor<4x6x4x8xf32, #qkv>) -> tensor<4x4x6x6xf32>
  %1 = dtensor.iota dim 2 : tensor<4x4x6x6xi32>
  %2 = dtensor.iota dim 3 : tensor<4x4x6x6xi32>
  %3 = dtensor.compare GE, %1, %2 : (tensor<4x4x6x6xi32>, tensor<4x4x6x6xi32>) -> tensor<4x4x6x6xi1>
  %4 = dtensor.constant dense<-1.0e9> : tensor<4x4x6x6xf32>
  %5 = dtensor.select %3, %0, %4 : (tensor<4x4x6x6xi1>, tensor<4x4x6x6xf32>, tensor<4x4x6x6xf32>) -> tensor<4x4x6x6xf32>
  %6 = dtensor.reduce max %5 dims [3] : (tensor<4x4x6x6xf32>) -> tensor<4x4x6xf32>
  %7 = dtensor.broadcast_in_dim %6 dims [0, 1, 2] : (tensor<4x4x6xf32>) -> tensor<4x4x6x6xf32>
  %8 = dtensor.subtract %5, %7 : tensor<4x4x6x6xf32>
  %9 = dtensor.exp %8 : tensor<4x4x6x6xf32>
  %10 = dtensor.reduce sum %9 dims [3] : (tensor<4x4x6x6xf32>) -> tensor<4x4x6xf32>
  %11 = dtensor.broadcast_in_dim %10 dims [0, 1, 2] : (tensor<4x4x6xf32>) -> tensor<4x4x6x6xf32>
  %12 = dtensor.divide %9, %11 : tensor<4x4x6x6xf32>
  %13 = dtensor.dot_general %12, %v batching [0, 1] x [0, 2] contracting [3] x [1]
      : (tensor<4x4x6x6xf32>, tensor<4x6x4x8xf32, #qkv>) -> tensor<4x4x6x8xf32>
  %14 = dtensor.tanh %13 : tensor<4x4x6x8xf32>
  %15 = dtensor.reduce sum %14 dims [0, 1, 2, 3] : (tensor<4x4x6x8xf32>) -> tensor<f32>
  return %15 : tensor<f32>
}
