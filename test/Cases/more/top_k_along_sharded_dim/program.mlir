module @jit_top_k_along_sharded_dim attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["model"=8]> {stablehlo.mesh = {axes = [{name = "model", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<8x1000xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}) -> (tensor<8x7xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<8x7xi32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %values, %indices = chlo.top_k(%arg0, k = 7) : tensor<8x1000xf32> -> (tensor<8x7xf32>, tensor<8x7xi32>)
    return %values, %indices : tensor<8x7xf32>, tensor<8x7xi32>
  }
}
