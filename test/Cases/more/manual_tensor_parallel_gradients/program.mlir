module @jit_manual_tensor_parallel_gradients attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %arg1: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg2: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<16x32xf32> {jax.result_info = "result[1][0]"}, tensor<32x64xf32> {jax.result_info = "result[1][1]"}, tensor<64x32xf32> {jax.result_info = "result[1][2]"}) {
    %0:16 = sdy.manual_computation(%arg0, %arg1, %arg2) in_shardings=[<@mesh, [{"data"}, {}]>, <@mesh, [{}, {"model"}]>, <@mesh, [{"model"}, {}]>] out_shardings=[<@mesh, [{"data", "model"}, {}]>, <@mesh, [{"data", "model"}, {}]>, <@mesh, [{"data", "model"}, {}]>, <@mesh, [{"data", "model"}]>, <@mesh, [{"data", "model"}]>, <@mesh, [{"data", "model"}, {}]>, <@mesh, [{"data", "model"}, {}]>, <@mesh, [{"data", "model"}]>, <@mesh, [{"data", "model"}, {}]>, <@mesh, [{"data", "model"}, {}]>, <@mesh, [{"data", "model"}, {}]>, <@mesh, [{"data", "model"}, {}]>, <@mesh, [{"data"}, {}]>, <@mesh, [{"data"}]>, <@mesh, [{}]>, <@mesh, []>] manual_axes={"data", "model"} (%arg3: tensor<8x32xf32>, %arg4: tensor<32x16xf32>, %arg5: tensor<16x32xf32>) {
      %2 = stablehlo.dot_general %arg3, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
      %3 = stablehlo.multiply %2, %2 : tensor<8x16xf32>
      %4 = stablehlo.multiply %3, %2 : tensor<8x16xf32>
      %5 = stablehlo.multiply %2, %2 : tensor<8x16xf32>
      %cst_0 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
      %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
      %7 = stablehlo.multiply %6, %5 : tensor<8x16xf32>
      %cst_1 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
      %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
      %9 = stablehlo.multiply %8, %4 : tensor<8x16xf32>
      %10 = stablehlo.add %2, %9 : tensor<8x16xf32>
      %cst_2 = stablehlo.constant dense<0.797884583> : tensor<f32>
      %11 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
      %12 = stablehlo.multiply %11, %10 : tensor<8x16xf32>
      %13 = stablehlo.tanh %12 : tensor<8x16xf32>
      %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %14 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
      %15 = stablehlo.subtract %14, %13 : tensor<8x16xf32>
      %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %16 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
      %17 = stablehlo.add %16, %13 : tensor<8x16xf32>
      %cst_5 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
      %18 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
      %19 = stablehlo.multiply %18, %17 : tensor<8x16xf32>
      %20 = stablehlo.multiply %2, %19 : tensor<8x16xf32>
      %21 = stablehlo.dot_general %20, %arg5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
      %22 = "stablehlo.all_reduce"(%21) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
        %35 = stablehlo.add %arg6, %arg7 : tensor<f32>
        stablehlo.return %35 : tensor<f32>
      }) : (tensor<8x32xf32>) -> tensor<8x32xf32>
      %23 = stablehlo.multiply %22, %22 : tensor<8x32xf32>
      %cst_6 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %24 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
      %25 = stablehlo.multiply %24, %22 : tensor<8x32xf32>
      %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %26 = stablehlo.reduce(%23 init: %cst_7) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32xf32>, tensor<f32>) -> tensor<f32>
      %cst_8 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
      %27 = stablehlo.divide %26, %cst_8 : tensor<f32>
      %28 = "stablehlo.all_reduce"(%27) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
        %35 = stablehlo.add %arg6, %arg7 : tensor<f32>
        stablehlo.return %35 : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      %cst_9 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %29 = stablehlo.divide %28, %cst_9 : tensor<f32>
      %30 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1xf32>
      %31 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1xf32>
      %32 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1xf32>
      %33 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<1xf32>
      %cst_10 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %34 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<1xf32>
      sdy.return %arg4, %arg3, %7, %30, %31, %13, %15, %32, %19, %2, %arg5, %20, %25, %33, %34, %29 : tensor<32x16xf32>, tensor<8x32xf32>, tensor<8x16xf32>, tensor<1xf32>, tensor<1xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<16x32xf32>, tensor<8x16xf32>, tensor<8x32xf32>, tensor<1xf32>, tensor<1xf32>, tensor<f32>
    } : (tensor<16x32xf32>, tensor<32x64xf32>, tensor<64x32xf32>) -> (tensor<256x16xf32>, tensor<64x32xf32>, tensor<64x16xf32>, tensor<8xf32>, tensor<8xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<8xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<128x32xf32>, tensor<64x16xf32>, tensor<16x32xf32>, tensor<2xf32>, tensor<1xf32>, tensor<f32>)
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1:3 = sdy.manual_computation(%cst, %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6, %0#7, %0#8, %0#9, %0#10, %0#11, %0#12, %0#13, %0#14) in_shardings=[<@mesh, []>, <@mesh, [{"data", "model"}, {}]>, <@mesh, [{"data", "model"}, {}]>, <@mesh, [{"data", "model"}, {}]>, <@mesh, [{"data", "model"}]>, <@mesh, [{"data", "model"}]>, <@mesh, [{"data", "model"}, {}]>, <@mesh, [{"data", "model"}, {}]>, <@mesh, [{"data", "model"}]>, <@mesh, [{"data", "model"}, {}]>, <@mesh, [{"data", "model"}, {}]>, <@mesh, [{"data", "model"}, {}]>, <@mesh, [{"data", "model"}, {}]>, <@mesh, [{"data"}, {}]>, <@mesh, [{"data"}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{"data"}, {}]>, <@mesh, [{}, {"model"}]>, <@mesh, [{"model"}, {}]>] manual_axes={"data", "model"} (%arg3: tensor<f32>, %arg4: tensor<32x16xf32>, %arg5: tensor<8x32xf32>, %arg6: tensor<8x16xf32>, %arg7: tensor<1xf32>, %arg8: tensor<1xf32>, %arg9: tensor<8x16xf32>, %arg10: tensor<8x16xf32>, %arg11: tensor<1xf32>, %arg12: tensor<8x16xf32>, %arg13: tensor<8x16xf32>, %arg14: tensor<16x32xf32>, %arg15: tensor<8x16xf32>, %arg16: tensor<8x32xf32>, %arg17: tensor<1xf32>, %arg18: tensor<1xf32>) {
      %2 = stablehlo.reshape %arg7 : (tensor<1xf32>) -> tensor<f32>
      %3 = stablehlo.reshape %arg8 : (tensor<1xf32>) -> tensor<f32>
      %4 = stablehlo.reshape %arg11 : (tensor<1xf32>) -> tensor<f32>
      %5 = stablehlo.reshape %arg17 : (tensor<1xf32>) -> tensor<f32>
      %6 = stablehlo.reshape %arg18 : (tensor<1xf32>) -> tensor<f32>
      %7 = stablehlo.divide %arg3, %6 : tensor<f32>
      %8 = stablehlo.divide %7, %5 : tensor<f32>
      %9 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
      %10 = stablehlo.multiply %9, %arg16 : tensor<8x32xf32>
      %11 = stablehlo.dot_general %10, %arg15, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32xf32>, tensor<8x16xf32>) -> tensor<32x16xf32>
      %12 = stablehlo.transpose %11, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
      %13 = stablehlo.dot_general %10, %arg14, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32xf32>, tensor<16x32xf32>) -> tensor<8x16xf32>
      %14 = "stablehlo.all_reduce"(%12) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg19: tensor<f32>, %arg20: tensor<f32>):
        %34 = stablehlo.add %arg19, %arg20 : tensor<f32>
        stablehlo.return %34 : tensor<f32>
      }) : (tensor<16x32xf32>) -> tensor<16x32xf32>
      %15 = stablehlo.multiply %arg13, %13 : tensor<8x16xf32>
      %16 = stablehlo.multiply %13, %arg12 : tensor<8x16xf32>
      %17 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
      %18 = stablehlo.multiply %17, %15 : tensor<8x16xf32>
      %19 = stablehlo.multiply %18, %arg10 : tensor<8x16xf32>
      %20 = stablehlo.multiply %19, %arg9 : tensor<8x16xf32>
      %21 = stablehlo.add %19, %20 : tensor<8x16xf32>
      %22 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
      %23 = stablehlo.multiply %22, %21 : tensor<8x16xf32>
      %24 = stablehlo.add %16, %23 : tensor<8x16xf32>
      %25 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
      %26 = stablehlo.multiply %25, %23 : tensor<8x16xf32>
      %27 = stablehlo.multiply %26, %arg6 : tensor<8x16xf32>
      %28 = stablehlo.add %24, %27 : tensor<8x16xf32>
      %29 = stablehlo.dot_general %28, %arg5, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16xf32>, tensor<8x32xf32>) -> tensor<16x32xf32>
      %30 = stablehlo.transpose %29, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
      %31 = stablehlo.dot_general %28, %arg4, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16xf32>, tensor<32x16xf32>) -> tensor<8x32xf32>
      %32 = "stablehlo.all_reduce"(%30) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg19: tensor<f32>, %arg20: tensor<f32>):
        %34 = stablehlo.add %arg19, %arg20 : tensor<f32>
        stablehlo.return %34 : tensor<f32>
      }) : (tensor<32x16xf32>) -> tensor<32x16xf32>
      %33 = "stablehlo.all_reduce"(%31) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg19: tensor<f32>, %arg20: tensor<f32>):
        %34 = stablehlo.add %arg19, %arg20 : tensor<f32>
        stablehlo.return %34 : tensor<f32>
      }) : (tensor<8x32xf32>) -> tensor<8x32xf32>
      sdy.return %33, %32, %14 : tensor<8x32xf32>, tensor<32x16xf32>, tensor<16x32xf32>
    } : (tensor<f32>, tensor<256x16xf32>, tensor<64x32xf32>, tensor<64x16xf32>, tensor<8xf32>, tensor<8xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<8xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<128x32xf32>, tensor<64x16xf32>, tensor<16x32xf32>, tensor<2xf32>, tensor<1xf32>) -> (tensor<16x32xf32>, tensor<32x64xf32>, tensor<64x32xf32>)
    return %0#15, %1#0, %1#1, %1#2 : tensor<f32>, tensor<16x32xf32>, tensor<32x64xf32>, tensor<64x32xf32>
  }
}
