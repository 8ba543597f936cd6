// Softmax with the batch sharded, then with the classes sharded and uneven: what
// pads a shard must not reach the maximum or the sum.
// RUN: %verify
#mesh = #dtensor.mesh<x = 8>
#rows = #dtensor.layout<#mesh, [x, *]>
#columns = #dtensor.layout<#mesh, [*, x]>

func.func @main(%a: tensor<10x13xf32, #rows>, %b: tensor<10x13xf32, #columns>)
    -> (tensor<10x13xf32>, tensor<10x13xf32>) {
  %offset = dtensor.constant dense<-20.0> : tensor<10x13xf32>
  %low = dtensor.add %b, %offset : (tensor<10x13xf32, #columns>, tensor<10x13xf32>) -> tensor<10x13xf32>
  %0 = dtensor.reduce max %a dims [1] : (tensor<10x13xf32, #rows>) -> tensor<10xf32>
  %1 = dtensor.broadcast_in_dim %0 dims [0] : (tensor<10xf32>) -> tensor<10x13xf32>
  %2 = dtensor.subtract %a, %1 : (tensor<10x13xf32, #rows>, tensor<10x13xf32>) -> tensor<10x13xf32>
  %3 = dtensor.exp %2 : tensor<10x13xf32>
  %4 = dtensor.reduce sum %3 dims [1] : (tensor<10x13xf32>) -> tensor<10xf32>
  %5 = dtensor.broadcast_in_dim %4 dims [0] : (tensor<10xf32>) -> tensor<10x13xf32>
  %6 = dtensor.divide %3, %5 : tensor<10x13xf32>
  %10 = dtensor.reduce max %low dims [1] : (tensor<10x13xf32>) -> tensor<10xf32>
  %11 = dtensor.broadcast_in_dim %10 dims [0] : (tensor<10xf32>) -> tensor<10x13xf32>
  %12 = dtensor.subtract %low, %11 : tensor<10x13xf32>
  %13 = dtensor.exp %12 : tensor<10x13xf32>
  %14 = dtensor.reduce sum %13 dims [1] : (tensor<10x13xf32>) -> tensor<10xf32>
  %15 = dtensor.broadcast_in_dim %14 dims [0] : (tensor<10xf32>) -> tensor<10x13xf32>
  %16 = dtensor.divide %13, %15 : tensor<10x13xf32>
  return %6, %16 : tensor<10x13xf32>, tensor<10x13xf32>
}
