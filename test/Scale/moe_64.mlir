// Written by test/Scale/export.py.
module @jit_step attributes {mhlo.num_partitions = 64 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=8, "expert"=8]> {stablehlo.mesh = {axes = [{name = "data", size = 8 : i64}, {name = "expert", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<32x64x8192x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"expert"}, {}, {"data"}]>, tf.aliasing_output = 0 : i32}, %arg1: tensor<32000x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"expert"}, {"data"}]>, tf.aliasing_output = 1 : i32}, %arg2: tensor<32x4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"expert"}]>, tf.aliasing_output = 2 : i32}, %arg3: tensor<32x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>, tf.aliasing_output = 3 : i32}, %arg4: tensor<32x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>, tf.aliasing_output = 4 : i32}, %arg5: tensor<32x4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"expert"}, {"data"}]>, tf.aliasing_output = 5 : i32}, %arg6: tensor<32x4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"expert"}]>, tf.aliasing_output = 6 : i32}, %arg7: tensor<32x4096x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>, tf.aliasing_output = 7 : i32}, %arg8: tensor<32x64x4096x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"expert"}, {"data"}, {}]>, tf.aliasing_output = 8 : i32}, %arg9: tensor<32x4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"expert"}]>, tf.aliasing_output = 9 : i32}, %arg10: tensor<32x64x8192x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"expert"}, {}, {"data"}]>, tf.aliasing_output = 10 : i32}, %arg11: tensor<32000x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"expert"}, {"data"}]>, tf.aliasing_output = 11 : i32}, %arg12: tensor<32x4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"expert"}]>, tf.aliasing_output = 12 : i32}, %arg13: tensor<32x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>, tf.aliasing_output = 13 : i32}, %arg14: tensor<32x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>, tf.aliasing_output = 14 : i32}, %arg15: tensor<32x4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"expert"}, {"data"}]>, tf.aliasing_output = 15 : i32}, %arg16: tensor<32x4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"expert"}]>, tf.aliasing_output = 16 : i32}, %arg17: tensor<32x4096x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>, tf.aliasing_output = 17 : i32}, %arg18: tensor<32x64x4096x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"expert"}, {"data"}, {}]>, tf.aliasing_output = 18 : i32}, %arg19: tensor<32x4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"expert"}]>, tf.aliasing_output = 19 : i32}, %arg20: tensor<32x64x8192x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"expert"}, {}, {"data"}]>, tf.aliasing_output = 20 : i32}, %arg21: tensor<32000x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"expert"}, {"data"}]>, tf.aliasing_output = 21 : i32}, %arg22: tensor<32x4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"expert"}]>, tf.aliasing_output = 22 : i32}, %arg23: tensor<32x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>, tf.aliasing_output = 23 : i32}, %arg24: tensor<32x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>, tf.aliasing_output = 24 : i32}, %arg25: tensor<32x4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"expert"}, {"data"}]>, tf.aliasing_output = 25 : i32}, %arg26: tensor<32x4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"expert"}]>, tf.aliasing_output = 26 : i32}, %arg27: tensor<32x4096x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>, tf.aliasing_output = 27 : i32}, %arg28: tensor<32x64x4096x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"expert"}, {"data"}, {}]>, tf.aliasing_output = 28 : i32}, %arg29: tensor<32x4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"expert"}]>, tf.aliasing_output = 29 : i32}, %arg30: tensor<512x2048xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %arg31: tensor<512x2048xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<32x64x8192x4096xf32> {jax.result_info = "result[0]['down']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"expert"}, {}, {"data"}]>}, tensor<32000x4096xf32> {jax.result_info = "result[0]['embedding']", sdy.sharding = #sdy.sharding<@mesh, [{"expert"}, {"data"}]>}, tensor<32x4096x4096xf32> {jax.result_info = "result[0]['key']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"expert"}]>}, tensor<32x4096xf32> {jax.result_info = "result[0]['norm1']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<32x4096xf32> {jax.result_info = "result[0]['norm2']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<32x4096x4096xf32> {jax.result_info = "result[0]['out']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"expert"}, {"data"}]>}, tensor<32x4096x4096xf32> {jax.result_info = "result[0]['query']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"expert"}]>}, tensor<32x4096x64xf32> {jax.result_info = "result[0]['router']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}, tensor<32x64x4096x8192xf32> {jax.result_info = "result[0]['up']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"expert"}, {"data"}, {}]>}, tensor<32x4096x4096xf32> {jax.result_info = "result[0]['value']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"expert"}]>}, tensor<32x64x8192x4096xf32> {jax.result_info = "result[1]['down']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"expert"}, {}, {"data"}]>}, tensor<32000x4096xf32> {jax.result_info = "result[1]['embedding']", sdy.sharding = #sdy.sharding<@mesh, [{"expert"}, {"data"}]>}, tensor<32x4096x4096xf32> {jax.result_info = "result[1]['key']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"expert"}]>}, tensor<32x4096xf32> {jax.result_info = "result[1]['norm1']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<32x4096xf32> {jax.result_info = "result[1]['norm2']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<32x4096x4096xf32> {jax.result_info = "result[1]['out']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"expert"}, {"data"}]>}, tensor<32x4096x4096xf32> {jax.result_info = "result[1]['query']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"expert"}]>}, tensor<32x4096x64xf32> {jax.result_info = "result[1]['router']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}, tensor<32x64x4096x8192xf32> {jax.result_info = "result[1]['up']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"expert"}, {"data"}, {}]>}, tensor<32x4096x4096xf32> {jax.result_info = "result[1]['value']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"expert"}]>}, tensor<32x64x8192x4096xf32> {jax.result_info = "result[2]['down']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"expert"}, {}, {"data"}]>}, tensor<32000x4096xf32> {jax.result_info = "result[2]['embedding']", sdy.sharding = #sdy.sharding<@mesh, [{"expert"}, {"data"}]>}, tensor<32x4096x4096xf32> {jax.result_info = "result[2]['key']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"expert"}]>}, tensor<32x4096xf32> {jax.result_info = "result[2]['norm1']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<32x4096xf32> {jax.result_info = "result[2]['norm2']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<32x4096x4096xf32> {jax.result_info = "result[2]['out']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"expert"}, {"data"}]>}, tensor<32x4096x4096xf32> {jax.result_info = "result[2]['query']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"expert"}]>}, tensor<32x4096x64xf32> {jax.result_info = "result[2]['router']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}, tensor<32x64x4096x8192xf32> {jax.result_info = "result[2]['up']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"expert"}, {"data"}, {}]>}, tensor<32x4096x4096xf32> {jax.result_info = "result[2]['value']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"expert"}]>}, tensor<f32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.convert %arg1 : (tensor<32000x4096xf32>) -> tensor<32000x4096xbf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<512x2048xi32>
    %2 = stablehlo.compare LT, %arg30, %1, SIGNED : (tensor<512x2048xi32>, tensor<512x2048xi32>) -> tensor<512x2048xi1>
    %c_0 = stablehlo.constant dense<32000> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<512x2048xi32>
    %4 = stablehlo.add %arg30, %3 : tensor<512x2048xi32>
    %5 = stablehlo.select %2, %4, %arg30 : tensor<512x2048xi1>, tensor<512x2048xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<512x2048xi32>) -> tensor<512x2048x1xi32>
    %7 = "stablehlo.gather"(%0, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4096>}> : (tensor<32000x4096xbf16>, tensor<512x2048x1xi32>) -> tensor<512x2048x4096xbf16>
    %8 = sdy.sharding_constraint %7 <@mesh, [{"data"}, {}, {}]> : tensor<512x2048x4096xbf16>
    %c_1 = stablehlo.constant dense<true> : tensor<i1>
    %9 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i1>) -> tensor<2048x2048xi1>
    %10 = call @tril(%9) : (tensor<2048x2048xi1>) -> tensor<2048x2048xi1>
    %cst = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %11:2 = call @_where(%10, %cst) : (tensor<2048x2048xi1>, tensor<f32>) -> (tensor<512x32x2048x2048xi1>, tensor<512x32x2048x2048xf32>)
    %12 = call @_one_hot() : () -> tensor<1x1x64xi32>
    %13 = call @_one_hot_0() : () -> tensor<1x1x1x64xi32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %14 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<bf16>) -> tensor<32x512x2048x4096xbf16>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %15:16 = stablehlo.while(%iterArg = %arg0, %iterArg_85 = %arg2, %iterArg_86 = %arg3, %iterArg_87 = %arg4, %iterArg_88 = %arg5, %iterArg_89 = %arg6, %iterArg_90 = %arg7, %iterArg_91 = %arg8, %iterArg_92 = %arg9, %iterArg_93 = %11#0, %iterArg_94 = %11#1, %iterArg_95 = %12, %iterArg_96 = %13, %iterArg_97 = %c_3, %iterArg_98 = %8, %iterArg_99 = %14) : tensor<32x64x8192x4096xf32>, tensor<32x4096x4096xf32>, tensor<32x4096xf32>, tensor<32x4096xf32>, tensor<32x4096x4096xf32>, tensor<32x4096x4096xf32>, tensor<32x4096x64xf32>, tensor<32x64x4096x8192xf32>, tensor<32x4096x4096xf32>, tensor<512x32x2048x2048xi1>, tensor<512x32x2048x2048xf32>, tensor<1x1x64xi32>, tensor<1x1x1x64xi32>, tensor<i32>, tensor<512x2048x4096xbf16>, tensor<32x512x2048x4096xbf16>
    cond {
      %c_100 = stablehlo.constant dense<32> : tensor<i32>
      %254 = stablehlo.compare LT, %iterArg_97, %c_100, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %254 : tensor<i1>
    } do {
      %254 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_97) : (tensor<32x64x8192x4096xf32>, tensor<i32>) -> tensor<64x8192x4096xf32>
      %255 = func.call @dynamic_index_in_dim_1(%iterArg_85, %iterArg_97) : (tensor<32x4096x4096xf32>, tensor<i32>) -> tensor<4096x4096xf32>
      %256 = func.call @dynamic_index_in_dim_2(%iterArg_86, %iterArg_97) : (tensor<32x4096xf32>, tensor<i32>) -> tensor<4096xf32>
      %257 = func.call @dynamic_index_in_dim_2(%iterArg_87, %iterArg_97) : (tensor<32x4096xf32>, tensor<i32>) -> tensor<4096xf32>
      %258 = func.call @dynamic_index_in_dim_1(%iterArg_88, %iterArg_97) : (tensor<32x4096x4096xf32>, tensor<i32>) -> tensor<4096x4096xf32>
      %259 = func.call @dynamic_index_in_dim_1(%iterArg_89, %iterArg_97) : (tensor<32x4096x4096xf32>, tensor<i32>) -> tensor<4096x4096xf32>
      %260 = func.call @dynamic_index_in_dim_3(%iterArg_90, %iterArg_97) : (tensor<32x4096x64xf32>, tensor<i32>) -> tensor<4096x64xf32>
      %261 = func.call @dynamic_index_in_dim_4(%iterArg_91, %iterArg_97) : (tensor<32x64x4096x8192xf32>, tensor<i32>) -> tensor<64x4096x8192xf32>
      %262 = func.call @dynamic_index_in_dim_1(%iterArg_92, %iterArg_97) : (tensor<32x4096x4096xf32>, tensor<i32>) -> tensor<4096x4096xf32>
      %263:2 = func.call @closed_call(%iterArg_93, %iterArg_94, %iterArg_95, %iterArg_96, %iterArg_98, %254, %255, %256, %257, %258, %259, %260, %261, %262) : (tensor<512x32x2048x2048xi1>, tensor<512x32x2048x2048xf32>, tensor<1x1x64xi32>, tensor<1x1x1x64xi32>, tensor<512x2048x4096xbf16>, tensor<64x8192x4096xf32>, tensor<4096x4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096x4096xf32>, tensor<4096x4096xf32>, tensor<4096x64xf32>, tensor<64x4096x8192xf32>, tensor<4096x4096xf32>) -> (tensor<512x2048x4096xbf16>, tensor<512x2048x4096xbf16>)
      %264 = func.call @dynamic_update_index_in_dim(%iterArg_99, %263#1, %iterArg_97) : (tensor<32x512x2048x4096xbf16>, tensor<512x2048x4096xbf16>, tensor<i32>) -> tensor<32x512x2048x4096xbf16>
      %c_100 = stablehlo.constant dense<1> : tensor<i32>
      %265 = stablehlo.add %iterArg_97, %c_100 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_85, %iterArg_86, %iterArg_87, %iterArg_88, %iterArg_89, %iterArg_90, %iterArg_91, %iterArg_92, %iterArg_93, %iterArg_94, %iterArg_95, %iterArg_96, %265, %263#0, %264 : tensor<32x64x8192x4096xf32>, tensor<32x4096x4096xf32>, tensor<32x4096xf32>, tensor<32x4096xf32>, tensor<32x4096x4096xf32>, tensor<32x4096x4096xf32>, tensor<32x4096x64xf32>, tensor<32x64x4096x8192xf32>, tensor<32x4096x4096xf32>, tensor<512x32x2048x2048xi1>, tensor<512x32x2048x2048xf32>, tensor<1x1x64xi32>, tensor<1x1x1x64xi32>, tensor<i32>, tensor<512x2048x4096xbf16>, tensor<32x512x2048x4096xbf16>
    }
    %16 = stablehlo.dot_general %15#14, %0, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x4096xbf16>, tensor<32000x4096xbf16>) -> tensor<512x2048x32000xbf16>
    %17 = sdy.sharding_constraint %16 <@mesh, [{"data"}, {}, {"expert"}]> : tensor<512x2048x32000xbf16>
    %18 = stablehlo.convert %17 : (tensor<512x2048x32000xbf16>) -> tensor<512x2048x32000xf32>
    %19 = stablehlo.broadcast_in_dim %arg31, dims = [0, 1] : (tensor<512x2048xi32>) -> tensor<512x2048x1xi32>
    %20:2 = call @take_along_axis(%18, %19) : (tensor<512x2048x32000xf32>, tensor<512x2048x1xi32>) -> (tensor<512x2048x1xf32>, tensor<512x2048x1x1xi32>)
    %21 = stablehlo.reshape %20#0 : (tensor<512x2048x1xf32>) -> tensor<512x2048xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %22 = stablehlo.reduce(%18 init: %cst_4) applies stablehlo.maximum across dimensions = [2] : (tensor<512x2048x32000xf32>, tensor<f32>) -> tensor<512x2048xf32>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<512x2048xf32>
    %24 = stablehlo.maximum %23, %22 : tensor<512x2048xf32>
    %25 = stablehlo.is_finite %24 : (tensor<512x2048xf32>) -> tensor<512x2048xi1>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<512x2048xf32>
    %27 = stablehlo.select %25, %24, %26 : tensor<512x2048xi1>, tensor<512x2048xf32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0, 1] : (tensor<512x2048xf32>) -> tensor<512x2048x1xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2] : (tensor<512x2048x1xf32>) -> tensor<512x2048x32000xf32>
    %30 = stablehlo.subtract %18, %29 : tensor<512x2048x32000xf32>
    %31 = stablehlo.exponential %30 : tensor<512x2048x32000xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.reduce(%31 init: %cst_7) applies stablehlo.add across dimensions = [2] : (tensor<512x2048x32000xf32>, tensor<f32>) -> tensor<512x2048xf32>
    %33 = stablehlo.abs %32 : tensor<512x2048xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<512x2048xf32>
    %35 = stablehlo.compare GE, %32, %34, FLOAT : (tensor<512x2048xf32>, tensor<512x2048xf32>) -> tensor<512x2048xi1>
    %36 = stablehlo.log %33 : tensor<512x2048xf32>
    %37 = stablehlo.add %36, %27 : tensor<512x2048xf32>
    %38 = stablehlo.subtract %37, %21 : tensor<512x2048xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %39 = stablehlo.reduce(%38 init: %cst_9) applies stablehlo.add across dimensions = [0, 1] : (tensor<512x2048xf32>, tensor<f32>) -> tensor<f32>
    %cst_10 = stablehlo.constant dense<0x49800000> : tensor<f32>
    %40 = stablehlo.divide %39, %cst_10 : tensor<f32>
    %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_12 = stablehlo.constant dense<0x49800000> : tensor<f32>
    %41 = stablehlo.divide %cst_11, %cst_12 : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %41, dims = [] : (tensor<f32>) -> tensor<512x2048xf32>
    %43 = stablehlo.negate %42 : tensor<512x2048xf32>
    %44 = stablehlo.divide %42, %33 : tensor<512x2048xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<512x2048xf32>
    %46 = stablehlo.select %35, %45, %44 : tensor<512x2048xi1>, tensor<512x2048xf32>
    %47 = stablehlo.select %35, %44, %45 : tensor<512x2048xi1>, tensor<512x2048xf32>
    %48 = stablehlo.negate %46 : tensor<512x2048xf32>
    %49 = stablehlo.add %47, %48 : tensor<512x2048xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0, 1] : (tensor<512x2048xf32>) -> tensor<512x2048x32000xf32>
    %51 = stablehlo.multiply %50, %31 : tensor<512x2048x32000xf32>
    %52 = stablehlo.broadcast_in_dim %43, dims = [0, 1] : (tensor<512x2048xf32>) -> tensor<512x2048x1xf32>
    %53 = call @take_along_axis_9(%20#1, %52) : (tensor<512x2048x1x1xi32>, tensor<512x2048x1xf32>) -> tensor<512x2048x32000xf32>
    %54 = stablehlo.add %51, %53 : tensor<512x2048x32000xf32>
    %55 = stablehlo.convert %54 : (tensor<512x2048x32000xf32>) -> tensor<512x2048x32000xbf16>
    %56 = sdy.sharding_constraint %55 <@mesh, [{"data"}, {}, {"expert"}]> : tensor<512x2048x32000xbf16>
    %57 = stablehlo.dot_general %56, %15#14, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x32000xbf16>, tensor<512x2048x4096xbf16>) -> tensor<32000x4096xbf16>
    %58 = stablehlo.dot_general %56, %0, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x32000xbf16>, tensor<32000x4096xbf16>) -> tensor<512x2048x4096xbf16>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<32x64x8192x4096xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<32x4096xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<32x4096xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %64 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<32x4096x64xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %66 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<32x64x4096x8192xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %c_23 = stablehlo.constant dense<0> : tensor<i32>
    %68:21 = stablehlo.while(%iterArg = %15#15, %iterArg_85 = %arg0, %iterArg_86 = %arg2, %iterArg_87 = %arg3, %iterArg_88 = %arg4, %iterArg_89 = %arg5, %iterArg_90 = %arg6, %iterArg_91 = %arg7, %iterArg_92 = %arg8, %iterArg_93 = %arg9, %iterArg_94 = %c_23, %iterArg_95 = %58, %iterArg_96 = %59, %iterArg_97 = %60, %iterArg_98 = %61, %iterArg_99 = %62, %iterArg_100 = %63, %iterArg_101 = %64, %iterArg_102 = %65, %iterArg_103 = %66, %iterArg_104 = %67) : tensor<32x512x2048x4096xbf16>, tensor<32x64x8192x4096xf32>, tensor<32x4096x4096xf32>, tensor<32x4096xf32>, tensor<32x4096xf32>, tensor<32x4096x4096xf32>, tensor<32x4096x4096xf32>, tensor<32x4096x64xf32>, tensor<32x64x4096x8192xf32>, tensor<32x4096x4096xf32>, tensor<i32>, tensor<512x2048x4096xbf16>, tensor<32x64x8192x4096xf32>, tensor<32x4096x4096xf32>, tensor<32x4096xf32>, tensor<32x4096xf32>, tensor<32x4096x4096xf32>, tensor<32x4096x4096xf32>, tensor<32x4096x64xf32>, tensor<32x64x4096x8192xf32>, tensor<32x4096x4096xf32>
    cond {
      %c_105 = stablehlo.constant dense<32> : tensor<i32>
      %254 = stablehlo.compare LT, %iterArg_94, %c_105, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %254 : tensor<i1>
    } do {
      %c_105 = stablehlo.constant dense<32> : tensor<i32>
      %254 = stablehlo.subtract %c_105, %iterArg_94 : tensor<i32>
      %c_106 = stablehlo.constant dense<1> : tensor<i32>
      %255 = stablehlo.subtract %254, %c_106 : tensor<i32>
      %256 = func.call @dynamic_index_in_dim_10(%iterArg, %255) : (tensor<32x512x2048x4096xbf16>, tensor<i32>) -> tensor<512x2048x4096xbf16>
      %257 = func.call @dynamic_index_in_dim(%iterArg_85, %255) : (tensor<32x64x8192x4096xf32>, tensor<i32>) -> tensor<64x8192x4096xf32>
      %258 = func.call @dynamic_index_in_dim_1(%iterArg_86, %255) : (tensor<32x4096x4096xf32>, tensor<i32>) -> tensor<4096x4096xf32>
      %259 = func.call @dynamic_index_in_dim_2(%iterArg_87, %255) : (tensor<32x4096xf32>, tensor<i32>) -> tensor<4096xf32>
      %260 = func.call @dynamic_index_in_dim_2(%iterArg_88, %255) : (tensor<32x4096xf32>, tensor<i32>) -> tensor<4096xf32>
      %261 = func.call @dynamic_index_in_dim_1(%iterArg_89, %255) : (tensor<32x4096x4096xf32>, tensor<i32>) -> tensor<4096x4096xf32>
      %262 = func.call @dynamic_index_in_dim_1(%iterArg_90, %255) : (tensor<32x4096x4096xf32>, tensor<i32>) -> tensor<4096x4096xf32>
      %263 = func.call @dynamic_index_in_dim_3(%iterArg_91, %255) : (tensor<32x4096x64xf32>, tensor<i32>) -> tensor<4096x64xf32>
      %264 = func.call @dynamic_index_in_dim_4(%iterArg_92, %255) : (tensor<32x64x4096x8192xf32>, tensor<i32>) -> tensor<64x4096x8192xf32>
      %265 = func.call @dynamic_index_in_dim_1(%iterArg_93, %255) : (tensor<32x4096x4096xf32>, tensor<i32>) -> tensor<4096x4096xf32>
      %266:10 = func.call @closed_call_11(%iterArg_95, %256, %257, %258, %259, %260, %261, %262, %263, %264, %265) : (tensor<512x2048x4096xbf16>, tensor<512x2048x4096xbf16>, tensor<64x8192x4096xf32>, tensor<4096x4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096x4096xf32>, tensor<4096x4096xf32>, tensor<4096x64xf32>, tensor<64x4096x8192xf32>, tensor<4096x4096xf32>) -> (tensor<512x2048x4096xbf16>, tensor<64x8192x4096xf32>, tensor<4096x4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096x4096xf32>, tensor<4096x4096xf32>, tensor<4096x64xf32>, tensor<64x4096x8192xf32>, tensor<4096x4096xf32>)
      %267 = func.call @dynamic_update_index_in_dim_18(%iterArg_96, %266#1, %255) : (tensor<32x64x8192x4096xf32>, tensor<64x8192x4096xf32>, tensor<i32>) -> tensor<32x64x8192x4096xf32>
      %268 = func.call @dynamic_update_index_in_dim_19(%iterArg_97, %266#2, %255) : (tensor<32x4096x4096xf32>, tensor<4096x4096xf32>, tensor<i32>) -> tensor<32x4096x4096xf32>
      %269 = func.call @dynamic_update_index_in_dim_20(%iterArg_98, %266#3, %255) : (tensor<32x4096xf32>, tensor<4096xf32>, tensor<i32>) -> tensor<32x4096xf32>
      %270 = func.call @dynamic_update_index_in_dim_20(%iterArg_99, %266#4, %255) : (tensor<32x4096xf32>, tensor<4096xf32>, tensor<i32>) -> tensor<32x4096xf32>
      %271 = func.call @dynamic_update_index_in_dim_19(%iterArg_100, %266#5, %255) : (tensor<32x4096x4096xf32>, tensor<4096x4096xf32>, tensor<i32>) -> tensor<32x4096x4096xf32>
      %272 = func.call @dynamic_update_index_in_dim_19(%iterArg_101, %266#6, %255) : (tensor<32x4096x4096xf32>, tensor<4096x4096xf32>, tensor<i32>) -> tensor<32x4096x4096xf32>
      %273 = func.call @dynamic_update_index_in_dim_21(%iterArg_102, %266#7, %255) : (tensor<32x4096x64xf32>, tensor<4096x64xf32>, tensor<i32>) -> tensor<32x4096x64xf32>
      %274 = func.call @dynamic_update_index_in_dim_22(%iterArg_103, %266#8, %255) : (tensor<32x64x4096x8192xf32>, tensor<64x4096x8192xf32>, tensor<i32>) -> tensor<32x64x4096x8192xf32>
      %275 = func.call @dynamic_update_index_in_dim_19(%iterArg_104, %266#9, %255) : (tensor<32x4096x4096xf32>, tensor<4096x4096xf32>, tensor<i32>) -> tensor<32x4096x4096xf32>
      %c_107 = stablehlo.constant dense<1> : tensor<i32>
      %276 = stablehlo.add %iterArg_94, %c_107 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_85, %iterArg_86, %iterArg_87, %iterArg_88, %iterArg_89, %iterArg_90, %iterArg_91, %iterArg_92, %iterArg_93, %276, %266#0, %267, %268, %269, %270, %271, %272, %273, %274, %275 : tensor<32x512x2048x4096xbf16>, tensor<32x64x8192x4096xf32>, tensor<32x4096x4096xf32>, tensor<32x4096xf32>, tensor<32x4096xf32>, tensor<32x4096x4096xf32>, tensor<32x4096x4096xf32>, tensor<32x4096x64xf32>, tensor<32x64x4096x8192xf32>, tensor<32x4096x4096xf32>, tensor<i32>, tensor<512x2048x4096xbf16>, tensor<32x64x8192x4096xf32>, tensor<32x4096x4096xf32>, tensor<32x4096xf32>, tensor<32x4096xf32>, tensor<32x4096x4096xf32>, tensor<32x4096x4096xf32>, tensor<32x4096x64xf32>, tensor<32x64x4096x8192xf32>, tensor<32x4096x4096xf32>
    }
    %69 = sdy.sharding_constraint %68#11 <@mesh, [{"data"}, {}, {}]> : tensor<512x2048x4096xbf16>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %70 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<bf16>) -> tensor<32000x4096xbf16>
    %71 = "stablehlo.scatter"(%70, %6, %69) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg32: tensor<bf16>, %arg33: tensor<bf16>):
      %254 = stablehlo.add %arg32, %arg33 : tensor<bf16>
      stablehlo.return %254 : tensor<bf16>
    }) : (tensor<32000x4096xbf16>, tensor<512x2048x1xi32>, tensor<512x2048x4096xbf16>) -> tensor<32000x4096xbf16>
    %72 = stablehlo.add %57, %71 : tensor<32000x4096xbf16>
    %73 = stablehlo.convert %72 : (tensor<32000x4096xbf16>) -> tensor<32000x4096xf32>
    %cst_25 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %74 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<32x64x8192x4096xf32>
    %75 = stablehlo.multiply %74, %arg10 : tensor<32x64x8192x4096xf32>
    %cst_26 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %76 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<32x64x8192x4096xf32>
    %77 = stablehlo.multiply %76, %68#12 : tensor<32x64x8192x4096xf32>
    %78 = stablehlo.add %75, %77 : tensor<32x64x8192x4096xf32>
    %cst_27 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %79 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<32000x4096xf32>
    %80 = stablehlo.multiply %79, %arg11 : tensor<32000x4096xf32>
    %cst_28 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<32000x4096xf32>
    %82 = stablehlo.multiply %81, %73 : tensor<32000x4096xf32>
    %83 = stablehlo.add %80, %82 : tensor<32000x4096xf32>
    %cst_29 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %84 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %85 = stablehlo.multiply %84, %arg12 : tensor<32x4096x4096xf32>
    %cst_30 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %87 = stablehlo.multiply %86, %68#13 : tensor<32x4096x4096xf32>
    %88 = stablehlo.add %85, %87 : tensor<32x4096x4096xf32>
    %cst_31 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %89 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<32x4096xf32>
    %90 = stablehlo.multiply %89, %arg13 : tensor<32x4096xf32>
    %cst_32 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %91 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<32x4096xf32>
    %92 = stablehlo.multiply %91, %68#14 : tensor<32x4096xf32>
    %93 = stablehlo.add %90, %92 : tensor<32x4096xf32>
    %cst_33 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %94 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<32x4096xf32>
    %95 = stablehlo.multiply %94, %arg14 : tensor<32x4096xf32>
    %cst_34 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %96 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<32x4096xf32>
    %97 = stablehlo.multiply %96, %68#15 : tensor<32x4096xf32>
    %98 = stablehlo.add %95, %97 : tensor<32x4096xf32>
    %cst_35 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %99 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %100 = stablehlo.multiply %99, %arg15 : tensor<32x4096x4096xf32>
    %cst_36 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %101 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %102 = stablehlo.multiply %101, %68#16 : tensor<32x4096x4096xf32>
    %103 = stablehlo.add %100, %102 : tensor<32x4096x4096xf32>
    %cst_37 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %104 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %105 = stablehlo.multiply %104, %arg16 : tensor<32x4096x4096xf32>
    %cst_38 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %106 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %107 = stablehlo.multiply %106, %68#17 : tensor<32x4096x4096xf32>
    %108 = stablehlo.add %105, %107 : tensor<32x4096x4096xf32>
    %cst_39 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %109 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<32x4096x64xf32>
    %110 = stablehlo.multiply %109, %arg17 : tensor<32x4096x64xf32>
    %cst_40 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %111 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<32x4096x64xf32>
    %112 = stablehlo.multiply %111, %68#18 : tensor<32x4096x64xf32>
    %113 = stablehlo.add %110, %112 : tensor<32x4096x64xf32>
    %cst_41 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %114 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<32x64x4096x8192xf32>
    %115 = stablehlo.multiply %114, %arg18 : tensor<32x64x4096x8192xf32>
    %cst_42 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %116 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<32x64x4096x8192xf32>
    %117 = stablehlo.multiply %116, %68#19 : tensor<32x64x4096x8192xf32>
    %118 = stablehlo.add %115, %117 : tensor<32x64x4096x8192xf32>
    %cst_43 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %119 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %120 = stablehlo.multiply %119, %arg19 : tensor<32x4096x4096xf32>
    %cst_44 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %121 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %122 = stablehlo.multiply %121, %68#20 : tensor<32x4096x4096xf32>
    %123 = stablehlo.add %120, %122 : tensor<32x4096x4096xf32>
    %cst_45 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %124 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<32x64x8192x4096xf32>
    %125 = stablehlo.multiply %124, %arg20 : tensor<32x64x8192x4096xf32>
    %cst_46 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %126 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<32x64x8192x4096xf32>
    %127 = stablehlo.multiply %126, %68#12 : tensor<32x64x8192x4096xf32>
    %128 = stablehlo.multiply %127, %68#12 : tensor<32x64x8192x4096xf32>
    %129 = stablehlo.add %125, %128 : tensor<32x64x8192x4096xf32>
    %cst_47 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %130 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<32000x4096xf32>
    %131 = stablehlo.multiply %130, %arg21 : tensor<32000x4096xf32>
    %cst_48 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %132 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<32000x4096xf32>
    %133 = stablehlo.multiply %132, %73 : tensor<32000x4096xf32>
    %134 = stablehlo.multiply %133, %73 : tensor<32000x4096xf32>
    %135 = stablehlo.add %131, %134 : tensor<32000x4096xf32>
    %cst_49 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %136 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %137 = stablehlo.multiply %136, %arg22 : tensor<32x4096x4096xf32>
    %cst_50 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %138 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %139 = stablehlo.multiply %138, %68#13 : tensor<32x4096x4096xf32>
    %140 = stablehlo.multiply %139, %68#13 : tensor<32x4096x4096xf32>
    %141 = stablehlo.add %137, %140 : tensor<32x4096x4096xf32>
    %cst_51 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %142 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<32x4096xf32>
    %143 = stablehlo.multiply %142, %arg23 : tensor<32x4096xf32>
    %cst_52 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %144 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<32x4096xf32>
    %145 = stablehlo.multiply %144, %68#14 : tensor<32x4096xf32>
    %146 = stablehlo.multiply %145, %68#14 : tensor<32x4096xf32>
    %147 = stablehlo.add %143, %146 : tensor<32x4096xf32>
    %cst_53 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %148 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<32x4096xf32>
    %149 = stablehlo.multiply %148, %arg24 : tensor<32x4096xf32>
    %cst_54 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %150 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<32x4096xf32>
    %151 = stablehlo.multiply %150, %68#15 : tensor<32x4096xf32>
    %152 = stablehlo.multiply %151, %68#15 : tensor<32x4096xf32>
    %153 = stablehlo.add %149, %152 : tensor<32x4096xf32>
    %cst_55 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %154 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %155 = stablehlo.multiply %154, %arg25 : tensor<32x4096x4096xf32>
    %cst_56 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %156 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %157 = stablehlo.multiply %156, %68#16 : tensor<32x4096x4096xf32>
    %158 = stablehlo.multiply %157, %68#16 : tensor<32x4096x4096xf32>
    %159 = stablehlo.add %155, %158 : tensor<32x4096x4096xf32>
    %cst_57 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %160 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %161 = stablehlo.multiply %160, %arg26 : tensor<32x4096x4096xf32>
    %cst_58 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %162 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %163 = stablehlo.multiply %162, %68#17 : tensor<32x4096x4096xf32>
    %164 = stablehlo.multiply %163, %68#17 : tensor<32x4096x4096xf32>
    %165 = stablehlo.add %161, %164 : tensor<32x4096x4096xf32>
    %cst_59 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %166 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<32x4096x64xf32>
    %167 = stablehlo.multiply %166, %arg27 : tensor<32x4096x64xf32>
    %cst_60 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %168 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<32x4096x64xf32>
    %169 = stablehlo.multiply %168, %68#18 : tensor<32x4096x64xf32>
    %170 = stablehlo.multiply %169, %68#18 : tensor<32x4096x64xf32>
    %171 = stablehlo.add %167, %170 : tensor<32x4096x64xf32>
    %cst_61 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %172 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<32x64x4096x8192xf32>
    %173 = stablehlo.multiply %172, %arg28 : tensor<32x64x4096x8192xf32>
    %cst_62 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %174 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<32x64x4096x8192xf32>
    %175 = stablehlo.multiply %174, %68#19 : tensor<32x64x4096x8192xf32>
    %176 = stablehlo.multiply %175, %68#19 : tensor<32x64x4096x8192xf32>
    %177 = stablehlo.add %173, %176 : tensor<32x64x4096x8192xf32>
    %cst_63 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %178 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %179 = stablehlo.multiply %178, %arg29 : tensor<32x4096x4096xf32>
    %cst_64 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %180 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %181 = stablehlo.multiply %180, %68#20 : tensor<32x4096x4096xf32>
    %182 = stablehlo.multiply %181, %68#20 : tensor<32x4096x4096xf32>
    %183 = stablehlo.add %179, %182 : tensor<32x4096x4096xf32>
    %cst_65 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %184 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<32x64x8192x4096xf32>
    %185 = stablehlo.multiply %184, %78 : tensor<32x64x8192x4096xf32>
    %186 = stablehlo.sqrt %129 : tensor<32x64x8192x4096xf32>
    %cst_66 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %187 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<32x64x8192x4096xf32>
    %188 = stablehlo.add %186, %187 : tensor<32x64x8192x4096xf32>
    %189 = stablehlo.divide %185, %188 : tensor<32x64x8192x4096xf32>
    %190 = stablehlo.subtract %arg0, %189 : tensor<32x64x8192x4096xf32>
    %cst_67 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %191 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<32000x4096xf32>
    %192 = stablehlo.multiply %191, %83 : tensor<32000x4096xf32>
    %193 = stablehlo.sqrt %135 : tensor<32000x4096xf32>
    %cst_68 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %194 = stablehlo.broadcast_in_dim %cst_68, dims = [] : (tensor<f32>) -> tensor<32000x4096xf32>
    %195 = stablehlo.add %193, %194 : tensor<32000x4096xf32>
    %196 = stablehlo.divide %192, %195 : tensor<32000x4096xf32>
    %197 = stablehlo.subtract %arg1, %196 : tensor<32000x4096xf32>
    %cst_69 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %198 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %199 = stablehlo.multiply %198, %88 : tensor<32x4096x4096xf32>
    %200 = stablehlo.sqrt %141 : tensor<32x4096x4096xf32>
    %cst_70 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %201 = stablehlo.broadcast_in_dim %cst_70, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %202 = stablehlo.add %200, %201 : tensor<32x4096x4096xf32>
    %203 = stablehlo.divide %199, %202 : tensor<32x4096x4096xf32>
    %204 = stablehlo.subtract %arg2, %203 : tensor<32x4096x4096xf32>
    %cst_71 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %205 = stablehlo.broadcast_in_dim %cst_71, dims = [] : (tensor<f32>) -> tensor<32x4096xf32>
    %206 = stablehlo.multiply %205, %93 : tensor<32x4096xf32>
    %207 = stablehlo.sqrt %147 : tensor<32x4096xf32>
    %cst_72 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %208 = stablehlo.broadcast_in_dim %cst_72, dims = [] : (tensor<f32>) -> tensor<32x4096xf32>
    %209 = stablehlo.add %207, %208 : tensor<32x4096xf32>
    %210 = stablehlo.divide %206, %209 : tensor<32x4096xf32>
    %211 = stablehlo.subtract %arg3, %210 : tensor<32x4096xf32>
    %cst_73 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %212 = stablehlo.broadcast_in_dim %cst_73, dims = [] : (tensor<f32>) -> tensor<32x4096xf32>
    %213 = stablehlo.multiply %212, %98 : tensor<32x4096xf32>
    %214 = stablehlo.sqrt %153 : tensor<32x4096xf32>
    %cst_74 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %215 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<32x4096xf32>
    %216 = stablehlo.add %214, %215 : tensor<32x4096xf32>
    %217 = stablehlo.divide %213, %216 : tensor<32x4096xf32>
    %218 = stablehlo.subtract %arg4, %217 : tensor<32x4096xf32>
    %cst_75 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %219 = stablehlo.broadcast_in_dim %cst_75, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %220 = stablehlo.multiply %219, %103 : tensor<32x4096x4096xf32>
    %221 = stablehlo.sqrt %159 : tensor<32x4096x4096xf32>
    %cst_76 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %222 = stablehlo.broadcast_in_dim %cst_76, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %223 = stablehlo.add %221, %222 : tensor<32x4096x4096xf32>
    %224 = stablehlo.divide %220, %223 : tensor<32x4096x4096xf32>
    %225 = stablehlo.subtract %arg5, %224 : tensor<32x4096x4096xf32>
    %cst_77 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %226 = stablehlo.broadcast_in_dim %cst_77, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %227 = stablehlo.multiply %226, %108 : tensor<32x4096x4096xf32>
    %228 = stablehlo.sqrt %165 : tensor<32x4096x4096xf32>
    %cst_78 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %229 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %230 = stablehlo.add %228, %229 : tensor<32x4096x4096xf32>
    %231 = stablehlo.divide %227, %230 : tensor<32x4096x4096xf32>
    %232 = stablehlo.subtract %arg6, %231 : tensor<32x4096x4096xf32>
    %cst_79 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %233 = stablehlo.broadcast_in_dim %cst_79, dims = [] : (tensor<f32>) -> tensor<32x4096x64xf32>
    %234 = stablehlo.multiply %233, %113 : tensor<32x4096x64xf32>
    %235 = stablehlo.sqrt %171 : tensor<32x4096x64xf32>
    %cst_80 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %236 = stablehlo.broadcast_in_dim %cst_80, dims = [] : (tensor<f32>) -> tensor<32x4096x64xf32>
    %237 = stablehlo.add %235, %236 : tensor<32x4096x64xf32>
    %238 = stablehlo.divide %234, %237 : tensor<32x4096x64xf32>
    %239 = stablehlo.subtract %arg7, %238 : tensor<32x4096x64xf32>
    %cst_81 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %240 = stablehlo.broadcast_in_dim %cst_81, dims = [] : (tensor<f32>) -> tensor<32x64x4096x8192xf32>
    %241 = stablehlo.multiply %240, %118 : tensor<32x64x4096x8192xf32>
    %242 = stablehlo.sqrt %177 : tensor<32x64x4096x8192xf32>
    %cst_82 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %243 = stablehlo.broadcast_in_dim %cst_82, dims = [] : (tensor<f32>) -> tensor<32x64x4096x8192xf32>
    %244 = stablehlo.add %242, %243 : tensor<32x64x4096x8192xf32>
    %245 = stablehlo.divide %241, %244 : tensor<32x64x4096x8192xf32>
    %246 = stablehlo.subtract %arg8, %245 : tensor<32x64x4096x8192xf32>
    %cst_83 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %247 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %248 = stablehlo.multiply %247, %123 : tensor<32x4096x4096xf32>
    %249 = stablehlo.sqrt %183 : tensor<32x4096x4096xf32>
    %cst_84 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %250 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<32x4096x4096xf32>
    %251 = stablehlo.add %249, %250 : tensor<32x4096x4096xf32>
    %252 = stablehlo.divide %248, %251 : tensor<32x4096x4096xf32>
    %253 = stablehlo.subtract %arg9, %252 : tensor<32x4096x4096xf32>
    return %190, %197, %204, %211, %218, %225, %232, %239, %246, %253, %78, %83, %88, %93, %98, %103, %108, %113, %118, %123, %129, %135, %141, %147, %153, %159, %165, %171, %177, %183, %40 : tensor<32x64x8192x4096xf32>, tensor<32000x4096xf32>, tensor<32x4096x4096xf32>, tensor<32x4096xf32>, tensor<32x4096xf32>, tensor<32x4096x4096xf32>, tensor<32x4096x4096xf32>, tensor<32x4096x64xf32>, tensor<32x64x4096x8192xf32>, tensor<32x4096x4096xf32>, tensor<32x64x8192x4096xf32>, tensor<32000x4096xf32>, tensor<32x4096x4096xf32>, tensor<32x4096xf32>, tensor<32x4096xf32>, tensor<32x4096x4096xf32>, tensor<32x4096x4096xf32>, tensor<32x4096x64xf32>, tensor<32x64x4096x8192xf32>, tensor<32x4096x4096xf32>, tensor<32x64x8192x4096xf32>, tensor<32000x4096xf32>, tensor<32x4096x4096xf32>, tensor<32x4096xf32>, tensor<32x4096xf32>, tensor<32x4096x4096xf32>, tensor<32x4096x4096xf32>, tensor<32x4096x64xf32>, tensor<32x64x4096x8192xf32>, tensor<32x4096x4096xf32>, tensor<f32>
  }
  func.func private @tril(%arg0: tensor<2048x2048xi1>) -> tensor<2048x2048xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<2048x2048xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2048x2048xi32>
    %2 = stablehlo.add %0, %1 : tensor<2048x2048xi32>
    %3 = stablehlo.iota dim = 1 : tensor<2048x2048xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<2048x2048xi32>, tensor<2048x2048xi32>) -> tensor<2048x2048xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<2048x2048xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<2048x2048xi1>, tensor<2048x2048xi1>
    return %6 : tensor<2048x2048xi1>
  }
  func.func private @_where(%arg0: tensor<2048x2048xi1>, %arg1: tensor<f32>) -> (tensor<512x32x2048x2048xi1>, tensor<512x32x2048x2048xf32>) {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<2048x2048xi1>) -> tensor<512x32x2048x2048xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<512x32x2048x2048xf32>
    return %1, %2 : tensor<512x32x2048x2048xi1>, tensor<512x32x2048x2048xf32>
  }
  func.func private @_one_hot() -> tensor<1x1x64xi32> {
    %0 = stablehlo.iota dim = 2 : tensor<1x1x64xi32>
    return %0 : tensor<1x1x64xi32>
  }
  func.func private @_one_hot_0() -> tensor<1x1x1x64xi32> {
    %0 = stablehlo.iota dim = 3 : tensor<1x1x1x64xi32>
    return %0 : tensor<1x1x1x64xi32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<32x64x8192x4096xf32>, %arg1: tensor<i32>) -> tensor<64x8192x4096xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 64, 8192, 4096] : (tensor<32x64x8192x4096xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x8192x4096xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x64x8192x4096xf32>) -> tensor<64x8192x4096xf32>
    return %1 : tensor<64x8192x4096xf32>
  }
  func.func private @dynamic_index_in_dim_1(%arg0: tensor<32x4096x4096xf32>, %arg1: tensor<i32>) -> tensor<4096x4096xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 4096, 4096] : (tensor<32x4096x4096xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4096x4096xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x4096x4096xf32>) -> tensor<4096x4096xf32>
    return %1 : tensor<4096x4096xf32>
  }
  func.func private @dynamic_index_in_dim_2(%arg0: tensor<32x4096xf32>, %arg1: tensor<i32>) -> tensor<4096xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 4096] : (tensor<32x4096xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4096xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x4096xf32>) -> tensor<4096xf32>
    return %1 : tensor<4096xf32>
  }
  func.func private @dynamic_index_in_dim_3(%arg0: tensor<32x4096x64xf32>, %arg1: tensor<i32>) -> tensor<4096x64xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 4096, 64] : (tensor<32x4096x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4096x64xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x4096x64xf32>) -> tensor<4096x64xf32>
    return %1 : tensor<4096x64xf32>
  }
  func.func private @dynamic_index_in_dim_4(%arg0: tensor<32x64x4096x8192xf32>, %arg1: tensor<i32>) -> tensor<64x4096x8192xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 64, 4096, 8192] : (tensor<32x64x4096x8192xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x4096x8192xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x64x4096x8192xf32>) -> tensor<64x4096x8192xf32>
    return %1 : tensor<64x4096x8192xf32>
  }
  func.func private @closed_call(%arg0: tensor<512x32x2048x2048xi1>, %arg1: tensor<512x32x2048x2048xf32>, %arg2: tensor<1x1x64xi32>, %arg3: tensor<1x1x1x64xi32>, %arg4: tensor<512x2048x4096xbf16>, %arg5: tensor<64x8192x4096xf32>, %arg6: tensor<4096x4096xf32>, %arg7: tensor<4096xf32>, %arg8: tensor<4096xf32>, %arg9: tensor<4096x4096xf32>, %arg10: tensor<4096x4096xf32>, %arg11: tensor<4096x64xf32>, %arg12: tensor<64x4096x8192xf32>, %arg13: tensor<4096x4096xf32>) -> (tensor<512x2048x4096xbf16>, tensor<512x2048x4096xbf16>) {
    %0 = stablehlo.convert %arg5 : (tensor<64x8192x4096xf32>) -> tensor<64x8192x4096xbf16>
    %1 = stablehlo.convert %arg6 : (tensor<4096x4096xf32>) -> tensor<4096x4096xbf16>
    %2 = stablehlo.convert %arg7 : (tensor<4096xf32>) -> tensor<4096xbf16>
    %3 = stablehlo.convert %arg8 : (tensor<4096xf32>) -> tensor<4096xbf16>
    %4 = stablehlo.convert %arg9 : (tensor<4096x4096xf32>) -> tensor<4096x4096xbf16>
    %5 = stablehlo.convert %arg10 : (tensor<4096x4096xf32>) -> tensor<4096x4096xbf16>
    %6 = stablehlo.convert %arg11 : (tensor<4096x64xf32>) -> tensor<4096x64xbf16>
    %7 = stablehlo.convert %arg12 : (tensor<64x4096x8192xf32>) -> tensor<64x4096x8192xbf16>
    %8 = stablehlo.convert %arg13 : (tensor<4096x4096xf32>) -> tensor<4096x4096xbf16>
    %9 = stablehlo.convert %arg4 : (tensor<512x2048x4096xbf16>) -> tensor<512x2048x4096xf32>
    %10 = chlo.square %9 : tensor<512x2048x4096xf32> -> tensor<512x2048x4096xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<512x2048x4096xf32>, tensor<f32>) -> tensor<512x2048xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<512x2048xf32>) -> tensor<512x2048x1xf32>
    %cst_0 = stablehlo.constant dense<4.096000e+03> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<512x2048x1xf32>
    %14 = stablehlo.divide %12, %13 : tensor<512x2048x1xf32>
    %cst_1 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<512x2048x1xf32>
    %16 = stablehlo.add %14, %15 : tensor<512x2048x1xf32>
    %17 = stablehlo.rsqrt %16 : tensor<512x2048x1xf32>
    %18 = stablehlo.convert %arg4 : (tensor<512x2048x4096xbf16>) -> tensor<512x2048x4096xf32>
    %19 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<512x2048x1xf32>) -> tensor<512x2048x4096xf32>
    %20 = stablehlo.multiply %18, %19 : tensor<512x2048x4096xf32>
    %21 = stablehlo.convert %20 : (tensor<512x2048x4096xf32>) -> tensor<512x2048x4096xbf16>
    %22 = stablehlo.broadcast_in_dim %2, dims = [2] : (tensor<4096xbf16>) -> tensor<1x1x4096xbf16>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2] : (tensor<1x1x4096xbf16>) -> tensor<512x2048x4096xbf16>
    %24 = stablehlo.multiply %21, %23 : tensor<512x2048x4096xbf16>
    %25 = stablehlo.dot_general %24, %5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<512x2048x4096xbf16>
    %26 = stablehlo.reshape %25 : (tensor<512x2048x4096xbf16>) -> tensor<512x2048x32x128xbf16>
    %27 = sdy.sharding_constraint %26 <@mesh, [{"data"}, {}, {"expert"}, {}]> : tensor<512x2048x32x128xbf16>
    %28 = stablehlo.dot_general %24, %1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<512x2048x4096xbf16>
    %29 = stablehlo.reshape %28 : (tensor<512x2048x4096xbf16>) -> tensor<512x2048x32x128xbf16>
    %30 = sdy.sharding_constraint %29 <@mesh, [{"data"}, {}, {"expert"}, {}]> : tensor<512x2048x32x128xbf16>
    %31 = stablehlo.dot_general %24, %8, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<512x2048x4096xbf16>
    %32 = stablehlo.reshape %31 : (tensor<512x2048x4096xbf16>) -> tensor<512x2048x32x128xbf16>
    %33 = sdy.sharding_constraint %32 <@mesh, [{"data"}, {}, {"expert"}, {}]> : tensor<512x2048x32x128xbf16>
    %34 = stablehlo.dot_general %27, %30, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x32x128xbf16>, tensor<512x2048x32x128xbf16>) -> tensor<512x32x2048x2048xbf16>
    %35 = stablehlo.convert %34 : (tensor<512x32x2048x2048xbf16>) -> tensor<512x32x2048x2048xf32>
    %cst_2 = stablehlo.constant dense<11.3137083> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<512x32x2048x2048xf32>
    %37 = stablehlo.divide %35, %36 : tensor<512x32x2048x2048xf32>
    %38 = call @_where_5(%37, %arg0, %arg1) : (tensor<512x32x2048x2048xf32>, tensor<512x32x2048x2048xi1>, tensor<512x32x2048x2048xf32>) -> tensor<512x32x2048x2048xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %39 = stablehlo.reduce(%38 init: %cst_3) applies stablehlo.maximum across dimensions = [3] : (tensor<512x32x2048x2048xf32>, tensor<f32>) -> tensor<512x32x2048xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<512x32x2048xf32>
    %41 = stablehlo.maximum %40, %39 : tensor<512x32x2048xf32>
    %42 = stablehlo.broadcast_in_dim %41, dims = [0, 1, 2] : (tensor<512x32x2048xf32>) -> tensor<512x32x2048x1xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2, 3] : (tensor<512x32x2048x1xf32>) -> tensor<512x32x2048x2048xf32>
    %44 = stablehlo.subtract %38, %43 : tensor<512x32x2048x2048xf32>
    %45 = stablehlo.exponential %44 : tensor<512x32x2048x2048xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.reduce(%45 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<512x32x2048x2048xf32>, tensor<f32>) -> tensor<512x32x2048xf32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [0, 1, 2] : (tensor<512x32x2048xf32>) -> tensor<512x32x2048x1xf32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [0, 1, 2, 3] : (tensor<512x32x2048x1xf32>) -> tensor<512x32x2048x2048xf32>
    %49 = stablehlo.divide %45, %48 : tensor<512x32x2048x2048xf32>
    %50 = stablehlo.convert %49 : (tensor<512x32x2048x2048xf32>) -> tensor<512x32x2048x2048xbf16>
    %51 = stablehlo.dot_general %33, %50, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x32x128xbf16>, tensor<512x32x2048x2048xbf16>) -> tensor<512x32x128x2048xbf16>
    %52 = stablehlo.transpose %51, dims = [0, 3, 1, 2] : (tensor<512x32x128x2048xbf16>) -> tensor<512x2048x32x128xbf16>
    %53 = stablehlo.reshape %52 : (tensor<512x2048x32x128xbf16>) -> tensor<512x2048x4096xbf16>
    %54 = stablehlo.dot_general %53, %4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<512x2048x4096xbf16>
    %55 = stablehlo.add %arg4, %54 : tensor<512x2048x4096xbf16>
    %56 = sdy.sharding_constraint %55 <@mesh, [{"data"}, {}, {}]> : tensor<512x2048x4096xbf16>
    %57 = stablehlo.convert %56 : (tensor<512x2048x4096xbf16>) -> tensor<512x2048x4096xf32>
    %58 = chlo.square %57 : tensor<512x2048x4096xf32> -> tensor<512x2048x4096xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %59 = stablehlo.reduce(%58 init: %cst_6) applies stablehlo.add across dimensions = [2] : (tensor<512x2048x4096xf32>, tensor<f32>) -> tensor<512x2048xf32>
    %60 = stablehlo.broadcast_in_dim %59, dims = [0, 1] : (tensor<512x2048xf32>) -> tensor<512x2048x1xf32>
    %cst_7 = stablehlo.constant dense<4.096000e+03> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<512x2048x1xf32>
    %62 = stablehlo.divide %60, %61 : tensor<512x2048x1xf32>
    %cst_8 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<512x2048x1xf32>
    %64 = stablehlo.add %62, %63 : tensor<512x2048x1xf32>
    %65 = stablehlo.rsqrt %64 : tensor<512x2048x1xf32>
    %66 = stablehlo.convert %56 : (tensor<512x2048x4096xbf16>) -> tensor<512x2048x4096xf32>
    %67 = stablehlo.broadcast_in_dim %65, dims = [0, 1, 2] : (tensor<512x2048x1xf32>) -> tensor<512x2048x4096xf32>
    %68 = stablehlo.multiply %66, %67 : tensor<512x2048x4096xf32>
    %69 = stablehlo.convert %68 : (tensor<512x2048x4096xf32>) -> tensor<512x2048x4096xbf16>
    %70 = stablehlo.broadcast_in_dim %3, dims = [2] : (tensor<4096xbf16>) -> tensor<1x1x4096xbf16>
    %71 = stablehlo.broadcast_in_dim %70, dims = [0, 1, 2] : (tensor<1x1x4096xbf16>) -> tensor<512x2048x4096xbf16>
    %72 = stablehlo.multiply %69, %71 : tensor<512x2048x4096xbf16>
    %73 = stablehlo.dot_general %72, %6, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x4096xbf16>, tensor<4096x64xbf16>) -> tensor<512x2048x64xbf16>
    %74 = stablehlo.convert %73 : (tensor<512x2048x64xbf16>) -> tensor<512x2048x64xf32>
    %cst_9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %75 = stablehlo.reduce(%74 init: %cst_9) applies stablehlo.maximum across dimensions = [2] : (tensor<512x2048x64xf32>, tensor<f32>) -> tensor<512x2048xf32>
    %cst_10 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %76 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<512x2048xf32>
    %77 = stablehlo.maximum %76, %75 : tensor<512x2048xf32>
    %78 = stablehlo.broadcast_in_dim %77, dims = [0, 1] : (tensor<512x2048xf32>) -> tensor<512x2048x1xf32>
    %79 = stablehlo.broadcast_in_dim %78, dims = [0, 1, 2] : (tensor<512x2048x1xf32>) -> tensor<512x2048x64xf32>
    %80 = stablehlo.subtract %74, %79 : tensor<512x2048x64xf32>
    %81 = stablehlo.exponential %80 : tensor<512x2048x64xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %82 = stablehlo.reduce(%81 init: %cst_11) applies stablehlo.add across dimensions = [2] : (tensor<512x2048x64xf32>, tensor<f32>) -> tensor<512x2048xf32>
    %83 = stablehlo.broadcast_in_dim %82, dims = [0, 1] : (tensor<512x2048xf32>) -> tensor<512x2048x1xf32>
    %84 = stablehlo.broadcast_in_dim %83, dims = [0, 1, 2] : (tensor<512x2048x1xf32>) -> tensor<512x2048x64xf32>
    %85 = stablehlo.divide %81, %84 : tensor<512x2048x64xf32>
    %86 = call @argmax(%85) : (tensor<512x2048x64xf32>) -> tensor<512x2048xi32>
    %87 = call @_one_hot_6(%86, %arg2) : (tensor<512x2048xi32>, tensor<1x1x64xi32>) -> tensor<512x2048x64xf32>
    %88 = call @cumsum(%87) : (tensor<512x2048x64xf32>) -> tensor<512x2048x64xf32>
    %89 = stablehlo.multiply %88, %87 : tensor<512x2048x64xf32>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %90 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<512x2048x64xf32>
    %91 = stablehlo.subtract %89, %90 : tensor<512x2048x64xf32>
    %92 = stablehlo.convert %91 : (tensor<512x2048x64xf32>) -> tensor<512x2048x64xi32>
    %93 = call @_one_hot_8(%92, %arg3) : (tensor<512x2048x64xi32>, tensor<1x1x1x64xi32>) -> tensor<512x2048x64x64xbf16>
    %94 = stablehlo.multiply %85, %87 : tensor<512x2048x64xf32>
    %95 = stablehlo.broadcast_in_dim %94, dims = [0, 1, 2] : (tensor<512x2048x64xf32>) -> tensor<512x2048x64x1xf32>
    %96 = stablehlo.convert %95 : (tensor<512x2048x64x1xf32>) -> tensor<512x2048x64x1xbf16>
    %97 = stablehlo.broadcast_in_dim %96, dims = [0, 1, 2, 3] : (tensor<512x2048x64x1xbf16>) -> tensor<512x2048x64x64xbf16>
    %98 = stablehlo.multiply %93, %97 : tensor<512x2048x64x64xbf16>
    %99 = stablehlo.dot_general %72, %93, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x4096xbf16>, tensor<512x2048x64x64xbf16>) -> tensor<512x4096x64x64xbf16>
    %100 = stablehlo.transpose %99, dims = [2, 0, 3, 1] : (tensor<512x4096x64x64xbf16>) -> tensor<64x512x64x4096xbf16>
    %101 = stablehlo.dot_general %100, %7, batching_dims = [0] x [0], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x512x64x4096xbf16>, tensor<64x4096x8192xbf16>) -> tensor<64x512x64x8192xbf16>
    %102 = stablehlo.multiply %101, %101 : tensor<64x512x64x8192xbf16>
    %103 = stablehlo.multiply %102, %101 : tensor<64x512x64x8192xbf16>
    %cst_13 = stablehlo.constant dense<4.467770e-02> : tensor<bf16>
    %104 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<bf16>) -> tensor<64x512x64x8192xbf16>
    %105 = stablehlo.multiply %104, %103 : tensor<64x512x64x8192xbf16>
    %106 = stablehlo.add %101, %105 : tensor<64x512x64x8192xbf16>
    %cst_14 = stablehlo.constant dense<7.968750e-01> : tensor<bf16>
    %107 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<bf16>) -> tensor<64x512x64x8192xbf16>
    %108 = stablehlo.multiply %107, %106 : tensor<64x512x64x8192xbf16>
    %109 = stablehlo.tanh %108 : tensor<64x512x64x8192xbf16>
    %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %110 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<bf16>) -> tensor<64x512x64x8192xbf16>
    %111 = stablehlo.add %110, %109 : tensor<64x512x64x8192xbf16>
    %cst_16 = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
    %112 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<bf16>) -> tensor<64x512x64x8192xbf16>
    %113 = stablehlo.multiply %112, %111 : tensor<64x512x64x8192xbf16>
    %114 = stablehlo.multiply %101, %113 : tensor<64x512x64x8192xbf16>
    %115 = stablehlo.dot_general %114, %0, batching_dims = [0] x [0], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x512x64x8192xbf16>, tensor<64x8192x4096xbf16>) -> tensor<64x512x64x4096xbf16>
    %116 = stablehlo.dot_general %98, %115, batching_dims = [0] x [1], contracting_dims = [3, 2] x [2, 0], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x64x64xbf16>, tensor<64x512x64x4096xbf16>) -> tensor<512x2048x4096xbf16>
    %117 = stablehlo.add %56, %116 : tensor<512x2048x4096xbf16>
    return %117, %arg4 : tensor<512x2048x4096xbf16>, tensor<512x2048x4096xbf16>
  }
  func.func private @_where_5(%arg0: tensor<512x32x2048x2048xf32>, %arg1: tensor<512x32x2048x2048xi1>, %arg2: tensor<512x32x2048x2048xf32>) -> tensor<512x32x2048x2048xf32> {
    %0 = stablehlo.select %arg1, %arg0, %arg2 : tensor<512x32x2048x2048xi1>, tensor<512x32x2048x2048xf32>
    return %0 : tensor<512x32x2048x2048xf32>
  }
  func.func private @argmax(%arg0: tensor<512x2048x64xf32>) -> tensor<512x2048xi32> {
    %0 = stablehlo.iota dim = 2 : tensor<512x2048x64xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [2] : (tensor<512x2048x64xf32>, tensor<512x2048x64xi32>, tensor<f32>, tensor<i32>) -> (tensor<512x2048xf32>, tensor<512x2048xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
    }
    return %1#1 : tensor<512x2048xi32>
  }
  func.func private @_one_hot_6(%arg0: tensor<512x2048xi32>, %arg1: tensor<1x1x64xi32>) -> tensor<512x2048x64xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<512x2048xi32>) -> tensor<512x2048x1xi32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<512x2048x1xi32>) -> tensor<512x2048x64xi32>
    %2 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1, 2] : (tensor<1x1x64xi32>) -> tensor<512x2048x64xi32>
    %3 = stablehlo.compare EQ, %1, %2, SIGNED : (tensor<512x2048x64xi32>, tensor<512x2048x64xi32>) -> tensor<512x2048x64xi1>
    %4 = stablehlo.convert %3 : (tensor<512x2048x64xi1>) -> tensor<512x2048x64xf32>
    return %4 : tensor<512x2048x64xf32>
  }
  func.func private @cumsum(%arg0: tensor<512x2048x64xf32>) -> tensor<512x2048x64xf32> {
    %0 = call @cumsum_7(%arg0) : (tensor<512x2048x64xf32>) -> tensor<512x2048x64xf32>
    return %0 : tensor<512x2048x64xf32>
  }
  func.func private @cumsum_7(%arg0: tensor<512x2048x64xf32>) -> tensor<512x2048x64xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<[[0, 0], [2047, 0], [0, 0]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 1, 2048, 1>, window_strides = array<i64: 1, 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<512x2048x64xf32>, tensor<f32>) -> tensor<512x2048x64xf32>
    return %1 : tensor<512x2048x64xf32>
  }
  func.func private @_one_hot_8(%arg0: tensor<512x2048x64xi32>, %arg1: tensor<1x1x1x64xi32>) -> tensor<512x2048x64x64xbf16> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1, 2] : (tensor<512x2048x64xi32>) -> tensor<512x2048x64x1xi32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2, 3] : (tensor<512x2048x64x1xi32>) -> tensor<512x2048x64x64xi32>
    %2 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xi32>) -> tensor<512x2048x64x64xi32>
    %3 = stablehlo.compare EQ, %1, %2, SIGNED : (tensor<512x2048x64x64xi32>, tensor<512x2048x64x64xi32>) -> tensor<512x2048x64x64xi1>
    %4 = stablehlo.convert %3 : (tensor<512x2048x64x64xi1>) -> tensor<512x2048x64x64xbf16>
    return %4 : tensor<512x2048x64x64xbf16>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<32x512x2048x4096xbf16>, %arg1: tensor<512x2048x4096xbf16>, %arg2: tensor<i32>) -> tensor<32x512x2048x4096xbf16> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<512x2048x4096xbf16>) -> tensor<1x512x2048x4096xbf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<32x512x2048x4096xbf16>, tensor<1x512x2048x4096xbf16>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<32x512x2048x4096xbf16>
    return %1 : tensor<32x512x2048x4096xbf16>
  }
  func.func private @take_along_axis(%arg0: tensor<512x2048x32000xf32>, %arg1: tensor<512x2048x1xi32>) -> (tensor<512x2048x1xf32>, tensor<512x2048x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<512x2048x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<512x2048x1xi32>, tensor<512x2048x1xi32>) -> tensor<512x2048x1xi1>
    %c_0 = stablehlo.constant dense<32000> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<512x2048x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<512x2048x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<512x2048x1xi1>, tensor<512x2048x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<512x2048x1xi32>) -> tensor<512x2048x1x1xi32>
    %c_1 = stablehlo.constant dense<31999> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<512x2048x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<512x2048x1x1xi32>, tensor<512x2048x1x1xi32>) -> tensor<512x2048x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<512x2048x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<512x2048x1x1xi32>, tensor<512x2048x1x1xi32>) -> tensor<512x2048x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<512x2048x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [3] : (tensor<512x2048x1x1xi1>, tensor<i1>) -> tensor<512x2048x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<512x2048x32000xf32>, tensor<512x2048x1x1xi32>) -> tensor<512x2048x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<512x2048x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<512x2048x1xi1>, tensor<512x2048x1xf32>
    return %15, %5 : tensor<512x2048x1xf32>, tensor<512x2048x1x1xi32>
  }
  func.func private @take_along_axis_9(%arg0: tensor<512x2048x1x1xi32>, %arg1: tensor<512x2048x1xf32>) -> tensor<512x2048x32000xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<512x2048x32000xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<512x2048x32000xf32>, tensor<512x2048x1x1xi32>, tensor<512x2048x1xf32>) -> tensor<512x2048x32000xf32>
    return %1 : tensor<512x2048x32000xf32>
  }
  func.func private @dynamic_index_in_dim_10(%arg0: tensor<32x512x2048x4096xbf16>, %arg1: tensor<i32>) -> tensor<512x2048x4096xbf16> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 512, 2048, 4096] : (tensor<32x512x2048x4096xbf16>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x512x2048x4096xbf16>
    %1 = stablehlo.reshape %0 : (tensor<1x512x2048x4096xbf16>) -> tensor<512x2048x4096xbf16>
    return %1 : tensor<512x2048x4096xbf16>
  }
  func.func private @closed_call_11(%arg0: tensor<512x2048x4096xbf16>, %arg1: tensor<512x2048x4096xbf16>, %arg2: tensor<64x8192x4096xf32>, %arg3: tensor<4096x4096xf32>, %arg4: tensor<4096xf32>, %arg5: tensor<4096xf32>, %arg6: tensor<4096x4096xf32>, %arg7: tensor<4096x4096xf32>, %arg8: tensor<4096x64xf32>, %arg9: tensor<64x4096x8192xf32>, %arg10: tensor<4096x4096xf32>) -> (tensor<512x2048x4096xbf16>, tensor<64x8192x4096xf32>, tensor<4096x4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096x4096xf32>, tensor<4096x4096xf32>, tensor<4096x64xf32>, tensor<64x4096x8192xf32>, tensor<4096x4096xf32>) {
    %0:11 = stablehlo.optimization_barrier %arg1, %arg2, %arg3, %arg4, %arg5, %arg6, %arg7, %arg8, %arg9, %arg10, %arg0 : tensor<512x2048x4096xbf16>, tensor<64x8192x4096xf32>, tensor<4096x4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096x4096xf32>, tensor<4096x4096xf32>, tensor<4096x64xf32>, tensor<64x4096x8192xf32>, tensor<4096x4096xf32>, tensor<512x2048x4096xbf16>
    %1 = stablehlo.convert %0#1 : (tensor<64x8192x4096xf32>) -> tensor<64x8192x4096xbf16>
    %2 = stablehlo.convert %0#2 : (tensor<4096x4096xf32>) -> tensor<4096x4096xbf16>
    %3 = stablehlo.convert %0#3 : (tensor<4096xf32>) -> tensor<4096xbf16>
    %4 = stablehlo.convert %0#4 : (tensor<4096xf32>) -> tensor<4096xbf16>
    %5 = stablehlo.convert %0#5 : (tensor<4096x4096xf32>) -> tensor<4096x4096xbf16>
    %6 = stablehlo.convert %0#6 : (tensor<4096x4096xf32>) -> tensor<4096x4096xbf16>
    %7 = stablehlo.convert %0#7 : (tensor<4096x64xf32>) -> tensor<4096x64xbf16>
    %8 = stablehlo.convert %0#8 : (tensor<64x4096x8192xf32>) -> tensor<64x4096x8192xbf16>
    %9 = stablehlo.convert %0#9 : (tensor<4096x4096xf32>) -> tensor<4096x4096xbf16>
    %10 = stablehlo.convert %0#0 : (tensor<512x2048x4096xbf16>) -> tensor<512x2048x4096xf32>
    %11 = chlo.square %10 : tensor<512x2048x4096xf32> -> tensor<512x2048x4096xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<512x2048x4096xf32>
    %13 = stablehlo.multiply %12, %10 : tensor<512x2048x4096xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.reduce(%11 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<512x2048x4096xf32>, tensor<f32>) -> tensor<512x2048xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<512x2048xf32>) -> tensor<512x2048x1xf32>
    %cst_1 = stablehlo.constant dense<4.096000e+03> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<512x2048x1xf32>
    %17 = stablehlo.divide %15, %16 : tensor<512x2048x1xf32>
    %cst_2 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<512x2048x1xf32>
    %19 = stablehlo.add %17, %18 : tensor<512x2048x1xf32>
    %20 = stablehlo.rsqrt %19 : tensor<512x2048x1xf32>
    %21 = stablehlo.divide %20, %19 : tensor<512x2048x1xf32>
    %cst_3 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<512x2048x1xf32>
    %23 = stablehlo.multiply %22, %21 : tensor<512x2048x1xf32>
    %24 = stablehlo.convert %0#0 : (tensor<512x2048x4096xbf16>) -> tensor<512x2048x4096xf32>
    %25 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2] : (tensor<512x2048x1xf32>) -> tensor<512x2048x4096xf32>
    %26 = stablehlo.multiply %24, %25 : tensor<512x2048x4096xf32>
    %27 = stablehlo.convert %26 : (tensor<512x2048x4096xf32>) -> tensor<512x2048x4096xbf16>
    %28 = stablehlo.broadcast_in_dim %3, dims = [2] : (tensor<4096xbf16>) -> tensor<1x1x4096xbf16>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2] : (tensor<1x1x4096xbf16>) -> tensor<512x2048x4096xbf16>
    %30 = stablehlo.multiply %27, %29 : tensor<512x2048x4096xbf16>
    %31 = stablehlo.dot_general %30, %6, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<512x2048x4096xbf16>
    %32 = stablehlo.reshape %31 : (tensor<512x2048x4096xbf16>) -> tensor<512x2048x32x128xbf16>
    %33 = sdy.sharding_constraint %32 <@mesh, [{"data"}, {}, {"expert"}, {}]> : tensor<512x2048x32x128xbf16>
    %34 = stablehlo.dot_general %30, %2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<512x2048x4096xbf16>
    %35 = stablehlo.reshape %34 : (tensor<512x2048x4096xbf16>) -> tensor<512x2048x32x128xbf16>
    %36 = sdy.sharding_constraint %35 <@mesh, [{"data"}, {}, {"expert"}, {}]> : tensor<512x2048x32x128xbf16>
    %37 = stablehlo.dot_general %30, %9, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<512x2048x4096xbf16>
    %38 = stablehlo.reshape %37 : (tensor<512x2048x4096xbf16>) -> tensor<512x2048x32x128xbf16>
    %39 = sdy.sharding_constraint %38 <@mesh, [{"data"}, {}, {"expert"}, {}]> : tensor<512x2048x32x128xbf16>
    %40 = stablehlo.dot_general %33, %36, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x32x128xbf16>, tensor<512x2048x32x128xbf16>) -> tensor<512x32x2048x2048xbf16>
    %41 = stablehlo.convert %40 : (tensor<512x32x2048x2048xbf16>) -> tensor<512x32x2048x2048xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %42 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<2048x2048xi1>
    %43 = call @tril_12(%42) : (tensor<2048x2048xi1>) -> tensor<2048x2048xi1>
    %cst_4 = stablehlo.constant dense<11.3137083> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<512x32x2048x2048xf32>
    %45 = stablehlo.divide %41, %44 : tensor<512x32x2048x2048xf32>
    %cst_5 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %46:2 = call @_where_13(%43, %45, %cst_5) : (tensor<2048x2048xi1>, tensor<512x32x2048x2048xf32>, tensor<f32>) -> (tensor<512x32x2048x2048xf32>, tensor<512x32x2048x2048xi1>)
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %47 = stablehlo.reduce(%46#0 init: %cst_6) applies stablehlo.maximum across dimensions = [3] : (tensor<512x32x2048x2048xf32>, tensor<f32>) -> tensor<512x32x2048xf32>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<512x32x2048xf32>
    %49 = stablehlo.maximum %48, %47 : tensor<512x32x2048xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0, 1, 2] : (tensor<512x32x2048xf32>) -> tensor<512x32x2048x1xf32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [0, 1, 2, 3] : (tensor<512x32x2048x1xf32>) -> tensor<512x32x2048x2048xf32>
    %52 = stablehlo.subtract %46#0, %51 : tensor<512x32x2048x2048xf32>
    %53 = stablehlo.exponential %52 : tensor<512x32x2048x2048xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %54 = stablehlo.reduce(%53 init: %cst_8) applies stablehlo.add across dimensions = [3] : (tensor<512x32x2048x2048xf32>, tensor<f32>) -> tensor<512x32x2048xf32>
    %55 = stablehlo.broadcast_in_dim %54, dims = [0, 1, 2] : (tensor<512x32x2048xf32>) -> tensor<512x32x2048x1xf32>
    %56 = stablehlo.broadcast_in_dim %55, dims = [0, 1, 2, 3] : (tensor<512x32x2048x1xf32>) -> tensor<512x32x2048x2048xf32>
    %57 = stablehlo.divide %53, %56 : tensor<512x32x2048x2048xf32>
    %58 = stablehlo.multiply %55, %55 : tensor<512x32x2048x1xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<512x32x2048x1xf32>
    %60 = stablehlo.divide %59, %58 : tensor<512x32x2048x1xf32>
    %61 = stablehlo.convert %57 : (tensor<512x32x2048x2048xf32>) -> tensor<512x32x2048x2048xbf16>
    %62 = stablehlo.dot_general %39, %61, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x32x128xbf16>, tensor<512x32x2048x2048xbf16>) -> tensor<512x32x128x2048xbf16>
    %63 = stablehlo.transpose %62, dims = [0, 3, 1, 2] : (tensor<512x32x128x2048xbf16>) -> tensor<512x2048x32x128xbf16>
    %64 = stablehlo.reshape %63 : (tensor<512x2048x32x128xbf16>) -> tensor<512x2048x4096xbf16>
    %65 = stablehlo.dot_general %64, %5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<512x2048x4096xbf16>
    %66 = stablehlo.add %0#0, %65 : tensor<512x2048x4096xbf16>
    %67 = sdy.sharding_constraint %66 <@mesh, [{"data"}, {}, {}]> : tensor<512x2048x4096xbf16>
    %68 = stablehlo.convert %67 : (tensor<512x2048x4096xbf16>) -> tensor<512x2048x4096xf32>
    %69 = chlo.square %68 : tensor<512x2048x4096xf32> -> tensor<512x2048x4096xf32>
    %cst_10 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<512x2048x4096xf32>
    %71 = stablehlo.multiply %70, %68 : tensor<512x2048x4096xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %72 = stablehlo.reduce(%69 init: %cst_11) applies stablehlo.add across dimensions = [2] : (tensor<512x2048x4096xf32>, tensor<f32>) -> tensor<512x2048xf32>
    %73 = stablehlo.broadcast_in_dim %72, dims = [0, 1] : (tensor<512x2048xf32>) -> tensor<512x2048x1xf32>
    %cst_12 = stablehlo.constant dense<4.096000e+03> : tensor<f32>
    %74 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<512x2048x1xf32>
    %75 = stablehlo.divide %73, %74 : tensor<512x2048x1xf32>
    %cst_13 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %76 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<512x2048x1xf32>
    %77 = stablehlo.add %75, %76 : tensor<512x2048x1xf32>
    %78 = stablehlo.rsqrt %77 : tensor<512x2048x1xf32>
    %79 = stablehlo.divide %78, %77 : tensor<512x2048x1xf32>
    %cst_14 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %80 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<512x2048x1xf32>
    %81 = stablehlo.multiply %80, %79 : tensor<512x2048x1xf32>
    %82 = stablehlo.convert %67 : (tensor<512x2048x4096xbf16>) -> tensor<512x2048x4096xf32>
    %83 = stablehlo.broadcast_in_dim %78, dims = [0, 1, 2] : (tensor<512x2048x1xf32>) -> tensor<512x2048x4096xf32>
    %84 = stablehlo.multiply %82, %83 : tensor<512x2048x4096xf32>
    %85 = stablehlo.convert %84 : (tensor<512x2048x4096xf32>) -> tensor<512x2048x4096xbf16>
    %86 = stablehlo.broadcast_in_dim %4, dims = [2] : (tensor<4096xbf16>) -> tensor<1x1x4096xbf16>
    %87 = stablehlo.broadcast_in_dim %86, dims = [0, 1, 2] : (tensor<1x1x4096xbf16>) -> tensor<512x2048x4096xbf16>
    %88 = stablehlo.multiply %85, %87 : tensor<512x2048x4096xbf16>
    %89 = stablehlo.dot_general %88, %7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x4096xbf16>, tensor<4096x64xbf16>) -> tensor<512x2048x64xbf16>
    %90 = stablehlo.convert %89 : (tensor<512x2048x64xbf16>) -> tensor<512x2048x64xf32>
    %cst_15 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %91 = stablehlo.reduce(%90 init: %cst_15) applies stablehlo.maximum across dimensions = [2] : (tensor<512x2048x64xf32>, tensor<f32>) -> tensor<512x2048xf32>
    %cst_16 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %92 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<512x2048xf32>
    %93 = stablehlo.maximum %92, %91 : tensor<512x2048xf32>
    %94 = stablehlo.broadcast_in_dim %93, dims = [0, 1] : (tensor<512x2048xf32>) -> tensor<512x2048x1xf32>
    %95 = stablehlo.broadcast_in_dim %94, dims = [0, 1, 2] : (tensor<512x2048x1xf32>) -> tensor<512x2048x64xf32>
    %96 = stablehlo.subtract %90, %95 : tensor<512x2048x64xf32>
    %97 = stablehlo.exponential %96 : tensor<512x2048x64xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %98 = stablehlo.reduce(%97 init: %cst_17) applies stablehlo.add across dimensions = [2] : (tensor<512x2048x64xf32>, tensor<f32>) -> tensor<512x2048xf32>
    %99 = stablehlo.broadcast_in_dim %98, dims = [0, 1] : (tensor<512x2048xf32>) -> tensor<512x2048x1xf32>
    %100 = stablehlo.broadcast_in_dim %99, dims = [0, 1, 2] : (tensor<512x2048x1xf32>) -> tensor<512x2048x64xf32>
    %101 = stablehlo.divide %97, %100 : tensor<512x2048x64xf32>
    %102 = stablehlo.multiply %99, %99 : tensor<512x2048x1xf32>
    %cst_18 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %103 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<512x2048x1xf32>
    %104 = stablehlo.divide %103, %102 : tensor<512x2048x1xf32>
    %105 = call @argmax(%101) : (tensor<512x2048x64xf32>) -> tensor<512x2048xi32>
    %106 = call @_one_hot_14(%105) : (tensor<512x2048xi32>) -> tensor<512x2048x64xf32>
    %107 = call @cumsum_15(%106) : (tensor<512x2048x64xf32>) -> tensor<512x2048x64xf32>
    %108 = stablehlo.multiply %107, %106 : tensor<512x2048x64xf32>
    %cst_19 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %109 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<512x2048x64xf32>
    %110 = stablehlo.subtract %108, %109 : tensor<512x2048x64xf32>
    %111 = stablehlo.convert %110 : (tensor<512x2048x64xf32>) -> tensor<512x2048x64xi32>
    %112 = call @_one_hot_16(%111) : (tensor<512x2048x64xi32>) -> tensor<512x2048x64x64xbf16>
    %113 = stablehlo.multiply %101, %106 : tensor<512x2048x64xf32>
    %114 = stablehlo.broadcast_in_dim %113, dims = [0, 1, 2] : (tensor<512x2048x64xf32>) -> tensor<512x2048x64x1xf32>
    %115 = stablehlo.convert %114 : (tensor<512x2048x64x1xf32>) -> tensor<512x2048x64x1xbf16>
    %116 = stablehlo.broadcast_in_dim %115, dims = [0, 1, 2, 3] : (tensor<512x2048x64x1xbf16>) -> tensor<512x2048x64x64xbf16>
    %117 = stablehlo.multiply %112, %116 : tensor<512x2048x64x64xbf16>
    %118 = stablehlo.dot_general %88, %112, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x4096xbf16>, tensor<512x2048x64x64xbf16>) -> tensor<512x4096x64x64xbf16>
    %119 = stablehlo.transpose %118, dims = [2, 0, 3, 1] : (tensor<512x4096x64x64xbf16>) -> tensor<64x512x64x4096xbf16>
    %120 = stablehlo.dot_general %119, %8, batching_dims = [0] x [0], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x512x64x4096xbf16>, tensor<64x4096x8192xbf16>) -> tensor<64x512x64x8192xbf16>
    %121 = stablehlo.multiply %120, %120 : tensor<64x512x64x8192xbf16>
    %122 = stablehlo.multiply %121, %120 : tensor<64x512x64x8192xbf16>
    %123 = stablehlo.multiply %120, %120 : tensor<64x512x64x8192xbf16>
    %cst_20 = stablehlo.constant dense<3.000000e+00> : tensor<bf16>
    %124 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<bf16>) -> tensor<64x512x64x8192xbf16>
    %125 = stablehlo.multiply %124, %123 : tensor<64x512x64x8192xbf16>
    %cst_21 = stablehlo.constant dense<4.467770e-02> : tensor<bf16>
    %126 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<bf16>) -> tensor<64x512x64x8192xbf16>
    %127 = stablehlo.multiply %126, %122 : tensor<64x512x64x8192xbf16>
    %128 = stablehlo.add %120, %127 : tensor<64x512x64x8192xbf16>
    %cst_22 = stablehlo.constant dense<7.968750e-01> : tensor<bf16>
    %129 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<bf16>) -> tensor<64x512x64x8192xbf16>
    %130 = stablehlo.multiply %129, %128 : tensor<64x512x64x8192xbf16>
    %131 = stablehlo.tanh %130 : tensor<64x512x64x8192xbf16>
    %cst_23 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %132 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<bf16>) -> tensor<64x512x64x8192xbf16>
    %133 = stablehlo.subtract %132, %131 : tensor<64x512x64x8192xbf16>
    %cst_24 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %134 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<bf16>) -> tensor<64x512x64x8192xbf16>
    %135 = stablehlo.add %134, %131 : tensor<64x512x64x8192xbf16>
    %cst_25 = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
    %136 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<bf16>) -> tensor<64x512x64x8192xbf16>
    %137 = stablehlo.multiply %136, %135 : tensor<64x512x64x8192xbf16>
    %138 = stablehlo.multiply %120, %137 : tensor<64x512x64x8192xbf16>
    %139 = stablehlo.dot_general %138, %1, batching_dims = [0] x [0], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x512x64x8192xbf16>, tensor<64x8192x4096xbf16>) -> tensor<64x512x64x4096xbf16>
    %140 = stablehlo.dot_general %0#10, %117, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x4096xbf16>, tensor<512x2048x64x64xbf16>) -> tensor<512x4096x64x64xbf16>
    %141 = stablehlo.transpose %140, dims = [2, 0, 3, 1] : (tensor<512x4096x64x64xbf16>) -> tensor<64x512x64x4096xbf16>
    %142 = stablehlo.dot_general %0#10, %139, batching_dims = [0] x [1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x4096xbf16>, tensor<64x512x64x4096xbf16>) -> tensor<512x2048x64x64xbf16>
    %143 = stablehlo.dot_general %141, %138, batching_dims = [0] x [0], contracting_dims = [1, 2] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<64x512x64x4096xbf16>, tensor<64x512x64x8192xbf16>) -> tensor<64x4096x8192xbf16>
    %144 = stablehlo.transpose %143, dims = [0, 2, 1] : (tensor<64x4096x8192xbf16>) -> tensor<64x8192x4096xbf16>
    %145 = stablehlo.dot_general %141, %1, batching_dims = [0] x [0], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x512x64x4096xbf16>, tensor<64x8192x4096xbf16>) -> tensor<64x512x64x8192xbf16>
    %146 = stablehlo.multiply %120, %145 : tensor<64x512x64x8192xbf16>
    %147 = stablehlo.multiply %145, %137 : tensor<64x512x64x8192xbf16>
    %cst_26 = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
    %148 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<bf16>) -> tensor<64x512x64x8192xbf16>
    %149 = stablehlo.multiply %148, %146 : tensor<64x512x64x8192xbf16>
    %150 = stablehlo.multiply %149, %133 : tensor<64x512x64x8192xbf16>
    %151 = stablehlo.multiply %150, %131 : tensor<64x512x64x8192xbf16>
    %152 = stablehlo.add %150, %151 : tensor<64x512x64x8192xbf16>
    %cst_27 = stablehlo.constant dense<7.968750e-01> : tensor<bf16>
    %153 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<bf16>) -> tensor<64x512x64x8192xbf16>
    %154 = stablehlo.multiply %153, %152 : tensor<64x512x64x8192xbf16>
    %155 = stablehlo.add %147, %154 : tensor<64x512x64x8192xbf16>
    %cst_28 = stablehlo.constant dense<4.467770e-02> : tensor<bf16>
    %156 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<bf16>) -> tensor<64x512x64x8192xbf16>
    %157 = stablehlo.multiply %156, %154 : tensor<64x512x64x8192xbf16>
    %158 = stablehlo.multiply %157, %125 : tensor<64x512x64x8192xbf16>
    %159 = stablehlo.add %155, %158 : tensor<64x512x64x8192xbf16>
    %160 = stablehlo.dot_general %159, %119, batching_dims = [0] x [0], contracting_dims = [1, 2] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<64x512x64x8192xbf16>, tensor<64x512x64x4096xbf16>) -> tensor<64x8192x4096xbf16>
    %161 = stablehlo.transpose %160, dims = [0, 2, 1] : (tensor<64x8192x4096xbf16>) -> tensor<64x4096x8192xbf16>
    %162 = stablehlo.dot_general %159, %8, batching_dims = [0] x [0], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x512x64x8192xbf16>, tensor<64x4096x8192xbf16>) -> tensor<64x512x64x4096xbf16>
    %163 = stablehlo.transpose %162, dims = [1, 3, 0, 2] : (tensor<64x512x64x4096xbf16>) -> tensor<512x4096x64x64xbf16>
    %164 = stablehlo.dot_general %163, %112, batching_dims = [0] x [0], contracting_dims = [2, 3] x [2, 3], precision = [DEFAULT, DEFAULT] : (tensor<512x4096x64x64xbf16>, tensor<512x2048x64x64xbf16>) -> tensor<512x4096x2048xbf16>
    %165 = stablehlo.transpose %164, dims = [0, 2, 1] : (tensor<512x4096x2048xbf16>) -> tensor<512x2048x4096xbf16>
    %166 = stablehlo.multiply %112, %142 : tensor<512x2048x64x64xbf16>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %167 = stablehlo.reduce(%166 init: %cst_29) applies stablehlo.add across dimensions = [3] : (tensor<512x2048x64x64xbf16>, tensor<bf16>) -> tensor<512x2048x64xbf16>
    %168 = stablehlo.reshape %167 : (tensor<512x2048x64xbf16>) -> tensor<512x2048x64x1xbf16>
    %169 = stablehlo.convert %168 : (tensor<512x2048x64x1xbf16>) -> tensor<512x2048x64x1xf32>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %170 = stablehlo.reduce(%169 init: %cst_30) applies stablehlo.add across dimensions = [3] : (tensor<512x2048x64x1xf32>, tensor<f32>) -> tensor<512x2048x64xf32>
    %171 = stablehlo.multiply %170, %106 : tensor<512x2048x64xf32>
    %172 = stablehlo.broadcast_in_dim %104, dims = [0, 1, 2] : (tensor<512x2048x1xf32>) -> tensor<512x2048x64xf32>
    %173 = stablehlo.multiply %171, %172 : tensor<512x2048x64xf32>
    %174 = stablehlo.multiply %173, %97 : tensor<512x2048x64xf32>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %175 = stablehlo.reduce(%174 init: %cst_31) applies stablehlo.add across dimensions = [2] : (tensor<512x2048x64xf32>, tensor<f32>) -> tensor<512x2048xf32>
    %176 = stablehlo.reshape %175 : (tensor<512x2048xf32>) -> tensor<512x2048x1xf32>
    %177 = stablehlo.negate %176 : tensor<512x2048x1xf32>
    %178 = stablehlo.broadcast_in_dim %99, dims = [0, 1, 2] : (tensor<512x2048x1xf32>) -> tensor<512x2048x64xf32>
    %179 = stablehlo.divide %171, %178 : tensor<512x2048x64xf32>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %180 = stablehlo.reduce(%177 init: %cst_32) applies stablehlo.add across dimensions = [2] : (tensor<512x2048x1xf32>, tensor<f32>) -> tensor<512x2048xf32>
    %181 = stablehlo.broadcast_in_dim %180, dims = [0, 1] : (tensor<512x2048xf32>) -> tensor<512x2048x64xf32>
    %182 = stablehlo.add %179, %181 : tensor<512x2048x64xf32>
    %183 = stablehlo.multiply %182, %97 : tensor<512x2048x64xf32>
    %184 = stablehlo.convert %183 : (tensor<512x2048x64xf32>) -> tensor<512x2048x64xbf16>
    %185 = stablehlo.dot_general %184, %88, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x64xbf16>, tensor<512x2048x4096xbf16>) -> tensor<64x4096xbf16>
    %186 = stablehlo.transpose %185, dims = [1, 0] : (tensor<64x4096xbf16>) -> tensor<4096x64xbf16>
    %187 = stablehlo.dot_general %184, %7, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x64xbf16>, tensor<4096x64xbf16>) -> tensor<512x2048x4096xbf16>
    %188 = stablehlo.add %165, %187 : tensor<512x2048x4096xbf16>
    %189 = stablehlo.multiply %85, %188 : tensor<512x2048x4096xbf16>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %190 = stablehlo.reduce(%189 init: %cst_33) applies stablehlo.add across dimensions = [0, 1] : (tensor<512x2048x4096xbf16>, tensor<bf16>) -> tensor<4096xbf16>
    %191 = stablehlo.reshape %190 : (tensor<4096xbf16>) -> tensor<1x1x4096xbf16>
    %192 = stablehlo.broadcast_in_dim %86, dims = [0, 1, 2] : (tensor<1x1x4096xbf16>) -> tensor<512x2048x4096xbf16>
    %193 = stablehlo.multiply %188, %192 : tensor<512x2048x4096xbf16>
    %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %194 = stablehlo.reduce(%191 init: %cst_34) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x4096xbf16>, tensor<bf16>) -> tensor<4096xbf16>
    %195 = stablehlo.convert %193 : (tensor<512x2048x4096xbf16>) -> tensor<512x2048x4096xf32>
    %196 = stablehlo.multiply %82, %195 : tensor<512x2048x4096xf32>
    %cst_35 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %197 = stablehlo.reduce(%196 init: %cst_35) applies stablehlo.add across dimensions = [2] : (tensor<512x2048x4096xf32>, tensor<f32>) -> tensor<512x2048xf32>
    %198 = stablehlo.reshape %197 : (tensor<512x2048xf32>) -> tensor<512x2048x1xf32>
    %199 = stablehlo.broadcast_in_dim %78, dims = [0, 1, 2] : (tensor<512x2048x1xf32>) -> tensor<512x2048x4096xf32>
    %200 = stablehlo.multiply %195, %199 : tensor<512x2048x4096xf32>
    %201 = stablehlo.convert %200 : (tensor<512x2048x4096xf32>) -> tensor<512x2048x4096xbf16>
    %202 = stablehlo.add %0#10, %201 : tensor<512x2048x4096xbf16>
    %203 = stablehlo.multiply %198, %81 : tensor<512x2048x1xf32>
    %cst_36 = stablehlo.constant dense<4.096000e+03> : tensor<f32>
    %204 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<512x2048x1xf32>
    %205 = stablehlo.divide %203, %204 : tensor<512x2048x1xf32>
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %206 = stablehlo.reduce(%205 init: %cst_37) applies stablehlo.add across dimensions = [2] : (tensor<512x2048x1xf32>, tensor<f32>) -> tensor<512x2048xf32>
    %207 = stablehlo.broadcast_in_dim %206, dims = [0, 1] : (tensor<512x2048xf32>) -> tensor<512x2048x4096xf32>
    %208 = stablehlo.multiply %207, %71 : tensor<512x2048x4096xf32>
    %209 = stablehlo.convert %208 : (tensor<512x2048x4096xf32>) -> tensor<512x2048x4096xbf16>
    %210 = stablehlo.add %202, %209 : tensor<512x2048x4096xbf16>
    %211 = sdy.sharding_constraint %210 <@mesh, [{"data"}, {}, {}]> : tensor<512x2048x4096xbf16>
    %212 = stablehlo.dot_general %211, %64, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x4096xbf16>, tensor<512x2048x4096xbf16>) -> tensor<4096x4096xbf16>
    %213 = stablehlo.transpose %212, dims = [1, 0] : (tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    %214 = stablehlo.dot_general %211, %5, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<512x2048x4096xbf16>
    %215 = stablehlo.reshape %214 : (tensor<512x2048x4096xbf16>) -> tensor<512x2048x32x128xbf16>
    %216 = stablehlo.transpose %215, dims = [0, 2, 3, 1] : (tensor<512x2048x32x128xbf16>) -> tensor<512x32x128x2048xbf16>
    %217 = stablehlo.dot_general %216, %39, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<512x32x128x2048xbf16>, tensor<512x2048x32x128xbf16>) -> tensor<512x32x2048x2048xbf16>
    %218 = stablehlo.dot_general %216, %61, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<512x32x128x2048xbf16>, tensor<512x32x2048x2048xbf16>) -> tensor<512x32x128x2048xbf16>
    %219 = stablehlo.transpose %218, dims = [0, 3, 1, 2] : (tensor<512x32x128x2048xbf16>) -> tensor<512x2048x32x128xbf16>
    %220 = stablehlo.convert %217 : (tensor<512x32x2048x2048xbf16>) -> tensor<512x32x2048x2048xf32>
    %221 = stablehlo.broadcast_in_dim %60, dims = [0, 1, 2, 3] : (tensor<512x32x2048x1xf32>) -> tensor<512x32x2048x2048xf32>
    %222 = stablehlo.multiply %220, %221 : tensor<512x32x2048x2048xf32>
    %223 = stablehlo.multiply %222, %53 : tensor<512x32x2048x2048xf32>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %224 = stablehlo.reduce(%223 init: %cst_38) applies stablehlo.add across dimensions = [3] : (tensor<512x32x2048x2048xf32>, tensor<f32>) -> tensor<512x32x2048xf32>
    %225 = stablehlo.reshape %224 : (tensor<512x32x2048xf32>) -> tensor<512x32x2048x1xf32>
    %226 = stablehlo.negate %225 : tensor<512x32x2048x1xf32>
    %227 = stablehlo.broadcast_in_dim %55, dims = [0, 1, 2, 3] : (tensor<512x32x2048x1xf32>) -> tensor<512x32x2048x2048xf32>
    %228 = stablehlo.divide %220, %227 : tensor<512x32x2048x2048xf32>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %229 = stablehlo.reduce(%226 init: %cst_39) applies stablehlo.add across dimensions = [3] : (tensor<512x32x2048x1xf32>, tensor<f32>) -> tensor<512x32x2048xf32>
    %230 = stablehlo.broadcast_in_dim %229, dims = [0, 1, 2] : (tensor<512x32x2048xf32>) -> tensor<512x32x2048x2048xf32>
    %231 = stablehlo.add %228, %230 : tensor<512x32x2048x2048xf32>
    %232 = stablehlo.multiply %231, %53 : tensor<512x32x2048x2048xf32>
    %233 = call @_where_17(%46#1, %232) : (tensor<512x32x2048x2048xi1>, tensor<512x32x2048x2048xf32>) -> tensor<512x32x2048x2048xf32>
    %cst_40 = stablehlo.constant dense<11.3137083> : tensor<f32>
    %234 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<512x32x2048x2048xf32>
    %235 = stablehlo.divide %233, %234 : tensor<512x32x2048x2048xf32>
    %236 = stablehlo.convert %235 : (tensor<512x32x2048x2048xf32>) -> tensor<512x32x2048x2048xbf16>
    %237 = stablehlo.dot_general %236, %33, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<512x32x2048x2048xbf16>, tensor<512x2048x32x128xbf16>) -> tensor<512x32x2048x128xbf16>
    %238 = stablehlo.transpose %237, dims = [0, 2, 1, 3] : (tensor<512x32x2048x128xbf16>) -> tensor<512x2048x32x128xbf16>
    %239 = stablehlo.dot_general %236, %36, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<512x32x2048x2048xbf16>, tensor<512x2048x32x128xbf16>) -> tensor<512x32x2048x128xbf16>
    %240 = stablehlo.transpose %239, dims = [0, 2, 1, 3] : (tensor<512x32x2048x128xbf16>) -> tensor<512x2048x32x128xbf16>
    %241 = sdy.sharding_constraint %219 <@mesh, [{"data"}, {}, {"expert"}, {}]> : tensor<512x2048x32x128xbf16>
    %242 = stablehlo.reshape %241 : (tensor<512x2048x32x128xbf16>) -> tensor<512x2048x4096xbf16>
    %243 = stablehlo.dot_general %242, %30, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x4096xbf16>, tensor<512x2048x4096xbf16>) -> tensor<4096x4096xbf16>
    %244 = stablehlo.transpose %243, dims = [1, 0] : (tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    %245 = stablehlo.dot_general %242, %9, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<512x2048x4096xbf16>
    %246 = sdy.sharding_constraint %238 <@mesh, [{"data"}, {}, {"expert"}, {}]> : tensor<512x2048x32x128xbf16>
    %247 = stablehlo.reshape %246 : (tensor<512x2048x32x128xbf16>) -> tensor<512x2048x4096xbf16>
    %248 = stablehlo.dot_general %247, %30, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x4096xbf16>, tensor<512x2048x4096xbf16>) -> tensor<4096x4096xbf16>
    %249 = stablehlo.transpose %248, dims = [1, 0] : (tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    %250 = stablehlo.dot_general %247, %2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<512x2048x4096xbf16>
    %251 = stablehlo.add %245, %250 : tensor<512x2048x4096xbf16>
    %252 = sdy.sharding_constraint %240 <@mesh, [{"data"}, {}, {"expert"}, {}]> : tensor<512x2048x32x128xbf16>
    %253 = stablehlo.reshape %252 : (tensor<512x2048x32x128xbf16>) -> tensor<512x2048x4096xbf16>
    %254 = stablehlo.dot_general %253, %30, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x4096xbf16>, tensor<512x2048x4096xbf16>) -> tensor<4096x4096xbf16>
    %255 = stablehlo.transpose %254, dims = [1, 0] : (tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    %256 = stablehlo.dot_general %253, %6, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<512x2048x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<512x2048x4096xbf16>
    %257 = stablehlo.add %251, %256 : tensor<512x2048x4096xbf16>
    %258 = stablehlo.multiply %27, %257 : tensor<512x2048x4096xbf16>
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %259 = stablehlo.reduce(%258 init: %cst_41) applies stablehlo.add across dimensions = [0, 1] : (tensor<512x2048x4096xbf16>, tensor<bf16>) -> tensor<4096xbf16>
    %260 = stablehlo.reshape %259 : (tensor<4096xbf16>) -> tensor<1x1x4096xbf16>
    %261 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2] : (tensor<1x1x4096xbf16>) -> tensor<512x2048x4096xbf16>
    %262 = stablehlo.multiply %257, %261 : tensor<512x2048x4096xbf16>
    %cst_42 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %263 = stablehlo.reduce(%260 init: %cst_42) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x4096xbf16>, tensor<bf16>) -> tensor<4096xbf16>
    %264 = stablehlo.convert %262 : (tensor<512x2048x4096xbf16>) -> tensor<512x2048x4096xf32>
    %265 = stablehlo.multiply %24, %264 : tensor<512x2048x4096xf32>
    %cst_43 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %266 = stablehlo.reduce(%265 init: %cst_43) applies stablehlo.add across dimensions = [2] : (tensor<512x2048x4096xf32>, tensor<f32>) -> tensor<512x2048xf32>
    %267 = stablehlo.reshape %266 : (tensor<512x2048xf32>) -> tensor<512x2048x1xf32>
    %268 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2] : (tensor<512x2048x1xf32>) -> tensor<512x2048x4096xf32>
    %269 = stablehlo.multiply %264, %268 : tensor<512x2048x4096xf32>
    %270 = stablehlo.convert %269 : (tensor<512x2048x4096xf32>) -> tensor<512x2048x4096xbf16>
    %271 = stablehlo.add %211, %270 : tensor<512x2048x4096xbf16>
    %272 = stablehlo.multiply %267, %23 : tensor<512x2048x1xf32>
    %cst_44 = stablehlo.constant dense<4.096000e+03> : tensor<f32>
    %273 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<512x2048x1xf32>
    %274 = stablehlo.divide %272, %273 : tensor<512x2048x1xf32>
    %cst_45 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %275 = stablehlo.reduce(%274 init: %cst_45) applies stablehlo.add across dimensions = [2] : (tensor<512x2048x1xf32>, tensor<f32>) -> tensor<512x2048xf32>
    %276 = stablehlo.broadcast_in_dim %275, dims = [0, 1] : (tensor<512x2048xf32>) -> tensor<512x2048x4096xf32>
    %277 = stablehlo.multiply %276, %13 : tensor<512x2048x4096xf32>
    %278 = stablehlo.convert %277 : (tensor<512x2048x4096xf32>) -> tensor<512x2048x4096xbf16>
    %279 = stablehlo.add %271, %278 : tensor<512x2048x4096xbf16>
    %280 = stablehlo.convert %244 : (tensor<4096x4096xbf16>) -> tensor<4096x4096xf32>
    %281 = stablehlo.convert %161 : (tensor<64x4096x8192xbf16>) -> tensor<64x4096x8192xf32>
    %282 = stablehlo.convert %186 : (tensor<4096x64xbf16>) -> tensor<4096x64xf32>
    %283 = stablehlo.convert %255 : (tensor<4096x4096xbf16>) -> tensor<4096x4096xf32>
    %284 = stablehlo.convert %213 : (tensor<4096x4096xbf16>) -> tensor<4096x4096xf32>
    %285 = stablehlo.convert %194 : (tensor<4096xbf16>) -> tensor<4096xf32>
    %286 = stablehlo.convert %263 : (tensor<4096xbf16>) -> tensor<4096xf32>
    %287 = stablehlo.convert %249 : (tensor<4096x4096xbf16>) -> tensor<4096x4096xf32>
    %288 = stablehlo.convert %144 : (tensor<64x8192x4096xbf16>) -> tensor<64x8192x4096xf32>
    return %279, %288, %287, %286, %285, %284, %283, %282, %281, %280 : tensor<512x2048x4096xbf16>, tensor<64x8192x4096xf32>, tensor<4096x4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096x4096xf32>, tensor<4096x4096xf32>, tensor<4096x64xf32>, tensor<64x4096x8192xf32>, tensor<4096x4096xf32>
  }
  func.func private @tril_12(%arg0: tensor<2048x2048xi1>) -> tensor<2048x2048xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<2048x2048xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2048x2048xi32>
    %2 = stablehlo.add %0, %1 : tensor<2048x2048xi32>
    %3 = stablehlo.iota dim = 1 : tensor<2048x2048xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<2048x2048xi32>, tensor<2048x2048xi32>) -> tensor<2048x2048xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<2048x2048xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<2048x2048xi1>, tensor<2048x2048xi1>
    return %6 : tensor<2048x2048xi1>
  }
  func.func private @_where_13(%arg0: tensor<2048x2048xi1>, %arg1: tensor<512x32x2048x2048xf32>, %arg2: tensor<f32>) -> (tensor<512x32x2048x2048xf32>, tensor<512x32x2048x2048xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<2048x2048xi1>) -> tensor<512x32x2048x2048xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<512x32x2048x2048xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<512x32x2048x2048xi1>, tensor<512x32x2048x2048xf32>
    return %3, %1 : tensor<512x32x2048x2048xf32>, tensor<512x32x2048x2048xi1>
  }
  func.func private @_one_hot_14(%arg0: tensor<512x2048xi32>) -> tensor<512x2048x64xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<512x2048xi32>) -> tensor<512x2048x1xi32>
    %1 = stablehlo.iota dim = 2 : tensor<1x1x64xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<512x2048x1xi32>) -> tensor<512x2048x64xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x1x64xi32>) -> tensor<512x2048x64xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<512x2048x64xi32>, tensor<512x2048x64xi32>) -> tensor<512x2048x64xi1>
    %5 = stablehlo.convert %4 : (tensor<512x2048x64xi1>) -> tensor<512x2048x64xf32>
    return %5 : tensor<512x2048x64xf32>
  }
  func.func private @cumsum_15(%arg0: tensor<512x2048x64xf32>) -> tensor<512x2048x64xf32> {
    %0 = call @cumsum_7(%arg0) : (tensor<512x2048x64xf32>) -> tensor<512x2048x64xf32>
    return %0 : tensor<512x2048x64xf32>
  }
  func.func private @_one_hot_16(%arg0: tensor<512x2048x64xi32>) -> tensor<512x2048x64x64xbf16> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1, 2] : (tensor<512x2048x64xi32>) -> tensor<512x2048x64x1xi32>
    %1 = stablehlo.iota dim = 3 : tensor<1x1x1x64xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2, 3] : (tensor<512x2048x64x1xi32>) -> tensor<512x2048x64x64xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xi32>) -> tensor<512x2048x64x64xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<512x2048x64x64xi32>, tensor<512x2048x64x64xi32>) -> tensor<512x2048x64x64xi1>
    %5 = stablehlo.convert %4 : (tensor<512x2048x64x64xi1>) -> tensor<512x2048x64x64xbf16>
    return %5 : tensor<512x2048x64x64xbf16>
  }
  func.func private @_where_17(%arg0: tensor<512x32x2048x2048xi1>, %arg1: tensor<512x32x2048x2048xf32>) -> tensor<512x32x2048x2048xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<512x32x2048x2048xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<512x32x2048x2048xi1>, tensor<512x32x2048x2048xf32>
    return %1 : tensor<512x32x2048x2048xf32>
  }
  func.func private @dynamic_update_index_in_dim_18(%arg0: tensor<32x64x8192x4096xf32>, %arg1: tensor<64x8192x4096xf32>, %arg2: tensor<i32>) -> tensor<32x64x8192x4096xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<64x8192x4096xf32>) -> tensor<1x64x8192x4096xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<32x64x8192x4096xf32>, tensor<1x64x8192x4096xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<32x64x8192x4096xf32>
    return %1 : tensor<32x64x8192x4096xf32>
  }
  func.func private @dynamic_update_index_in_dim_19(%arg0: tensor<32x4096x4096xf32>, %arg1: tensor<4096x4096xf32>, %arg2: tensor<i32>) -> tensor<32x4096x4096xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<4096x4096xf32>) -> tensor<1x4096x4096xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<32x4096x4096xf32>, tensor<1x4096x4096xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<32x4096x4096xf32>
    return %1 : tensor<32x4096x4096xf32>
  }
  func.func private @dynamic_update_index_in_dim_20(%arg0: tensor<32x4096xf32>, %arg1: tensor<4096xf32>, %arg2: tensor<i32>) -> tensor<32x4096xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<4096xf32>) -> tensor<1x4096xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<32x4096xf32>, tensor<1x4096xf32>, tensor<i32>, tensor<i32>) -> tensor<32x4096xf32>
    return %1 : tensor<32x4096xf32>
  }
  func.func private @dynamic_update_index_in_dim_21(%arg0: tensor<32x4096x64xf32>, %arg1: tensor<4096x64xf32>, %arg2: tensor<i32>) -> tensor<32x4096x64xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<4096x64xf32>) -> tensor<1x4096x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<32x4096x64xf32>, tensor<1x4096x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<32x4096x64xf32>
    return %1 : tensor<32x4096x64xf32>
  }
  func.func private @dynamic_update_index_in_dim_22(%arg0: tensor<32x64x4096x8192xf32>, %arg1: tensor<64x4096x8192xf32>, %arg2: tensor<i32>) -> tensor<32x64x4096x8192xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<64x4096x8192xf32>) -> tensor<1x64x4096x8192xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<32x64x4096x8192xf32>, tensor<1x64x4096x8192xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<32x64x4096x8192xf32>
    return %1 : tensor<32x64x4096x8192xf32>
  }
}
