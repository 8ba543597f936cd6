module @jit_while_under_vmap attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=8]> {stablehlo.mesh = {axes = [{name = "batch", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}, %arg1: tensor<16xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}]>}) -> (tensor<16x6xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<16xi32>
    %1:3 = stablehlo.while(%iterArg = %0, %iterArg_5 = %arg1, %iterArg_6 = %arg0) : tensor<16xi32>, tensor<16xi32>, tensor<16x6xf32>
    cond {
      %21 = stablehlo.compare LT, %iterArg, %iterArg_5, SIGNED : (tensor<16xi32>, tensor<16xi32>) -> tensor<16xi1>
      %c_7 = stablehlo.constant dense<false> : tensor<i1>
      %22 = stablehlo.reduce(%21 init: %c_7) applies stablehlo.or across dimensions = [0] : (tensor<16xi1>, tensor<i1>) -> tensor<i1>
      stablehlo.return %22 : tensor<i1>
    } do {
      %c_7 = stablehlo.constant dense<1> : tensor<i32>
      %21 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<16xi32>
      %22 = stablehlo.add %iterArg, %21 : tensor<16xi32>
      %cst_8 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
      %23 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<16x6xf32>
      %24 = stablehlo.multiply %iterArg_6, %23 : tensor<16x6xf32>
      %25 = stablehlo.convert %iterArg : (tensor<16xi32>) -> tensor<16xf32>
      %26 = stablehlo.broadcast_in_dim %25, dims = [0] : (tensor<16xf32>) -> tensor<16x1xf32>
      %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1] : (tensor<16x1xf32>) -> tensor<16x6xf32>
      %28 = stablehlo.add %24, %27 : tensor<16x6xf32>
      %29 = stablehlo.compare LT, %iterArg, %iterArg_5, SIGNED : (tensor<16xi32>, tensor<16xi32>) -> tensor<16xi1>
      %30 = stablehlo.broadcast_in_dim %29, dims = [0] : (tensor<16xi1>) -> tensor<16xi1>
      %31 = stablehlo.select %30, %22, %iterArg : tensor<16xi1>, tensor<16xi32>
      %32 = stablehlo.broadcast_in_dim %29, dims = [0] : (tensor<16xi1>) -> tensor<16xi1>
      %33 = stablehlo.select %32, %iterArg_5, %iterArg_5 : tensor<16xi1>, tensor<16xi32>
      %34 = stablehlo.broadcast_in_dim %29, dims = [0] : (tensor<16xi1>) -> tensor<16x6xi1>
      %35 = stablehlo.select %34, %28, %iterArg_6 : tensor<16x6xi1>, tensor<16x6xf32>
      stablehlo.return %31, %33, %35 : tensor<16xi32>, tensor<16xi32>, tensor<16x6xf32>
    }
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%1#2 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<16x6xf32>, tensor<f32>) -> tensor<16xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %4 = stablehlo.compare GT, %2, %3, FLOAT : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xi1>
    %5 = stablehlo.convert %4 : (tensor<16xi1>) -> tensor<16xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<16xi32>
    %7 = stablehlo.compare EQ, %5, %6, SIGNED : (tensor<16xi32>, tensor<16xi32>) -> tensor<16xi1>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<16xi1>) -> tensor<16x6xi1>
    %9 = stablehlo.select %8, %1#2, %1#2 : tensor<16x6xi1>, tensor<16x6xf32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<16x6xf32>
    %11 = stablehlo.multiply %9, %10 : tensor<16x6xf32>
    %c_3 = stablehlo.constant dense<1> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<16xi32>
    %13 = stablehlo.compare EQ, %5, %12, SIGNED : (tensor<16xi32>, tensor<16xi32>) -> tensor<16xi1>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0] : (tensor<16xi1>) -> tensor<16x6xi1>
    %15 = stablehlo.select %14, %1#2, %1#2 : tensor<16x6xi1>, tensor<16x6xf32>
    %16 = stablehlo.sine %15 : tensor<16x6xf32>
    %17 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<16xi32>) -> tensor<16x6xi32>
    %c_4 = stablehlo.constant dense<1> : tensor<i32>
    %18 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<16x6xi32>
    %19 = stablehlo.compare LT, %17, %18, SIGNED : (tensor<16x6xi32>, tensor<16x6xi32>) -> tensor<16x6xi1>
    %20 = stablehlo.select %19, %11, %16 : tensor<16x6xi1>, tensor<16x6xf32>
    return %20 : tensor<16x6xf32>
  }
}
