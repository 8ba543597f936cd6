module @jit_manual_halo_by_permutes attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<40x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<40x6xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg1: tensor<5x6xf32>) {
      %1 = stablehlo.slice %arg1 [4:5, 0:6] : (tensor<5x6xf32>) -> tensor<1x6xf32>
      %2 = "stablehlo.collective_permute"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7]]> : tensor<7x2xi64>}> : (tensor<1x6xf32>) -> tensor<1x6xf32>
      %3 = stablehlo.slice %arg1 [0:1, 0:6] : (tensor<5x6xf32>) -> tensor<1x6xf32>
      %4 = "stablehlo.collective_permute"(%3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[1, 0], [2, 1], [3, 2], [4, 3], [5, 4], [6, 5], [7, 6]]> : tensor<7x2xi64>}> : (tensor<1x6xf32>) -> tensor<1x6xf32>
      %5 = stablehlo.concatenate %2, %arg1, %4, dim = 0 : (tensor<1x6xf32>, tensor<5x6xf32>, tensor<1x6xf32>) -> tensor<7x6xf32>
      %6 = stablehlo.slice %5 [0:5, 0:6] : (tensor<7x6xf32>) -> tensor<5x6xf32>
      %7 = stablehlo.slice %5 [1:6, 0:6] : (tensor<7x6xf32>) -> tensor<5x6xf32>
      %8 = stablehlo.add %6, %7 : tensor<5x6xf32>
      %9 = stablehlo.slice %5 [2:7, 0:6] : (tensor<7x6xf32>) -> tensor<5x6xf32>
      %10 = stablehlo.add %8, %9 : tensor<5x6xf32>
      %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %11 = stablehlo.reduce(%arg1 init: %cst) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<5x6xf32>, tensor<f32>) -> tensor<f32>
      %12 = "stablehlo.all_reduce"(%11) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %15 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
        stablehlo.return %15 : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      %13 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<f32>) -> tensor<5x6xf32>
      %14 = stablehlo.add %10, %13 : tensor<5x6xf32>
      sdy.return %14 : tensor<5x6xf32>
    } : (tensor<40x6xf32>) -> tensor<40x6xf32>
    return %0 : tensor<40x6xf32>
  }
}
