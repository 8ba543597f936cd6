// Normalisation over a sharded, uneven batch (batch norm), in f64 and f32, and
// its gradient in f64.
// RUN: %verify-gradient
#mesh = #dtensor.mesh<batch = 8>
#rows = #dtensor.layout<#mesh, [batch, *]>

func.func @main(%x: tensor<13x4xf64, #rows>) -> tensor<f64> {
  %n = dtensor.constant dense<13.0> : tensor<4xf64>
  %0 = dtensor.reduce sum %x dims [0] : (tensor<13x4xf64, #rows>) -> tensor<4xf64>
  %1 = dtensor.divide %0, %n : tensor<4xf64>
  %2 = dtensor.broadcast_in_dim %1 dims [1] : (tensor<4xf64>) -> tensor<13x4xf64>
  %3 = dtensor.subtract %x, %2 : (tensor<13x4xf64, #rows>, tensor<13x4xf64>) -> tensor<13x4xf64>
  %4 = dtensor.multiply %3, %3 : tensor<13x4xf64>
  %5 = dtensor.reduce sum %4 dims [0] : (tensor<13x4xf64>) -> tensor<4xf64>
  %6 = dtensor.divide %5, %n : tensor<4xf64>
  %7 = dtensor.sqrt %6 : tensor<4xf64>
  %8 = dtensor.broadcast_in_dim %7 dims [1] : (tensor<4xf64>) -> tensor<13x4xf64>
  %9 = dtensor.divide %3, %8 : tensor<13x4xf64>
  %10 = dtensor.sine %9 : tensor<13x4xf64>
  %11 = dtensor.reduce sum %10 dims [0, 1] : (tensor<13x4xf64>) -> tensor<f64>
  return %11 : tensor<f64>
}
