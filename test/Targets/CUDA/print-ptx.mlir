// RUN: mesh-opt --target=cuda %s | FileCheck %s

// Rows that are written and summed in one kernel: a result of the grid is a
// row, whose 700 terms two warps share.
// CHECK: // Meshloom device code 1
// CHECK-NEXT: // kernel [[SUM:kernel_[0-9a-f]+]] results 4 terms 64 grid 0
// CHECK-SAME: parameters p0 p1 p2 p3 e0 e1 s0.0 s2.0
// CHECK: .version 7.8
// CHECK-NEXT: .target sm_80
// CHECK: .visible .entry [[SUM]](
// CHECK: .maxntid 256
// CHECK: .shared .align 16 .b8 [[SUM]]_shared0[32]
// Five halvings within warps; then a warp's sum is in shared memory, until the
// next row's is: the barrier for that comes first in the text.
// CHECK: bar.sync
// CHECK-COUNT-5: shfl.sync.down.b32
// CHECK: bar.sync
// CHECK-NOT: bar.sync
func.func @f(%x: tensor<128x700xf32>, %b: tensor<700xf32>)
    -> (tensor<128x700xf32>, tensor<128xf32>) {
  %0 = dtensor.broadcast_in_dim %b dims [1] : (tensor<700xf32>) -> tensor<128x700xf32>
  %1 = dtensor.add %x, %0 : tensor<128x700xf32>
  %2 = dtensor.reduce sum %1 dims [1] : (tensor<128x700xf32>) -> tensor<128xf32>
  return %1, %2 : tensor<128x700xf32>, tensor<128xf32>
}
