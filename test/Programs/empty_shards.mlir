// Fewer rows than devices, and no rows at all: reductions of empty shards give
// the identity and nothing else.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2, y = 4>
#rows = #dtensor.layout<#mesh, [{x, y}, *]>
#vector = #dtensor.layout<#mesh, [{y, x}]>

func.func @main(%a: tensor<3x5xf32, #rows>, %b: tensor<0x5xf32, #rows>, %v: tensor<1xf32, #vector>,
                %w: tensor<5x3xf32>)
    -> (tensor<5xf32>, tensor<5xf32>, tensor<f32>, tensor<5xf32>, tensor<f32>, tensor<0x3xf32>, tensor<5x5xf32>, tensor<f32>, tensor<i32>) {
  %c = dtensor.constant dense<-3.0> : tensor<3x5xf32>
  %0 = dtensor.add %a, %c : (tensor<3x5xf32, #rows>, tensor<3x5xf32>) -> tensor<3x5xf32>
  %1 = dtensor.reduce max %0 dims [0] : (tensor<3x5xf32>) -> tensor<5xf32>
  %2 = dtensor.reduce prod %0 dims [0] : (tensor<3x5xf32>) -> tensor<5xf32>
  %3 = dtensor.exp %0 : tensor<3x5xf32>
  %4 = dtensor.reduce sum %3 dims [0, 1] : (tensor<3x5xf32>) -> tensor<f32>
  %5 = dtensor.reduce sum %b dims [0] : (tensor<0x5xf32, #rows>) -> tensor<5xf32>
  %6 = dtensor.reduce max %b dims [0, 1] : (tensor<0x5xf32, #rows>) -> tensor<f32>
  %7 = dtensor.matmul %b, %w : (tensor<0x5xf32, #rows>, tensor<5x3xf32>) -> tensor<0x3xf32>
  %8 = dtensor.dot_general %a, %a contracting [0] x [0] : (tensor<3x5xf32, #rows>, tensor<3x5xf32, #rows>) -> tensor<5x5xf32>
  %9 = dtensor.reduce min %v dims [0] : (tensor<1xf32, #vector>) -> tensor<f32>
  %10 = dtensor.argmax %v dim 0 : (tensor<1xf32, #vector>) -> tensor<i32>
  return %1, %2, %4, %5, %6, %7, %8, %9, %10 : tensor<5xf32>, tensor<5xf32>, tensor<f32>, tensor<5xf32>, tensor<f32>,
      tensor<0x3xf32>, tensor<5x5xf32>, tensor<f32>, tensor<i32>
}
