module @jit_reshape_split_six attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<48x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch", "model"}, {}]>}) -> (tensor<48x10xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch", "model"}, {}]>}) {
    %0 = stablehlo.reshape %arg0 : (tensor<48x10xf32>) -> tensor<6x8x10xf32>
    %1 = stablehlo.tanh %0 : tensor<6x8x10xf32>
    %2 = stablehlo.reshape %1 : (tensor<6x8x10xf32>) -> tensor<48x10xf32>
    %3 = stablehlo.add %2, %arg0 : tensor<48x10xf32>
    return %3 : tensor<48x10xf32>
  }
}
