module @jit_manual_gradient attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<16x6xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0:3 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg1: tensor<2x6xf32>) {
      %2 = stablehlo.tanh %arg1 : tensor<2x6xf32>
      %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
      %4 = stablehlo.subtract %3, %2 : tensor<2x6xf32>
      %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
      %6 = stablehlo.multiply %5, %2 : tensor<2x6xf32>
      sdy.return %2, %4, %6 : tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6xf32>
    } : (tensor<16x6xf32>) -> (tensor<16x6xf32>, tensor<16x6xf32>, tensor<16x6xf32>)
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1 = sdy.manual_computation(%cst, %0#0, %0#1, %0#2) in_shardings=[<@mesh, []>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg1: tensor<f32>, %arg2: tensor<2x6xf32>, %arg3: tensor<2x6xf32>, %arg4: tensor<2x6xf32>) {
      %2 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
      %3 = stablehlo.multiply %2, %arg4 : tensor<2x6xf32>
      %4 = stablehlo.multiply %3, %arg3 : tensor<2x6xf32>
      %5 = stablehlo.multiply %4, %arg2 : tensor<2x6xf32>
      %6 = stablehlo.add %4, %5 : tensor<2x6xf32>
      sdy.return %6 : tensor<2x6xf32>
    } : (tensor<f32>, tensor<16x6xf32>, tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    return %1 : tensor<16x6xf32>
  }
}
