module @jit_heads_split_and_merge attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x12x16xf32> {mhlo.sharding = "{devices=[8,1,1]<=[8]}"}) -> (tensor<8x12x16xf32> {jax.result_info = "result", mhlo.sharding = "{devices=[8,1,1]<=[8]}"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<8x12x16xf32>) -> tensor<2x4x12x16xf32>
    %1 = stablehlo.exponential %0 : tensor<2x4x12x16xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<2x4x12x16xf32>, tensor<f32>) -> tensor<2x12x16xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 2, 3] : (tensor<2x12x16xf32>) -> tensor<2x1x12x16xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2, 3] : (tensor<2x1x12x16xf32>) -> tensor<2x4x12x16xf32>
    %5 = stablehlo.reshape %4 : (tensor<2x4x12x16xf32>) -> tensor<8x12x16xf32>
    %6 = stablehlo.reshape %0 : (tensor<2x4x12x16xf32>) -> tensor<8x12x16xf32>
    %7 = stablehlo.divide %5, %6 : tensor<8x12x16xf32>
    return %7 : tensor<8x12x16xf32>
  }
}
