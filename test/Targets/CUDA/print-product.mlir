// RUN: mesh-opt --target=cuda %s | FileCheck %s

// Products of one type and of the same loops share a kernel: slices of both
// operands go to shared memory, and f32 is f32.
// CHECK: // kernel product_f32_mnk results 256 terms 1 grid 0,1 parameters p0 p1 p2 e0 e1 e2 s0.0 s0.2 s1.1 s1.2 s2.0 s2.1
// A convolution is a product whose kernel is named after its windows: zeros in
// front and every second element of the input.
// CHECK: // kernel convolution_f16_mknmkh_o3k4i5s2p1d1e1 results 256 terms 1 grid 0,2,3 parameters p0 p1 p2 e0 e1 e2 e3 e4 e5 o3 o4 o5 s0.0 s0.1 s0.5 s1.1 s1.2 s1.4 s2.0 s2.2 s2.3
// CHECK-NOT: // kernel product
// A library transforms to real numbers; a kernel copies its operand first. Other
// transforms need none.
// CHECK: // kernel lines_irfft_f32_12_1of2 results 256 terms 1 grid 0,1 parameters p0 p1 e0 e1 o1 s0.0 s1.0
// CHECK-NOT: // kernel lines
// CHECK: .entry product_f32_mnk(
// CHECK: st.shared.f32
// CHECK: bar.sync
// CHECK: ld.shared.f32
// CHECK: fma.rn.f32
// CHECK-NOT: .entry product
// Tensor cores multiply f16.
// CHECK: .entry convolution_f16
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK-NOT: .entry product
func.func @f(%x: tensor<8x9xf32>, %y: tensor<9x8xf32>, %z: tensor<2x9x3xf16>, %w: tensor<3x3x4xf16>,
             %v: tensor<5x12xf32>) -> (tensor<8x8xf32>, tensor<2x5x4xf16>, tensor<5x12xf32>) {
  %0 = dtensor.matmul %x, %y : (tensor<8x9xf32>, tensor<9x8xf32>) -> tensor<8x8xf32>
  %1 = dtensor.matmul %0, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = dtensor.convolution %z, %w dims [b, 0, f] x [0, i, o] -> [b, 0, f] strides [2] padding [1, 1]
      : (tensor<2x9x3xf16>, tensor<3x3x4xf16>) -> tensor<2x5x4xf16>
  %3 = dtensor.fft %v {fft_length = array<i64: 12>, fft_type = "RFFT"} : (tensor<5x12xf32>) -> tensor<5x7xcomplex<f32>>
  %4 = dtensor.fft %3 {fft_length = array<i64: 12>, fft_type = "IRFFT"} : (tensor<5x7xcomplex<f32>>) -> tensor<5x12xf32>
  return %1, %2, %4 : tensor<8x8xf32>, tensor<2x5x4xf16>, tensor<5x12xf32>
}
