// Singular vectors and eigenvectors of single matrices of 2 to 24 rows: tall and
// wide ones, ones with elements whose squares no number holds, ones of lower
// rank, and ones with equal and opposite eigenvalues.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2>
#batch = #dtensor.layout<#mesh, [x, *, *]>

func.func @main(%tall: tensor<2x17x9xf32, #batch>, %wide: tensor<8x20xf64>, %three: tensor<3x6x6xf64>, %large: tensor<23x23xf32>)
    -> (tensor<2x17x9xf32>, tensor<2x9xf32>, tensor<2x9x9xf32>, tensor<8x8xf64>, tensor<8xf64>, tensor<20x20xf64>,
        tensor<3x6x6xf64>, tensor<3x6xf64>, tensor<3x6xf64>, tensor<23x23xf32>, tensor<23xf32>, tensor<8xf64>, tensor<8xf64>,
        tensor<12x12xf64>, tensor<12xf64>, tensor<11x11xf32>, tensor<11xf32>) {
  %u, %s, %vh = dtensor.svd %tall : (tensor<2x17x9xf32, #batch>) -> (tensor<2x17x9xf32>, tensor<2x9xf32>, tensor<2x9x9xf32>)
  %wu, %ws, %wvh = dtensor.svd %wide {full_matrices} : (tensor<8x20xf64>) -> (tensor<8x8xf64>, tensor<8xf64>, tensor<20x20xf64>)
  %v, %e = dtensor.eigh %three {lower} : (tensor<3x6x6xf64>) -> (tensor<3x6x6xf64>, tensor<3x6xf64>)
  %tu, %ts, %tvh = dtensor.svd %three {only_values} : (tensor<3x6x6xf64>) -> (tensor<3x6x6xf64>, tensor<3x6xf64>, tensor<3x6x6xf64>)
  %lv, %le = dtensor.eigh %large : (tensor<23x23xf32>) -> (tensor<23x23xf32>, tensor<23xf32>)

  // The values of a multiple are multiples.
  %c250 = dtensor.constant dense<1.0e250> : tensor<8x20xf64>
  %up = dtensor.multiply %wide, %c250 : tensor<8x20xf64>
  %uu, %us, %uvh = dtensor.svd %up : (tensor<8x20xf64>) -> (tensor<8x8xf64>, tensor<8xf64>, tensor<8x20xf64>)
  %d250 = dtensor.constant dense<1.0e-250> : tensor<8xf64>
  %us1 = dtensor.multiply %us, %d250 : tensor<8xf64>
  %e250 = dtensor.constant dense<1.0e-250> : tensor<8x20xf64>
  %down = dtensor.multiply %wide, %e250 : tensor<8x20xf64>
  %du, %ds, %dvh = dtensor.svd %down : (tensor<8x20xf64>) -> (tensor<8x8xf64>, tensor<8xf64>, tensor<8x20xf64>)
  %f250 = dtensor.constant dense<1.0e250> : tensor<8xf64>
  %ds1 = dtensor.multiply %ds, %f250 : tensor<8xf64>

  // A matrix of rank 2 is the product of its parts, whichever vectors its other
  // values have.
  %row = dtensor.iota dim 0 : tensor<12x12xf64>
  %column = dtensor.iota dim 1 : tensor<12x12xf64>
  %sum = dtensor.add %row, %column : tensor<12x12xf64>
  %ru, %rs, %rvh = dtensor.svd %sum : (tensor<12x12xf64>) -> (tensor<12x12xf64>, tensor<12xf64>, tensor<12x12xf64>)
  %rsb = dtensor.broadcast_in_dim %rs dims [1] : (tensor<12xf64>) -> tensor<12x12xf64>
  %rus = dtensor.multiply %ru, %rsb : tensor<12x12xf64>
  %product = dtensor.dot_general %rus, %rvh contracting [1] x [0] : (tensor<12x12xf64>, tensor<12x12xf64>) -> tensor<12x12xf64>

  // The matrix that reverses a vector has the eigenvalues 1 and -1.
  %row32 = dtensor.iota dim 0 : tensor<11x11xi32>
  %column32 = dtensor.iota dim 1 : tensor<11x11xi32>
  %places = dtensor.add %row32, %column32 : tensor<11x11xi32>
  %ten = dtensor.constant dense<10> : tensor<11x11xi32>
  %is = dtensor.compare EQ, %places, %ten : (tensor<11x11xi32>, tensor<11x11xi32>) -> tensor<11x11xi1>
  %reversal = dtensor.convert %is : (tensor<11x11xi1>) -> tensor<11x11xf32>
  %xv, %xe = dtensor.eigh %reversal {lower} : (tensor<11x11xf32>) -> (tensor<11x11xf32>, tensor<11xf32>)
  %xeb = dtensor.broadcast_in_dim %xe dims [1] : (tensor<11xf32>) -> tensor<11x11xf32>
  %xve = dtensor.multiply %xv, %xeb : tensor<11x11xf32>
  %again = dtensor.dot_general %xve, %xv contracting [1] x [1] : (tensor<11x11xf32>, tensor<11x11xf32>) -> tensor<11x11xf32>
  return %u, %s, %vh, %wu, %ws, %wvh, %v, %e, %ts, %lv, %le, %us1, %ds1, %product, %rs, %again, %xe :
        tensor<2x17x9xf32>, tensor<2x9xf32>, tensor<2x9x9xf32>, tensor<8x8xf64>, tensor<8xf64>, tensor<20x20xf64>,
        tensor<3x6x6xf64>, tensor<3x6xf64>, tensor<3x6xf64>, tensor<23x23xf32>, tensor<23xf32>, tensor<8xf64>, tensor<8xf64>,
        tensor<12x12xf64>, tensor<12xf64>, tensor<11x11xf32>, tensor<11xf32>
}
