module @jit_reshape_split_three_axes attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 2 : i64}, {name = "b", size = 2 : i64}, {name = "c", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<16x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b", "c"}, {}]>}) -> (tensor<8x48xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"c"}, {"a", "b"}]>}) {
    %0 = stablehlo.reshape %arg0 : (tensor<16x24xf32>) -> tensor<2x8x24xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x24xf32>
    %2 = stablehlo.add %0, %1 : tensor<2x8x24xf32>
    %3 = stablehlo.transpose %2, dims = [1, 0, 2] : (tensor<2x8x24xf32>) -> tensor<8x2x24xf32>
    %4 = stablehlo.reshape %3 : (tensor<8x2x24xf32>) -> tensor<8x48xf32>
    return %4 : tensor<8x48xf32>
  }
}
