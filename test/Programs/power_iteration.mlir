// A chain of products of one sharded matrix: each step's result is gathered or
// summed for the next, in f64.
// RUN: %verify
#mesh = #dtensor.mesh<x = 4, y = 2>
#tiles = #dtensor.layout<#mesh, [x, y]>

func.func @main(%m: tensor<9x9xf64, #tiles>, %v: tensor<9xf64>) -> tensor<9xf64> {
  %0 = dtensor.dot_general %m, %v contracting [1] x [0] : (tensor<9x9xf64, #tiles>, tensor<9xf64>) -> tensor<9xf64>
  %1 = dtensor.multiply %0, %0 : tensor<9xf64>
  %2 = dtensor.reduce sum %1 dims [0] : (tensor<9xf64>) -> tensor<f64>
  %3 = dtensor.rsqrt %2 : tensor<f64>
  %4 = dtensor.broadcast_in_dim %3 dims [] : (tensor<f64>) -> tensor<9xf64>
  %5 = dtensor.multiply %0, %4 : tensor<9xf64>
  %6 = dtensor.dot_general %m, %5 contracting [1] x [0] : (tensor<9x9xf64, #tiles>, tensor<9xf64>) -> tensor<9xf64>
  %7 = dtensor.multiply %6, %6 : tensor<9xf64>
  %8 = dtensor.reduce sum %7 dims [0] : (tensor<9xf64>) -> tensor<f64>
  %9 = dtensor.rsqrt %8 : tensor<f64>
  %10 = dtensor.broadcast_in_dim %9 dims [] : (tensor<f64>) -> tensor<9xf64>
  %11 = dtensor.multiply %6, %10 : tensor<9xf64>
  return %11 : tensor<9xf64>
}
