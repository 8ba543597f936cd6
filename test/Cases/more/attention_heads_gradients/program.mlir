module @jit_attention_heads_gradients attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["model"=8]> {stablehlo.mesh = {axes = [{name = "model", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<4x16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}, %arg1: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg2: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg3: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> (tensor<4x16x64xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}, tensor<64x64xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, tensor<64x64xf32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, tensor<64x64xf32> {jax.result_info = "result[3]", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x64xf32>, tensor<64x64xf32>) -> tensor<4x16x64xf32>
    %1 = stablehlo.reshape %0 : (tensor<4x16x64xf32>) -> tensor<4x16x4x16xf32>
    %2 = stablehlo.dot_general %arg0, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x64xf32>, tensor<64x64xf32>) -> tensor<4x16x64xf32>
    %3 = stablehlo.reshape %2 : (tensor<4x16x64xf32>) -> tensor<4x16x4x16xf32>
    %4 = stablehlo.dot_general %1, %3, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x16x4x16xf32>, tensor<4x16x4x16xf32>) -> tensor<4x4x16x16xf32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x4x16x16xf32>
    %6 = stablehlo.divide %4, %5 : tensor<4x4x16x16xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<4x4x16x16xf32>, tensor<f32>) -> tensor<4x4x16xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x4x16xf32>
    %9 = stablehlo.maximum %8, %7 : tensor<4x4x16xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<4x4x16xf32>) -> tensor<4x4x16x1xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2, 3] : (tensor<4x4x16x1xf32>) -> tensor<4x4x16x16xf32>
    %12 = stablehlo.subtract %6, %11 : tensor<4x4x16x16xf32>
    %13 = stablehlo.exponential %12 : tensor<4x4x16x16xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.reduce(%13 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<4x4x16x16xf32>, tensor<f32>) -> tensor<4x4x16xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<4x4x16xf32>) -> tensor<4x4x16x1xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<4x4x16x1xf32>) -> tensor<4x4x16x16xf32>
    %17 = stablehlo.divide %13, %16 : tensor<4x4x16x16xf32>
    %18 = stablehlo.multiply %15, %15 : tensor<4x4x16x1xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x4x16x1xf32>
    %20 = stablehlo.divide %19, %18 : tensor<4x4x16x1xf32>
    %21 = stablehlo.dot_general %3, %17, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x16x4x16xf32>, tensor<4x4x16x16xf32>) -> tensor<4x4x16x16xf32>
    %22 = stablehlo.transpose %21, dims = [0, 3, 1, 2] : (tensor<4x4x16x16xf32>) -> tensor<4x16x4x16xf32>
    %23 = stablehlo.reshape %22 : (tensor<4x16x4x16xf32>) -> tensor<4x16x64xf32>
    %24 = stablehlo.dot_general %23, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x64xf32>, tensor<64x64xf32>) -> tensor<4x16x64xf32>
    %cst_4 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x16x64xf32>
    %26 = stablehlo.multiply %25, %24 : tensor<4x16x64xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x16x64xf32>
    %28 = stablehlo.multiply %27, %26 : tensor<4x16x64xf32>
    %29 = stablehlo.dot_general %28, %23, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x64xf32>, tensor<4x16x64xf32>) -> tensor<64x64xf32>
    %30 = stablehlo.transpose %29, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %31 = stablehlo.dot_general %28, %arg3, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x64xf32>, tensor<64x64xf32>) -> tensor<4x16x64xf32>
    %32 = stablehlo.reshape %31 : (tensor<4x16x64xf32>) -> tensor<4x16x4x16xf32>
    %33 = stablehlo.transpose %32, dims = [0, 2, 3, 1] : (tensor<4x16x4x16xf32>) -> tensor<4x4x16x16xf32>
    %34 = stablehlo.dot_general %33, %3, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x4x16x16xf32>, tensor<4x16x4x16xf32>) -> tensor<4x4x16x16xf32>
    %35 = stablehlo.dot_general %33, %17, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<4x4x16x16xf32>, tensor<4x4x16x16xf32>) -> tensor<4x4x16x16xf32>
    %36 = stablehlo.transpose %35, dims = [0, 3, 1, 2] : (tensor<4x4x16x16xf32>) -> tensor<4x16x4x16xf32>
    %37 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<4x4x16x1xf32>) -> tensor<4x4x16x16xf32>
    %38 = stablehlo.multiply %34, %37 : tensor<4x4x16x16xf32>
    %39 = stablehlo.multiply %38, %13 : tensor<4x4x16x16xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %40 = stablehlo.reduce(%39 init: %cst_6) applies stablehlo.add across dimensions = [3] : (tensor<4x4x16x16xf32>, tensor<f32>) -> tensor<4x4x16xf32>
    %41 = stablehlo.reshape %40 : (tensor<4x4x16xf32>) -> tensor<4x4x16x1xf32>
    %42 = stablehlo.negate %41 : tensor<4x4x16x1xf32>
    %43 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<4x4x16x1xf32>) -> tensor<4x4x16x16xf32>
    %44 = stablehlo.divide %34, %43 : tensor<4x4x16x16xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %45 = stablehlo.reduce(%42 init: %cst_7) applies stablehlo.add across dimensions = [3] : (tensor<4x4x16x1xf32>, tensor<f32>) -> tensor<4x4x16xf32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0, 1, 2] : (tensor<4x4x16xf32>) -> tensor<4x4x16x16xf32>
    %47 = stablehlo.add %44, %46 : tensor<4x4x16x16xf32>
    %48 = stablehlo.multiply %47, %13 : tensor<4x4x16x16xf32>
    %cst_8 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x4x16x16xf32>
    %50 = stablehlo.divide %48, %49 : tensor<4x4x16x16xf32>
    %51 = stablehlo.dot_general %50, %1, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x4x16x16xf32>, tensor<4x16x4x16xf32>) -> tensor<4x4x16x16xf32>
    %52 = stablehlo.transpose %51, dims = [0, 2, 1, 3] : (tensor<4x4x16x16xf32>) -> tensor<4x16x4x16xf32>
    %53 = stablehlo.add %36, %52 : tensor<4x16x4x16xf32>
    %54 = stablehlo.dot_general %50, %3, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x4x16x16xf32>, tensor<4x16x4x16xf32>) -> tensor<4x4x16x16xf32>
    %55 = stablehlo.transpose %54, dims = [0, 2, 1, 3] : (tensor<4x4x16x16xf32>) -> tensor<4x16x4x16xf32>
    %56 = stablehlo.reshape %53 : (tensor<4x16x4x16xf32>) -> tensor<4x16x64xf32>
    %57 = stablehlo.dot_general %56, %arg0, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x64xf32>, tensor<4x16x64xf32>) -> tensor<64x64xf32>
    %58 = stablehlo.transpose %57, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %59 = stablehlo.dot_general %56, %arg2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x64xf32>, tensor<64x64xf32>) -> tensor<4x16x64xf32>
    %60 = stablehlo.reshape %55 : (tensor<4x16x4x16xf32>) -> tensor<4x16x64xf32>
    %61 = stablehlo.dot_general %60, %arg0, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x64xf32>, tensor<4x16x64xf32>) -> tensor<64x64xf32>
    %62 = stablehlo.transpose %61, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %63 = stablehlo.dot_general %60, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x64xf32>, tensor<64x64xf32>) -> tensor<4x16x64xf32>
    %64 = stablehlo.add %59, %63 : tensor<4x16x64xf32>
    return %64, %62, %58, %30 : tensor<4x16x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  }
}
