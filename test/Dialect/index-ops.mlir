// RUN: mesh-opt %s | mesh-opt | FileCheck %s
// RUN: mesh-opt %s --mlir-print-op-generic | mesh-opt | FileCheck %s
// Every op on indices, orders and reductions by functions prints and parses as
// it is documented.

// CHECK-LABEL: @gather
func.func @gather(%x: tensor<1024x32xf32>, %i: tensor<16x1xi32>,
                  %y: tensor<3x8x5xf16>, %j: tensor<4x3xui64>) {
  // CHECK: dtensor.gather %{{.*}}, %{{.*}} {collapsed_slice_dims = array<i64: 0>, index_vector_dim = 1 : i64, offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 32>, start_index_map = array<i64: 0>} : (tensor<1024x32xf32>, tensor<16x1xi32>) -> tensor<16x32xf32>
  %0 = dtensor.gather %x, %i {collapsed_slice_dims = array<i64: 0>,
      index_vector_dim = 1 : i64, offset_dims = array<i64: 1>,
      slice_sizes = array<i64: 1, 32>, start_index_map = array<i64: 0>}
      : (tensor<1024x32xf32>, tensor<16x1xi32>) -> tensor<16x32xf32>
  // CHECK: operand_batching_dims = array<i64: 0>, slice_sizes = array<i64: 1, 2, 5>, start_index_map = array<i64: 1>, start_indices_batching_dims = array<i64: 1>
  %1 = dtensor.gather %y, %j {index_vector_dim = 2 : i64,
      offset_dims = array<i64: 1, 2>, operand_batching_dims = array<i64: 0>,
      start_indices_batching_dims = array<i64: 1>,
      slice_sizes = array<i64: 1, 2, 5>, start_index_map = array<i64: 1>}
      : (tensor<3x8x5xf16>, tensor<4x3xui64>) -> tensor<4x2x5x3xf16>
  return
}

// CHECK-LABEL: @scatter
func.func @scatter(%x: tensor<8x4xf32>, %i: tensor<5x1xi64>, %u: tensor<5x4xf32>) {
  // CHECK: dtensor.scatter %{{.*}} at %{{.*}} with %{{.*}} {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<sum>, scatter_dims_to_operand_dims = array<i64: 0>, unique_indices, update_window_dims = array<i64: 1>}
  %0 = dtensor.scatter %x at %i with %u {index_vector_dim = 1 : i64,
      inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<sum>,
      scatter_dims_to_operand_dims = array<i64: 0>, unique_indices,
      update_window_dims = array<i64: 1>}
      : (tensor<8x4xf32>, tensor<5x1xi64>, tensor<5x4xf32>) -> tensor<8x4xf32>
  // CHECK: dtensor.scatter
  // CHECK-SAME: -> tensor<8x4xf32> {
  // CHECK: dtensor.yield %{{.*}} : tensor<f32>
  %1 = dtensor.scatter %x at %i with %u {index_vector_dim = 1 : i64,
      inserted_window_dims = array<i64: 0>,
      scatter_dims_to_operand_dims = array<i64: 0>,
      update_window_dims = array<i64: 1>}
      : (tensor<8x4xf32>, tensor<5x1xi64>, tensor<5x4xf32>) -> tensor<8x4xf32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = dtensor.subtract %a, %b : tensor<f32>
    dtensor.yield %r : tensor<f32>
  }
  return
}

// CHECK-LABEL: @dynamic
func.func @dynamic(%x: tensor<48x6xf32>, %u: tensor<9x6xf32>, %i: tensor<i32>) {
  // CHECK: dtensor.dynamic_slice %{{.*}} at %{{.*}}, %{{.*}} sizes [9, 6] : (tensor<48x6xf32>, tensor<i32>, tensor<i32>) -> tensor<9x6xf32>
  %0 = dtensor.dynamic_slice %x at %i, %i sizes [9, 6]
      : (tensor<48x6xf32>, tensor<i32>, tensor<i32>) -> tensor<9x6xf32>
  // CHECK: dtensor.dynamic_update_slice %{{.*}} with %{{.*}} at %{{.*}}, %{{.*}} : (tensor<48x6xf32>, tensor<9x6xf32>, tensor<i32>, tensor<i32>) -> tensor<48x6xf32>
  %1 = dtensor.dynamic_update_slice %x with %u at %i, %i
      : (tensor<48x6xf32>, tensor<9x6xf32>, tensor<i32>, tensor<i32>) -> tensor<48x6xf32>
  return
}

// CHECK-LABEL: @order
func.func @order(%x: tensor<8x4xf32>, %p: tensor<8x4xi32>, %z: tensor<f32>) {
  // CHECK: %{{.*}}:2 = dtensor.sort %{{.*}}, %{{.*}} dim 1 {is_stable} : (tensor<8x4xf32>, tensor<8x4xi32>) -> (tensor<8x4xf32>, tensor<8x4xi32>) {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<i32>, %{{.*}}: tensor<i32>):
  %0:2 = dtensor.sort %x, %p dim 1 {is_stable}
      : (tensor<8x4xf32>, tensor<8x4xi32>) -> (tensor<8x4xf32>, tensor<8x4xi32>) {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %less = dtensor.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    dtensor.yield %less : tensor<i1>
  }
  // CHECK: dtensor.top_k %{{.*}} k 2 : tensor<8x4xf32> -> tensor<8x2xf32>, tensor<8x2xi32>
  %v, %i = dtensor.top_k %x k 2 : tensor<8x4xf32> -> tensor<8x2xf32>, tensor<8x2xi32>
  // CHECK: dtensor.generic_reduce %{{.*}} from %{{.*}} dims [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32> {
  %1 = dtensor.generic_reduce %x from %z dims [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = dtensor.subtract %b, %a : tensor<f32>
    dtensor.yield %r : tensor<f32>
  }
  return
}

// CHECK-LABEL: @decompositions
func.func @decompositions(%a: tensor<3x4x4xf32>, %b: tensor<3x4x7xcomplex<f64>>, %d: tensor<3x4xcomplex<f64>>) {
  // CHECK: dtensor.lu %{{.*}} : (tensor<3x4x4xf32>) -> (tensor<3x4x4xf32>, tensor<3x4xi32>, tensor<3x4xi32>)
  %0:3 = dtensor.lu %a : (tensor<3x4x4xf32>) -> (tensor<3x4x4xf32>, tensor<3x4xi32>, tensor<3x4xi32>)
  // CHECK: dtensor.eigh %{{.*}} {lower} : (tensor<3x4x4xf32>) -> (tensor<3x4x4xf32>, tensor<3x4xf32>)
  %1:2 = dtensor.eigh %a {lower} : (tensor<3x4x4xf32>) -> (tensor<3x4x4xf32>, tensor<3x4xf32>)
  // CHECK: dtensor.svd %{{.*}} {full_matrices} : (tensor<3x4x7xcomplex<f64>>) -> (tensor<3x4x4xcomplex<f64>>, tensor<3x4xf64>, tensor<3x7x7xcomplex<f64>>)
  %2:3 = dtensor.svd %b {full_matrices} : (tensor<3x4x7xcomplex<f64>>) -> (tensor<3x4x4xcomplex<f64>>, tensor<3x4xf64>, tensor<3x7x7xcomplex<f64>>)
  // CHECK: dtensor.eig %{{.*}} : (tensor<3x4x4xf32>) -> (tensor<3x4xcomplex<f32>>, tensor<3x4x4xcomplex<f32>>)
  %3:2 = dtensor.eig %a : (tensor<3x4x4xf32>) -> (tensor<3x4xcomplex<f32>>, tensor<3x4x4xcomplex<f32>>)
  // CHECK: dtensor.eig %{{.*}} {lapack_order, left} : (tensor<3x4x4xf32>)
  %left:2 = dtensor.eig %a {lapack_order, left} : (tensor<3x4x4xf32>) -> (tensor<3x4xcomplex<f32>>, tensor<3x4x4xcomplex<f32>>)
  // CHECK: dtensor.schur %{{.*}} : (tensor<3x4x4xf32>) -> (tensor<3x4x4xf32>, tensor<3x4x4xf32>)
  %4:2 = dtensor.schur %a : (tensor<3x4x4xf32>) -> (tensor<3x4x4xf32>, tensor<3x4x4xf32>)
  // CHECK: dtensor.pivoted_qr %{{.*}} : (tensor<3x4x7xcomplex<f64>>) -> (tensor<3x4x7xcomplex<f64>>, tensor<3x7xi32>, tensor<3x4xcomplex<f64>>)
  %6:3 = dtensor.pivoted_qr %b : (tensor<3x4x7xcomplex<f64>>) -> (tensor<3x4x7xcomplex<f64>>, tensor<3x7xi32>, tensor<3x4xcomplex<f64>>)
  // CHECK: dtensor.hessenberg %{{.*}} : (tensor<3x4x4xf32>) -> (tensor<3x4x4xf32>, tensor<3x3xf32>)
  %7:2 = dtensor.hessenberg %a : (tensor<3x4x4xf32>) -> (tensor<3x4x4xf32>, tensor<3x3xf32>)
  // CHECK: dtensor.tridiagonal_solve %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} :
  %5 = dtensor.tridiagonal_solve %d, %d, %d, %b : (tensor<3x4xcomplex<f64>>, tensor<3x4xcomplex<f64>>, tensor<3x4xcomplex<f64>>, tensor<3x4x7xcomplex<f64>>) -> tensor<3x4x7xcomplex<f64>>
  return
}

// CHECK-LABEL: @linear_algebra
func.func @linear_algebra(%a: tensor<3x4x4xf32>, %b: tensor<3x4x7xf32>, %c: tensor<3x5x4xcomplex<f64>>) {
  // CHECK: dtensor.cholesky %{{.*}} {lower} : tensor<3x4x4xf32>
  %0 = dtensor.cholesky %a {lower} : tensor<3x4x4xf32>
  // CHECK: dtensor.triangular_solve %{{.*}}, %{{.*}} {left_side, transpose_a = "ADJOINT"} : (tensor<3x4x4xf32>, tensor<3x4x7xf32>) -> tensor<3x4x7xf32>
  %1 = dtensor.triangular_solve %a, %b {left_side, transpose_a = "ADJOINT"}
      : (tensor<3x4x4xf32>, tensor<3x4x7xf32>) -> tensor<3x4x7xf32>
  // CHECK: dtensor.fft %{{.*}} {fft_length = array<i64: 4, 7>, fft_type = "RFFT"} : (tensor<3x4x7xf32>) -> tensor<3x4x4xcomplex<f32>>
  %2 = dtensor.fft %b {fft_length = array<i64: 4, 7>, fft_type = "RFFT"}
      : (tensor<3x4x7xf32>) -> tensor<3x4x4xcomplex<f32>>
  // CHECK: dtensor.geqrf %{{.*}} : (tensor<3x5x4xcomplex<f64>>) -> (tensor<3x5x4xcomplex<f64>>, tensor<3x4xcomplex<f64>>)
  %qr, %taus = dtensor.geqrf %c : (tensor<3x5x4xcomplex<f64>>) -> (tensor<3x5x4xcomplex<f64>>, tensor<3x4xcomplex<f64>>)
  // CHECK: dtensor.householder_product %{{.*}}, %{{.*}} :
  %q = dtensor.householder_product %qr, %taus : (tensor<3x5x4xcomplex<f64>>, tensor<3x4xcomplex<f64>>) -> tensor<3x5x4xcomplex<f64>>
  // CHECK: dtensor.custom_call "mine"(%{{.*}}, %{{.*}}) {backend_config = "7", rule = "a b! c!, a b! d -> a d"} :
  %u = dtensor.custom_call "mine"(%a, %b) {rule = "a b! c!, a b! d -> a d", backend_config = "7"}
      : (tensor<3x4x4xf32>, tensor<3x4x7xf32>) -> tensor<3x7xf32>
  // CHECK: dtensor.custom_call "mine"(%{{.*}}) {batch_dims = 1 : i64, kind = #dtensor.kind<max>, rule = "a b -> b"} :
  %v = dtensor.custom_call "mine"(%a) {rule = "a b -> b", batch_dims = 1, kind = #dtensor.kind<max>}
      : (tensor<3x4x4xf32>) -> tensor<3x4xf32>
  return
}
