// RUN: not mesh-opt --target=cuda %s 2>&1 | FileCheck %s

// A function that is neither an instruction nor a formula of ours is named.
// CHECK: print-ptx-invalid.mlir:[[@LINE+2]]:8: error: the target has no code for the function 'sin' of 'f64' numbers
func.func @f(%x: tensor<8xf64>) -> tensor<8xf64> {
  %0 = dtensor.sine %x : tensor<8xf64>
  return %0 : tensor<8xf64>
}
