module @jit_forward attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<4x64x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}, %arg1: tensor<4x64x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}, %arg2: tensor<4x64x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}) -> (tensor<4x64x8x4xf32> {jax.result_info = "result[0]"}) {
    %0 = sdy.manual_computation(%arg0, %arg1, %arg2) in_shardings=[<@mesh, [{}, {"x"}, {}, {}]>, <@mesh, [{}, {"x"}, {}, {}]>, <@mesh, [{}, {"x"}, {}, {}]>] out_shardings=[<@mesh, [{}, {"x"}, {}, {}]>] manual_axes={"x"} (%arg3: tensor<4x8x8x4xf32>, %arg4: tensor<4x8x8x4xf32>, %arg5: tensor<4x8x8x4xf32>) {
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x8x8x4xf32>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x8x8xf32>
      %3 = stablehlo.iota dim = 0 : tensor<8xi32>
      %c = stablehlo.constant dense<0> : tensor<i32>
      %4:7 = stablehlo.while(%iterArg = %3, %iterArg_1 = %arg3, %iterArg_2 = %c, %iterArg_3 = %arg4, %iterArg_4 = %arg5, %iterArg_5 = %1, %iterArg_6 = %2) : tensor<8xi32>, tensor<4x8x8x4xf32>, tensor<i32>, tensor<4x8x8x4xf32>, tensor<4x8x8x4xf32>, tensor<4x8x8x4xf32>, tensor<4x8x8xf32>
      cond {
        %c_7 = stablehlo.constant dense<8> : tensor<i32>
        %8 = stablehlo.compare LT, %iterArg_2, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %8 : tensor<i1>
      } do {
        %8 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_2) : (tensor<8xi32>, tensor<i32>) -> tensor<i32>
        %9:4 = func.call @closed_call(%iterArg_1, %iterArg_3, %iterArg_4, %iterArg_5, %iterArg_6, %8) : (tensor<4x8x8x4xf32>, tensor<4x8x8x4xf32>, tensor<4x8x8x4xf32>, tensor<4x8x8x4xf32>, tensor<4x8x8xf32>, tensor<i32>) -> (tensor<4x8x8x4xf32>, tensor<4x8x8x4xf32>, tensor<4x8x8x4xf32>, tensor<4x8x8xf32>)
        %c_7 = stablehlo.constant dense<1> : tensor<i32>
        %10 = stablehlo.add %iterArg_2, %c_7 : tensor<i32>
        stablehlo.return %iterArg, %iterArg_1, %10, %9#0, %9#1, %9#2, %9#3 : tensor<8xi32>, tensor<4x8x8x4xf32>, tensor<i32>, tensor<4x8x8x4xf32>, tensor<4x8x8x4xf32>, tensor<4x8x8x4xf32>, tensor<4x8x8xf32>
      }
      %5 = stablehlo.broadcast_in_dim %4#6, dims = [0, 1, 2] : (tensor<4x8x8xf32>) -> tensor<4x8x8x1xf32>
      %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2, 3] : (tensor<4x8x8x1xf32>) -> tensor<4x8x8x4xf32>
      %7 = stablehlo.divide %4#5, %6 : tensor<4x8x8x4xf32>
      sdy.return %7 : tensor<4x8x8x4xf32>
    } : (tensor<4x64x8x4xf32>, tensor<4x64x8x4xf32>, tensor<4x64x8x4xf32>) -> tensor<4x64x8x4xf32>
    return %0 : tensor<4x64x8x4xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<8xi32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<8xi32>, tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.reshape %0 : (tensor<1xi32>) -> tensor<i32>
    return %1 : tensor<i32>
  }
  func.func private @closed_call(%arg0: tensor<4x8x8x4xf32>, %arg1: tensor<4x8x8x4xf32>, %arg2: tensor<4x8x8x4xf32>, %arg3: tensor<4x8x8x4xf32>, %arg4: tensor<4x8x8xf32>, %arg5: tensor<i32>) -> (tensor<4x8x8x4xf32>, tensor<4x8x8x4xf32>, tensor<4x8x8x4xf32>, tensor<4x8x8xf32>) {
    %0 = stablehlo.dot_general %arg1, %arg0, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x8x8x4xf32>, tensor<4x8x8x4xf32>) -> tensor<4x8x8x8xf32>
    %1 = stablehlo.transpose %0, dims = [0, 3, 1, 2] : (tensor<4x8x8x8xf32>) -> tensor<4x8x8x8xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x8x8x8xf32>
    %3 = stablehlo.multiply %1, %2 : tensor<4x8x8x8xf32>
    %4 = stablehlo.exponential %3 : tensor<4x8x8x8xf32>
    %5 = stablehlo.dot_general %arg2, %4, batching_dims = [0, 2] x [0, 2], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x8x8x4xf32>, tensor<4x8x8x8xf32>) -> tensor<4x8x4x8xf32>
    %6 = stablehlo.transpose %5, dims = [0, 3, 1, 2] : (tensor<4x8x4x8xf32>) -> tensor<4x8x8x4xf32>
    %7 = stablehlo.add %arg3, %6 : tensor<4x8x8x4xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%4 init: %cst_0) applies stablehlo.add across dimensions = [3] : (tensor<4x8x8x8xf32>, tensor<f32>) -> tensor<4x8x8xf32>
    %9 = stablehlo.add %arg4, %8 : tensor<4x8x8xf32>
    %10 = "stablehlo.collective_permute"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<4x8x8x4xf32>) -> tensor<4x8x8x4xf32>
    %11 = "stablehlo.collective_permute"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<4x8x8x4xf32>) -> tensor<4x8x8x4xf32>
    return %10, %11, %7, %9 : tensor<4x8x8x4xf32>, tensor<4x8x8x4xf32>, tensor<4x8x8x4xf32>, tensor<4x8x8xf32>
  }
}
