// Written by test/Scale/export.py.
module @jit_step attributes {mhlo.num_partitions = 64 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=8, "model"=8]> {stablehlo.mesh = {axes = [{name = "data", size = 8 : i64}, {name = "model", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<80x28672x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {"data"}]>, tf.aliasing_output = 0 : i32}, %arg1: tensor<32000x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>, tf.aliasing_output = 1 : i32}, %arg2: tensor<80x8192x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>, tf.aliasing_output = 2 : i32}, %arg3: tensor<80x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>, tf.aliasing_output = 3 : i32}, %arg4: tensor<80x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>, tf.aliasing_output = 4 : i32}, %arg5: tensor<80x8192x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {"data"}]>, tf.aliasing_output = 5 : i32}, %arg6: tensor<80x8192x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>, tf.aliasing_output = 6 : i32}, %arg7: tensor<80x8192x28672xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>, tf.aliasing_output = 7 : i32}, %arg8: tensor<80x8192x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>, tf.aliasing_output = 8 : i32}, %arg9: tensor<80x28672x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {"data"}]>, tf.aliasing_output = 9 : i32}, %arg10: tensor<32000x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>, tf.aliasing_output = 10 : i32}, %arg11: tensor<80x8192x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>, tf.aliasing_output = 11 : i32}, %arg12: tensor<80x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>, tf.aliasing_output = 12 : i32}, %arg13: tensor<80x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>, tf.aliasing_output = 13 : i32}, %arg14: tensor<80x8192x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {"data"}]>, tf.aliasing_output = 14 : i32}, %arg15: tensor<80x8192x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>, tf.aliasing_output = 15 : i32}, %arg16: tensor<80x8192x28672xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>, tf.aliasing_output = 16 : i32}, %arg17: tensor<80x8192x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>, tf.aliasing_output = 17 : i32}, %arg18: tensor<80x28672x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {"data"}]>, tf.aliasing_output = 18 : i32}, %arg19: tensor<32000x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>, tf.aliasing_output = 19 : i32}, %arg20: tensor<80x8192x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>, tf.aliasing_output = 20 : i32}, %arg21: tensor<80x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>, tf.aliasing_output = 21 : i32}, %arg22: tensor<80x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>, tf.aliasing_output = 22 : i32}, %arg23: tensor<80x8192x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {"data"}]>, tf.aliasing_output = 23 : i32}, %arg24: tensor<80x8192x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>, tf.aliasing_output = 24 : i32}, %arg25: tensor<80x8192x28672xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>, tf.aliasing_output = 25 : i32}, %arg26: tensor<80x8192x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>, tf.aliasing_output = 26 : i32}, %arg27: tensor<64x4096xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %arg28: tensor<64x4096xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<80x28672x8192xf32> {jax.result_info = "result[0]['down']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {"data"}]>}, tensor<32000x8192xf32> {jax.result_info = "result[0]['embedding']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, tensor<80x8192x8192xf32> {jax.result_info = "result[0]['key']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>}, tensor<80x8192xf32> {jax.result_info = "result[0]['norm1']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<80x8192xf32> {jax.result_info = "result[0]['norm2']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<80x8192x8192xf32> {jax.result_info = "result[0]['out']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {"data"}]>}, tensor<80x8192x8192xf32> {jax.result_info = "result[0]['query']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>}, tensor<80x8192x28672xf32> {jax.result_info = "result[0]['up']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>}, tensor<80x8192x8192xf32> {jax.result_info = "result[0]['value']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>}, tensor<80x28672x8192xf32> {jax.result_info = "result[1]['down']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {"data"}]>}, tensor<32000x8192xf32> {jax.result_info = "result[1]['embedding']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, tensor<80x8192x8192xf32> {jax.result_info = "result[1]['key']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>}, tensor<80x8192xf32> {jax.result_info = "result[1]['norm1']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<80x8192xf32> {jax.result_info = "result[1]['norm2']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<80x8192x8192xf32> {jax.result_info = "result[1]['out']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {"data"}]>}, tensor<80x8192x8192xf32> {jax.result_info = "result[1]['query']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>}, tensor<80x8192x28672xf32> {jax.result_info = "result[1]['up']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>}, tensor<80x8192x8192xf32> {jax.result_info = "result[1]['value']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>}, tensor<80x28672x8192xf32> {jax.result_info = "result[2]['down']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {"data"}]>}, tensor<32000x8192xf32> {jax.result_info = "result[2]['embedding']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, tensor<80x8192x8192xf32> {jax.result_info = "result[2]['key']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>}, tensor<80x8192xf32> {jax.result_info = "result[2]['norm1']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<80x8192xf32> {jax.result_info = "result[2]['norm2']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<80x8192x8192xf32> {jax.result_info = "result[2]['out']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {"data"}]>}, tensor<80x8192x8192xf32> {jax.result_info = "result[2]['query']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>}, tensor<80x8192x28672xf32> {jax.result_info = "result[2]['up']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>}, tensor<80x8192x8192xf32> {jax.result_info = "result[2]['value']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>}, tensor<f32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.convert %arg1 : (tensor<32000x8192xf32>) -> tensor<32000x8192xbf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<64x4096xi32>
    %2 = stablehlo.compare LT, %arg27, %1, SIGNED : (tensor<64x4096xi32>, tensor<64x4096xi32>) -> tensor<64x4096xi1>
    %c_0 = stablehlo.constant dense<32000> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<64x4096xi32>
    %4 = stablehlo.add %arg27, %3 : tensor<64x4096xi32>
    %5 = stablehlo.select %2, %4, %arg27 : tensor<64x4096xi1>, tensor<64x4096xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<64x4096xi32>) -> tensor<64x4096x1xi32>
    %7 = "stablehlo.gather"(%0, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8192>}> : (tensor<32000x8192xbf16>, tensor<64x4096x1xi32>) -> tensor<64x4096x8192xbf16>
    %8 = sdy.sharding_constraint %7 <@mesh, [{"data"}, {}, {}]> : tensor<64x4096x8192xbf16>
    %c_1 = stablehlo.constant dense<true> : tensor<i1>
    %9 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i1>) -> tensor<4096x4096xi1>
    %10 = call @tril(%9) : (tensor<4096x4096xi1>) -> tensor<4096x4096xi1>
    %cst = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %11:2 = call @_where(%10, %cst) : (tensor<4096x4096xi1>, tensor<f32>) -> (tensor<64x64x4096x4096xi1>, tensor<64x64x4096x4096xf32>)
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %12 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<bf16>) -> tensor<80x64x4096x8192xbf16>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %13:13 = stablehlo.while(%iterArg = %arg0, %iterArg_78 = %arg2, %iterArg_79 = %arg3, %iterArg_80 = %arg4, %iterArg_81 = %arg5, %iterArg_82 = %arg6, %iterArg_83 = %arg7, %iterArg_84 = %arg8, %iterArg_85 = %11#0, %iterArg_86 = %11#1, %iterArg_87 = %c_3, %iterArg_88 = %8, %iterArg_89 = %12) : tensor<80x28672x8192xf32>, tensor<80x8192x8192xf32>, tensor<80x8192xf32>, tensor<80x8192xf32>, tensor<80x8192x8192xf32>, tensor<80x8192x8192xf32>, tensor<80x8192x28672xf32>, tensor<80x8192x8192xf32>, tensor<64x64x4096x4096xi1>, tensor<64x64x4096x4096xf32>, tensor<i32>, tensor<64x4096x8192xbf16>, tensor<80x64x4096x8192xbf16>
    cond {
      %c_90 = stablehlo.constant dense<80> : tensor<i32>
      %233 = stablehlo.compare LT, %iterArg_87, %c_90, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %233 : tensor<i1>
    } do {
      %233 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_87) : (tensor<80x28672x8192xf32>, tensor<i32>) -> tensor<28672x8192xf32>
      %234 = func.call @dynamic_index_in_dim_0(%iterArg_78, %iterArg_87) : (tensor<80x8192x8192xf32>, tensor<i32>) -> tensor<8192x8192xf32>
      %235 = func.call @dynamic_index_in_dim_1(%iterArg_79, %iterArg_87) : (tensor<80x8192xf32>, tensor<i32>) -> tensor<8192xf32>
      %236 = func.call @dynamic_index_in_dim_1(%iterArg_80, %iterArg_87) : (tensor<80x8192xf32>, tensor<i32>) -> tensor<8192xf32>
      %237 = func.call @dynamic_index_in_dim_0(%iterArg_81, %iterArg_87) : (tensor<80x8192x8192xf32>, tensor<i32>) -> tensor<8192x8192xf32>
      %238 = func.call @dynamic_index_in_dim_0(%iterArg_82, %iterArg_87) : (tensor<80x8192x8192xf32>, tensor<i32>) -> tensor<8192x8192xf32>
      %239 = func.call @dynamic_index_in_dim_2(%iterArg_83, %iterArg_87) : (tensor<80x8192x28672xf32>, tensor<i32>) -> tensor<8192x28672xf32>
      %240 = func.call @dynamic_index_in_dim_0(%iterArg_84, %iterArg_87) : (tensor<80x8192x8192xf32>, tensor<i32>) -> tensor<8192x8192xf32>
      %241:2 = func.call @closed_call(%iterArg_85, %iterArg_86, %iterArg_88, %233, %234, %235, %236, %237, %238, %239, %240) : (tensor<64x64x4096x4096xi1>, tensor<64x64x4096x4096xf32>, tensor<64x4096x8192xbf16>, tensor<28672x8192xf32>, tensor<8192x8192xf32>, tensor<8192xf32>, tensor<8192xf32>, tensor<8192x8192xf32>, tensor<8192x8192xf32>, tensor<8192x28672xf32>, tensor<8192x8192xf32>) -> (tensor<64x4096x8192xbf16>, tensor<64x4096x8192xbf16>)
      %242 = func.call @dynamic_update_index_in_dim(%iterArg_89, %241#1, %iterArg_87) : (tensor<80x64x4096x8192xbf16>, tensor<64x4096x8192xbf16>, tensor<i32>) -> tensor<80x64x4096x8192xbf16>
      %c_90 = stablehlo.constant dense<1> : tensor<i32>
      %243 = stablehlo.add %iterArg_87, %c_90 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_78, %iterArg_79, %iterArg_80, %iterArg_81, %iterArg_82, %iterArg_83, %iterArg_84, %iterArg_85, %iterArg_86, %243, %241#0, %242 : tensor<80x28672x8192xf32>, tensor<80x8192x8192xf32>, tensor<80x8192xf32>, tensor<80x8192xf32>, tensor<80x8192x8192xf32>, tensor<80x8192x8192xf32>, tensor<80x8192x28672xf32>, tensor<80x8192x8192xf32>, tensor<64x64x4096x4096xi1>, tensor<64x64x4096x4096xf32>, tensor<i32>, tensor<64x4096x8192xbf16>, tensor<80x64x4096x8192xbf16>
    }
    %14 = stablehlo.dot_general %13#11, %0, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x8192xbf16>, tensor<32000x8192xbf16>) -> tensor<64x4096x32000xbf16>
    %15 = sdy.sharding_constraint %14 <@mesh, [{"data"}, {}, {"model"}]> : tensor<64x4096x32000xbf16>
    %16 = stablehlo.convert %15 : (tensor<64x4096x32000xbf16>) -> tensor<64x4096x32000xf32>
    %17 = stablehlo.broadcast_in_dim %arg28, dims = [0, 1] : (tensor<64x4096xi32>) -> tensor<64x4096x1xi32>
    %18:2 = call @take_along_axis(%16, %17) : (tensor<64x4096x32000xf32>, tensor<64x4096x1xi32>) -> (tensor<64x4096x1xf32>, tensor<64x4096x1x1xi32>)
    %19 = stablehlo.reshape %18#0 : (tensor<64x4096x1xf32>) -> tensor<64x4096xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %20 = stablehlo.reduce(%16 init: %cst_4) applies stablehlo.maximum across dimensions = [2] : (tensor<64x4096x32000xf32>, tensor<f32>) -> tensor<64x4096xf32>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<64x4096xf32>
    %22 = stablehlo.maximum %21, %20 : tensor<64x4096xf32>
    %23 = stablehlo.is_finite %22 : (tensor<64x4096xf32>) -> tensor<64x4096xi1>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<64x4096xf32>
    %25 = stablehlo.select %23, %22, %24 : tensor<64x4096xi1>, tensor<64x4096xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1] : (tensor<64x4096xf32>) -> tensor<64x4096x1xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2] : (tensor<64x4096x1xf32>) -> tensor<64x4096x32000xf32>
    %28 = stablehlo.subtract %16, %27 : tensor<64x4096x32000xf32>
    %29 = stablehlo.exponential %28 : tensor<64x4096x32000xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.reduce(%29 init: %cst_7) applies stablehlo.add across dimensions = [2] : (tensor<64x4096x32000xf32>, tensor<f32>) -> tensor<64x4096xf32>
    %31 = stablehlo.abs %30 : tensor<64x4096xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<64x4096xf32>
    %33 = stablehlo.compare GE, %30, %32, FLOAT : (tensor<64x4096xf32>, tensor<64x4096xf32>) -> tensor<64x4096xi1>
    %34 = stablehlo.log %31 : tensor<64x4096xf32>
    %35 = stablehlo.add %34, %25 : tensor<64x4096xf32>
    %36 = stablehlo.subtract %35, %19 : tensor<64x4096xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.reduce(%36 init: %cst_9) applies stablehlo.add across dimensions = [0, 1] : (tensor<64x4096xf32>, tensor<f32>) -> tensor<f32>
    %cst_10 = stablehlo.constant dense<2.621440e+05> : tensor<f32>
    %38 = stablehlo.divide %37, %cst_10 : tensor<f32>
    %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_12 = stablehlo.constant dense<2.621440e+05> : tensor<f32>
    %39 = stablehlo.divide %cst_11, %cst_12 : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %39, dims = [] : (tensor<f32>) -> tensor<64x4096xf32>
    %41 = stablehlo.negate %40 : tensor<64x4096xf32>
    %42 = stablehlo.divide %40, %31 : tensor<64x4096xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<64x4096xf32>
    %44 = stablehlo.select %33, %43, %42 : tensor<64x4096xi1>, tensor<64x4096xf32>
    %45 = stablehlo.select %33, %42, %43 : tensor<64x4096xi1>, tensor<64x4096xf32>
    %46 = stablehlo.negate %44 : tensor<64x4096xf32>
    %47 = stablehlo.add %45, %46 : tensor<64x4096xf32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [0, 1] : (tensor<64x4096xf32>) -> tensor<64x4096x32000xf32>
    %49 = stablehlo.multiply %48, %29 : tensor<64x4096x32000xf32>
    %50 = stablehlo.broadcast_in_dim %41, dims = [0, 1] : (tensor<64x4096xf32>) -> tensor<64x4096x1xf32>
    %51 = call @take_along_axis_4(%18#1, %50) : (tensor<64x4096x1x1xi32>, tensor<64x4096x1xf32>) -> tensor<64x4096x32000xf32>
    %52 = stablehlo.add %49, %51 : tensor<64x4096x32000xf32>
    %53 = stablehlo.convert %52 : (tensor<64x4096x32000xf32>) -> tensor<64x4096x32000xbf16>
    %54 = sdy.sharding_constraint %53 <@mesh, [{"data"}, {}, {"model"}]> : tensor<64x4096x32000xbf16>
    %55 = stablehlo.dot_general %54, %13#11, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x32000xbf16>, tensor<64x4096x8192xbf16>) -> tensor<32000x8192xbf16>
    %56 = stablehlo.dot_general %54, %0, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x32000xbf16>, tensor<32000x8192xbf16>) -> tensor<64x4096x8192xbf16>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<80x28672x8192xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<80x8192xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<80x8192xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<80x8192x28672xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %64 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %c_22 = stablehlo.constant dense<0> : tensor<i32>
    %65:19 = stablehlo.while(%iterArg = %13#12, %iterArg_78 = %arg0, %iterArg_79 = %arg2, %iterArg_80 = %arg3, %iterArg_81 = %arg4, %iterArg_82 = %arg5, %iterArg_83 = %arg6, %iterArg_84 = %arg7, %iterArg_85 = %arg8, %iterArg_86 = %c_22, %iterArg_87 = %56, %iterArg_88 = %57, %iterArg_89 = %58, %iterArg_90 = %59, %iterArg_91 = %60, %iterArg_92 = %61, %iterArg_93 = %62, %iterArg_94 = %63, %iterArg_95 = %64) : tensor<80x64x4096x8192xbf16>, tensor<80x28672x8192xf32>, tensor<80x8192x8192xf32>, tensor<80x8192xf32>, tensor<80x8192xf32>, tensor<80x8192x8192xf32>, tensor<80x8192x8192xf32>, tensor<80x8192x28672xf32>, tensor<80x8192x8192xf32>, tensor<i32>, tensor<64x4096x8192xbf16>, tensor<80x28672x8192xf32>, tensor<80x8192x8192xf32>, tensor<80x8192xf32>, tensor<80x8192xf32>, tensor<80x8192x8192xf32>, tensor<80x8192x8192xf32>, tensor<80x8192x28672xf32>, tensor<80x8192x8192xf32>
    cond {
      %c_96 = stablehlo.constant dense<80> : tensor<i32>
      %233 = stablehlo.compare LT, %iterArg_86, %c_96, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %233 : tensor<i1>
    } do {
      %c_96 = stablehlo.constant dense<80> : tensor<i32>
      %233 = stablehlo.subtract %c_96, %iterArg_86 : tensor<i32>
      %c_97 = stablehlo.constant dense<1> : tensor<i32>
      %234 = stablehlo.subtract %233, %c_97 : tensor<i32>
      %235 = func.call @dynamic_index_in_dim_5(%iterArg, %234) : (tensor<80x64x4096x8192xbf16>, tensor<i32>) -> tensor<64x4096x8192xbf16>
      %236 = func.call @dynamic_index_in_dim(%iterArg_78, %234) : (tensor<80x28672x8192xf32>, tensor<i32>) -> tensor<28672x8192xf32>
      %237 = func.call @dynamic_index_in_dim_0(%iterArg_79, %234) : (tensor<80x8192x8192xf32>, tensor<i32>) -> tensor<8192x8192xf32>
      %238 = func.call @dynamic_index_in_dim_1(%iterArg_80, %234) : (tensor<80x8192xf32>, tensor<i32>) -> tensor<8192xf32>
      %239 = func.call @dynamic_index_in_dim_1(%iterArg_81, %234) : (tensor<80x8192xf32>, tensor<i32>) -> tensor<8192xf32>
      %240 = func.call @dynamic_index_in_dim_0(%iterArg_82, %234) : (tensor<80x8192x8192xf32>, tensor<i32>) -> tensor<8192x8192xf32>
      %241 = func.call @dynamic_index_in_dim_0(%iterArg_83, %234) : (tensor<80x8192x8192xf32>, tensor<i32>) -> tensor<8192x8192xf32>
      %242 = func.call @dynamic_index_in_dim_2(%iterArg_84, %234) : (tensor<80x8192x28672xf32>, tensor<i32>) -> tensor<8192x28672xf32>
      %243 = func.call @dynamic_index_in_dim_0(%iterArg_85, %234) : (tensor<80x8192x8192xf32>, tensor<i32>) -> tensor<8192x8192xf32>
      %244:9 = func.call @closed_call_6(%iterArg_87, %235, %236, %237, %238, %239, %240, %241, %242, %243) : (tensor<64x4096x8192xbf16>, tensor<64x4096x8192xbf16>, tensor<28672x8192xf32>, tensor<8192x8192xf32>, tensor<8192xf32>, tensor<8192xf32>, tensor<8192x8192xf32>, tensor<8192x8192xf32>, tensor<8192x28672xf32>, tensor<8192x8192xf32>) -> (tensor<64x4096x8192xbf16>, tensor<28672x8192xf32>, tensor<8192x8192xf32>, tensor<8192xf32>, tensor<8192xf32>, tensor<8192x8192xf32>, tensor<8192x8192xf32>, tensor<8192x28672xf32>, tensor<8192x8192xf32>)
      %245 = func.call @dynamic_update_index_in_dim_10(%iterArg_88, %244#1, %234) : (tensor<80x28672x8192xf32>, tensor<28672x8192xf32>, tensor<i32>) -> tensor<80x28672x8192xf32>
      %246 = func.call @dynamic_update_index_in_dim_11(%iterArg_89, %244#2, %234) : (tensor<80x8192x8192xf32>, tensor<8192x8192xf32>, tensor<i32>) -> tensor<80x8192x8192xf32>
      %247 = func.call @dynamic_update_index_in_dim_12(%iterArg_90, %244#3, %234) : (tensor<80x8192xf32>, tensor<8192xf32>, tensor<i32>) -> tensor<80x8192xf32>
      %248 = func.call @dynamic_update_index_in_dim_12(%iterArg_91, %244#4, %234) : (tensor<80x8192xf32>, tensor<8192xf32>, tensor<i32>) -> tensor<80x8192xf32>
      %249 = func.call @dynamic_update_index_in_dim_11(%iterArg_92, %244#5, %234) : (tensor<80x8192x8192xf32>, tensor<8192x8192xf32>, tensor<i32>) -> tensor<80x8192x8192xf32>
      %250 = func.call @dynamic_update_index_in_dim_11(%iterArg_93, %244#6, %234) : (tensor<80x8192x8192xf32>, tensor<8192x8192xf32>, tensor<i32>) -> tensor<80x8192x8192xf32>
      %251 = func.call @dynamic_update_index_in_dim_13(%iterArg_94, %244#7, %234) : (tensor<80x8192x28672xf32>, tensor<8192x28672xf32>, tensor<i32>) -> tensor<80x8192x28672xf32>
      %252 = func.call @dynamic_update_index_in_dim_11(%iterArg_95, %244#8, %234) : (tensor<80x8192x8192xf32>, tensor<8192x8192xf32>, tensor<i32>) -> tensor<80x8192x8192xf32>
      %c_98 = stablehlo.constant dense<1> : tensor<i32>
      %253 = stablehlo.add %iterArg_86, %c_98 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_78, %iterArg_79, %iterArg_80, %iterArg_81, %iterArg_82, %iterArg_83, %iterArg_84, %iterArg_85, %253, %244#0, %245, %246, %247, %248, %249, %250, %251, %252 : tensor<80x64x4096x8192xbf16>, tensor<80x28672x8192xf32>, tensor<80x8192x8192xf32>, tensor<80x8192xf32>, tensor<80x8192xf32>, tensor<80x8192x8192xf32>, tensor<80x8192x8192xf32>, tensor<80x8192x28672xf32>, tensor<80x8192x8192xf32>, tensor<i32>, tensor<64x4096x8192xbf16>, tensor<80x28672x8192xf32>, tensor<80x8192x8192xf32>, tensor<80x8192xf32>, tensor<80x8192xf32>, tensor<80x8192x8192xf32>, tensor<80x8192x8192xf32>, tensor<80x8192x28672xf32>, tensor<80x8192x8192xf32>
    }
    %66 = sdy.sharding_constraint %65#10 <@mesh, [{"data"}, {}, {}]> : tensor<64x4096x8192xbf16>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %67 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<bf16>) -> tensor<32000x8192xbf16>
    %68 = "stablehlo.scatter"(%67, %6, %66) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg29: tensor<bf16>, %arg30: tensor<bf16>):
      %233 = stablehlo.add %arg29, %arg30 : tensor<bf16>
      stablehlo.return %233 : tensor<bf16>
    }) : (tensor<32000x8192xbf16>, tensor<64x4096x1xi32>, tensor<64x4096x8192xbf16>) -> tensor<32000x8192xbf16>
    %69 = stablehlo.add %55, %68 : tensor<32000x8192xbf16>
    %70 = stablehlo.convert %69 : (tensor<32000x8192xbf16>) -> tensor<32000x8192xf32>
    %cst_24 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %71 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<80x28672x8192xf32>
    %72 = stablehlo.multiply %71, %arg9 : tensor<80x28672x8192xf32>
    %cst_25 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %73 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<80x28672x8192xf32>
    %74 = stablehlo.multiply %73, %65#11 : tensor<80x28672x8192xf32>
    %75 = stablehlo.add %72, %74 : tensor<80x28672x8192xf32>
    %cst_26 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %76 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<32000x8192xf32>
    %77 = stablehlo.multiply %76, %arg10 : tensor<32000x8192xf32>
    %cst_27 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %78 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<32000x8192xf32>
    %79 = stablehlo.multiply %78, %70 : tensor<32000x8192xf32>
    %80 = stablehlo.add %77, %79 : tensor<32000x8192xf32>
    %cst_28 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %82 = stablehlo.multiply %81, %arg11 : tensor<80x8192x8192xf32>
    %cst_29 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %83 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %84 = stablehlo.multiply %83, %65#12 : tensor<80x8192x8192xf32>
    %85 = stablehlo.add %82, %84 : tensor<80x8192x8192xf32>
    %cst_30 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<80x8192xf32>
    %87 = stablehlo.multiply %86, %arg12 : tensor<80x8192xf32>
    %cst_31 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %88 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<80x8192xf32>
    %89 = stablehlo.multiply %88, %65#13 : tensor<80x8192xf32>
    %90 = stablehlo.add %87, %89 : tensor<80x8192xf32>
    %cst_32 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %91 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<80x8192xf32>
    %92 = stablehlo.multiply %91, %arg13 : tensor<80x8192xf32>
    %cst_33 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %93 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<80x8192xf32>
    %94 = stablehlo.multiply %93, %65#14 : tensor<80x8192xf32>
    %95 = stablehlo.add %92, %94 : tensor<80x8192xf32>
    %cst_34 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %96 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %97 = stablehlo.multiply %96, %arg14 : tensor<80x8192x8192xf32>
    %cst_35 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %98 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %99 = stablehlo.multiply %98, %65#15 : tensor<80x8192x8192xf32>
    %100 = stablehlo.add %97, %99 : tensor<80x8192x8192xf32>
    %cst_36 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %101 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %102 = stablehlo.multiply %101, %arg15 : tensor<80x8192x8192xf32>
    %cst_37 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %103 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %104 = stablehlo.multiply %103, %65#16 : tensor<80x8192x8192xf32>
    %105 = stablehlo.add %102, %104 : tensor<80x8192x8192xf32>
    %cst_38 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %106 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<80x8192x28672xf32>
    %107 = stablehlo.multiply %106, %arg16 : tensor<80x8192x28672xf32>
    %cst_39 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %108 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<80x8192x28672xf32>
    %109 = stablehlo.multiply %108, %65#17 : tensor<80x8192x28672xf32>
    %110 = stablehlo.add %107, %109 : tensor<80x8192x28672xf32>
    %cst_40 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %111 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %112 = stablehlo.multiply %111, %arg17 : tensor<80x8192x8192xf32>
    %cst_41 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %113 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %114 = stablehlo.multiply %113, %65#18 : tensor<80x8192x8192xf32>
    %115 = stablehlo.add %112, %114 : tensor<80x8192x8192xf32>
    %cst_42 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %116 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<80x28672x8192xf32>
    %117 = stablehlo.multiply %116, %arg18 : tensor<80x28672x8192xf32>
    %cst_43 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %118 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<80x28672x8192xf32>
    %119 = stablehlo.multiply %118, %65#11 : tensor<80x28672x8192xf32>
    %120 = stablehlo.multiply %119, %65#11 : tensor<80x28672x8192xf32>
    %121 = stablehlo.add %117, %120 : tensor<80x28672x8192xf32>
    %cst_44 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %122 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<32000x8192xf32>
    %123 = stablehlo.multiply %122, %arg19 : tensor<32000x8192xf32>
    %cst_45 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %124 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<32000x8192xf32>
    %125 = stablehlo.multiply %124, %70 : tensor<32000x8192xf32>
    %126 = stablehlo.multiply %125, %70 : tensor<32000x8192xf32>
    %127 = stablehlo.add %123, %126 : tensor<32000x8192xf32>
    %cst_46 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %128 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %129 = stablehlo.multiply %128, %arg20 : tensor<80x8192x8192xf32>
    %cst_47 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %130 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %131 = stablehlo.multiply %130, %65#12 : tensor<80x8192x8192xf32>
    %132 = stablehlo.multiply %131, %65#12 : tensor<80x8192x8192xf32>
    %133 = stablehlo.add %129, %132 : tensor<80x8192x8192xf32>
    %cst_48 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %134 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<80x8192xf32>
    %135 = stablehlo.multiply %134, %arg21 : tensor<80x8192xf32>
    %cst_49 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %136 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<80x8192xf32>
    %137 = stablehlo.multiply %136, %65#13 : tensor<80x8192xf32>
    %138 = stablehlo.multiply %137, %65#13 : tensor<80x8192xf32>
    %139 = stablehlo.add %135, %138 : tensor<80x8192xf32>
    %cst_50 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %140 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<80x8192xf32>
    %141 = stablehlo.multiply %140, %arg22 : tensor<80x8192xf32>
    %cst_51 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %142 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<80x8192xf32>
    %143 = stablehlo.multiply %142, %65#14 : tensor<80x8192xf32>
    %144 = stablehlo.multiply %143, %65#14 : tensor<80x8192xf32>
    %145 = stablehlo.add %141, %144 : tensor<80x8192xf32>
    %cst_52 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %146 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %147 = stablehlo.multiply %146, %arg23 : tensor<80x8192x8192xf32>
    %cst_53 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %148 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %149 = stablehlo.multiply %148, %65#15 : tensor<80x8192x8192xf32>
    %150 = stablehlo.multiply %149, %65#15 : tensor<80x8192x8192xf32>
    %151 = stablehlo.add %147, %150 : tensor<80x8192x8192xf32>
    %cst_54 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %152 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %153 = stablehlo.multiply %152, %arg24 : tensor<80x8192x8192xf32>
    %cst_55 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %154 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %155 = stablehlo.multiply %154, %65#16 : tensor<80x8192x8192xf32>
    %156 = stablehlo.multiply %155, %65#16 : tensor<80x8192x8192xf32>
    %157 = stablehlo.add %153, %156 : tensor<80x8192x8192xf32>
    %cst_56 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %158 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<80x8192x28672xf32>
    %159 = stablehlo.multiply %158, %arg25 : tensor<80x8192x28672xf32>
    %cst_57 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %160 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<80x8192x28672xf32>
    %161 = stablehlo.multiply %160, %65#17 : tensor<80x8192x28672xf32>
    %162 = stablehlo.multiply %161, %65#17 : tensor<80x8192x28672xf32>
    %163 = stablehlo.add %159, %162 : tensor<80x8192x28672xf32>
    %cst_58 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %164 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %165 = stablehlo.multiply %164, %arg26 : tensor<80x8192x8192xf32>
    %cst_59 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %166 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %167 = stablehlo.multiply %166, %65#18 : tensor<80x8192x8192xf32>
    %168 = stablehlo.multiply %167, %65#18 : tensor<80x8192x8192xf32>
    %169 = stablehlo.add %165, %168 : tensor<80x8192x8192xf32>
    %cst_60 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %170 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<80x28672x8192xf32>
    %171 = stablehlo.multiply %170, %75 : tensor<80x28672x8192xf32>
    %172 = stablehlo.sqrt %121 : tensor<80x28672x8192xf32>
    %cst_61 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %173 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<80x28672x8192xf32>
    %174 = stablehlo.add %172, %173 : tensor<80x28672x8192xf32>
    %175 = stablehlo.divide %171, %174 : tensor<80x28672x8192xf32>
    %176 = stablehlo.subtract %arg0, %175 : tensor<80x28672x8192xf32>
    %cst_62 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %177 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<32000x8192xf32>
    %178 = stablehlo.multiply %177, %80 : tensor<32000x8192xf32>
    %179 = stablehlo.sqrt %127 : tensor<32000x8192xf32>
    %cst_63 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %180 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<32000x8192xf32>
    %181 = stablehlo.add %179, %180 : tensor<32000x8192xf32>
    %182 = stablehlo.divide %178, %181 : tensor<32000x8192xf32>
    %183 = stablehlo.subtract %arg1, %182 : tensor<32000x8192xf32>
    %cst_64 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %184 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %185 = stablehlo.multiply %184, %85 : tensor<80x8192x8192xf32>
    %186 = stablehlo.sqrt %133 : tensor<80x8192x8192xf32>
    %cst_65 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %187 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %188 = stablehlo.add %186, %187 : tensor<80x8192x8192xf32>
    %189 = stablehlo.divide %185, %188 : tensor<80x8192x8192xf32>
    %190 = stablehlo.subtract %arg2, %189 : tensor<80x8192x8192xf32>
    %cst_66 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %191 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<80x8192xf32>
    %192 = stablehlo.multiply %191, %90 : tensor<80x8192xf32>
    %193 = stablehlo.sqrt %139 : tensor<80x8192xf32>
    %cst_67 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %194 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<80x8192xf32>
    %195 = stablehlo.add %193, %194 : tensor<80x8192xf32>
    %196 = stablehlo.divide %192, %195 : tensor<80x8192xf32>
    %197 = stablehlo.subtract %arg3, %196 : tensor<80x8192xf32>
    %cst_68 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %198 = stablehlo.broadcast_in_dim %cst_68, dims = [] : (tensor<f32>) -> tensor<80x8192xf32>
    %199 = stablehlo.multiply %198, %95 : tensor<80x8192xf32>
    %200 = stablehlo.sqrt %145 : tensor<80x8192xf32>
    %cst_69 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %201 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<80x8192xf32>
    %202 = stablehlo.add %200, %201 : tensor<80x8192xf32>
    %203 = stablehlo.divide %199, %202 : tensor<80x8192xf32>
    %204 = stablehlo.subtract %arg4, %203 : tensor<80x8192xf32>
    %cst_70 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %205 = stablehlo.broadcast_in_dim %cst_70, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %206 = stablehlo.multiply %205, %100 : tensor<80x8192x8192xf32>
    %207 = stablehlo.sqrt %151 : tensor<80x8192x8192xf32>
    %cst_71 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %208 = stablehlo.broadcast_in_dim %cst_71, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %209 = stablehlo.add %207, %208 : tensor<80x8192x8192xf32>
    %210 = stablehlo.divide %206, %209 : tensor<80x8192x8192xf32>
    %211 = stablehlo.subtract %arg5, %210 : tensor<80x8192x8192xf32>
    %cst_72 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %212 = stablehlo.broadcast_in_dim %cst_72, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %213 = stablehlo.multiply %212, %105 : tensor<80x8192x8192xf32>
    %214 = stablehlo.sqrt %157 : tensor<80x8192x8192xf32>
    %cst_73 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %215 = stablehlo.broadcast_in_dim %cst_73, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %216 = stablehlo.add %214, %215 : tensor<80x8192x8192xf32>
    %217 = stablehlo.divide %213, %216 : tensor<80x8192x8192xf32>
    %218 = stablehlo.subtract %arg6, %217 : tensor<80x8192x8192xf32>
    %cst_74 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %219 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<80x8192x28672xf32>
    %220 = stablehlo.multiply %219, %110 : tensor<80x8192x28672xf32>
    %221 = stablehlo.sqrt %163 : tensor<80x8192x28672xf32>
    %cst_75 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %222 = stablehlo.broadcast_in_dim %cst_75, dims = [] : (tensor<f32>) -> tensor<80x8192x28672xf32>
    %223 = stablehlo.add %221, %222 : tensor<80x8192x28672xf32>
    %224 = stablehlo.divide %220, %223 : tensor<80x8192x28672xf32>
    %225 = stablehlo.subtract %arg7, %224 : tensor<80x8192x28672xf32>
    %cst_76 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %226 = stablehlo.broadcast_in_dim %cst_76, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %227 = stablehlo.multiply %226, %115 : tensor<80x8192x8192xf32>
    %228 = stablehlo.sqrt %169 : tensor<80x8192x8192xf32>
    %cst_77 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %229 = stablehlo.broadcast_in_dim %cst_77, dims = [] : (tensor<f32>) -> tensor<80x8192x8192xf32>
    %230 = stablehlo.add %228, %229 : tensor<80x8192x8192xf32>
    %231 = stablehlo.divide %227, %230 : tensor<80x8192x8192xf32>
    %232 = stablehlo.subtract %arg8, %231 : tensor<80x8192x8192xf32>
    return %176, %183, %190, %197, %204, %211, %218, %225, %232, %75, %80, %85, %90, %95, %100, %105, %110, %115, %121, %127, %133, %139, %145, %151, %157, %163, %169, %38 : tensor<80x28672x8192xf32>, tensor<32000x8192xf32>, tensor<80x8192x8192xf32>, tensor<80x8192xf32>, tensor<80x8192xf32>, tensor<80x8192x8192xf32>, tensor<80x8192x8192xf32>, tensor<80x8192x28672xf32>, tensor<80x8192x8192xf32>, tensor<80x28672x8192xf32>, tensor<32000x8192xf32>, tensor<80x8192x8192xf32>, tensor<80x8192xf32>, tensor<80x8192xf32>, tensor<80x8192x8192xf32>, tensor<80x8192x8192xf32>, tensor<80x8192x28672xf32>, tensor<80x8192x8192xf32>, tensor<80x28672x8192xf32>, tensor<32000x8192xf32>, tensor<80x8192x8192xf32>, tensor<80x8192xf32>, tensor<80x8192xf32>, tensor<80x8192x8192xf32>, tensor<80x8192x8192xf32>, tensor<80x8192x28672xf32>, tensor<80x8192x8192xf32>, tensor<f32>
  }
  func.func private @tril(%arg0: tensor<4096x4096xi1>) -> tensor<4096x4096xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<4096x4096xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4096x4096xi32>
    %2 = stablehlo.add %0, %1 : tensor<4096x4096xi32>
    %3 = stablehlo.iota dim = 1 : tensor<4096x4096xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<4096x4096xi32>, tensor<4096x4096xi32>) -> tensor<4096x4096xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<4096x4096xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<4096x4096xi1>, tensor<4096x4096xi1>
    return %6 : tensor<4096x4096xi1>
  }
  func.func private @_where(%arg0: tensor<4096x4096xi1>, %arg1: tensor<f32>) -> (tensor<64x64x4096x4096xi1>, tensor<64x64x4096x4096xf32>) {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<4096x4096xi1>) -> tensor<64x64x4096x4096xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<64x64x4096x4096xf32>
    return %1, %2 : tensor<64x64x4096x4096xi1>, tensor<64x64x4096x4096xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<80x28672x8192xf32>, %arg1: tensor<i32>) -> tensor<28672x8192xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 28672, 8192] : (tensor<80x28672x8192xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x28672x8192xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x28672x8192xf32>) -> tensor<28672x8192xf32>
    return %1 : tensor<28672x8192xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<80x8192x8192xf32>, %arg1: tensor<i32>) -> tensor<8192x8192xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 8192, 8192] : (tensor<80x8192x8192xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8192x8192xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8192x8192xf32>) -> tensor<8192x8192xf32>
    return %1 : tensor<8192x8192xf32>
  }
  func.func private @dynamic_index_in_dim_1(%arg0: tensor<80x8192xf32>, %arg1: tensor<i32>) -> tensor<8192xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 8192] : (tensor<80x8192xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8192xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8192xf32>) -> tensor<8192xf32>
    return %1 : tensor<8192xf32>
  }
  func.func private @dynamic_index_in_dim_2(%arg0: tensor<80x8192x28672xf32>, %arg1: tensor<i32>) -> tensor<8192x28672xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 8192, 28672] : (tensor<80x8192x28672xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8192x28672xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8192x28672xf32>) -> tensor<8192x28672xf32>
    return %1 : tensor<8192x28672xf32>
  }
  func.func private @closed_call(%arg0: tensor<64x64x4096x4096xi1>, %arg1: tensor<64x64x4096x4096xf32>, %arg2: tensor<64x4096x8192xbf16>, %arg3: tensor<28672x8192xf32>, %arg4: tensor<8192x8192xf32>, %arg5: tensor<8192xf32>, %arg6: tensor<8192xf32>, %arg7: tensor<8192x8192xf32>, %arg8: tensor<8192x8192xf32>, %arg9: tensor<8192x28672xf32>, %arg10: tensor<8192x8192xf32>) -> (tensor<64x4096x8192xbf16>, tensor<64x4096x8192xbf16>) {
    %0 = stablehlo.convert %arg3 : (tensor<28672x8192xf32>) -> tensor<28672x8192xbf16>
    %1 = stablehlo.convert %arg4 : (tensor<8192x8192xf32>) -> tensor<8192x8192xbf16>
    %2 = stablehlo.convert %arg5 : (tensor<8192xf32>) -> tensor<8192xbf16>
    %3 = stablehlo.convert %arg6 : (tensor<8192xf32>) -> tensor<8192xbf16>
    %4 = stablehlo.convert %arg7 : (tensor<8192x8192xf32>) -> tensor<8192x8192xbf16>
    %5 = stablehlo.convert %arg8 : (tensor<8192x8192xf32>) -> tensor<8192x8192xbf16>
    %6 = stablehlo.convert %arg9 : (tensor<8192x28672xf32>) -> tensor<8192x28672xbf16>
    %7 = stablehlo.convert %arg10 : (tensor<8192x8192xf32>) -> tensor<8192x8192xbf16>
    %8 = stablehlo.convert %arg2 : (tensor<64x4096x8192xbf16>) -> tensor<64x4096x8192xf32>
    %9 = chlo.square %8 : tensor<64x4096x8192xf32> -> tensor<64x4096x8192xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<64x4096x8192xf32>, tensor<f32>) -> tensor<64x4096xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<64x4096xf32>) -> tensor<64x4096x1xf32>
    %cst_0 = stablehlo.constant dense<8.192000e+03> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<64x4096x1xf32>
    %13 = stablehlo.divide %11, %12 : tensor<64x4096x1xf32>
    %cst_1 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<64x4096x1xf32>
    %15 = stablehlo.add %13, %14 : tensor<64x4096x1xf32>
    %16 = stablehlo.rsqrt %15 : tensor<64x4096x1xf32>
    %17 = stablehlo.convert %arg2 : (tensor<64x4096x8192xbf16>) -> tensor<64x4096x8192xf32>
    %18 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<64x4096x1xf32>) -> tensor<64x4096x8192xf32>
    %19 = stablehlo.multiply %17, %18 : tensor<64x4096x8192xf32>
    %20 = stablehlo.convert %19 : (tensor<64x4096x8192xf32>) -> tensor<64x4096x8192xbf16>
    %21 = stablehlo.broadcast_in_dim %2, dims = [2] : (tensor<8192xbf16>) -> tensor<1x1x8192xbf16>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<1x1x8192xbf16>) -> tensor<64x4096x8192xbf16>
    %23 = stablehlo.multiply %20, %22 : tensor<64x4096x8192xbf16>
    %24 = stablehlo.dot_general %23, %5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x8192xbf16>, tensor<8192x8192xbf16>) -> tensor<64x4096x8192xbf16>
    %25 = stablehlo.reshape %24 : (tensor<64x4096x8192xbf16>) -> tensor<64x4096x64x128xbf16>
    %26 = sdy.sharding_constraint %25 <@mesh, [{"data"}, {}, {"model"}, {}]> : tensor<64x4096x64x128xbf16>
    %27 = stablehlo.dot_general %23, %1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x8192xbf16>, tensor<8192x8192xbf16>) -> tensor<64x4096x8192xbf16>
    %28 = stablehlo.reshape %27 : (tensor<64x4096x8192xbf16>) -> tensor<64x4096x64x128xbf16>
    %29 = sdy.sharding_constraint %28 <@mesh, [{"data"}, {}, {"model"}, {}]> : tensor<64x4096x64x128xbf16>
    %30 = stablehlo.dot_general %23, %7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x8192xbf16>, tensor<8192x8192xbf16>) -> tensor<64x4096x8192xbf16>
    %31 = stablehlo.reshape %30 : (tensor<64x4096x8192xbf16>) -> tensor<64x4096x64x128xbf16>
    %32 = sdy.sharding_constraint %31 <@mesh, [{"data"}, {}, {"model"}, {}]> : tensor<64x4096x64x128xbf16>
    %33 = stablehlo.dot_general %26, %29, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x64x128xbf16>, tensor<64x4096x64x128xbf16>) -> tensor<64x64x4096x4096xbf16>
    %34 = stablehlo.convert %33 : (tensor<64x64x4096x4096xbf16>) -> tensor<64x64x4096x4096xf32>
    %cst_2 = stablehlo.constant dense<11.3137083> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<64x64x4096x4096xf32>
    %36 = stablehlo.divide %34, %35 : tensor<64x64x4096x4096xf32>
    %37 = call @_where_3(%36, %arg0, %arg1) : (tensor<64x64x4096x4096xf32>, tensor<64x64x4096x4096xi1>, tensor<64x64x4096x4096xf32>) -> tensor<64x64x4096x4096xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %38 = stablehlo.reduce(%37 init: %cst_3) applies stablehlo.maximum across dimensions = [3] : (tensor<64x64x4096x4096xf32>, tensor<f32>) -> tensor<64x64x4096xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<64x64x4096xf32>
    %40 = stablehlo.maximum %39, %38 : tensor<64x64x4096xf32>
    %41 = stablehlo.broadcast_in_dim %40, dims = [0, 1, 2] : (tensor<64x64x4096xf32>) -> tensor<64x64x4096x1xf32>
    %42 = stablehlo.broadcast_in_dim %41, dims = [0, 1, 2, 3] : (tensor<64x64x4096x1xf32>) -> tensor<64x64x4096x4096xf32>
    %43 = stablehlo.subtract %37, %42 : tensor<64x64x4096x4096xf32>
    %44 = stablehlo.exponential %43 : tensor<64x64x4096x4096xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %45 = stablehlo.reduce(%44 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<64x64x4096x4096xf32>, tensor<f32>) -> tensor<64x64x4096xf32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0, 1, 2] : (tensor<64x64x4096xf32>) -> tensor<64x64x4096x1xf32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [0, 1, 2, 3] : (tensor<64x64x4096x1xf32>) -> tensor<64x64x4096x4096xf32>
    %48 = stablehlo.divide %44, %47 : tensor<64x64x4096x4096xf32>
    %49 = stablehlo.convert %48 : (tensor<64x64x4096x4096xf32>) -> tensor<64x64x4096x4096xbf16>
    %50 = stablehlo.dot_general %32, %49, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x64x128xbf16>, tensor<64x64x4096x4096xbf16>) -> tensor<64x64x128x4096xbf16>
    %51 = stablehlo.transpose %50, dims = [0, 3, 1, 2] : (tensor<64x64x128x4096xbf16>) -> tensor<64x4096x64x128xbf16>
    %52 = stablehlo.reshape %51 : (tensor<64x4096x64x128xbf16>) -> tensor<64x4096x8192xbf16>
    %53 = stablehlo.dot_general %52, %4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x8192xbf16>, tensor<8192x8192xbf16>) -> tensor<64x4096x8192xbf16>
    %54 = stablehlo.add %arg2, %53 : tensor<64x4096x8192xbf16>
    %55 = sdy.sharding_constraint %54 <@mesh, [{"data"}, {}, {}]> : tensor<64x4096x8192xbf16>
    %56 = stablehlo.convert %55 : (tensor<64x4096x8192xbf16>) -> tensor<64x4096x8192xf32>
    %57 = chlo.square %56 : tensor<64x4096x8192xf32> -> tensor<64x4096x8192xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %58 = stablehlo.reduce(%57 init: %cst_6) applies stablehlo.add across dimensions = [2] : (tensor<64x4096x8192xf32>, tensor<f32>) -> tensor<64x4096xf32>
    %59 = stablehlo.broadcast_in_dim %58, dims = [0, 1] : (tensor<64x4096xf32>) -> tensor<64x4096x1xf32>
    %cst_7 = stablehlo.constant dense<8.192000e+03> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<64x4096x1xf32>
    %61 = stablehlo.divide %59, %60 : tensor<64x4096x1xf32>
    %cst_8 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<64x4096x1xf32>
    %63 = stablehlo.add %61, %62 : tensor<64x4096x1xf32>
    %64 = stablehlo.rsqrt %63 : tensor<64x4096x1xf32>
    %65 = stablehlo.convert %55 : (tensor<64x4096x8192xbf16>) -> tensor<64x4096x8192xf32>
    %66 = stablehlo.broadcast_in_dim %64, dims = [0, 1, 2] : (tensor<64x4096x1xf32>) -> tensor<64x4096x8192xf32>
    %67 = stablehlo.multiply %65, %66 : tensor<64x4096x8192xf32>
    %68 = stablehlo.convert %67 : (tensor<64x4096x8192xf32>) -> tensor<64x4096x8192xbf16>
    %69 = stablehlo.broadcast_in_dim %3, dims = [2] : (tensor<8192xbf16>) -> tensor<1x1x8192xbf16>
    %70 = stablehlo.broadcast_in_dim %69, dims = [0, 1, 2] : (tensor<1x1x8192xbf16>) -> tensor<64x4096x8192xbf16>
    %71 = stablehlo.multiply %68, %70 : tensor<64x4096x8192xbf16>
    %72 = stablehlo.dot_general %71, %6, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x8192xbf16>, tensor<8192x28672xbf16>) -> tensor<64x4096x28672xbf16>
    %73 = stablehlo.multiply %72, %72 : tensor<64x4096x28672xbf16>
    %74 = stablehlo.multiply %73, %72 : tensor<64x4096x28672xbf16>
    %cst_9 = stablehlo.constant dense<4.467770e-02> : tensor<bf16>
    %75 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<bf16>) -> tensor<64x4096x28672xbf16>
    %76 = stablehlo.multiply %75, %74 : tensor<64x4096x28672xbf16>
    %77 = stablehlo.add %72, %76 : tensor<64x4096x28672xbf16>
    %cst_10 = stablehlo.constant dense<7.968750e-01> : tensor<bf16>
    %78 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<bf16>) -> tensor<64x4096x28672xbf16>
    %79 = stablehlo.multiply %78, %77 : tensor<64x4096x28672xbf16>
    %80 = stablehlo.tanh %79 : tensor<64x4096x28672xbf16>
    %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %81 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<bf16>) -> tensor<64x4096x28672xbf16>
    %82 = stablehlo.add %81, %80 : tensor<64x4096x28672xbf16>
    %cst_12 = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
    %83 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<bf16>) -> tensor<64x4096x28672xbf16>
    %84 = stablehlo.multiply %83, %82 : tensor<64x4096x28672xbf16>
    %85 = stablehlo.multiply %72, %84 : tensor<64x4096x28672xbf16>
    %86 = sdy.sharding_constraint %85 <@mesh, [{"data"}, {}, {"model"}]> : tensor<64x4096x28672xbf16>
    %87 = stablehlo.dot_general %86, %0, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x28672xbf16>, tensor<28672x8192xbf16>) -> tensor<64x4096x8192xbf16>
    %88 = stablehlo.add %55, %87 : tensor<64x4096x8192xbf16>
    %89 = sdy.sharding_constraint %88 <@mesh, [{"data"}, {}, {}]> : tensor<64x4096x8192xbf16>
    return %89, %arg2 : tensor<64x4096x8192xbf16>, tensor<64x4096x8192xbf16>
  }
  func.func private @_where_3(%arg0: tensor<64x64x4096x4096xf32>, %arg1: tensor<64x64x4096x4096xi1>, %arg2: tensor<64x64x4096x4096xf32>) -> tensor<64x64x4096x4096xf32> {
    %0 = stablehlo.select %arg1, %arg0, %arg2 : tensor<64x64x4096x4096xi1>, tensor<64x64x4096x4096xf32>
    return %0 : tensor<64x64x4096x4096xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<80x64x4096x8192xbf16>, %arg1: tensor<64x4096x8192xbf16>, %arg2: tensor<i32>) -> tensor<80x64x4096x8192xbf16> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<64x4096x8192xbf16>) -> tensor<1x64x4096x8192xbf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<80x64x4096x8192xbf16>, tensor<1x64x4096x8192xbf16>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<80x64x4096x8192xbf16>
    return %1 : tensor<80x64x4096x8192xbf16>
  }
  func.func private @take_along_axis(%arg0: tensor<64x4096x32000xf32>, %arg1: tensor<64x4096x1xi32>) -> (tensor<64x4096x1xf32>, tensor<64x4096x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<64x4096x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<64x4096x1xi32>, tensor<64x4096x1xi32>) -> tensor<64x4096x1xi1>
    %c_0 = stablehlo.constant dense<32000> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<64x4096x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<64x4096x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<64x4096x1xi1>, tensor<64x4096x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<64x4096x1xi32>) -> tensor<64x4096x1x1xi32>
    %c_1 = stablehlo.constant dense<31999> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<64x4096x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<64x4096x1x1xi32>, tensor<64x4096x1x1xi32>) -> tensor<64x4096x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<64x4096x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<64x4096x1x1xi32>, tensor<64x4096x1x1xi32>) -> tensor<64x4096x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<64x4096x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [3] : (tensor<64x4096x1x1xi1>, tensor<i1>) -> tensor<64x4096x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<64x4096x32000xf32>, tensor<64x4096x1x1xi32>) -> tensor<64x4096x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64x4096x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<64x4096x1xi1>, tensor<64x4096x1xf32>
    return %15, %5 : tensor<64x4096x1xf32>, tensor<64x4096x1x1xi32>
  }
  func.func private @take_along_axis_4(%arg0: tensor<64x4096x1x1xi32>, %arg1: tensor<64x4096x1xf32>) -> tensor<64x4096x32000xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64x4096x32000xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<64x4096x32000xf32>, tensor<64x4096x1x1xi32>, tensor<64x4096x1xf32>) -> tensor<64x4096x32000xf32>
    return %1 : tensor<64x4096x32000xf32>
  }
  func.func private @dynamic_index_in_dim_5(%arg0: tensor<80x64x4096x8192xbf16>, %arg1: tensor<i32>) -> tensor<64x4096x8192xbf16> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 64, 4096, 8192] : (tensor<80x64x4096x8192xbf16>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x4096x8192xbf16>
    %1 = stablehlo.reshape %0 : (tensor<1x64x4096x8192xbf16>) -> tensor<64x4096x8192xbf16>
    return %1 : tensor<64x4096x8192xbf16>
  }
  func.func private @closed_call_6(%arg0: tensor<64x4096x8192xbf16>, %arg1: tensor<64x4096x8192xbf16>, %arg2: tensor<28672x8192xf32>, %arg3: tensor<8192x8192xf32>, %arg4: tensor<8192xf32>, %arg5: tensor<8192xf32>, %arg6: tensor<8192x8192xf32>, %arg7: tensor<8192x8192xf32>, %arg8: tensor<8192x28672xf32>, %arg9: tensor<8192x8192xf32>) -> (tensor<64x4096x8192xbf16>, tensor<28672x8192xf32>, tensor<8192x8192xf32>, tensor<8192xf32>, tensor<8192xf32>, tensor<8192x8192xf32>, tensor<8192x8192xf32>, tensor<8192x28672xf32>, tensor<8192x8192xf32>) {
    %0:10 = stablehlo.optimization_barrier %arg1, %arg2, %arg3, %arg4, %arg5, %arg6, %arg7, %arg8, %arg9, %arg0 : tensor<64x4096x8192xbf16>, tensor<28672x8192xf32>, tensor<8192x8192xf32>, tensor<8192xf32>, tensor<8192xf32>, tensor<8192x8192xf32>, tensor<8192x8192xf32>, tensor<8192x28672xf32>, tensor<8192x8192xf32>, tensor<64x4096x8192xbf16>
    %1 = stablehlo.convert %0#1 : (tensor<28672x8192xf32>) -> tensor<28672x8192xbf16>
    %2 = stablehlo.convert %0#2 : (tensor<8192x8192xf32>) -> tensor<8192x8192xbf16>
    %3 = stablehlo.convert %0#3 : (tensor<8192xf32>) -> tensor<8192xbf16>
    %4 = stablehlo.convert %0#4 : (tensor<8192xf32>) -> tensor<8192xbf16>
    %5 = stablehlo.convert %0#5 : (tensor<8192x8192xf32>) -> tensor<8192x8192xbf16>
    %6 = stablehlo.convert %0#6 : (tensor<8192x8192xf32>) -> tensor<8192x8192xbf16>
    %7 = stablehlo.convert %0#7 : (tensor<8192x28672xf32>) -> tensor<8192x28672xbf16>
    %8 = stablehlo.convert %0#8 : (tensor<8192x8192xf32>) -> tensor<8192x8192xbf16>
    %9 = stablehlo.convert %0#0 : (tensor<64x4096x8192xbf16>) -> tensor<64x4096x8192xf32>
    %10 = chlo.square %9 : tensor<64x4096x8192xf32> -> tensor<64x4096x8192xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64x4096x8192xf32>
    %12 = stablehlo.multiply %11, %9 : tensor<64x4096x8192xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%10 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<64x4096x8192xf32>, tensor<f32>) -> tensor<64x4096xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<64x4096xf32>) -> tensor<64x4096x1xf32>
    %cst_1 = stablehlo.constant dense<8.192000e+03> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<64x4096x1xf32>
    %16 = stablehlo.divide %14, %15 : tensor<64x4096x1xf32>
    %cst_2 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<64x4096x1xf32>
    %18 = stablehlo.add %16, %17 : tensor<64x4096x1xf32>
    %19 = stablehlo.rsqrt %18 : tensor<64x4096x1xf32>
    %20 = stablehlo.divide %19, %18 : tensor<64x4096x1xf32>
    %cst_3 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<64x4096x1xf32>
    %22 = stablehlo.multiply %21, %20 : tensor<64x4096x1xf32>
    %23 = stablehlo.convert %0#0 : (tensor<64x4096x8192xbf16>) -> tensor<64x4096x8192xf32>
    %24 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<64x4096x1xf32>) -> tensor<64x4096x8192xf32>
    %25 = stablehlo.multiply %23, %24 : tensor<64x4096x8192xf32>
    %26 = stablehlo.convert %25 : (tensor<64x4096x8192xf32>) -> tensor<64x4096x8192xbf16>
    %27 = stablehlo.broadcast_in_dim %3, dims = [2] : (tensor<8192xbf16>) -> tensor<1x1x8192xbf16>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0, 1, 2] : (tensor<1x1x8192xbf16>) -> tensor<64x4096x8192xbf16>
    %29 = stablehlo.multiply %26, %28 : tensor<64x4096x8192xbf16>
    %30 = stablehlo.dot_general %29, %6, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x8192xbf16>, tensor<8192x8192xbf16>) -> tensor<64x4096x8192xbf16>
    %31 = stablehlo.reshape %30 : (tensor<64x4096x8192xbf16>) -> tensor<64x4096x64x128xbf16>
    %32 = sdy.sharding_constraint %31 <@mesh, [{"data"}, {}, {"model"}, {}]> : tensor<64x4096x64x128xbf16>
    %33 = stablehlo.dot_general %29, %2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x8192xbf16>, tensor<8192x8192xbf16>) -> tensor<64x4096x8192xbf16>
    %34 = stablehlo.reshape %33 : (tensor<64x4096x8192xbf16>) -> tensor<64x4096x64x128xbf16>
    %35 = sdy.sharding_constraint %34 <@mesh, [{"data"}, {}, {"model"}, {}]> : tensor<64x4096x64x128xbf16>
    %36 = stablehlo.dot_general %29, %8, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x8192xbf16>, tensor<8192x8192xbf16>) -> tensor<64x4096x8192xbf16>
    %37 = stablehlo.reshape %36 : (tensor<64x4096x8192xbf16>) -> tensor<64x4096x64x128xbf16>
    %38 = sdy.sharding_constraint %37 <@mesh, [{"data"}, {}, {"model"}, {}]> : tensor<64x4096x64x128xbf16>
    %39 = stablehlo.dot_general %32, %35, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x64x128xbf16>, tensor<64x4096x64x128xbf16>) -> tensor<64x64x4096x4096xbf16>
    %40 = stablehlo.convert %39 : (tensor<64x64x4096x4096xbf16>) -> tensor<64x64x4096x4096xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %41 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<4096x4096xi1>
    %42 = call @tril_7(%41) : (tensor<4096x4096xi1>) -> tensor<4096x4096xi1>
    %cst_4 = stablehlo.constant dense<11.3137083> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<64x64x4096x4096xf32>
    %44 = stablehlo.divide %40, %43 : tensor<64x64x4096x4096xf32>
    %cst_5 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %45:2 = call @_where_8(%42, %44, %cst_5) : (tensor<4096x4096xi1>, tensor<64x64x4096x4096xf32>, tensor<f32>) -> (tensor<64x64x4096x4096xf32>, tensor<64x64x4096x4096xi1>)
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %46 = stablehlo.reduce(%45#0 init: %cst_6) applies stablehlo.maximum across dimensions = [3] : (tensor<64x64x4096x4096xf32>, tensor<f32>) -> tensor<64x64x4096xf32>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<64x64x4096xf32>
    %48 = stablehlo.maximum %47, %46 : tensor<64x64x4096xf32>
    %49 = stablehlo.broadcast_in_dim %48, dims = [0, 1, 2] : (tensor<64x64x4096xf32>) -> tensor<64x64x4096x1xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0, 1, 2, 3] : (tensor<64x64x4096x1xf32>) -> tensor<64x64x4096x4096xf32>
    %51 = stablehlo.subtract %45#0, %50 : tensor<64x64x4096x4096xf32>
    %52 = stablehlo.exponential %51 : tensor<64x64x4096x4096xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %53 = stablehlo.reduce(%52 init: %cst_8) applies stablehlo.add across dimensions = [3] : (tensor<64x64x4096x4096xf32>, tensor<f32>) -> tensor<64x64x4096xf32>
    %54 = stablehlo.broadcast_in_dim %53, dims = [0, 1, 2] : (tensor<64x64x4096xf32>) -> tensor<64x64x4096x1xf32>
    %55 = stablehlo.broadcast_in_dim %54, dims = [0, 1, 2, 3] : (tensor<64x64x4096x1xf32>) -> tensor<64x64x4096x4096xf32>
    %56 = stablehlo.divide %52, %55 : tensor<64x64x4096x4096xf32>
    %57 = stablehlo.multiply %54, %54 : tensor<64x64x4096x1xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<64x64x4096x1xf32>
    %59 = stablehlo.divide %58, %57 : tensor<64x64x4096x1xf32>
    %60 = stablehlo.convert %56 : (tensor<64x64x4096x4096xf32>) -> tensor<64x64x4096x4096xbf16>
    %61 = stablehlo.dot_general %38, %60, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x64x128xbf16>, tensor<64x64x4096x4096xbf16>) -> tensor<64x64x128x4096xbf16>
    %62 = stablehlo.transpose %61, dims = [0, 3, 1, 2] : (tensor<64x64x128x4096xbf16>) -> tensor<64x4096x64x128xbf16>
    %63 = stablehlo.reshape %62 : (tensor<64x4096x64x128xbf16>) -> tensor<64x4096x8192xbf16>
    %64 = stablehlo.dot_general %63, %5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x8192xbf16>, tensor<8192x8192xbf16>) -> tensor<64x4096x8192xbf16>
    %65 = stablehlo.add %0#0, %64 : tensor<64x4096x8192xbf16>
    %66 = sdy.sharding_constraint %65 <@mesh, [{"data"}, {}, {}]> : tensor<64x4096x8192xbf16>
    %67 = stablehlo.convert %66 : (tensor<64x4096x8192xbf16>) -> tensor<64x4096x8192xf32>
    %68 = chlo.square %67 : tensor<64x4096x8192xf32> -> tensor<64x4096x8192xf32>
    %cst_10 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %69 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<64x4096x8192xf32>
    %70 = stablehlo.multiply %69, %67 : tensor<64x4096x8192xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %71 = stablehlo.reduce(%68 init: %cst_11) applies stablehlo.add across dimensions = [2] : (tensor<64x4096x8192xf32>, tensor<f32>) -> tensor<64x4096xf32>
    %72 = stablehlo.broadcast_in_dim %71, dims = [0, 1] : (tensor<64x4096xf32>) -> tensor<64x4096x1xf32>
    %cst_12 = stablehlo.constant dense<8.192000e+03> : tensor<f32>
    %73 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<64x4096x1xf32>
    %74 = stablehlo.divide %72, %73 : tensor<64x4096x1xf32>
    %cst_13 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<64x4096x1xf32>
    %76 = stablehlo.add %74, %75 : tensor<64x4096x1xf32>
    %77 = stablehlo.rsqrt %76 : tensor<64x4096x1xf32>
    %78 = stablehlo.divide %77, %76 : tensor<64x4096x1xf32>
    %cst_14 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %79 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<64x4096x1xf32>
    %80 = stablehlo.multiply %79, %78 : tensor<64x4096x1xf32>
    %81 = stablehlo.convert %66 : (tensor<64x4096x8192xbf16>) -> tensor<64x4096x8192xf32>
    %82 = stablehlo.broadcast_in_dim %77, dims = [0, 1, 2] : (tensor<64x4096x1xf32>) -> tensor<64x4096x8192xf32>
    %83 = stablehlo.multiply %81, %82 : tensor<64x4096x8192xf32>
    %84 = stablehlo.convert %83 : (tensor<64x4096x8192xf32>) -> tensor<64x4096x8192xbf16>
    %85 = stablehlo.broadcast_in_dim %4, dims = [2] : (tensor<8192xbf16>) -> tensor<1x1x8192xbf16>
    %86 = stablehlo.broadcast_in_dim %85, dims = [0, 1, 2] : (tensor<1x1x8192xbf16>) -> tensor<64x4096x8192xbf16>
    %87 = stablehlo.multiply %84, %86 : tensor<64x4096x8192xbf16>
    %88 = stablehlo.dot_general %87, %7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x8192xbf16>, tensor<8192x28672xbf16>) -> tensor<64x4096x28672xbf16>
    %89 = stablehlo.multiply %88, %88 : tensor<64x4096x28672xbf16>
    %90 = stablehlo.multiply %89, %88 : tensor<64x4096x28672xbf16>
    %91 = stablehlo.multiply %88, %88 : tensor<64x4096x28672xbf16>
    %cst_15 = stablehlo.constant dense<3.000000e+00> : tensor<bf16>
    %92 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<bf16>) -> tensor<64x4096x28672xbf16>
    %93 = stablehlo.multiply %92, %91 : tensor<64x4096x28672xbf16>
    %cst_16 = stablehlo.constant dense<4.467770e-02> : tensor<bf16>
    %94 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<bf16>) -> tensor<64x4096x28672xbf16>
    %95 = stablehlo.multiply %94, %90 : tensor<64x4096x28672xbf16>
    %96 = stablehlo.add %88, %95 : tensor<64x4096x28672xbf16>
    %cst_17 = stablehlo.constant dense<7.968750e-01> : tensor<bf16>
    %97 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<bf16>) -> tensor<64x4096x28672xbf16>
    %98 = stablehlo.multiply %97, %96 : tensor<64x4096x28672xbf16>
    %99 = stablehlo.tanh %98 : tensor<64x4096x28672xbf16>
    %cst_18 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %100 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<bf16>) -> tensor<64x4096x28672xbf16>
    %101 = stablehlo.subtract %100, %99 : tensor<64x4096x28672xbf16>
    %cst_19 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %102 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<bf16>) -> tensor<64x4096x28672xbf16>
    %103 = stablehlo.add %102, %99 : tensor<64x4096x28672xbf16>
    %cst_20 = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
    %104 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<bf16>) -> tensor<64x4096x28672xbf16>
    %105 = stablehlo.multiply %104, %103 : tensor<64x4096x28672xbf16>
    %106 = stablehlo.multiply %88, %105 : tensor<64x4096x28672xbf16>
    %107 = sdy.sharding_constraint %106 <@mesh, [{"data"}, {}, {"model"}]> : tensor<64x4096x28672xbf16>
    %108 = sdy.sharding_constraint %0#9 <@mesh, [{"data"}, {}, {}]> : tensor<64x4096x8192xbf16>
    %109 = stablehlo.dot_general %108, %107, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x8192xbf16>, tensor<64x4096x28672xbf16>) -> tensor<8192x28672xbf16>
    %110 = stablehlo.transpose %109, dims = [1, 0] : (tensor<8192x28672xbf16>) -> tensor<28672x8192xbf16>
    %111 = stablehlo.dot_general %108, %1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x8192xbf16>, tensor<28672x8192xbf16>) -> tensor<64x4096x28672xbf16>
    %112 = sdy.sharding_constraint %111 <@mesh, [{"data"}, {}, {"model"}]> : tensor<64x4096x28672xbf16>
    %113 = stablehlo.multiply %88, %112 : tensor<64x4096x28672xbf16>
    %114 = stablehlo.multiply %112, %105 : tensor<64x4096x28672xbf16>
    %cst_21 = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
    %115 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<bf16>) -> tensor<64x4096x28672xbf16>
    %116 = stablehlo.multiply %115, %113 : tensor<64x4096x28672xbf16>
    %117 = stablehlo.multiply %116, %101 : tensor<64x4096x28672xbf16>
    %118 = stablehlo.multiply %117, %99 : tensor<64x4096x28672xbf16>
    %119 = stablehlo.add %117, %118 : tensor<64x4096x28672xbf16>
    %cst_22 = stablehlo.constant dense<7.968750e-01> : tensor<bf16>
    %120 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<bf16>) -> tensor<64x4096x28672xbf16>
    %121 = stablehlo.multiply %120, %119 : tensor<64x4096x28672xbf16>
    %122 = stablehlo.add %114, %121 : tensor<64x4096x28672xbf16>
    %cst_23 = stablehlo.constant dense<4.467770e-02> : tensor<bf16>
    %123 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<bf16>) -> tensor<64x4096x28672xbf16>
    %124 = stablehlo.multiply %123, %121 : tensor<64x4096x28672xbf16>
    %125 = stablehlo.multiply %124, %93 : tensor<64x4096x28672xbf16>
    %126 = stablehlo.add %122, %125 : tensor<64x4096x28672xbf16>
    %127 = stablehlo.dot_general %126, %87, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x28672xbf16>, tensor<64x4096x8192xbf16>) -> tensor<28672x8192xbf16>
    %128 = stablehlo.transpose %127, dims = [1, 0] : (tensor<28672x8192xbf16>) -> tensor<8192x28672xbf16>
    %129 = stablehlo.dot_general %126, %7, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x28672xbf16>, tensor<8192x28672xbf16>) -> tensor<64x4096x8192xbf16>
    %130 = stablehlo.multiply %84, %129 : tensor<64x4096x8192xbf16>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %131 = stablehlo.reduce(%130 init: %cst_24) applies stablehlo.add across dimensions = [0, 1] : (tensor<64x4096x8192xbf16>, tensor<bf16>) -> tensor<8192xbf16>
    %132 = stablehlo.reshape %131 : (tensor<8192xbf16>) -> tensor<1x1x8192xbf16>
    %133 = stablehlo.broadcast_in_dim %85, dims = [0, 1, 2] : (tensor<1x1x8192xbf16>) -> tensor<64x4096x8192xbf16>
    %134 = stablehlo.multiply %129, %133 : tensor<64x4096x8192xbf16>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %135 = stablehlo.reduce(%132 init: %cst_25) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x8192xbf16>, tensor<bf16>) -> tensor<8192xbf16>
    %136 = stablehlo.convert %134 : (tensor<64x4096x8192xbf16>) -> tensor<64x4096x8192xf32>
    %137 = stablehlo.multiply %81, %136 : tensor<64x4096x8192xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %138 = stablehlo.reduce(%137 init: %cst_26) applies stablehlo.add across dimensions = [2] : (tensor<64x4096x8192xf32>, tensor<f32>) -> tensor<64x4096xf32>
    %139 = stablehlo.reshape %138 : (tensor<64x4096xf32>) -> tensor<64x4096x1xf32>
    %140 = stablehlo.broadcast_in_dim %77, dims = [0, 1, 2] : (tensor<64x4096x1xf32>) -> tensor<64x4096x8192xf32>
    %141 = stablehlo.multiply %136, %140 : tensor<64x4096x8192xf32>
    %142 = stablehlo.convert %141 : (tensor<64x4096x8192xf32>) -> tensor<64x4096x8192xbf16>
    %143 = stablehlo.add %108, %142 : tensor<64x4096x8192xbf16>
    %144 = stablehlo.multiply %139, %80 : tensor<64x4096x1xf32>
    %cst_27 = stablehlo.constant dense<8.192000e+03> : tensor<f32>
    %145 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<64x4096x1xf32>
    %146 = stablehlo.divide %144, %145 : tensor<64x4096x1xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %147 = stablehlo.reduce(%146 init: %cst_28) applies stablehlo.add across dimensions = [2] : (tensor<64x4096x1xf32>, tensor<f32>) -> tensor<64x4096xf32>
    %148 = stablehlo.broadcast_in_dim %147, dims = [0, 1] : (tensor<64x4096xf32>) -> tensor<64x4096x8192xf32>
    %149 = stablehlo.multiply %148, %70 : tensor<64x4096x8192xf32>
    %150 = stablehlo.convert %149 : (tensor<64x4096x8192xf32>) -> tensor<64x4096x8192xbf16>
    %151 = stablehlo.add %143, %150 : tensor<64x4096x8192xbf16>
    %152 = sdy.sharding_constraint %151 <@mesh, [{"data"}, {}, {}]> : tensor<64x4096x8192xbf16>
    %153 = stablehlo.dot_general %152, %63, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x8192xbf16>, tensor<64x4096x8192xbf16>) -> tensor<8192x8192xbf16>
    %154 = stablehlo.transpose %153, dims = [1, 0] : (tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
    %155 = stablehlo.dot_general %152, %5, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x8192xbf16>, tensor<8192x8192xbf16>) -> tensor<64x4096x8192xbf16>
    %156 = stablehlo.reshape %155 : (tensor<64x4096x8192xbf16>) -> tensor<64x4096x64x128xbf16>
    %157 = stablehlo.transpose %156, dims = [0, 2, 3, 1] : (tensor<64x4096x64x128xbf16>) -> tensor<64x64x128x4096xbf16>
    %158 = stablehlo.dot_general %157, %38, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<64x64x128x4096xbf16>, tensor<64x4096x64x128xbf16>) -> tensor<64x64x4096x4096xbf16>
    %159 = stablehlo.dot_general %157, %60, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x64x128x4096xbf16>, tensor<64x64x4096x4096xbf16>) -> tensor<64x64x128x4096xbf16>
    %160 = stablehlo.transpose %159, dims = [0, 3, 1, 2] : (tensor<64x64x128x4096xbf16>) -> tensor<64x4096x64x128xbf16>
    %161 = stablehlo.convert %158 : (tensor<64x64x4096x4096xbf16>) -> tensor<64x64x4096x4096xf32>
    %162 = stablehlo.broadcast_in_dim %59, dims = [0, 1, 2, 3] : (tensor<64x64x4096x1xf32>) -> tensor<64x64x4096x4096xf32>
    %163 = stablehlo.multiply %161, %162 : tensor<64x64x4096x4096xf32>
    %164 = stablehlo.multiply %163, %52 : tensor<64x64x4096x4096xf32>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %165 = stablehlo.reduce(%164 init: %cst_29) applies stablehlo.add across dimensions = [3] : (tensor<64x64x4096x4096xf32>, tensor<f32>) -> tensor<64x64x4096xf32>
    %166 = stablehlo.reshape %165 : (tensor<64x64x4096xf32>) -> tensor<64x64x4096x1xf32>
    %167 = stablehlo.negate %166 : tensor<64x64x4096x1xf32>
    %168 = stablehlo.broadcast_in_dim %54, dims = [0, 1, 2, 3] : (tensor<64x64x4096x1xf32>) -> tensor<64x64x4096x4096xf32>
    %169 = stablehlo.divide %161, %168 : tensor<64x64x4096x4096xf32>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %170 = stablehlo.reduce(%167 init: %cst_30) applies stablehlo.add across dimensions = [3] : (tensor<64x64x4096x1xf32>, tensor<f32>) -> tensor<64x64x4096xf32>
    %171 = stablehlo.broadcast_in_dim %170, dims = [0, 1, 2] : (tensor<64x64x4096xf32>) -> tensor<64x64x4096x4096xf32>
    %172 = stablehlo.add %169, %171 : tensor<64x64x4096x4096xf32>
    %173 = stablehlo.multiply %172, %52 : tensor<64x64x4096x4096xf32>
    %174 = call @_where_9(%45#1, %173) : (tensor<64x64x4096x4096xi1>, tensor<64x64x4096x4096xf32>) -> tensor<64x64x4096x4096xf32>
    %cst_31 = stablehlo.constant dense<11.3137083> : tensor<f32>
    %175 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<64x64x4096x4096xf32>
    %176 = stablehlo.divide %174, %175 : tensor<64x64x4096x4096xf32>
    %177 = stablehlo.convert %176 : (tensor<64x64x4096x4096xf32>) -> tensor<64x64x4096x4096xbf16>
    %178 = stablehlo.dot_general %177, %32, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x64x4096x4096xbf16>, tensor<64x4096x64x128xbf16>) -> tensor<64x64x4096x128xbf16>
    %179 = stablehlo.transpose %178, dims = [0, 2, 1, 3] : (tensor<64x64x4096x128xbf16>) -> tensor<64x4096x64x128xbf16>
    %180 = stablehlo.dot_general %177, %35, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x64x4096x4096xbf16>, tensor<64x4096x64x128xbf16>) -> tensor<64x64x4096x128xbf16>
    %181 = stablehlo.transpose %180, dims = [0, 2, 1, 3] : (tensor<64x64x4096x128xbf16>) -> tensor<64x4096x64x128xbf16>
    %182 = sdy.sharding_constraint %160 <@mesh, [{"data"}, {}, {"model"}, {}]> : tensor<64x4096x64x128xbf16>
    %183 = stablehlo.reshape %182 : (tensor<64x4096x64x128xbf16>) -> tensor<64x4096x8192xbf16>
    %184 = stablehlo.dot_general %183, %29, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x8192xbf16>, tensor<64x4096x8192xbf16>) -> tensor<8192x8192xbf16>
    %185 = stablehlo.transpose %184, dims = [1, 0] : (tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
    %186 = stablehlo.dot_general %183, %8, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x8192xbf16>, tensor<8192x8192xbf16>) -> tensor<64x4096x8192xbf16>
    %187 = sdy.sharding_constraint %179 <@mesh, [{"data"}, {}, {"model"}, {}]> : tensor<64x4096x64x128xbf16>
    %188 = stablehlo.reshape %187 : (tensor<64x4096x64x128xbf16>) -> tensor<64x4096x8192xbf16>
    %189 = stablehlo.dot_general %188, %29, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x8192xbf16>, tensor<64x4096x8192xbf16>) -> tensor<8192x8192xbf16>
    %190 = stablehlo.transpose %189, dims = [1, 0] : (tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
    %191 = stablehlo.dot_general %188, %2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x8192xbf16>, tensor<8192x8192xbf16>) -> tensor<64x4096x8192xbf16>
    %192 = stablehlo.add %186, %191 : tensor<64x4096x8192xbf16>
    %193 = sdy.sharding_constraint %181 <@mesh, [{"data"}, {}, {"model"}, {}]> : tensor<64x4096x64x128xbf16>
    %194 = stablehlo.reshape %193 : (tensor<64x4096x64x128xbf16>) -> tensor<64x4096x8192xbf16>
    %195 = stablehlo.dot_general %194, %29, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x8192xbf16>, tensor<64x4096x8192xbf16>) -> tensor<8192x8192xbf16>
    %196 = stablehlo.transpose %195, dims = [1, 0] : (tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
    %197 = stablehlo.dot_general %194, %6, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x4096x8192xbf16>, tensor<8192x8192xbf16>) -> tensor<64x4096x8192xbf16>
    %198 = stablehlo.add %192, %197 : tensor<64x4096x8192xbf16>
    %199 = stablehlo.multiply %26, %198 : tensor<64x4096x8192xbf16>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %200 = stablehlo.reduce(%199 init: %cst_32) applies stablehlo.add across dimensions = [0, 1] : (tensor<64x4096x8192xbf16>, tensor<bf16>) -> tensor<8192xbf16>
    %201 = stablehlo.reshape %200 : (tensor<8192xbf16>) -> tensor<1x1x8192xbf16>
    %202 = stablehlo.broadcast_in_dim %27, dims = [0, 1, 2] : (tensor<1x1x8192xbf16>) -> tensor<64x4096x8192xbf16>
    %203 = stablehlo.multiply %198, %202 : tensor<64x4096x8192xbf16>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %204 = stablehlo.reduce(%201 init: %cst_33) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x8192xbf16>, tensor<bf16>) -> tensor<8192xbf16>
    %205 = stablehlo.convert %203 : (tensor<64x4096x8192xbf16>) -> tensor<64x4096x8192xf32>
    %206 = stablehlo.multiply %23, %205 : tensor<64x4096x8192xf32>
    %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %207 = stablehlo.reduce(%206 init: %cst_34) applies stablehlo.add across dimensions = [2] : (tensor<64x4096x8192xf32>, tensor<f32>) -> tensor<64x4096xf32>
    %208 = stablehlo.reshape %207 : (tensor<64x4096xf32>) -> tensor<64x4096x1xf32>
    %209 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<64x4096x1xf32>) -> tensor<64x4096x8192xf32>
    %210 = stablehlo.multiply %205, %209 : tensor<64x4096x8192xf32>
    %211 = stablehlo.convert %210 : (tensor<64x4096x8192xf32>) -> tensor<64x4096x8192xbf16>
    %212 = stablehlo.add %152, %211 : tensor<64x4096x8192xbf16>
    %213 = stablehlo.multiply %208, %22 : tensor<64x4096x1xf32>
    %cst_35 = stablehlo.constant dense<8.192000e+03> : tensor<f32>
    %214 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<64x4096x1xf32>
    %215 = stablehlo.divide %213, %214 : tensor<64x4096x1xf32>
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %216 = stablehlo.reduce(%215 init: %cst_36) applies stablehlo.add across dimensions = [2] : (tensor<64x4096x1xf32>, tensor<f32>) -> tensor<64x4096xf32>
    %217 = stablehlo.broadcast_in_dim %216, dims = [0, 1] : (tensor<64x4096xf32>) -> tensor<64x4096x8192xf32>
    %218 = stablehlo.multiply %217, %12 : tensor<64x4096x8192xf32>
    %219 = stablehlo.convert %218 : (tensor<64x4096x8192xf32>) -> tensor<64x4096x8192xbf16>
    %220 = stablehlo.add %212, %219 : tensor<64x4096x8192xbf16>
    %221 = stablehlo.convert %185 : (tensor<8192x8192xbf16>) -> tensor<8192x8192xf32>
    %222 = stablehlo.convert %128 : (tensor<8192x28672xbf16>) -> tensor<8192x28672xf32>
    %223 = stablehlo.convert %196 : (tensor<8192x8192xbf16>) -> tensor<8192x8192xf32>
    %224 = stablehlo.convert %154 : (tensor<8192x8192xbf16>) -> tensor<8192x8192xf32>
    %225 = stablehlo.convert %135 : (tensor<8192xbf16>) -> tensor<8192xf32>
    %226 = stablehlo.convert %204 : (tensor<8192xbf16>) -> tensor<8192xf32>
    %227 = stablehlo.convert %190 : (tensor<8192x8192xbf16>) -> tensor<8192x8192xf32>
    %228 = stablehlo.convert %110 : (tensor<28672x8192xbf16>) -> tensor<28672x8192xf32>
    return %220, %228, %227, %226, %225, %224, %223, %222, %221 : tensor<64x4096x8192xbf16>, tensor<28672x8192xf32>, tensor<8192x8192xf32>, tensor<8192xf32>, tensor<8192xf32>, tensor<8192x8192xf32>, tensor<8192x8192xf32>, tensor<8192x28672xf32>, tensor<8192x8192xf32>
  }
  func.func private @tril_7(%arg0: tensor<4096x4096xi1>) -> tensor<4096x4096xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<4096x4096xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4096x4096xi32>
    %2 = stablehlo.add %0, %1 : tensor<4096x4096xi32>
    %3 = stablehlo.iota dim = 1 : tensor<4096x4096xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<4096x4096xi32>, tensor<4096x4096xi32>) -> tensor<4096x4096xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<4096x4096xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<4096x4096xi1>, tensor<4096x4096xi1>
    return %6 : tensor<4096x4096xi1>
  }
  func.func private @_where_8(%arg0: tensor<4096x4096xi1>, %arg1: tensor<64x64x4096x4096xf32>, %arg2: tensor<f32>) -> (tensor<64x64x4096x4096xf32>, tensor<64x64x4096x4096xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<4096x4096xi1>) -> tensor<64x64x4096x4096xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<64x64x4096x4096xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<64x64x4096x4096xi1>, tensor<64x64x4096x4096xf32>
    return %3, %1 : tensor<64x64x4096x4096xf32>, tensor<64x64x4096x4096xi1>
  }
  func.func private @_where_9(%arg0: tensor<64x64x4096x4096xi1>, %arg1: tensor<64x64x4096x4096xf32>) -> tensor<64x64x4096x4096xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64x64x4096x4096xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<64x64x4096x4096xi1>, tensor<64x64x4096x4096xf32>
    return %1 : tensor<64x64x4096x4096xf32>
  }
  func.func private @dynamic_update_index_in_dim_10(%arg0: tensor<80x28672x8192xf32>, %arg1: tensor<28672x8192xf32>, %arg2: tensor<i32>) -> tensor<80x28672x8192xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<28672x8192xf32>) -> tensor<1x28672x8192xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<80x28672x8192xf32>, tensor<1x28672x8192xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<80x28672x8192xf32>
    return %1 : tensor<80x28672x8192xf32>
  }
  func.func private @dynamic_update_index_in_dim_11(%arg0: tensor<80x8192x8192xf32>, %arg1: tensor<8192x8192xf32>, %arg2: tensor<i32>) -> tensor<80x8192x8192xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<8192x8192xf32>) -> tensor<1x8192x8192xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<80x8192x8192xf32>, tensor<1x8192x8192xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<80x8192x8192xf32>
    return %1 : tensor<80x8192x8192xf32>
  }
  func.func private @dynamic_update_index_in_dim_12(%arg0: tensor<80x8192xf32>, %arg1: tensor<8192xf32>, %arg2: tensor<i32>) -> tensor<80x8192xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<8192xf32>) -> tensor<1x8192xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<80x8192xf32>, tensor<1x8192xf32>, tensor<i32>, tensor<i32>) -> tensor<80x8192xf32>
    return %1 : tensor<80x8192xf32>
  }
  func.func private @dynamic_update_index_in_dim_13(%arg0: tensor<80x8192x28672xf32>, %arg1: tensor<8192x28672xf32>, %arg2: tensor<i32>) -> tensor<80x8192x28672xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<8192x28672xf32>) -> tensor<1x8192x28672xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<80x8192x28672xf32>, tensor<1x8192x28672xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<80x8192x28672xf32>
    return %1 : tensor<80x8192x28672xf32>
  }
}
