// A small kernel sums a value up and writes another result over it: the terms
// are those from before.
// RUN: %verify
func.func @main(%x: tensor<9x9x9xf32>, %y: tensor<9x9xf32>) -> (tensor<9xf32>, tensor<f32>) {
  %0 = dtensor.reduce max %x dims [1] : (tensor<9x9x9xf32>) -> tensor<9x9xf32>
  %1 = dtensor.reduce sum %0 dims [1] : (tensor<9x9xf32>) -> tensor<9xf32>
  %2 = dtensor.multiply %0, %y : tensor<9x9xf32>
  %3 = dtensor.tanh %2 : tensor<9x9xf32>
  %4 = dtensor.reduce sum %3 dims [0, 1] : (tensor<9x9xf32>) -> tensor<f32>
  return %1, %4 : tensor<9xf32>, tensor<f32>
}
