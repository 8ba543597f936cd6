// Carried values that do not change, branches that are known, trip counts.
// RUN: mesh-opt %s --dtensor-simplify-control-flow --split-input-file | FileCheck %s

// %w passes through and %d is read by nobody: only the counter stays.
// CHECK-LABEL: func.func @invariant
// CHECK: %[[R:.*]]:2 = dtensor.while(%{{.*}}, %arg1) {dtensor.trip_count = 6 : i64}
// CHECK: dtensor.add %{{.*}}, %arg0
// CHECK: return %arg0, %[[R]]#1
func.func @invariant(%w: tensor<4xf32>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c = dtensor.constant dense<0> : tensor<i32>
  %n = dtensor.constant dense<6> : tensor<i32>
  %0:5 = dtensor.while (%w, %c, %n, %x, %x)
      : (tensor<4xf32>, tensor<i32>, tensor<i32>, tensor<4xf32>, tensor<4xf32>)
     -> (tensor<4xf32>, tensor<i32>, tensor<i32>, tensor<4xf32>, tensor<4xf32>) cond {
  ^bb0(%u: tensor<4xf32>, %i: tensor<i32>, %m: tensor<i32>, %v: tensor<4xf32>, %d: tensor<4xf32>):
    %p = dtensor.compare LT, %i, %m : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%u: tensor<4xf32>, %i: tensor<i32>, %m: tensor<i32>, %v: tensor<4xf32>, %d: tensor<4xf32>):
    %one = dtensor.constant dense<1> : tensor<i32>
    %j = dtensor.add %i, %one : tensor<i32>
    %a = dtensor.add %v, %u : tensor<4xf32>
    dtensor.yield %u, %j, %m, %a, %v : tensor<4xf32>, tensor<i32>, tensor<i32>, tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#3 : tensor<4xf32>, tensor<4xf32>
}

// -----

// What the user laid out stays carried.
#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x]>
// CHECK-LABEL: func.func @pinned
// CHECK: dtensor.while(%arg0, %arg1)
func.func @pinned(%w: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32, #rows> {
  %0:2 = dtensor.while (%w, %p) : (tensor<4xf32>, tensor<i1>) -> (tensor<4xf32, #rows>, tensor<i1>) cond {
  ^bb0(%u: tensor<4xf32>, %q: tensor<i1>):
    dtensor.yield %q : tensor<i1>
  } do {
  ^bb0(%u: tensor<4xf32>, %q: tensor<i1>):
    %n = dtensor.not %q : tensor<i1>
    dtensor.yield %u, %n : tensor<4xf32>, tensor<i1>
  }
  return %0#0 : tensor<4xf32, #rows>
}

// -----

// An index that is known, out of range too, and a single branch.
// CHECK-LABEL: func.func @known
// CHECK-NEXT: dtensor.constant
// CHECK-NEXT: %[[E:.*]] = dtensor.exp %arg0
// CHECK-NEXT: %[[A:.*]] = dtensor.abs %arg0
// CHECK-NEXT: return %[[E]], %[[A]]
func.func @known(%x: tensor<4xf32>, %i: tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c = dtensor.constant dense<-3> : tensor<i32>
  %0 = dtensor.case %c : (tensor<i32>) -> tensor<4xf32> {
    dtensor.yield %x : tensor<4xf32>
  }, {
    %e = dtensor.exp %x : tensor<4xf32>
    dtensor.yield %e : tensor<4xf32>
  }
  %1 = dtensor.case %i : (tensor<i32>) -> tensor<4xf32> {
    %a = dtensor.abs %x : tensor<4xf32>
    dtensor.yield %a : tensor<4xf32>
  }
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Trip counts, up and down, by steps, the counter on either side; none where
// the counter would overflow first, or the end is not known.
// CHECK-LABEL: func.func @counts
// CHECK: dtensor.trip_count = 4 : i64
// CHECK: dtensor.trip_count = 3 : i64
// CHECK: dtensor.trip_count = 0 : i64
// CHECK: dtensor.while(%{{.*}}) : (tensor<i8>)
// CHECK: dtensor.while(%{{.*}}) : (tensor<ui8>)
func.func @counts(%end: tensor<ui8>) -> (tensor<i64>, tensor<i32>, tensor<i32>, tensor<i8>, tensor<ui8>) {
  %first = dtensor.constant dense<10> : tensor<i64>
  // 10, 7, 4, 1
  %0 = dtensor.while (%first) : (tensor<i64>) -> tensor<i64> cond {
  ^bb0(%i: tensor<i64>):
    %n = dtensor.constant dense<0> : tensor<i64>
    %p = dtensor.compare GT, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>):
    %s = dtensor.constant dense<3> : tensor<i64>
    %j = dtensor.subtract %i, %s : tensor<i64>
    dtensor.yield %j : tensor<i64>
  }
  %zero = dtensor.constant dense<0> : tensor<i32>
  %four = dtensor.constant dense<4> : tensor<i32>
  // 0, 2, 4
  %1 = dtensor.while (%zero) : (tensor<i32>) -> tensor<i32> cond {
  ^bb0(%i: tensor<i32>):
    %p = dtensor.compare GE, %four, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>):
    %s = dtensor.constant dense<2> : tensor<i32>
    %j = dtensor.add %s, %i : tensor<i32>
    dtensor.yield %j : tensor<i32>
  }
  %2 = dtensor.while (%four) : (tensor<i32>) -> tensor<i32> cond {
  ^bb0(%i: tensor<i32>):
    %p = dtensor.compare NE, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>):
    %j = dtensor.add %i, %four : tensor<i32>
    dtensor.yield %j : tensor<i32>
  }
  // 127 + 1 is -128: for ever.
  %b = dtensor.constant dense<0> : tensor<i8>
  %3 = dtensor.while (%b) : (tensor<i8>) -> tensor<i8> cond {
  ^bb0(%i: tensor<i8>):
    %n = dtensor.constant dense<127> : tensor<i8>
    %p = dtensor.compare LE, %i, %n : (tensor<i8>, tensor<i8>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i8>):
    %s = dtensor.constant dense<1> : tensor<i8>
    %j = dtensor.add %i, %s : tensor<i8>
    dtensor.yield %j : tensor<i8>
  }
  %u = dtensor.constant dense<0> : tensor<ui8>
  %4 = dtensor.while (%u) : (tensor<ui8>) -> tensor<ui8> cond {
  ^bb0(%i: tensor<ui8>):
    %p = dtensor.compare LT, %i, %end : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<ui8>):
    %s = dtensor.constant dense<1> : tensor<ui8>
    %j = dtensor.add %i, %s : tensor<ui8>
    dtensor.yield %j : tensor<ui8>
  }
  return %0, %1, %2, %3, %4 : tensor<i64>, tensor<i32>, tensor<i32>, tensor<i8>, tensor<ui8>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x]>

// What passes through a loop is what it was, with its layout: the function
// returns that.
// CHECK-LABEL: func.func @returned
// CHECK-SAME: -> (tensor<4xf32, #layout_x>, tensor<i32>)
// CHECK: return %arg0, %{{.*}} : tensor<4xf32, #layout_x>, tensor<i32>
func.func @returned(%w: tensor<4xf32, #rows>, %n: tensor<i32>) -> (tensor<4xf32>, tensor<i32>) {
  %c = dtensor.constant dense<0> : tensor<i32>
  %0:2 = dtensor.while (%w, %c) : (tensor<4xf32, #rows>, tensor<i32>) -> (tensor<4xf32>, tensor<i32>) cond {
  ^bb0(%u: tensor<4xf32>, %i: tensor<i32>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%u: tensor<4xf32>, %i: tensor<i32>):
    %j = dtensor.add %i, %i : tensor<i32>
    dtensor.yield %u, %j : tensor<4xf32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<i32>
}
