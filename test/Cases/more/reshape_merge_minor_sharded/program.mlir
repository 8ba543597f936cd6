module @jit_reshape_merge_minor_sharded attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["model"=8]> {stablehlo.mesh = {axes = [{name = "model", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<4x16x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}) -> (tensor<64x12xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) {
    %0 = stablehlo.reshape %arg0 : (tensor<4x16x12xf32>) -> tensor<64x12xf32>
    %1 = stablehlo.sine %0 : tensor<64x12xf32>
    return %1 : tensor<64x12xf32>
  }
}
