module @jit_forward attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x32x8x4xf32> {mhlo.sharding = "{devices=[1,8,1,1]<=[8]}"}, %arg1: tensor<2x32x8x4xf32> {mhlo.sharding = "{devices=[1,8,1,1]<=[8]}"}, %arg2: tensor<2x32x8x4xf32> {mhlo.sharding = "{devices=[1,8,1,1]<=[8]}"}) -> (tensor<2x32x8x4xf32> {jax.result_info = "result[0]", mhlo.sharding = "{devices=[1,8,1,1]<=[8]}"}) {
    %0 = stablehlo.custom_call @Sharding(%arg0) {backend_config = "", mhlo.sharding = "{devices=[1,8,1,1]<=[8]}"} : (tensor<2x32x8x4xf32>) -> tensor<2x32x8x4xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {backend_config = "", mhlo.sharding = "{manual}"} : (tensor<2x32x8x4xf32>) -> tensor<2x4x8x4xf32>
    %2 = stablehlo.custom_call @Sharding(%arg1) {backend_config = "", mhlo.sharding = "{devices=[1,8,1,1]<=[8]}"} : (tensor<2x32x8x4xf32>) -> tensor<2x32x8x4xf32>
    %3 = stablehlo.custom_call @SPMDFullToShardShape(%2) {backend_config = "", mhlo.sharding = "{manual}"} : (tensor<2x32x8x4xf32>) -> tensor<2x4x8x4xf32>
    %4 = stablehlo.custom_call @Sharding(%arg2) {backend_config = "", mhlo.sharding = "{devices=[1,8,1,1]<=[8]}"} : (tensor<2x32x8x4xf32>) -> tensor<2x32x8x4xf32>
    %5 = stablehlo.custom_call @SPMDFullToShardShape(%4) {backend_config = "", mhlo.sharding = "{manual}"} : (tensor<2x32x8x4xf32>) -> tensor<2x4x8x4xf32>
    %6 = call @shmap_body(%1, %3, %5) : (tensor<2x4x8x4xf32>, tensor<2x4x8x4xf32>, tensor<2x4x8x4xf32>) -> tensor<2x4x8x4xf32>
    %7 = stablehlo.custom_call @Sharding(%6) {backend_config = "", mhlo.sharding = "{manual}"} : (tensor<2x4x8x4xf32>) -> tensor<2x4x8x4xf32>
    %8 = stablehlo.custom_call @SPMDShardToFullShape(%7) {backend_config = "", mhlo.sharding = "{devices=[1,8,1,1]<=[8]}"} : (tensor<2x4x8x4xf32>) -> tensor<2x32x8x4xf32>
    return %8 : tensor<2x32x8x4xf32>
  }
  func.func private @shmap_body(%arg0: tensor<2x4x8x4xf32>, %arg1: tensor<2x4x8x4xf32>, %arg2: tensor<2x4x8x4xf32>) -> (tensor<2x4x8x4xf32> {jax.result_info = "[None, ('x',), None, None]"}) {
    %0 = "stablehlo.all_to_all"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 1 : i64, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, split_count = 8 : i64, split_dimension = 2 : i64}> : (tensor<2x4x8x4xf32>) -> tensor<2x32x1x4xf32>
    %1 = "stablehlo.all_to_all"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 1 : i64, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, split_count = 8 : i64, split_dimension = 2 : i64}> : (tensor<2x4x8x4xf32>) -> tensor<2x32x1x4xf32>
    %2 = "stablehlo.all_to_all"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 1 : i64, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, split_count = 8 : i64, split_dimension = 2 : i64}> : (tensor<2x4x8x4xf32>) -> tensor<2x32x1x4xf32>
    %3 = stablehlo.dot_general %0, %1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x32x1x4xf32>, tensor<2x32x1x4xf32>) -> tensor<2x1x32x32xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x1x32x32xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<2x1x32x32xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x1x32x32xf32>, tensor<f32>) -> tensor<2x1x32xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x1x32xf32>
    %8 = stablehlo.maximum %7, %6 : tensor<2x1x32xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<2x1x32xf32>) -> tensor<2x1x32x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<2x1x32x1xf32>) -> tensor<2x1x32x32xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<2x1x32x32xf32>
    %12 = stablehlo.exponential %11 : tensor<2x1x32x32xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%12 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<2x1x32x32xf32>, tensor<f32>) -> tensor<2x1x32xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<2x1x32xf32>) -> tensor<2x1x32x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<2x1x32x1xf32>) -> tensor<2x1x32x32xf32>
    %16 = stablehlo.divide %12, %15 : tensor<2x1x32x32xf32>
    %17 = stablehlo.dot_general %2, %16, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x32x1x4xf32>, tensor<2x1x32x32xf32>) -> tensor<2x1x4x32xf32>
    %18 = stablehlo.transpose %17, dims = [0, 3, 1, 2] : (tensor<2x1x4x32xf32>) -> tensor<2x32x1x4xf32>
    %19 = "stablehlo.all_to_all"(%18) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 2 : i64, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, split_count = 8 : i64, split_dimension = 1 : i64}> : (tensor<2x32x1x4xf32>) -> tensor<2x4x8x4xf32>
    return %19 : tensor<2x4x8x4xf32>
  }
}
