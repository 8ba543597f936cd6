// Complex numbers through products, functions and reductions, sharded unevenly.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2, y = 2>
#rows = #dtensor.layout<#mesh, [x, *]>
#grid = #dtensor.layout<#mesh, [x, y]>

func.func @main(%a: tensor<7x5xcomplex<f32>, #grid>, %b: tensor<5x6xcomplex<f32>>, %c: tensor<7x6xcomplex<f64>, #rows>)
    -> (tensor<7x6xcomplex<f32>>, tensor<6xcomplex<f32>>, tensor<7xcomplex<f64>>, tensor<7x6xf32>, tensor<7x6xi1>, tensor<7x6x2xf32>) {
  %0 = dtensor.matmul %a, %b : (tensor<7x5xcomplex<f32>, #grid>, tensor<5x6xcomplex<f32>>) -> tensor<7x6xcomplex<f32>>
  %1 = dtensor.tanh %0 : tensor<7x6xcomplex<f32>>
  %2 = dtensor.reduce sum %1 dims [0] : (tensor<7x6xcomplex<f32>>) -> tensor<6xcomplex<f32>>
  %3 = dtensor.exp %c : (tensor<7x6xcomplex<f64>, #rows>) -> tensor<7x6xcomplex<f64>>
  %4 = dtensor.divide %3, %c : (tensor<7x6xcomplex<f64>>, tensor<7x6xcomplex<f64>, #rows>) -> tensor<7x6xcomplex<f64>>
  %5 = dtensor.reduce prod %3 dims [1] : (tensor<7x6xcomplex<f64>>) -> tensor<7xcomplex<f64>>
  %6 = dtensor.abs %0 : (tensor<7x6xcomplex<f32>>) -> tensor<7x6xf32>
  %7 = dtensor.compare NE, %3, %4 : (tensor<7x6xcomplex<f64>>, tensor<7x6xcomplex<f64>>) -> tensor<7x6xi1>
  %8 = dtensor.bitcast_convert %0 : (tensor<7x6xcomplex<f32>>) -> tensor<7x6x2xf32>
  return %1, %2, %5, %6, %7, %8 : tensor<7x6xcomplex<f32>>, tensor<6xcomplex<f32>>, tensor<7xcomplex<f64>>, tensor<7x6xf32>, tensor<7x6xi1>, tensor<7x6x2xf32>
}
