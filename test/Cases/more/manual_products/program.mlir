module @jit_manual_products attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %arg1: tensor<16x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, %arg2: tensor<12x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<8x6xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0 = sdy.manual_computation(%arg0, %arg1, %arg2) in_shardings=[<@mesh, [{"x"}, {"y"}]>, <@mesh, [{"y"}, {}]>, <@mesh, [{}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x", "y"} (%arg3: tensor<4x4xf32>, %arg4: tensor<4x12xf32>, %arg5: tensor<12x6xf32>) {
      %1 = stablehlo.dot_general %arg3, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x4xf32>, tensor<4x12xf32>) -> tensor<4x12xf32>
      %2 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
        %11 = stablehlo.add %arg6, %arg7 : tensor<f32>
        stablehlo.return %11 : tensor<f32>
      }) : (tensor<4x12xf32>) -> tensor<4x12xf32>
      %3 = stablehlo.tanh %2 : tensor<4x12xf32>
      %4 = stablehlo.dot_general %3, %arg5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x12xf32>, tensor<12x6xf32>) -> tensor<4x6xf32>
      %5 = stablehlo.dot_general %arg5, %4, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x6xf32>, tensor<4x6xf32>) -> tensor<12x4xf32>
      %6 = stablehlo.transpose %5, dims = [1, 0] : (tensor<12x4xf32>) -> tensor<4x12xf32>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x12xf32>, tensor<f32>) -> tensor<4xf32>
      %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
      %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x6xf32>
      %10 = stablehlo.add %4, %9 : tensor<4x6xf32>
      sdy.return %10 : tensor<4x6xf32>
    } : (tensor<8x16xf32>, tensor<16x12xf32>, tensor<12x6xf32>) -> tensor<8x6xf32>
    return %0 : tensor<8x6xf32>
  }
}
