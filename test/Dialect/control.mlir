// Loops and branches print and parse again, without and with layouts, as shards.
// RUN: mesh-opt %s | mesh-opt | FileCheck %s
// RUN: mesh-opt %s --mlir-print-op-generic | mesh-opt | FileCheck %s
#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x]>
#full = #dtensor.layout<#mesh, []>
#shard = #spmd.shard<[4], #rows>
#flag = #spmd.shard<[], #full>

// CHECK-LABEL: func.func @loop
// CHECK: %[[R:.*]]:2 = dtensor.while(%arg0, %arg1) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) cond {
// CHECK: ^bb0(%{{.*}}: tensor<i32>, %{{.*}}: tensor<4xf32>):
// CHECK: dtensor.yield %{{.*}} : tensor<i1>
// CHECK: } do {
// CHECK: dtensor.yield %{{.*}}, %arg2 : tensor<i32>, tensor<4xf32>
func.func @loop(%i: tensor<i32>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = dtensor.while (%i, %x) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) cond {
  ^bb0(%j: tensor<i32>, %u: tensor<4xf32>):
    %p = dtensor.compare LT, %j, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%j: tensor<i32>, %u: tensor<4xf32>):
    %k = dtensor.negate %j : tensor<i32>
    dtensor.yield %k, %y : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}

// Nothing carried: the condition reads a variable, the body assigns it.
// CHECK-LABEL: func.func @nothing
// CHECK: dtensor.while() : () -> () cond {
func.func @nothing(%v: !dtensor.variable<tensor<i1>>) {
  dtensor.while () : () -> () cond {
    %p = dtensor.read_variable %v : (!dtensor.variable<tensor<i1>>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
    %p = dtensor.read_variable %v : (!dtensor.variable<tensor<i1>>) -> tensor<i1>
    %q = dtensor.not %p : tensor<i1>
    dtensor.assign_variable %v, %q : !dtensor.variable<tensor<i1>>, tensor<i1>
    dtensor.yield
  }
  return
}

// CHECK-LABEL: func.func @branches
// CHECK: dtensor.case %arg0 : (tensor<i32>) -> tensor<4xf32> {
// CHECK: }, {
// CHECK: dtensor.yield %arg1 : tensor<4xf32, #layout_x>
func.func @branches(%i: tensor<i32>, %x: tensor<4xf32, #rows>) -> tensor<4xf32> {
  %0 = dtensor.case %i : (tensor<i32>) -> tensor<4xf32> {
    %n = dtensor.negate %x : (tensor<4xf32, #rows>) -> tensor<4xf32>
    dtensor.yield %n : tensor<4xf32>
  }, {
    dtensor.yield %x : tensor<4xf32, #rows>
  }
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @shards
// CHECK: dtensor.while
// CHECK: dtensor.case
func.func @shards(%i: tensor<i32, #flag>, %p: tensor<i1, #flag>, %x: tensor<2xf32, #shard>) -> tensor<2xf32, #shard> {
  %0 = dtensor.while (%x) : (tensor<2xf32, #shard>) -> tensor<2xf32, #shard> cond {
  ^bb0(%u: tensor<2xf32, #shard>):
    dtensor.yield %p : tensor<i1, #flag>
  } do {
  ^bb0(%u: tensor<2xf32, #shard>):
    %c = dtensor.case %i : (tensor<i32, #flag>) -> tensor<2xf32, #shard> {
      dtensor.yield %u : tensor<2xf32, #shard>
    }
    dtensor.yield %c : tensor<2xf32, #shard>
  }
  return %0 : tensor<2xf32, #shard>
}
