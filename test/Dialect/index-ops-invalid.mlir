// RUN: mesh-opt %s --split-input-file --verify-diagnostics
// Every constraint of ops on indices and orders is checked.

func.func @gather_type(%x: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'dtensor.gather' op violates constraint C1}}
  %0 = dtensor.gather %x, %i {collapsed_slice_dims = array<i64: 0>, index_vector_dim = 1 : i64, offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 4>, start_index_map = array<i64: 0>} : (tensor<8x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf64>
  return
}

// -----

func.func @gather_slices(%x: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'dtensor.gather' op violates constraint C2: slices have size 2 along dim 0 of size 8}}
  %0 = dtensor.gather %x, %i {collapsed_slice_dims = array<i64: 0>, index_vector_dim = 1 : i64, offset_dims = array<i64: 1>, slice_sizes = array<i64: 2, 4>, start_index_map = array<i64: 0>} : (tensor<8x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @gather_collapsed(%x: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'dtensor.gather' op violates constraint C3}}
  %0 = dtensor.gather %x, %i {collapsed_slice_dims = array<i64: 3>, index_vector_dim = 1 : i64, offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 4>, start_index_map = array<i64: 0>} : (tensor<8x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @gather_vector(%x: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'dtensor.gather' op violates constraint C4}}
  %0 = dtensor.gather %x, %i {collapsed_slice_dims = array<i64: 0>, index_vector_dim = 3 : i64, offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 4>, start_index_map = array<i64: 0>} : (tensor<8x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @gather_map(%x: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'dtensor.gather' op violates constraint C5}}
  %0 = dtensor.gather %x, %i {collapsed_slice_dims = array<i64: 0>, index_vector_dim = 1 : i64, offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 4>, start_index_map = array<i64: 0, 1>} : (tensor<8x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @gather_batching(%x: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'dtensor.gather' op violates constraint C6}}
  %0 = dtensor.gather %x, %i {collapsed_slice_dims = array<i64: 0>, index_vector_dim = 1 : i64, offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 4>, start_index_map = array<i64: 0>, start_indices_batching_dims = array<i64: 0>} : (tensor<8x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @gather_offsets(%x: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'dtensor.gather' op violates constraint C7}}
  %0 = dtensor.gather %x, %i {collapsed_slice_dims = array<i64: 0>, index_vector_dim = 1 : i64, offset_dims = array<i64: 0, 1>, slice_sizes = array<i64: 1, 4>, start_index_map = array<i64: 0>} : (tensor<8x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @gather_result(%x: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'dtensor.gather' op violates constraint C8}}
  %0 = dtensor.gather %x, %i {collapsed_slice_dims = array<i64: 0>, index_vector_dim = 1 : i64, offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 4>, start_index_map = array<i64: 0>} : (tensor<8x4xf32>, tensor<5x1xi32>) -> tensor<6x4xf32>
  return
}

// -----

func.func @scatter_result(%x: tensor<8x4xf32>, %i: tensor<5x1xi32>, %u: tensor<5x4xf32>) {
  // expected-error @+1 {{'dtensor.scatter' op violates constraint C1}}
  %0 = dtensor.scatter %x at %i with %u {inserted_window_dims = array<i64: 0>, index_vector_dim = 1 : i64, update_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>} : (tensor<8x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<8x5xf32>
  return
}

// -----

func.func @scatter_window(%x: tensor<8x4xf32>, %i: tensor<5x1xi32>, %u: tensor<5x4xf32>) {
  // expected-error @+1 {{'dtensor.scatter' op violates constraint C2}}
  %0 = dtensor.scatter %x at %i with %u {inserted_window_dims = array<i64: 0>, index_vector_dim = 1 : i64, update_window_dims = array<i64: 0, 1>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>} : (tensor<8x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @scatter_inserted(%x: tensor<8x4xf32>, %i: tensor<5x1xi32>, %u: tensor<5x4xf32>) {
  // expected-error @+1 {{'dtensor.scatter' op violates constraint C3}}
  %0 = dtensor.scatter %x at %i with %u {inserted_window_dims = array<i64: 0, 0>, index_vector_dim = 1 : i64, update_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>} : (tensor<8x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @scatter_vector(%x: tensor<8x4xf32>, %i: tensor<5x1xi32>, %u: tensor<5x4xf32>) {
  // expected-error @+1 {{'dtensor.scatter' op violates constraint C4}}
  %0 = dtensor.scatter %x at %i with %u {inserted_window_dims = array<i64: 0>, index_vector_dim = 3 : i64, update_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>} : (tensor<8x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @scatter_map(%x: tensor<8x4xf32>, %i: tensor<5x1xi32>, %u: tensor<5x4xf32>) {
  // expected-error @+1 {{'dtensor.scatter' op violates constraint C5}}
  %0 = dtensor.scatter %x at %i with %u {inserted_window_dims = array<i64: 0>, index_vector_dim = 1 : i64, update_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 2>, kind = #dtensor.kind<sum>} : (tensor<8x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @scatter_batching(%x: tensor<8x4xf32>, %i: tensor<5x1xi32>, %u: tensor<5x4xf32>) {
  // expected-error @+1 {{'dtensor.scatter' op violates constraint C6}}
  %0 = dtensor.scatter %x at %i with %u {inserted_window_dims = array<i64: 0>, index_vector_dim = 1 : i64, update_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>, scatter_indices_batching_dims = array<i64: 0>} : (tensor<8x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @scatter_sizes(%x: tensor<8x4xf32>, %i: tensor<5x1xi32>, %u: tensor<6x4xf32>) {
  // expected-error @+1 {{'dtensor.scatter' op violates constraint C7}}
  %0 = dtensor.scatter %x at %i with %u {inserted_window_dims = array<i64: 0>, index_vector_dim = 1 : i64, update_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>} : (tensor<8x4xf32>, tensor<5x1xi32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @scatter_kind(%x: tensor<8x4xf32>, %i: tensor<5x1xi32>, %u: tensor<5x4xf32>) {
  // expected-error @+1 {{'dtensor.scatter' op violates constraint C8: 'and' does not take 'f32'}}
  %0 = dtensor.scatter %x at %i with %u {inserted_window_dims = array<i64: 0>, index_vector_dim = 1 : i64, update_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<and>} : (tensor<8x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @scatter_region(%x: tensor<8x4xf32>, %i: tensor<5x1xi32>, %u: tensor<5x4xf32>) {
  // expected-error @+1 {{'dtensor.scatter' op violates constraint C9: the region takes 1 values, expected 2}}
  %0 = dtensor.scatter %x at %i with %u {inserted_window_dims = array<i64: 0>, index_vector_dim = 1 : i64, update_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 0>} : (tensor<8x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<8x4xf32> {
  ^bb0(%a: tensor<f32>):
    dtensor.yield %a : tensor<f32>
  }
  return
}

// -----

func.func @slice_type(%x: tensor<48x6xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{'dtensor.dynamic_slice' op violates constraint C1}}
  %0 = dtensor.dynamic_slice %x at %i, %i sizes [9, 6] : (tensor<48x6xf32>, tensor<i32>, tensor<i32>) -> tensor<9x6xf64>
  return
}

// -----

func.func @slice_starts(%x: tensor<48x6xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{'dtensor.dynamic_slice' op violates constraint C2: there are 1 start indices for 2 dims}}
  %0 = dtensor.dynamic_slice %x at %i sizes [9, 6] : (tensor<48x6xf32>, tensor<i32>) -> tensor<9x6xf32>
  return
}

// -----

func.func @slice_sizes(%x: tensor<48x6xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{'dtensor.dynamic_slice' op violates constraint C3}}
  %0 = dtensor.dynamic_slice %x at %i, %i sizes [9, 7] : (tensor<48x6xf32>, tensor<i32>, tensor<i32>) -> tensor<9x7xf32>
  return
}

// -----

func.func @update_type(%x: tensor<48x6xf32>, %i: tensor<i32>, %u: tensor<9x7xf32>, %v: tensor<9x6xf32>) {
  // expected-error @+1 {{'dtensor.dynamic_update_slice' op violates constraint C1}}
  %0 = dtensor.dynamic_update_slice %x with %v at %i, %i : (tensor<48x6xf32>, tensor<9x6xf32>, tensor<i32>, tensor<i32>) -> tensor<48x6xf64>
  return
}

// -----

func.func @update_starts(%x: tensor<48x6xf32>, %i: tensor<i32>, %u: tensor<9x7xf32>, %v: tensor<9x6xf32>) {
  // expected-error @+1 {{'dtensor.dynamic_update_slice' op violates constraint C2}}
  %0 = dtensor.dynamic_update_slice %x with %v at %i : (tensor<48x6xf32>, tensor<9x6xf32>, tensor<i32>) -> tensor<48x6xf32>
  return
}

// -----

func.func @update_sizes(%x: tensor<48x6xf32>, %i: tensor<i32>, %u: tensor<9x7xf32>, %v: tensor<9x6xf32>) {
  // expected-error @+1 {{'dtensor.dynamic_update_slice' op violates constraint C3}}
  %0 = dtensor.dynamic_update_slice %x with %u at %i, %i : (tensor<48x6xf32>, tensor<9x7xf32>, tensor<i32>, tensor<i32>) -> tensor<48x6xf32>
  return
}

// -----

func.func @update_result(%x: tensor<48x6xf32>, %i: tensor<i32>, %u: tensor<9x7xf32>, %v: tensor<9x6xf32>) {
  // expected-error @+1 {{'dtensor.dynamic_update_slice' op violates constraint C4}}
  %0 = dtensor.dynamic_update_slice %x with %v at %i, %i : (tensor<48x6xf32>, tensor<9x6xf32>, tensor<i32>, tensor<i32>) -> tensor<9x6xf32>
  return
}

// -----

func.func @sort_results(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{'dtensor.sort' op violates constraint C1}}
  %0 = dtensor.sort %x dim 1 : (tensor<8x4xf32>) -> tensor<8x5xf32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = dtensor.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    dtensor.yield %r : tensor<i1>
  }
  return
}

// -----

func.func @sort_dim(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{'dtensor.sort' op violates constraint C2}}
  %0 = dtensor.sort %x dim 2 : (tensor<8x4xf32>) -> tensor<8x4xf32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = dtensor.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    dtensor.yield %r : tensor<i1>
  }
  return
}

// -----

func.func @sort_region(%x: tensor<8x4xf64>) {
  // expected-error @+1 {{'dtensor.sort' op violates constraint C3: argument #0 of the region is 'tensor<f32>', expected 'tensor<f64>'}}
  %0 = dtensor.sort %x dim 1 : (tensor<8x4xf64>) -> tensor<8x4xf64> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = dtensor.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    dtensor.yield %r : tensor<i1>
  }
  return
}

// -----

func.func @top_k_count(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{'dtensor.top_k' op violates constraint C1}}
  %0:2 = dtensor.top_k %x k 5 : tensor<8x4xf32> -> tensor<8x5xf32>, tensor<8x5xi32>
  return
}

// -----

func.func @top_k_results(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{'dtensor.top_k' op violates constraint C2}}
  %0:2 = dtensor.top_k %x k 2 : tensor<8x4xf32> -> tensor<8x2xf32>, tensor<8x3xi32>
  return
}

// -----

func.func @reduce_dims(%x: tensor<8x4xf32>, %z: tensor<f32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{'dtensor.generic_reduce' op violates constraint C2}}
  %0 = dtensor.generic_reduce %x from %z dims [2] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    dtensor.yield %a : tensor<f32>
  }
  return
}

// -----

func.func @reduce_init(%x: tensor<8x4xf32>, %z: tensor<f32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{'dtensor.generic_reduce' op violates constraint C3}}
  %0 = dtensor.generic_reduce %x from %y dims [1] : (tensor<8x4xf32>, tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    dtensor.yield %a : tensor<f32>
  }
  return
}

// -----

func.func @reduce_result(%x: tensor<8x4xf32>, %z: tensor<f32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{'dtensor.generic_reduce' op violates constraint C4}}
  %0 = dtensor.generic_reduce %x from %z dims [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    dtensor.yield %a : tensor<f32>
  }
  return
}

// -----

func.func @reduce_region(%x: tensor<8x4xf32>, %z: tensor<f32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{'dtensor.generic_reduce' op violates constraint C5: the region yields 'tensor<i1>', expected 'tensor<f32>'}}
  %0 = dtensor.generic_reduce %x from %z dims [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = dtensor.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    dtensor.yield %r : tensor<i1>
  }
  return
}
