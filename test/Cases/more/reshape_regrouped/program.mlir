module @jit_reshape_regrouped attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "batch", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x12x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}, {}]>}) -> (tensor<16x6x6xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch", "model"}, {}, {}]>}) {
    %0 = stablehlo.exponential %arg0 : tensor<8x12x6xf32>
    %1 = stablehlo.reshape %0 : (tensor<8x12x6xf32>) -> tensor<16x6x6xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x6x6xf32>
    %3 = stablehlo.multiply %1, %2 : tensor<16x6x6xf32>
    return %3 : tensor<16x6x6xf32>
  }
}
