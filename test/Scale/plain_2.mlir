// Written by test/Scale/export_plain.py.
module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<512x256xf32> {dtensor.name = "weights.embedding", tf.aliasing_output = 0 : i32}, %arg1: tensor<256x512xf32> {dtensor.name = "weights.head", tf.aliasing_output = 1 : i32}, %arg2: tensor<1024x256xf32> {dtensor.name = "weights.layers.0.down", tf.aliasing_output = 2 : i32}, %arg3: tensor<256x256xf32> {dtensor.name = "weights.layers.0.key", tf.aliasing_output = 3 : i32}, %arg4: tensor<256x256xf32> {dtensor.name = "weights.layers.0.out", tf.aliasing_output = 4 : i32}, %arg5: tensor<256x256xf32> {dtensor.name = "weights.layers.0.query", tf.aliasing_output = 5 : i32}, %arg6: tensor<256xf32> {dtensor.name = "weights.layers.0.scale1", tf.aliasing_output = 6 : i32}, %arg7: tensor<256xf32> {dtensor.name = "weights.layers.0.scale2", tf.aliasing_output = 7 : i32}, %arg8: tensor<256xf32> {dtensor.name = "weights.layers.0.shift1", tf.aliasing_output = 8 : i32}, %arg9: tensor<256xf32> {dtensor.name = "weights.layers.0.shift2", tf.aliasing_output = 9 : i32}, %arg10: tensor<256x1024xf32> {dtensor.name = "weights.layers.0.up", tf.aliasing_output = 10 : i32}, %arg11: tensor<256x256xf32> {dtensor.name = "weights.layers.0.value", tf.aliasing_output = 11 : i32}, %arg12: tensor<1024x256xf32> {dtensor.name = "weights.layers.1.down", tf.aliasing_output = 12 : i32}, %arg13: tensor<256x256xf32> {dtensor.name = "weights.layers.1.key", tf.aliasing_output = 13 : i32}, %arg14: tensor<256x256xf32> {dtensor.name = "weights.layers.1.out", tf.aliasing_output = 14 : i32}, %arg15: tensor<256x256xf32> {dtensor.name = "weights.layers.1.query", tf.aliasing_output = 15 : i32}, %arg16: tensor<256xf32> {dtensor.name = "weights.layers.1.scale1", tf.aliasing_output = 16 : i32}, %arg17: tensor<256xf32> {dtensor.name = "weights.layers.1.scale2", tf.aliasing_output = 17 : i32}, %arg18: tensor<256xf32> {dtensor.name = "weights.layers.1.shift1", tf.aliasing_output = 18 : i32}, %arg19: tensor<256xf32> {dtensor.name = "weights.layers.1.shift2", tf.aliasing_output = 19 : i32}, %arg20: tensor<256x1024xf32> {dtensor.name = "weights.layers.1.up", tf.aliasing_output = 20 : i32}, %arg21: tensor<256x256xf32> {dtensor.name = "weights.layers.1.value", tf.aliasing_output = 21 : i32}, %arg22: tensor<64x256xf32> {dtensor.name = "weights.positions", tf.aliasing_output = 22 : i32}, %arg23: tensor<512x256xf32> {dtensor.name = "momentum.embedding", tf.aliasing_output = 23 : i32}, %arg24: tensor<256x512xf32> {dtensor.name = "momentum.head", tf.aliasing_output = 24 : i32}, %arg25: tensor<1024x256xf32> {dtensor.name = "momentum.layers.0.down", tf.aliasing_output = 25 : i32}, %arg26: tensor<256x256xf32> {dtensor.name = "momentum.layers.0.key", tf.aliasing_output = 26 : i32}, %arg27: tensor<256x256xf32> {dtensor.name = "momentum.layers.0.out", tf.aliasing_output = 27 : i32}, %arg28: tensor<256x256xf32> {dtensor.name = "momentum.layers.0.query", tf.aliasing_output = 28 : i32}, %arg29: tensor<256xf32> {dtensor.name = "momentum.layers.0.scale1", tf.aliasing_output = 29 : i32}, %arg30: tensor<256xf32> {dtensor.name = "momentum.layers.0.scale2", tf.aliasing_output = 30 : i32}, %arg31: tensor<256xf32> {dtensor.name = "momentum.layers.0.shift1", tf.aliasing_output = 31 : i32}, %arg32: tensor<256xf32> {dtensor.name = "momentum.layers.0.shift2", tf.aliasing_output = 32 : i32}, %arg33: tensor<256x1024xf32> {dtensor.name = "momentum.layers.0.up", tf.aliasing_output = 33 : i32}, %arg34: tensor<256x256xf32> {dtensor.name = "momentum.layers.0.value", tf.aliasing_output = 34 : i32}, %arg35: tensor<1024x256xf32> {dtensor.name = "momentum.layers.1.down", tf.aliasing_output = 35 : i32}, %arg36: tensor<256x256xf32> {dtensor.name = "momentum.layers.1.key", tf.aliasing_output = 36 : i32}, %arg37: tensor<256x256xf32> {dtensor.name = "momentum.layers.1.out", tf.aliasing_output = 37 : i32}, %arg38: tensor<256x256xf32> {dtensor.name = "momentum.layers.1.query", tf.aliasing_output = 38 : i32}, %arg39: tensor<256xf32> {dtensor.name = "momentum.layers.1.scale1", tf.aliasing_output = 39 : i32}, %arg40: tensor<256xf32> {dtensor.name = "momentum.layers.1.scale2", tf.aliasing_output = 40 : i32}, %arg41: tensor<256xf32> {dtensor.name = "momentum.layers.1.shift1", tf.aliasing_output = 41 : i32}, %arg42: tensor<256xf32> {dtensor.name = "momentum.layers.1.shift2", tf.aliasing_output = 42 : i32}, %arg43: tensor<256x1024xf32> {dtensor.name = "momentum.layers.1.up", tf.aliasing_output = 43 : i32}, %arg44: tensor<256x256xf32> {dtensor.name = "momentum.layers.1.value", tf.aliasing_output = 44 : i32}, %arg45: tensor<64x256xf32> {dtensor.name = "momentum.positions", tf.aliasing_output = 45 : i32}, %arg46: tensor<16x64xi32> {dtensor.name = "tokens"}, %arg47: tensor<16x64xi32> {dtensor.name = "targets"}) -> (tensor<512x256xf32> {jax.result_info = "result[0]['embedding']"}, tensor<256x512xf32> {jax.result_info = "result[0]['head']"}, tensor<1024x256xf32> {jax.result_info = "result[0]['layers'][0]['down']"}, tensor<256x256xf32> {jax.result_info = "result[0]['layers'][0]['key']"}, tensor<256x256xf32> {jax.result_info = "result[0]['layers'][0]['out']"}, tensor<256x256xf32> {jax.result_info = "result[0]['layers'][0]['query']"}, tensor<256xf32> {jax.result_info = "result[0]['layers'][0]['scale1']"}, tensor<256xf32> {jax.result_info = "result[0]['layers'][0]['scale2']"}, tensor<256xf32> {jax.result_info = "result[0]['layers'][0]['shift1']"}, tensor<256xf32> {jax.result_info = "result[0]['layers'][0]['shift2']"}, tensor<256x1024xf32> {jax.result_info = "result[0]['layers'][0]['up']"}, tensor<256x256xf32> {jax.result_info = "result[0]['layers'][0]['value']"}, tensor<1024x256xf32> {jax.result_info = "result[0]['layers'][1]['down']"}, tensor<256x256xf32> {jax.result_info = "result[0]['layers'][1]['key']"}, tensor<256x256xf32> {jax.result_info = "result[0]['layers'][1]['out']"}, tensor<256x256xf32> {jax.result_info = "result[0]['layers'][1]['query']"}, tensor<256xf32> {jax.result_info = "result[0]['layers'][1]['scale1']"}, tensor<256xf32> {jax.result_info = "result[0]['layers'][1]['scale2']"}, tensor<256xf32> {jax.result_info = "result[0]['layers'][1]['shift1']"}, tensor<256xf32> {jax.result_info = "result[0]['layers'][1]['shift2']"}, tensor<256x1024xf32> {jax.result_info = "result[0]['layers'][1]['up']"}, tensor<256x256xf32> {jax.result_info = "result[0]['layers'][1]['value']"}, tensor<64x256xf32> {jax.result_info = "result[0]['positions']"}, tensor<512x256xf32> {jax.result_info = "result[1]['embedding']"}, tensor<256x512xf32> {jax.result_info = "result[1]['head']"}, tensor<1024x256xf32> {jax.result_info = "result[1]['layers'][0]['down']"}, tensor<256x256xf32> {jax.result_info = "result[1]['layers'][0]['key']"}, tensor<256x256xf32> {jax.result_info = "result[1]['layers'][0]['out']"}, tensor<256x256xf32> {jax.result_info = "result[1]['layers'][0]['query']"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][0]['scale1']"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][0]['scale2']"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][0]['shift1']"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][0]['shift2']"}, tensor<256x1024xf32> {jax.result_info = "result[1]['layers'][0]['up']"}, tensor<256x256xf32> {jax.result_info = "result[1]['layers'][0]['value']"}, tensor<1024x256xf32> {jax.result_info = "result[1]['layers'][1]['down']"}, tensor<256x256xf32> {jax.result_info = "result[1]['layers'][1]['key']"}, tensor<256x256xf32> {jax.result_info = "result[1]['layers'][1]['out']"}, tensor<256x256xf32> {jax.result_info = "result[1]['layers'][1]['query']"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][1]['scale1']"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][1]['scale2']"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][1]['shift1']"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][1]['shift2']"}, tensor<256x1024xf32> {jax.result_info = "result[1]['layers'][1]['up']"}, tensor<256x256xf32> {jax.result_info = "result[1]['layers'][1]['value']"}, tensor<64x256xf32> {jax.result_info = "result[1]['positions']"}, tensor<f32> {jax.result_info = "result[2]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<16x64xi32>
    %1 = stablehlo.compare LT, %arg46, %0, SIGNED : (tensor<16x64xi32>, tensor<16x64xi32>) -> tensor<16x64xi1>
    %c_0 = stablehlo.constant dense<512> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<16x64xi32>
    %3 = stablehlo.add %arg46, %2 : tensor<16x64xi32>
    %4 = stablehlo.select %1, %3, %arg46 : tensor<16x64xi1>, tensor<16x64xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<16x64xi32>) -> tensor<16x64x1xi32>
    %6 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 256>}> : (tensor<512x256xf32>, tensor<16x64x1xi32>) -> tensor<16x64x256xf32>
    %7 = stablehlo.broadcast_in_dim %arg22, dims = [1, 2] : (tensor<64x256xf32>) -> tensor<1x64x256xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<1x64x256xf32>) -> tensor<16x64x256xf32>
    %9 = stablehlo.add %6, %8 : tensor<16x64x256xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<16x64x256xf32>, tensor<f32>) -> tensor<16x64xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<16x64xf32>) -> tensor<16x64x1xf32>
    %cst_1 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<16x64x1xf32>
    %13 = stablehlo.divide %11, %12 : tensor<16x64x1xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<16x64x1xf32>) -> tensor<16x64x256xf32>
    %15 = stablehlo.subtract %9, %14 : tensor<16x64x256xf32>
    %16 = stablehlo.multiply %15, %15 : tensor<16x64x256xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<16x64x256xf32>, tensor<f32>) -> tensor<16x64xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1] : (tensor<16x64xf32>) -> tensor<16x64x1xf32>
    %cst_3 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<16x64x1xf32>
    %20 = stablehlo.divide %18, %19 : tensor<16x64x1xf32>
    %cst_4 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<16x64x1xf32>
    %22 = stablehlo.add %20, %21 : tensor<16x64x1xf32>
    %23 = stablehlo.rsqrt %22 : tensor<16x64x1xf32>
    %24 = stablehlo.divide %23, %22 : tensor<16x64x1xf32>
    %cst_5 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<16x64x1xf32>
    %26 = stablehlo.multiply %25, %24 : tensor<16x64x1xf32>
    %27 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<16x64x1xf32>) -> tensor<16x64x256xf32>
    %28 = stablehlo.multiply %15, %27 : tensor<16x64x256xf32>
    %29 = stablehlo.broadcast_in_dim %arg6, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<16x64x256xf32>
    %31 = stablehlo.multiply %28, %30 : tensor<16x64x256xf32>
    %32 = stablehlo.broadcast_in_dim %arg8, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<16x64x256xf32>
    %34 = stablehlo.add %31, %33 : tensor<16x64x256xf32>
    %35 = stablehlo.dot_general %34, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<256x256xf32>) -> tensor<16x64x256xf32>
    %36 = stablehlo.reshape %35 : (tensor<16x64x256xf32>) -> tensor<16x64x4x64xf32>
    %37 = stablehlo.dot_general %34, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<256x256xf32>) -> tensor<16x64x256xf32>
    %38 = stablehlo.reshape %37 : (tensor<16x64x256xf32>) -> tensor<16x64x4x64xf32>
    %39 = stablehlo.dot_general %34, %arg11, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<256x256xf32>) -> tensor<16x64x256xf32>
    %40 = stablehlo.reshape %39 : (tensor<16x64x256xf32>) -> tensor<16x64x4x64xf32>
    %41 = stablehlo.dot_general %36, %38, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<16x64x4x64xf32>, tensor<16x64x4x64xf32>) -> tensor<16x4x64x64xf32>
    %cst_6 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<16x4x64x64xf32>
    %43 = stablehlo.divide %41, %42 : tensor<16x4x64x64xf32>
    %c_7 = stablehlo.constant dense<true> : tensor<i1>
    %44 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i1>) -> tensor<64x64xi1>
    %45 = call @tril(%44) : (tensor<64x64xi1>) -> tensor<64x64xi1>
    %cst_8 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %46:2 = call @_where(%45, %43, %cst_8) : (tensor<64x64xi1>, tensor<16x4x64x64xf32>, tensor<f32>) -> (tensor<16x4x64x64xf32>, tensor<16x4x64x64xi1>)
    %cst_9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %47 = stablehlo.reduce(%46#0 init: %cst_9) applies stablehlo.maximum across dimensions = [3] : (tensor<16x4x64x64xf32>, tensor<f32>) -> tensor<16x4x64xf32>
    %cst_10 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<16x4x64xf32>
    %49 = stablehlo.maximum %48, %47 : tensor<16x4x64xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0, 1, 2] : (tensor<16x4x64xf32>) -> tensor<16x4x64x1xf32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [0, 1, 2, 3] : (tensor<16x4x64x1xf32>) -> tensor<16x4x64x64xf32>
    %52 = stablehlo.subtract %46#0, %51 : tensor<16x4x64x64xf32>
    %53 = stablehlo.exponential %52 : tensor<16x4x64x64xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %54 = stablehlo.reduce(%53 init: %cst_11) applies stablehlo.add across dimensions = [3] : (tensor<16x4x64x64xf32>, tensor<f32>) -> tensor<16x4x64xf32>
    %55 = stablehlo.broadcast_in_dim %54, dims = [0, 1, 2] : (tensor<16x4x64xf32>) -> tensor<16x4x64x1xf32>
    %56 = stablehlo.broadcast_in_dim %55, dims = [0, 1, 2, 3] : (tensor<16x4x64x1xf32>) -> tensor<16x4x64x64xf32>
    %57 = stablehlo.divide %53, %56 : tensor<16x4x64x64xf32>
    %58 = stablehlo.multiply %55, %55 : tensor<16x4x64x1xf32>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<16x4x64x1xf32>
    %60 = stablehlo.divide %59, %58 : tensor<16x4x64x1xf32>
    %61 = stablehlo.dot_general %40, %57, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<16x64x4x64xf32>, tensor<16x4x64x64xf32>) -> tensor<16x4x64x64xf32>
    %62 = stablehlo.transpose %61, dims = [0, 3, 1, 2] : (tensor<16x4x64x64xf32>) -> tensor<16x64x4x64xf32>
    %63 = stablehlo.reshape %62 : (tensor<16x64x4x64xf32>) -> tensor<16x64x256xf32>
    %64 = stablehlo.dot_general %63, %arg4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<256x256xf32>) -> tensor<16x64x256xf32>
    %65 = stablehlo.add %9, %64 : tensor<16x64x256xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %66 = stablehlo.reduce(%65 init: %cst_13) applies stablehlo.add across dimensions = [2] : (tensor<16x64x256xf32>, tensor<f32>) -> tensor<16x64xf32>
    %67 = stablehlo.broadcast_in_dim %66, dims = [0, 1] : (tensor<16x64xf32>) -> tensor<16x64x1xf32>
    %cst_14 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<16x64x1xf32>
    %69 = stablehlo.divide %67, %68 : tensor<16x64x1xf32>
    %70 = stablehlo.broadcast_in_dim %69, dims = [0, 1, 2] : (tensor<16x64x1xf32>) -> tensor<16x64x256xf32>
    %71 = stablehlo.subtract %65, %70 : tensor<16x64x256xf32>
    %72 = stablehlo.multiply %71, %71 : tensor<16x64x256xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %73 = stablehlo.reduce(%72 init: %cst_15) applies stablehlo.add across dimensions = [2] : (tensor<16x64x256xf32>, tensor<f32>) -> tensor<16x64xf32>
    %74 = stablehlo.broadcast_in_dim %73, dims = [0, 1] : (tensor<16x64xf32>) -> tensor<16x64x1xf32>
    %cst_16 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<16x64x1xf32>
    %76 = stablehlo.divide %74, %75 : tensor<16x64x1xf32>
    %cst_17 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<16x64x1xf32>
    %78 = stablehlo.add %76, %77 : tensor<16x64x1xf32>
    %79 = stablehlo.rsqrt %78 : tensor<16x64x1xf32>
    %80 = stablehlo.divide %79, %78 : tensor<16x64x1xf32>
    %cst_18 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<16x64x1xf32>
    %82 = stablehlo.multiply %81, %80 : tensor<16x64x1xf32>
    %83 = stablehlo.broadcast_in_dim %79, dims = [0, 1, 2] : (tensor<16x64x1xf32>) -> tensor<16x64x256xf32>
    %84 = stablehlo.multiply %71, %83 : tensor<16x64x256xf32>
    %85 = stablehlo.broadcast_in_dim %arg7, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %86 = stablehlo.broadcast_in_dim %85, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<16x64x256xf32>
    %87 = stablehlo.multiply %84, %86 : tensor<16x64x256xf32>
    %88 = stablehlo.broadcast_in_dim %arg9, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %89 = stablehlo.broadcast_in_dim %88, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<16x64x256xf32>
    %90 = stablehlo.add %87, %89 : tensor<16x64x256xf32>
    %91 = stablehlo.dot_general %90, %arg10, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<256x1024xf32>) -> tensor<16x64x1024xf32>
    %92 = stablehlo.multiply %91, %91 : tensor<16x64x1024xf32>
    %93 = stablehlo.multiply %92, %91 : tensor<16x64x1024xf32>
    %94 = stablehlo.multiply %91, %91 : tensor<16x64x1024xf32>
    %cst_19 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %95 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<16x64x1024xf32>
    %96 = stablehlo.multiply %95, %94 : tensor<16x64x1024xf32>
    %cst_20 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %97 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<16x64x1024xf32>
    %98 = stablehlo.multiply %97, %93 : tensor<16x64x1024xf32>
    %99 = stablehlo.add %91, %98 : tensor<16x64x1024xf32>
    %cst_21 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %100 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<16x64x1024xf32>
    %101 = stablehlo.multiply %100, %99 : tensor<16x64x1024xf32>
    %102 = stablehlo.tanh %101 : tensor<16x64x1024xf32>
    %cst_22 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %103 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<16x64x1024xf32>
    %104 = stablehlo.subtract %103, %102 : tensor<16x64x1024xf32>
    %cst_23 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %105 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<16x64x1024xf32>
    %106 = stablehlo.add %105, %102 : tensor<16x64x1024xf32>
    %cst_24 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %107 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<16x64x1024xf32>
    %108 = stablehlo.multiply %107, %106 : tensor<16x64x1024xf32>
    %109 = stablehlo.multiply %91, %108 : tensor<16x64x1024xf32>
    %110 = stablehlo.dot_general %109, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x64x1024xf32>, tensor<1024x256xf32>) -> tensor<16x64x256xf32>
    %111 = stablehlo.add %65, %110 : tensor<16x64x256xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %112 = stablehlo.reduce(%111 init: %cst_25) applies stablehlo.add across dimensions = [2] : (tensor<16x64x256xf32>, tensor<f32>) -> tensor<16x64xf32>
    %113 = stablehlo.broadcast_in_dim %112, dims = [0, 1] : (tensor<16x64xf32>) -> tensor<16x64x1xf32>
    %cst_26 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %114 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<16x64x1xf32>
    %115 = stablehlo.divide %113, %114 : tensor<16x64x1xf32>
    %116 = stablehlo.broadcast_in_dim %115, dims = [0, 1, 2] : (tensor<16x64x1xf32>) -> tensor<16x64x256xf32>
    %117 = stablehlo.subtract %111, %116 : tensor<16x64x256xf32>
    %118 = stablehlo.multiply %117, %117 : tensor<16x64x256xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %119 = stablehlo.reduce(%118 init: %cst_27) applies stablehlo.add across dimensions = [2] : (tensor<16x64x256xf32>, tensor<f32>) -> tensor<16x64xf32>
    %120 = stablehlo.broadcast_in_dim %119, dims = [0, 1] : (tensor<16x64xf32>) -> tensor<16x64x1xf32>
    %cst_28 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %121 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<16x64x1xf32>
    %122 = stablehlo.divide %120, %121 : tensor<16x64x1xf32>
    %cst_29 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %123 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<16x64x1xf32>
    %124 = stablehlo.add %122, %123 : tensor<16x64x1xf32>
    %125 = stablehlo.rsqrt %124 : tensor<16x64x1xf32>
    %126 = stablehlo.divide %125, %124 : tensor<16x64x1xf32>
    %cst_30 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %127 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<16x64x1xf32>
    %128 = stablehlo.multiply %127, %126 : tensor<16x64x1xf32>
    %129 = stablehlo.broadcast_in_dim %125, dims = [0, 1, 2] : (tensor<16x64x1xf32>) -> tensor<16x64x256xf32>
    %130 = stablehlo.multiply %117, %129 : tensor<16x64x256xf32>
    %131 = stablehlo.broadcast_in_dim %arg16, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %132 = stablehlo.broadcast_in_dim %131, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<16x64x256xf32>
    %133 = stablehlo.multiply %130, %132 : tensor<16x64x256xf32>
    %134 = stablehlo.broadcast_in_dim %arg18, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %135 = stablehlo.broadcast_in_dim %134, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<16x64x256xf32>
    %136 = stablehlo.add %133, %135 : tensor<16x64x256xf32>
    %137 = stablehlo.dot_general %136, %arg15, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<256x256xf32>) -> tensor<16x64x256xf32>
    %138 = stablehlo.reshape %137 : (tensor<16x64x256xf32>) -> tensor<16x64x4x64xf32>
    %139 = stablehlo.dot_general %136, %arg13, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<256x256xf32>) -> tensor<16x64x256xf32>
    %140 = stablehlo.reshape %139 : (tensor<16x64x256xf32>) -> tensor<16x64x4x64xf32>
    %141 = stablehlo.dot_general %136, %arg21, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<256x256xf32>) -> tensor<16x64x256xf32>
    %142 = stablehlo.reshape %141 : (tensor<16x64x256xf32>) -> tensor<16x64x4x64xf32>
    %143 = stablehlo.dot_general %138, %140, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<16x64x4x64xf32>, tensor<16x64x4x64xf32>) -> tensor<16x4x64x64xf32>
    %cst_31 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %144 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<16x4x64x64xf32>
    %145 = stablehlo.divide %143, %144 : tensor<16x4x64x64xf32>
    %c_32 = stablehlo.constant dense<true> : tensor<i1>
    %146 = stablehlo.broadcast_in_dim %c_32, dims = [] : (tensor<i1>) -> tensor<64x64xi1>
    %147 = call @tril(%146) : (tensor<64x64xi1>) -> tensor<64x64xi1>
    %cst_33 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %148:2 = call @_where(%147, %145, %cst_33) : (tensor<64x64xi1>, tensor<16x4x64x64xf32>, tensor<f32>) -> (tensor<16x4x64x64xf32>, tensor<16x4x64x64xi1>)
    %cst_34 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %149 = stablehlo.reduce(%148#0 init: %cst_34) applies stablehlo.maximum across dimensions = [3] : (tensor<16x4x64x64xf32>, tensor<f32>) -> tensor<16x4x64xf32>
    %cst_35 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %150 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<16x4x64xf32>
    %151 = stablehlo.maximum %150, %149 : tensor<16x4x64xf32>
    %152 = stablehlo.broadcast_in_dim %151, dims = [0, 1, 2] : (tensor<16x4x64xf32>) -> tensor<16x4x64x1xf32>
    %153 = stablehlo.broadcast_in_dim %152, dims = [0, 1, 2, 3] : (tensor<16x4x64x1xf32>) -> tensor<16x4x64x64xf32>
    %154 = stablehlo.subtract %148#0, %153 : tensor<16x4x64x64xf32>
    %155 = stablehlo.exponential %154 : tensor<16x4x64x64xf32>
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %156 = stablehlo.reduce(%155 init: %cst_36) applies stablehlo.add across dimensions = [3] : (tensor<16x4x64x64xf32>, tensor<f32>) -> tensor<16x4x64xf32>
    %157 = stablehlo.broadcast_in_dim %156, dims = [0, 1, 2] : (tensor<16x4x64xf32>) -> tensor<16x4x64x1xf32>
    %158 = stablehlo.broadcast_in_dim %157, dims = [0, 1, 2, 3] : (tensor<16x4x64x1xf32>) -> tensor<16x4x64x64xf32>
    %159 = stablehlo.divide %155, %158 : tensor<16x4x64x64xf32>
    %160 = stablehlo.multiply %157, %157 : tensor<16x4x64x1xf32>
    %cst_37 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %161 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<16x4x64x1xf32>
    %162 = stablehlo.divide %161, %160 : tensor<16x4x64x1xf32>
    %163 = stablehlo.dot_general %142, %159, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<16x64x4x64xf32>, tensor<16x4x64x64xf32>) -> tensor<16x4x64x64xf32>
    %164 = stablehlo.transpose %163, dims = [0, 3, 1, 2] : (tensor<16x4x64x64xf32>) -> tensor<16x64x4x64xf32>
    %165 = stablehlo.reshape %164 : (tensor<16x64x4x64xf32>) -> tensor<16x64x256xf32>
    %166 = stablehlo.dot_general %165, %arg14, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<256x256xf32>) -> tensor<16x64x256xf32>
    %167 = stablehlo.add %111, %166 : tensor<16x64x256xf32>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %168 = stablehlo.reduce(%167 init: %cst_38) applies stablehlo.add across dimensions = [2] : (tensor<16x64x256xf32>, tensor<f32>) -> tensor<16x64xf32>
    %169 = stablehlo.broadcast_in_dim %168, dims = [0, 1] : (tensor<16x64xf32>) -> tensor<16x64x1xf32>
    %cst_39 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %170 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<16x64x1xf32>
    %171 = stablehlo.divide %169, %170 : tensor<16x64x1xf32>
    %172 = stablehlo.broadcast_in_dim %171, dims = [0, 1, 2] : (tensor<16x64x1xf32>) -> tensor<16x64x256xf32>
    %173 = stablehlo.subtract %167, %172 : tensor<16x64x256xf32>
    %174 = stablehlo.multiply %173, %173 : tensor<16x64x256xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %175 = stablehlo.reduce(%174 init: %cst_40) applies stablehlo.add across dimensions = [2] : (tensor<16x64x256xf32>, tensor<f32>) -> tensor<16x64xf32>
    %176 = stablehlo.broadcast_in_dim %175, dims = [0, 1] : (tensor<16x64xf32>) -> tensor<16x64x1xf32>
    %cst_41 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %177 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<16x64x1xf32>
    %178 = stablehlo.divide %176, %177 : tensor<16x64x1xf32>
    %cst_42 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %179 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<16x64x1xf32>
    %180 = stablehlo.add %178, %179 : tensor<16x64x1xf32>
    %181 = stablehlo.rsqrt %180 : tensor<16x64x1xf32>
    %182 = stablehlo.divide %181, %180 : tensor<16x64x1xf32>
    %cst_43 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %183 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<16x64x1xf32>
    %184 = stablehlo.multiply %183, %182 : tensor<16x64x1xf32>
    %185 = stablehlo.broadcast_in_dim %181, dims = [0, 1, 2] : (tensor<16x64x1xf32>) -> tensor<16x64x256xf32>
    %186 = stablehlo.multiply %173, %185 : tensor<16x64x256xf32>
    %187 = stablehlo.broadcast_in_dim %arg17, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %188 = stablehlo.broadcast_in_dim %187, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<16x64x256xf32>
    %189 = stablehlo.multiply %186, %188 : tensor<16x64x256xf32>
    %190 = stablehlo.broadcast_in_dim %arg19, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %191 = stablehlo.broadcast_in_dim %190, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<16x64x256xf32>
    %192 = stablehlo.add %189, %191 : tensor<16x64x256xf32>
    %193 = stablehlo.dot_general %192, %arg20, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<256x1024xf32>) -> tensor<16x64x1024xf32>
    %194 = stablehlo.multiply %193, %193 : tensor<16x64x1024xf32>
    %195 = stablehlo.multiply %194, %193 : tensor<16x64x1024xf32>
    %196 = stablehlo.multiply %193, %193 : tensor<16x64x1024xf32>
    %cst_44 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %197 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<16x64x1024xf32>
    %198 = stablehlo.multiply %197, %196 : tensor<16x64x1024xf32>
    %cst_45 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %199 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<16x64x1024xf32>
    %200 = stablehlo.multiply %199, %195 : tensor<16x64x1024xf32>
    %201 = stablehlo.add %193, %200 : tensor<16x64x1024xf32>
    %cst_46 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %202 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<16x64x1024xf32>
    %203 = stablehlo.multiply %202, %201 : tensor<16x64x1024xf32>
    %204 = stablehlo.tanh %203 : tensor<16x64x1024xf32>
    %cst_47 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %205 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<16x64x1024xf32>
    %206 = stablehlo.subtract %205, %204 : tensor<16x64x1024xf32>
    %cst_48 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %207 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<16x64x1024xf32>
    %208 = stablehlo.add %207, %204 : tensor<16x64x1024xf32>
    %cst_49 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %209 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<16x64x1024xf32>
    %210 = stablehlo.multiply %209, %208 : tensor<16x64x1024xf32>
    %211 = stablehlo.multiply %193, %210 : tensor<16x64x1024xf32>
    %212 = stablehlo.dot_general %211, %arg12, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x64x1024xf32>, tensor<1024x256xf32>) -> tensor<16x64x256xf32>
    %213 = stablehlo.add %167, %212 : tensor<16x64x256xf32>
    %214 = stablehlo.dot_general %213, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<256x512xf32>) -> tensor<16x64x512xf32>
    %215:3 = call @log_softmax(%214) : (tensor<16x64x512xf32>) -> (tensor<16x64x512xf32>, tensor<16x64x512xf32>, tensor<16x64x1xf32>)
    %216 = stablehlo.broadcast_in_dim %arg47, dims = [0, 1] : (tensor<16x64xi32>) -> tensor<16x64x1xi32>
    %217:2 = call @take_along_axis(%215#0, %216) : (tensor<16x64x512xf32>, tensor<16x64x1xi32>) -> (tensor<16x64x1xf32>, tensor<16x64x1x1xi32>)
    %cst_50 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %218 = stablehlo.reduce(%217#0 init: %cst_50) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<16x64x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_51 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %219 = stablehlo.divide %218, %cst_51 : tensor<f32>
    %220 = stablehlo.negate %219 : tensor<f32>
    %cst_52 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %221 = stablehlo.negate %cst_52 : tensor<f32>
    %cst_53 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %222 = stablehlo.divide %221, %cst_53 : tensor<f32>
    %223 = stablehlo.broadcast_in_dim %222, dims = [] : (tensor<f32>) -> tensor<16x64x1xf32>
    %224 = call @take_along_axis_0(%217#1, %223) : (tensor<16x64x1x1xi32>, tensor<16x64x1xf32>) -> tensor<16x64x512xf32>
    %225 = call @log_softmax_1(%215#1, %215#2, %224) : (tensor<16x64x512xf32>, tensor<16x64x1xf32>, tensor<16x64x512xf32>) -> tensor<16x64x512xf32>
    %226 = stablehlo.dot_general %225, %213, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<16x64x512xf32>, tensor<16x64x256xf32>) -> tensor<512x256xf32>
    %227 = stablehlo.transpose %226, dims = [1, 0] : (tensor<512x256xf32>) -> tensor<256x512xf32>
    %228 = stablehlo.dot_general %225, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x64x512xf32>, tensor<256x512xf32>) -> tensor<16x64x256xf32>
    %229 = stablehlo.dot_general %228, %211, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<16x64x1024xf32>) -> tensor<256x1024xf32>
    %230 = stablehlo.transpose %229, dims = [1, 0] : (tensor<256x1024xf32>) -> tensor<1024x256xf32>
    %231 = stablehlo.dot_general %228, %arg12, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<1024x256xf32>) -> tensor<16x64x1024xf32>
    %232 = stablehlo.multiply %193, %231 : tensor<16x64x1024xf32>
    %233 = stablehlo.multiply %231, %210 : tensor<16x64x1024xf32>
    %cst_54 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %234 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<16x64x1024xf32>
    %235 = stablehlo.multiply %234, %232 : tensor<16x64x1024xf32>
    %236 = stablehlo.multiply %235, %206 : tensor<16x64x1024xf32>
    %237 = stablehlo.multiply %236, %204 : tensor<16x64x1024xf32>
    %238 = stablehlo.add %236, %237 : tensor<16x64x1024xf32>
    %cst_55 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %239 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<16x64x1024xf32>
    %240 = stablehlo.multiply %239, %238 : tensor<16x64x1024xf32>
    %241 = stablehlo.add %233, %240 : tensor<16x64x1024xf32>
    %cst_56 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %242 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<16x64x1024xf32>
    %243 = stablehlo.multiply %242, %240 : tensor<16x64x1024xf32>
    %244 = stablehlo.multiply %243, %198 : tensor<16x64x1024xf32>
    %245 = stablehlo.add %241, %244 : tensor<16x64x1024xf32>
    %246 = stablehlo.dot_general %245, %192, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<16x64x1024xf32>, tensor<16x64x256xf32>) -> tensor<1024x256xf32>
    %247 = stablehlo.transpose %246, dims = [1, 0] : (tensor<1024x256xf32>) -> tensor<256x1024xf32>
    %248 = stablehlo.dot_general %245, %arg20, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x64x1024xf32>, tensor<256x1024xf32>) -> tensor<16x64x256xf32>
    %cst_57 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %249 = stablehlo.reduce(%248 init: %cst_57) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x64x256xf32>, tensor<f32>) -> tensor<256xf32>
    %250 = stablehlo.reshape %249 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_58 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %251 = stablehlo.reduce(%250 init: %cst_58) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %252 = stablehlo.multiply %186, %248 : tensor<16x64x256xf32>
    %cst_59 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %253 = stablehlo.reduce(%252 init: %cst_59) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x64x256xf32>, tensor<f32>) -> tensor<256xf32>
    %254 = stablehlo.reshape %253 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %255 = stablehlo.broadcast_in_dim %187, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<16x64x256xf32>
    %256 = stablehlo.multiply %248, %255 : tensor<16x64x256xf32>
    %cst_60 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %257 = stablehlo.reduce(%254 init: %cst_60) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %258 = stablehlo.multiply %173, %256 : tensor<16x64x256xf32>
    %cst_61 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %259 = stablehlo.reduce(%258 init: %cst_61) applies stablehlo.add across dimensions = [2] : (tensor<16x64x256xf32>, tensor<f32>) -> tensor<16x64xf32>
    %260 = stablehlo.reshape %259 : (tensor<16x64xf32>) -> tensor<16x64x1xf32>
    %261 = stablehlo.broadcast_in_dim %181, dims = [0, 1, 2] : (tensor<16x64x1xf32>) -> tensor<16x64x256xf32>
    %262 = stablehlo.multiply %256, %261 : tensor<16x64x256xf32>
    %263 = stablehlo.multiply %260, %184 : tensor<16x64x1xf32>
    %cst_62 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %264 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<16x64x1xf32>
    %265 = stablehlo.divide %263, %264 : tensor<16x64x1xf32>
    %cst_63 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %266 = stablehlo.reduce(%265 init: %cst_63) applies stablehlo.add across dimensions = [2] : (tensor<16x64x1xf32>, tensor<f32>) -> tensor<16x64xf32>
    %267 = stablehlo.broadcast_in_dim %266, dims = [0, 1] : (tensor<16x64xf32>) -> tensor<16x64x256xf32>
    %268 = stablehlo.multiply %173, %267 : tensor<16x64x256xf32>
    %269 = stablehlo.add %262, %268 : tensor<16x64x256xf32>
    %270 = stablehlo.multiply %267, %173 : tensor<16x64x256xf32>
    %271 = stablehlo.add %269, %270 : tensor<16x64x256xf32>
    %272 = stablehlo.negate %271 : tensor<16x64x256xf32>
    %cst_64 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %273 = stablehlo.reduce(%272 init: %cst_64) applies stablehlo.add across dimensions = [2] : (tensor<16x64x256xf32>, tensor<f32>) -> tensor<16x64xf32>
    %274 = stablehlo.reshape %273 : (tensor<16x64xf32>) -> tensor<16x64x1xf32>
    %275 = stablehlo.add %228, %271 : tensor<16x64x256xf32>
    %cst_65 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %276 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<16x64x1xf32>
    %277 = stablehlo.divide %274, %276 : tensor<16x64x1xf32>
    %cst_66 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %278 = stablehlo.reduce(%277 init: %cst_66) applies stablehlo.add across dimensions = [2] : (tensor<16x64x1xf32>, tensor<f32>) -> tensor<16x64xf32>
    %279 = stablehlo.broadcast_in_dim %278, dims = [0, 1] : (tensor<16x64xf32>) -> tensor<16x64x256xf32>
    %280 = stablehlo.add %275, %279 : tensor<16x64x256xf32>
    %281 = stablehlo.dot_general %280, %165, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<16x64x256xf32>) -> tensor<256x256xf32>
    %282 = stablehlo.transpose %281, dims = [1, 0] : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %283 = stablehlo.dot_general %280, %arg14, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<256x256xf32>) -> tensor<16x64x256xf32>
    %284 = stablehlo.reshape %283 : (tensor<16x64x256xf32>) -> tensor<16x64x4x64xf32>
    %285 = stablehlo.transpose %284, dims = [0, 2, 3, 1] : (tensor<16x64x4x64xf32>) -> tensor<16x4x64x64xf32>
    %286 = stablehlo.dot_general %285, %142, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<16x4x64x64xf32>, tensor<16x64x4x64xf32>) -> tensor<16x4x64x64xf32>
    %287 = stablehlo.dot_general %285, %159, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<16x4x64x64xf32>, tensor<16x4x64x64xf32>) -> tensor<16x4x64x64xf32>
    %288 = stablehlo.transpose %287, dims = [0, 3, 1, 2] : (tensor<16x4x64x64xf32>) -> tensor<16x64x4x64xf32>
    %289 = stablehlo.broadcast_in_dim %162, dims = [0, 1, 2, 3] : (tensor<16x4x64x1xf32>) -> tensor<16x4x64x64xf32>
    %290 = stablehlo.multiply %286, %289 : tensor<16x4x64x64xf32>
    %291 = stablehlo.multiply %290, %155 : tensor<16x4x64x64xf32>
    %cst_67 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %292 = stablehlo.reduce(%291 init: %cst_67) applies stablehlo.add across dimensions = [3] : (tensor<16x4x64x64xf32>, tensor<f32>) -> tensor<16x4x64xf32>
    %293 = stablehlo.reshape %292 : (tensor<16x4x64xf32>) -> tensor<16x4x64x1xf32>
    %294 = stablehlo.negate %293 : tensor<16x4x64x1xf32>
    %295 = stablehlo.broadcast_in_dim %157, dims = [0, 1, 2, 3] : (tensor<16x4x64x1xf32>) -> tensor<16x4x64x64xf32>
    %296 = stablehlo.divide %286, %295 : tensor<16x4x64x64xf32>
    %cst_68 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %297 = stablehlo.reduce(%294 init: %cst_68) applies stablehlo.add across dimensions = [3] : (tensor<16x4x64x1xf32>, tensor<f32>) -> tensor<16x4x64xf32>
    %298 = stablehlo.broadcast_in_dim %297, dims = [0, 1, 2] : (tensor<16x4x64xf32>) -> tensor<16x4x64x64xf32>
    %299 = stablehlo.add %296, %298 : tensor<16x4x64x64xf32>
    %300 = stablehlo.multiply %299, %155 : tensor<16x4x64x64xf32>
    %301 = call @_where_2(%148#1, %300) : (tensor<16x4x64x64xi1>, tensor<16x4x64x64xf32>) -> tensor<16x4x64x64xf32>
    %cst_69 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %302 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<16x4x64x64xf32>
    %303 = stablehlo.divide %301, %302 : tensor<16x4x64x64xf32>
    %304 = stablehlo.dot_general %303, %138, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x4x64x64xf32>, tensor<16x64x4x64xf32>) -> tensor<16x4x64x64xf32>
    %305 = stablehlo.transpose %304, dims = [0, 2, 1, 3] : (tensor<16x4x64x64xf32>) -> tensor<16x64x4x64xf32>
    %306 = stablehlo.dot_general %303, %140, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x4x64x64xf32>, tensor<16x64x4x64xf32>) -> tensor<16x4x64x64xf32>
    %307 = stablehlo.transpose %306, dims = [0, 2, 1, 3] : (tensor<16x4x64x64xf32>) -> tensor<16x64x4x64xf32>
    %308 = stablehlo.reshape %288 : (tensor<16x64x4x64xf32>) -> tensor<16x64x256xf32>
    %309 = stablehlo.dot_general %308, %136, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<16x64x256xf32>) -> tensor<256x256xf32>
    %310 = stablehlo.transpose %309, dims = [1, 0] : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %311 = stablehlo.dot_general %308, %arg21, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<256x256xf32>) -> tensor<16x64x256xf32>
    %312 = stablehlo.reshape %305 : (tensor<16x64x4x64xf32>) -> tensor<16x64x256xf32>
    %313 = stablehlo.dot_general %312, %136, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<16x64x256xf32>) -> tensor<256x256xf32>
    %314 = stablehlo.transpose %313, dims = [1, 0] : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %315 = stablehlo.dot_general %312, %arg13, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<256x256xf32>) -> tensor<16x64x256xf32>
    %316 = stablehlo.add %311, %315 : tensor<16x64x256xf32>
    %317 = stablehlo.reshape %307 : (tensor<16x64x4x64xf32>) -> tensor<16x64x256xf32>
    %318 = stablehlo.dot_general %317, %136, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<16x64x256xf32>) -> tensor<256x256xf32>
    %319 = stablehlo.transpose %318, dims = [1, 0] : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %320 = stablehlo.dot_general %317, %arg15, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<256x256xf32>) -> tensor<16x64x256xf32>
    %321 = stablehlo.add %316, %320 : tensor<16x64x256xf32>
    %cst_70 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %322 = stablehlo.reduce(%321 init: %cst_70) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x64x256xf32>, tensor<f32>) -> tensor<256xf32>
    %323 = stablehlo.reshape %322 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_71 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %324 = stablehlo.reduce(%323 init: %cst_71) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %325 = stablehlo.multiply %130, %321 : tensor<16x64x256xf32>
    %cst_72 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %326 = stablehlo.reduce(%325 init: %cst_72) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x64x256xf32>, tensor<f32>) -> tensor<256xf32>
    %327 = stablehlo.reshape %326 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %328 = stablehlo.broadcast_in_dim %131, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<16x64x256xf32>
    %329 = stablehlo.multiply %321, %328 : tensor<16x64x256xf32>
    %cst_73 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %330 = stablehlo.reduce(%327 init: %cst_73) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %331 = stablehlo.multiply %117, %329 : tensor<16x64x256xf32>
    %cst_74 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %332 = stablehlo.reduce(%331 init: %cst_74) applies stablehlo.add across dimensions = [2] : (tensor<16x64x256xf32>, tensor<f32>) -> tensor<16x64xf32>
    %333 = stablehlo.reshape %332 : (tensor<16x64xf32>) -> tensor<16x64x1xf32>
    %334 = stablehlo.broadcast_in_dim %125, dims = [0, 1, 2] : (tensor<16x64x1xf32>) -> tensor<16x64x256xf32>
    %335 = stablehlo.multiply %329, %334 : tensor<16x64x256xf32>
    %336 = stablehlo.multiply %333, %128 : tensor<16x64x1xf32>
    %cst_75 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %337 = stablehlo.broadcast_in_dim %cst_75, dims = [] : (tensor<f32>) -> tensor<16x64x1xf32>
    %338 = stablehlo.divide %336, %337 : tensor<16x64x1xf32>
    %cst_76 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %339 = stablehlo.reduce(%338 init: %cst_76) applies stablehlo.add across dimensions = [2] : (tensor<16x64x1xf32>, tensor<f32>) -> tensor<16x64xf32>
    %340 = stablehlo.broadcast_in_dim %339, dims = [0, 1] : (tensor<16x64xf32>) -> tensor<16x64x256xf32>
    %341 = stablehlo.multiply %117, %340 : tensor<16x64x256xf32>
    %342 = stablehlo.add %335, %341 : tensor<16x64x256xf32>
    %343 = stablehlo.multiply %340, %117 : tensor<16x64x256xf32>
    %344 = stablehlo.add %342, %343 : tensor<16x64x256xf32>
    %345 = stablehlo.negate %344 : tensor<16x64x256xf32>
    %cst_77 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %346 = stablehlo.reduce(%345 init: %cst_77) applies stablehlo.add across dimensions = [2] : (tensor<16x64x256xf32>, tensor<f32>) -> tensor<16x64xf32>
    %347 = stablehlo.reshape %346 : (tensor<16x64xf32>) -> tensor<16x64x1xf32>
    %348 = stablehlo.add %280, %344 : tensor<16x64x256xf32>
    %cst_78 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %349 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<16x64x1xf32>
    %350 = stablehlo.divide %347, %349 : tensor<16x64x1xf32>
    %cst_79 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %351 = stablehlo.reduce(%350 init: %cst_79) applies stablehlo.add across dimensions = [2] : (tensor<16x64x1xf32>, tensor<f32>) -> tensor<16x64xf32>
    %352 = stablehlo.broadcast_in_dim %351, dims = [0, 1] : (tensor<16x64xf32>) -> tensor<16x64x256xf32>
    %353 = stablehlo.add %348, %352 : tensor<16x64x256xf32>
    %354 = stablehlo.dot_general %353, %109, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<16x64x1024xf32>) -> tensor<256x1024xf32>
    %355 = stablehlo.transpose %354, dims = [1, 0] : (tensor<256x1024xf32>) -> tensor<1024x256xf32>
    %356 = stablehlo.dot_general %353, %arg2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<1024x256xf32>) -> tensor<16x64x1024xf32>
    %357 = stablehlo.multiply %91, %356 : tensor<16x64x1024xf32>
    %358 = stablehlo.multiply %356, %108 : tensor<16x64x1024xf32>
    %cst_80 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %359 = stablehlo.broadcast_in_dim %cst_80, dims = [] : (tensor<f32>) -> tensor<16x64x1024xf32>
    %360 = stablehlo.multiply %359, %357 : tensor<16x64x1024xf32>
    %361 = stablehlo.multiply %360, %104 : tensor<16x64x1024xf32>
    %362 = stablehlo.multiply %361, %102 : tensor<16x64x1024xf32>
    %363 = stablehlo.add %361, %362 : tensor<16x64x1024xf32>
    %cst_81 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %364 = stablehlo.broadcast_in_dim %cst_81, dims = [] : (tensor<f32>) -> tensor<16x64x1024xf32>
    %365 = stablehlo.multiply %364, %363 : tensor<16x64x1024xf32>
    %366 = stablehlo.add %358, %365 : tensor<16x64x1024xf32>
    %cst_82 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %367 = stablehlo.broadcast_in_dim %cst_82, dims = [] : (tensor<f32>) -> tensor<16x64x1024xf32>
    %368 = stablehlo.multiply %367, %365 : tensor<16x64x1024xf32>
    %369 = stablehlo.multiply %368, %96 : tensor<16x64x1024xf32>
    %370 = stablehlo.add %366, %369 : tensor<16x64x1024xf32>
    %371 = stablehlo.dot_general %370, %90, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<16x64x1024xf32>, tensor<16x64x256xf32>) -> tensor<1024x256xf32>
    %372 = stablehlo.transpose %371, dims = [1, 0] : (tensor<1024x256xf32>) -> tensor<256x1024xf32>
    %373 = stablehlo.dot_general %370, %arg10, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x64x1024xf32>, tensor<256x1024xf32>) -> tensor<16x64x256xf32>
    %cst_83 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %374 = stablehlo.reduce(%373 init: %cst_83) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x64x256xf32>, tensor<f32>) -> tensor<256xf32>
    %375 = stablehlo.reshape %374 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_84 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %376 = stablehlo.reduce(%375 init: %cst_84) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %377 = stablehlo.multiply %84, %373 : tensor<16x64x256xf32>
    %cst_85 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %378 = stablehlo.reduce(%377 init: %cst_85) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x64x256xf32>, tensor<f32>) -> tensor<256xf32>
    %379 = stablehlo.reshape %378 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %380 = stablehlo.broadcast_in_dim %85, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<16x64x256xf32>
    %381 = stablehlo.multiply %373, %380 : tensor<16x64x256xf32>
    %cst_86 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %382 = stablehlo.reduce(%379 init: %cst_86) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %383 = stablehlo.multiply %71, %381 : tensor<16x64x256xf32>
    %cst_87 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %384 = stablehlo.reduce(%383 init: %cst_87) applies stablehlo.add across dimensions = [2] : (tensor<16x64x256xf32>, tensor<f32>) -> tensor<16x64xf32>
    %385 = stablehlo.reshape %384 : (tensor<16x64xf32>) -> tensor<16x64x1xf32>
    %386 = stablehlo.broadcast_in_dim %79, dims = [0, 1, 2] : (tensor<16x64x1xf32>) -> tensor<16x64x256xf32>
    %387 = stablehlo.multiply %381, %386 : tensor<16x64x256xf32>
    %388 = stablehlo.multiply %385, %82 : tensor<16x64x1xf32>
    %cst_88 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %389 = stablehlo.broadcast_in_dim %cst_88, dims = [] : (tensor<f32>) -> tensor<16x64x1xf32>
    %390 = stablehlo.divide %388, %389 : tensor<16x64x1xf32>
    %cst_89 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %391 = stablehlo.reduce(%390 init: %cst_89) applies stablehlo.add across dimensions = [2] : (tensor<16x64x1xf32>, tensor<f32>) -> tensor<16x64xf32>
    %392 = stablehlo.broadcast_in_dim %391, dims = [0, 1] : (tensor<16x64xf32>) -> tensor<16x64x256xf32>
    %393 = stablehlo.multiply %71, %392 : tensor<16x64x256xf32>
    %394 = stablehlo.add %387, %393 : tensor<16x64x256xf32>
    %395 = stablehlo.multiply %392, %71 : tensor<16x64x256xf32>
    %396 = stablehlo.add %394, %395 : tensor<16x64x256xf32>
    %397 = stablehlo.negate %396 : tensor<16x64x256xf32>
    %cst_90 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %398 = stablehlo.reduce(%397 init: %cst_90) applies stablehlo.add across dimensions = [2] : (tensor<16x64x256xf32>, tensor<f32>) -> tensor<16x64xf32>
    %399 = stablehlo.reshape %398 : (tensor<16x64xf32>) -> tensor<16x64x1xf32>
    %400 = stablehlo.add %353, %396 : tensor<16x64x256xf32>
    %cst_91 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %401 = stablehlo.broadcast_in_dim %cst_91, dims = [] : (tensor<f32>) -> tensor<16x64x1xf32>
    %402 = stablehlo.divide %399, %401 : tensor<16x64x1xf32>
    %cst_92 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %403 = stablehlo.reduce(%402 init: %cst_92) applies stablehlo.add across dimensions = [2] : (tensor<16x64x1xf32>, tensor<f32>) -> tensor<16x64xf32>
    %404 = stablehlo.broadcast_in_dim %403, dims = [0, 1] : (tensor<16x64xf32>) -> tensor<16x64x256xf32>
    %405 = stablehlo.add %400, %404 : tensor<16x64x256xf32>
    %406 = stablehlo.dot_general %405, %63, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<16x64x256xf32>) -> tensor<256x256xf32>
    %407 = stablehlo.transpose %406, dims = [1, 0] : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %408 = stablehlo.dot_general %405, %arg4, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<256x256xf32>) -> tensor<16x64x256xf32>
    %409 = stablehlo.reshape %408 : (tensor<16x64x256xf32>) -> tensor<16x64x4x64xf32>
    %410 = stablehlo.transpose %409, dims = [0, 2, 3, 1] : (tensor<16x64x4x64xf32>) -> tensor<16x4x64x64xf32>
    %411 = stablehlo.dot_general %410, %40, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<16x4x64x64xf32>, tensor<16x64x4x64xf32>) -> tensor<16x4x64x64xf32>
    %412 = stablehlo.dot_general %410, %57, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<16x4x64x64xf32>, tensor<16x4x64x64xf32>) -> tensor<16x4x64x64xf32>
    %413 = stablehlo.transpose %412, dims = [0, 3, 1, 2] : (tensor<16x4x64x64xf32>) -> tensor<16x64x4x64xf32>
    %414 = stablehlo.broadcast_in_dim %60, dims = [0, 1, 2, 3] : (tensor<16x4x64x1xf32>) -> tensor<16x4x64x64xf32>
    %415 = stablehlo.multiply %411, %414 : tensor<16x4x64x64xf32>
    %416 = stablehlo.multiply %415, %53 : tensor<16x4x64x64xf32>
    %cst_93 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %417 = stablehlo.reduce(%416 init: %cst_93) applies stablehlo.add across dimensions = [3] : (tensor<16x4x64x64xf32>, tensor<f32>) -> tensor<16x4x64xf32>
    %418 = stablehlo.reshape %417 : (tensor<16x4x64xf32>) -> tensor<16x4x64x1xf32>
    %419 = stablehlo.negate %418 : tensor<16x4x64x1xf32>
    %420 = stablehlo.broadcast_in_dim %55, dims = [0, 1, 2, 3] : (tensor<16x4x64x1xf32>) -> tensor<16x4x64x64xf32>
    %421 = stablehlo.divide %411, %420 : tensor<16x4x64x64xf32>
    %cst_94 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %422 = stablehlo.reduce(%419 init: %cst_94) applies stablehlo.add across dimensions = [3] : (tensor<16x4x64x1xf32>, tensor<f32>) -> tensor<16x4x64xf32>
    %423 = stablehlo.broadcast_in_dim %422, dims = [0, 1, 2] : (tensor<16x4x64xf32>) -> tensor<16x4x64x64xf32>
    %424 = stablehlo.add %421, %423 : tensor<16x4x64x64xf32>
    %425 = stablehlo.multiply %424, %53 : tensor<16x4x64x64xf32>
    %426 = call @_where_2(%46#1, %425) : (tensor<16x4x64x64xi1>, tensor<16x4x64x64xf32>) -> tensor<16x4x64x64xf32>
    %cst_95 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %427 = stablehlo.broadcast_in_dim %cst_95, dims = [] : (tensor<f32>) -> tensor<16x4x64x64xf32>
    %428 = stablehlo.divide %426, %427 : tensor<16x4x64x64xf32>
    %429 = stablehlo.dot_general %428, %36, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x4x64x64xf32>, tensor<16x64x4x64xf32>) -> tensor<16x4x64x64xf32>
    %430 = stablehlo.transpose %429, dims = [0, 2, 1, 3] : (tensor<16x4x64x64xf32>) -> tensor<16x64x4x64xf32>
    %431 = stablehlo.dot_general %428, %38, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x4x64x64xf32>, tensor<16x64x4x64xf32>) -> tensor<16x4x64x64xf32>
    %432 = stablehlo.transpose %431, dims = [0, 2, 1, 3] : (tensor<16x4x64x64xf32>) -> tensor<16x64x4x64xf32>
    %433 = stablehlo.reshape %413 : (tensor<16x64x4x64xf32>) -> tensor<16x64x256xf32>
    %434 = stablehlo.dot_general %433, %34, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<16x64x256xf32>) -> tensor<256x256xf32>
    %435 = stablehlo.transpose %434, dims = [1, 0] : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %436 = stablehlo.dot_general %433, %arg11, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<256x256xf32>) -> tensor<16x64x256xf32>
    %437 = stablehlo.reshape %430 : (tensor<16x64x4x64xf32>) -> tensor<16x64x256xf32>
    %438 = stablehlo.dot_general %437, %34, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<16x64x256xf32>) -> tensor<256x256xf32>
    %439 = stablehlo.transpose %438, dims = [1, 0] : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %440 = stablehlo.dot_general %437, %arg3, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<256x256xf32>) -> tensor<16x64x256xf32>
    %441 = stablehlo.add %436, %440 : tensor<16x64x256xf32>
    %442 = stablehlo.reshape %432 : (tensor<16x64x4x64xf32>) -> tensor<16x64x256xf32>
    %443 = stablehlo.dot_general %442, %34, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<16x64x256xf32>) -> tensor<256x256xf32>
    %444 = stablehlo.transpose %443, dims = [1, 0] : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %445 = stablehlo.dot_general %442, %arg5, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x64x256xf32>, tensor<256x256xf32>) -> tensor<16x64x256xf32>
    %446 = stablehlo.add %441, %445 : tensor<16x64x256xf32>
    %cst_96 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %447 = stablehlo.reduce(%446 init: %cst_96) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x64x256xf32>, tensor<f32>) -> tensor<256xf32>
    %448 = stablehlo.reshape %447 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_97 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %449 = stablehlo.reduce(%448 init: %cst_97) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %450 = stablehlo.multiply %28, %446 : tensor<16x64x256xf32>
    %cst_98 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %451 = stablehlo.reduce(%450 init: %cst_98) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x64x256xf32>, tensor<f32>) -> tensor<256xf32>
    %452 = stablehlo.reshape %451 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %453 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<16x64x256xf32>
    %454 = stablehlo.multiply %446, %453 : tensor<16x64x256xf32>
    %cst_99 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %455 = stablehlo.reduce(%452 init: %cst_99) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %456 = stablehlo.multiply %15, %454 : tensor<16x64x256xf32>
    %cst_100 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %457 = stablehlo.reduce(%456 init: %cst_100) applies stablehlo.add across dimensions = [2] : (tensor<16x64x256xf32>, tensor<f32>) -> tensor<16x64xf32>
    %458 = stablehlo.reshape %457 : (tensor<16x64xf32>) -> tensor<16x64x1xf32>
    %459 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<16x64x1xf32>) -> tensor<16x64x256xf32>
    %460 = stablehlo.multiply %454, %459 : tensor<16x64x256xf32>
    %461 = stablehlo.multiply %458, %26 : tensor<16x64x1xf32>
    %cst_101 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %462 = stablehlo.broadcast_in_dim %cst_101, dims = [] : (tensor<f32>) -> tensor<16x64x1xf32>
    %463 = stablehlo.divide %461, %462 : tensor<16x64x1xf32>
    %cst_102 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %464 = stablehlo.reduce(%463 init: %cst_102) applies stablehlo.add across dimensions = [2] : (tensor<16x64x1xf32>, tensor<f32>) -> tensor<16x64xf32>
    %465 = stablehlo.broadcast_in_dim %464, dims = [0, 1] : (tensor<16x64xf32>) -> tensor<16x64x256xf32>
    %466 = stablehlo.multiply %15, %465 : tensor<16x64x256xf32>
    %467 = stablehlo.add %460, %466 : tensor<16x64x256xf32>
    %468 = stablehlo.multiply %465, %15 : tensor<16x64x256xf32>
    %469 = stablehlo.add %467, %468 : tensor<16x64x256xf32>
    %470 = stablehlo.negate %469 : tensor<16x64x256xf32>
    %cst_103 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %471 = stablehlo.reduce(%470 init: %cst_103) applies stablehlo.add across dimensions = [2] : (tensor<16x64x256xf32>, tensor<f32>) -> tensor<16x64xf32>
    %472 = stablehlo.reshape %471 : (tensor<16x64xf32>) -> tensor<16x64x1xf32>
    %473 = stablehlo.add %405, %469 : tensor<16x64x256xf32>
    %cst_104 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %474 = stablehlo.broadcast_in_dim %cst_104, dims = [] : (tensor<f32>) -> tensor<16x64x1xf32>
    %475 = stablehlo.divide %472, %474 : tensor<16x64x1xf32>
    %cst_105 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %476 = stablehlo.reduce(%475 init: %cst_105) applies stablehlo.add across dimensions = [2] : (tensor<16x64x1xf32>, tensor<f32>) -> tensor<16x64xf32>
    %477 = stablehlo.broadcast_in_dim %476, dims = [0, 1] : (tensor<16x64xf32>) -> tensor<16x64x256xf32>
    %478 = stablehlo.add %473, %477 : tensor<16x64x256xf32>
    %cst_106 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %479 = stablehlo.reduce(%478 init: %cst_106) applies stablehlo.add across dimensions = [0] : (tensor<16x64x256xf32>, tensor<f32>) -> tensor<64x256xf32>
    %480 = stablehlo.reshape %479 : (tensor<64x256xf32>) -> tensor<1x64x256xf32>
    %cst_107 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %481 = stablehlo.reduce(%480 init: %cst_107) applies stablehlo.add across dimensions = [0] : (tensor<1x64x256xf32>, tensor<f32>) -> tensor<64x256xf32>
    %cst_108 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %482 = stablehlo.broadcast_in_dim %cst_108, dims = [] : (tensor<f32>) -> tensor<512x256xf32>
    %483 = "stablehlo.scatter"(%482, %5, %478) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg48: tensor<f32>, %arg49: tensor<f32>):
      %622 = stablehlo.add %arg48, %arg49 : tensor<f32>
      stablehlo.return %622 : tensor<f32>
    }) : (tensor<512x256xf32>, tensor<16x64x1xi32>, tensor<16x64x256xf32>) -> tensor<512x256xf32>
    %cst_109 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %484 = stablehlo.broadcast_in_dim %cst_109, dims = [] : (tensor<f32>) -> tensor<512x256xf32>
    %485 = stablehlo.multiply %484, %arg23 : tensor<512x256xf32>
    %486 = stablehlo.add %485, %483 : tensor<512x256xf32>
    %cst_110 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %487 = stablehlo.broadcast_in_dim %cst_110, dims = [] : (tensor<f32>) -> tensor<256x512xf32>
    %488 = stablehlo.multiply %487, %arg24 : tensor<256x512xf32>
    %489 = stablehlo.add %488, %227 : tensor<256x512xf32>
    %cst_111 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %490 = stablehlo.broadcast_in_dim %cst_111, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %491 = stablehlo.multiply %490, %arg25 : tensor<1024x256xf32>
    %492 = stablehlo.add %491, %355 : tensor<1024x256xf32>
    %cst_112 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %493 = stablehlo.broadcast_in_dim %cst_112, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %494 = stablehlo.multiply %493, %arg26 : tensor<256x256xf32>
    %495 = stablehlo.add %494, %439 : tensor<256x256xf32>
    %cst_113 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %496 = stablehlo.broadcast_in_dim %cst_113, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %497 = stablehlo.multiply %496, %arg27 : tensor<256x256xf32>
    %498 = stablehlo.add %497, %407 : tensor<256x256xf32>
    %cst_114 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %499 = stablehlo.broadcast_in_dim %cst_114, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %500 = stablehlo.multiply %499, %arg28 : tensor<256x256xf32>
    %501 = stablehlo.add %500, %444 : tensor<256x256xf32>
    %cst_115 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %502 = stablehlo.broadcast_in_dim %cst_115, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %503 = stablehlo.multiply %502, %arg29 : tensor<256xf32>
    %504 = stablehlo.add %503, %455 : tensor<256xf32>
    %cst_116 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %505 = stablehlo.broadcast_in_dim %cst_116, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %506 = stablehlo.multiply %505, %arg30 : tensor<256xf32>
    %507 = stablehlo.add %506, %382 : tensor<256xf32>
    %cst_117 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %508 = stablehlo.broadcast_in_dim %cst_117, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %509 = stablehlo.multiply %508, %arg31 : tensor<256xf32>
    %510 = stablehlo.add %509, %449 : tensor<256xf32>
    %cst_118 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %511 = stablehlo.broadcast_in_dim %cst_118, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %512 = stablehlo.multiply %511, %arg32 : tensor<256xf32>
    %513 = stablehlo.add %512, %376 : tensor<256xf32>
    %cst_119 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %514 = stablehlo.broadcast_in_dim %cst_119, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %515 = stablehlo.multiply %514, %arg33 : tensor<256x1024xf32>
    %516 = stablehlo.add %515, %372 : tensor<256x1024xf32>
    %cst_120 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %517 = stablehlo.broadcast_in_dim %cst_120, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %518 = stablehlo.multiply %517, %arg34 : tensor<256x256xf32>
    %519 = stablehlo.add %518, %435 : tensor<256x256xf32>
    %cst_121 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %520 = stablehlo.broadcast_in_dim %cst_121, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %521 = stablehlo.multiply %520, %arg35 : tensor<1024x256xf32>
    %522 = stablehlo.add %521, %230 : tensor<1024x256xf32>
    %cst_122 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %523 = stablehlo.broadcast_in_dim %cst_122, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %524 = stablehlo.multiply %523, %arg36 : tensor<256x256xf32>
    %525 = stablehlo.add %524, %314 : tensor<256x256xf32>
    %cst_123 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %526 = stablehlo.broadcast_in_dim %cst_123, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %527 = stablehlo.multiply %526, %arg37 : tensor<256x256xf32>
    %528 = stablehlo.add %527, %282 : tensor<256x256xf32>
    %cst_124 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %529 = stablehlo.broadcast_in_dim %cst_124, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %530 = stablehlo.multiply %529, %arg38 : tensor<256x256xf32>
    %531 = stablehlo.add %530, %319 : tensor<256x256xf32>
    %cst_125 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %532 = stablehlo.broadcast_in_dim %cst_125, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %533 = stablehlo.multiply %532, %arg39 : tensor<256xf32>
    %534 = stablehlo.add %533, %330 : tensor<256xf32>
    %cst_126 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %535 = stablehlo.broadcast_in_dim %cst_126, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %536 = stablehlo.multiply %535, %arg40 : tensor<256xf32>
    %537 = stablehlo.add %536, %257 : tensor<256xf32>
    %cst_127 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %538 = stablehlo.broadcast_in_dim %cst_127, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %539 = stablehlo.multiply %538, %arg41 : tensor<256xf32>
    %540 = stablehlo.add %539, %324 : tensor<256xf32>
    %cst_128 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %541 = stablehlo.broadcast_in_dim %cst_128, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %542 = stablehlo.multiply %541, %arg42 : tensor<256xf32>
    %543 = stablehlo.add %542, %251 : tensor<256xf32>
    %cst_129 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %544 = stablehlo.broadcast_in_dim %cst_129, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %545 = stablehlo.multiply %544, %arg43 : tensor<256x1024xf32>
    %546 = stablehlo.add %545, %247 : tensor<256x1024xf32>
    %cst_130 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %547 = stablehlo.broadcast_in_dim %cst_130, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %548 = stablehlo.multiply %547, %arg44 : tensor<256x256xf32>
    %549 = stablehlo.add %548, %310 : tensor<256x256xf32>
    %cst_131 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %550 = stablehlo.broadcast_in_dim %cst_131, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %551 = stablehlo.multiply %550, %arg45 : tensor<64x256xf32>
    %552 = stablehlo.add %551, %481 : tensor<64x256xf32>
    %cst_132 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %553 = stablehlo.broadcast_in_dim %cst_132, dims = [] : (tensor<f32>) -> tensor<512x256xf32>
    %554 = stablehlo.multiply %553, %486 : tensor<512x256xf32>
    %555 = stablehlo.subtract %arg0, %554 : tensor<512x256xf32>
    %cst_133 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %556 = stablehlo.broadcast_in_dim %cst_133, dims = [] : (tensor<f32>) -> tensor<256x512xf32>
    %557 = stablehlo.multiply %556, %489 : tensor<256x512xf32>
    %558 = stablehlo.subtract %arg1, %557 : tensor<256x512xf32>
    %cst_134 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %559 = stablehlo.broadcast_in_dim %cst_134, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %560 = stablehlo.multiply %559, %492 : tensor<1024x256xf32>
    %561 = stablehlo.subtract %arg2, %560 : tensor<1024x256xf32>
    %cst_135 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %562 = stablehlo.broadcast_in_dim %cst_135, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %563 = stablehlo.multiply %562, %495 : tensor<256x256xf32>
    %564 = stablehlo.subtract %arg3, %563 : tensor<256x256xf32>
    %cst_136 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %565 = stablehlo.broadcast_in_dim %cst_136, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %566 = stablehlo.multiply %565, %498 : tensor<256x256xf32>
    %567 = stablehlo.subtract %arg4, %566 : tensor<256x256xf32>
    %cst_137 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %568 = stablehlo.broadcast_in_dim %cst_137, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %569 = stablehlo.multiply %568, %501 : tensor<256x256xf32>
    %570 = stablehlo.subtract %arg5, %569 : tensor<256x256xf32>
    %cst_138 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %571 = stablehlo.broadcast_in_dim %cst_138, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %572 = stablehlo.multiply %571, %504 : tensor<256xf32>
    %573 = stablehlo.subtract %arg6, %572 : tensor<256xf32>
    %cst_139 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %574 = stablehlo.broadcast_in_dim %cst_139, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %575 = stablehlo.multiply %574, %507 : tensor<256xf32>
    %576 = stablehlo.subtract %arg7, %575 : tensor<256xf32>
    %cst_140 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %577 = stablehlo.broadcast_in_dim %cst_140, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %578 = stablehlo.multiply %577, %510 : tensor<256xf32>
    %579 = stablehlo.subtract %arg8, %578 : tensor<256xf32>
    %cst_141 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %580 = stablehlo.broadcast_in_dim %cst_141, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %581 = stablehlo.multiply %580, %513 : tensor<256xf32>
    %582 = stablehlo.subtract %arg9, %581 : tensor<256xf32>
    %cst_142 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %583 = stablehlo.broadcast_in_dim %cst_142, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %584 = stablehlo.multiply %583, %516 : tensor<256x1024xf32>
    %585 = stablehlo.subtract %arg10, %584 : tensor<256x1024xf32>
    %cst_143 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %586 = stablehlo.broadcast_in_dim %cst_143, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %587 = stablehlo.multiply %586, %519 : tensor<256x256xf32>
    %588 = stablehlo.subtract %arg11, %587 : tensor<256x256xf32>
    %cst_144 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %589 = stablehlo.broadcast_in_dim %cst_144, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %590 = stablehlo.multiply %589, %522 : tensor<1024x256xf32>
    %591 = stablehlo.subtract %arg12, %590 : tensor<1024x256xf32>
    %cst_145 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %592 = stablehlo.broadcast_in_dim %cst_145, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %593 = stablehlo.multiply %592, %525 : tensor<256x256xf32>
    %594 = stablehlo.subtract %arg13, %593 : tensor<256x256xf32>
    %cst_146 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %595 = stablehlo.broadcast_in_dim %cst_146, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %596 = stablehlo.multiply %595, %528 : tensor<256x256xf32>
    %597 = stablehlo.subtract %arg14, %596 : tensor<256x256xf32>
    %cst_147 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %598 = stablehlo.broadcast_in_dim %cst_147, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %599 = stablehlo.multiply %598, %531 : tensor<256x256xf32>
    %600 = stablehlo.subtract %arg15, %599 : tensor<256x256xf32>
    %cst_148 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %601 = stablehlo.broadcast_in_dim %cst_148, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %602 = stablehlo.multiply %601, %534 : tensor<256xf32>
    %603 = stablehlo.subtract %arg16, %602 : tensor<256xf32>
    %cst_149 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %604 = stablehlo.broadcast_in_dim %cst_149, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %605 = stablehlo.multiply %604, %537 : tensor<256xf32>
    %606 = stablehlo.subtract %arg17, %605 : tensor<256xf32>
    %cst_150 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %607 = stablehlo.broadcast_in_dim %cst_150, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %608 = stablehlo.multiply %607, %540 : tensor<256xf32>
    %609 = stablehlo.subtract %arg18, %608 : tensor<256xf32>
    %cst_151 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %610 = stablehlo.broadcast_in_dim %cst_151, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %611 = stablehlo.multiply %610, %543 : tensor<256xf32>
    %612 = stablehlo.subtract %arg19, %611 : tensor<256xf32>
    %cst_152 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %613 = stablehlo.broadcast_in_dim %cst_152, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %614 = stablehlo.multiply %613, %546 : tensor<256x1024xf32>
    %615 = stablehlo.subtract %arg20, %614 : tensor<256x1024xf32>
    %cst_153 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %616 = stablehlo.broadcast_in_dim %cst_153, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %617 = stablehlo.multiply %616, %549 : tensor<256x256xf32>
    %618 = stablehlo.subtract %arg21, %617 : tensor<256x256xf32>
    %cst_154 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %619 = stablehlo.broadcast_in_dim %cst_154, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %620 = stablehlo.multiply %619, %552 : tensor<64x256xf32>
    %621 = stablehlo.subtract %arg22, %620 : tensor<64x256xf32>
    return %555, %558, %561, %564, %567, %570, %573, %576, %579, %582, %585, %588, %591, %594, %597, %600, %603, %606, %609, %612, %615, %618, %621, %486, %489, %492, %495, %498, %501, %504, %507, %510, %513, %516, %519, %522, %525, %528, %531, %534, %537, %540, %543, %546, %549, %552, %220 : tensor<512x256xf32>, tensor<256x512xf32>, tensor<1024x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256x1024xf32>, tensor<256x256xf32>, tensor<1024x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256x1024xf32>, tensor<256x256xf32>, tensor<64x256xf32>, tensor<512x256xf32>, tensor<256x512xf32>, tensor<1024x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256x1024xf32>, tensor<256x256xf32>, tensor<1024x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256x1024xf32>, tensor<256x256xf32>, tensor<64x256xf32>, tensor<f32>
  }
  func.func private @tril(%arg0: tensor<64x64xi1>) -> tensor<64x64xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<64x64xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<64x64xi32>
    %2 = stablehlo.add %0, %1 : tensor<64x64xi32>
    %3 = stablehlo.iota dim = 1 : tensor<64x64xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<64x64xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<64x64xi1>, tensor<64x64xi1>
    return %6 : tensor<64x64xi1>
  }
  func.func private @_where(%arg0: tensor<64x64xi1>, %arg1: tensor<16x4x64x64xf32>, %arg2: tensor<f32>) -> (tensor<16x4x64x64xf32>, tensor<16x4x64x64xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<64x64xi1>) -> tensor<16x4x64x64xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<16x4x64x64xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<16x4x64x64xi1>, tensor<16x4x64x64xf32>
    return %3, %1 : tensor<16x4x64x64xf32>, tensor<16x4x64x64xi1>
  }
  func.func private @log_softmax(%arg0: tensor<16x64x512xf32>) -> (tensor<16x64x512xf32>, tensor<16x64x512xf32>, tensor<16x64x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<16x64x512xf32>, tensor<f32>) -> tensor<16x64xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16x64xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<16x64xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<16x64xf32>) -> tensor<16x64x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<16x64x1xf32>) -> tensor<16x64x512xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<16x64x512xf32>
    %6 = stablehlo.exponential %5 : tensor<16x64x512xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<16x64x512xf32>, tensor<f32>) -> tensor<16x64xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<16x64xf32>) -> tensor<16x64x1xf32>
    %9 = stablehlo.log %8 : tensor<16x64x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<16x64x1xf32>) -> tensor<16x64x512xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<16x64x512xf32>
    return %11, %6, %8 : tensor<16x64x512xf32>, tensor<16x64x512xf32>, tensor<16x64x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<16x64x512xf32>, %arg1: tensor<16x64x1xi32>) -> (tensor<16x64x1xf32>, tensor<16x64x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<16x64x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<16x64x1xi32>, tensor<16x64x1xi32>) -> tensor<16x64x1xi1>
    %c_0 = stablehlo.constant dense<512> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<16x64x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<16x64x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<16x64x1xi1>, tensor<16x64x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<16x64x1xi32>) -> tensor<16x64x1x1xi32>
    %c_1 = stablehlo.constant dense<511> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<16x64x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<16x64x1x1xi32>, tensor<16x64x1x1xi32>) -> tensor<16x64x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<16x64x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<16x64x1x1xi32>, tensor<16x64x1x1xi32>) -> tensor<16x64x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<16x64x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [3] : (tensor<16x64x1x1xi1>, tensor<i1>) -> tensor<16x64x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<16x64x512xf32>, tensor<16x64x1x1xi32>) -> tensor<16x64x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x64x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<16x64x1xi1>, tensor<16x64x1xf32>
    return %15, %5 : tensor<16x64x1xf32>, tensor<16x64x1x1xi32>
  }
  func.func private @take_along_axis_0(%arg0: tensor<16x64x1x1xi32>, %arg1: tensor<16x64x1xf32>) -> tensor<16x64x512xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x64x512xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<16x64x512xf32>, tensor<16x64x1x1xi32>, tensor<16x64x1xf32>) -> tensor<16x64x512xf32>
    return %1 : tensor<16x64x512xf32>
  }
  func.func private @log_softmax_1(%arg0: tensor<16x64x512xf32>, %arg1: tensor<16x64x1xf32>, %arg2: tensor<16x64x512xf32>) -> tensor<16x64x512xf32> {
    %0 = stablehlo.negate %arg2 : tensor<16x64x512xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<16x64x512xf32>, tensor<f32>) -> tensor<16x64xf32>
    %2 = stablehlo.reshape %1 : (tensor<16x64xf32>) -> tensor<16x64x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<16x64x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<16x64x1xf32>, tensor<f32>) -> tensor<16x64xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<16x64xf32>) -> tensor<16x64x512xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<16x64x512xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<16x64x512xf32>
    return %7 : tensor<16x64x512xf32>
  }
  func.func private @_where_2(%arg0: tensor<16x4x64x64xi1>, %arg1: tensor<16x4x64x64xf32>) -> tensor<16x4x64x64xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x4x64x64xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<16x4x64x64xi1>, tensor<16x4x64x64xf32>
    return %1 : tensor<16x4x64x64xf32>
  }
}
