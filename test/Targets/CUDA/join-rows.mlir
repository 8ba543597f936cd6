// RUN: mesh-opt --target=cuda %s | FileCheck %s
// RUN: mesh-opt --target=cuda %s | grep -cE "(ld|st).global" | FileCheck %s --check-prefix=ACCESSES
// RUN: sed s/f32/bf16/g %s | mesh-opt --target=cuda - | grep -cE "(ld|st).global" | FileCheck %s --check-prefix=ACCESSES

// A softmax is one kernel, in which 128 threads share each row. A maximum and a
// sum take five exchanges within warps, and two barriers each for their states
// in shared memory; another barrier follows the division, and is in front of
// them in the text. A thread reads its six elements once and writes them once;
// besides, it writes and reads the maximum and the sum.
// ACCESSES: 16
// CHECK: // Meshloom device code 1
// CHECK-NEXT: // kernel [[SOFTMAX:kernel_[0-9a-f]+]] results 2 terms 128 grid 0
// CHECK-NOT: // kernel kernel_{{[0-9a-f]+}} results
// CHECK: .visible .entry [[SOFTMAX]](
// CHECK: bar.sync
// CHECK-COUNT-5: shfl.sync.down.b32
// CHECK-COUNT-2: bar.sync
// CHECK-COUNT-5: shfl.sync.down.b32
// CHECK-COUNT-2: bar.sync
// CHECK-NOT: bar.sync
func.func @main(%x: tensor<64x700xf32>) -> tensor<64x700xf32> {
  %0 = dtensor.reduce max %x dims [1] : (tensor<64x700xf32>) -> tensor<64xf32>
  %1 = dtensor.broadcast_in_dim %0 dims [0] : (tensor<64xf32>) -> tensor<64x700xf32>
  %2 = dtensor.subtract %x, %1 : tensor<64x700xf32>
  %3 = dtensor.exp %2 : tensor<64x700xf32>
  %4 = dtensor.reduce sum %3 dims [1] : (tensor<64x700xf32>) -> tensor<64xf32>
  %5 = dtensor.broadcast_in_dim %4 dims [0] : (tensor<64xf32>) -> tensor<64x700xf32>
  %6 = dtensor.divide %3, %5 : tensor<64x700xf32>
  return %6 : tensor<64x700xf32>
}
