module @jit_forward attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<2x32x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}, %arg1: tensor<2x32x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}, %arg2: tensor<2x32x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}) -> (tensor<2x32x8x4xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}) {
    %0 = sdy.manual_computation(%arg0, %arg1, %arg2) in_shardings=[<@mesh, [{}, {"x"}, {}, {}]>, <@mesh, [{}, {"x"}, {}, {}]>, <@mesh, [{}, {"x"}, {}, {}]>] out_shardings=[<@mesh, [{}, {"x"}, {}, {}]>] manual_axes={"x"} (%arg3: tensor<2x4x8x4xf32>, %arg4: tensor<2x4x8x4xf32>, %arg5: tensor<2x4x8x4xf32>) {
      %1 = "stablehlo.all_to_all"(%arg3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 1 : i64, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, split_count = 8 : i64, split_dimension = 2 : i64}> : (tensor<2x4x8x4xf32>) -> tensor<2x32x1x4xf32>
      %2 = "stablehlo.all_to_all"(%arg4) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 1 : i64, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, split_count = 8 : i64, split_dimension = 2 : i64}> : (tensor<2x4x8x4xf32>) -> tensor<2x32x1x4xf32>
      %3 = "stablehlo.all_to_all"(%arg5) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 1 : i64, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, split_count = 8 : i64, split_dimension = 2 : i64}> : (tensor<2x4x8x4xf32>) -> tensor<2x32x1x4xf32>
      %4 = stablehlo.dot_general %1, %2, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x32x1x4xf32>, tensor<2x32x1x4xf32>) -> tensor<2x1x32x32xf32>
      %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
      %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x1x32x32xf32>
      %6 = stablehlo.multiply %4, %5 : tensor<2x1x32x32xf32>
      %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %7 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x1x32x32xf32>, tensor<f32>) -> tensor<2x1x32xf32>
      %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x1x32xf32>
      %9 = stablehlo.maximum %8, %7 : tensor<2x1x32xf32>
      %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<2x1x32xf32>) -> tensor<2x1x32x1xf32>
      %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2, 3] : (tensor<2x1x32x1xf32>) -> tensor<2x1x32x32xf32>
      %12 = stablehlo.subtract %6, %11 : tensor<2x1x32x32xf32>
      %13 = stablehlo.exponential %12 : tensor<2x1x32x32xf32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %14 = stablehlo.reduce(%13 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<2x1x32x32xf32>, tensor<f32>) -> tensor<2x1x32xf32>
      %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<2x1x32xf32>) -> tensor<2x1x32x1xf32>
      %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<2x1x32x1xf32>) -> tensor<2x1x32x32xf32>
      %17 = stablehlo.divide %13, %16 : tensor<2x1x32x32xf32>
      %18 = stablehlo.dot_general %3, %17, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x32x1x4xf32>, tensor<2x1x32x32xf32>) -> tensor<2x1x4x32xf32>
      %19 = stablehlo.transpose %18, dims = [0, 3, 1, 2] : (tensor<2x1x4x32xf32>) -> tensor<2x32x1x4xf32>
      %20 = "stablehlo.all_to_all"(%19) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 2 : i64, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, split_count = 8 : i64, split_dimension = 1 : i64}> : (tensor<2x32x1x4xf32>) -> tensor<2x4x8x4xf32>
      sdy.return %20 : tensor<2x4x8x4xf32>
    } : (tensor<2x32x8x4xf32>, tensor<2x32x8x4xf32>, tensor<2x32x8x4xf32>) -> tensor<2x32x8x4xf32>
    return %0 : tensor<2x32x8x4xf32>
  }
}
