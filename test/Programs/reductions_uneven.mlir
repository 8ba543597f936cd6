// Reductions of every kind over uneven, sharded dims; the mean, and a sum of
// exponentials, whose padding would not be 0.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2, y = 4>
#both = #dtensor.layout<#mesh, [x, y]>
#one = #dtensor.layout<#mesh, [{x, y}, *]>

func.func @main(%a: tensor<5x9xf32, #both>, %b: tensor<5x9xf32, #one>,
                %i: tensor<5x9xi32, #both>)
    -> (tensor<9xf32>, tensor<5xf32>, tensor<f32>, tensor<f32>, tensor<f32>,
        tensor<9xi32>, tensor<5xi32>, tensor<i32>, tensor<f32>, tensor<9xf32>) {
  %two = dtensor.constant dense<2.0> : tensor<5x9xf32>
  %shifted = dtensor.add %a, %two : (tensor<5x9xf32, #both>, tensor<5x9xf32>) -> tensor<5x9xf32>
  %0 = dtensor.reduce prod %shifted dims [0] : (tensor<5x9xf32>) -> tensor<9xf32>
  %below = dtensor.subtract %a, %two : (tensor<5x9xf32, #both>, tensor<5x9xf32>) -> tensor<5x9xf32>
  %1 = dtensor.reduce max %below dims [1] : (tensor<5x9xf32>) -> tensor<5xf32>
  %2 = dtensor.reduce min %shifted dims [0, 1] : (tensor<5x9xf32>) -> tensor<f32>
  %3 = dtensor.exp %a : (tensor<5x9xf32, #both>) -> tensor<5x9xf32>
  %4 = dtensor.reduce sum %3 dims [0, 1] : (tensor<5x9xf32>) -> tensor<f32>
  %5 = dtensor.reduce sum %b dims [0, 1] : (tensor<5x9xf32, #one>) -> tensor<f32>
  %count = dtensor.constant dense<45.0> : tensor<f32>
  %6 = dtensor.divide %5, %count : tensor<f32>
  %7 = dtensor.reduce sum %i dims [0] : (tensor<5x9xi32, #both>) -> tensor<9xi32>
  %8 = dtensor.reduce or %i dims [1] : (tensor<5x9xi32, #both>) -> tensor<5xi32>
  %9 = dtensor.reduce and %i dims [0, 1] : (tensor<5x9xi32, #both>) -> tensor<i32>
  %10:2 = dtensor.reduce max %b, %b dims [0] : (tensor<5x9xf32, #one>, tensor<5x9xf32, #one>) -> (tensor<9xf32>, tensor<9xf32>)
  %11 = dtensor.reduce prod %shifted dims [0, 1] : (tensor<5x9xf32>) -> tensor<f32>
  return %0, %1, %2, %4, %6, %7, %8, %9, %11, %10#1 : tensor<9xf32>, tensor<5xf32>, tensor<f32>, tensor<f32>,
      tensor<f32>, tensor<9xi32>, tensor<5xi32>, tensor<i32>, tensor<f32>, tensor<9xf32>
}
