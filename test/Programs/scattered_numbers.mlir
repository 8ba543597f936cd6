// Numbers are scattered over a result that is larger than the first cache:
// two workers, too, have a part of it each, and find their own numbers among
// all indices. Some of these are out of bounds.
// RUN: %verify
func.func @main(%sums: tensor<50021xf32>, %terms: tensor<20011xf32>,
                %bits: tensor<50021xi1>, %set: tensor<20011xi1>,
                %larger: tensor<50021xi32>, %numbers: tensor<20011xi32>)
    -> (tensor<50021xf32>, tensor<50021xi1>, tensor<50021xi32>) {
  %positions = dtensor.iota dim 0 : tensor<20011xi32>
  %step = dtensor.constant dense<7919> : tensor<20011xi32>
  %places = dtensor.constant dense<60013> : tensor<20011xi32>
  %steps = dtensor.multiply %positions, %step : tensor<20011xi32>
  %index = dtensor.remainder %steps, %places : tensor<20011xi32>
  %0 = dtensor.scatter %sums at %index with %terms {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<50021xf32>, tensor<20011xi32>, tensor<20011xf32>) -> tensor<50021xf32>
  %1 = dtensor.scatter %bits at %index with %set {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<or>}
      : (tensor<50021xi1>, tensor<20011xi32>, tensor<20011xi1>) -> tensor<50021xi1>
  %2 = dtensor.scatter %larger at %index with %numbers {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<max>}
      : (tensor<50021xi32>, tensor<20011xi32>, tensor<20011xi32>) -> tensor<50021xi32>
  return %0, %1, %2 : tensor<50021xf32>, tensor<50021xi1>, tensor<50021xi32>
}
