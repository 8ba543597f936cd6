module @jit_reverse_sharded_dim attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=8]> {stablehlo.mesh = {axes = [{name = "batch", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<64x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) -> (tensor<64x10xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) {
    %0 = stablehlo.reverse %arg0, dims = [0] : tensor<64x10xf32>
    %1 = stablehlo.subtract %0, %arg0 : tensor<64x10xf32>
    return %1 : tensor<64x10xf32>
  }
}
