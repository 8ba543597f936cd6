// Layer norm with its features sharded and uneven, and its gradient.
// RUN: %verify-gradient
#mesh = #dtensor.mesh<data = 2, model = 4>
#x = #dtensor.layout<#mesh, [data, model]>
#g = #dtensor.layout<#mesh, [model]>

func.func @main(%x: tensor<5x10xf32, #x>, %scale: tensor<10xf32, #g>, %shift: tensor<10xf32, #g>) -> tensor<f32> {
  %n = dtensor.constant dense<10.0> : tensor<5xf32>
  %0 = dtensor.reduce sum %x dims [1] : (tensor<5x10xf32, #x>) -> tensor<5xf32>
  %mean = dtensor.divide %0, %n : tensor<5xf32>
  %1 = dtensor.broadcast_in_dim %mean dims [0] : (tensor<5xf32>) -> tensor<5x10xf32>
  %2 = dtensor.subtract %x, %1 : (tensor<5x10xf32, #x>, tensor<5x10xf32>) -> tensor<5x10xf32>
  %3 = dtensor.multiply %2, %2 : tensor<5x10xf32>
  %4 = dtensor.reduce sum %3 dims [1] : (tensor<5x10xf32>) -> tensor<5xf32>
  %variance = dtensor.divide %4, %n : tensor<5xf32>
  %eps = dtensor.constant dense<1.0e-5> : tensor<5xf32>
  %5 = dtensor.add %variance, %eps : tensor<5xf32>
  %6 = dtensor.rsqrt %5 : tensor<5xf32>
  %7 = dtensor.broadcast_in_dim %6 dims [0] : (tensor<5xf32>) -> tensor<5x10xf32>
  %8 = dtensor.multiply %2, %7 : tensor<5x10xf32>
  %9 = dtensor.broadcast_in_dim %scale dims [1] : (tensor<10xf32, #g>) -> tensor<5x10xf32>
  %10 = dtensor.multiply %8, %9 : tensor<5x10xf32>
  %11 = dtensor.broadcast_in_dim %shift dims [1] : (tensor<10xf32, #g>) -> tensor<5x10xf32>
  %12 = dtensor.add %10, %11 : tensor<5x10xf32>
  %13 = dtensor.tanh %12 : tensor<5x10xf32>
  %14 = dtensor.reduce sum %13 dims [0, 1] : (tensor<5x10xf32>) -> tensor<f32>
  return %14 : tensor<f32>
}
