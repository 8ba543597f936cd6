// select with a scalar and a full predicate, clamp with scalar and full bounds.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2, y = 4>
#both = #dtensor.layout<#mesh, [x, y]>

func.func @main(%a: tensor<5x6xf32, #both>, %b: tensor<5x6xf32>, %s: tensor<f32>, %i: tensor<5x6xi32, #both>)
    -> (tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xi32>) {
  %zero = dtensor.constant dense<0.0> : tensor<f32>
  %0 = dtensor.compare GT, %s, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %1 = dtensor.select %0, %a, %b : (tensor<i1>, tensor<5x6xf32, #both>, tensor<5x6xf32>) -> tensor<5x6xf32>
  %2 = dtensor.compare LE, %a, %b : (tensor<5x6xf32, #both>, tensor<5x6xf32>) -> tensor<5x6xi1>
  %3 = dtensor.select %2, %a, %b : (tensor<5x6xi1>, tensor<5x6xf32, #both>, tensor<5x6xf32>) -> tensor<5x6xf32>
  %half = dtensor.constant dense<0.5> : tensor<f32>
  %4 = dtensor.clamp %zero, %a, %half : (tensor<f32>, tensor<5x6xf32, #both>, tensor<f32>) -> tensor<5x6xf32>
  %5 = dtensor.clamp %1, %b, %3 : (tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>) -> tensor<5x6xf32>
  %two = dtensor.constant dense<2> : tensor<i32>
  %five = dtensor.constant dense<5> : tensor<i32>
  %6 = dtensor.clamp %two, %i, %five : (tensor<i32>, tensor<5x6xi32, #both>, tensor<i32>) -> tensor<5x6xi32>
  return %1, %3, %4, %5, %6 : tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xi32>
}
