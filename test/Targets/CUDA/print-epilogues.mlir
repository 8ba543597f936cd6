// RUN: mesh-opt --target=cuda %s | FileCheck %s

// A bias behind a product, and gelu in its form with tanh, which is recognised
// by its values: here it is x / (2 / (1 + tanh(..))). cuBLASLt's relu turns nans
// into zeros, and its gelu is not the one with erf: both stay kernels.
// CHECK-COUNT-6: // kernel kernel_
// The gradient of a bias is the sum of an array; another reduction is none.
// CHECK: // epilogue kernel_{{[0-9a-f]+}} bias result 2 terms 0,1
// CHECK-NEXT: // epilogue kernel_{{[0-9a-f]+}} gelu result 1 terms 0
// CHECK-NEXT: // epilogue kernel_{{[0-9a-f]+}} bias_gradient result 1 terms 0
// CHECK-NOT: // epilogue
func.func @f(%x: tensor<8x8xf32>, %b: tensor<8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = dtensor.matmul %x, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = dtensor.broadcast_in_dim %b dims [1] : (tensor<8xf32>) -> tensor<8x8xf32>
  %2 = dtensor.add %0, %1 : tensor<8x8xf32>
  %3 = dtensor.matmul %2, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %slope = dtensor.constant dense<0.797884583> : tensor<8x8xf32>
  %cubic = dtensor.constant dense<0.0356774069> : tensor<8x8xf32>
  %one = dtensor.constant dense<1.0> : tensor<8x8xf32>
  %two = dtensor.constant dense<2.0> : tensor<8x8xf32>
  %4 = dtensor.multiply %3, %3 : tensor<8x8xf32>
  %5 = dtensor.multiply %4, %cubic : tensor<8x8xf32>
  %6 = dtensor.add %5, %slope : tensor<8x8xf32>
  %7 = dtensor.multiply %6, %3 : tensor<8x8xf32>
  %8 = dtensor.tanh %7 : tensor<8x8xf32>
  %9 = dtensor.add %8, %one : tensor<8x8xf32>
  %10 = dtensor.divide %two, %9 : tensor<8x8xf32>
  %11 = dtensor.divide %3, %10 : tensor<8x8xf32>
  %12 = dtensor.matmul %11, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %zero = dtensor.constant dense<0.0> : tensor<8x8xf32>
  %13 = dtensor.maximum %12, %zero : tensor<8x8xf32>
  %14 = dtensor.matmul %13, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %15 = dtensor.erf %14 : tensor<8x8xf32>
  %16 = dtensor.add %15, %one : tensor<8x8xf32>
  %17 = dtensor.multiply %14, %16 : tensor<8x8xf32>
  %18 = dtensor.reduce sum %17 dims [0] : (tensor<8x8xf32>) -> tensor<8xf32>
  %19 = dtensor.reduce max %x dims [0] : (tensor<8x8xf32>) -> tensor<8xf32>
  return %17, %18, %19 : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
}
