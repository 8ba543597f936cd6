// Ops that need a dim whole work on its blocks where that sends less.
// RUN: mesh-opt %s --dtensor-distribute-ops=machine=ring --split-input-file | FileCheck %s
// RUN: mesh-opt %s --dtensor-partition=machine=ring --split-input-file | FileCheck %s --check-prefix=SPMD
// RUN: mesh-opt %s --dtensor-distribute-ops=machine=shared-memory --split-input-file | FileCheck %s --check-prefix=SHARED

#mesh = #dtensor.mesh<x = 4>
#columns = #dtensor.layout<#mesh, [*, x]>

// The best value, then the least index that has it.
// CHECK-LABEL: func.func @argmax
// CHECK: %[[M:.*]] = dtensor.reduce max %arg0 dims [1]
// CHECK: %[[B:.*]] = dtensor.broadcast_in_dim %[[M]] dims [0]
// CHECK: dtensor.compare EQ, %arg0, %[[B]]
// CHECK: dtensor.compare NE, %arg0, %arg0
// CHECK: dtensor.reduce min {{.*}} dims [1]
// CHECK-NOT: argmax
// SPMD-LABEL: func.func @argmax
// SPMD-NOT: = spmd.all_gather
// SPMD: spmd.all_reduce max over [x]
// SPMD-NOT: = spmd.all_gather
// SPMD: spmd.all_reduce min over [x]
// SPMD-NOT: = spmd.all_gather
// SPMD: return
func.func @argmax(%x: tensor<8x66xf32, #columns>) -> tensor<8xi32> {
  %0 = dtensor.argmax %x dim 1 : (tensor<8x66xf32, #columns>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>

// Another dim is cut: nothing to do.
// CHECK-LABEL: func.func @whole
// CHECK-NEXT: dtensor.argmax
// CHECK-NEXT: return
func.func @whole(%x: tensor<8x66xf32, #rows>) -> tensor<8xi32> {
  %0 = dtensor.argmax %x dim 1 : (tensor<8x66xf32, #rows>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#cut = #dtensor.layout<#mesh, [x]>

// 66 elements in four blocks of 17: two are padding, which moves nothing. Only
// the sums of blocks are exchanged.
// CHECK-LABEL: func.func @cumulative
// CHECK: dtensor.pad %arg0
// CHECK: dtensor.reshape {{.*}} -> tensor<4x17xf32>
// CHECK: dtensor.cumulative sum {{.*}} dim 1
// CHECK: dtensor.reduce sum {{.*}} dims [1]
// CHECK: dtensor.cumulative sum {{.*}} dim 0
// SPMD-LABEL: func.func @cumulative
// SPMD: spmd.all_gather over [x] {{.*}} -> tensor<4xf32
// SPMD-NOT: spmd.{{all_|reduce_|permute|halo}}
// SPMD: return
func.func @cumulative(%x: tensor<66xf32, #cut>) -> tensor<66xf32, #cut> {
  %0 = dtensor.cumulative sum %x dim 0 : tensor<66xf32, #cut>
  return %0 : tensor<66xf32, #cut>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#cut = #dtensor.layout<#mesh, [x]>
#full = #dtensor.layout<#mesh, [*]>

// Whoever needs the whole result has it gathered anyway: the operand is.
// CHECK-LABEL: func.func @cumulative_whole
// CHECK-NEXT: dtensor.cumulative
// CHECK-NEXT: return
func.func @cumulative_whole(%x: tensor<66xf32, #cut>) -> tensor<66xf32, #full> {
  %0 = dtensor.cumulative sum %x dim 0 : (tensor<66xf32, #cut>) -> tensor<66xf32, #full>
  return %0 : tensor<66xf32, #full>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#cut = #dtensor.layout<#mesh, [x]>

// Three of each block of 17, and three of those twelve.
// CHECK-LABEL: func.func @top_k
// CHECK: dtensor.top_k {{.*}} k 3 : tensor<4x17xf32> -> tensor<4x3xf32>, tensor<4x3xi32>
// CHECK: dtensor.top_k {{.*}} k 3 : tensor<12xf32> -> tensor<3xf32>, tensor<3xi32>
// SPMD-LABEL: func.func @top_k
// SPMD-NOT: tensor<66x
// SPMD: return
func.func @top_k(%x: tensor<66xf32, #cut>) -> (tensor<3xf32>, tensor<3xi32>) {
  %0, %1 = dtensor.top_k %x k 3 : tensor<66xf32, #cut> -> tensor<3xf32>, tensor<3xi32>
  return %0, %1 : tensor<3xf32>, tensor<3xi32>
}

// -----

#mesh = #dtensor.mesh<x = 8>
#cut = #dtensor.layout<#mesh, [x]>
#rows = #dtensor.layout<#mesh, [x, *]>

// Two cores of shared memory are as fast on whole lines, unless there is one
// line and its elements take long.
// CHECK-LABEL: func.func @on_two_cores
// CHECK-NOT: dim 0 : tensor<1000000x
// SHARED-LABEL: func.func @on_two_cores
// SHARED: dtensor.cumulative sum %{{.*}} dim 0 : tensor<1000000xi32
// SHARED: dtensor.cumulative sum %{{.*}} dim 0 : tensor<1000x1000xf32
// SHARED: dtensor.top_k %{{.*}} k 9 : tensor<1000000xi32
// SHARED: dtensor.cumulative sum %{{.*}} dim 1 : tensor<8x125000xf32
func.func @on_two_cores(%a: tensor<1000000xi32, #cut>, %b: tensor<1000x1000xf32, #rows>, %c: tensor<1000000xf32, #cut>)
    -> (tensor<1000000xi32, #cut>, tensor<1000x1000xf32, #rows>, tensor<9xi32>, tensor<9xi32>, tensor<1000000xf32, #cut>) {
  %0 = dtensor.cumulative sum %a dim 0 : tensor<1000000xi32, #cut>
  %1 = dtensor.cumulative sum %b dim 0 : tensor<1000x1000xf32, #rows>
  %2, %3 = dtensor.top_k %a k 9 : tensor<1000000xi32, #cut> -> tensor<9xi32>, tensor<9xi32>
  %4 = dtensor.cumulative sum %c dim 0 : tensor<1000000xf32, #cut>
  return %0, %1, %2, %3, %4 : tensor<1000000xi32, #cut>, tensor<1000x1000xf32, #rows>, tensor<9xi32>, tensor<9xi32>, tensor<1000000xf32, #cut>
}
