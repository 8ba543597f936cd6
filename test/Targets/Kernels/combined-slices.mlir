// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions and windows by a function become kernels of slices.
// RUN: mesh-opt %s --spmd-form-kernels | FileCheck %s

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>
#row = #dtensor.layout<#mesh, [x]>
#scalar = #dtensor.layout<#mesh, []>
#table = #spmd.shard<[32, 100], #rows>
#line = #spmd.shard<[32], #row>
#one = #spmd.shard<[], #scalar>

// 100 elements of a row become 20, each of five, 20 apart from one another,
// where the function is commutative; else each of five neighbours.
// CHECK-DAG: #[[BLOCK:.*]] = affine_map<(d0, d1) -> (d0, d1 + 20)>
// CHECK-DAG: #[[NEIGHBOUR:.*]] = affine_map<(d0, d1) -> (d0, d1 * 5 + 1)>
// CHECK-LABEL: func.func @commutative
// CHECK: %[[ROUND:.*]] = spmd.kernel {{.*}} %arg0 at #[[BLOCK]]
// CHECK-SAME: -> tensor<8x20xi32
// CHECK: spmd.kernel {{.*}}%[[ROUND]]
// CHECK: return
func.func @commutative(%x: tensor<8x100xi32, #table>, %init: tensor<i32, #one>) -> tensor<8xi32, #line> {
  %r = dtensor.generic_reduce %x from %init dims [1] {dtensor.associative} : (tensor<8x100xi32, #table>, tensor<i32, #one>) -> tensor<8xi32, #line> {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = dtensor.xor %a, %b : tensor<i32>
    dtensor.yield %c : tensor<i32>
  }
  return %r : tensor<8xi32, #line>
}
// CHECK-LABEL: func.func @in_order
// CHECK: spmd.kernel {{.*}} %arg0 at #[[NEIGHBOUR]]
// CHECK-SAME: -> tensor<8x20xi32
// CHECK: return
func.func @in_order(%x: tensor<8x100xi32, #table>, %init: tensor<i32, #one>) -> tensor<8xi32, #line> {
  %r = dtensor.generic_reduce %x from %init dims [1] {dtensor.associative} : (tensor<8x100xi32, #table>, tensor<i32, #one>) -> tensor<8xi32, #line> {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = dtensor.add %a, %a : tensor<i32>
    %d = dtensor.add %c, %b : tensor<i32>
    dtensor.yield %d : tensor<i32>
  }
  return %r : tensor<8xi32, #line>
}

// Slices that are joined first are read where they are.
// CHECK-LABEL: func.func @of_stack
// CHECK-NOT: concatenate
// CHECK: spmd.kernel {{.*}}%arg0 {{.*}}%arg1
// CHECK: return
func.func @of_stack(%x: tensor<800x1xi32, #spmd.shard<[3200, 1], #rows>>, %y: tensor<800x1xi32, #spmd.shard<[3200, 1], #rows>>, %init: tensor<i32, #one>) -> tensor<800xi32, #spmd.shard<[3200], #row>> {
  %xy = dtensor.concatenate %x, %y dim 1 : (tensor<800x1xi32, #spmd.shard<[3200, 1], #rows>>, tensor<800x1xi32, #spmd.shard<[3200, 1], #rows>>) -> tensor<800x2xi32, #spmd.shard<[3200, 2], #rows>>
  %r = dtensor.generic_reduce %xy from %init dims [1] {dtensor.associative} : (tensor<800x2xi32, #spmd.shard<[3200, 2], #rows>>, tensor<i32, #one>) -> tensor<800xi32, #spmd.shard<[3200], #row>> {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = dtensor.xor %a, %b : tensor<i32>
    dtensor.yield %c : tensor<i32>
  }
  return %r : tensor<800xi32, #spmd.shard<[3200], #row>>
}

// Without the attribute the order is that of the elements.
// CHECK-LABEL: func.func @not_associative
// CHECK-NOT: spmd.kernel loops [32
// CHECK: spmd.library_call "generic_reduce"
func.func @not_associative(%x: tensor<8x100xi32, #table>, %init: tensor<i32, #one>) -> tensor<8xi32, #line> {
  %r = dtensor.generic_reduce %x from %init dims [1] : (tensor<8x100xi32, #table>, tensor<i32, #one>) -> tensor<8xi32, #line> {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = dtensor.xor %a, %b : tensor<i32>
    dtensor.yield %c : tensor<i32>
  }
  return %r : tensor<8xi32, #line>
}
