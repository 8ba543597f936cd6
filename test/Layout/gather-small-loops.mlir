// A loop that does little work in a turn has its values whole.
// RUN: mesh-opt %s --dtensor-gather-small-loops --split-input-file | FileCheck %s
// RUN: mesh-opt %s --dtensor-partition="machine=shared-memory whole-loops" --split-input-file | FileCheck %s --check-prefix=LOCAL

#mesh = #dtensor.mesh<x = 4>
#cut = #dtensor.layout<#mesh, [x]>
#one = #dtensor.layout<#mesh, []>

// The loop inside is whole, too. Constants are made whole again.
// CHECK-DAG: #[[W:.*]] = #dtensor.layout<#mesh, [*]>
// CHECK-DAG: #[[X:.*]] = #dtensor.layout<#mesh, [x]>
// CHECK-LABEL: func.func @nested(
// CHECK-SAME: dtensor.refined = ["the loop at
// CHECK: %[[C:.*]] = dtensor.constant dense<5.000000e-01> : tensor<8xf32> -> tensor<8xf32, #[[W]]>
// CHECK: %[[L:.*]] = dtensor.while(%arg0) : (tensor<8xf32, #[[X]]>) -> tensor<8xf32, #[[W]]>
// CHECK: dtensor.multiply %{{.*}}, %[[C]] : tensor<8xf32, #[[W]]>
// CHECK: dtensor.while
// CHECK-SAME: -> tensor<8xf32, #[[W]]>
// CHECK: dtensor.relayout %[[L]] {
// CHECK-SAME: dtensor.reason = "[*] -> [x] for result #0 of while, which is computed whole"
// CHECK-SAME: -> tensor<8xf32, #[[X]]>

// The captured value is gathered once, in front of the loop.
// LOCAL-LABEL: func.func @nested(
// LOCAL: spmd.all_gather over [x] %arg0, %arg1
// LOCAL: dtensor.while
// LOCAL: dtensor.while
// LOCAL-NOT: spmd.all
// LOCAL: spmd.slice over [x]
// LOCAL: return
func.func @nested(%a: tensor<8xf32, #cut>, %b: tensor<8xf32, #cut>, %p: tensor<i1, #one>) -> tensor<8xf32, #cut> {
  %half = dtensor.constant dense<0.5> : tensor<8xf32> -> tensor<8xf32, #cut>
  %0 = dtensor.while (%a) : (tensor<8xf32, #cut>) -> tensor<8xf32, #cut> cond {
  ^bb0(%u: tensor<8xf32, #cut>):
    dtensor.yield %p : tensor<i1, #one>
  } do {
  ^bb0(%u: tensor<8xf32, #cut>):
    %m = dtensor.multiply %u, %half : tensor<8xf32, #cut>
    %1 = dtensor.while (%m) : (tensor<8xf32, #cut>) -> tensor<8xf32, #cut> cond {
    ^bb0(%v: tensor<8xf32, #cut>):
      dtensor.yield %p : tensor<i1, #one>
    } do {
    ^bb0(%v: tensor<8xf32, #cut>):
      %s = dtensor.add %v, %b : tensor<8xf32, #cut>
      dtensor.yield %s : tensor<8xf32, #cut>
    }
    dtensor.yield %1 : tensor<8xf32, #cut>
  }
  return %0 : tensor<8xf32, #cut>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#cut = #dtensor.layout<#mesh, [x]>
#one = #dtensor.layout<#mesh, []>

// Devices help each other with much work. The loop inside does little.
// CHECK-DAG: #[[W:.*]] = #dtensor.layout<#mesh, [*]>
// CHECK-DAG: #[[X:.*]] = #dtensor.layout<#mesh, [x]>
// CHECK-LABEL: func.func @large(
// CHECK: dtensor.while
// CHECK-SAME: -> (tensor<1000000xf32, #[[X]]>, tensor<8xf32, #[[X]]>)
// CHECK: dtensor.exp %{{.*}} : tensor<1000000xf32, #[[X]]>
// CHECK: %[[L:.*]] = dtensor.while
// CHECK-SAME: -> tensor<8xf32, #[[W]]>
// CHECK: %[[R:.*]] = dtensor.relayout %[[L]]
// CHECK: dtensor.yield %{{.*}}, %[[R]] : tensor<1000000xf32, #[[X]]>, tensor<8xf32, #[[X]]>
// LOCAL-LABEL: func.func @large(
func.func @large(%a: tensor<1000000xf32, #cut>, %b: tensor<8xf32, #cut>, %p: tensor<i1, #one>)
    -> (tensor<1000000xf32, #cut>, tensor<8xf32, #cut>) {
  %0:2 = dtensor.while (%a, %b) : (tensor<1000000xf32, #cut>, tensor<8xf32, #cut>)
      -> (tensor<1000000xf32, #cut>, tensor<8xf32, #cut>) cond {
  ^bb0(%u: tensor<1000000xf32, #cut>, %w: tensor<8xf32, #cut>):
    dtensor.yield %p : tensor<i1, #one>
  } do {
  ^bb0(%u: tensor<1000000xf32, #cut>, %w: tensor<8xf32, #cut>):
    %e = dtensor.exp %u : tensor<1000000xf32, #cut>
    %1 = dtensor.while (%w) : (tensor<8xf32, #cut>) -> tensor<8xf32, #cut> cond {
    ^bb0(%v: tensor<8xf32, #cut>):
      dtensor.yield %p : tensor<i1, #one>
    } do {
    ^bb0(%v: tensor<8xf32, #cut>):
      %s = dtensor.add %v, %v : tensor<8xf32, #cut>
      dtensor.yield %s : tensor<8xf32, #cut>
    }
    dtensor.yield %e, %1 : tensor<1000000xf32, #cut>, tensor<8xf32, #cut>
  }
  return %0#0, %0#1 : tensor<1000000xf32, #cut>, tensor<8xf32, #cut>
}
