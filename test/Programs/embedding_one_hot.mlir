// An embedding looked up by a one-hot product, its vocabulary sharded (uneven),
// and the gradient of the table.
// RUN: %verify
// RUN: mesh-opt %s --dtensor-gradient='wrt=1' -o %t.mlir
// RUN: %verify-output
#mesh = #dtensor.mesh<batch = 2, vocabulary = 4>
#ids = #dtensor.layout<#mesh, [batch]>
#table = #dtensor.layout<#mesh, [vocabulary, *]>

func.func @main(%ids: tensor<6xi32, #ids>, %table: tensor<9x5xf32, #table>) -> tensor<f32> {
  %0 = dtensor.broadcast_in_dim %ids dims [0] : (tensor<6xi32, #ids>) -> tensor<6x9xi32>
  %1 = dtensor.iota dim 1 : tensor<6x9xi32>
  %2 = dtensor.compare EQ, %0, %1 : (tensor<6x9xi32>, tensor<6x9xi32>) -> tensor<6x9xi1>
  %3 = dtensor.convert %2 : (tensor<6x9xi1>) -> tensor<6x9xf32>
  %4 = dtensor.matmul %3, %table : (tensor<6x9xf32>, tensor<9x5xf32, #table>) -> tensor<6x5xf32>
  %5 = dtensor.sine %4 : tensor<6x5xf32>
  %6 = dtensor.reduce sum %5 dims [0, 1] : (tensor<6x5xf32>) -> tensor<f32>
  return %6 : tensor<f32>
}
