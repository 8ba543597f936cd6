// Variables become arguments and results.
// RUN: mesh-opt %s --dtensor-lift-variables --split-input-file | FileCheck %s

#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x]>

// A read after an assignment sees the new value; the assigned variable becomes
// a result with its layout; one that is only read does not.
// CHECK-LABEL: func.func @read_after_assign(
// CHECK-SAME: %[[V:.*]]: tensor<4xf32, #layout_x> {dtensor.alias = 1 : i64, dtensor.name = "v"}
// CHECK-SAME: %[[W:.*]]: tensor<4xf32> {dtensor.name = "w"}
// CHECK-SAME: -> (tensor<4xf32>, tensor<4xf32, #layout_x> {dtensor.name = "v"})
// CHECK-NEXT: %[[SUM:.*]] = dtensor.add %[[V]], %[[W]]
// CHECK-NEXT: %[[OUT:.*]] = dtensor.multiply %[[SUM]], %[[SUM]]
// CHECK-NEXT: %[[NEW:.*]] = dtensor.constraint %[[SUM]] : (tensor<4xf32>) -> tensor<4xf32, #layout_x>
// CHECK-NEXT: return %[[OUT]], %[[NEW]]
func.func @read_after_assign(
    %v: !dtensor.variable<tensor<4xf32, #rows>> {dtensor.name = "v"},
    %w: !dtensor.variable<tensor<4xf32>> {dtensor.name = "w"}) -> tensor<4xf32> {
  %0 = dtensor.read_variable %v : (!dtensor.variable<tensor<4xf32, #rows>>) -> tensor<4xf32, #rows>
  %1 = dtensor.read_variable %w : (!dtensor.variable<tensor<4xf32>>) -> tensor<4xf32>
  %2 = dtensor.add %0, %1 : (tensor<4xf32, #rows>, tensor<4xf32>) -> tensor<4xf32>
  dtensor.assign_variable %v, %2 : !dtensor.variable<tensor<4xf32, #rows>>, tensor<4xf32>
  %3 = dtensor.read_variable %v : (!dtensor.variable<tensor<4xf32, #rows>>) -> tensor<4xf32>
  %4 = dtensor.multiply %3, %3 : tensor<4xf32>
  return %4 : tensor<4xf32>
}

// -----

// Only the last assignment is returned, after the function's own results, in
// the order of arguments.
// CHECK-LABEL: func.func @assigned_twice(
// CHECK-SAME: %[[A:.*]]: tensor<2xf32> {dtensor.alias = 0 : i64}, %[[B:.*]]: tensor<2xf32> {dtensor.alias = 1 : i64}, %[[X:.*]]: tensor<2xf32>
// CHECK: %[[TWICE:.*]] = dtensor.add
// CHECK-NEXT: return %[[TWICE]], %[[X]]
func.func @assigned_twice(%a: !dtensor.variable<tensor<2xf32>>,
                          %b: !dtensor.variable<tensor<2xf32>>, %x: tensor<2xf32>) {
  dtensor.assign_variable %b, %x : !dtensor.variable<tensor<2xf32>>, tensor<2xf32>
  dtensor.assign_variable %a, %x : !dtensor.variable<tensor<2xf32>>, tensor<2xf32>
  %0 = dtensor.read_variable %a : (!dtensor.variable<tensor<2xf32>>) -> tensor<2xf32>
  %1 = dtensor.add %0, %0 : tensor<2xf32>
  dtensor.assign_variable %a, %1 : !dtensor.variable<tensor<2xf32>>, tensor<2xf32>
  return
}

// -----

// Without variables nothing changes.
// CHECK-LABEL: func.func @no_variables(%arg0: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT: return %arg0
func.func @no_variables(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
