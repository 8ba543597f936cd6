module @jit_while_until_all_rows_are_done attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=8]> {stablehlo.mesh = {axes = [{name = "batch", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<32x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) -> (tensor<32x4xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}, tensor<32xi32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}]>}) {
    %c = stablehlo.constant dense<false> : tensor<i1>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<32xi1>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<32xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %2:5 = stablehlo.while(%iterArg = %arg0, %iterArg_2 = %arg0, %iterArg_3 = %0, %iterArg_4 = %1, %iterArg_5 = %c_1) : tensor<32x4xf32>, tensor<32x4xf32>, tensor<32xi1>, tensor<32xi32>, tensor<i32>
    cond {
      %c_6 = stablehlo.constant dense<true> : tensor<i1>
      %3 = stablehlo.reduce(%iterArg_3 init: %c_6) applies stablehlo.and across dimensions = [0] : (tensor<32xi1>, tensor<i1>) -> tensor<i1>
      %4 = stablehlo.not %3 : tensor<i1>
      %c_7 = stablehlo.constant dense<30> : tensor<i32>
      %5 = stablehlo.compare LT, %iterArg_5, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_8 = stablehlo.constant dense<false> : tensor<i1>
      %6 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i1>) -> tensor<i1>
      %7 = stablehlo.compare NE, %5, %6, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %8 = stablehlo.convert %7 : tensor<i1>
      %9 = stablehlo.and %4, %8 : tensor<i1>
      stablehlo.return %9 : tensor<i1>
    } do {
      %3 = stablehlo.divide %iterArg, %iterArg_2 : tensor<32x4xf32>
      %4 = stablehlo.add %iterArg_2, %3 : tensor<32x4xf32>
      %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
      %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x4xf32>
      %6 = stablehlo.multiply %5, %4 : tensor<32x4xf32>
      %7 = stablehlo.subtract %6, %iterArg_2 : tensor<32x4xf32>
      %8 = stablehlo.abs %7 : tensor<32x4xf32>
      %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %9 = stablehlo.reduce(%8 init: %cst_6) applies stablehlo.maximum across dimensions = [1] : (tensor<32x4xf32>, tensor<f32>) -> tensor<32xf32>
      %cst_7 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
      %10 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<32xf32>
      %11 = stablehlo.compare LT, %9, %10, FLOAT : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xi1>
      %12 = stablehlo.broadcast_in_dim %iterArg_3, dims = [0] : (tensor<32xi1>) -> tensor<32x1xi1>
      %13 = func.call @_where(%12, %iterArg_2, %6) : (tensor<32x1xi1>, tensor<32x4xf32>, tensor<32x4xf32>) -> tensor<32x4xf32>
      %14 = stablehlo.or %iterArg_3, %11 : tensor<32xi1>
      %15 = stablehlo.not %iterArg_3 : tensor<32xi1>
      %16 = stablehlo.convert %15 : (tensor<32xi1>) -> tensor<32xi32>
      %17 = stablehlo.add %iterArg_4, %16 : tensor<32xi32>
      %c_8 = stablehlo.constant dense<1> : tensor<i32>
      %18 = stablehlo.add %iterArg_5, %c_8 : tensor<i32>
      stablehlo.return %iterArg, %13, %14, %17, %18 : tensor<32x4xf32>, tensor<32x4xf32>, tensor<32xi1>, tensor<32xi32>, tensor<i32>
    }
    return %2#1, %2#3 : tensor<32x4xf32>, tensor<32xi32>
  }
  func.func private @_where(%arg0: tensor<32x1xi1>, %arg1: tensor<32x4xf32>, %arg2: tensor<32x4xf32>) -> tensor<32x4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<32x1xi1>) -> tensor<32x4xi1>
    %1 = stablehlo.select %0, %arg1, %arg2 : tensor<32x4xi1>, tensor<32x4xf32>
    return %1 : tensor<32x4xf32>
  }
}
