module @jit_reshape_three_ways attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["model"=8]> {stablehlo.mesh = {axes = [{name = "model", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<64x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> (tensor<64x12xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) {
    %0 = stablehlo.reshape %arg0 : (tensor<64x12xf32>) -> tensor<2x32x12xf32>
    %1 = stablehlo.tanh %0 : tensor<2x32x12xf32>
    %2 = stablehlo.reshape %1 : (tensor<2x32x12xf32>) -> tensor<2x2x16x12xf32>
    %3 = stablehlo.reshape %arg0 : (tensor<64x12xf32>) -> tensor<4x16x12xf32>
    %4 = stablehlo.reshape %3 : (tensor<4x16x12xf32>) -> tensor<2x2x16x12xf32>
    %5 = stablehlo.add %2, %4 : tensor<2x2x16x12xf32>
    %6 = stablehlo.reshape %5 : (tensor<2x2x16x12xf32>) -> tensor<64x12xf32>
    return %6 : tensor<64x12xf32>
  }
}
