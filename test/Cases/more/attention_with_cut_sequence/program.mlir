module @jit_forward attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<4x64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %arg1: tensor<32x96xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<4x64x32xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x64x32xf32>, tensor<32x96xf32>) -> tensor<4x64x96xf32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x64x96xf32>
    %2 = stablehlo.divide %0, %1 : tensor<4x64x96xf32>
    %3 = stablehlo.slice %2 [0:4, 0:64, 0:32] : (tensor<4x64x96xf32>) -> tensor<4x64x32xf32>
    %4 = stablehlo.slice %2 [0:4, 0:64, 32:64] : (tensor<4x64x96xf32>) -> tensor<4x64x32xf32>
    %5 = stablehlo.slice %2 [0:4, 0:64, 64:96] : (tensor<4x64x96xf32>) -> tensor<4x64x32xf32>
    %6 = stablehlo.reshape %3 : (tensor<4x64x32xf32>) -> tensor<4x64x8x4xf32>
    %7 = stablehlo.reshape %4 : (tensor<4x64x32xf32>) -> tensor<4x64x8x4xf32>
    %8 = stablehlo.reshape %5 : (tensor<4x64x32xf32>) -> tensor<4x64x8x4xf32>
    %9 = stablehlo.dot_general %6, %7, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x4xf32>, tensor<4x64x8x4xf32>) -> tensor<4x8x64x64xf32>
    %cst_0 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x8x64x64xf32>
    %11 = stablehlo.multiply %9, %10 : tensor<4x8x64x64xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<4x8x64x64xf32>, tensor<f32>) -> tensor<4x8x64xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x8x64xf32>
    %14 = stablehlo.maximum %13, %12 : tensor<4x8x64xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<4x8x64xf32>) -> tensor<4x8x64x1xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<4x8x64x1xf32>) -> tensor<4x8x64x64xf32>
    %17 = stablehlo.subtract %11, %16 : tensor<4x8x64x64xf32>
    %18 = stablehlo.exponential %17 : tensor<4x8x64x64xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.reduce(%18 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<4x8x64x64xf32>, tensor<f32>) -> tensor<4x8x64xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<4x8x64xf32>) -> tensor<4x8x64x1xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<4x8x64x1xf32>) -> tensor<4x8x64x64xf32>
    %22 = stablehlo.divide %18, %21 : tensor<4x8x64x64xf32>
    %23 = stablehlo.dot_general %8, %22, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x4xf32>, tensor<4x8x64x64xf32>) -> tensor<4x8x4x64xf32>
    %24 = stablehlo.transpose %23, dims = [0, 3, 1, 2] : (tensor<4x8x4x64xf32>) -> tensor<4x64x8x4xf32>
    %25 = stablehlo.reshape %24 : (tensor<4x64x8x4xf32>) -> tensor<4x64x32xf32>
    return %25 : tensor<4x64x32xf32>
  }
}
