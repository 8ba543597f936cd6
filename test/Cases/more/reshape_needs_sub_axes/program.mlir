module @jit_reshape_needs_sub_axes attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["model"=8]> {stablehlo.mesh = {axes = [{name = "model", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<64x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> (tensor<16x48xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}) {
    %0 = stablehlo.reshape %arg0 : (tensor<64x12xf32>) -> tensor<4x16x12xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x16x12xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<4x16x12xf32>
    %3 = stablehlo.transpose %2, dims = [1, 0, 2] : (tensor<4x16x12xf32>) -> tensor<16x4x12xf32>
    %4 = stablehlo.reshape %3 : (tensor<16x4x12xf32>) -> tensor<16x48xf32>
    return %4 : tensor<16x48xf32>
  }
}
