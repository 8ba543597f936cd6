module @jit_both attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x4x4x16xf32>) -> (tensor<16x4x4x8xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}, {}]>}, tensor<8x4x4x16xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}, {"x"}, {}]>}) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<8x4x4x16xf32>, tensor<f32>) -> tensor<8x4x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<8x4x16xf32>) -> tensor<8x4x1x16xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<8x4x1x16xf32>) -> tensor<8x4x4x16xf32>
    %3 = stablehlo.compare EQ, %arg0, %2, FLOAT : (tensor<8x4x4x16xf32>, tensor<8x4x4x16xf32>) -> tensor<8x4x4x16xi1>
    %4 = stablehlo.convert %3 : (tensor<8x4x4x16xi1>) -> tensor<8x4x4x16xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.reduce(%4 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<8x4x4x16xf32>, tensor<f32>) -> tensor<8x4x16xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x4x16xf32>
    %7 = stablehlo.maximum %6, %0 : tensor<8x4x16xf32>
    %8 = stablehlo.compare EQ, %0, %7, FLOAT : (tensor<8x4x16xf32>, tensor<8x4x16xf32>) -> tensor<8x4x16xi1>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x4x16xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x4x16xf32>
    %11 = stablehlo.select %8, %9, %10 : tensor<8x4x16xi1>, tensor<8x4x16xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x4x16xf32>
    %13 = stablehlo.compare EQ, %12, %7, FLOAT : (tensor<8x4x16xf32>, tensor<8x4x16xf32>) -> tensor<8x4x16xi1>
    %cst_5 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8x4x16xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x4x16xf32>
    %16 = stablehlo.select %13, %14, %15 : tensor<8x4x16xi1>, tensor<8x4x16xf32>
    %17 = stablehlo.divide %11, %16 : tensor<8x4x16xf32>
    %18 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 3] : (tensor<8x4x16xf32>) -> tensor<8x4x1x16xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2, 3] : (tensor<8x4x1x16xf32>) -> tensor<8x4x4x16xf32>
    %20 = stablehlo.subtract %arg0, %19 : tensor<8x4x4x16xf32>
    %21 = stablehlo.exponential %20 : tensor<8x4x4x16xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.reduce(%21 init: %cst_7) applies stablehlo.add across dimensions = [2] : (tensor<8x4x4x16xf32>, tensor<f32>) -> tensor<8x4x16xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 3] : (tensor<8x4x16xf32>) -> tensor<8x4x1x16xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2, 3] : (tensor<8x4x1x16xf32>) -> tensor<8x4x4x16xf32>
    %25 = stablehlo.divide %21, %24 : tensor<8x4x4x16xf32>
    %26 = stablehlo.multiply %23, %23 : tensor<8x4x1x16xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x4x1x16xf32>
    %28 = stablehlo.divide %27, %26 : tensor<8x4x1x16xf32>
    %29 = stablehlo.transpose %25, dims = [3, 2, 1, 0] : (tensor<8x4x4x16xf32>) -> tensor<16x4x4x8xf32>
    %30 = stablehlo.tanh %29 : tensor<16x4x4x8xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<16x4x4x8xf32>
    %32 = stablehlo.subtract %31, %30 : tensor<16x4x4x8xf32>
    %33 = stablehlo.multiply %30, %30 : tensor<16x4x4x8xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.reduce(%33 init: %cst_10) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<16x4x4x8xf32>, tensor<f32>) -> tensor<f32>
    %cst_11 = stablehlo.constant dense<2.048000e+03> : tensor<f32>
    %35 = stablehlo.divide %34, %cst_11 : tensor<f32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %36 = stablehlo.add %cst_12, %35 : tensor<f32>
    %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_14 = stablehlo.constant dense<2.048000e+03> : tensor<f32>
    %37 = stablehlo.divide %cst_13, %cst_14 : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [] : (tensor<f32>) -> tensor<16x4x4x8xf32>
    %39 = stablehlo.multiply %30, %38 : tensor<16x4x4x8xf32>
    %40 = stablehlo.multiply %38, %30 : tensor<16x4x4x8xf32>
    %41 = stablehlo.add %39, %40 : tensor<16x4x4x8xf32>
    %42 = stablehlo.multiply %41, %32 : tensor<16x4x4x8xf32>
    %43 = stablehlo.multiply %42, %30 : tensor<16x4x4x8xf32>
    %44 = stablehlo.add %42, %43 : tensor<16x4x4x8xf32>
    %45 = stablehlo.transpose %44, dims = [3, 2, 1, 0] : (tensor<16x4x4x8xf32>) -> tensor<8x4x4x16xf32>
    %46 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2, 3] : (tensor<8x4x1x16xf32>) -> tensor<8x4x4x16xf32>
    %47 = stablehlo.multiply %45, %46 : tensor<8x4x4x16xf32>
    %48 = stablehlo.multiply %47, %21 : tensor<8x4x4x16xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %49 = stablehlo.reduce(%48 init: %cst_15) applies stablehlo.add across dimensions = [2] : (tensor<8x4x4x16xf32>, tensor<f32>) -> tensor<8x4x16xf32>
    %50 = stablehlo.reshape %49 : (tensor<8x4x16xf32>) -> tensor<8x4x1x16xf32>
    %51 = stablehlo.negate %50 : tensor<8x4x1x16xf32>
    %52 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2, 3] : (tensor<8x4x1x16xf32>) -> tensor<8x4x4x16xf32>
    %53 = stablehlo.divide %45, %52 : tensor<8x4x4x16xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %54 = stablehlo.reduce(%51 init: %cst_16) applies stablehlo.add across dimensions = [2] : (tensor<8x4x1x16xf32>, tensor<f32>) -> tensor<8x4x16xf32>
    %55 = stablehlo.broadcast_in_dim %54, dims = [0, 1, 3] : (tensor<8x4x16xf32>) -> tensor<8x4x4x16xf32>
    %56 = stablehlo.add %53, %55 : tensor<8x4x4x16xf32>
    %57 = stablehlo.multiply %56, %21 : tensor<8x4x4x16xf32>
    return %30, %57 : tensor<16x4x4x8xf32>, tensor<8x4x4x16xf32>
  }
}
