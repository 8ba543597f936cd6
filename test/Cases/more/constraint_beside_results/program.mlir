module @jit_forward attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<48xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}, %arg1: tensor<96xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) -> (tensor<192xf32> {jax.result_info = "result[0]"}, tensor<47xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<47xf32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    %0 = stablehlo.concatenate %arg0, %arg0, dim = 0 : (tensor<48xf32>, tensor<48xf32>) -> tensor<96xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}]> : tensor<96xf32>
    %2 = call @cummax(%0) : (tensor<96xf32>) -> tensor<96xf32>
    %3 = stablehlo.multiply %2, %arg1 : tensor<96xf32>
    %4 = stablehlo.tanh %1 : tensor<96xf32>
    %5 = stablehlo.concatenate %4, %1, dim = 0 : (tensor<96xf32>, tensor<96xf32>) -> tensor<192xf32>
    %6 = stablehlo.slice %3 [48:95] : (tensor<96xf32>) -> tensor<47xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<47xf32>, tensor<f32>) -> tensor<f32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %cst_0 = stablehlo.constant dense<4.700000e+01> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %10 = stablehlo.divide %8, %9 : tensor<1xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0] : (tensor<1xf32>) -> tensor<47xf32>
    %12 = stablehlo.subtract %6, %11 : tensor<47xf32>
    %13 = stablehlo.multiply %12, %12 : tensor<47xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.reduce(%13 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<47xf32>, tensor<f32>) -> tensor<f32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %cst_2 = stablehlo.constant dense<4.700000e+01> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %17 = stablehlo.divide %15, %16 : tensor<1xf32>
    %cst_3 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %19 = stablehlo.add %17, %18 : tensor<1xf32>
    %20 = stablehlo.rsqrt %19 : tensor<1xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0] : (tensor<1xf32>) -> tensor<47xf32>
    %22 = stablehlo.multiply %12, %21 : tensor<47xf32>
    return %5, %22, %6 : tensor<192xf32>, tensor<47xf32>, tensor<47xf32>
  }
  func.func private @cummax(%arg0: tensor<96xf32>) -> tensor<96xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1>, padding = dense<[[95, 0]]> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 96>, window_strides = array<i64: 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<96xf32>, tensor<f32>) -> tensor<96xf32>
    return %1 : tensor<96xf32>
  }
}
