// Factorizations and transforms of batches of matrices: a positive definite
// system solved by its factor, a least squares problem by QR, a convolution by
// Fourier transforms.
// RUN: %verify
#mesh = #dtensor.mesh<x = 4>
#batch = #dtensor.layout<#mesh, [x, *, *]>
#rows = #dtensor.layout<#mesh, [x, *]>

func.func @main(%m: tensor<5x4x4xf64, #batch>, %b: tensor<5x4x3xf64, #batch>,
                %t: tensor<6x5x3xf32, #batch>, %s: tensor<9x30xf32, #rows>,
                %indefinite: tensor<3x2x2xf32>)
    -> (tensor<5x4x3xf64, #batch>, tensor<6x3x3xf32>, tensor<6x5x3xf32>, tensor<9x30xf32, #rows>,
        tensor<3x2x2xf32>, tensor<9x16xcomplex<f32>>, tensor<2x3x2xf64>, tensor<2x3x2xf64>) {
  // m m^T + 4
  %mt = dtensor.transpose %m dims [0, 2, 1] : (tensor<5x4x4xf64, #batch>) -> tensor<5x4x4xf64>
  %mm = dtensor.matmul %m, %mt : (tensor<5x4x4xf64, #batch>, tensor<5x4x4xf64>) -> tensor<5x4x4xf64>
  %i = dtensor.iota dim 1 : tensor<5x4x4xi32>
  %j = dtensor.iota dim 2 : tensor<5x4x4xi32>
  %diagonal = dtensor.compare EQ, %i, %j : (tensor<5x4x4xi32>, tensor<5x4x4xi32>) -> tensor<5x4x4xi1>
  %four = dtensor.constant dense<4.0> : tensor<5x4x4xf64>
  %zero = dtensor.constant dense<0.0> : tensor<5x4x4xf64>
  %shift = dtensor.select %diagonal, %four, %zero : (tensor<5x4x4xi1>, tensor<5x4x4xf64>, tensor<5x4x4xf64>) -> tensor<5x4x4xf64>
  %a = dtensor.add %mm, %shift : tensor<5x4x4xf64>
  %l = dtensor.cholesky %a {lower} : tensor<5x4x4xf64>
  %y = dtensor.triangular_solve %l, %b {left_side, lower}
      : (tensor<5x4x4xf64>, tensor<5x4x3xf64, #batch>) -> tensor<5x4x3xf64>
  %x = dtensor.triangular_solve %l, %y {left_side, lower, transpose_a = "TRANSPOSE"}
      : (tensor<5x4x4xf64>, tensor<5x4x3xf64>) -> tensor<5x4x3xf64>
  %rx = dtensor.constraint %x : (tensor<5x4x3xf64>) -> tensor<5x4x3xf64, #batch>

  %qr, %taus = dtensor.geqrf %t : (tensor<6x5x3xf32, #batch>) -> (tensor<6x5x3xf32>, tensor<6x3xf32>)
  %q = dtensor.householder_product %qr, %taus : (tensor<6x5x3xf32>, tensor<6x3xf32>) -> tensor<6x5x3xf32>
  %r = dtensor.slice %qr [0:6, 0:3, 0:3] : (tensor<6x5x3xf32>) -> tensor<6x3x3xf32>
  %zeros = dtensor.constant dense<[[[0.0, 1.0], [0.0, 2.0], [0.0, -2.0]], [[3.0e100, 1.0], [4.0e100, 0.0], [0.0, 0.0]]]> : tensor<2x3x2xf64>
  %zr, %ztaus = dtensor.geqrf %zeros : (tensor<2x3x2xf64>) -> (tensor<2x3x2xf64>, tensor<2x2xf64>)
  %zq = dtensor.householder_product %zr, %ztaus : (tensor<2x3x2xf64>, tensor<2x2xf64>) -> tensor<2x3x2xf64>

  %f = dtensor.fft %s {fft_length = array<i64: 30>, fft_type = "RFFT"}
      : (tensor<9x30xf32, #rows>) -> tensor<9x16xcomplex<f32>>
  %ff = dtensor.multiply %f, %f : tensor<9x16xcomplex<f32>>
  %c = dtensor.fft %ff {fft_length = array<i64: 30>, fft_type = "IRFFT"}
      : (tensor<9x16xcomplex<f32>>) -> tensor<9x30xf32>
  %rc = dtensor.constraint %c : (tensor<9x30xf32>) -> tensor<9x30xf32, #rows>
  %nan = dtensor.cholesky %indefinite : tensor<3x2x2xf32>
  return %rx, %r, %q, %rc, %nan, %f, %zr, %zq : tensor<5x4x3xf64, #batch>, tensor<6x3x3xf32>, tensor<6x5x3xf32>,
      tensor<9x30xf32, #rows>, tensor<3x2x2xf32>, tensor<9x16xcomplex<f32>>, tensor<2x3x2xf64>, tensor<2x3x2xf64>
}
