// When a kernel may write over what it reads.
// RUN: mesh-opt %s --spmd-form-kernels --split-input-file | FileCheck %s

#mesh = #dtensor.mesh<x = 2>
#a = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [x, *]>>
#b = #spmd.shard<[4, 4], #dtensor.layout<#mesh, [*, *]>>

// The dot's result is not needed after the kernel; what is returned has memory
// of its own, though.
// CHECK-LABEL: func.func @dead_intermediate
// CHECK: %[[DOT:.*]] = dtensor.dot_general %arg0, %arg1
// CHECK: spmd.kernel {{.*}} ins (%[[DOT]] {{.*}} in_place [0]
// CHECK: %[[DOT2:.*]] = dtensor.dot_general
// CHECK: spmd.kernel {{.*}} ins (%[[DOT2]]
// CHECK-NOT: in_place
// CHECK: return
func.func @dead_intermediate(%x: tensor<3x4xf32, #a>, %w: tensor<4x4xf32, #b>) -> tensor<3x4xf32, #a> {
  %0 = dtensor.dot_general %x, %w contracting [1] x [0] : (tensor<3x4xf32, #a>, tensor<4x4xf32, #b>) -> tensor<3x4xf32, #a>
  %1 = dtensor.tanh %0 : tensor<3x4xf32, #a>
  %2 = dtensor.dot_general %1, %w contracting [1] x [0] : (tensor<3x4xf32, #a>, tensor<4x4xf32, #b>) -> tensor<3x4xf32, #a>
  %3 = dtensor.exp %2 : tensor<3x4xf32, #a>
  return %3 : tensor<3x4xf32, #a>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#a = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [x, *]>>

// An argument without alias belongs to the caller, and one that is read later
// is still needed.
// CHECK-LABEL: func.func @live
// CHECK-NOT: in_place
func.func @live(%x: tensor<3x4xf32, #a>, %y: tensor<3x4xf32, #a> {dtensor.alias = 1 : i64}) -> (tensor<3x4xf32, #a>, tensor<3x4xf32, #a>, tensor<3x4xf32, #a>) {
  %0 = dtensor.exp %x : tensor<3x4xf32, #a>
  %1 = dtensor.tanh %y : tensor<3x4xf32, #a>
  return %0, %1, %y : tensor<3x4xf32, #a>, tensor<3x4xf32, #a>, tensor<3x4xf32, #a>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#a = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [x, *]>>
#full = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [*, *]>>

// Slices and gathers are views in shared memory: an update of rows is in place
// in the replicated variable.
// CHECK-LABEL: func.func @through_views
// CHECK: %[[ROWS:.*]] = spmd.slice over [x] %arg0
// CHECK: spmd.kernel {{.*}} ins (%[[ROWS]] {{.*}}, %arg1 {{.*}} in_place [0]
func.func @through_views(%w: tensor<6x4xf32, #full> {dtensor.alias = 0 : i64}, %g: tensor<3x4xf32, #a>) -> tensor<6x4xf32, #full> {
  %0 = spmd.slice over [x] %w : (tensor<6x4xf32, #full>) -> tensor<3x4xf32, #a>
  %1 = dtensor.subtract %0, %g : tensor<3x4xf32, #a>
  %2 = spmd.all_gather over [x] %1 : (tensor<3x4xf32, #a>) -> tensor<6x4xf32, #full>
  return %2 : tensor<6x4xf32, #full>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#a = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [x, *]>>
#full = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [*, *]>>
#col = #spmd.shard<[4], #dtensor.layout<#mesh, [*]>>

// Not where another view of the memory is read later.
// CHECK-LABEL: func.func @another_view
// CHECK-NOT: in_place
func.func @another_view(%w: tensor<6x4xf32, #full> {dtensor.alias = 0 : i64}, %g: tensor<3x4xf32, #a>) -> (tensor<6x4xf32, #full>, tensor<4xf32, #col>) {
  %0 = spmd.slice over [x] %w : (tensor<6x4xf32, #full>) -> tensor<3x4xf32, #a>
  %1 = dtensor.subtract %0, %g : tensor<3x4xf32, #a>
  %2 = spmd.all_gather over [x] %1 : (tensor<3x4xf32, #a>) -> tensor<6x4xf32, #full>
  %3 = dtensor.reduce sum %w dims [0] : (tensor<6x4xf32, #full>) -> tensor<4xf32, #col>
  return %2, %3 : tensor<6x4xf32, #full>, tensor<4xf32, #col>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#square = #spmd.shard<[4, 4], #dtensor.layout<#mesh, [*, *]>>

// Nor where the same kernel reads the memory elsewhere.
// CHECK-LABEL: func.func @transposed_read
// CHECK-NOT: in_place
func.func @transposed_read(%w: tensor<4x4xf32, #square> {dtensor.alias = 0 : i64}) -> tensor<4x4xf32, #square> {
  %0 = dtensor.transpose %w dims [1, 0] : (tensor<4x4xf32, #square>) -> tensor<4x4xf32, #square>
  %1 = dtensor.add %w, %0 : tensor<4x4xf32, #square>
  return %1 : tensor<4x4xf32, #square>
}
