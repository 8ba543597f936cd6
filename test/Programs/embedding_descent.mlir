// Plain gradient descent of an embedding: the gradient, scattered into zeros,
// is scattered into the table instead, also where rows or columns are cut.
// RUN: %verify
// RUN: mesh-run %s --verify --deterministic
#mesh = #dtensor.mesh<x = 2, y = 2>
#rows = #dtensor.layout<#mesh, [x, *]>
#columns = #dtensor.layout<#mesh, [*, y]>

func.func @main(%a: tensor<12x6xf32, #rows> {dtensor.alias = 0 : i64}, %b: tensor<12x6xf32, #columns> {dtensor.alias = 1 : i64}, %u: tensor<9x6xf32>, %rate: tensor<f32>) -> (tensor<12x6xf32>, tensor<12x6xf32>) {
  %zero = dtensor.constant dense<0.0> : tensor<12x6xf32>
  %ids = dtensor.constant dense<[[3], [0], [3], [11], [7], [3], [12], [0], [5]]> : tensor<9x1xi32>
  %g = dtensor.scatter %zero at %ids with %u {index_vector_dim = 1 : i64,
      inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<sum>,
      scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
      : (tensor<12x6xf32>, tensor<9x1xi32>, tensor<9x6xf32>) -> tensor<12x6xf32>
  %h = dtensor.scatter %zero at %ids with %u {index_vector_dim = 1 : i64,
      inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<sum>,
      scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
      : (tensor<12x6xf32>, tensor<9x1xi32>, tensor<9x6xf32>) -> tensor<12x6xf32>
  %r = dtensor.broadcast_in_dim %rate dims [] : (tensor<f32>) -> tensor<12x6xf32>
  %d = dtensor.multiply %r, %g : (tensor<12x6xf32>, tensor<12x6xf32>) -> tensor<12x6xf32>
  %c = dtensor.constant dense<0.1> : tensor<12x6xf32>
  %e = dtensor.multiply %h, %c : (tensor<12x6xf32>, tensor<12x6xf32>) -> tensor<12x6xf32>
  %n = dtensor.negate %e : tensor<12x6xf32>
  %x = dtensor.subtract %a, %d : (tensor<12x6xf32, #rows>, tensor<12x6xf32>) -> tensor<12x6xf32>
  %y = dtensor.add %n, %b : (tensor<12x6xf32>, tensor<12x6xf32, #columns>) -> tensor<12x6xf32>
  return %x, %y : tensor<12x6xf32>, tensor<12x6xf32>
}
