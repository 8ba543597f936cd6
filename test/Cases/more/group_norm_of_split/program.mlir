module @jit_group_norm_of_split attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["model"=8]> {stablehlo.mesh = {axes = [{name = "model", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg1: tensor<4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<32x64xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}) {
    %0 = stablehlo.reshape %arg0 : (tensor<32x64xf32>) -> tensor<32x4x16xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<32x4x16xf32>, tensor<f32>) -> tensor<32x4xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<32x4xf32>) -> tensor<32x4x1xf32>
    %cst_0 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<32x4x1xf32>
    %4 = stablehlo.divide %2, %3 : tensor<32x4x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2] : (tensor<32x4x1xf32>) -> tensor<32x4x16xf32>
    %6 = stablehlo.subtract %0, %5 : tensor<32x4x16xf32>
    %7 = stablehlo.multiply %6, %6 : tensor<32x4x16xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<32x4x16xf32>, tensor<f32>) -> tensor<32x4xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<32x4xf32>) -> tensor<32x4x1xf32>
    %cst_2 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<32x4x1xf32>
    %11 = stablehlo.divide %9, %10 : tensor<32x4x1xf32>
    %12 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2] : (tensor<32x4x1xf32>) -> tensor<32x4x16xf32>
    %13 = stablehlo.subtract %0, %12 : tensor<32x4x16xf32>
    %cst_3 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<32x4x1xf32>
    %15 = stablehlo.add %11, %14 : tensor<32x4x1xf32>
    %16 = stablehlo.rsqrt %15 : tensor<32x4x1xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<32x4x1xf32>) -> tensor<32x4x16xf32>
    %18 = stablehlo.multiply %13, %17 : tensor<32x4x16xf32>
    %19 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<4x16xf32>) -> tensor<1x4x16xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<1x4x16xf32>) -> tensor<32x4x16xf32>
    %21 = stablehlo.multiply %18, %20 : tensor<32x4x16xf32>
    %22 = stablehlo.reshape %21 : (tensor<32x4x16xf32>) -> tensor<32x64xf32>
    return %22 : tensor<32x64xf32>
  }
}
