module @jit_reducers_with_init attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<16x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<16xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.multiply across dimensions = [1] : (tensor<16x10xf32>, tensor<f32>) -> tensor<16xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16x10xf32>
    %2 = stablehlo.multiply %arg0, %1 : tensor<16x10xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %3:2 = stablehlo.reduce(%arg0 init: %cst_1), (%2 init: %cst_2) across dimensions = [1] : (tensor<16x10xf32>, tensor<16x10xf32>, tensor<f32>, tensor<f32>) -> (tensor<16xf32>, tensor<16xf32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<f32>, %arg4: tensor<f32>)  {
      %6 = stablehlo.add %arg1, %arg3 : tensor<f32>
      %7 = stablehlo.multiply %arg2, %arg4 : tensor<f32>
      stablehlo.return %6, %7 : tensor<f32>, tensor<f32>
    }
    %4 = stablehlo.add %0, %3#0 : tensor<16xf32>
    %5 = stablehlo.add %4, %3#1 : tensor<16xf32>
    return %5 : tensor<16xf32>
  }
}
