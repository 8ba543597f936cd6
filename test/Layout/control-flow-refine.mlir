// What a loop captures is relaid out in front of it: that counts once for all
// iterations. What it carries is laid out as it is cheapest over all of them.
// RUN: mesh-opt %s --dtensor-partition="machine=ring" --split-input-file | FileCheck %s

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>

// A scan over a dim that is cut: its parts are not added up time after time. The
// other dim is cut instead, in the carried value too, which is gathered at last.
// CHECK-LABEL: func.func @scan
// CHECK: %[[G:.*]] = spmd.all_to_all over [x] %arg0
// CHECK: dtensor.while
// CHECK: dtensor.dynamic_slice %[[G]]
// CHECK-NOT: spmd.all_reduce
// CHECK-NOT: spmd.reduce_scatter
// CHECK: spmd.all_gather over [x]
// CHECK: return
func.func @scan(%xs: tensor<12x8xf32, #rows>) -> tensor<8xf32> {
  %c = dtensor.constant dense<0> : tensor<i32>
  %z = dtensor.constant dense<0.0> : tensor<8xf32>
  %0:2 = dtensor.while (%c, %z) : (tensor<i32>, tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>) cond {
  ^bb0(%i: tensor<i32>, %h: tensor<8xf32>):
    %n = dtensor.constant dense<12> : tensor<i32>
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %h: tensor<8xf32>):
    %s = dtensor.dynamic_slice %xs at %i, %c sizes [1, 8] : (tensor<12x8xf32, #rows>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %r = dtensor.reshape %s : (tensor<1x8xf32>) -> tensor<8xf32>
    %m = dtensor.multiply %h, %r : tensor<8xf32>
    %t = dtensor.tanh %m : tensor<8xf32>
    %one = dtensor.constant dense<1> : tensor<i32>
    %j = dtensor.add %i, %one : tensor<i32>
    dtensor.yield %j, %t : tensor<i32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>

// A table that is looked up twice stays cut.
// CHECK-LABEL: func.func @lookup
// CHECK-NOT: spmd.all_gather over [x] %arg0
// CHECK: return
func.func @lookup(%xs: tensor<1000x8xf32, #rows>, %k: tensor<i32>) -> tensor<8xf32> {
  %c = dtensor.constant dense<0> : tensor<i32>
  %z = dtensor.constant dense<0.0> : tensor<8xf32>
  %0:2 = dtensor.while (%c, %z) : (tensor<i32>, tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>) cond {
  ^bb0(%i: tensor<i32>, %h: tensor<8xf32>):
    %n = dtensor.constant dense<2> : tensor<i32>
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %h: tensor<8xf32>):
    %at = dtensor.multiply %i, %k : tensor<i32>
    %s = dtensor.dynamic_slice %xs at %at, %c sizes [1, 8] : (tensor<1000x8xf32, #rows>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %r = dtensor.reshape %s : (tensor<1x8xf32>) -> tensor<8xf32>
    %m = dtensor.multiply %h, %r : tensor<8xf32>
    %t = dtensor.tanh %m : tensor<8xf32>
    %one = dtensor.constant dense<1> : tensor<i32>
    %j = dtensor.add %i, %one : tensor<i32>
    dtensor.yield %j, %t : tensor<i32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>
#columns = #dtensor.layout<#mesh, [*, x]>

// The result on columns would make each iteration gather its operand. The carried
// value stays on rows: the weight is gathered before the loop, the result brought
// to columns after it.
// CHECK-LABEL: func.func @carried
// CHECK: spmd.all_gather over [x] %arg1
// CHECK: dtensor.while
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: dtensor.dot_general
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_to_all over [x]
// CHECK: return
func.func @carried(%a: tensor<64x64xf32, #rows>, %w: tensor<64x64xf32>) -> tensor<64x64xf32, #columns> {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %0:2 = dtensor.while (%a, %zero) : (tensor<64x64xf32, #rows>, tensor<i32>) -> (tensor<64x64xf32>, tensor<i32>) cond {
  ^bb0(%v: tensor<64x64xf32>, %k: tensor<i32>):
    %three = dtensor.constant dense<3> : tensor<i32>
    %p = dtensor.compare LT, %k, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%v: tensor<64x64xf32>, %k: tensor<i32>):
    %1 = dtensor.matmul %v, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %one = dtensor.constant dense<1> : tensor<i32>
    %n = dtensor.add %k, %one : tensor<i32>
    dtensor.yield %1, %n : tensor<64x64xf32>, tensor<i32>
  }
  %2 = dtensor.constraint %0#0 : (tensor<64x64xf32>) -> tensor<64x64xf32, #columns>
  return %2 : tensor<64x64xf32, #columns>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>
#columns = #dtensor.layout<#mesh, [*, x]>

// A carried value that the user laid out never moves: each time it is brought
// to rows for the product, and what is next to columns again.
// CHECK-LABEL: func.func @annotated
// CHECK: spmd.all_to_all over [x] %arg0
// CHECK: dtensor.while({{.*}}dtensor.pinned = array<i64: 0>
// CHECK: %[[ROWS:.*]] = spmd.all_to_all over [x] %arg2
// CHECK: %[[PRODUCT:.*]] = dtensor.dot_general %[[ROWS]],
// CHECK: %[[NEXT:.*]] = spmd.all_to_all over [x] %[[PRODUCT]]
// CHECK: dtensor.yield %[[NEXT]],
// CHECK: return
func.func @annotated(%a: tensor<64x64xf32, #rows>, %w: tensor<64x64xf32>) -> tensor<64x64xf32, #columns> {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %0:2 = dtensor.while (%a, %zero) : (tensor<64x64xf32, #rows>, tensor<i32>) -> (tensor<64x64xf32, #columns>, tensor<i32>) cond {
  ^bb0(%v: tensor<64x64xf32, #columns>, %k: tensor<i32>):
    %three = dtensor.constant dense<3> : tensor<i32>
    %p = dtensor.compare LT, %k, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%v: tensor<64x64xf32, #columns>, %k: tensor<i32>):
    %1 = dtensor.matmul %v, %w : (tensor<64x64xf32, #columns>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %one = dtensor.constant dense<1> : tensor<i32>
    %n = dtensor.add %k, %one : tensor<i32>
    dtensor.yield %1, %n : tensor<64x64xf32>, tensor<i32>
  }
  %2 = dtensor.constraint %0#0 : (tensor<64x64xf32, #columns>) -> tensor<64x64xf32, #columns>
  return %2 : tensor<64x64xf32, #columns>
}
