module @jit_wrapped attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<24x20xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<24x20xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, tensor<24x20xf32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = call @_pad(%arg0, %c) : (tensor<24x20xf32>, tensor<i32>) -> tensor<28x24xf32>
    %1 = stablehlo.slice %0 [1:25, 2:22] : (tensor<28x24xf32>) -> tensor<24x20xf32>
    %2 = stablehlo.slice %0 [3:27, 2:22] : (tensor<28x24xf32>) -> tensor<24x20xf32>
    %3 = stablehlo.add %1, %2 : tensor<24x20xf32>
    %4 = stablehlo.slice %0 [2:26, 0:20] : (tensor<28x24xf32>) -> tensor<24x20xf32>
    %5 = stablehlo.add %3, %4 : tensor<24x20xf32>
    %6 = stablehlo.slice %0 [2:26, 4:24] : (tensor<28x24xf32>) -> tensor<24x20xf32>
    %7 = stablehlo.add %5, %6 : tensor<24x20xf32>
    %8 = stablehlo.slice %0 [2:26, 2:22] : (tensor<28x24xf32>) -> tensor<24x20xf32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24x20xf32>
    %10 = stablehlo.multiply %9, %8 : tensor<24x20xf32>
    %11 = stablehlo.subtract %7, %10 : tensor<24x20xf32>
    %12 = stablehlo.slice %0 [1:25, 1:21] : (tensor<28x24xf32>) -> tensor<24x20xf32>
    %13 = stablehlo.slice %0 [4:28, 3:23] : (tensor<28x24xf32>) -> tensor<24x20xf32>
    %14 = stablehlo.multiply %12, %13 : tensor<24x20xf32>
    %15 = stablehlo.slice %0 [3:27, 0:20] : (tensor<28x24xf32>) -> tensor<24x20xf32>
    %16 = stablehlo.subtract %14, %15 : tensor<24x20xf32>
    return %11, %16 : tensor<24x20xf32>, tensor<24x20xf32>
  }
  func.func private @_pad(%arg0: tensor<24x20xf32>, %arg1: tensor<i32>) -> tensor<28x24xf32> {
    %0 = stablehlo.slice %arg0 [22:24, 0:20] : (tensor<24x20xf32>) -> tensor<2x20xf32>
    %1 = stablehlo.slice %arg0 [0:2, 0:20] : (tensor<24x20xf32>) -> tensor<2x20xf32>
    %2 = stablehlo.concatenate %0, %arg0, %1, dim = 0 : (tensor<2x20xf32>, tensor<24x20xf32>, tensor<2x20xf32>) -> tensor<28x20xf32>
    %3 = stablehlo.slice %2 [0:28, 18:20] : (tensor<28x20xf32>) -> tensor<28x2xf32>
    %4 = stablehlo.slice %2 [0:28, 0:2] : (tensor<28x20xf32>) -> tensor<28x2xf32>
    %5 = stablehlo.concatenate %3, %2, %4, dim = 1 : (tensor<28x2xf32>, tensor<28x20xf32>, tensor<28x2xf32>) -> tensor<28x24xf32>
    return %5 : tensor<28x24xf32>
  }
}
