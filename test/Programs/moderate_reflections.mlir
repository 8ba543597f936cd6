// QR factorizations of matrices of moderate size: tall and wide ones, ones with
// elements whose squares no number holds, and ones with columns of zeros.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2>
#batch = #dtensor.layout<#mesh, [x, *, *]>

func.func @main(%tall: tensor<2x19x17xf32, #batch>, %wide: tensor<9x21xf64>)
    -> (tensor<2x19x17xf32, #batch>, tensor<2x19x17xf32, #batch>, tensor<9x21xf64>, tensor<9x9xf64>,
        tensor<9x21xf64>, tensor<9x21xf64>, tensor<19x17xf32>) {
  %qr, %taus = dtensor.geqrf %tall : (tensor<2x19x17xf32, #batch>) -> (tensor<2x19x17xf32, #batch>, tensor<2x17xf32>)
  %q = dtensor.householder_product %qr, %taus : (tensor<2x19x17xf32, #batch>, tensor<2x17xf32>) -> tensor<2x19x17xf32, #batch>

  %wr, %wtaus = dtensor.geqrf %wide : (tensor<9x21xf64>) -> (tensor<9x21xf64>, tensor<9xf64>)
  %square = dtensor.slice %wr [0:9, 0:9] : (tensor<9x21xf64>) -> tensor<9x9xf64>
  %three = dtensor.slice %wtaus [0:3] : (tensor<9xf64>) -> tensor<3xf64>
  %wq = dtensor.householder_product %square, %three : (tensor<9x9xf64>, tensor<3xf64>) -> tensor<9x9xf64>

  // The factor of a multiple is the multiple.
  %large = dtensor.constant dense<1.0e250> : tensor<9x21xf64>
  %small = dtensor.constant dense<1.0e-250> : tensor<9x21xf64>
  %up = dtensor.multiply %wide, %large : tensor<9x21xf64>
  %ur, %utaus = dtensor.geqrf %up : (tensor<9x21xf64>) -> (tensor<9x21xf64>, tensor<9xf64>)
  %u = dtensor.multiply %ur, %small : tensor<9x21xf64>
  %down = dtensor.multiply %wide, %small : tensor<9x21xf64>
  %dr, %dtaus = dtensor.geqrf %down : (tensor<9x21xf64>) -> (tensor<9x21xf64>, tensor<9xf64>)
  %d = dtensor.multiply %dr, %large : tensor<9x21xf64>

  // Every third column is zero below the diagonal, and the last ones are zeros.
  %row = dtensor.iota dim 0 : tensor<19x17xi32>
  %column = dtensor.iota dim 1 : tensor<19x17xi32>
  %c3 = dtensor.constant dense<3> : tensor<19x17xi32>
  %c12 = dtensor.constant dense<12> : tensor<19x17xi32>
  %i0 = dtensor.constant dense<0> : tensor<19x17xi32>
  %rest = dtensor.remainder %column, %c3 : tensor<19x17xi32>
  %third = dtensor.compare EQ, %rest, %i0 : (tensor<19x17xi32>, tensor<19x17xi32>) -> tensor<19x17xi1>
  %below = dtensor.compare GT, %row, %column : (tensor<19x17xi32>, tensor<19x17xi32>) -> tensor<19x17xi1>
  %last = dtensor.compare GT, %column, %c12 : (tensor<19x17xi32>, tensor<19x17xi32>) -> tensor<19x17xi1>
  %and = dtensor.and %third, %below : tensor<19x17xi1>
  %none = dtensor.or %and, %last : tensor<19x17xi1>
  %one = dtensor.slice %tall [0:1, 0:19, 0:17] : (tensor<2x19x17xf32, #batch>) -> tensor<1x19x17xf32>
  %matrix = dtensor.reshape %one : (tensor<1x19x17xf32>) -> tensor<19x17xf32>
  %zeros = dtensor.constant dense<0.0> : tensor<19x17xf32>
  %sparse = dtensor.select %none, %zeros, %matrix : (tensor<19x17xi1>, tensor<19x17xf32>, tensor<19x17xf32>) -> tensor<19x17xf32>
  %sr, %staus = dtensor.geqrf %sparse : (tensor<19x17xf32>) -> (tensor<19x17xf32>, tensor<17xf32>)
  return %qr, %q, %wr, %wq, %u, %d, %sr : tensor<2x19x17xf32, #batch>, tensor<2x19x17xf32, #batch>, tensor<9x21xf64>,
      tensor<9x9xf64>, tensor<9x21xf64>, tensor<9x21xf64>, tensor<19x17xf32>
}
