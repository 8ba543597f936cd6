module @jit_reshape_split_two_axes attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "batch", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<64x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch", "model"}, {}]>}) -> (tensor<2x32x12xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}, {}]>}) {
    %0 = stablehlo.reshape %arg0 : (tensor<64x12xf32>) -> tensor<2x32x12xf32>
    %1 = stablehlo.cosine %0 : tensor<2x32x12xf32>
    return %1 : tensor<2x32x12xf32>
  }
}
