// Reductions by a function along a cut dim: of a function of the elements, by a
// tree in each block, or not at all.
// RUN: mesh-opt %s --dtensor-distribute-ops=machine=ring --split-input-file | FileCheck %s
// RUN: mesh-opt %s --dtensor-partition=machine=ring --split-input-file | FileCheck %s --check-prefix=SPMD

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>

// The accumulator is only compared with what is made of an element.
// CHECK-LABEL: func.func @largest
// CHECK: %[[ABS:.*]] = dtensor.abs %arg0
// CHECK-NEXT: %[[MAX:.*]] = dtensor.reduce max %[[ABS]] dims [0]
// CHECK-NEXT: %[[INIT:.*]] = dtensor.broadcast_in_dim %arg1
// CHECK-NEXT: %[[R:.*]] = dtensor.maximum %[[INIT]], %[[MAX]]
// CHECK-NEXT: return %[[R]]
// SPMD-LABEL: func.func @largest
// SPMD-NOT: spmd.all_gather
// SPMD: spmd.all_reduce max over [x]
func.func @largest(%x: tensor<18x3xf32, #rows>, %init: tensor<f32>) -> tensor<3xf32> {
  %0 = dtensor.generic_reduce %x from %init dims [0] : (tensor<18x3xf32, #rows>, tensor<f32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = dtensor.abs %b : tensor<f32>
    %m = dtensor.maximum %a, %p : tensor<f32>
    dtensor.yield %m : tensor<f32>
  }
  return %0 : tensor<3xf32>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#cut = #dtensor.layout<#mesh, [x]>

// Blocks of three: a pair, then the third. Four results are gathered, and the
// init comes in front of them.
// CHECK-LABEL: func.func @tree
// CHECK: %[[BLOCKS:.*]] = dtensor.reshape %arg0 {{.*}} -> tensor<4x3xf32>
// CHECK: %[[THIRD:.*]] = dtensor.slice %[[BLOCKS]] [0:4, 2:3]
// CHECK: %[[A:.*]] = dtensor.slice %[[BLOCKS]] [0:4, 0:2:2]
// CHECK: %[[B:.*]] = dtensor.slice %[[BLOCKS]] [0:4, 1:2:2]
// CHECK: dtensor.power %[[A]], %[[B]]
// CHECK: dtensor.power %{{.*}}, %[[THIRD]]
// CHECK: dtensor.constraint {{.*}}dtensor.wish
// CHECK: %[[INIT:.*]] = dtensor.broadcast_in_dim %arg1
// CHECK: dtensor.power %[[INIT]], %{{.*}} : tensor<f32>
// SPMD-LABEL: func.func @tree
// SPMD: spmd.all_gather over [x] {{.*}} -> tensor<4xf32
// SPMD-NOT: spmd.{{all_|reduce_|permute|halo}}
// SPMD: return
func.func @tree(%x: tensor<12xf32, #cut>, %init: tensor<f32>) -> tensor<f32> {
  %0 = dtensor.generic_reduce %x from %init dims [0] {dtensor.associative} : (tensor<12xf32, #cut>, tensor<f32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = dtensor.power %a, %b : tensor<f32>
    dtensor.yield %p : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#cut = #dtensor.layout<#mesh, [x]>

// Five elements on four devices: the last one has none, and is left out.
// CHECK-LABEL: func.func @uneven
// CHECK: %[[ALL:.*]] = dtensor.constant dense<true> : tensor<5xi1>
// CHECK: dtensor.pad %[[ALL]]
// CHECK: dtensor.power
// CHECK: dtensor.select
// CHECK: dtensor.constant dense<[true, true, true, false]> : tensor<4xi1>
func.func @uneven(%x: tensor<5xf32, #cut>, %init: tensor<f32>) -> tensor<f32> {
  %0 = dtensor.generic_reduce %x from %init dims [0] {dtensor.associative} : (tensor<5xf32, #cut>, tensor<f32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = dtensor.power %a, %b : tensor<f32>
    dtensor.yield %p : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#cut = #dtensor.layout<#mesh, [x]>

// Nobody says that it is associative: one after the other.
// CHECK-LABEL: func.func @in_order
// CHECK-NEXT: dtensor.generic_reduce
func.func @in_order(%x: tensor<12xf32, #cut>, %init: tensor<f32>) -> tensor<f32> {
  %0 = dtensor.generic_reduce %x from %init dims [0] : (tensor<12xf32, #cut>, tensor<f32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = dtensor.power %a, %b : tensor<f32>
    dtensor.yield %p : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#cut = #dtensor.layout<#mesh, [*, x]>

// The cut dim first, in blocks; the other one keeps the op, and its init.
// CHECK-LABEL: func.func @two_dims
// CHECK: dtensor.power {{.*}} : tensor<300x4x1xf32>
// CHECK: dtensor.generic_reduce {{.*}} from %arg1 dims [0]
func.func @two_dims(%x: tensor<300x8xf32, #cut>, %init: tensor<f32>) -> tensor<f32> {
  %0 = dtensor.generic_reduce %x from %init dims [0, 1] {dtensor.associative} : (tensor<300x8xf32, #cut>, tensor<f32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = dtensor.power %a, %b : tensor<f32>
    dtensor.yield %p : tensor<f32>
  }
  return %0 : tensor<f32>
}
