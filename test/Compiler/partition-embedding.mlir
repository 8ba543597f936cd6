// A lookup in a table whose vocabulary is cut: between devices with their own
// memories each gives its part, and the parts are added up; in shared memory
// nothing is added up.
// RUN: mesh-opt %s --dtensor-partition=machine=ring | FileCheck %s --check-prefix=RING
// RUN: mesh-opt %s --dtensor-partition=machine=shared-memory | FileCheck %s --check-prefix=SHARED

#mesh = #dtensor.mesh<model = 8>
#rows = #dtensor.layout<#mesh, [model, *]>
#full = #dtensor.layout<#mesh, [*, *]>

// RING-LABEL: func.func @lookup
// RING: %[[PART:.*]] = dtensor.gather {{.*}} -> tensor<64x32xf32, #spmd.shard<[64, 32], #layout_u_u_sum_model
// RING: spmd.all_reduce sum over [model] %[[PART]]
// SHARED-LABEL: func.func @lookup
// SHARED: dtensor.gather
// SHARED-NOT: spmd.all_reduce
// SHARED: return
func.func @lookup(%x: tensor<1024x32xf32, #rows>, %i: tensor<64x1xi32, #full>) -> tensor<64x32xf32, #full> {
  %0 = dtensor.gather %x, %i {collapsed_slice_dims = array<i64: 0>,
      index_vector_dim = 1 : i64, offset_dims = array<i64: 1>,
      slice_sizes = array<i64: 1, 32>, start_index_map = array<i64: 0>}
      : (tensor<1024x32xf32, #rows>, tensor<64x1xi32, #full>) -> tensor<64x32xf32>
  %1 = dtensor.constraint %0 : (tensor<64x32xf32>) -> tensor<64x32xf32, #full>
  return %1 : tensor<64x32xf32, #full>
}

// The gradient: each device adds up its rows of the batch, and its part of the
// table is what it needs of the sum.
// RING-LABEL: func.func @gradient
// RING: dtensor.scatter
// RING-NOT: spmd.all_gather over [model] {{.*}}tensor<1024x32xf32
// RING: return
func.func @gradient(%i: tensor<64x1xi32, #rows>, %g: tensor<64x32xf32, #rows>) -> tensor<1024x32xf32, #rows> {
  %zeros = dtensor.constant dense<0.0> : tensor<1024x32xf32>
  %0 = dtensor.scatter %zeros at %i with %g {index_vector_dim = 1 : i64,
      inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<sum>,
      scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
      : (tensor<1024x32xf32>, tensor<64x1xi32, #rows>, tensor<64x32xf32, #rows>) -> tensor<1024x32xf32>
  %1 = dtensor.constraint %0 : (tensor<1024x32xf32>) -> tensor<1024x32xf32, #rows>
  return %1 : tensor<1024x32xf32, #rows>
}
