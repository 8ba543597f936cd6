// Gradients of maxima, minima and products over sharded dims, with ties: i32
// rounded values repeat.
// RUN: %verify-gradient
#mesh = #dtensor.mesh<x = 2, y = 4>
#both = #dtensor.layout<#mesh, [x, y]>

func.func @main(%a: tensor<5x9xf32, #both>) -> tensor<f32> {
  %four = dtensor.constant dense<4.0> : tensor<5x9xf32>
  %0 = dtensor.multiply %a, %four : (tensor<5x9xf32, #both>, tensor<5x9xf32>) -> tensor<5x9xf32>
  %1 = dtensor.round %0 : tensor<5x9xf32>
  // The gradient passes beside the rounding.
  %2 = dtensor.add %1, %a : (tensor<5x9xf32>, tensor<5x9xf32, #both>) -> tensor<5x9xf32>
  %3 = dtensor.constant dense<0.0> : tensor<5x9xf32>
  %4 = dtensor.maximum %2, %3 : tensor<5x9xf32>
  %5 = dtensor.reduce max %4 dims [0] : (tensor<5x9xf32>) -> tensor<9xf32>
  %6 = dtensor.reduce min %4 dims [1] : (tensor<5x9xf32>) -> tensor<5xf32>
  %7 = dtensor.constant dense<1.0> : tensor<5x9xf32>
  %8 = dtensor.add %a, %7 : (tensor<5x9xf32, #both>, tensor<5x9xf32>) -> tensor<5x9xf32>
  %9 = dtensor.reduce prod %8 dims [1] : (tensor<5x9xf32>) -> tensor<5xf32>
  %10 = dtensor.reduce sum %5 dims [0] : (tensor<9xf32>) -> tensor<f32>
  %11 = dtensor.reduce sum %6 dims [0] : (tensor<5xf32>) -> tensor<f32>
  %12 = dtensor.reduce sum %9 dims [0] : (tensor<5xf32>) -> tensor<f32>
  %13 = dtensor.add %10, %11 : tensor<f32>
  %14 = dtensor.add %13, %12 : tensor<f32>
  return %14 : tensor<f32>
}
