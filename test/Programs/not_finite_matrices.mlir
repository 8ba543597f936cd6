// Of a matrix with a nan or an infinity every decomposition gives nans, but lu,
// which goes on as far as the backend does; the next matrix of the batch is
// decomposed. What is not read may be anything.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2>
#b = #dtensor.layout<#mesh, [x, *, *]>

func.func @main(%good: tensor<2x3x3xf32, #b>)
    -> (
        tensor<4x3x3xf32>, tensor<4x3xf32>, tensor<4x3x3xf32>, tensor<4x3x3xf32>, tensor<4x3xi32>, tensor<4x3xf32>,
        tensor<4x3x3xf32>, tensor<4x2xf32>, tensor<2x3x3xf32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<4x3x3xf32>,
        tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xcomplex<f32>>, tensor<4x3x3xf32>, tensor<1x2x2xf32>, tensor<1x2x2xf32>) {
  %bad = dtensor.constant dense<[[[1.0, 2.0, 3.0], [4.0, 0x7FC00000, 6.0], [7.0, 8.0, 1.0]],
                                 [[1.0, 2.0, 0x7F800000], [4.0, 5.0, 6.0], [7.0, 8.0, 1.0]]]> : tensor<2x3x3xf32>
  %a = dtensor.concatenate %bad, %good dim 0 : (tensor<2x3x3xf32>, tensor<2x3x3xf32, #b>) -> tensor<4x3x3xf32>
  %qr, %taus = dtensor.geqrf %a : (tensor<4x3x3xf32>) -> (tensor<4x3x3xf32>, tensor<4x3xf32>)
  %q = dtensor.householder_product %qr, %taus : (tensor<4x3x3xf32>, tensor<4x3xf32>) -> tensor<4x3x3xf32>
  %pqr, %order, %ptaus = dtensor.pivoted_qr %a : (tensor<4x3x3xf32>) -> (tensor<4x3x3xf32>, tensor<4x3xi32>, tensor<4x3xf32>)
  %h, %htaus = dtensor.hessenberg %a : (tensor<4x3x3xf32>) -> (tensor<4x3x3xf32>, tensor<4x2xf32>)
  %lu, %pivots, %permutation = dtensor.lu %a : (tensor<4x3x3xf32>) -> (tensor<4x3x3xf32>, tensor<4x3xi32>, tensor<4x3xi32>)
  %glu = dtensor.slice %lu [2:4, 0:3, 0:3] : (tensor<4x3x3xf32>) -> tensor<2x3x3xf32>
  %gpivots = dtensor.slice %pivots [2:4, 0:3] : (tensor<4x3xi32>) -> tensor<2x3xi32>
  %gpermutation = dtensor.slice %permutation [2:4, 0:3] : (tensor<4x3xi32>) -> tensor<2x3xi32>
  %v, %w = dtensor.eigh %a : (tensor<4x3x3xf32>) -> (tensor<4x3x3xf32>, tensor<4x3xf32>)
  %u, %s, %vh = dtensor.svd %a : (tensor<4x3x3xf32>) -> (tensor<4x3x3xf32>, tensor<4x3xf32>, tensor<4x3x3xf32>)
  %values, %vectors = dtensor.eig %a : (tensor<4x3x3xf32>) -> (tensor<4x3xcomplex<f32>>, tensor<4x3x3xcomplex<f32>>)
  %t, %z = dtensor.schur %a : (tensor<4x3x3xf32>) -> (tensor<4x3x3xf32>, tensor<4x3x3xf32>)
  %infinite = dtensor.constant dense<[[[0x7F800000, 1.0], [0.0, 1.0]]]> : tensor<1x2x2xf32>
  %l = dtensor.cholesky %infinite {lower} : tensor<1x2x2xf32>
  %unread = dtensor.constant dense<[[[4.0, 0x7FC00000], [2.0, 2.0]]]> : tensor<1x2x2xf32>
  %r = dtensor.cholesky %unread {lower} : tensor<1x2x2xf32>
  return %qr, %taus, %q, %pqr, %order, %ptaus, %h, %htaus, %glu, %gpivots, %gpermutation, %v, %w, %s, %values, %t, %l, %r
    : tensor<4x3x3xf32>, tensor<4x3xf32>, tensor<4x3x3xf32>, tensor<4x3x3xf32>, tensor<4x3xi32>, tensor<4x3xf32>,
      tensor<4x3x3xf32>, tensor<4x2xf32>, tensor<2x3x3xf32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<4x3x3xf32>,
      tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xcomplex<f32>>, tensor<4x3x3xf32>, tensor<1x2x2xf32>, tensor<1x2x2xf32>
}
