// Variables in loops and branches become carried values and results.
// RUN: mesh-opt %s --dtensor-lift-variables --split-input-file --verify-diagnostics | FileCheck %s

!v = !dtensor.variable<tensor<4xf32>>
// %v is read before and after it is assigned; %w is only read: captured.
// CHECK-LABEL: func.func @loop
// CHECK-SAME: (%[[V:.*]]: tensor<4xf32> {dtensor.alias = 0 : i64}, %[[W:.*]]: tensor<4xf32>, %[[P:.*]]: tensor<i1>) -> tensor<4xf32>
// CHECK: %[[R:.*]] = dtensor.while(%[[V]])
// CHECK: ^bb0(%[[U:.*]]: tensor<4xf32>):
// CHECK: do {
// CHECK: ^bb0(%[[X:.*]]: tensor<4xf32>):
// CHECK: %[[A:.*]] = dtensor.add %[[X]], %[[W]]
// CHECK: %[[C:.*]] = dtensor.case
// CHECK: %[[B:.*]] = dtensor.add %[[A]], %[[A]]
// CHECK: dtensor.yield %[[B]]
// CHECK: }, {
// CHECK: dtensor.yield %[[A]]
// CHECK: dtensor.yield %[[C]]
// CHECK: return %[[R]]
func.func @loop(%v: !v, %w: !v, %p: tensor<i1>) {
  dtensor.while () : () -> () cond {
    dtensor.yield %p : tensor<i1>
  } do {
    %x = dtensor.read_variable %v : (!v) -> tensor<4xf32>
    %y = dtensor.read_variable %w : (!v) -> tensor<4xf32>
    %a = dtensor.add %x, %y : tensor<4xf32>
    dtensor.assign_variable %v, %a : !v, tensor<4xf32>
    %i = dtensor.convert %p : (tensor<i1>) -> tensor<i32>
    dtensor.case %i : (tensor<i32>) -> () {
      %z = dtensor.read_variable %v : (!v) -> tensor<4xf32>
      %b = dtensor.add %z, %z : tensor<4xf32>
      dtensor.assign_variable %v, %b : !v, tensor<4xf32>
      dtensor.yield
    }, {
      dtensor.yield
    }
    dtensor.yield
  }
  return
}

// -----

func.func @condition(%v: !dtensor.variable<tensor<i1>>) {
  dtensor.while () : () -> () cond {
    %p = dtensor.read_variable %v : (!dtensor.variable<tensor<i1>>) -> tensor<i1>
    // expected-error @+1 {{is in the condition of a loop, which must not assign}}
    dtensor.assign_variable %v, %p : !dtensor.variable<tensor<i1>>, tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
    dtensor.yield
  }
  return
}
