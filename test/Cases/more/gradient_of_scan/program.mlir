module @jit_gradient_of_scan attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=8]> {stablehlo.mesh = {axes = [{name = "batch", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<6x16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}, %arg1: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) -> (tensor<f32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<6x16x16xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x32x16xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<6x32x16xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6x32x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3:6 = stablehlo.while(%iterArg = %arg0, %iterArg_9 = %c, %iterArg_10 = %arg1, %iterArg_11 = %0, %iterArg_12 = %1, %iterArg_13 = %2) : tensor<6x16x16xf32>, tensor<i32>, tensor<32x16xf32>, tensor<6x32x16xf32>, tensor<6x32x16xf32>, tensor<6x32x16xf32>
    cond {
      %c_14 = stablehlo.constant dense<6> : tensor<i32>
      %14 = stablehlo.compare LT, %iterArg_9, %c_14, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %14 : tensor<i1>
    } do {
      %14 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_9) : (tensor<6x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %15:4 = func.call @closed_call(%iterArg_10, %14) : (tensor<32x16xf32>, tensor<16x16xf32>) -> (tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>)
      %16 = func.call @dynamic_update_index_in_dim(%iterArg_11, %15#1, %iterArg_9) : (tensor<6x32x16xf32>, tensor<32x16xf32>, tensor<i32>) -> tensor<6x32x16xf32>
      %17 = func.call @dynamic_update_index_in_dim(%iterArg_12, %15#2, %iterArg_9) : (tensor<6x32x16xf32>, tensor<32x16xf32>, tensor<i32>) -> tensor<6x32x16xf32>
      %18 = func.call @dynamic_update_index_in_dim(%iterArg_13, %15#3, %iterArg_9) : (tensor<6x32x16xf32>, tensor<32x16xf32>, tensor<i32>) -> tensor<6x32x16xf32>
      %c_14 = stablehlo.constant dense<1> : tensor<i32>
      %19 = stablehlo.add %iterArg_9, %c_14 : tensor<i32>
      stablehlo.return %iterArg, %19, %15#0, %16, %17, %18 : tensor<6x16x16xf32>, tensor<i32>, tensor<32x16xf32>, tensor<6x32x16xf32>, tensor<6x32x16xf32>, tensor<6x32x16xf32>
    }
    %4 = stablehlo.multiply %3#2, %3#2 : tensor<32x16xf32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %6 = stablehlo.multiply %5, %3#2 : tensor<32x16xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%4 init: %cst_3) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<f32>
    %cst_4 = stablehlo.constant dense<5.120000e+02> : tensor<f32>
    %8 = stablehlo.divide %7, %cst_4 : tensor<f32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_6 = stablehlo.constant dense<5.120000e+02> : tensor<f32>
    %9 = stablehlo.divide %cst_5, %cst_6 : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %11 = stablehlo.multiply %10, %6 : tensor<32x16xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<6x16x16xf32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %13:7 = stablehlo.while(%iterArg = %arg0, %iterArg_9 = %3#3, %iterArg_10 = %3#4, %iterArg_11 = %3#5, %iterArg_12 = %c_8, %iterArg_13 = %11, %iterArg_14 = %12) : tensor<6x16x16xf32>, tensor<6x32x16xf32>, tensor<6x32x16xf32>, tensor<6x32x16xf32>, tensor<i32>, tensor<32x16xf32>, tensor<6x16x16xf32>
    cond {
      %c_15 = stablehlo.constant dense<6> : tensor<i32>
      %14 = stablehlo.compare LT, %iterArg_12, %c_15, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %14 : tensor<i1>
    } do {
      %c_15 = stablehlo.constant dense<6> : tensor<i32>
      %14 = stablehlo.subtract %c_15, %iterArg_12 : tensor<i32>
      %c_16 = stablehlo.constant dense<1> : tensor<i32>
      %15 = stablehlo.subtract %14, %c_16 : tensor<i32>
      %16 = func.call @dynamic_index_in_dim(%iterArg, %15) : (tensor<6x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %17 = func.call @dynamic_index_in_dim_0(%iterArg_9, %15) : (tensor<6x32x16xf32>, tensor<i32>) -> tensor<32x16xf32>
      %18 = func.call @dynamic_index_in_dim_0(%iterArg_10, %15) : (tensor<6x32x16xf32>, tensor<i32>) -> tensor<32x16xf32>
      %19 = func.call @dynamic_index_in_dim_0(%iterArg_11, %15) : (tensor<6x32x16xf32>, tensor<i32>) -> tensor<32x16xf32>
      %20:2 = func.call @closed_call_1(%iterArg_13, %16, %17, %18, %19) : (tensor<32x16xf32>, tensor<16x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>) -> (tensor<32x16xf32>, tensor<16x16xf32>)
      %21 = func.call @dynamic_update_index_in_dim_2(%iterArg_14, %20#1, %15) : (tensor<6x16x16xf32>, tensor<16x16xf32>, tensor<i32>) -> tensor<6x16x16xf32>
      %c_17 = stablehlo.constant dense<1> : tensor<i32>
      %22 = stablehlo.add %iterArg_12, %c_17 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_9, %iterArg_10, %iterArg_11, %22, %20#0, %21 : tensor<6x16x16xf32>, tensor<6x32x16xf32>, tensor<6x32x16xf32>, tensor<6x32x16xf32>, tensor<i32>, tensor<32x16xf32>, tensor<6x16x16xf32>
    }
    return %8, %13#6 : tensor<f32>, tensor<6x16x16xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<6x16x16xf32>, %arg1: tensor<i32>) -> tensor<16x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 16, 16] : (tensor<6x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x16x16xf32>) -> tensor<16x16xf32>
    return %1 : tensor<16x16xf32>
  }
  func.func private @closed_call(%arg0: tensor<32x16xf32>, %arg1: tensor<16x16xf32>) -> (tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
    %1 = stablehlo.tanh %0 : tensor<32x16xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %3 = stablehlo.subtract %2, %1 : tensor<32x16xf32>
    return %1, %arg0, %1, %3 : tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<6x32x16xf32>, %arg1: tensor<32x16xf32>, %arg2: tensor<i32>) -> tensor<6x32x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<32x16xf32>) -> tensor<1x32x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<6x32x16xf32>, tensor<1x32x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x32x16xf32>
    return %1 : tensor<6x32x16xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<6x32x16xf32>, %arg1: tensor<i32>) -> tensor<32x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 32, 16] : (tensor<6x32x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x32x16xf32>) -> tensor<32x16xf32>
    return %1 : tensor<32x16xf32>
  }
  func.func private @closed_call_1(%arg0: tensor<32x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<32x16xf32>, %arg3: tensor<32x16xf32>, %arg4: tensor<32x16xf32>) -> (tensor<32x16xf32>, tensor<16x16xf32>) {
    %0 = stablehlo.multiply %arg0, %arg4 : tensor<32x16xf32>
    %1 = stablehlo.multiply %0, %arg3 : tensor<32x16xf32>
    %2 = stablehlo.add %0, %1 : tensor<32x16xf32>
    %3 = stablehlo.dot_general %2, %arg2, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
    %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %5 = stablehlo.dot_general %2, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
    return %5, %4 : tensor<32x16xf32>, tensor<16x16xf32>
  }
  func.func private @dynamic_update_index_in_dim_2(%arg0: tensor<6x16x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<i32>) -> tensor<6x16x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<16x16xf32>) -> tensor<1x16x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<6x16x16xf32>, tensor<1x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x16x16xf32>
    return %1 : tensor<6x16x16xf32>
  }
}
