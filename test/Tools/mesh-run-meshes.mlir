// A program on two meshes over the same devices runs everywhere, and its
// arguments and results are told in the user's own axes.
// RUN: mesh-run %s --verify --machine=ring --explain | FileCheck %s --check-prefixes=CHECK,EXPLAIN
// RUN: mesh-run %s --verify | FileCheck %s
// RUN: mesh-run %s --verify --private-memories | FileCheck %s
// RUN: mesh-run %s --verify --platform=reference | FileCheck %s
// RUN: mesh-run %s --emit-program=%t.mlprog | FileCheck %s --check-prefix=SAVED
// RUN: mesh-run %t.mlprog | FileCheck %s --check-prefix=SAVED
// RUN: mesh-run %t.mlprog --private-memories | FileCheck %s --check-prefix=SAVED

// EXPLAIN: runs on mesh <x=2, y:(1)2=2, y:(2)2=2>: <x=2, y=4> is x = {x}, y = {y}; <p=4, q=2> is p = {x, y:(1)2}, q = {y:(2)2}
// EXPLAIN: not as asked: argument 'odd' is cut as [y] on mesh <x=2, y:(1)2=2, y:(2)2=2>, not as [y] on mesh <x=2, y=4>
// EXPLAIN: from argument 'w' [q, p]
// CHECK: result 0 ('sum') f32[8, 8] [p, *] [
// CHECK-NEXT: result 1 f32[8] [*] partial<y: sum> [
// CHECK-NEXT: result 2 f32[10] [y] [
// CHECK-NEXT: result 3 ('counter') f32[8] [q] [
// CHECK: verify result 0 {{.*}} ok
// CHECK-NEXT: verify result 1 {{.*}} ok
// CHECK-NEXT: verify result 2 {{.*}} ok
// CHECK-NEXT: verify result 3 {{.*}} ok
// SAVED: result 0 ('sum') f32[8, 8] [p, *] [

#a = #dtensor.mesh<x = 2, y = 4>
#b = #dtensor.mesh<p = 4, q = 2>
#rows = #dtensor.layout<#a, [y, *]>
#tiles = #dtensor.layout<#b, [q, p]>
#sum = #dtensor.layout<#b, [p, *]>
#on_q = #dtensor.layout<#b, [q]>
#part = #dtensor.layout<#a, [*] partial<y: sum>>
#odd = #dtensor.layout<#a, [y]>
func.func @main(%x: tensor<8x16xf32, #rows> {dtensor.name = "x"},
                %w: tensor<16x8xf32, #tiles> {dtensor.name = "w"},
                %p: tensor<8xf32, #part> {dtensor.name = "part"},
                %v: !dtensor.variable<tensor<8xf32, #on_q>> {dtensor.name = "counter"},
                %o: tensor<10xf32, #odd> {dtensor.name = "odd"})
    -> (tensor<8x8xf32, #sum> {dtensor.name = "sum"}, tensor<8xf32, #part>, tensor<10xf32, #odd>) {
  // Meshes may meet in an op.
  %0 = dtensor.matmul %x, %w : (tensor<8x16xf32, #rows>, tensor<16x8xf32, #tiles>) -> tensor<8x8xf32>
  %n = dtensor.constant dense<3> : tensor<i32>
  %1:2 = dtensor.while (%0, %n) : (tensor<8x8xf32>, tensor<i32>) -> (tensor<8x8xf32>, tensor<i32>) cond {
  ^bb0(%m: tensor<8x8xf32>, %i: tensor<i32>):
    %zero = dtensor.constant dense<0> : tensor<i32>
    %more = dtensor.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %more : tensor<i1>
  } do {
  ^bb0(%m: tensor<8x8xf32>, %i: tensor<i32>):
    %one = dtensor.constant dense<1> : tensor<i32>
    %next = dtensor.subtract %i, %one : tensor<i32>
    %t = dtensor.tanh %m : tensor<8x8xf32>
    dtensor.yield %t, %next : tensor<8x8xf32>, tensor<i32>
  }
  %2 = dtensor.read_variable %v : (!dtensor.variable<tensor<8xf32, #on_q>>) -> tensor<8xf32>
  %3 = dtensor.add %2, %p : (tensor<8xf32>, tensor<8xf32, #part>) -> tensor<8xf32>
  dtensor.assign_variable %v, %3 : !dtensor.variable<tensor<8xf32, #on_q>>, tensor<8xf32>
  %4 = dtensor.relayout %1#0 : (tensor<8x8xf32>) -> tensor<8x8xf32, #sum>
  %5 = dtensor.negate %o : (tensor<10xf32, #odd>) -> tensor<10xf32, #odd>
  return %4, %p, %5 : tensor<8x8xf32, #sum>, tensor<8xf32, #part>, tensor<10xf32, #odd>
}
