// Behaviour that TensorFlow DTensor's own tests check: how layouts
// propagate. (Pass by pass:
// control-flow-layouts.mlir, hoist-collectives.mlir.)
// RUN: mesh-opt %s --dtensor-propagate-layouts | FileCheck %s --check-prefix=LAYOUT
// RUN: mesh-opt %s --dtensor-partition='machine=ring refine=false' | FileCheck %s
// RUN: mesh-run %s --function=item81 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item82 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item83 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item84_sum --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item84_matmul --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item84_einsum --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item84_conflict --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item85 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item86_two --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item86_none --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item87 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item88 --verify --machine=ring --no-refine --private-memories

#mesh = #dtensor.mesh<x = 2, y = 4>
#xu = #dtensor.layout<#mesh, [x, *]>
#ux = #dtensor.layout<#mesh, [*, x]>
#uy = #dtensor.layout<#mesh, [*, y]>
#uu = #dtensor.layout<#mesh, [*, *]>
#xy = #dtensor.layout<#mesh, [x, y]>

// A constant that nothing asks of is replicated.
// LAYOUT-LABEL: func.func @item81(
// LAYOUT: dtensor.constant {{.*}} -> tensor<8x8xf32, #layout_u_u>
// LAYOUT: dtensor.constant {{.*}} -> tensor<2x2xf32, #layout_u_u>
// CHECK-LABEL: func.func @item81(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item81(%a: tensor<8x8xf32, #uu>) -> (tensor<8x8xf32>, tensor<2x2xf32>) {
  %0 = dtensor.constant dense<2.0> : tensor<8x8xf32>
  %1 = dtensor.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<2x2xf32>
}

// The consumers of a value want [*, y] and [x, *]: it is replicated.
// LAYOUT-LABEL: func.func @item82(
// LAYOUT: dtensor.exp {{.*}} : tensor<8x8xf32, #layout_u_u>
// CHECK-LABEL: func.func @item82(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.slice over [y]
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.slice over [x]
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item82(%s: tensor<8x8xf32>) -> (tensor<8x8xf32, #uy>, tensor<8x8xf32, #xu>) {
  %0 = dtensor.exp %s : tensor<8x8xf32>
  %1 = dtensor.relayout %0 : (tensor<8x8xf32>) -> tensor<8x8xf32, #uy>
  %2 = dtensor.relayout %0 : (tensor<8x8xf32>) -> tensor<8x8xf32, #xu>
  return %1, %2 : tensor<8x8xf32, #uy>, tensor<8x8xf32, #xu>
}

// A constant of several uses has a layout for each.
// LAYOUT-LABEL: func.func @item83(
// LAYOUT: dtensor.add {{.*}} : tensor<8x8xf32, #layout_x_u>
// LAYOUT: dtensor.multiply {{.*}} : tensor<8x8xf32, #layout_u_y>
// CHECK-LABEL: func.func @item83(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item83(%a: tensor<8x8xf32, #xu>, %b: tensor<8x8xf32, #uy>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %c = dtensor.constant dense<2.0> : tensor<8x8xf32>
  %0 = dtensor.add %a, %c : (tensor<8x8xf32, #xu>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = dtensor.multiply %b, %c : (tensor<8x8xf32, #uy>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// A sum does not mind how its operand is laid out: the other consumer
// decides.
// LAYOUT-LABEL: func.func @item84_sum(
// LAYOUT: dtensor.exp {{.*}} : tensor<8x8xf32, #layout_x_y>
// LAYOUT: dtensor.reduce {{.*}} -> tensor<f32, #layout_sum_x_sum_y>
// CHECK-LABEL: func.func @item84_sum(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_reduce sum over [x, y]
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item84_sum(%s: tensor<8x8xf32>, %b: tensor<8x8xf32, #xy>) -> (tensor<8x8xf32>, tensor<f32>) {
  %0 = dtensor.exp %s : tensor<8x8xf32>
  %1 = dtensor.add %0, %b : (tensor<8x8xf32>, tensor<8x8xf32, #xy>) -> tensor<8x8xf32>
  %2 = dtensor.reduce sum %0 dims [0, 1] : (tensor<8x8xf32>) -> tensor<f32>
  return %1, %2 : tensor<8x8xf32>, tensor<f32>
}
// LAYOUT-LABEL: func.func @item84_matmul(
// LAYOUT: dtensor.exp {{.*}} : tensor<8x8xf32, #layout_x_y>
// LAYOUT: dtensor.matmul {{.*}} -> tensor<8x4xf32, #layout_x_u_sum_y>
// CHECK-LABEL: func.func @item84_matmul(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_reduce sum over [y]
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item84_matmul(%s: tensor<8x8xf32>, %b: tensor<8x8xf32, #xy>, %w: tensor<8x4xf32>) -> (tensor<8x8xf32>, tensor<8x4xf32>) {
  %0 = dtensor.exp %s : tensor<8x8xf32>
  %1 = dtensor.add %0, %b : (tensor<8x8xf32>, tensor<8x8xf32, #xy>) -> tensor<8x8xf32>
  %2 = dtensor.matmul %0, %w : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x4xf32>
}
// LAYOUT-LABEL: func.func @item84_einsum(
// LAYOUT: dtensor.exp {{.*}} : tensor<8x8xf32, #layout_x_y>
// LAYOUT: dtensor.dot_general {{.*}} -> tensor<8x4xf32, #layout_x_u_sum_y>
// CHECK-LABEL: func.func @item84_einsum(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_reduce sum over [y]
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item84_einsum(%s: tensor<8x8xf32>, %b: tensor<8x8xf32, #xy>, %w: tensor<4x8xf32>) -> (tensor<8x8xf32>, tensor<8x4xf32>) {
  %0 = dtensor.exp %s : tensor<8x8xf32>
  %1 = dtensor.add %0, %b : (tensor<8x8xf32>, tensor<8x8xf32, #xy>) -> tensor<8x8xf32>
  %2 = dtensor.dot_general %0, %w contracting [1] x [1] : (tensor<8x8xf32>, tensor<4x8xf32>) -> tensor<8x4xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x4xf32>
}

// Two products, one with x along the second dim, one along the first.
// DTensor replicates the value; here the first product gets what it likes.
// LAYOUT-LABEL: func.func @item84_conflict(
// LAYOUT: dtensor.exp {{.*}} : tensor<8x8xf32, #layout_u_x>
// CHECK-LABEL: func.func @item84_conflict(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_gather over [x] %arg2
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_reduce sum over [x]
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item84_conflict(%s: tensor<8x8xf32>, %a: tensor<8x8xf32, #xu>, %b: tensor<8x8xf32, #xu>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = dtensor.exp %s : tensor<8x8xf32>
  %1 = dtensor.matmul %0, %a : (tensor<8x8xf32>, tensor<8x8xf32, #xu>) -> tensor<8x8xf32>
  %2 = dtensor.dot_general %0, %b contracting [0] x [0] : (tensor<8x8xf32>, tensor<8x8xf32, #xu>) -> tensor<8x8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}

// Branches (*, y) and (x, *) -> (x, y). (The other pairs:
// control-flow-layouts.mlir.)
// LAYOUT-LABEL: func.func @item85(
// LAYOUT: dtensor.case {{.*}} -> tensor<8x8xf32, #layout_x_y>
// CHECK-LABEL: func.func @item85(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.slice over [x] %arg1
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.slice over [y] %arg2
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item85(%i: tensor<i32>, %a: tensor<8x8xf32, #uy>, %b: tensor<8x8xf32, #xu>) -> tensor<8x8xf32> {
  %0 = dtensor.case %i : (tensor<i32>) -> tensor<8x8xf32> {
    dtensor.yield %a : tensor<8x8xf32, #uy>
  }, {
    dtensor.yield %b : tensor<8x8xf32, #xu>
  }
  return %0 : tensor<8x8xf32>
}

// A loop whose body needs another layout than what goes in and comes
// out: two relayouts, none of them inside.
// CHECK-LABEL: func.func @item86_two(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_to_all over [x] %arg0 {{.*}}#layout_u_x
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: dtensor.while
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: dtensor.cumulative
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_to_all over [x] {{.*}}#layout_x_u
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item86_two(%a: tensor<8x8xf32, #xu>) -> tensor<8x8xf32, #xu> {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %0:2 = dtensor.while (%a, %zero) : (tensor<8x8xf32, #xu>, tensor<i32>) -> (tensor<8x8xf32>, tensor<i32>) cond {
  ^bb0(%v: tensor<8x8xf32>, %k: tensor<i32>):
    %three = dtensor.constant dense<3> : tensor<i32>
    %p = dtensor.compare LT, %k, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%v: tensor<8x8xf32>, %k: tensor<i32>):
    %1 = dtensor.constraint %v : (tensor<8x8xf32>) -> tensor<8x8xf32, #ux>
    %2 = dtensor.cumulative sum %1 dim 0 : (tensor<8x8xf32, #ux>) -> tensor<8x8xf32>
    %one = dtensor.constant dense<1> : tensor<i32>
    %n = dtensor.add %k, %one : tensor<i32>
    dtensor.yield %2, %n : tensor<8x8xf32>, tensor<i32>
  }
  %3 = dtensor.constraint %0#0 : (tensor<8x8xf32>) -> tensor<8x8xf32, #xu>
  return %3 : tensor<8x8xf32, #xu>
}

// None where the body is content.
// CHECK-LABEL: func.func @item86_none(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: dtensor.while
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: dtensor.dot_general
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item86_none(%a: tensor<8x8xf32, #xu>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %0:2 = dtensor.while (%a, %zero) : (tensor<8x8xf32, #xu>, tensor<i32>) -> (tensor<8x8xf32>, tensor<i32>) cond {
  ^bb0(%v: tensor<8x8xf32>, %k: tensor<i32>):
    %three = dtensor.constant dense<3> : tensor<i32>
    %p = dtensor.compare LT, %k, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%v: tensor<8x8xf32>, %k: tensor<i32>):
    %1 = dtensor.matmul %v, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %one = dtensor.constant dense<1> : tensor<i32>
    %n = dtensor.add %k, %one : tensor<i32>
    dtensor.yield %1, %n : tensor<8x8xf32>, tensor<i32>
  }
  return %0#0 : tensor<8x8xf32>
}

// Two products in a loop whose weights are sharded each the other way:
// layouts settle on the carried value's, and what is gathered is so once.
// LAYOUT-LABEL: func.func @item87(
// LAYOUT: dtensor.matmul {{.*}} -> tensor<8x8xf32, #layout_x_u>
// LAYOUT: dtensor.matmul {{.*}} -> tensor<8x8xf32, #layout_x_u>
// CHECK-LABEL: func.func @item87(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_gather over [x] %arg2, %arg1
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: dtensor.while
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item87(%a: tensor<8x8xf32, #xu>, %w1: tensor<8x8xf32, #xu>, %w2: tensor<8x8xf32, #ux>) -> tensor<8x8xf32> {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %0:2 = dtensor.while (%a, %zero) : (tensor<8x8xf32, #xu>, tensor<i32>) -> (tensor<8x8xf32>, tensor<i32>) cond {
  ^bb0(%v: tensor<8x8xf32>, %k: tensor<i32>):
    %three = dtensor.constant dense<3> : tensor<i32>
    %p = dtensor.compare LT, %k, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%v: tensor<8x8xf32>, %k: tensor<i32>):
    %1 = dtensor.matmul %v, %w2 : (tensor<8x8xf32>, tensor<8x8xf32, #ux>) -> tensor<8x8xf32>
    %2 = dtensor.matmul %1, %w1 : (tensor<8x8xf32>, tensor<8x8xf32, #xu>) -> tensor<8x8xf32>
    %one = dtensor.constant dense<1> : tensor<i32>
    %n = dtensor.add %k, %one : tensor<i32>
    dtensor.yield %2, %n : tensor<8x8xf32>, tensor<i32>
  }
  return %0#0 : tensor<8x8xf32>
}

// Gradients added up over micro-batches keep the layout that they
// have: pending sums, reduced once behind the loop.
// CHECK-LABEL: func.func @item88(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: dtensor.while
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_reduce sum over [x]
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item88(%x: tensor<8x8xf32, #xu>, %dy: tensor<8x4xf32, #xu>) -> tensor<8x4xf32, #uu> {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<8x4xf32>
  %0:2 = dtensor.while (%none, %zero) : (tensor<8x4xf32>, tensor<i32>) -> (tensor<8x4xf32>, tensor<i32>) cond {
  ^bb0(%g: tensor<8x4xf32>, %k: tensor<i32>):
    %three = dtensor.constant dense<3> : tensor<i32>
    %p = dtensor.compare LT, %k, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%g: tensor<8x4xf32>, %k: tensor<i32>):
    %f = dtensor.convert %k : (tensor<i32>) -> tensor<f32>
    %b = dtensor.broadcast_in_dim %f dims [] : (tensor<f32>) -> tensor<8x8xf32>
    %1 = dtensor.add %x, %b : (tensor<8x8xf32, #xu>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = dtensor.dot_general %1, %dy contracting [0] x [0] : (tensor<8x8xf32>, tensor<8x4xf32, #xu>) -> tensor<8x4xf32>
    %3 = dtensor.add %g, %2 : tensor<8x4xf32>
    %one = dtensor.constant dense<1> : tensor<i32>
    %n = dtensor.add %k, %one : tensor<i32>
    dtensor.yield %3, %n : tensor<8x4xf32>, tensor<i32>
  }
  %4 = dtensor.constraint %0#0 : (tensor<8x4xf32>) -> tensor<8x4xf32, #uu>
  return %4 : tensor<8x4xf32, #uu>
}
