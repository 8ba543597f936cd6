// Gradients of loops and branches.
// RUN: mesh-opt %s --dtensor-gradient --split-input-file --verify-diagnostics | FileCheck %s

// The forward loop keeps what the body was given, on a stack; the counter and
// the sum, which no gradient reads, are not kept. The backward loop counts, so
// that its trip count is known too.
// CHECK-LABEL: func.func @main
// CHECK: %[[F:.*]]:5 = dtensor.while({{.*}}) : (tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<i32>, tensor<3x4xf32>)
// CHECK: dtensor.dynamic_update_slice
// CHECK: dtensor.reduce sum %[[F]]#2
// CHECK: dtensor.while
// CHECK: dtensor.dynamic_slice %[[F]]#4
// CHECK-NOT: dtensor.while
func.func @main(%x: tensor<4xf32>) -> tensor<f32> {
  %c = dtensor.constant dense<0> : tensor<i32>
  %z = dtensor.constant dense<0.0> : tensor<4xf32>
  %0:3 = dtensor.while (%c, %x, %z) : (tensor<i32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>, tensor<4xf32>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<4xf32>, %s: tensor<4xf32>):
    %n = dtensor.constant dense<3> : tensor<i32>
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<4xf32>, %s: tensor<4xf32>):
    %one = dtensor.constant dense<1> : tensor<i32>
    %j = dtensor.add %i, %one : tensor<i32>
    %v = dtensor.sine %u : tensor<4xf32>
    %t = dtensor.add %s, %v : tensor<4xf32>
    dtensor.yield %j, %v, %t : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  }
  %loss = dtensor.reduce sum %0#2 dims [0] : (tensor<4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @main
// CHECK: dtensor.case %arg1
// CHECK: dtensor.case %arg1 : (tensor<i32>) -> tensor<f32> {
// CHECK: dtensor.cosine %arg0
// CHECK: }, {
// CHECK: dtensor.yield
func.func @main(%x: tensor<f32>, %i: tensor<i32>) -> tensor<f32> {
  %0 = dtensor.case %i : (tensor<i32>) -> tensor<f32> {
    %s = dtensor.sine %x : tensor<f32>
    dtensor.yield %s : tensor<f32>
  }, {
    dtensor.yield %x : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// How often this one runs depends on its values: one loop counts, one keeps
// what the body was given, and the backward loop runs the body again from there
// to where it is differentiated.
// CHECK-LABEL: func.func @main
// CHECK: %[[N:.*]]:2 = dtensor.while({{.*}}) : (tensor<f32>, tensor<i32>)
// CHECK: %[[F:.*]]:3 = dtensor.while({{.*}}) : (tensor<f32>, tensor<i32>, tensor<129xf32>)
// CHECK: dtensor.compare LT, {{.*}}, %[[N]]#1
// CHECK: dtensor.while
// CHECK: dtensor.compare LT, {{.*}}, %[[N]]#1
// CHECK: dtensor.dynamic_slice %[[F]]#2
// CHECK: dtensor.while
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = dtensor.while (%x) : (tensor<f32>) -> tensor<f32> cond {
  ^bb0(%u: tensor<f32>):
    %n = dtensor.constant dense<3.0> : tensor<f32>
    %p = dtensor.compare LT, %u, %n : (tensor<f32>, tensor<f32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%u: tensor<f32>):
    %v = dtensor.exp %u : tensor<f32>
    dtensor.yield %v : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

!v = !dtensor.variable<tensor<f32>>
// expected-error @+1 {{has no gradient: it assigns a variable}}
func.func @main(%x: tensor<f32>, %v: !v, %i: tensor<i32>) -> tensor<f32> {
  %0 = dtensor.case %i : (tensor<i32>) -> tensor<f32> {
    dtensor.assign_variable %v, %x : !v, tensor<f32>
    dtensor.yield %x : tensor<f32>
  }
  return %0 : tensor<f32>
}
