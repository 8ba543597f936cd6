// What replicas add up over their rows, and then over the replicas, is one sum
// over all rows, in functions that are deterministic.
// RUN: mesh-opt %s --dtensor-merge-sums --canonicalize | FileCheck %s

// A loss: 12 rows of each of 2 replicas, an nth of a penalty from each.
// CHECK-LABEL: func.func @loss
// CHECK: %[[ROWS:.*]] = dtensor.reduce sum %arg0 dims [0, 1]
// CHECK: %[[MEAN:.*]] = dtensor.divide
// CHECK: %[[PENALTY:.*]] = dtensor.broadcast_in_dim %arg1
// CHECK: dtensor.add %[[MEAN]], %[[PENALTY]] : tensor<1xf32>
// CHECK-NOT: dtensor.reduce
func.func @loss(%x: tensor<2x12xf32>, %penalty: tensor<f32>) -> tensor<f32>
    attributes {dtensor.deterministic} {
  %rows = dtensor.reduce sum %x dims [1] : (tensor<2x12xf32>) -> tensor<2xf32>
  %all = dtensor.constant dense<24.0> : tensor<2xf32>
  %mean = dtensor.divide %rows, %all : tensor<2xf32>
  %two = dtensor.constant dense<2.0> : tensor<f32>
  %share = dtensor.divide %penalty, %two : tensor<f32>
  %shares = dtensor.broadcast_in_dim %share dims [] : (tensor<f32>) -> tensor<2xf32>
  %each = dtensor.add %mean, %shares : tensor<2xf32>
  %sum = dtensor.reduce sum %each dims [0] : (tensor<2xf32>) -> tensor<f32>
  return %sum : tensor<f32>
}

// A mean of means divides once.
// CHECK-LABEL: func.func @mean
// CHECK: %[[ALL:.*]] = dtensor.constant dense<2.400000e+01> : tensor<f32>
// CHECK: dtensor.reduce sum %arg0 dims [0, 1]
// CHECK: dtensor.divide %{{.*}}, %[[ALL]]
// CHECK-NOT: dtensor.divide
func.func @mean(%x: tensor<2x12xf32>) -> tensor<f32>
    attributes {dtensor.deterministic} {
  %rows = dtensor.reduce sum %x dims [1] : (tensor<2x12xf32>) -> tensor<2xf32>
  %count = dtensor.constant dense<12.0> : tensor<2xf32>
  %mean = dtensor.divide %rows, %count : tensor<2xf32>
  %sum = dtensor.reduce sum %mean dims [0] : (tensor<2xf32>) -> tensor<f32>
  %two = dtensor.constant dense<2.0> : tensor<f32>
  %all = dtensor.divide %sum, %two : tensor<f32>
  return %all : tensor<f32>
}

// A weight's gradient: the product adds up the rows of all replicas.
// CHECK-LABEL: func.func @product
// CHECK: dtensor.dot_general %arg0, %arg1 contracting [0, 1] x [0, 1]
// CHECK-NOT: reduce
func.func @product(%x: tensor<2x12x5xf32>, %dy: tensor<2x12x3xf32>) -> tensor<5x3xf32>
    attributes {dtensor.deterministic} {
  %dw = dtensor.dot_general %x, %dy batching [0] x [0] contracting [1] x [1] : (tensor<2x12x5xf32>, tensor<2x12x3xf32>) -> tensor<2x5x3xf32>
  %minus = dtensor.negate %dw : tensor<2x5x3xf32>
  %sum = dtensor.reduce sum %minus dims [0] : (tensor<2x5x3xf32>) -> tensor<5x3xf32>
  return %sum : tensor<5x3xf32>
}

// Replicas of 5 and of 4 rows: the rows one after the other.
// CHECK-LABEL: func.func @uneven
// CHECK: %[[X:.*]] = dtensor.concatenate {{.*}} -> tensor<13x5xf32>
// CHECK: %[[DY:.*]] = dtensor.concatenate {{.*}} -> tensor<13x3xf32>
// CHECK: dtensor.dot_general %[[X]], %[[DY]] contracting [0] x [0]
// CHECK-NOT: reduce
func.func @uneven(%x: tensor<1x5x5xf32>, %dy: tensor<1x5x3xf32>,
                  %x2: tensor<2x4x5xf32>, %dy2: tensor<2x4x3xf32>) -> tensor<5x3xf32>
    attributes {dtensor.deterministic} {
  %dw = dtensor.dot_general %x, %dy batching [0] x [0] contracting [1] x [1] : (tensor<1x5x5xf32>, tensor<1x5x3xf32>) -> tensor<1x5x3xf32>
  %dw2 = dtensor.dot_general %x2, %dy2 batching [0] x [0] contracting [1] x [1] : (tensor<2x4x5xf32>, tensor<2x4x3xf32>) -> tensor<2x5x3xf32>
  %all = dtensor.concatenate %dw, %dw2 dim 0 : (tensor<1x5x3xf32>, tensor<2x5x3xf32>) -> tensor<3x5x3xf32>
  %sum = dtensor.reduce sum %all dims [0] : (tensor<3x5x3xf32>) -> tensor<5x3xf32>
  return %sum : tensor<5x3xf32>
}

// A convolution kernel's gradient, whose places are groups.
// CHECK-LABEL: func.func @kernel
// CHECK: dtensor.convolution %arg0, %{{.*}} dims [f, 0, 1, b] x [i, 0, 1, o] -> [0, 1, b, f]
// CHECK-SAME: (tensor<24x6x6x4xf32>, tensor<24x4x4x4xf32>) -> tensor<3x3x4x4xf32>
// CHECK-NOT: reduce
func.func @kernel(%x: tensor<24x6x6x4xf32>, %dy: tensor<12x4x4x8xf32>) -> tensor<3x3x4x4xf32>
    attributes {dtensor.deterministic} {
  %dw = dtensor.convolution %x, %dy dims [f, 0, 1, b] x [i, 0, 1, o] -> [0, 1, b, f] feature_groups 2 : (tensor<24x6x6x4xf32>, tensor<12x4x4x8xf32>) -> tensor<3x3x4x8xf32>
  %places = dtensor.reshape %dw : (tensor<3x3x4x8xf32>) -> tensor<3x3x4x2x4xf32>
  %first = dtensor.transpose %places dims [3, 0, 1, 2, 4] : (tensor<3x3x4x2x4xf32>) -> tensor<2x3x3x4x4xf32>
  %sum = dtensor.reduce sum %first dims [0] : (tensor<2x3x3x4x4xf32>) -> tensor<3x3x4x4xf32>
  return %sum : tensor<3x3x4x4xf32>
}

// What is not linear stays where it is, and so do functions in another mode.
// CHECK-LABEL: func.func @exponents
// CHECK: dtensor.reduce sum %arg0 dims [1]
// CHECK: dtensor.exp
// CHECK: dtensor.reduce sum %{{.*}} dims [0]
func.func @exponents(%x: tensor<2x12xf32>) -> tensor<f32>
    attributes {dtensor.deterministic} {
  %rows = dtensor.reduce sum %x dims [1] : (tensor<2x12xf32>) -> tensor<2xf32>
  %exp = dtensor.exp %rows : tensor<2xf32>
  %sum = dtensor.reduce sum %exp dims [0] : (tensor<2xf32>) -> tensor<f32>
  return %sum : tensor<f32>
}

// CHECK-LABEL: func.func @otherwise
// CHECK: dtensor.reduce sum %arg0 dims [1]
// CHECK: dtensor.reduce sum %{{.*}} dims [0]
func.func @otherwise(%x: tensor<2x12xf32>) -> tensor<f32> {
  %rows = dtensor.reduce sum %x dims [1] : (tensor<2x12xf32>) -> tensor<2xf32>
  %minus = dtensor.negate %rows : tensor<2xf32>
  %sum = dtensor.reduce sum %minus dims [0] : (tensor<2xf32>) -> tensor<f32>
  return %sum : tensor<f32>
}
