// Adam on a weight whose gradient is pending over the batch axis: moments and
// weight replicated by the user, updated in place.
// RUN: %verify
#mesh = #dtensor.mesh<batch = 8>
#rows = #dtensor.layout<#mesh, [batch, *]>
#full = #dtensor.layout<#mesh, [*, *]>

func.func @main(%x: tensor<24x10xf32, #rows>, %g: tensor<24x6xf32, #rows>,
                %w: tensor<10x6xf32, #full> {dtensor.alias = 0 : i64},
                %m: tensor<10x6xf32, #full> {dtensor.alias = 1 : i64},
                %v: tensor<10x6xf32, #full> {dtensor.alias = 2 : i64})
    -> (tensor<10x6xf32, #full>, tensor<10x6xf32, #full>, tensor<10x6xf32, #full>) {
  %dw = dtensor.dot_general %x, %g contracting [0] x [0] : (tensor<24x10xf32, #rows>, tensor<24x6xf32, #rows>) -> tensor<10x6xf32>
  %b1 = dtensor.constant dense<0.9> : tensor<10x6xf32>
  %c1 = dtensor.constant dense<0.1> : tensor<10x6xf32>
  %b2 = dtensor.constant dense<0.999> : tensor<10x6xf32>
  %c2 = dtensor.constant dense<0.001> : tensor<10x6xf32>
  %eps = dtensor.constant dense<0.1> : tensor<10x6xf32>
  %rate = dtensor.constant dense<0.01> : tensor<10x6xf32>
  %0 = dtensor.multiply %m, %b1 : (tensor<10x6xf32, #full>, tensor<10x6xf32>) -> tensor<10x6xf32>
  %1 = dtensor.multiply %dw, %c1 : tensor<10x6xf32>
  %m1 = dtensor.add %0, %1 : (tensor<10x6xf32>, tensor<10x6xf32>) -> tensor<10x6xf32, #full>
  %va = dtensor.abs %v : (tensor<10x6xf32, #full>) -> tensor<10x6xf32>
  %2 = dtensor.multiply %va, %b2 : tensor<10x6xf32>
  %3 = dtensor.multiply %dw, %dw : tensor<10x6xf32>
  %4 = dtensor.multiply %3, %c2 : tensor<10x6xf32>
  %v1 = dtensor.add %2, %4 : (tensor<10x6xf32>, tensor<10x6xf32>) -> tensor<10x6xf32, #full>
  %5 = dtensor.sqrt %v1 : (tensor<10x6xf32, #full>) -> tensor<10x6xf32>
  %6 = dtensor.add %5, %eps : tensor<10x6xf32>
  %7 = dtensor.divide %m1, %6 : (tensor<10x6xf32, #full>, tensor<10x6xf32>) -> tensor<10x6xf32>
  %8 = dtensor.multiply %7, %rate : tensor<10x6xf32>
  %w1 = dtensor.subtract %w, %8 : (tensor<10x6xf32, #full>, tensor<10x6xf32>) -> tensor<10x6xf32, #full>
  return %w1, %m1, %v1 : tensor<10x6xf32, #full>, tensor<10x6xf32, #full>, tensor<10x6xf32, #full>
}
