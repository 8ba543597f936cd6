// Where a product of halves is f32, its gradient is multiplied in f32 and
// rounded once to an operand's type.
// RUN: mesh-opt %s --dtensor-gradient -o %t.mlir && FileCheck %s --input-file=%t.mlir
// RUN: mesh-run %t.mlir --verify

// CHECK: func.func @main(%[[X:.*]]: tensor<4x3xbf16>, %[[W:.*]]: tensor<3x2xbf16>)
// CHECK-SAME: -> (tensor<f32>, tensor<4x3xbf16>, tensor<3x2xbf16>)
// CHECK: %[[WIDE_W:.*]] = dtensor.convert %[[W]]
// CHECK: %[[DX:.*]] = dtensor.dot_general %{{.*}}, %[[WIDE_W]] {{.*}}-> tensor<4x3xf32>
// CHECK: %[[NARROW_DX:.*]] = dtensor.convert %[[DX]]
// CHECK: %[[WIDE_X:.*]] = dtensor.convert %[[X]]
// CHECK: %[[DW:.*]] = dtensor.dot_general %[[WIDE_X]], %{{.*}}-> tensor<3x2xf32>
// CHECK: %[[NARROW_DW:.*]] = dtensor.convert %[[DW]]
// CHECK: return %{{.*}}, %[[NARROW_DX]], %[[NARROW_DW]]
func.func @main(%x: tensor<4x3xbf16>, %w: tensor<3x2xbf16>) -> tensor<f32> {
  %0 = dtensor.dot_general %x, %w contracting [1] x [0] : (tensor<4x3xbf16>, tensor<3x2xbf16>) -> tensor<4x2xf32>
  %1 = dtensor.multiply %0, %0 : tensor<4x2xf32>
  %2 = dtensor.reduce sum %1 dims [0, 1] : (tensor<4x2xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}
