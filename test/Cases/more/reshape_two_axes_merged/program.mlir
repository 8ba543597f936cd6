module @jit_reshape_two_axes_merged attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "batch", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}, {}]>}) -> (tensor<128x6xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch", "model"}, {}]>}) {
    %0 = stablehlo.reshape %arg0 : (tensor<8x16x6xf32>) -> tensor<128x6xf32>
    %1 = stablehlo.sine %0 : tensor<128x6xf32>
    return %1 : tensor<128x6xf32>
  }
}
