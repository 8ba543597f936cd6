// Decompositions of batches of matrices, real and complex, of both precisions:
// each device decomposes its own matrices whole.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2>
#b = #dtensor.layout<#mesh, [x, *, *]>

func.func @main(%a: tensor<8x5x5xf32, #b>, %t: tensor<8x6x4xf32, #b>, %c: tensor<4x5x5xf64>, %w: tensor<4x3x6xf64>)
    -> (
        tensor<8x5x5xf32>, tensor<8x5xi32>, tensor<8x5xi32>, tensor<8x5x5xf32>, tensor<8x5xf32>, tensor<8x6x4xf32>,
        tensor<8x4xf32>, tensor<8x4x4xf32>, tensor<8x6x6xf32>, tensor<8x5xcomplex<f32>>, tensor<8x5x5xcomplex<f32>>,
        tensor<8x5x5xf32>, tensor<8x5x5xf32>, tensor<4x5x5xcomplex<f64>>, tensor<4x5xf64>,
        tensor<4x5x5xcomplex<f64>>, tensor<4x5x5xcomplex<f64>>, tensor<4x5xcomplex<f64>>, tensor<4x5x5xcomplex<f64>>,
        tensor<4x3x3xf64>, tensor<4x6x6xf64>, tensor<4x5x5xf64>, tensor<8x6x4xf32>,
        tensor<8x5xcomplex<f32>>, tensor<8x5x5xcomplex<f32>>, tensor<4x5x5xcomplex<f64>>) {
  %lu, %p, %q = dtensor.lu %a : (tensor<8x5x5xf32, #b>) -> (tensor<8x5x5xf32>, tensor<8x5xi32>, tensor<8x5xi32>)
  %v, %e = dtensor.eigh %a {lower} : (tensor<8x5x5xf32, #b>) -> (tensor<8x5x5xf32>, tensor<8x5xf32>)
  %u, %s, %vh = dtensor.svd %t : (tensor<8x6x4xf32, #b>) -> (tensor<8x6x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>)
  %uf, %sf, %vhf = dtensor.svd %t {full_matrices} : (tensor<8x6x4xf32, #b>) -> (tensor<8x6x6xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>)
  %ew, %ev = dtensor.eig %a : (tensor<8x5x5xf32, #b>) -> (tensor<8x5xcomplex<f32>>, tensor<8x5x5xcomplex<f32>>)
  %st, %sq = dtensor.schur %a : (tensor<8x5x5xf32, #b>) -> (tensor<8x5x5xf32>, tensor<8x5x5xf32>)
  %ci = dtensor.transpose %c dims [0, 2, 1] : (tensor<4x5x5xf64>) -> tensor<4x5x5xf64>
  %z = dtensor.complex %c, %ci : (tensor<4x5x5xf64>, tensor<4x5x5xf64>) -> tensor<4x5x5xcomplex<f64>>
  %zv, %ze = dtensor.eigh %z : (tensor<4x5x5xcomplex<f64>>) -> (tensor<4x5x5xcomplex<f64>>, tensor<4x5xf64>)
  %zu, %zs, %zvh = dtensor.svd %z : (tensor<4x5x5xcomplex<f64>>) -> (tensor<4x5x5xcomplex<f64>>, tensor<4x5xf64>, tensor<4x5x5xcomplex<f64>>)
  %zt, %zq = dtensor.schur %z : (tensor<4x5x5xcomplex<f64>>) -> (tensor<4x5x5xcomplex<f64>>, tensor<4x5x5xcomplex<f64>>)
  %zw, %zx = dtensor.eig %z : (tensor<4x5x5xcomplex<f64>>) -> (tensor<4x5xcomplex<f64>>, tensor<4x5x5xcomplex<f64>>)
  %lw, %lv = dtensor.eig %a {left} : (tensor<8x5x5xf32, #b>) -> (tensor<8x5xcomplex<f32>>, tensor<8x5x5xcomplex<f32>>)
  %zn, %zl = dtensor.eig %z {left} : (tensor<4x5x5xcomplex<f64>>) -> (tensor<4x5xcomplex<f64>>, tensor<4x5x5xcomplex<f64>>)
  %wu, %ws, %wvh = dtensor.svd %w {full_matrices} : (tensor<4x3x6xf64>) -> (tensor<4x3x3xf64>, tensor<4x3xf64>, tensor<4x6x6xf64>)
  %ct, %cq = dtensor.schur %c : (tensor<4x5x5xf64>) -> (tensor<4x5x5xf64>, tensor<4x5x5xf64>)
  %m6 = dtensor.reduce max %t dims [2] : (tensor<8x6x4xf32, #b>) -> tensor<8x6xf32>
  %n6 = dtensor.reduce min %t dims [2] : (tensor<8x6x4xf32, #b>) -> tensor<8x6xf32>
  %td = dtensor.tridiagonal_solve %n6, %m6, %m6, %t : (tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6x4xf32, #b>) -> tensor<8x6x4xf32>
  return %lu, %p, %q, %v, %e, %u, %s, %vh, %uf, %ew, %ev, %st, %sq, %zv, %ze, %zu, %zt, %zw, %zx, %wu, %wvh, %ct, %td, %lw, %lv, %zl :
        tensor<8x5x5xf32>, tensor<8x5xi32>, tensor<8x5xi32>, tensor<8x5x5xf32>, tensor<8x5xf32>, tensor<8x6x4xf32>,
        tensor<8x4xf32>, tensor<8x4x4xf32>, tensor<8x6x6xf32>, tensor<8x5xcomplex<f32>>, tensor<8x5x5xcomplex<f32>>,
        tensor<8x5x5xf32>, tensor<8x5x5xf32>, tensor<4x5x5xcomplex<f64>>, tensor<4x5xf64>,
        tensor<4x5x5xcomplex<f64>>, tensor<4x5x5xcomplex<f64>>, tensor<4x5xcomplex<f64>>, tensor<4x5x5xcomplex<f64>>,
        tensor<4x3x3xf64>, tensor<4x6x6xf64>, tensor<4x5x5xf64>, tensor<8x6x4xf32>,
        tensor<8x5xcomplex<f32>>, tensor<8x5x5xcomplex<f32>>, tensor<4x5x5xcomplex<f64>>
}
