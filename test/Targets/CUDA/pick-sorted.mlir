// RUN: mesh-opt --target=cuda %s | FileCheck %s

// A short line is one block, whose ranks one kernel counts; a second one finds
// the element of each rank, and a third one gathers.
// CHECK-LABEL: // Meshloom device code 1
// CHECK-COUNT-3: // kernel kernel_
// CHECK-NOT: // kernel
// CHECK: .version
func.func @f(%x: tensor<8x60xf32>) -> (tensor<8x5xf32>, tensor<8x5xi32>) {
  %values, %indices = dtensor.top_k %x k 5 : tensor<8x60xf32> -> tensor<8x5xf32>, tensor<8x5xi32>
  return %values, %indices : tensor<8x5xf32>, tensor<8x5xi32>
}
