// Eigenvalues that are read without their vectors: of batches in lanes, of
// single matrices of any size, and of complex ones, by either triangle.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2>
#batch = #dtensor.layout<#mesh, [x, *, *]>

func.func @main(%small: tensor<10x5x5xf32, #batch>, %moderate: tensor<2x21x21xf32, #batch>, %wide: tensor<19x19xf64>)
    -> (tensor<10x5xf32>, tensor<2x21xf32>, tensor<19xf64>, tensor<2x21xf32>, tensor<19xf64>) {
  %sv, %s = dtensor.eigh %small {lower} : (tensor<10x5x5xf32, #batch>) -> (tensor<10x5x5xf32>, tensor<10x5xf32>)
  %mv, %m = dtensor.eigh %moderate : (tensor<2x21x21xf32, #batch>) -> (tensor<2x21x21xf32>, tensor<2x21xf32>)
  %wv, %w = dtensor.eigh %wide {lower} : (tensor<19x19xf64>) -> (tensor<19x19xf64>, tensor<19xf64>)

  %mt = dtensor.transpose %moderate dims [0, 2, 1] : (tensor<2x21x21xf32, #batch>) -> tensor<2x21x21xf32>
  %mz = dtensor.complex %moderate, %mt : (tensor<2x21x21xf32, #batch>, tensor<2x21x21xf32>) -> tensor<2x21x21xcomplex<f32>>
  %zv, %z = dtensor.eigh %mz {lower} : (tensor<2x21x21xcomplex<f32>>) -> (tensor<2x21x21xcomplex<f32>>, tensor<2x21xf32>)
  %wt = dtensor.transpose %wide dims [1, 0] : (tensor<19x19xf64>) -> tensor<19x19xf64>
  %wz = dtensor.complex %wide, %wt : (tensor<19x19xf64>, tensor<19x19xf64>) -> tensor<19x19xcomplex<f64>>
  %yv, %y = dtensor.eigh %wz : (tensor<19x19xcomplex<f64>>) -> (tensor<19x19xcomplex<f64>>, tensor<19xf64>)
  return %s, %m, %w, %z, %y : tensor<10x5xf32>, tensor<2x21xf32>, tensor<19xf64>, tensor<2x21xf32>, tensor<19xf64>
}
