// RUN: mesh-opt --target=cuda %s | FileCheck %s

// Lookups, slices and updates at run-time indices are kernels: one picks rows and
// adds to them, one updates the table, and one has the slice.
// CHECK-COUNT-3: // kernel kernel_
// CHECK-NOT: // kernel
// CHECK: .version
func.func @f(%table: tensor<64x32xf32>, %ids: tensor<16x1xi32>, %new: tensor<4x32xf32>, %i: tensor<i32>)
    -> (tensor<16x32xf32>, tensor<8x32xf32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %0 = dtensor.gather %table, %ids {collapsed_slice_dims = array<i64: 0>, index_vector_dim = 1 : i64, offset_dims = array<i64: 1>,
      slice_sizes = array<i64: 1, 32>, start_index_map = array<i64: 0>}
      : (tensor<64x32xf32>, tensor<16x1xi32>) -> tensor<16x32xf32>
  %1 = dtensor.add %0, %0 : tensor<16x32xf32>
  %2 = dtensor.dynamic_update_slice %table with %new at %i, %zero
      : (tensor<64x32xf32>, tensor<4x32xf32>, tensor<i32>, tensor<i32>) -> tensor<64x32xf32>
  %3 = dtensor.dynamic_slice %2 at %i, %zero sizes [8, 32]
      : (tensor<64x32xf32>, tensor<i32>, tensor<i32>) -> tensor<8x32xf32>
  return %1, %3 : tensor<16x32xf32>, tensor<8x32xf32>
}
