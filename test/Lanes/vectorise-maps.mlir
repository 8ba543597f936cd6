// Maps become ordinary ops on values with leading dims.
// RUN: mesh-opt %s --dtensor-vectorise-maps --canonicalize --split-input-file | FileCheck %s

// What is the same at all places is computed once.
// CHECK-LABEL: func.func @lanes
// CHECK-NEXT: %[[E:.*]] = dtensor.exp %arg1 : tensor<8xf32>
// CHECK-NEXT: %[[R:.*]] = dtensor.broadcast_in_dim %[[E]] dims [1] : (tensor<8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[P:.*]] = dtensor.multiply %arg0, %[[R]] : tensor<4x8xf32>
// CHECK-NEXT: return %[[P]]
func.func @lanes(%x: tensor<4x8xf32>, %w: tensor<8xf32>) -> tensor<4x8xf32> {
  %y = dtensor.map (%x, %w) {axes = ["row"], sizes = array<i64: 4>,
      lanes = [array<i64: 0>, array<i64>]}
      : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32> {
  ^bb0(%row: tensor<8xf32>, %v: tensor<8xf32>):
    %e = dtensor.exp %v : tensor<8xf32>
    %p = dtensor.multiply %row, %e : tensor<8xf32>
    dtensor.yield %p : tensor<8xf32>
  }
  return %y : tensor<4x8xf32>
}

// -----

// A product with what all have is one of all rows; a sum over the places has no
// lanes, and costs what it costs outside.
// CHECK-LABEL: func.func @collectives
// CHECK: dtensor.dot_general {{.*}} contracting [1] x [0] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
// CHECK: %[[S:.*]] = dtensor.reduce sum {{.*}} dims [0] : (tensor<4x2xf32>) -> tensor<2xf32>
// CHECK-NEXT: %[[T:.*]] = dtensor.tanh %[[S]] : tensor<2xf32>
// CHECK: dtensor.broadcast_in_dim %[[T]] dims [1]
func.func @collectives(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %y = dtensor.map (%x, %w) {axes = ["i"], sizes = array<i64: 4>,
      lanes = [array<i64: 0>, array<i64>]}
      : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32> {
  ^bb0(%row: tensor<8xf32>, %m: tensor<8x2xf32>):
    %p = dtensor.dot_general %row, %m contracting [0] x [0] : (tensor<8xf32>, tensor<8x2xf32>) -> tensor<2xf32>
    %s = dtensor.axis_reduce %p {axes = ["i"], kind = #dtensor.kind<sum>} : (tensor<2xf32>) -> tensor<2xf32>
    %t = dtensor.tanh %s : tensor<2xf32>
    dtensor.yield %t : tensor<2xf32>
  }
  return %y : tensor<4x2xf32>
}

// -----

// On a mesh, collectives begin where the program has them: a place is a device.
// Of joined parts each has its own.
// CHECK-LABEL: func.func @on_mesh
// CHECK: %[[G:.*]] = dtensor.constraint {{.*}} {dtensor.wish = {{{.*}}released, replicated = ["x"]}} : (tensor<4x2xf32>) -> tensor<4x2xf32>
// CHECK: dtensor.constraint {{.*}}released
#mesh = #dtensor.mesh<x = 4, y = 2>
func.func @on_mesh(%x: tensor<4x1x2xf32>) -> tensor<4x1x2xf32> {
  %y = dtensor.map (%x) {axes = ["x"], sizes = array<i64: 4>,
      lanes = [array<i64: 0>], mesh = #mesh}
      : (tensor<4x1x2xf32>) -> tensor<4x1x2xf32> {
  ^bb0(%v: tensor<1x2xf32>):
    %g = dtensor.axis_gather %v {axis = "x", dimension = 0 : i64} : (tensor<1x2xf32>) -> tensor<4x2xf32>
    %e = dtensor.exp %g : tensor<4x2xf32>
    %p = dtensor.axis_part %e {axis = "x", dimension = 0 : i64} : (tensor<4x2xf32>) -> tensor<1x2xf32>
    dtensor.yield %p : tensor<1x2xf32>
  }
  return %y : tensor<4x1x2xf32>
}

// -----

// Replicas of other shapes are regions of one map: each is a group of places of
// its own, and what they meet at is made once. The variable counts one step.
// CHECK-LABEL: func.func @members

// CHECK: %[[A1:.*]] = dtensor.reduce sum %arg0 dims [1] : (tensor<3x2xf32>) -> tensor<3xf32>
// CHECK: %[[A:.*]] = dtensor.reduce sum %[[A1]] dims [0] : (tensor<3xf32>) -> tensor<f32>
// CHECK: %[[B:.*]] = dtensor.reshape %arg1 : (tensor<1x1xf32>) -> tensor<f32>
// CHECK: %[[S:.*]] = dtensor.add %[[A]], %[[B]] : tensor<f32>
// CHECK-NEXT: %[[OLD:.*]] = dtensor.read_variable %arg2
// CHECK: %[[NEW:.*]] = dtensor.add %[[OLD]], %[[S]] : tensor<f32>
// CHECK: dtensor.assign_variable %arg2, %[[NEW]]
// CHECK-NOT: dtensor.assign_variable
func.func @members(%a: tensor<3x2xf32>, %b: tensor<1x1xf32>, %v: !dtensor.variable<tensor<f32>>) {
  dtensor.map (%a, %b) {axes = ["replica"], sizes = array<i64: 4>,
      lanes = [array<i64: 0>, array<i64: 0>],
      members = [array<i64: 0, 1, 3>, array<i64: 2>]}
      : (tensor<3x2xf32>, tensor<1x1xf32>) -> () {
  ^bb0(%x: tensor<2xf32>):
    %l = dtensor.reduce sum %x dims [0] : (tensor<2xf32>) -> tensor<f32>
    %s = dtensor.axis_reduce %l {axes = ["replica"], kind = #dtensor.kind<sum>} : (tensor<f32>) -> tensor<f32>
    %o = dtensor.read_variable %v : (!dtensor.variable<tensor<f32>>) -> tensor<f32>
    %n = dtensor.add %o, %s : tensor<f32>
    dtensor.assign_variable %v, %n : !dtensor.variable<tensor<f32>>, tensor<f32>
    dtensor.yield
  }, {
  ^bb0(%x: tensor<1xf32>):
    %l = dtensor.reduce sum %x dims [0] : (tensor<1xf32>) -> tensor<f32>
    %s = dtensor.axis_reduce %l {axes = ["replica"], kind = #dtensor.kind<sum>} : (tensor<f32>) -> tensor<f32>
    %o = dtensor.read_variable %v : (!dtensor.variable<tensor<f32>>) -> tensor<f32>
    %n = dtensor.add %o, %s : tensor<f32>
    dtensor.assign_variable %v, %n : !dtensor.variable<tensor<f32>>, tensor<f32>
    dtensor.yield
  }
  return
}

// -----

// The sum of all places' products of their own operands is one product: none of
// a place's own is made. One side's lanes are rows, and are summed as they are.
// CHECK-LABEL: func.func @sum_of_products
// CHECK: dtensor.dot_general %arg0, %arg1 contracting [0, 1] x [0, 1] : (tensor<4x2x5xf32>, tensor<4x2x3xf32>) -> tensor<5x3xf32>
// CHECK: %[[ROWS:.*]] = dtensor.dot_general %arg0, %arg2 contracting [2] x [0] : (tensor<4x2x5xf32>, tensor<5x3xf32>) -> tensor<4x2x3xf32>
// CHECK: dtensor.reduce sum {{.*}} dims [0] : (tensor<4x2x3xf32>) -> tensor<2x3xf32>
func.func @sum_of_products(%x: tensor<4x2x5xf32>, %y: tensor<4x2x3xf32>, %w: tensor<5x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x2x3xf32>) {
  %r:2 = dtensor.map (%x, %y, %w) {axes = ["replica"], sizes = array<i64: 4>,
      lanes = [array<i64: 0>, array<i64: 0>, array<i64>]}
      : (tensor<4x2x5xf32>, tensor<4x2x3xf32>, tensor<5x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x2x3xf32>) {
  ^bb0(%a: tensor<2x5xf32>, %b: tensor<2x3xf32>, %c: tensor<5x3xf32>):
    %p = dtensor.dot_general %a, %b contracting [0] x [0] : (tensor<2x5xf32>, tensor<2x3xf32>) -> tensor<5x3xf32>
    %s = dtensor.axis_reduce %p {axes = ["replica"], kind = #dtensor.kind<sum>} : (tensor<5x3xf32>) -> tensor<5x3xf32>
    %q = dtensor.dot_general %a, %c contracting [1] x [0] : (tensor<2x5xf32>, tensor<5x3xf32>) -> tensor<2x3xf32>
    %t = dtensor.axis_reduce %q {axes = ["replica"], kind = #dtensor.kind<sum>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    dtensor.yield %s, %t : tensor<5x3xf32>, tensor<2x3xf32>
  }
  return %r#0, %r#1 : tensor<4x5x3xf32>, tensor<4x2x3xf32>
}
