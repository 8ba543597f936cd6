// What a loop adds up of products is one product of all iterations behind it.
// RUN: mesh-opt %s --dtensor-sum-after-loops --split-input-file | FileCheck %s

// Two sums, one of them with an init; %y is an operand of both, and kept once.
// CHECK-LABEL: func.func @sums
// CHECK: %[[R:.*]]:5 = dtensor.while(%arg0, {{.*}}) : (tensor<20x300xf32>, tensor<i32>, tensor<i32>, tensor<3x20x300xf32>, tensor<3x20x300xf32>)
// CHECK-NOT: dot_general
// CHECK: do {
// CHECK-NOT: dot_general
// CHECK: dtensor.dynamic_update_slice
// CHECK: dtensor.dynamic_update_slice
// CHECK-NOT: dynamic_update_slice
// CHECK: %[[A:.*]] = dtensor.dot_general %[[R]]#3, %[[R]]#4 contracting [0, 1] x [0, 1] : (tensor<3x20x300xf32>, tensor<3x20x300xf32>) -> tensor<300x300xf32>
// CHECK: %[[B:.*]] = dtensor.dot_general %[[R]]#4, %[[R]]#4 contracting [0, 1] x [0, 1]
// CHECK: %[[C:.*]] = dtensor.add %arg1, %[[B]]
// CHECK: return %[[R]]#0, %[[A]], %[[C]]
func.func @sums(%x: tensor<20x300xf32>, %first: tensor<300x300xf32>)
    -> (tensor<20x300xf32>, tensor<300x300xf32>, tensor<300x300xf32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<300x300xf32>
  %0:4 = dtensor.while (%x, %none, %zero, %first)
      : (tensor<20x300xf32>, tensor<300x300xf32>, tensor<i32>, tensor<300x300xf32>)
     -> (tensor<20x300xf32>, tensor<300x300xf32>, tensor<i32>, tensor<300x300xf32>) cond {
  ^bb0(%u: tensor<20x300xf32>, %s: tensor<300x300xf32>, %i: tensor<i32>, %t: tensor<300x300xf32>):
    %n = dtensor.constant dense<3> : tensor<i32>
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%u: tensor<20x300xf32>, %s: tensor<300x300xf32>, %i: tensor<i32>, %t: tensor<300x300xf32>):
    %one = dtensor.constant dense<1> : tensor<i32>
    %j = dtensor.add %i, %one : tensor<i32>
    %y = dtensor.tanh %u : tensor<20x300xf32>
    %d = dtensor.dot_general %u, %y contracting [0] x [0] : (tensor<20x300xf32>, tensor<20x300xf32>) -> tensor<300x300xf32>
    %a = dtensor.add %s, %d : tensor<300x300xf32>
    %e = dtensor.dot_general %y, %y contracting [0] x [0] : (tensor<20x300xf32>, tensor<20x300xf32>) -> tensor<300x300xf32>
    %b = dtensor.add %e, %t : tensor<300x300xf32>
    dtensor.yield %y, %a, %j, %b : tensor<20x300xf32>, tensor<300x300xf32>, tensor<i32>, tensor<300x300xf32>
  }
  return %0#0, %0#1, %0#3 : tensor<20x300xf32>, tensor<300x300xf32>, tensor<300x300xf32>
}

// -----

// With batching dims, which move.
// CHECK-LABEL: func.func @batched
// CHECK: dtensor.dot_general {{.*}} batching [2] x [1] contracting [0, 1] x [0, 3] : (tensor<3x2x200x30xf32>, tensor<3x200x40x2xf32>) -> tensor<200x30x40xf32>
func.func @batched(%x: tensor<2x200x30xf32>, %z: tensor<200x40x2xf32>) -> tensor<200x30x40xf32> {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<200x30x40xf32>
  %0:4 = dtensor.while (%x, %z, %none, %zero)
      : (tensor<2x200x30xf32>, tensor<200x40x2xf32>, tensor<200x30x40xf32>, tensor<i32>)
     -> (tensor<2x200x30xf32>, tensor<200x40x2xf32>, tensor<200x30x40xf32>, tensor<i32>) cond {
  ^bb0(%u: tensor<2x200x30xf32>, %v: tensor<200x40x2xf32>, %s: tensor<200x30x40xf32>, %i: tensor<i32>):
    %n = dtensor.constant dense<3> : tensor<i32>
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%u: tensor<2x200x30xf32>, %v: tensor<200x40x2xf32>, %s: tensor<200x30x40xf32>, %i: tensor<i32>):
    %one = dtensor.constant dense<1> : tensor<i32>
    %j = dtensor.add %i, %one : tensor<i32>
    %y = dtensor.tanh %u : tensor<2x200x30xf32>
    %w = dtensor.tanh %v : tensor<200x40x2xf32>
    %d = dtensor.dot_general %y, %w batching [1] x [0] contracting [0] x [2] : (tensor<2x200x30xf32>, tensor<200x40x2xf32>) -> tensor<200x30x40xf32>
    %a = dtensor.add %s, %d : tensor<200x30x40xf32>
    dtensor.yield %y, %w, %a, %j : tensor<2x200x30xf32>, tensor<200x40x2xf32>, tensor<200x30x40xf32>, tensor<i32>
  }
  return %0#2 : tensor<200x30x40xf32>
}

// -----

// Not where the body reads the sum, where an operand comes from outside, or
// where the sum is small.
// CHECK-LABEL: func.func @kept
// CHECK: dtensor.while({{.*}}) : (tensor<20x300xf32>, tensor<300x300xf32>, tensor<300x300xf32>, tensor<20x20xf32>, tensor<i32>)
// CHECK-COUNT-3: dtensor.dot_general
// CHECK-NOT: dtensor.dot_general
func.func @kept(%x: tensor<20x300xf32>)
    -> (tensor<300x300xf32>, tensor<300x300xf32>, tensor<20x20xf32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<300x300xf32>
  %few = dtensor.constant dense<0.0> : tensor<20x20xf32>
  %0:5 = dtensor.while (%x, %none, %none, %few, %zero)
      : (tensor<20x300xf32>, tensor<300x300xf32>, tensor<300x300xf32>, tensor<20x20xf32>, tensor<i32>)
     -> (tensor<20x300xf32>, tensor<300x300xf32>, tensor<300x300xf32>, tensor<20x20xf32>, tensor<i32>) cond {
  ^bb0(%u: tensor<20x300xf32>, %s: tensor<300x300xf32>, %t: tensor<300x300xf32>, %f: tensor<20x20xf32>, %i: tensor<i32>):
    %n = dtensor.constant dense<3> : tensor<i32>
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%u: tensor<20x300xf32>, %s: tensor<300x300xf32>, %t: tensor<300x300xf32>, %f: tensor<20x20xf32>, %i: tensor<i32>):
    %one = dtensor.constant dense<1> : tensor<i32>
    %j = dtensor.add %i, %one : tensor<i32>
    %r = dtensor.reduce sum %s dims [0, 1] : (tensor<300x300xf32>) -> tensor<f32>
    %q = dtensor.broadcast_in_dim %r dims [] : (tensor<f32>) -> tensor<20x300xf32>
    %y = dtensor.add %u, %q : tensor<20x300xf32>
    %d = dtensor.dot_general %y, %u contracting [0] x [0] : (tensor<20x300xf32>, tensor<20x300xf32>) -> tensor<300x300xf32>
    %a = dtensor.add %s, %d : tensor<300x300xf32>
    %e = dtensor.dot_general %y, %x contracting [0] x [0] : (tensor<20x300xf32>, tensor<20x300xf32>) -> tensor<300x300xf32>
    %b = dtensor.add %t, %e : tensor<300x300xf32>
    %g = dtensor.dot_general %y, %y contracting [1] x [1] : (tensor<20x300xf32>, tensor<20x300xf32>) -> tensor<20x20xf32>
    %c = dtensor.add %f, %g : tensor<20x20xf32>
    dtensor.yield %y, %a, %b, %c, %j : tensor<20x300xf32>, tensor<300x300xf32>, tensor<300x300xf32>, tensor<20x20xf32>, tensor<i32>
  }
  return %0#1, %0#2, %0#3 : tensor<300x300xf32>, tensor<300x300xf32>, tensor<20x20xf32>
}

// -----

// Nor where the operands of all iterations are too many.
// CHECK-LABEL: func.func @many
// CHECK: dtensor.while({{.*}}) : (tensor<20x300xf32>, tensor<300x300xf32>, tensor<i32>)
func.func @many(%x: tensor<20x300xf32>) -> tensor<300x300xf32> {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<300x300xf32>
  %0:3 = dtensor.while (%x, %none, %zero) : (tensor<20x300xf32>, tensor<300x300xf32>, tensor<i32>)
     -> (tensor<20x300xf32>, tensor<300x300xf32>, tensor<i32>) cond {
  ^bb0(%u: tensor<20x300xf32>, %s: tensor<300x300xf32>, %i: tensor<i32>):
    %n = dtensor.constant dense<31> : tensor<i32>
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%u: tensor<20x300xf32>, %s: tensor<300x300xf32>, %i: tensor<i32>):
    %one = dtensor.constant dense<1> : tensor<i32>
    %j = dtensor.add %i, %one : tensor<i32>
    %y = dtensor.tanh %u : tensor<20x300xf32>
    %d = dtensor.dot_general %u, %y contracting [0] x [0] : (tensor<20x300xf32>, tensor<20x300xf32>) -> tensor<300x300xf32>
    %a = dtensor.add %s, %d : tensor<300x300xf32>
    dtensor.yield %y, %a, %j : tensor<20x300xf32>, tensor<300x300xf32>, tensor<i32>
  }
  return %0#1 : tensor<300x300xf32>
}

// -----

// JAX adds the transpose of a product.
// CHECK-LABEL: func.func @transposed
// CHECK: do {
// CHECK-NOT: dtensor.transpose
// CHECK: dtensor.yield
// CHECK: %[[P:.*]] = dtensor.dot_general {{.*}} contracting [0, 1] x [0, 1]
// CHECK: %[[T:.*]] = dtensor.transpose %[[P]] dims [1, 0] : (tensor<300x310xf32>) -> tensor<310x300xf32>
// CHECK: return %[[T]]
func.func @transposed(%x: tensor<20x300xf32>, %w: tensor<20x310xf32>) -> tensor<310x300xf32> {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<310x300xf32>
  %0:4 = dtensor.while (%x, %w, %none, %zero)
     : (tensor<20x300xf32>, tensor<20x310xf32>, tensor<310x300xf32>, tensor<i32>)
     -> (tensor<20x300xf32>, tensor<20x310xf32>, tensor<310x300xf32>, tensor<i32>) cond {
  ^bb0(%u: tensor<20x300xf32>, %v: tensor<20x310xf32>, %s: tensor<310x300xf32>, %i: tensor<i32>):
    %n = dtensor.constant dense<3> : tensor<i32>
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%u: tensor<20x300xf32>, %v: tensor<20x310xf32>, %s: tensor<310x300xf32>, %i: tensor<i32>):
    %one = dtensor.constant dense<1> : tensor<i32>
    %j = dtensor.add %i, %one : tensor<i32>
    %y = dtensor.tanh %u : tensor<20x300xf32>
    %z = dtensor.tanh %v : tensor<20x310xf32>
    %d = dtensor.dot_general %y, %z contracting [0] x [0] : (tensor<20x300xf32>, tensor<20x310xf32>) -> tensor<300x310xf32>
    %t = dtensor.transpose %d dims [1, 0] : (tensor<300x310xf32>) -> tensor<310x300xf32>
    %a = dtensor.add %s, %t : tensor<310x300xf32>
    dtensor.yield %y, %z, %a, %j : tensor<20x300xf32>, tensor<20x310xf32>, tensor<310x300xf32>, tensor<i32>
  }
  return %0#2 : tensor<310x300xf32>
}
