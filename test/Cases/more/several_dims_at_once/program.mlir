module @jit_several_dims_at_once attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<4x8x4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {}, {}]>}, %arg1: tensor<16x8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}, {}]>}, %arg2: tensor<6x9x7x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>}) -> (tensor<4x8x4x6xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"y"}, {"x"}]>}, tensor<16x8x3xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"y", "x"}, {}]>}, tensor<6x7x10xf32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x9x7x10xf32>
    %1 = stablehlo.multiply %arg2, %0 : tensor<6x9x7x10xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{"x"}, {"y"}, {}, {}]> : tensor<6x9x7x10xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{}, {}, {"y"}, {"x"}]> : tensor<6x9x7x10xf32>
    %cst_0 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x8x4x6xf32>
    %5 = stablehlo.multiply %arg0, %4 : tensor<4x8x4x6xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<16x8x3xf32>
    %7 = stablehlo.add %arg1, %6 : tensor<16x8x3xf32>
    %8 = stablehlo.multiply %3, %3 : tensor<6x9x7x10xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%8 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<6x9x7x10xf32>, tensor<f32>) -> tensor<6x7x10xf32>
    return %5, %7, %9 : tensor<4x8x4x6xf32>, tensor<16x8x3xf32>, tensor<6x7x10xf32>
  }
}
