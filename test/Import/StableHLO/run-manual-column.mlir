// A body of shard_map that gathers a block and takes a column: a device whose
// part of the column is empty reads nothing, and the program is accepted.
// RUN: mesh-run --verify %s
// RUN: mesh-run --verify --private-memories %s

module @jit_body attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<16x8xf32>) -> (tensor<64xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x", "y"}]>] manual_axes={"x", "y"} (%arg1: tensor<8x2xf32>) {
      %1 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<8x2xf32>) -> tensor<1x8x2xf32>
      %2 = "stablehlo.all_gather"(%1) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> : (tensor<1x8x2xf32>) -> tensor<4x8x2xf32>
      %3 = stablehlo.broadcast_in_dim %2, dims = [1, 2, 3] : (tensor<4x8x2xf32>) -> tensor<1x4x8x2xf32>
      %4 = "stablehlo.all_to_all"(%3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, split_count = 4 : i64, split_dimension = 1 : i64}> : (tensor<1x4x8x2xf32>) -> tensor<4x1x8x2xf32>
      %5 = "stablehlo.all_gather"(%arg1) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> : (tensor<8x2xf32>) -> tensor<8x16xf32>
      %6 = stablehlo.reshape %4 : (tensor<4x1x8x2xf32>) -> tensor<8x8xf32>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
      %8 = stablehlo.slice %5 [0:8, 0:1] : (tensor<8x16xf32>) -> tensor<8x1xf32>
      %9 = stablehlo.reshape %8 : (tensor<8x1xf32>) -> tensor<8xf32>
      %10 = stablehlo.add %7, %9 : tensor<8xf32>
      sdy.return %10 : tensor<8xf32>
    } : (tensor<16x8xf32>) -> tensor<64xf32>
    return %0 : tensor<64xf32>
  }
}
