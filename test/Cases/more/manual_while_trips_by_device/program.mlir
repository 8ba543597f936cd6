module @jit_manual_while_trips_by_device attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=8]> {stablehlo.mesh = {axes = [{name = "batch", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<64x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) -> (tensor<64x12xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"batch"}, {}]>] out_shardings=[<@mesh, [{"batch"}, {}]>] manual_axes={"batch"} (%arg1: tensor<8x12xf32>) {
      %c = stablehlo.constant dense<1> : tensor<ui32>
      %c_0 = stablehlo.constant dense<8> : tensor<ui32>
      %1 = stablehlo.partition_id : tensor<ui32>
      %2 = stablehlo.divide %1, %c : tensor<ui32>
      %3 = stablehlo.remainder %2, %c_0 : tensor<ui32>
      %4 = stablehlo.convert %3 : (tensor<ui32>) -> tensor<i32>
      %c_1 = stablehlo.constant dense<1> : tensor<i32>
      %5 = stablehlo.add %4, %c_1 : tensor<i32>
      %c_2 = stablehlo.constant dense<0> : tensor<i32>
      %6:3 = stablehlo.while(%iterArg = %5, %iterArg_3 = %c_2, %iterArg_4 = %arg1) : tensor<i32>, tensor<i32>, tensor<8x12xf32>
      cond {
        %12 = stablehlo.convert %iterArg_3 : tensor<i32>
        %13 = stablehlo.compare LT, %12, %iterArg, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %13 : tensor<i1>
      } do {
        %c_5 = stablehlo.constant dense<1> : tensor<i32>
        %12 = stablehlo.add %iterArg_3, %c_5 : tensor<i32>
        %cst_6 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
        %13 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x12xf32>
        %14 = stablehlo.multiply %iterArg_4, %13 : tensor<8x12xf32>
        %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
        %15 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8x12xf32>
        %16 = stablehlo.add %14, %15 : tensor<8x12xf32>
        stablehlo.return %iterArg, %12, %16 : tensor<i32>, tensor<i32>, tensor<8x12xf32>
      }
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %7 = stablehlo.reduce(%6#2 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<8x12xf32>, tensor<f32>) -> tensor<12xf32>
      %8 = "stablehlo.all_reduce"(%7) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %12 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %12 : tensor<f32>
      }) : (tensor<12xf32>) -> tensor<12xf32>
      %9 = stablehlo.broadcast_in_dim %8, dims = [1] : (tensor<12xf32>) -> tensor<1x12xf32>
      %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<8x12xf32>
      %11 = stablehlo.add %6#2, %10 : tensor<8x12xf32>
      sdy.return %11 : tensor<8x12xf32>
    } : (tensor<64x12xf32>) -> tensor<64x12xf32>
    return %0 : tensor<64x12xf32>
  }
}
