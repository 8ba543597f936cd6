// A product with an iteration's slice is a slice of one product in front of the
// loop.
// RUN: mesh-opt %s --dtensor-multiply-before-loops --canonicalize --split-input-file | FileCheck %s

// The inputs of a recurrent layer. What the index is does not matter: here the
// last place comes first.
// CHECK-LABEL: func.func @recurrent
// CHECK: %[[P:.*]] = dtensor.dot_general %arg1, %arg2 contracting [2] x [0] : (tensor<20x4x8xf32>, tensor<8x16xf32>) -> tensor<20x4x16xf32>
// CHECK: dtensor.while
// CHECK: do {
// CHECK: %[[K:.*]] = dtensor.subtract
// CHECK: %[[S:.*]] = dtensor.dynamic_slice %[[P]] at %[[K]], %{{.*}}, %{{.*}} sizes [1, 4, 16]
// CHECK: %[[R:.*]] = dtensor.reshape %[[S]] : (tensor<1x4x16xf32>) -> tensor<4x16xf32>
// CHECK-NOT: dot_general
// CHECK: dtensor.add %{{.*}}, %[[R]]
func.func @recurrent(%h: tensor<4x16xf32>, %xs: tensor<20x4x8xf32>, %w: tensor<8x16xf32>) -> tensor<4x16xf32> {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %0:2 = dtensor.while (%h, %zero) : (tensor<4x16xf32>, tensor<i32>) -> (tensor<4x16xf32>, tensor<i32>) cond {
  ^bb0(%u: tensor<4x16xf32>, %i: tensor<i32>):
    %n = dtensor.constant dense<20> : tensor<i32>
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%u: tensor<4x16xf32>, %i: tensor<i32>):
    %one = dtensor.constant dense<1> : tensor<i32>
    %last = dtensor.constant dense<19> : tensor<i32>
    %k = dtensor.subtract %last, %i : tensor<i32>
    %s = dtensor.dynamic_slice %xs at %k, %zero, %zero sizes [1, 4, 8] : (tensor<20x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x8xf32>
    %x = dtensor.reshape %s : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
    %d = dtensor.dot_general %x, %w contracting [1] x [0] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %a = dtensor.add %u, %d : tensor<4x16xf32>
    %j = dtensor.add %i, %one : tensor<i32>
    dtensor.yield %a, %j : tensor<4x16xf32>, tensor<i32>
  }
  return %0#0 : tensor<4x16xf32>
}

// -----

// The slice is the second operand, of the dim in the middle, and is converted on
// the way. The slice is used by another op, too, and so stays.
// CHECK-LABEL: func.func @second
// CHECK: dtensor.transpose %arg1 dims [1, 0, 2]
// CHECK: %[[C:.*]] = dtensor.convert {{.*}} -> tensor<20x2x8xf32>
// CHECK: %[[P:.*]] = dtensor.dot_general %arg0, %[[C]] batching [0] x [1] contracting [2] x [2] : {{.*}} -> tensor<2x5x20xf32>
// CHECK: %[[Q:.*]] = dtensor.transpose %[[P]] dims [2, 0, 1] : (tensor<2x5x20xf32>) -> tensor<20x2x5xf32>
// CHECK: do {
// CHECK: dtensor.dynamic_slice %arg1
// CHECK: dtensor.dynamic_slice %[[Q]]
// CHECK-SAME: -> tensor<1x2x5xf32>
// CHECK-NOT: dot_general
// CHECK: return
func.func @second(%w: tensor<2x5x8xf32>, %xs: tensor<2x20x8xf16>) -> (tensor<2x5xf32>, tensor<2x8xf16>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %first = dtensor.constant dense<0.0> : tensor<2x5xf32>
  %none = dtensor.constant dense<0.0> : tensor<2x8xf16>
  %0:3 = dtensor.while (%first, %none, %zero) : (tensor<2x5xf32>, tensor<2x8xf16>, tensor<i32>) -> (tensor<2x5xf32>, tensor<2x8xf16>, tensor<i32>) cond {
  ^bb0(%u: tensor<2x5xf32>, %v: tensor<2x8xf16>, %i: tensor<i32>):
    %n = dtensor.constant dense<20> : tensor<i32>
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%u: tensor<2x5xf32>, %v: tensor<2x8xf16>, %i: tensor<i32>):
    %one = dtensor.constant dense<1> : tensor<i32>
    %s = dtensor.dynamic_slice %xs at %zero, %i, %zero sizes [2, 1, 8] : (tensor<2x20x8xf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x1x8xf16>
    %x = dtensor.reshape %s : (tensor<2x1x8xf16>) -> tensor<2x8xf16>
    %c = dtensor.convert %x : (tensor<2x8xf16>) -> tensor<2x8xf32>
    %d = dtensor.dot_general %w, %c batching [0] x [0] contracting [2] x [1] : (tensor<2x5x8xf32>, tensor<2x8xf32>) -> tensor<2x5xf32>
    %a = dtensor.add %u, %d : tensor<2x5xf32>
    %b = dtensor.add %v, %x : tensor<2x8xf16>
    %j = dtensor.add %i, %one : tensor<i32>
    dtensor.yield %a, %b, %j : tensor<2x5xf32>, tensor<2x8xf16>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<2x5xf32>, tensor<2x8xf16>
}

// -----

// These products stay: of a value that the loop changes, of a tensor with more
// places than the loop has iterations, and one that has too few terms.
// CHECK-LABEL: func.func @stay
// CHECK-NOT: dot_general
// CHECK: do {
// CHECK-COUNT-3: dtensor.dot_general
func.func @stay(%h: tensor<4x8xf32>, %xs: tensor<20x4x8xf32>, %ys: tensor<21x4x8xf32>, %zs: tensor<20x4x3xf32>, %w: tensor<8x8xf32>, %v: tensor<3x8xf32>) -> tensor<4x8xf32> {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %0:3 = dtensor.while (%h, %w, %zero) : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<i32>) -> (tensor<4x8xf32>, tensor<8x8xf32>, tensor<i32>) cond {
  ^bb0(%u: tensor<4x8xf32>, %q: tensor<8x8xf32>, %i: tensor<i32>):
    %n = dtensor.constant dense<20> : tensor<i32>
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%u: tensor<4x8xf32>, %q: tensor<8x8xf32>, %i: tensor<i32>):
    %one = dtensor.constant dense<1> : tensor<i32>
    %s = dtensor.dynamic_slice %xs at %i, %zero, %zero sizes [1, 4, 8] : (tensor<20x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x8xf32>
    %x = dtensor.reshape %s : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
    %d = dtensor.dot_general %x, %q contracting [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %t = dtensor.dynamic_slice %ys at %i, %zero, %zero sizes [1, 4, 8] : (tensor<21x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x8xf32>
    %y = dtensor.reshape %t : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
    %e = dtensor.dot_general %y, %w contracting [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %r = dtensor.dynamic_slice %zs at %i, %zero, %zero sizes [1, 4, 3] : (tensor<20x4x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x3xf32>
    %z = dtensor.reshape %r : (tensor<1x4x3xf32>) -> tensor<4x3xf32>
    %f = dtensor.dot_general %z, %v contracting [1] x [0] : (tensor<4x3xf32>, tensor<3x8xf32>) -> tensor<4x8xf32>
    %a = dtensor.add %d, %e : tensor<4x8xf32>
    %b = dtensor.add %a, %f : tensor<4x8xf32>
    %m = dtensor.multiply %q, %q : tensor<8x8xf32>
    %j = dtensor.add %i, %one : tensor<i32>
    dtensor.yield %b, %m, %j : tensor<4x8xf32>, tensor<8x8xf32>, tensor<i32>
  }
  return %0#0 : tensor<4x8xf32>
}
