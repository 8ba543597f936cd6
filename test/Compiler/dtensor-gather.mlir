// Behaviour that TensorFlow DTensor's own tests check: gathers and
// scatters. DTensor gathers what is indexed; here each device looks up, or
// updates, what it has of it.
// RUN: mesh-opt %s --dtensor-lift-variables --dtensor-propagate-layouts | FileCheck %s --check-prefix=LAYOUT
// RUN: mesh-opt %s --dtensor-partition='machine=ring refine=false' | FileCheck %s
// RUN: mesh-run %s --function=item71 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item72_axis0 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item72_axis1 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item72_batch --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item72_indices --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item73 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item74 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item75_update --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item75_add --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item75_nd --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item76_ids --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item76_data --verify --machine=ring --no-refine --private-memories

#mesh = #dtensor.mesh<x = 2, y = 4>
#x = #dtensor.layout<#mesh, [x]>
#u = #dtensor.layout<#mesh, [*]>
#uu = #dtensor.layout<#mesh, [*, *]>
#xu = #dtensor.layout<#mesh, [x, *]>
#ux = #dtensor.layout<#mesh, [*, x]>
#uy = #dtensor.layout<#mesh, [*, y]>
#yu = #dtensor.layout<#mesh, [y, *]>
#xy = #dtensor.layout<#mesh, [x, y]>
#xyu = #dtensor.layout<#mesh, [x, y, *]>
#xuu = #dtensor.layout<#mesh, [x, *, *]>
#uuu = #dtensor.layout<#mesh, [*, *, *]>
#xuuu = #dtensor.layout<#mesh, [x, *, *, *]>
#uyu = #dtensor.layout<#mesh, [*, y, *]>

// Whole params, indices [y, u] -> [y, u, u].
// LAYOUT-LABEL: func.func @item71(
// LAYOUT: dtensor.gather {{.*}} -> tensor<4x6x8xf32, #layout_y_u_u>
// CHECK-LABEL: func.func @item71(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item71(%p: tensor<16x8xf32, #uu>, %i: tensor<4x6xi32, #yu>) -> tensor<4x6x8xf32> {
  %0 = dtensor.reshape %i : (tensor<4x6xi32, #yu>) -> tensor<4x6x1xi32>
  %1 = dtensor.gather %p, %0 {collapsed_slice_dims = array<i64: 0>, index_vector_dim = 2 : i64, offset_dims = array<i64: 2>, slice_sizes = array<i64: 1, 8>, start_index_map = array<i64: 0>} : (tensor<16x8xf32, #uu>, tensor<4x6x1xi32>) -> tensor<4x6x8xf32>
  return %1 : tensor<4x6x8xf32>
}

// Params [x, u] along axis 0: pending sums, replicated in the end.
// LAYOUT-LABEL: func.func @item72_axis0(
// LAYOUT: dtensor.gather {{.*}} -> tensor<4x6x8xf32, #layout_u_u_u_sum_x>
// CHECK-LABEL: func.func @item72_axis0(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_reduce sum over [x] {{.*}}#layout_u_u_u
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item72_axis0(%p: tensor<16x8xf32, #xu>, %i: tensor<4x6x1xi32, #uuu>) -> tensor<4x6x8xf32> {
  %1 = dtensor.gather %p, %i {collapsed_slice_dims = array<i64: 0>, index_vector_dim = 2 : i64, offset_dims = array<i64: 2>, slice_sizes = array<i64: 1, 8>, start_index_map = array<i64: 0>} : (tensor<16x8xf32, #xu>, tensor<4x6x1xi32, #uuu>) -> tensor<4x6x8xf32>
  return %1 : tensor<4x6x8xf32>
}

// Params [x, u] along axis 1 -> [x, u, u].
// LAYOUT-LABEL: func.func @item72_axis1(
// LAYOUT: dtensor.gather {{.*}} -> tensor<16x4x6xf32, #layout_x_u_u>
// CHECK-LABEL: func.func @item72_axis1(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item72_axis1(%p: tensor<16x8xf32, #xu>, %i: tensor<4x6x1xi32, #uuu>) -> tensor<16x4x6xf32> {
  %1 = dtensor.gather %p, %i {collapsed_slice_dims = array<i64: 1>, index_vector_dim = 2 : i64, offset_dims = array<i64: 0>, slice_sizes = array<i64: 16, 1>, start_index_map = array<i64: 1>} : (tensor<16x8xf32, #xu>, tensor<4x6x1xi32, #uuu>) -> tensor<16x4x6xf32>
  return %1 : tensor<16x4x6xf32>
}

// Two batch dims, params [x, y, u] -> [x, y, u, u].
// LAYOUT-LABEL: func.func @item72_batch(
// LAYOUT: dtensor.gather {{.*}} -> tensor<4x8x5x3xf32, #layout_x_y_u_u>
// CHECK-LABEL: func.func @item72_batch(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item72_batch(%p: tensor<4x8x6x3xf32, #dtensor.layout<#mesh, [x, y, *, *]>>, %i: tensor<4x8x5x1xi32>) -> tensor<4x8x5x3xf32> {
  %1 = dtensor.gather %p, %i {collapsed_slice_dims = array<i64: 2>, operand_batching_dims = array<i64: 0, 1>, start_indices_batching_dims = array<i64: 0, 1>, index_vector_dim = 3 : i64, offset_dims = array<i64: 3>, slice_sizes = array<i64: 1, 1, 1, 3>, start_index_map = array<i64: 2>} : (tensor<4x8x6x3xf32, #dtensor.layout<#mesh, [x, y, *, *]>>, tensor<4x8x5x1xi32>) -> tensor<4x8x5x3xf32>
  return %1 : tensor<4x8x5x3xf32>
}

// Params [x, u, u, u] along axis 1, indices [u, y] -> [x, u, y, u, u].
// LAYOUT-LABEL: func.func @item72_indices(
// LAYOUT: dtensor.gather {{.*}} -> tensor<4x5x8x6x3xf32, #layout_x_u_y_u_u>
// CHECK-LABEL: func.func @item72_indices(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item72_indices(%p: tensor<4x8x6x3xf32, #xuuu>, %i: tensor<5x8x1xi32, #uyu>) -> tensor<4x5x8x6x3xf32> {
  %1 = dtensor.gather %p, %i {collapsed_slice_dims = array<i64: 1>, index_vector_dim = 2 : i64, offset_dims = array<i64: 0, 3, 4>, slice_sizes = array<i64: 4, 1, 6, 3>, start_index_map = array<i64: 1>} : (tensor<4x8x6x3xf32, #xuuu>, tensor<5x8x1xi32, #uyu>) -> tensor<4x5x8x6x3xf32>
  return %1 : tensor<4x5x8x6x3xf32>
}

// A lookup in a variable sharded along the axis looked up, an error in
// DTensor: each device looks up its rows.
// LAYOUT-LABEL: func.func @item73(
// LAYOUT: dtensor.gather {{.*}} -> tensor<4x8xf32, #layout_u_u_sum_x>
// CHECK-LABEL: func.func @item73(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_reduce sum over [x]
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item73(%v: !dtensor.variable<tensor<16x8xf32, #xu>>, %i: tensor<4x1xi32, #uu>) -> tensor<4x8xf32> {
  %p = dtensor.read_variable %v : (!dtensor.variable<tensor<16x8xf32, #xu>>) -> tensor<16x8xf32, #xu>
  %1 = dtensor.gather %p, %i {collapsed_slice_dims = array<i64: 0>, index_vector_dim = 1 : i64, offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 8>, start_index_map = array<i64: 0>} : (tensor<16x8xf32, #xu>, tensor<4x1xi32, #uu>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// Gather_nd, the last axis of the params and the indices both on x: the
// params keep it.
// LAYOUT-LABEL: func.func @item74(
// LAYOUT: dtensor.gather {{.*}} -> tensor<4x6x8xf32, #layout_u_u_x>
// CHECK-LABEL: func.func @item74(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_gather over [x] %arg1
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item74(%p: tensor<16x8xf32, #ux>, %i: tensor<4x6x1xi32, #xuu>) -> tensor<4x6x8xf32> {
  %1 = dtensor.gather %p, %i {collapsed_slice_dims = array<i64: 0>, index_vector_dim = 2 : i64, offset_dims = array<i64: 2>, slice_sizes = array<i64: 1, 8>, start_index_map = array<i64: 0>} : (tensor<16x8xf32, #ux>, tensor<4x6x1xi32, #xuu>) -> tensor<4x6x8xf32>
  return %1 : tensor<4x6x8xf32>
}

// Tensor_scatter_update and _add of [x, y] along axis 0. DTensor gathers
// the axis that is indexed; here both stay sharded.
// LAYOUT-LABEL: func.func @item75_update(
// LAYOUT: dtensor.scatter {{.*}} -> tensor<16x8xf32, #layout_x_y>
// CHECK-LABEL: func.func @item75_update(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.slice over [y] %arg1
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item75_update(%t: tensor<16x8xf32, #xy>, %n: tensor<16x8xf32, #uu>) -> tensor<16x8xf32> {
  %i = dtensor.constant dense<[[3], [9], [0]]> : tensor<3x1xi32>
  %s = dtensor.slice %n [0:3, 0:8] : (tensor<16x8xf32, #uu>) -> tensor<3x8xf32>
  %0 = dtensor.scatter %t at %i with %s {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>, unique_indices} : (tensor<16x8xf32, #xy>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// LAYOUT-LABEL: func.func @item75_add(
// LAYOUT: dtensor.scatter {{.*}} -> tensor<16x8xf32, #layout_x_y>
// CHECK-LABEL: func.func @item75_add(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.slice over [y] %arg2
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item75_add(%t: tensor<16x8xf32, #xy>, %i: tensor<5x1xi32, #uu>, %s: tensor<5x8xf32, #uu>) -> tensor<16x8xf32> {
  %0 = dtensor.scatter %t at %i with %s {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<sum>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>} : (tensor<16x8xf32, #xy>, tensor<5x1xi32, #uu>, tensor<5x8xf32, #uu>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// Scatter_nd is laid out as its updates.
// LAYOUT-LABEL: func.func @item75_nd(
// LAYOUT: dtensor.scatter {{.*}} -> tensor<16x8xf32, #layout_u_y>
// CHECK-LABEL: func.func @item75_nd(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item75_nd(%i: tensor<5x1xi32, #uu>, %s: tensor<5x8xf32, #uy>) -> tensor<16x8xf32> {
  %zeros = dtensor.constant dense<0.0> : tensor<16x8xf32>
  %0 = dtensor.scatter %zeros at %i with %s {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<sum>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>} : (tensor<16x8xf32>, tensor<5x1xi32, #uu>, tensor<5x8xf32, #uy>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// Unsorted_segment_sum of sharded ids and of sharded data: each
// device sums its rows; replicated in the end.
// LAYOUT-LABEL: func.func @item76_ids(
// LAYOUT: dtensor.scatter {{.*}} -> tensor<5x3xf32, #layout_u_u_sum_x>
// CHECK-LABEL: func.func @item76_ids(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.slice over [x] %arg1
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_reduce sum over [x] {{.*}}#layout_u_u
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item76_ids(%ids: tensor<8xi32, #x>, %d: tensor<8x3xf32, #uu>) -> tensor<5x3xf32> {
  %zeros = dtensor.constant dense<0.0> : tensor<5x3xf32>
  %i = dtensor.reshape %ids : (tensor<8xi32, #x>) -> tensor<8x1xi32>
  %0 = dtensor.scatter %zeros at %i with %d {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<sum>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>} : (tensor<5x3xf32>, tensor<8x1xi32>, tensor<8x3xf32, #uu>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}
// LAYOUT-LABEL: func.func @item76_data(
// LAYOUT: dtensor.scatter {{.*}} -> tensor<5x3xf32, #layout_u_u_sum_x>
// CHECK-LABEL: func.func @item76_data(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.slice over [x] %arg0
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_reduce sum over [x] {{.*}}#layout_u_u
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item76_data(%ids: tensor<8xi32, #u>, %d: tensor<8x3xf32, #xu>) -> tensor<5x3xf32> {
  %zeros = dtensor.constant dense<0.0> : tensor<5x3xf32>
  %i = dtensor.reshape %ids : (tensor<8xi32, #u>) -> tensor<8x1xi32>
  %0 = dtensor.scatter %zeros at %i with %d {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<sum>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>} : (tensor<5x3xf32>, tensor<8x1xi32>, tensor<8x3xf32, #xu>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}
