// Behaviour that TensorFlow DTensor's own tests check: ops that only move
// elements.
// RUN: mesh-opt %s --dtensor-propagate-layouts | FileCheck %s --check-prefix=LAYOUT
// RUN: mesh-opt %s --dtensor-partition='machine=ring refine=false' | FileCheck %s
// RUN: mesh-run %s --function=item59 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item59_request --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item60 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item61 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item62 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item62_sharded --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item62_three --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item63 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item64 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item65 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item65_sharded --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item66 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item67 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item68_full --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item68_partial --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item68_row --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item69_aligned --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item69_misaligned --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item70_cumsum --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item70_diag_part --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item70_invert --verify --machine=ring --no-refine --private-memories

#mesh = #dtensor.mesh<x = 2, y = 4>
#x = #dtensor.layout<#mesh, [x]>
#y = #dtensor.layout<#mesh, [y]>
#u = #dtensor.layout<#mesh, [*]>
#xu = #dtensor.layout<#mesh, [x, *]>
#ux = #dtensor.layout<#mesh, [*, x]>
#uy = #dtensor.layout<#mesh, [*, y]>
#uu = #dtensor.layout<#mesh, [*, *]>
#xy = #dtensor.layout<#mesh, [x, y]>
#xuu = #dtensor.layout<#mesh, [x, *, *]>
#uxu = #dtensor.layout<#mesh, [*, x, *]>
#uyu = #dtensor.layout<#mesh, [*, y, *]>
#uxy = #dtensor.layout<#mesh, [*, x, y]>
#xyu = #dtensor.layout<#mesh, [x, y, *]>

// Reshapes keep the axis of the first dim of what is merged or
// split.
// LAYOUT-LABEL: func.func @item59(
// LAYOUT: dtensor.reshape {{.*}} -> tensor<24xf32, #layout_x>
// LAYOUT: dtensor.reshape {{.*}} -> tensor<8x3xf32, #layout_x_u>
// LAYOUT: dtensor.reshape {{.*}} -> tensor<2x4x3xf32, #layout_u_y_u>
// CHECK-LABEL: func.func @item59(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item59(%a: tensor<2x4x3xf32, #xuu>, %b: tensor<2x12xf32, #uy>) -> (tensor<24xf32>, tensor<8x3xf32>, tensor<2x4x3xf32>) {
  %0 = dtensor.reshape %a : (tensor<2x4x3xf32, #xuu>) -> tensor<24xf32>
  %1 = dtensor.reshape %a : (tensor<2x4x3xf32, #xuu>) -> tensor<8x3xf32>
  %2 = dtensor.reshape %b : (tensor<2x12xf32, #uy>) -> tensor<2x4x3xf32>
  return %0, %1, %2 : tensor<24xf32>, tensor<8x3xf32>, tensor<2x4x3xf32>
}

// [2, 4, 3] with axis 1 sharded -> [2, 12], asked for replicated.
// LAYOUT-LABEL: func.func @item59_request(
// LAYOUT: dtensor.reshape {{.*}} -> tensor<2x12xf32, #layout_u_y>
// CHECK-LABEL: func.func @item59_request(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_gather over [y] {{.*}} -> tensor<2x12xf32
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item59_request(%a: tensor<2x4x3xf32, #uyu>) -> tensor<2x12xf32, #uu> {
  %0 = dtensor.reshape %a : (tensor<2x4x3xf32, #uyu>) -> tensor<2x12xf32>
  %1 = dtensor.constraint %0 : (tensor<2x12xf32>) -> tensor<2x12xf32, #uu>
  return %1 : tensor<2x12xf32, #uu>
}

// The six transposes of three dims permute the layout.
// LAYOUT-LABEL: func.func @item60(
// LAYOUT: dims [0, 1, 2] {{.*}} -> tensor<4x8x3xf32, #layout_x_y_u>
// LAYOUT: dims [0, 2, 1] {{.*}} -> tensor<4x3x8xf32, #layout_x_u_y>
// LAYOUT: dims [1, 0, 2] {{.*}} -> tensor<8x4x3xf32, #layout_y_x_u>
// LAYOUT: dims [1, 2, 0] {{.*}} -> tensor<8x3x4xf32, #layout_y_u_x>
// LAYOUT: dims [2, 0, 1] {{.*}} -> tensor<3x4x8xf32, #layout_u_x_y>
// LAYOUT: dims [2, 1, 0] {{.*}} -> tensor<3x8x4xf32, #layout_u_y_x>
// CHECK-LABEL: func.func @item60(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item60(%a: tensor<4x8x3xf32, #xyu>) -> (tensor<4x8x3xf32>, tensor<4x3x8xf32>, tensor<8x4x3xf32>, tensor<8x3x4xf32>, tensor<3x4x8xf32>, tensor<3x8x4xf32>) {
  %0 = dtensor.transpose %a dims [0, 1, 2] : (tensor<4x8x3xf32, #xyu>) -> tensor<4x8x3xf32>
  %1 = dtensor.transpose %a dims [0, 2, 1] : (tensor<4x8x3xf32, #xyu>) -> tensor<4x3x8xf32>
  %2 = dtensor.transpose %a dims [1, 0, 2] : (tensor<4x8x3xf32, #xyu>) -> tensor<8x4x3xf32>
  %3 = dtensor.transpose %a dims [1, 2, 0] : (tensor<4x8x3xf32, #xyu>) -> tensor<8x3x4xf32>
  %4 = dtensor.transpose %a dims [2, 0, 1] : (tensor<4x8x3xf32, #xyu>) -> tensor<3x4x8xf32>
  %5 = dtensor.transpose %a dims [2, 1, 0] : (tensor<4x8x3xf32, #xyu>) -> tensor<3x8x4xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<4x8x3xf32>, tensor<4x3x8xf32>, tensor<8x4x3xf32>, tensor<8x3x4xf32>, tensor<3x4x8xf32>, tensor<3x8x4xf32>
}

// Of two dims that are 1 on a device only the one that is 1 as a whole
// goes; a sharded dim of one element (the second device has none) is gathered.
// LAYOUT-LABEL: func.func @item61(
// LAYOUT: dtensor.reshape {{.*}} -> tensor<2x8xf32, #layout_x_u>
// LAYOUT: dtensor.reshape {{.*}} -> tensor<8xf32, #layout_u>
// CHECK-LABEL: func.func @item61(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_gather over [x] %arg1
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item61(%a: tensor<2x1x8xf32, #xuu>, %b: tensor<1x8xf32, #xu>) -> (tensor<2x8xf32>, tensor<8xf32>) {
  %0 = dtensor.reshape %a : (tensor<2x1x8xf32, #xuu>) -> tensor<2x8xf32>
  %1 = dtensor.reshape %b : (tensor<1x8xf32, #xu>) -> tensor<8xf32>
  return %0, %1 : tensor<2x8xf32>, tensor<8xf32>
}

// Concatenated along a whole axis -> [x, *].
// LAYOUT-LABEL: func.func @item62(
// LAYOUT: dtensor.concatenate {{.*}} -> tensor<4x16xf32, #layout_x_u>
// CHECK-LABEL: func.func @item62(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.slice over [x] %arg1
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item62(%a: tensor<4x8xf32, #xu>, %b: tensor<4x8xf32, #uu>) -> tensor<4x16xf32> {
  %0 = dtensor.concatenate %a, %b dim 1 : (tensor<4x8xf32, #xu>, tensor<4x8xf32, #uu>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// Along a sharded axis. DTensor gathers; here each device gets what
// its part of the result is made of.
// LAYOUT-LABEL: func.func @item62_sharded(
// LAYOUT: dtensor.concatenate {{.*}} -> tensor<4x16xf32, #layout_u_x>
// CHECK-LABEL: func.func @item62_sharded(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.halo_exchange over [x] %arg0, %arg1
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item62_sharded(%a: tensor<4x8xf32, #ux>, %b: tensor<4x8xf32, #ux>) -> tensor<4x16xf32> {
  %0 = dtensor.concatenate %a, %b dim 1 : (tensor<4x8xf32, #ux>, tensor<4x8xf32, #ux>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// [*, x, y] and [x, *, *] along axis 1. DTensor makes them [*, *, y];
// here the result keeps both axes.
// LAYOUT-LABEL: func.func @item62_three(
// LAYOUT: dtensor.concatenate {{.*}} -> tensor<4x16x8xf32, #layout_u_x_y>
// CHECK-LABEL: func.func @item62_three(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.slice over [y] %arg1
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_to_all over [x]
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.halo_exchange over [x]
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item62_three(%a: tensor<4x8x8xf32, #uxy>, %b: tensor<4x8x8xf32, #xuu>) -> tensor<4x16x8xf32> {
  %0 = dtensor.concatenate %a, %b dim 1 : (tensor<4x8x8xf32, #uxy>, tensor<4x8x8xf32, #xuu>) -> tensor<4x16x8xf32>
  return %0 : tensor<4x16x8xf32>
}

// A whole value and [x, *] stacked: the whole one is cut.
// LAYOUT-LABEL: func.func @item63(
// LAYOUT: dtensor.concatenate {{.*}} -> tensor<2x4x8xf32, #layout_u_x_u>
// CHECK-LABEL: func.func @item63(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.slice over [x] %arg0
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item63(%a: tensor<4x8xf32, #uu>, %b: tensor<4x8xf32, #xu>) -> tensor<2x4x8xf32> {
  %0 = dtensor.reshape %a : (tensor<4x8xf32, #uu>) -> tensor<1x4x8xf32>
  %1 = dtensor.reshape %b : (tensor<4x8xf32, #xu>) -> tensor<1x4x8xf32>
  %2 = dtensor.concatenate %0, %1 dim 0 : (tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> tensor<2x4x8xf32>
  return %2 : tensor<2x4x8xf32>
}

// Unstacked along a sharded axis -> replicated.
// LAYOUT-LABEL: func.func @item64(
// LAYOUT: return {{.*}} : tensor<8xf32, #layout_u>, tensor<8xf32, #layout_u>
// CHECK-LABEL: func.func @item64(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.halo_exchange over [x] %arg0
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_gather over [x]
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_gather over [x]
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item64(%a: tensor<2x8xf32, #xu>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = dtensor.slice %a [0:1, 0:8] : (tensor<2x8xf32, #xu>) -> tensor<1x8xf32>
  %1 = dtensor.slice %a [1:2, 0:8] : (tensor<2x8xf32, #xu>) -> tensor<1x8xf32>
  %2 = dtensor.reshape %0 : (tensor<1x8xf32>) -> tensor<8xf32>
  %3 = dtensor.reshape %1 : (tensor<1x8xf32>) -> tensor<8xf32>
  return %2, %3 : tensor<8xf32>, tensor<8xf32>
}

// Split along a whole axis: the sharding of the other is kept.
// LAYOUT-LABEL: func.func @item65(
// LAYOUT: dtensor.slice {{.*}} -> tensor<4x4xf32, #layout_x_u>
// LAYOUT: dtensor.slice {{.*}} -> tensor<4x4xf32, #layout_x_u>
// CHECK-LABEL: func.func @item65(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item65(%a: tensor<4x8xf32, #xu>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = dtensor.slice %a [0:4, 0:4] : (tensor<4x8xf32, #xu>) -> tensor<4x4xf32>
  %1 = dtensor.slice %a [0:4, 4:8] : (tensor<4x8xf32, #xu>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// Split along a sharded axis, an error in DTensor: here the parts are
// sharded as the whole was.
// LAYOUT-LABEL: func.func @item65_sharded(
// LAYOUT: dtensor.slice {{.*}} -> tensor<4x4xf32, #layout_u_x>
// LAYOUT: dtensor.slice {{.*}} -> tensor<4x4xf32, #layout_u_x>
// CHECK-LABEL: func.func @item65_sharded(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.halo_exchange over [x] %arg0 {bytes = 32 : i64
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item65_sharded(%a: tensor<4x8xf32, #ux>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = dtensor.slice %a [0:4, 0:4] : (tensor<4x8xf32, #ux>) -> tensor<4x4xf32>
  %1 = dtensor.slice %a [0:4, 4:8] : (tensor<4x8xf32, #ux>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// One_hot keeps the batch.
// LAYOUT-LABEL: func.func @item66(
// LAYOUT: return {{.*}} : tensor<8x5xf32, #layout_x_u>
// CHECK-LABEL: func.func @item66(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item66(%a: tensor<8xi32, #x>) -> tensor<8x5xf32> {
  %0 = dtensor.iota dim 1 : tensor<8x5xi32>
  %1 = dtensor.broadcast_in_dim %a dims [0] : (tensor<8xi32, #x>) -> tensor<8x5xi32>
  %2 = dtensor.compare EQ, %0, %1 : (tensor<8x5xi32>, tensor<8x5xi32>) -> tensor<8x5xi1>
  %3 = dtensor.convert %2 : (tensor<8x5xi1>) -> tensor<8x5xf32>
  return %3 : tensor<8x5xf32>
}

// Tiled twice with a sharded result: each device makes its copy.
// LAYOUT-LABEL: func.func @item67(
// LAYOUT: dtensor.broadcast_in_dim {{.*}} -> tensor<2x4x3xf32, #layout_x_u_u>
// CHECK-LABEL: func.func @item67(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item67(%a: tensor<4x3xf32, #uu>) -> tensor<8x3xf32, #xu> {
  %0 = dtensor.broadcast_in_dim %a dims [1, 2] : (tensor<4x3xf32, #uu>) -> tensor<2x4x3xf32>
  %1 = dtensor.reshape %0 : (tensor<2x4x3xf32>) -> tensor<8x3xf32>
  %2 = dtensor.constraint %1 : (tensor<8x3xf32>) -> tensor<8x3xf32, #xu>
  return %2 : tensor<8x3xf32, #xu>
}

// A slice that is all of the value keeps [x, y].
// LAYOUT-LABEL: func.func @item68_full(
// LAYOUT: dtensor.slice {{.*}} -> tensor<4x8xf32, #layout_x_y>
// CHECK-LABEL: func.func @item68_full(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item68_full(%a: tensor<4x8xf32, #xy>) -> tensor<4x8xf32> {
  %0 = dtensor.slice %a [0:4, 0:8] : (tensor<4x8xf32, #xy>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// A part of the axis on x. DTensor gathers; here nothing is sent: the
// last device has a row less.
// LAYOUT-LABEL: func.func @item68_partial(
// LAYOUT: dtensor.slice {{.*}} -> tensor<3x8xf32, #layout_x_u>
// CHECK-LABEL: func.func @item68_partial(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item68_partial(%a: tensor<4x8xf32, #xu>) -> tensor<3x8xf32> {
  %0 = dtensor.slice %a [0:3, 0:8] : (tensor<4x8xf32, #xu>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// [1, 4] of [x, y]. DTensor gathers over x; here one row moves to the
// first device.
// LAYOUT-LABEL: func.func @item68_row(
// LAYOUT: dtensor.slice {{.*}} -> tensor<1x4xf32, #layout_x_y>
// CHECK-LABEL: func.func @item68_row(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.halo_exchange over [x] %arg0 {bytes = 4 : i64
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item68_row(%a: tensor<2x4xf32, #xy>) -> tensor<1x4xf32> {
  %0 = dtensor.slice %a [1:2, 0:4] : (tensor<2x4xf32, #xy>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// A stride that divides the shards keeps the layout.
// LAYOUT-LABEL: func.func @item69_aligned(
// LAYOUT: dtensor.slice {{.*}} -> tensor<4x8xf32, #layout_x_u>
// CHECK-LABEL: func.func @item69_aligned(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item69_aligned(%a: tensor<8x8xf32, #xu>) -> tensor<4x8xf32> {
  %0 = dtensor.slice %a [0:8:2, 0:8] : (tensor<8x8xf32, #xu>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// One that does not. DTensor gathers; here one row moves.
// LAYOUT-LABEL: func.func @item69_misaligned(
// LAYOUT: dtensor.slice {{.*}} -> tensor<3x8xf32, #layout_x_u>
// CHECK-LABEL: func.func @item69_misaligned(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.halo_exchange over [x] %arg0 {bytes = 32 : i64
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item69_misaligned(%a: tensor<8x8xf32, #xu>) -> tensor<3x8xf32> {
  %0 = dtensor.slice %a [1:8:3, 0:8] : (tensor<8x8xf32, #xu>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// Cumsum along a sharded axis -> replicated.
// LAYOUT-LABEL: func.func @item70_cumsum(
// LAYOUT: dtensor.cumulative {{.*}} -> tensor<8x4xf32, #layout_u_u>
// CHECK-LABEL: func.func @item70_cumsum(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_gather over [x] %arg0
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item70_cumsum(%a: tensor<8x4xf32, #xu>) -> tensor<8x4xf32> {
  %0 = dtensor.cumulative sum %a dim 0 : (tensor<8x4xf32, #xu>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// Diag_part. DTensor replicates; here each device picks from its part.
// LAYOUT-LABEL: func.func @item70_diag_part(
// LAYOUT: return {{.*}} : tensor<4xf32, #layout_x>
// CHECK-LABEL: func.func @item70_diag_part(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_reduce sum over [y] {{.*}} {bytes = 8 : i64
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item70_diag_part(%a: tensor<4x4xf32, #xy>) -> tensor<4xf32> {
  %0 = dtensor.iota dim 0 : tensor<4x4xi32>
  %1 = dtensor.iota dim 1 : tensor<4x4xi32>
  %2 = dtensor.compare EQ, %0, %1 : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
  %zero = dtensor.constant dense<0.0> : tensor<4x4xf32>
  %3 = dtensor.select %2, %a, %zero : (tensor<4x4xi1>, tensor<4x4xf32, #xy>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = dtensor.reduce sum %3 dims [1] : (tensor<4x4xf32>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}

// Invert_permutation of a sharded permutation -> replicated.
// LAYOUT-LABEL: func.func @item70_invert(
// LAYOUT: return {{.*}} : tensor<8xi32, #layout_u>
// CHECK-LABEL: func.func @item70_invert(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_gather over [x] %arg0
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.slice over [x]
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_gather over [x]
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item70_invert(%bits: tensor<8xi32, #x>) -> tensor<8xi32> {
  %0 = dtensor.iota dim 0 : tensor<8xi32>
  %key, %p = dtensor.sort %bits, %0 dim 0 {is_stable} : (tensor<8xi32, #x>, tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>) {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %less = dtensor.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %less : tensor<i1>
  }
  %places = dtensor.constraint %p : (tensor<8xi32>) -> tensor<8xi32, #x>
  %column = dtensor.reshape %places : (tensor<8xi32, #x>) -> tensor<8x1xi32>
  %from = dtensor.constant dense<0> : tensor<8xi32>
  %1 = dtensor.scatter %from at %column with %0 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64>, unique_indices} : (tensor<8xi32>, tensor<8x1xi32>, tensor<8xi32>) -> tensor<8xi32>
  return %1 : tensor<8xi32>
}
