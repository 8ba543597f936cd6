module @jit_forward attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<2x32x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}, %arg1: tensor<2x32x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}, %arg2: tensor<2x32x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}) -> (tensor<2x32x8x4xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}) {
    %0:7 = sdy.manual_computation(%arg0, %arg1, %arg2) in_shardings=[<@mesh, [{}, {"x"}, {}, {}]>, <@mesh, [{}, {"x"}, {}, {}]>, <@mesh, [{}, {"x"}, {}, {}]>] out_shardings=[<@mesh, [{"x"}, {}, {}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}, {}, {}, {}]>, <@mesh, [{"x"}, {}, {}, {}]>, <@mesh, [{"x"}, {}, {}, {}]>, <@mesh, [{"x"}, {}, {}, {}]>, <@mesh, [{}, {"x"}, {}, {}]>] manual_axes={"x"} (%arg3: tensor<2x4x8x4xf32>, %arg4: tensor<2x4x8x4xf32>, %arg5: tensor<2x4x8x4xf32>) {
      %8 = "stablehlo.all_to_all"(%arg3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 1 : i64, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, split_count = 8 : i64, split_dimension = 2 : i64}> : (tensor<2x4x8x4xf32>) -> tensor<2x32x1x4xf32>
      %9 = "stablehlo.all_to_all"(%arg4) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 1 : i64, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, split_count = 8 : i64, split_dimension = 2 : i64}> : (tensor<2x4x8x4xf32>) -> tensor<2x32x1x4xf32>
      %10 = "stablehlo.all_to_all"(%arg5) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 1 : i64, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, split_count = 8 : i64, split_dimension = 2 : i64}> : (tensor<2x4x8x4xf32>) -> tensor<2x32x1x4xf32>
      %11 = stablehlo.dot_general %8, %9, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x32x1x4xf32>, tensor<2x32x1x4xf32>) -> tensor<2x1x32x32xf32>
      %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
      %12 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x1x32x32xf32>
      %13 = stablehlo.multiply %11, %12 : tensor<2x1x32x32xf32>
      %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %14 = stablehlo.reduce(%13 init: %cst_3) applies stablehlo.maximum across dimensions = [3] : (tensor<2x1x32x32xf32>, tensor<f32>) -> tensor<2x1x32xf32>
      %15 = stablehlo.reshape %14 : (tensor<2x1x32xf32>) -> tensor<2x1x32x1xf32>
      %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<2x1x32x1xf32>) -> tensor<2x1x32x32xf32>
      %17 = stablehlo.compare EQ, %13, %16, FLOAT : (tensor<2x1x32x32xf32>, tensor<2x1x32x32xf32>) -> tensor<2x1x32x32xi1>
      %18 = stablehlo.convert %17 : (tensor<2x1x32x32xi1>) -> tensor<2x1x32x32xf32>
      %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %19 = stablehlo.reduce(%18 init: %cst_4) applies stablehlo.add across dimensions = [3] : (tensor<2x1x32x32xf32>, tensor<f32>) -> tensor<2x1x32xf32>
      %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %20 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x1x32xf32>
      %21 = stablehlo.maximum %20, %14 : tensor<2x1x32xf32>
      %22 = stablehlo.compare EQ, %14, %21, FLOAT : (tensor<2x1x32xf32>, tensor<2x1x32xf32>) -> tensor<2x1x32xi1>
      %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %23 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x1x32xf32>
      %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %24 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x1x32xf32>
      %25 = stablehlo.select %22, %23, %24 : tensor<2x1x32xi1>, tensor<2x1x32xf32>
      %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %26 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x1x32xf32>
      %27 = stablehlo.compare EQ, %26, %21, FLOAT : (tensor<2x1x32xf32>, tensor<2x1x32xf32>) -> tensor<2x1x32xi1>
      %cst_9 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %28 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<2x1x32xf32>
      %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %29 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<2x1x32xf32>
      %30 = stablehlo.select %27, %28, %29 : tensor<2x1x32xi1>, tensor<2x1x32xf32>
      %31 = stablehlo.divide %25, %30 : tensor<2x1x32xf32>
      %32 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<2x1x32xf32>) -> tensor<2x1x32x1xf32>
      %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2, 3] : (tensor<2x1x32x1xf32>) -> tensor<2x1x32x32xf32>
      %34 = stablehlo.subtract %13, %33 : tensor<2x1x32x32xf32>
      %35 = stablehlo.exponential %34 : tensor<2x1x32x32xf32>
      %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %36 = stablehlo.reduce(%35 init: %cst_11) applies stablehlo.add across dimensions = [3] : (tensor<2x1x32x32xf32>, tensor<f32>) -> tensor<2x1x32xf32>
      %37 = stablehlo.broadcast_in_dim %36, dims = [0, 1, 2] : (tensor<2x1x32xf32>) -> tensor<2x1x32x1xf32>
      %38 = stablehlo.broadcast_in_dim %37, dims = [0, 1, 2, 3] : (tensor<2x1x32x1xf32>) -> tensor<2x1x32x32xf32>
      %39 = stablehlo.divide %35, %38 : tensor<2x1x32x32xf32>
      %40 = stablehlo.multiply %37, %37 : tensor<2x1x32x1xf32>
      %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %41 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<2x1x32x1xf32>
      %42 = stablehlo.divide %41, %40 : tensor<2x1x32x1xf32>
      %43 = stablehlo.dot_general %10, %39, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x32x1x4xf32>, tensor<2x1x32x32xf32>) -> tensor<2x1x4x32xf32>
      %44 = stablehlo.transpose %43, dims = [0, 3, 1, 2] : (tensor<2x1x4x32xf32>) -> tensor<2x32x1x4xf32>
      %45 = "stablehlo.all_to_all"(%44) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 2 : i64, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, split_count = 8 : i64, split_dimension = 1 : i64}> : (tensor<2x32x1x4xf32>) -> tensor<2x4x8x4xf32>
      %cst_13 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
      %46 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<1xf32>
      sdy.return %9, %46, %35, %37, %42, %10, %45 : tensor<2x32x1x4xf32>, tensor<1xf32>, tensor<2x1x32x32xf32>, tensor<2x1x32x1xf32>, tensor<2x1x32x1xf32>, tensor<2x32x1x4xf32>, tensor<2x4x8x4xf32>
    } : (tensor<2x32x8x4xf32>, tensor<2x32x8x4xf32>, tensor<2x32x8x4xf32>) -> (tensor<16x32x1x4xf32>, tensor<8xf32>, tensor<16x1x32x32xf32>, tensor<16x1x32x1xf32>, tensor<16x1x32x1xf32>, tensor<16x32x1x4xf32>, tensor<2x32x8x4xf32>)
    %1 = stablehlo.multiply %0#6, %0#6 : tensor<2x32x8x4xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x32x8x4xf32>
    %3 = stablehlo.multiply %2, %0#6 : tensor<2x32x8x4xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%1 init: %cst_0) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<2x32x8x4xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x32x8x4xf32>
    %6 = stablehlo.multiply %5, %3 : tensor<2x32x8x4xf32>
    %7 = sdy.manual_computation(%6, %0#0, %0#1, %0#2, %0#3, %0#4, %0#5) in_shardings=[<@mesh, [{}, {"x"}, {}, {}]>, <@mesh, [{"x"}, {}, {}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}, {}, {}, {}]>, <@mesh, [{"x"}, {}, {}, {}]>, <@mesh, [{"x"}, {}, {}, {}]>, <@mesh, [{"x"}, {}, {}, {}]>] out_shardings=[<@mesh, [{}, {"x"}, {}, {}]>] manual_axes={"x"} (%arg3: tensor<2x4x8x4xf32>, %arg4: tensor<2x32x1x4xf32>, %arg5: tensor<1xf32>, %arg6: tensor<2x1x32x32xf32>, %arg7: tensor<2x1x32x1xf32>, %arg8: tensor<2x1x32x1xf32>, %arg9: tensor<2x32x1x4xf32>) {
      %8 = stablehlo.reshape %arg5 : (tensor<1xf32>) -> tensor<f32>
      %9 = "stablehlo.all_to_all"(%arg3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 1 : i64, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, split_count = 8 : i64, split_dimension = 2 : i64}> : (tensor<2x4x8x4xf32>) -> tensor<2x32x1x4xf32>
      %10 = stablehlo.transpose %9, dims = [0, 2, 3, 1] : (tensor<2x32x1x4xf32>) -> tensor<2x1x4x32xf32>
      %11 = stablehlo.dot_general %10, %arg9, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x1x4x32xf32>, tensor<2x32x1x4xf32>) -> tensor<2x1x32x32xf32>
      %12 = stablehlo.broadcast_in_dim %arg8, dims = [0, 1, 2, 3] : (tensor<2x1x32x1xf32>) -> tensor<2x1x32x32xf32>
      %13 = stablehlo.multiply %11, %12 : tensor<2x1x32x32xf32>
      %14 = stablehlo.multiply %13, %arg6 : tensor<2x1x32x32xf32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %15 = stablehlo.reduce(%14 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<2x1x32x32xf32>, tensor<f32>) -> tensor<2x1x32xf32>
      %16 = stablehlo.reshape %15 : (tensor<2x1x32xf32>) -> tensor<2x1x32x1xf32>
      %17 = stablehlo.negate %16 : tensor<2x1x32x1xf32>
      %18 = stablehlo.broadcast_in_dim %arg7, dims = [0, 1, 2, 3] : (tensor<2x1x32x1xf32>) -> tensor<2x1x32x32xf32>
      %19 = stablehlo.divide %11, %18 : tensor<2x1x32x32xf32>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %20 = stablehlo.reduce(%17 init: %cst_3) applies stablehlo.add across dimensions = [1, 3] : (tensor<2x1x32x1xf32>, tensor<f32>) -> tensor<2x32xf32>
      %21 = stablehlo.broadcast_in_dim %20, dims = [0, 2] : (tensor<2x32xf32>) -> tensor<2x1x32xf32>
      %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<2x1x32xf32>) -> tensor<2x1x32x32xf32>
      %23 = stablehlo.add %19, %22 : tensor<2x1x32x32xf32>
      %24 = stablehlo.multiply %23, %arg6 : tensor<2x1x32x32xf32>
      %25 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<2x1x32x32xf32>
      %26 = stablehlo.multiply %24, %25 : tensor<2x1x32x32xf32>
      %27 = stablehlo.dot_general %26, %arg4, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x1x32x32xf32>, tensor<2x32x1x4xf32>) -> tensor<2x1x32x4xf32>
      %28 = stablehlo.transpose %27, dims = [0, 2, 1, 3] : (tensor<2x1x32x4xf32>) -> tensor<2x32x1x4xf32>
      %29 = "stablehlo.all_to_all"(%28) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 2 : i64, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, split_count = 8 : i64, split_dimension = 1 : i64}> : (tensor<2x32x1x4xf32>) -> tensor<2x4x8x4xf32>
      sdy.return %29 : tensor<2x4x8x4xf32>
    } : (tensor<2x32x8x4xf32>, tensor<16x32x1x4xf32>, tensor<8xf32>, tensor<16x1x32x32xf32>, tensor<16x1x32x1xf32>, tensor<16x1x32x1xf32>, tensor<16x32x1x4xf32>) -> tensor<2x32x8x4xf32>
    return %7 : tensor<2x32x8x4xf32>
  }
}
