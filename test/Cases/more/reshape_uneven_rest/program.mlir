module @jit_reshape_uneven_rest attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["model"=8]> {stablehlo.mesh = {axes = [{name = "model", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<30x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}) -> (tensor<30x16xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}) {
    %0 = stablehlo.reshape %arg0 : (tensor<30x16xf32>) -> tensor<30x2x8xf32>
    %1 = stablehlo.exponential %0 : tensor<30x2x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<30x2x8xf32>, tensor<f32>) -> tensor<30x8xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 2] : (tensor<30x8xf32>) -> tensor<30x1x8xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<30x1x8xf32>) -> tensor<30x2x8xf32>
    %5 = stablehlo.divide %1, %4 : tensor<30x2x8xf32>
    %6 = stablehlo.reshape %5 : (tensor<30x2x8xf32>) -> tensor<30x16xf32>
    return %6 : tensor<30x16xf32>
  }
}
