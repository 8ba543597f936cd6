// Products and convolutions take denormal numbers for zeros; other ops keep them,
// also behind a product.
// RUN: mesh-run %s --function=small --output-dir=%t
// RUN: mesh-run %s --function=main --input=%t/result_0.npy --input=%t/result_1.npy | FileCheck %s
// RUN: mesh-run %s --function=main --input=%t/result_0.npy --input=%t/result_1.npy --deterministic | FileCheck %s
// RUN: mesh-run %s --function=main --input=%t/result_0.npy --input=%t/result_1.npy --private-memories | FileCheck %s
#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x, *]>

func.func @small() -> (tensor<4x3xf32>, tensor<3x2xf32>) {
  %0 = dtensor.constant dense<1.0e-39> : tensor<4x3xf32>
  %1 = dtensor.constant dense<1.0> : tensor<3x2xf32>
  return %0, %1 : tensor<4x3xf32>, tensor<3x2xf32>
}

// CHECK: result 0 f32[4, 2] {{.*}} [0, 0, 0, 0, 0, 0, ... 2 more]
// CHECK: result 1 f32[1, 3, 2] {{.*}} [0, 0, 0, 0, 0, 0]
// CHECK: result 2 f32[4, 3] {{.*}} [2e-39, 2e-39, 2e-39, 2e-39, 2e-39, 2e-39, ... 6 more]
func.func @main(%a: tensor<4x3xf32, #rows>, %ones: tensor<3x2xf32>)
    -> (tensor<4x2xf32>, tensor<1x3x2xf32>, tensor<4x3xf32, #rows>) {
  %0 = dtensor.matmul %a, %ones : (tensor<4x3xf32, #rows>, tensor<3x2xf32>) -> tensor<4x2xf32>
  %1 = dtensor.reshape %a : (tensor<4x3xf32, #rows>) -> tensor<1x4x3xf32>
  %2 = dtensor.reshape %ones : (tensor<3x2xf32>) -> tensor<1x3x2xf32>
  %3 = dtensor.concatenate %2, %2 dim 0 : (tensor<1x3x2xf32>, tensor<1x3x2xf32>) -> tensor<2x3x2xf32>
  %4 = dtensor.convolution %1, %3 dims [b, 0, f] x [0, i, o] -> [b, 0, f] : (tensor<1x4x3xf32>, tensor<2x3x2xf32>) -> tensor<1x3x2xf32>
  %5 = dtensor.add %a, %a : tensor<4x3xf32, #rows>
  return %0, %4, %5 : tensor<4x2xf32>, tensor<1x3x2xf32>, tensor<4x3xf32, #rows>
}
