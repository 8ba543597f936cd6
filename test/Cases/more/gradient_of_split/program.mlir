module @jit_gradient_of_split attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["model"=8]> {stablehlo.mesh = {axes = [{name = "model", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<16x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg1: tensor<16x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> (tensor<16x24xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) {
    %0 = stablehlo.reshape %arg0 : (tensor<16x24xf32>) -> tensor<4x4x24xf32>
    %1 = stablehlo.tanh %0 : tensor<4x4x24xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x4x24xf32>
    %3 = stablehlo.subtract %2, %1 : tensor<4x4x24xf32>
    %4 = stablehlo.reshape %arg1 : (tensor<16x24xf32>) -> tensor<4x4x24xf32>
    %5 = stablehlo.transpose %4, dims = [1, 0, 2] : (tensor<4x4x24xf32>) -> tensor<4x4x24xf32>
    %6 = stablehlo.multiply %5, %3 : tensor<4x4x24xf32>
    %7 = stablehlo.multiply %6, %1 : tensor<4x4x24xf32>
    %8 = stablehlo.add %6, %7 : tensor<4x4x24xf32>
    %9 = stablehlo.reshape %8 : (tensor<4x4x24xf32>) -> tensor<16x24xf32>
    return %9 : tensor<16x24xf32>
  }
}
