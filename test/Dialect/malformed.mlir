// RUN: not mesh-opt %s 2>&1 | FileCheck %s
// Malformed input is a diagnostic and exit status 1, never a crash.

// CHECK: malformed.mlir:[[@LINE+2]]:{{.*}}: error: expected
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dtensor.exp %x tensor<4xf32>
  return %0 : tensor<4xf32>
}
