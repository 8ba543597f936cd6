// A small classifier, its batch sharded and uneven, weights replicated, and the
// gradients of all weights.
// RUN: mesh-opt %s --dtensor-gradient='wrt=2,3,4,5' -o %t.mlir
// RUN: %verify-output
#mesh = #dtensor.mesh<batch = 8>
#rows = #dtensor.layout<#mesh, [batch, *]>
#labels = #dtensor.layout<#mesh, [batch]>
#full = #dtensor.layout<#mesh, [*, *]>
#vector = #dtensor.layout<#mesh, [*]>

func.func @main(%x: tensor<20x9xf32, #rows>, %y: tensor<20xi32, #labels>,
                %w1: tensor<9x12xf32, #full>, %b1: tensor<12xf32, #vector>,
                %w2: tensor<12x8xf32, #full>, %b2: tensor<8xf32, #vector>) -> tensor<f32> {
  %0 = dtensor.matmul %x, %w1 : (tensor<20x9xf32, #rows>, tensor<9x12xf32, #full>) -> tensor<20x12xf32>
  %1 = dtensor.broadcast_in_dim %b1 dims [1] : (tensor<12xf32, #vector>) -> tensor<20x12xf32>
  %2 = dtensor.add %0, %1 : tensor<20x12xf32>
  %3 = dtensor.constant dense<0.0> : tensor<20x12xf32>
  %4 = dtensor.maximum %2, %3 : tensor<20x12xf32>
  %5 = dtensor.matmul %4, %w2 : (tensor<20x12xf32>, tensor<12x8xf32, #full>) -> tensor<20x8xf32>
  %6 = dtensor.broadcast_in_dim %b2 dims [1] : (tensor<8xf32, #vector>) -> tensor<20x8xf32>
  %7 = dtensor.add %5, %6 : tensor<20x8xf32>
  %8 = dtensor.reduce max %7 dims [1] {dtensor.stop_gradient} : (tensor<20x8xf32>) -> tensor<20xf32>
  %9 = dtensor.broadcast_in_dim %8 dims [0] : (tensor<20xf32>) -> tensor<20x8xf32>
  %10 = dtensor.subtract %7, %9 : tensor<20x8xf32>
  %11 = dtensor.exp %10 : tensor<20x8xf32>
  %12 = dtensor.reduce sum %11 dims [1] : (tensor<20x8xf32>) -> tensor<20xf32>
  %13 = dtensor.log %12 : tensor<20xf32>
  %14 = dtensor.broadcast_in_dim %13 dims [0] : (tensor<20xf32>) -> tensor<20x8xf32>
  %15 = dtensor.subtract %10, %14 : tensor<20x8xf32>
  %16 = dtensor.broadcast_in_dim %y dims [0] : (tensor<20xi32, #labels>) -> tensor<20x8xi32>
  %17 = dtensor.iota dim 1 : tensor<20x8xi32>
  %18 = dtensor.compare EQ, %16, %17 : (tensor<20x8xi32>, tensor<20x8xi32>) -> tensor<20x8xi1>
  %19 = dtensor.convert %18 : (tensor<20x8xi1>) -> tensor<20x8xf32>
  %20 = dtensor.multiply %15, %19 : tensor<20x8xf32>
  %21 = dtensor.reduce sum %20 dims [0, 1] : (tensor<20x8xf32>) -> tensor<f32>
  %22 = dtensor.constant dense<-0.05> : tensor<f32>
  %23 = dtensor.multiply %21, %22 : tensor<f32>
  return %23 : tensor<f32>
}
