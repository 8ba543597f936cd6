module @jit_product_of_what_is_whole attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x16x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %arg1: tensor<48x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x16x24xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<8x16x24xf32>, tensor<f32>) -> tensor<8x16xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %cst_0 = stablehlo.constant dense<2.400000e+01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<8x16x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x24xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<8x16x24xf32>
    %6 = stablehlo.reshape %5 : (tensor<8x16x24xf32>) -> tensor<1x8x1x16x1x24xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2, 3, 4, 5] : (tensor<1x8x1x16x1x24xf32>) -> tensor<1x8x1x16x2x24xf32>
    %8 = stablehlo.reshape %7 : (tensor<1x8x1x16x2x24xf32>) -> tensor<8x16x48xf32>
    %9 = sdy.sharding_constraint %8 <@mesh, [{}, {}, {}]> : tensor<8x16x48xf32>
    %10 = stablehlo.dot_general %9, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x48xf32>, tensor<48x24xf32>) -> tensor<8x16x24xf32>
    %11 = stablehlo.tanh %10 : tensor<8x16x24xf32>
    return %11 : tensor<8x16x24xf32>
  }
}
