// RUN: mesh-opt --target=cuda %s | FileCheck %s

// Products of one type and of the same loops share a kernel: slices of both
// operands go to shared memory, and f32 is f32.
// CHECK: // kernel product_f32_mnk results 256 terms 1 grid 0,1 parameters p0 p1 p2 e0 e1 e2 s0.0 s0.2 s1.1 s1.2 s2.0 s2.1
// CHECK-NOT: // kernel product
// CHECK: .entry product_f32_mnk(
// CHECK: st.shared.f32
// CHECK: bar.sync
// CHECK: ld.shared.f32
// CHECK: fma.rn.f32
// CHECK-NOT: .entry product
func.func @f(%x: tensor<8x9xf32>, %y: tensor<9x8xf32>) -> tensor<8x8xf32> {
  %0 = dtensor.matmul %x, %y : (tensor<8x9xf32>, tensor<9x8xf32>) -> tensor<8x8xf32>
  %1 = dtensor.matmul %0, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
