module @jit_reshape_split_and_back attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["model"=8]> {stablehlo.mesh = {axes = [{name = "model", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<64x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> (tensor<64x12xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) {
    %0 = stablehlo.reshape %arg0 : (tensor<64x12xf32>) -> tensor<2x32x12xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [0] : (tensor<2x32x12xf32>, tensor<f32>) -> tensor<32x12xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [1, 2] : (tensor<32x12xf32>) -> tensor<1x32x12xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<1x32x12xf32>) -> tensor<2x32x12xf32>
    %4 = stablehlo.subtract %0, %3 : tensor<2x32x12xf32>
    %5 = stablehlo.exponential %4 : tensor<2x32x12xf32>
    %6 = stablehlo.reshape %5 : (tensor<2x32x12xf32>) -> tensor<64x12xf32>
    return %6 : tensor<64x12xf32>
  }
}
