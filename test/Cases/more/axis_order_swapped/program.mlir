module @jit_axis_order_swapped attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 2 : i64}, {name = "b", size = 2 : i64}, {name = "c", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<16x24x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}, {"c"}]>}) -> (tensor<8x24x16xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"c"}, {"b", "a"}, {}]>}) {
    %0 = stablehlo.transpose %arg0, dims = [2, 1, 0] : (tensor<16x24x8xf32>) -> tensor<8x24x16xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x24x16xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<8x24x16xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x24x16xf32>
    %4 = stablehlo.add %2, %3 : tensor<8x24x16xf32>
    return %4 : tensor<8x24x16xf32>
  }
}
