// Fourier transforms of every kind along one to three dims, of batches over
// devices and along dims that devices share out; lengths that are even, odd,
// long and prime.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x, *]>
#columns = #dtensor.layout<#mesh, [*, x]>
#batch = #dtensor.layout<#mesh, [x, *, *]>

func.func @main(%x0: tensor<5x12xcomplex<f32>, #rows>,
                %x1: tensor<3x37xcomplex<f32>>,
                %x2: tensor<2x300xcomplex<f32>, #columns>,
                %x3: tensor<9x14xcomplex<f32>>,
                %x4: tensor<4x6x10xcomplex<f32>, #batch>,
                %x5: tensor<3x5x6x7xcomplex<f32>>,
                %x6: tensor<8x4x2x3xcomplex<f32>>,
                %x7: tensor<5x12xcomplex<f64>, #rows>,
                %x8: tensor<3x37xcomplex<f64>>,
                %x9: tensor<2x300xcomplex<f64>, #columns>,
                %x10: tensor<9x14xcomplex<f64>>,
                %x11: tensor<4x6x10xcomplex<f64>, #batch>,
                %x12: tensor<3x5x6x7xcomplex<f64>>,
                %x13: tensor<8x4x2x3xcomplex<f64>>,
                %x14: tensor<5x12xcomplex<f32>, #rows>,
                %x15: tensor<3x37xcomplex<f32>>,
                %x16: tensor<2x300xcomplex<f32>, #columns>,
                %x17: tensor<9x14xcomplex<f32>>,
                %x18: tensor<4x6x10xcomplex<f32>, #batch>,
                %x19: tensor<3x5x6x7xcomplex<f32>>,
                %x20: tensor<8x4x2x3xcomplex<f32>>,
                %x21: tensor<5x12xcomplex<f64>, #rows>,
                %x22: tensor<3x37xcomplex<f64>>,
                %x23: tensor<2x300xcomplex<f64>, #columns>,
                %x24: tensor<9x14xcomplex<f64>>,
                %x25: tensor<4x6x10xcomplex<f64>, #batch>,
                %x26: tensor<3x5x6x7xcomplex<f64>>,
                %x27: tensor<8x4x2x3xcomplex<f64>>,
                %x28: tensor<5x12xf32, #rows>,
                %x29: tensor<3x37xf32>,
                %x30: tensor<2x300xf32, #columns>,
                %x31: tensor<9x14xf32>,
                %x32: tensor<4x6x10xf32, #batch>,
                %x33: tensor<3x5x6x7xf32>,
                %x34: tensor<8x4x2x3xf32>,
                %x35: tensor<5x12xf64, #rows>,
                %x36: tensor<3x37xf64>,
                %x37: tensor<2x300xf64, #columns>,
                %x38: tensor<9x14xf64>,
                %x39: tensor<4x6x10xf64, #batch>,
                %x40: tensor<3x5x6x7xf64>,
                %x41: tensor<8x4x2x3xf64>,
                %x42: tensor<5x7xcomplex<f32>, #rows>,
                %x43: tensor<3x19xcomplex<f32>>,
                %x44: tensor<2x151xcomplex<f32>, #columns>,
                %x45: tensor<9x8xcomplex<f32>>,
                %x46: tensor<4x6x6xcomplex<f32>, #batch>,
                %x47: tensor<3x5x6x4xcomplex<f32>>,
                %x48: tensor<8x4x2x2xcomplex<f32>>,
                %x49: tensor<5x7xcomplex<f64>, #rows>,
                %x50: tensor<3x19xcomplex<f64>>,
                %x51: tensor<2x151xcomplex<f64>, #columns>,
                %x52: tensor<9x8xcomplex<f64>>,
                %x53: tensor<4x6x6xcomplex<f64>, #batch>,
                %x54: tensor<3x5x6x4xcomplex<f64>>,
                %x55: tensor<8x4x2x2xcomplex<f64>>)
    -> (tensor<5x12xcomplex<f32>>,
        tensor<3x37xcomplex<f32>>,
        tensor<2x300xcomplex<f32>>,
        tensor<9x14xcomplex<f32>>,
        tensor<4x6x10xcomplex<f32>>,
        tensor<3x5x6x7xcomplex<f32>>,
        tensor<8x4x2x3xcomplex<f32>>,
        tensor<5x12xcomplex<f64>>,
        tensor<3x37xcomplex<f64>>,
        tensor<2x300xcomplex<f64>>,
        tensor<9x14xcomplex<f64>>,
        tensor<4x6x10xcomplex<f64>>,
        tensor<3x5x6x7xcomplex<f64>>,
        tensor<8x4x2x3xcomplex<f64>>,
        tensor<5x12xcomplex<f32>>,
        tensor<3x37xcomplex<f32>>,
        tensor<2x300xcomplex<f32>>,
        tensor<9x14xcomplex<f32>>,
        tensor<4x6x10xcomplex<f32>>,
        tensor<3x5x6x7xcomplex<f32>>,
        tensor<8x4x2x3xcomplex<f32>>,
        tensor<5x12xcomplex<f64>>,
        tensor<3x37xcomplex<f64>>,
        tensor<2x300xcomplex<f64>>,
        tensor<9x14xcomplex<f64>>,
        tensor<4x6x10xcomplex<f64>>,
        tensor<3x5x6x7xcomplex<f64>>,
        tensor<8x4x2x3xcomplex<f64>>,
        tensor<5x7xcomplex<f32>>,
        tensor<3x19xcomplex<f32>>,
        tensor<2x151xcomplex<f32>>,
        tensor<9x8xcomplex<f32>>,
        tensor<4x6x6xcomplex<f32>>,
        tensor<3x5x6x4xcomplex<f32>>,
        tensor<8x4x2x2xcomplex<f32>>,
        tensor<5x7xcomplex<f64>>,
        tensor<3x19xcomplex<f64>>,
        tensor<2x151xcomplex<f64>>,
        tensor<9x8xcomplex<f64>>,
        tensor<4x6x6xcomplex<f64>>,
        tensor<3x5x6x4xcomplex<f64>>,
        tensor<8x4x2x2xcomplex<f64>>,
        tensor<5x12xf32>,
        tensor<3x37xf32>,
        tensor<2x300xf32>,
        tensor<9x14xf32>,
        tensor<4x6x10xf32>,
        tensor<3x5x6x7xf32>,
        tensor<8x4x2x3xf32>,
        tensor<5x12xf64>,
        tensor<3x37xf64>,
        tensor<2x300xf64>,
        tensor<9x14xf64>,
        tensor<4x6x10xf64>,
        tensor<3x5x6x7xf64>,
        tensor<8x4x2x3xf64>) {
  %r0 = dtensor.fft %x0 {fft_length = array<i64: 12>, fft_type = "FFT"}
      : (tensor<5x12xcomplex<f32>, #rows>) -> tensor<5x12xcomplex<f32>>
  %r1 = dtensor.fft %x1 {fft_length = array<i64: 37>, fft_type = "FFT"}
      : (tensor<3x37xcomplex<f32>>) -> tensor<3x37xcomplex<f32>>
  %r2 = dtensor.fft %x2 {fft_length = array<i64: 300>, fft_type = "FFT"}
      : (tensor<2x300xcomplex<f32>, #columns>) -> tensor<2x300xcomplex<f32>>
  %r3 = dtensor.fft %x3 {fft_length = array<i64: 9, 14>, fft_type = "FFT"}
      : (tensor<9x14xcomplex<f32>>) -> tensor<9x14xcomplex<f32>>
  %r4 = dtensor.fft %x4 {fft_length = array<i64: 6, 10>, fft_type = "FFT"}
      : (tensor<4x6x10xcomplex<f32>, #batch>) -> tensor<4x6x10xcomplex<f32>>
  %r5 = dtensor.fft %x5 {fft_length = array<i64: 5, 6, 7>, fft_type = "FFT"}
      : (tensor<3x5x6x7xcomplex<f32>>) -> tensor<3x5x6x7xcomplex<f32>>
  %r6 = dtensor.fft %x6 {fft_length = array<i64: 2, 3>, fft_type = "FFT"}
      : (tensor<8x4x2x3xcomplex<f32>>) -> tensor<8x4x2x3xcomplex<f32>>
  %r7 = dtensor.fft %x7 {fft_length = array<i64: 12>, fft_type = "FFT"}
      : (tensor<5x12xcomplex<f64>, #rows>) -> tensor<5x12xcomplex<f64>>
  %r8 = dtensor.fft %x8 {fft_length = array<i64: 37>, fft_type = "FFT"}
      : (tensor<3x37xcomplex<f64>>) -> tensor<3x37xcomplex<f64>>
  %r9 = dtensor.fft %x9 {fft_length = array<i64: 300>, fft_type = "FFT"}
      : (tensor<2x300xcomplex<f64>, #columns>) -> tensor<2x300xcomplex<f64>>
  %r10 = dtensor.fft %x10 {fft_length = array<i64: 9, 14>, fft_type = "FFT"}
      : (tensor<9x14xcomplex<f64>>) -> tensor<9x14xcomplex<f64>>
  %r11 = dtensor.fft %x11 {fft_length = array<i64: 6, 10>, fft_type = "FFT"}
      : (tensor<4x6x10xcomplex<f64>, #batch>) -> tensor<4x6x10xcomplex<f64>>
  %r12 = dtensor.fft %x12 {fft_length = array<i64: 5, 6, 7>, fft_type = "FFT"}
      : (tensor<3x5x6x7xcomplex<f64>>) -> tensor<3x5x6x7xcomplex<f64>>
  %r13 = dtensor.fft %x13 {fft_length = array<i64: 2, 3>, fft_type = "FFT"}
      : (tensor<8x4x2x3xcomplex<f64>>) -> tensor<8x4x2x3xcomplex<f64>>
  %r14 = dtensor.fft %x14 {fft_length = array<i64: 12>, fft_type = "IFFT"}
      : (tensor<5x12xcomplex<f32>, #rows>) -> tensor<5x12xcomplex<f32>>
  %r15 = dtensor.fft %x15 {fft_length = array<i64: 37>, fft_type = "IFFT"}
      : (tensor<3x37xcomplex<f32>>) -> tensor<3x37xcomplex<f32>>
  %r16 = dtensor.fft %x16 {fft_length = array<i64: 300>, fft_type = "IFFT"}
      : (tensor<2x300xcomplex<f32>, #columns>) -> tensor<2x300xcomplex<f32>>
  %r17 = dtensor.fft %x17 {fft_length = array<i64: 9, 14>, fft_type = "IFFT"}
      : (tensor<9x14xcomplex<f32>>) -> tensor<9x14xcomplex<f32>>
  %r18 = dtensor.fft %x18 {fft_length = array<i64: 6, 10>, fft_type = "IFFT"}
      : (tensor<4x6x10xcomplex<f32>, #batch>) -> tensor<4x6x10xcomplex<f32>>
  %r19 = dtensor.fft %x19 {fft_length = array<i64: 5, 6, 7>, fft_type = "IFFT"}
      : (tensor<3x5x6x7xcomplex<f32>>) -> tensor<3x5x6x7xcomplex<f32>>
  %r20 = dtensor.fft %x20 {fft_length = array<i64: 2, 3>, fft_type = "IFFT"}
      : (tensor<8x4x2x3xcomplex<f32>>) -> tensor<8x4x2x3xcomplex<f32>>
  %r21 = dtensor.fft %x21 {fft_length = array<i64: 12>, fft_type = "IFFT"}
      : (tensor<5x12xcomplex<f64>, #rows>) -> tensor<5x12xcomplex<f64>>
  %r22 = dtensor.fft %x22 {fft_length = array<i64: 37>, fft_type = "IFFT"}
      : (tensor<3x37xcomplex<f64>>) -> tensor<3x37xcomplex<f64>>
  %r23 = dtensor.fft %x23 {fft_length = array<i64: 300>, fft_type = "IFFT"}
      : (tensor<2x300xcomplex<f64>, #columns>) -> tensor<2x300xcomplex<f64>>
  %r24 = dtensor.fft %x24 {fft_length = array<i64: 9, 14>, fft_type = "IFFT"}
      : (tensor<9x14xcomplex<f64>>) -> tensor<9x14xcomplex<f64>>
  %r25 = dtensor.fft %x25 {fft_length = array<i64: 6, 10>, fft_type = "IFFT"}
      : (tensor<4x6x10xcomplex<f64>, #batch>) -> tensor<4x6x10xcomplex<f64>>
  %r26 = dtensor.fft %x26 {fft_length = array<i64: 5, 6, 7>, fft_type = "IFFT"}
      : (tensor<3x5x6x7xcomplex<f64>>) -> tensor<3x5x6x7xcomplex<f64>>
  %r27 = dtensor.fft %x27 {fft_length = array<i64: 2, 3>, fft_type = "IFFT"}
      : (tensor<8x4x2x3xcomplex<f64>>) -> tensor<8x4x2x3xcomplex<f64>>
  %r28 = dtensor.fft %x28 {fft_length = array<i64: 12>, fft_type = "RFFT"}
      : (tensor<5x12xf32, #rows>) -> tensor<5x7xcomplex<f32>>
  %r29 = dtensor.fft %x29 {fft_length = array<i64: 37>, fft_type = "RFFT"}
      : (tensor<3x37xf32>) -> tensor<3x19xcomplex<f32>>
  %r30 = dtensor.fft %x30 {fft_length = array<i64: 300>, fft_type = "RFFT"}
      : (tensor<2x300xf32, #columns>) -> tensor<2x151xcomplex<f32>>
  %r31 = dtensor.fft %x31 {fft_length = array<i64: 9, 14>, fft_type = "RFFT"}
      : (tensor<9x14xf32>) -> tensor<9x8xcomplex<f32>>
  %r32 = dtensor.fft %x32 {fft_length = array<i64: 6, 10>, fft_type = "RFFT"}
      : (tensor<4x6x10xf32, #batch>) -> tensor<4x6x6xcomplex<f32>>
  %r33 = dtensor.fft %x33 {fft_length = array<i64: 5, 6, 7>, fft_type = "RFFT"}
      : (tensor<3x5x6x7xf32>) -> tensor<3x5x6x4xcomplex<f32>>
  %r34 = dtensor.fft %x34 {fft_length = array<i64: 2, 3>, fft_type = "RFFT"}
      : (tensor<8x4x2x3xf32>) -> tensor<8x4x2x2xcomplex<f32>>
  %r35 = dtensor.fft %x35 {fft_length = array<i64: 12>, fft_type = "RFFT"}
      : (tensor<5x12xf64, #rows>) -> tensor<5x7xcomplex<f64>>
  %r36 = dtensor.fft %x36 {fft_length = array<i64: 37>, fft_type = "RFFT"}
      : (tensor<3x37xf64>) -> tensor<3x19xcomplex<f64>>
  %r37 = dtensor.fft %x37 {fft_length = array<i64: 300>, fft_type = "RFFT"}
      : (tensor<2x300xf64, #columns>) -> tensor<2x151xcomplex<f64>>
  %r38 = dtensor.fft %x38 {fft_length = array<i64: 9, 14>, fft_type = "RFFT"}
      : (tensor<9x14xf64>) -> tensor<9x8xcomplex<f64>>
  %r39 = dtensor.fft %x39 {fft_length = array<i64: 6, 10>, fft_type = "RFFT"}
      : (tensor<4x6x10xf64, #batch>) -> tensor<4x6x6xcomplex<f64>>
  %r40 = dtensor.fft %x40 {fft_length = array<i64: 5, 6, 7>, fft_type = "RFFT"}
      : (tensor<3x5x6x7xf64>) -> tensor<3x5x6x4xcomplex<f64>>
  %r41 = dtensor.fft %x41 {fft_length = array<i64: 2, 3>, fft_type = "RFFT"}
      : (tensor<8x4x2x3xf64>) -> tensor<8x4x2x2xcomplex<f64>>
  %r42 = dtensor.fft %x42 {fft_length = array<i64: 12>, fft_type = "IRFFT"}
      : (tensor<5x7xcomplex<f32>, #rows>) -> tensor<5x12xf32>
  %r43 = dtensor.fft %x43 {fft_length = array<i64: 37>, fft_type = "IRFFT"}
      : (tensor<3x19xcomplex<f32>>) -> tensor<3x37xf32>
  %r44 = dtensor.fft %x44 {fft_length = array<i64: 300>, fft_type = "IRFFT"}
      : (tensor<2x151xcomplex<f32>, #columns>) -> tensor<2x300xf32>
  %r45 = dtensor.fft %x45 {fft_length = array<i64: 9, 14>, fft_type = "IRFFT"}
      : (tensor<9x8xcomplex<f32>>) -> tensor<9x14xf32>
  %r46 = dtensor.fft %x46 {fft_length = array<i64: 6, 10>, fft_type = "IRFFT"}
      : (tensor<4x6x6xcomplex<f32>, #batch>) -> tensor<4x6x10xf32>
  %r47 = dtensor.fft %x47 {fft_length = array<i64: 5, 6, 7>, fft_type = "IRFFT"}
      : (tensor<3x5x6x4xcomplex<f32>>) -> tensor<3x5x6x7xf32>
  %r48 = dtensor.fft %x48 {fft_length = array<i64: 2, 3>, fft_type = "IRFFT"}
      : (tensor<8x4x2x2xcomplex<f32>>) -> tensor<8x4x2x3xf32>
  %r49 = dtensor.fft %x49 {fft_length = array<i64: 12>, fft_type = "IRFFT"}
      : (tensor<5x7xcomplex<f64>, #rows>) -> tensor<5x12xf64>
  %r50 = dtensor.fft %x50 {fft_length = array<i64: 37>, fft_type = "IRFFT"}
      : (tensor<3x19xcomplex<f64>>) -> tensor<3x37xf64>
  %r51 = dtensor.fft %x51 {fft_length = array<i64: 300>, fft_type = "IRFFT"}
      : (tensor<2x151xcomplex<f64>, #columns>) -> tensor<2x300xf64>
  %r52 = dtensor.fft %x52 {fft_length = array<i64: 9, 14>, fft_type = "IRFFT"}
      : (tensor<9x8xcomplex<f64>>) -> tensor<9x14xf64>
  %r53 = dtensor.fft %x53 {fft_length = array<i64: 6, 10>, fft_type = "IRFFT"}
      : (tensor<4x6x6xcomplex<f64>, #batch>) -> tensor<4x6x10xf64>
  %r54 = dtensor.fft %x54 {fft_length = array<i64: 5, 6, 7>, fft_type = "IRFFT"}
      : (tensor<3x5x6x4xcomplex<f64>>) -> tensor<3x5x6x7xf64>
  %r55 = dtensor.fft %x55 {fft_length = array<i64: 2, 3>, fft_type = "IRFFT"}
      : (tensor<8x4x2x2xcomplex<f64>>) -> tensor<8x4x2x3xf64>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27, %r28, %r29, %r30, %r31, %r32, %r33, %r34, %r35, %r36, %r37, %r38, %r39, %r40, %r41, %r42, %r43, %r44, %r45, %r46, %r47, %r48, %r49, %r50, %r51, %r52, %r53, %r54, %r55
      : tensor<5x12xcomplex<f32>>,
        tensor<3x37xcomplex<f32>>,
        tensor<2x300xcomplex<f32>>,
        tensor<9x14xcomplex<f32>>,
        tensor<4x6x10xcomplex<f32>>,
        tensor<3x5x6x7xcomplex<f32>>,
        tensor<8x4x2x3xcomplex<f32>>,
        tensor<5x12xcomplex<f64>>,
        tensor<3x37xcomplex<f64>>,
        tensor<2x300xcomplex<f64>>,
        tensor<9x14xcomplex<f64>>,
        tensor<4x6x10xcomplex<f64>>,
        tensor<3x5x6x7xcomplex<f64>>,
        tensor<8x4x2x3xcomplex<f64>>,
        tensor<5x12xcomplex<f32>>,
        tensor<3x37xcomplex<f32>>,
        tensor<2x300xcomplex<f32>>,
        tensor<9x14xcomplex<f32>>,
        tensor<4x6x10xcomplex<f32>>,
        tensor<3x5x6x7xcomplex<f32>>,
        tensor<8x4x2x3xcomplex<f32>>,
        tensor<5x12xcomplex<f64>>,
        tensor<3x37xcomplex<f64>>,
        tensor<2x300xcomplex<f64>>,
        tensor<9x14xcomplex<f64>>,
        tensor<4x6x10xcomplex<f64>>,
        tensor<3x5x6x7xcomplex<f64>>,
        tensor<8x4x2x3xcomplex<f64>>,
        tensor<5x7xcomplex<f32>>,
        tensor<3x19xcomplex<f32>>,
        tensor<2x151xcomplex<f32>>,
        tensor<9x8xcomplex<f32>>,
        tensor<4x6x6xcomplex<f32>>,
        tensor<3x5x6x4xcomplex<f32>>,
        tensor<8x4x2x2xcomplex<f32>>,
        tensor<5x7xcomplex<f64>>,
        tensor<3x19xcomplex<f64>>,
        tensor<2x151xcomplex<f64>>,
        tensor<9x8xcomplex<f64>>,
        tensor<4x6x6xcomplex<f64>>,
        tensor<3x5x6x4xcomplex<f64>>,
        tensor<8x4x2x2xcomplex<f64>>,
        tensor<5x12xf32>,
        tensor<3x37xf32>,
        tensor<2x300xf32>,
        tensor<9x14xf32>,
        tensor<4x6x10xf32>,
        tensor<3x5x6x7xf32>,
        tensor<8x4x2x3xf32>,
        tensor<5x12xf64>,
        tensor<3x37xf64>,
        tensor<2x300xf64>,
        tensor<9x14xf64>,
        tensor<4x6x10xf64>,
        tensor<3x5x6x7xf64>,
        tensor<8x4x2x3xf64>
}
