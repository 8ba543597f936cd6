// What the verifiers of gather, scatter and dynamic slices refuse, by constraint.
// RUN: mesh-opt --split-input-file --verify-diagnostics %s

func.func @case1(%x: tensor<5x4x3xf32>, %i: tensor<2x6xi64>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 0>, slice_sizes = array<i64: 1, 4, 3>} : (tensor<5x4x3xf32>, tensor<2x6xi64>) -> tensor<6x4x3xf32>
  return
}

// -----

func.func @case2(%x: tensor<5x4x3xf32>, %i: tensor<2x6xi64>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 3>, slice_sizes = array<i64: 1, 4, 3>} : (tensor<5x4x3xf32>, tensor<2x6xi64>) -> tensor<6x4x3xf32>
  return
}

// -----

func.func @case3(%x: tensor<5x4x3xf32>, %i: tensor<2x6xi64>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = -1>, slice_sizes = array<i64: 1, 4, 3>} : (tensor<5x4x3xf32>, tensor<2x6xi64>) -> tensor<6x4x3xf32>
  return
}

// -----

func.func @case4(%x: tensor<5x4x3xf32>, %i: tensor<2x6xi64>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 0>, slice_sizes = array<i64: 1, 4, 3>} : (tensor<5x4x3xf32>, tensor<2x6xi64>) -> tensor<6x4x3xf32>
  return
}

// -----

func.func @case5(%x: tensor<5x4x3xf32>, %i: tensor<2x6xi64>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 0>, slice_sizes = array<i64: 1, 4, 3>} : (tensor<5x4x3xf32>, tensor<2x6xi64>) -> tensor<6x4x3xf32>
  return
}

// -----

func.func @case6(%x: tensor<5x4x3xf32>, %i: tensor<2x6xi64>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2, 1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 0>, slice_sizes = array<i64: 1, 4, 3>} : (tensor<5x4x3xf32>, tensor<2x6xi64>) -> tensor<6x4x3xf32>
  return
}

// -----

func.func @case7(%x: tensor<5x4x3xf32>, %i: tensor<2x6xi64>) {
  // expected-error @below {{violates constraint C5: }}
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 3], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 0>, slice_sizes = array<i64: 1, 4, 3>} : (tensor<5x4x3xf32>, tensor<2x6xi64>) -> tensor<6x4x3xf32>
  return
}

// -----

func.func @case8(%x: tensor<5x4x3xf32>, %i: tensor<2x5xi64>) {
  // expected-error @below {{violates constraint C6: }}
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [0, 1], index_vector_dim = 0>, slice_sizes = array<i64: 1, 4, 3>} : (tensor<5x4x3xf32>, tensor<2x5xi64>) -> tensor<6x4x3xf32>
  return
}

// -----

func.func @case9(%x: tensor<5x4x3xf32>, %i: tensor<2x6xi64>) {
  // expected-error @below {{violates constraint C7: }}
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1, 0], start_index_map = [0, 1], index_vector_dim = 0>, slice_sizes = array<i64: 1, 4, 3>} : (tensor<5x4x3xf32>, tensor<2x6xi64>) -> tensor<6x4x3xf32>
  return
}

// -----

func.func @case10(%x: tensor<5x4x3xf32>, %i: tensor<2x6xi64>) {
  // expected-error @below {{violates constraint C8: }}
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [3], start_index_map = [0, 1], index_vector_dim = 0>, slice_sizes = array<i64: 1, 4, 3>} : (tensor<5x4x3xf32>, tensor<2x6xi64>) -> tensor<6x4x3xf32>
  return
}

// -----

func.func @case11(%x: tensor<5x4x3xf32>, %i: tensor<2x6xi64>) {
  // expected-error @below {{violates constraint C9: }}
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 0>, slice_sizes = array<i64: 2, 4, 3>} : (tensor<5x4x3xf32>, tensor<2x6xi64>) -> tensor<6x4x3xf32>
  return
}

// -----

func.func @case12(%x: tensor<5x4x3xf32>, %i: tensor<2x6xi64>) {
  // expected-error @below {{violates constraint C10: }}
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [1, 0], start_indices_batching_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 0>, slice_sizes = array<i64: 1, 4, 3>} : (tensor<5x4x3xf32>, tensor<2x6xi64>) -> tensor<6x4x3xf32>
  return
}

// -----

func.func @case13(%x: tensor<5x4x3xf32>, %i: tensor<2x6xi64>) {
  // expected-error @below {{violates constraint C11: }}
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [3], start_indices_batching_dims = [1], start_index_map = [0, 1], index_vector_dim = 0>, slice_sizes = array<i64: 1, 4, 3>} : (tensor<5x4x3xf32>, tensor<2x6xi64>) -> tensor<6x4x3xf32>
  return
}

// -----

func.func @case14(%x: tensor<5x4x3xf32>, %i: tensor<2x5xi64>) {
  // expected-error @below {{violates constraint C12: }}
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [1, 2], index_vector_dim = 0>, slice_sizes = array<i64: 2, 4, 3>} : (tensor<5x4x3xf32>, tensor<2x5xi64>) -> tensor<6x4x3xf32>
  return
}

// -----

func.func @case15(%x: tensor<5x4x3xf32>, %i: tensor<2x6xi64>) {
  // expected-error @below {{violates constraint C13: }}
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0, 1], start_indices_batching_dims = [1, 1], start_index_map = [0, 1], index_vector_dim = 0>, slice_sizes = array<i64: 1, 4, 3>} : (tensor<5x4x3xf32>, tensor<2x6xi64>) -> tensor<6x4x3xf32>
  return
}

// -----

func.func @case16(%x: tensor<5x4x3xf32>, %i: tensor<2x6xi64>) {
  // expected-error @below {{violates constraint C14: }}
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], operand_batching_dims = [0], start_indices_batching_dims = [2], start_index_map = [0, 1], index_vector_dim = 0>, slice_sizes = array<i64: 1, 4, 3>} : (tensor<5x4x3xf32>, tensor<2x6xi64>) -> tensor<6x4x3xf32>
  return
}

// -----

func.func @case17(%x: tensor<5x4x3xf32>, %i: tensor<2x6xi64>) {
  // expected-error @below {{violates constraint C15: }}
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [0, 1], index_vector_dim = 0>, slice_sizes = array<i64: 1, 4, 3>} : (tensor<5x4x3xf32>, tensor<2x6xi64>) -> tensor<6x4x3xf32>
  return
}

// -----

func.func @case18(%x: tensor<5x4x3xf32>, %i: tensor<2x6xi64>) {
  // expected-error @below {{violates constraint C16: }}
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_indices_batching_dims = [1], start_index_map = [0, 1], index_vector_dim = 0>, slice_sizes = array<i64: 1, 4, 3>} : (tensor<5x4x3xf32>, tensor<2x6xi64>) -> tensor<6x4x3xf32>
  return
}

// -----

func.func @case19(%x: tensor<5x4x3xf32>, %i: tensor<2x6xi64>) {
  // expected-error @below {{violates constraint C17: }}
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [1, 2], index_vector_dim = 0>, slice_sizes = array<i64: 1, 4, 3>} : (tensor<5x4x3xf32>, tensor<2x6xi64>) -> tensor<6x4x3xf32>
  return
}

// -----

func.func @case20(%x: tensor<5x4x3xf32>, %i: tensor<2x6xi64>) {
  // expected-error @below {{violates constraint C18: }}
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0, 0], index_vector_dim = 0>, slice_sizes = array<i64: 1, 4, 3>} : (tensor<5x4x3xf32>, tensor<2x6xi64>) -> tensor<6x4x3xf32>
  return
}

// -----

func.func @case21(%x: tensor<5x4x3xf32>, %i: tensor<2x6xi64>) {
  // expected-error @below {{violates constraint C19: }}
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0, 3], index_vector_dim = 0>, slice_sizes = array<i64: 1, 4, 3>} : (tensor<5x4x3xf32>, tensor<2x6xi64>) -> tensor<6x4x3xf32>
  return
}

// -----

func.func @case22(%x: tensor<5x4x3xf32>, %i: tensor<2x6xi64>) {
  // expected-error @below {{violates constraint C20: }}
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 0>, slice_sizes = array<i64: 1, 4>} : (tensor<5x4x3xf32>, tensor<2x6xi64>) -> tensor<6x4x3xf32>
  return
}

// -----

func.func @case23(%x: tensor<5x4x3xf32>, %i: tensor<2x6xi64>) {
  // expected-error @below {{violates constraint C21: }}
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 0>, slice_sizes = array<i64: 1, 5, 3>} : (tensor<5x4x3xf32>, tensor<2x6xi64>) -> tensor<6x4x3xf32>
  return
}

// -----

func.func @case24(%x: tensor<5x4x3xf32>, %i: tensor<2x6xi64>) {
  // expected-error @below {{violates constraint C21: }}
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 0>, slice_sizes = array<i64: 1, -1, 3>} : (tensor<5x4x3xf32>, tensor<2x6xi64>) -> tensor<6x4x3xf32>
  return
}

// -----

func.func @case25(%x: tensor<5x4x3xf32>, %i: tensor<2x6xi64>) {
  // expected-error @below {{violates constraint C22: }}
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 0>, slice_sizes = array<i64: 1, 4, 3>} : (tensor<5x4x3xf32>, tensor<2x6xi64>) -> tensor<6x4x4xf32>
  return
}

// -----

func.func @case26(%x: tensor<5x4x3xf32>, %i: tensor<2x6xi64>) {
  // expected-error @below {{violates constraint C23: }}
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 0>, slice_sizes = array<i64: 1, 4, 3>} : (tensor<5x4x3xf32>, tensor<2x6xi64>) -> tensor<6x4x3xf64>
  return
}

// -----

func.func @case27(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<6x3xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<6x3xf32>) -> tensor<5x4x3xf32>
  return
}

// -----

func.func @case28(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<6x3x1xf32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<6x3x1xf32>) -> tensor<5x4x3xf32>
  return
}

// -----

func.func @case29(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<5x3xf32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<5x3xf32>) -> tensor<5x4x3xf32>
  return
}

// -----

func.func @case30(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<6x4xf32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<6x4xf32>) -> tensor<5x4x3xf32>
  return
}

// -----

func.func @case31(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<6x3xf64>) {
  // expected-error @below {{violates constraint C6: }}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<6x3xf64>) -> tensor<5x4x3xf32>
  return
}

// -----

func.func @case32(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<6x3xf32>) {
  // expected-error @below {{violates constraint C7: }}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<6x3xf32>) -> tensor<5x4x3xf32>
  return
}

// -----

func.func @case33(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<6x3xf32>) {
  // expected-error @below {{violates constraint C7: }}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<6x3xf32>) -> tensor<5x4x3xf32>
  return
}

// -----

func.func @case34(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<6x3xf32>) {
  // expected-error @below {{violates constraint C8: }}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<6x3xf32>) -> tensor<5x4x3xf32>
  return
}

// -----

func.func @case35(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<6x3xf32>) {
  // expected-error @below {{violates constraint C9: }}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<6x3xf32>) -> tensor<5x4x3xf32>
  return
}

// -----

func.func @case36(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<6x3xf32>) {
  // expected-error @below {{violates constraint C10: }}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [1, 0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<6x3xf32>) -> tensor<5x4x3xf32>
  return
}

// -----

func.func @case37(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<6x3xf32>) {
  // expected-error @below {{violates constraint C11: }}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 3], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<6x3xf32>) -> tensor<5x4x3xf32>
  return
}

// -----

func.func @case38(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<6x3xf32>) {
  // expected-error @below {{violates constraint C12: }}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], input_batching_dims = [1, 0], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<6x3xf32>) -> tensor<5x4x3xf32>
  return
}

// -----

func.func @case39(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<6x3xf32>) {
  // expected-error @below {{violates constraint C13: }}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [3], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<6x3xf32>) -> tensor<5x4x3xf32>
  return
}

// -----

func.func @case40(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<6x3xf32>) {
  // expected-error @below {{violates constraint C14: }}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<6x3xf32>) -> tensor<5x4x3xf32>
  return
}

// -----

func.func @case41(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<6x3xf32>) {
  // expected-error @below {{violates constraint C15: }}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [1], scatter_indices_batching_dims = [2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<6x3xf32>) -> tensor<5x4x3xf32>
  return
}

// -----

func.func @case42(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<6x3xf32>) {
  // expected-error @below {{violates constraint C16: }}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [1], scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<6x3xf32>) -> tensor<5x4x3xf32>
  return
}

// -----

func.func @case43(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<6x3xf32>) {
  // expected-error @below {{violates constraint C17: }}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<6x3xf32>) -> tensor<5x4x3xf32>
  return
}

// -----

func.func @case44(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<6x3xf32>) {
  // expected-error @below {{violates constraint C18: }}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [1], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<6x3xf32>) -> tensor<5x4x3xf32>
  return
}

// -----

func.func @case45(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<6x3xf32>) {
  // expected-error @below {{violates constraint C19: }}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<6x3xf32>) -> tensor<5x4x3xf32>
  return
}

// -----

func.func @case46(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<6x3xf32>) {
  // expected-error @below {{violates constraint C20: }}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<6x3xf32>) -> tensor<5x4x3xf32>
  return
}

// -----

func.func @case47(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<6x3xf32>) {
  // expected-error @below {{violates constraint C21: }}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 3], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<6x3xf32>) -> tensor<5x4x3xf32>
  return
}

// -----

func.func @case48(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<6x3xf32>) {
  // expected-error @below {{violates constraint C22: }}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<6x3xf32>) -> tensor<5x4x3xf32>
  return
}

// -----

func.func @case49(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<6x3xf32>) {
  // expected-error @below {{violates constraint C23: }}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<6x3xf32>) -> tensor<5x4x3xf32>
  return
}

// -----

func.func @case50(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<6x3xf32>) {
  // expected-error @below {{violates constraint C23: }}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<6x3xf32>) -> tensor<5x4x3xf32>
  return
}

// -----

func.func @case51(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<6x3xf32>) {
  // expected-error @below {{violates constraint C23: }}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    stablehlo.return %b : tensor<f16>
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<6x3xf32>) -> tensor<5x4x3xf32>
  return
}

// -----

func.func @case52(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<6x3xf32>) {
  // expected-error @below {{violates constraint C24: }}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<6x3xf32>) -> tensor<5x4x4xf32>
  return
}

// -----

func.func @case53(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<6x3xf32>) {
  // expected-error @below {{violates constraint C25: }}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<6x3xf32>) -> tensor<5x4x3xf64>
  return
}

// -----

func.func @case54(%i: tensor<6x2xi64>) {
  // expected-error @below {{violates constraint C5: }}
  "stablehlo.scatter"(%i) <{scatter_dimension_numbers = #stablehlo.scatter<index_vector_dim = 1>}> ({
    stablehlo.return
  }) : (tensor<6x2xi64>) -> ()
  return
}

// -----

func.func @case55(%x: tensor<5x4x3xf32>, %i: tensor<6x2xi64>, %u: tensor<6x3xf32>) {
  // expected-error @below {{violates constraint C24: }}
  "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x4x3xf32>, tensor<6x2xi64>, tensor<6x3xf32>) -> ()
  return
}

// -----

func.func @case56(%x: tensor<4x4xf32>, %i: tensor<i64>, %j: tensor<i32>, %v: tensor<1xi64>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = stablehlo.dynamic_slice %x, %i, %i, sizes = [2, 2] : (tensor<4x4xf32>, tensor<i64>, tensor<i64>) -> tensor<2x2xf64>
  return
}

// -----

func.func @case57(%x: tensor<4x4xf32>, %i: tensor<i64>, %j: tensor<i32>, %v: tensor<1xi64>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [2, 2] : (tensor<4x4xf32>, tensor<i64>) -> tensor<2x2xf32>
  return
}

// -----

func.func @case58(%x: tensor<4x4xf32>, %i: tensor<i64>, %j: tensor<i32>, %v: tensor<1xi64>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.dynamic_slice %x, %i, %i, sizes = [2] : (tensor<4x4xf32>, tensor<i64>, tensor<i64>) -> tensor<2x2xf32>
  return
}

// -----

func.func @case59(%x: tensor<4x4xf32>, %i: tensor<i64>, %j: tensor<i32>, %v: tensor<1xi64>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = stablehlo.dynamic_slice %x, %i, %j, sizes = [2, 2] : (tensor<4x4xf32>, tensor<i64>, tensor<i32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @case60(%x: tensor<4x4xf32>, %i: tensor<i64>, %j: tensor<i32>, %v: tensor<1xi64>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = stablehlo.dynamic_slice %x, %v, %v, sizes = [2, 2] : (tensor<4x4xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x2xf32>
  return
}

// -----

func.func @case61(%x: tensor<4x4xf32>, %i: tensor<i64>, %j: tensor<i32>, %v: tensor<1xi64>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = stablehlo.dynamic_slice %x, %i, %i, sizes = [2, 5] : (tensor<4x4xf32>, tensor<i64>, tensor<i64>) -> tensor<2x5xf32>
  return
}

// -----

func.func @case62(%x: tensor<4x4xf32>, %i: tensor<i64>, %j: tensor<i32>, %v: tensor<1xi64>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = stablehlo.dynamic_slice %x, %i, %i, sizes = [2, -1] : (tensor<4x4xf32>, tensor<i64>, tensor<i64>) -> tensor<2x2xf32>
  return
}

// -----

func.func @case63(%x: tensor<4x4xf32>, %i: tensor<i64>, %j: tensor<i32>, %v: tensor<1xi64>) {
  // expected-error @below {{violates constraint C5: }}
  %0 = stablehlo.dynamic_slice %x, %i, %i, sizes = [2, 2] : (tensor<4x4xf32>, tensor<i64>, tensor<i64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @case64(%x: tensor<4x4xf32>, %i: tensor<i64>, %j: tensor<i32>, %v: tensor<1xi64>, %u: tensor<2x2xf32>, %d: tensor<2x2xf64>, %r: tensor<2xf32>, %l: tensor<5x2xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<i64>, tensor<i64>) -> tensor<4x5xf32>
  return
}

// -----

func.func @case65(%x: tensor<4x4xf32>, %i: tensor<i64>, %j: tensor<i32>, %v: tensor<1xi64>, %u: tensor<2x2xf32>, %d: tensor<2x2xf64>, %r: tensor<2xf32>, %l: tensor<5x2xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.dynamic_update_slice %x, %d, %i, %i : (tensor<4x4xf32>, tensor<2x2xf64>, tensor<i64>, tensor<i64>) -> tensor<4x4xf32>
  return
}

// -----

func.func @case66(%x: tensor<4x4xf32>, %i: tensor<i64>, %j: tensor<i32>, %v: tensor<1xi64>, %u: tensor<2x2xf32>, %d: tensor<2x2xf64>, %r: tensor<2xf32>, %l: tensor<5x2xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = stablehlo.dynamic_update_slice %x, %r, %i, %i : (tensor<4x4xf32>, tensor<2xf32>, tensor<i64>, tensor<i64>) -> tensor<4x4xf32>
  return
}

// -----

func.func @case67(%x: tensor<4x4xf32>, %i: tensor<i64>, %j: tensor<i32>, %v: tensor<1xi64>, %u: tensor<2x2xf32>, %d: tensor<2x2xf64>, %r: tensor<2xf32>, %l: tensor<5x2xf32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<i64>) -> tensor<4x4xf32>
  return
}

// -----

func.func @case68(%x: tensor<4x4xf32>, %i: tensor<i64>, %j: tensor<i32>, %v: tensor<1xi64>, %u: tensor<2x2xf32>, %d: tensor<2x2xf64>, %r: tensor<2xf32>, %l: tensor<5x2xf32>) {
  // expected-error @below {{violates constraint C5: }}
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %j : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<i64>, tensor<i32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @case69(%x: tensor<4x4xf32>, %i: tensor<i64>, %j: tensor<i32>, %v: tensor<1xi64>, %u: tensor<2x2xf32>, %d: tensor<2x2xf64>, %r: tensor<2xf32>, %l: tensor<5x2xf32>) {
  // expected-error @below {{violates constraint C6: }}
  %0 = stablehlo.dynamic_update_slice %x, %l, %i, %i : (tensor<4x4xf32>, tensor<5x2xf32>, tensor<i64>, tensor<i64>) -> tensor<4x4xf32>
  return
}
