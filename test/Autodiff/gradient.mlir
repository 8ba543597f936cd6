// RUN: mesh-opt %s --dtensor-gradient | FileCheck %s
// RUN: mesh-opt %s --dtensor-gradient='wrt=1' | FileCheck %s --check-prefix=WRT

// All float arguments, in order; the weight's gradient is a product with the
// transposed roles of dims, not a transposition.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4x3xf32>, %[[W:.*]]: tensor<3x2xf32>)
// CHECK-SAME: -> (tensor<f32>, tensor<4x3xf32>, tensor<3x2xf32>)
// CHECK: %[[LOSS:.*]] = dtensor.reduce sum
// CHECK: %[[G:.*]] = dtensor.broadcast_in_dim
// CHECK: %[[DX:.*]] = dtensor.dot_general %[[G]], %[[W]] {{.*}}contracting [1] x [1]
// CHECK: %[[DW:.*]] = dtensor.dot_general %[[X]], %[[G]] {{.*}}contracting [0] x [0]
// CHECK: return %[[LOSS]], %[[DX]], %[[DW]]

// Only what was asked for, and no product that it does not need.
// WRT-LABEL: func.func @main
// WRT-SAME: -> (tensor<f32>, tensor<3x2xf32>)
// WRT-COUNT-1: dtensor.dot_general
// WRT-NOT: dtensor.dot_general
// WRT: return
func.func @main(%x: tensor<4x3xf32>, %w: tensor<3x2xf32>) -> tensor<f32> {
  %0 = dtensor.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  %1 = dtensor.reduce sum %0 dims [0, 1] : (tensor<4x2xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}
