// Scatters of whole rows and of numbers: sums, maxima and replacements, at
// places that meet, in more updates than a block of a sort has. Some places are
// out of bounds.
// RUN: %verify
func.func @main(%t: tensor<7x5xf32>, %i: tensor<40x1xi32>, %u: tensor<40x5xf32>, %h: tensor<9x6xbf16>, %j: tensor<300x2xi32>, %v: tensor<300xbf16>, %w: tensor<9x6xi32>, %n: tensor<300xi32>, %k: tensor<300xi32>)
  -> (tensor<7x5xf32>, tensor<7x5xf32>, tensor<9x6xbf16>, tensor<9x6xi32>, tensor<9xi32>) {
  %three = dtensor.constant dense<3> : tensor<40x1xi32>
  %ii = dtensor.subtract %i, %three : tensor<40x1xi32>
  %0 = dtensor.scatter %t at %ii with %u {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<sum>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
    : (tensor<7x5xf32>, tensor<40x1xi32>, tensor<40x5xf32>) -> tensor<7x5xf32>
  %1 = dtensor.scatter %t at %ii with %u {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
    : (tensor<7x5xf32>, tensor<40x1xi32>, tensor<40x5xf32>) -> tensor<7x5xf32>
  %2 = dtensor.scatter %h at %j with %v {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0, 1>, kind = #dtensor.kind<sum>, scatter_dims_to_operand_dims = array<i64: 1, 0>}
    : (tensor<9x6xbf16>, tensor<300x2xi32>, tensor<300xbf16>) -> tensor<9x6xbf16>
  %3 = dtensor.scatter %w at %j with %n {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0, 1>, kind = #dtensor.kind<max>, scatter_dims_to_operand_dims = array<i64: 0, 1>}
    : (tensor<9x6xi32>, tensor<300x2xi32>, tensor<300xi32>) -> tensor<9x6xi32>
  %z = dtensor.constant dense<0> : tensor<9xi32>
  %4 = dtensor.scatter %z at %k with %n {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>}
    : (tensor<9xi32>, tensor<300xi32>, tensor<300xi32>) -> tensor<9xi32>
  return %0, %1, %2, %3, %4 : tensor<7x5xf32>, tensor<7x5xf32>, tensor<9x6xbf16>, tensor<9x6xi32>, tensor<9xi32>
}
