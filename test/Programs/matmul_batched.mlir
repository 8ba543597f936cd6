// Batched products with the batch, then the contraction sharded, of f64 and i32.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2, y = 4>
#b = #dtensor.layout<#mesh, [{x, y}, *, *]>
#bk = #dtensor.layout<#mesh, [x, *, y]>

func.func @main(%a: tensor<3x4x7xf64, #b>, %c: tensor<3x7x5xf64>,
                %i: tensor<3x4x7xi32, #bk>, %j: tensor<7x3x5xi32>)
    -> (tensor<3x4x5xf64>, tensor<3x4x5xi32>) {
  %0 = dtensor.matmul %a, %c : (tensor<3x4x7xf64, #b>, tensor<3x7x5xf64>) -> tensor<3x4x5xf64>
  %1 = dtensor.dot_general %i, %j batching [0] x [1] contracting [2] x [0]
      : (tensor<3x4x7xi32, #bk>, tensor<7x3x5xi32>) -> tensor<3x4x5xi32>
  return %0, %1 : tensor<3x4x5xf64>, tensor<3x4x5xi32>
}
