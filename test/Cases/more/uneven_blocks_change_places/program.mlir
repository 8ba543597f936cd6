module @jit_whole attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<10x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg1: tensor<11xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg2: tensor<2x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg3: tensor<13x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg4: tensor<13x12x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) -> (tensor<10x6xf32> {jax.result_info = "result[0]"}, tensor<11xf32> {jax.result_info = "result[1]"}, tensor<2x1xf32> {jax.result_info = "result[2]"}, tensor<13x4xf32> {jax.result_info = "result[3]"}, tensor<13x12x2xf32> {jax.result_info = "result[4]"}) {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {"y"}]> : tensor<10x6xf32>
    %1 = stablehlo.sine %0 : tensor<10x6xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{"y"}, {"x"}]> : tensor<10x6xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<10x6xf32>
    %5 = sdy.sharding_constraint %arg1 <@mesh, [{"y"}]> : tensor<11xf32>
    %6 = stablehlo.sine %5 : tensor<11xf32>
    %7 = sdy.sharding_constraint %6 <@mesh, [{"x"}]> : tensor<11xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<11xf32>
    %9 = stablehlo.multiply %7, %8 : tensor<11xf32>
    %10 = sdy.sharding_constraint %arg2 <@mesh, [{"x"}, {}]> : tensor<2x1xf32>
    %11 = stablehlo.sine %10 : tensor<2x1xf32>
    %12 = sdy.sharding_constraint %11 <@mesh, [{"y"}, {}]> : tensor<2x1xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
    %14 = stablehlo.multiply %12, %13 : tensor<2x1xf32>
    %15 = sdy.sharding_constraint %arg3 <@mesh, [{"y", "x"}, {}]> : tensor<13x4xf32>
    %16 = stablehlo.sine %15 : tensor<13x4xf32>
    %17 = sdy.sharding_constraint %16 <@mesh, [{"x"}, {"y"}]> : tensor<13x4xf32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<13x4xf32>
    %19 = stablehlo.multiply %17, %18 : tensor<13x4xf32>
    %20 = sdy.sharding_constraint %arg4 <@mesh, [{}, {"y"}, {}]> : tensor<13x12x2xf32>
    %21 = stablehlo.sine %20 : tensor<13x12x2xf32>
    %22 = sdy.sharding_constraint %21 <@mesh, [{}, {"x"}, {}]> : tensor<13x12x2xf32>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<13x12x2xf32>
    %24 = stablehlo.multiply %22, %23 : tensor<13x12x2xf32>
    return %4, %9, %14, %19, %24 : tensor<10x6xf32>, tensor<11xf32>, tensor<2x1xf32>, tensor<13x4xf32>, tensor<13x12x2xf32>
  }
}
