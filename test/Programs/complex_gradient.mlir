// Gradients through complex numbers: the loss is a float, what it depends on
// need not be.
// RUN: %verify-gradient
#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>

func.func @main(%a: tensor<6x5xcomplex<f32>, #rows>, %b: tensor<5x3xcomplex<f32>>, %x: tensor<6x3xf32>) -> tensor<f32> {
  %0 = dtensor.matmul %a, %b : (tensor<6x5xcomplex<f32>, #rows>, tensor<5x3xcomplex<f32>>) -> tensor<6x3xcomplex<f32>>
  %1 = dtensor.sine %0 : tensor<6x3xcomplex<f32>>
  %2 = dtensor.convert %x : (tensor<6x3xf32>) -> tensor<6x3xcomplex<f32>>
  %3 = dtensor.multiply %1, %2 : tensor<6x3xcomplex<f32>>
  %4 = dtensor.abs %3 : (tensor<6x3xcomplex<f32>>) -> tensor<6x3xf32>
  %5 = dtensor.imag %3 : (tensor<6x3xcomplex<f32>>) -> tensor<6x3xf32>
  %6 = dtensor.multiply %5, %4 : tensor<6x3xf32>
  %7 = dtensor.reduce sum %6 dims [0, 1] : (tensor<6x3xf32>) -> tensor<f32>
  return %7 : tensor<f32>
}
