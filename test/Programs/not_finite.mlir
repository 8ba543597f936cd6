// nan and inf stay where they belong, through maxima, sums and comparisons.
// RUN: %verify
#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>

func.func @main(%a: tensor<6x7xf32, #rows>)
    -> (tensor<6x7xf32>, tensor<6x7xf32>, tensor<7xf32>, tensor<6xf32>, tensor<6x7xi1>, tensor<6x7xi1>, tensor<6xi32>, tensor<7xi64>, tensor<6x7xf32>) {
  %0 = dtensor.log %a : (tensor<6x7xf32, #rows>) -> tensor<6x7xf32>
  %zero = dtensor.constant dense<0.0> : tensor<6x7xf32>
  %1 = dtensor.divide %a, %zero : (tensor<6x7xf32, #rows>, tensor<6x7xf32>) -> tensor<6x7xf32>
  %2 = dtensor.maximum %0, %1 : tensor<6x7xf32>
  %3 = dtensor.reduce max %0 dims [0] : (tensor<6x7xf32>) -> tensor<7xf32>
  %4 = dtensor.reduce sum %1 dims [1] : (tensor<6x7xf32>) -> tensor<6xf32>
  %5 = dtensor.is_finite %2 : (tensor<6x7xf32>) -> tensor<6x7xi1>
  %6 = dtensor.compare GE, %0, %1 : (tensor<6x7xf32>, tensor<6x7xf32>) -> tensor<6x7xi1>
  %7 = dtensor.argmax %0 dim 1 : (tensor<6x7xf32>) -> tensor<6xi32>
  %8 = dtensor.argmin %1 dim 0 : (tensor<6x7xf32>) -> tensor<7xi64>
  %9 = dtensor.minimum %zero, %0 : tensor<6x7xf32>
  return %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<6x7xf32>, tensor<6x7xf32>, tensor<7xf32>, tensor<6xf32>,
      tensor<6x7xi1>, tensor<6x7xi1>, tensor<6xi32>, tensor<7xi64>, tensor<6x7xf32>
}
