module @jit_pipeline_gradient attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["stage"=4, "data"=2]> {stablehlo.mesh = {axes = [{name = "stage", size = 4 : i64}, {name = "data", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<4x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"stage"}, {}, {}]>}, %arg1: tensor<4x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {}]>}) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4x8x8xf32> {jax.result_info = "result[1]"}) {
    %0:10 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"stage"}, {}, {}]>, <@mesh, [{}, {"data"}, {}]>] out_shardings=[<@mesh, [{"stage", "data"}]>, <@mesh, [{"stage", "data"}, {}]>, <@mesh, [{"stage", "data"}, {}, {}]>, <@mesh, [{"stage", "data"}, {}, {}]>, <@mesh, [{"stage", "data"}, {}, {}]>, <@mesh, [{"stage", "data"}, {}, {}]>, <@mesh, [{"stage", "data"}]>, <@mesh, [{"stage", "data"}]>, <@mesh, [{}]>, <@mesh, []>] manual_axes={"stage", "data"} (%arg2: tensor<1x8x8xf32>, %arg3: tensor<4x4x8xf32>) {
      %2 = stablehlo.reshape %arg2 : (tensor<1x8x8xf32>) -> tensor<8x8xf32>
      %c = stablehlo.constant dense<2> : tensor<ui32>
      %c_0 = stablehlo.constant dense<4> : tensor<ui32>
      %3 = stablehlo.partition_id : tensor<ui32>
      %4 = stablehlo.divide %3, %c : tensor<ui32>
      %5 = stablehlo.remainder %4, %c_0 : tensor<ui32>
      %6 = stablehlo.convert %5 : (tensor<ui32>) -> tensor<i32>
      %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
      %8 = stablehlo.iota dim = 0 : tensor<7xi32>
      %c_2 = stablehlo.constant dense<0> : tensor<i32>
      %9 = stablehlo.compare EQ, %6, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_3 = stablehlo.constant dense<0> : tensor<i32>
      %c_4 = stablehlo.constant dense<3> : tensor<i32>
      %10:2 = func.call @clip(%c_3, %c_4) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
      %c_5 = stablehlo.constant dense<0> : tensor<i32>
      %c_6 = stablehlo.constant dense<0> : tensor<i32>
      %11 = stablehlo.compare LT, %c_5, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_7 = stablehlo.constant dense<0> : tensor<i32>
      %c_8 = stablehlo.constant dense<4> : tensor<i32>
      %12 = stablehlo.add %c_7, %c_8 : tensor<i32>
      %c_9 = stablehlo.constant dense<0> : tensor<i32>
      %13 = stablehlo.select %11, %12, %c_9 : tensor<i1>, tensor<i32>
      %c_10 = stablehlo.constant dense<0> : tensor<i32>
      %c_11 = stablehlo.constant dense<0> : tensor<i32>
      %14 = stablehlo.compare LT, %c_10, %c_11, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_12 = stablehlo.constant dense<0> : tensor<i32>
      %c_13 = stablehlo.constant dense<8> : tensor<i32>
      %15 = stablehlo.add %c_12, %c_13 : tensor<i32>
      %c_14 = stablehlo.constant dense<0> : tensor<i32>
      %16 = stablehlo.select %14, %15, %c_14 : tensor<i1>, tensor<i32>
      %17 = func.call @_where(%9) : (tensor<i1>) -> tensor<i1>
      %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %18 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<7x4x8xf32>
      %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %19 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<7x4x8xf32>
      %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %20 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<7x4x8xf32>
      %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %21 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<7x4x8xf32>
      %c_20 = stablehlo.constant dense<0> : tensor<i32>
      %22:15 = stablehlo.while(%iterArg = %8, %iterArg_28 = %arg3, %iterArg_29 = %10#0, %iterArg_30 = %10#1, %iterArg_31 = %13, %iterArg_32 = %16, %iterArg_33 = %17, %iterArg_34 = %2, %iterArg_35 = %cst_15, %iterArg_36 = %c_20, %iterArg_37 = %7, %iterArg_38 = %18, %iterArg_39 = %19, %iterArg_40 = %20, %iterArg_41 = %21) : tensor<7xi32>, tensor<4x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i1>, tensor<8x8xf32>, tensor<f32>, tensor<i32>, tensor<4x8xf32>, tensor<7x4x8xf32>, tensor<7x4x8xf32>, tensor<7x4x8xf32>, tensor<7x4x8xf32>
      cond {
        %c_42 = stablehlo.constant dense<7> : tensor<i32>
        %38 = stablehlo.compare LT, %iterArg_36, %c_42, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %38 : tensor<i1>
      } do {
        %38 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_36) : (tensor<7xi32>, tensor<i32>) -> tensor<i32>
        %39:5 = func.call @closed_call(%iterArg_28, %iterArg_29, %iterArg_30, %iterArg_31, %iterArg_32, %iterArg_33, %iterArg_34, %iterArg_35, %iterArg_37, %38) : (tensor<4x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i1>, tensor<8x8xf32>, tensor<f32>, tensor<4x8xf32>, tensor<i32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
        %40 = func.call @dynamic_update_index_in_dim(%iterArg_38, %39#1, %iterArg_36) : (tensor<7x4x8xf32>, tensor<4x8xf32>, tensor<i32>) -> tensor<7x4x8xf32>
        %41 = func.call @dynamic_update_index_in_dim(%iterArg_39, %39#2, %iterArg_36) : (tensor<7x4x8xf32>, tensor<4x8xf32>, tensor<i32>) -> tensor<7x4x8xf32>
        %42 = func.call @dynamic_update_index_in_dim(%iterArg_40, %39#3, %iterArg_36) : (tensor<7x4x8xf32>, tensor<4x8xf32>, tensor<i32>) -> tensor<7x4x8xf32>
        %43 = func.call @dynamic_update_index_in_dim(%iterArg_41, %39#4, %iterArg_36) : (tensor<7x4x8xf32>, tensor<4x8xf32>, tensor<i32>) -> tensor<7x4x8xf32>
        %c_42 = stablehlo.constant dense<1> : tensor<i32>
        %44 = stablehlo.add %iterArg_36, %c_42 : tensor<i32>
        stablehlo.return %iterArg, %iterArg_28, %iterArg_29, %iterArg_30, %iterArg_31, %iterArg_32, %iterArg_33, %iterArg_34, %iterArg_35, %44, %39#0, %40, %41, %42, %43 : tensor<7xi32>, tensor<4x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i1>, tensor<8x8xf32>, tensor<f32>, tensor<i32>, tensor<4x8xf32>, tensor<7x4x8xf32>, tensor<7x4x8xf32>, tensor<7x4x8xf32>, tensor<7x4x8xf32>
      }
      %c_21 = stablehlo.constant dense<3> : tensor<i32>
      %23 = stablehlo.compare EQ, %6, %c_21, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %24 = stablehlo.slice %22#11 [3:7, 0:4, 0:8] : (tensor<7x4x8xf32>) -> tensor<4x4x8xf32>
      %25 = stablehlo.multiply %24, %24 : tensor<4x4x8xf32>
      %cst_22 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %26 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<4x4x8xf32>
      %27 = stablehlo.multiply %26, %24 : tensor<4x4x8xf32>
      %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %28 = stablehlo.reduce(%25 init: %cst_23) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x4x8xf32>, tensor<f32>) -> tensor<f32>
      %cst_24 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
      %29 = stablehlo.divide %28, %cst_24 : tensor<f32>
      %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %30:2 = func.call @_where_2(%23, %29, %cst_25) : (tensor<i1>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<i1>)
      %31 = "stablehlo.all_reduce"(%30#0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %38 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %38 : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      %32 = "stablehlo.all_reduce"(%31) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %38 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %38 : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      %cst_26 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %33 = stablehlo.divide %32, %cst_26 : tensor<f32>
      %34 = stablehlo.broadcast_in_dim %17, dims = [] : (tensor<i1>) -> tensor<1xi1>
      %35 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<1xf32>
      %36 = stablehlo.broadcast_in_dim %30#1, dims = [] : (tensor<i1>) -> tensor<1xi1>
      %cst_27 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %37 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<1xf32>
      sdy.return %34, %2, %22#12, %22#13, %22#14, %27, %35, %36, %37, %33 : tensor<1xi1>, tensor<8x8xf32>, tensor<7x4x8xf32>, tensor<7x4x8xf32>, tensor<7x4x8xf32>, tensor<4x4x8xf32>, tensor<1xf32>, tensor<1xi1>, tensor<1xf32>, tensor<f32>
    } : (tensor<4x8x8xf32>, tensor<4x8x8xf32>) -> (tensor<8xi1>, tensor<64x8xf32>, tensor<56x4x8xf32>, tensor<56x4x8xf32>, tensor<56x4x8xf32>, tensor<32x4x8xf32>, tensor<8xf32>, tensor<8xi1>, tensor<1xf32>, tensor<f32>)
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1 = sdy.manual_computation(%cst, %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6, %0#7, %0#8) in_shardings=[<@mesh, []>, <@mesh, [{"stage", "data"}]>, <@mesh, [{"stage", "data"}, {}]>, <@mesh, [{"stage", "data"}, {}, {}]>, <@mesh, [{"stage", "data"}, {}, {}]>, <@mesh, [{"stage", "data"}, {}, {}]>, <@mesh, [{"stage", "data"}, {}, {}]>, <@mesh, [{"stage", "data"}]>, <@mesh, [{"stage", "data"}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{"stage"}, {}, {}]>] manual_axes={"stage", "data"} (%arg2: tensor<f32>, %arg3: tensor<1xi1>, %arg4: tensor<8x8xf32>, %arg5: tensor<7x4x8xf32>, %arg6: tensor<7x4x8xf32>, %arg7: tensor<7x4x8xf32>, %arg8: tensor<4x4x8xf32>, %arg9: tensor<1xf32>, %arg10: tensor<1xi1>, %arg11: tensor<1xf32>) {
      %2 = stablehlo.reshape %arg3 : (tensor<1xi1>) -> tensor<i1>
      %3 = stablehlo.reshape %arg9 : (tensor<1xf32>) -> tensor<f32>
      %4 = stablehlo.reshape %arg10 : (tensor<1xi1>) -> tensor<i1>
      %5 = stablehlo.reshape %arg11 : (tensor<1xf32>) -> tensor<f32>
      %6 = stablehlo.divide %arg2, %5 : tensor<f32>
      %7 = func.call @_where_3(%4, %6) : (tensor<i1>, tensor<f32>) -> tensor<f32>
      %8 = stablehlo.divide %7, %3 : tensor<f32>
      %9 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<4x4x8xf32>
      %10 = stablehlo.multiply %9, %arg8 : tensor<4x4x8xf32>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %11 = stablehlo.pad %10, %cst_0, low = [3, 0, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<4x4x8xf32>, tensor<f32>) -> tensor<7x4x8xf32>
      %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %13 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %c = stablehlo.constant dense<0> : tensor<i32>
      %14:9 = stablehlo.while(%iterArg = %11, %iterArg_3 = %arg5, %iterArg_4 = %arg6, %iterArg_5 = %arg7, %iterArg_6 = %2, %iterArg_7 = %arg4, %iterArg_8 = %c, %iterArg_9 = %13, %iterArg_10 = %12) : tensor<7x4x8xf32>, tensor<7x4x8xf32>, tensor<7x4x8xf32>, tensor<7x4x8xf32>, tensor<i1>, tensor<8x8xf32>, tensor<i32>, tensor<8x8xf32>, tensor<4x8xf32>
      cond {
        %c_11 = stablehlo.constant dense<7> : tensor<i32>
        %16 = stablehlo.compare LT, %iterArg_8, %c_11, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %16 : tensor<i1>
      } do {
        %c_11 = stablehlo.constant dense<7> : tensor<i32>
        %16 = stablehlo.subtract %c_11, %iterArg_8 : tensor<i32>
        %c_12 = stablehlo.constant dense<1> : tensor<i32>
        %17 = stablehlo.subtract %16, %c_12 : tensor<i32>
        %18 = func.call @dynamic_index_in_dim_4(%iterArg, %17) : (tensor<7x4x8xf32>, tensor<i32>) -> tensor<4x8xf32>
        %19 = func.call @dynamic_index_in_dim_4(%iterArg_3, %17) : (tensor<7x4x8xf32>, tensor<i32>) -> tensor<4x8xf32>
        %20 = func.call @dynamic_index_in_dim_4(%iterArg_4, %17) : (tensor<7x4x8xf32>, tensor<i32>) -> tensor<4x8xf32>
        %21 = func.call @dynamic_index_in_dim_4(%iterArg_5, %17) : (tensor<7x4x8xf32>, tensor<i32>) -> tensor<4x8xf32>
        %22:2 = func.call @closed_call_5(%iterArg_6, %iterArg_7, %iterArg_9, %iterArg_10, %18, %19, %20, %21) : (tensor<i1>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<8x8xf32>, tensor<4x8xf32>)
        %c_13 = stablehlo.constant dense<1> : tensor<i32>
        %23 = stablehlo.add %iterArg_8, %c_13 : tensor<i32>
        stablehlo.return %iterArg, %iterArg_3, %iterArg_4, %iterArg_5, %iterArg_6, %iterArg_7, %23, %22#0, %22#1 : tensor<7x4x8xf32>, tensor<7x4x8xf32>, tensor<7x4x8xf32>, tensor<7x4x8xf32>, tensor<i1>, tensor<8x8xf32>, tensor<i32>, tensor<8x8xf32>, tensor<4x8xf32>
      }
      %15 = stablehlo.broadcast_in_dim %14#7, dims = [1, 2] : (tensor<8x8xf32>) -> tensor<1x8x8xf32>
      sdy.return %15 : tensor<1x8x8xf32>
    } : (tensor<f32>, tensor<8xi1>, tensor<64x8xf32>, tensor<56x4x8xf32>, tensor<56x4x8xf32>, tensor<56x4x8xf32>, tensor<32x4x8xf32>, tensor<8xf32>, tensor<8xi1>, tensor<1xf32>) -> tensor<4x8x8xf32>
    return %0#9, %1 : tensor<f32>, tensor<4x8x8xf32>
  }
  func.func private @clip(%arg0: tensor<i32>, %arg1: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
    %0 = stablehlo.convert %arg0 : tensor<i32>
    %1 = stablehlo.convert %arg1 : tensor<i32>
    return %1, %0 : tensor<i32>, tensor<i32>
  }
  func.func private @_where(%arg0: tensor<i1>) -> tensor<i1> {
    return %arg0 : tensor<i1>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<7xi32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<7xi32>, tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.reshape %0 : (tensor<1xi32>) -> tensor<i32>
    return %1 : tensor<i32>
  }
  func.func private @closed_call(%arg0: tensor<4x4x8xf32>, %arg1: tensor<i32>, %arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<i32>, %arg5: tensor<i1>, %arg6: tensor<8x8xf32>, %arg7: tensor<f32>, %arg8: tensor<4x8xf32>, %arg9: tensor<i32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
    %0 = call @clip_0(%arg9, %arg1, %arg2) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare LT, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<4> : tensor<i32>
    %2 = stablehlo.add %0, %c_0 : tensor<i32>
    %3 = stablehlo.select %1, %2, %0 : tensor<i1>, tensor<i32>
    %4 = stablehlo.dynamic_slice %arg0, %3, %arg3, %arg4, sizes = [1, 4, 8] : (tensor<4x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x8xf32>
    %5 = stablehlo.reshape %4 : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
    %6 = call @_where_1(%5, %arg8, %arg5) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<i1>) -> tensor<4x8xf32>
    %7 = stablehlo.dot_general %6, %arg6, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %8 = stablehlo.tanh %7 : tensor<4x8xf32>
    %9 = stablehlo.broadcast_in_dim %arg7, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %10 = stablehlo.subtract %9, %8 : tensor<4x8xf32>
    %11 = "stablehlo.collective_permute"(%8) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 2], [2, 4], [4, 6], [6, 0], [1, 3], [3, 5], [5, 7], [7, 1]]> : tensor<8x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %11, %8, %6, %8, %10 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  }
  func.func private @clip_0(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.maximum %arg2, %arg0 : tensor<i32>
    %1 = stablehlo.minimum %arg1, %0 : tensor<i32>
    return %1 : tensor<i32>
  }
  func.func private @_where_1(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>, %arg2: tensor<i1>) -> tensor<4x8xf32> {
    %0 = stablehlo.select %arg2, %arg0, %arg1 : tensor<i1>, tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<7x4x8xf32>, %arg1: tensor<4x8xf32>, %arg2: tensor<i32>) -> tensor<7x4x8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<4x8xf32>) -> tensor<1x4x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<7x4x8xf32>, tensor<1x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<7x4x8xf32>
    return %1 : tensor<7x4x8xf32>
  }
  func.func private @_where_2(%arg0: tensor<i1>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> (tensor<f32>, tensor<i1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<i1>, tensor<f32>
    return %1, %arg0 : tensor<f32>, tensor<i1>
  }
  func.func private @_where_3(%arg0: tensor<i1>, %arg1: tensor<f32>) -> tensor<f32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.select %arg0, %arg1, %cst : tensor<i1>, tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @dynamic_index_in_dim_4(%arg0: tensor<7x4x8xf32>, %arg1: tensor<i32>) -> tensor<4x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 4, 8] : (tensor<7x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
    return %1 : tensor<4x8xf32>
  }
  func.func private @closed_call_5(%arg0: tensor<i1>, %arg1: tensor<8x8xf32>, %arg2: tensor<8x8xf32>, %arg3: tensor<4x8xf32>, %arg4: tensor<4x8xf32>, %arg5: tensor<4x8xf32>, %arg6: tensor<4x8xf32>, %arg7: tensor<4x8xf32>) -> (tensor<8x8xf32>, tensor<4x8xf32>) {
    %0 = "stablehlo.collective_permute"(%arg3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[2, 0], [4, 2], [6, 4], [0, 6], [3, 1], [5, 3], [7, 5], [1, 7]]> : tensor<8x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = stablehlo.add %arg4, %0 : tensor<4x8xf32>
    %2 = stablehlo.multiply %1, %arg7 : tensor<4x8xf32>
    %3 = stablehlo.multiply %2, %arg6 : tensor<4x8xf32>
    %4 = stablehlo.add %2, %3 : tensor<4x8xf32>
    %5 = stablehlo.dot_general %4, %arg5, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    %6 = stablehlo.transpose %5, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %7 = stablehlo.dot_general %4, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %8 = "stablehlo.all_reduce"(%6) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, use_global_device_ids}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %11 = stablehlo.add %arg8, %arg9 : tensor<f32>
      stablehlo.return %11 : tensor<f32>
    }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %9 = stablehlo.add %arg2, %8 : tensor<8x8xf32>
    %10 = call @_where_6(%arg0, %7) : (tensor<i1>, tensor<4x8xf32>) -> tensor<4x8xf32>
    return %9, %10 : tensor<8x8xf32>, tensor<4x8xf32>
  }
  func.func private @_where_6(%arg0: tensor<i1>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %1 = stablehlo.select %arg0, %0, %arg1 : tensor<i1>, tensor<4x8xf32>
    return %1 : tensor<4x8xf32>
  }
}
