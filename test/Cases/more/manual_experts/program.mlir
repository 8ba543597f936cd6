module @jit_forward attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<128x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<128x8xf32> {jax.result_info = "result[0]"}) {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg2: tensor<16x8xf32>, %arg3: tensor<1x8x8xf32>) {
      %1 = stablehlo.reshape %arg2 : (tensor<16x8xf32>) -> tensor<8x2x8xf32>
      %2 = "stablehlo.all_to_all"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, split_count = 8 : i64, split_dimension = 0 : i64}> : (tensor<8x2x8xf32>) -> tensor<8x2x8xf32>
      %3 = stablehlo.reshape %2 : (tensor<8x2x8xf32>) -> tensor<16x8xf32>
      %4 = stablehlo.reshape %arg3 : (tensor<1x8x8xf32>) -> tensor<8x8xf32>
      %5 = stablehlo.dot_general %3, %4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
      %6 = stablehlo.tanh %5 : tensor<16x8xf32>
      %7 = stablehlo.reshape %6 : (tensor<16x8xf32>) -> tensor<8x2x8xf32>
      %8 = "stablehlo.all_to_all"(%7) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, split_count = 8 : i64, split_dimension = 0 : i64}> : (tensor<8x2x8xf32>) -> tensor<8x2x8xf32>
      %9 = stablehlo.reshape %8 : (tensor<8x2x8xf32>) -> tensor<16x8xf32>
      sdy.return %9 : tensor<16x8xf32>
    } : (tensor<128x8xf32>, tensor<8x8x8xf32>) -> tensor<128x8xf32>
    return %0 : tensor<128x8xf32>
  }
}
