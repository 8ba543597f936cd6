module @jit_three_axes_at_once attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 2 : i64}, {name = "z", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<4x2x4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}, {}, {}]>}, %arg1: tensor<9x5x7x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>}) -> (tensor<4x2x4x6xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"z", "x"}, {"y"}]>}, tensor<5x7x3xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) {
    %cst = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<9x5x7x3xf32>
    %1 = stablehlo.multiply %arg1, %0 : tensor<9x5x7x3xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{"z"}, {"y", "x"}, {}, {}]> : tensor<9x5x7x3xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{}, {}, {"x", "z"}, {"y"}]> : tensor<9x5x7x3xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x2x4x6xf32>
    %5 = stablehlo.multiply %arg0, %4 : tensor<4x2x4x6xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.reduce(%3 init: %cst_1) applies stablehlo.maximum across dimensions = [0] : (tensor<9x5x7x3xf32>, tensor<f32>) -> tensor<5x7x3xf32>
    return %5, %6 : tensor<4x2x4x6xf32>, tensor<5x7x3xf32>
  }
}
