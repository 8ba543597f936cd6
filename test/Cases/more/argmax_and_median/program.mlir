module @jit_argmax_and_median attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<8x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8xi32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<i32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<f32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %0 = call @argmax(%arg0) : (tensor<8x5xf32>) -> tensor<8xi32>
    %1 = stablehlo.slice %arg0 [0:8, 0:1] : (tensor<8x5xf32>) -> tensor<8x1xf32>
    %2 = stablehlo.reshape %1 : (tensor<8x1xf32>) -> tensor<8xf32>
    %3 = call @argmin(%2) : (tensor<8xf32>) -> tensor<i32>
    %4 = call @nanmedian(%arg0) : (tensor<8x5xf32>) -> tensor<f32>
    return %0, %3, %4 : tensor<8xi32>, tensor<i32>, tensor<f32>
  }
  func.func private @argmax(%arg0: tensor<8x5xf32>) -> tensor<8xi32> {
    %0 = stablehlo.iota dim = 1 : tensor<8x5xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<8x5xf32>, tensor<8x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
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
    return %1#1 : tensor<8xi32>
  }
  func.func private @argmin(%arg0: tensor<8xf32>) -> tensor<i32> {
    %0 = stablehlo.iota dim = 0 : tensor<8xi32>
    %cst = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [0] : (tensor<8xf32>, tensor<8xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare LT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
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
    return %1#1 : tensor<i32>
  }
  func.func private @nanmedian(%arg0: tensor<8x5xf32>) -> tensor<f32> {
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %0 = call @nanquantile(%arg0, %cst) : (tensor<8x5xf32>, tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @nanquantile(%arg0: tensor<8x5xf32>, %arg1: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.reshape %arg0 : (tensor<8x5xf32>) -> tensor<40xf32>
    %1 = stablehlo.compare NE, %0, %0, FLOAT : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xi1>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %2 = call @_where(%1, %cst, %0) : (tensor<40xi1>, tensor<f32>, tensor<40xf32>) -> tensor<40xf32>
    %3 = "stablehlo.sort"(%2) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %33 = stablehlo.compare EQ, %arg2, %cst_10, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %34 = stablehlo.select %33, %cst_11, %arg2 : tensor<i1>, tensor<f32>
      %35 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_12 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %36 = stablehlo.select %35, %cst_12, %34 : tensor<i1>, tensor<f32>
      %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %37 = stablehlo.compare EQ, %arg3, %cst_13, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %38 = stablehlo.select %37, %cst_14, %arg3 : tensor<i1>, tensor<f32>
      %39 = stablehlo.compare NE, %arg3, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_15 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %40 = stablehlo.select %39, %cst_15, %38 : tensor<i1>, tensor<f32>
      %41 = stablehlo.compare LT, %36, %40, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %41 : tensor<i1>
    }) : (tensor<40xf32>) -> tensor<40xf32>
    %4 = stablehlo.compare NE, %3, %3, FLOAT : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xi1>
    %5 = stablehlo.not %4 : tensor<40xi1>
    %6 = stablehlo.convert %5 : (tensor<40xi1>) -> tensor<40xi32>
    %7 = stablehlo.convert %6 : (tensor<40xi32>) -> tensor<40xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<40xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.subtract %8, %cst_1 : tensor<f32>
    %10 = stablehlo.multiply %arg1, %9 : tensor<f32>
    %11 = stablehlo.floor %10 : tensor<f32>
    %12 = stablehlo.ceil %10 : tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.subtract %8, %cst_2 : tensor<f32>
    %14 = stablehlo.minimum %11, %13 : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.maximum %cst_3, %14 : tensor<f32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.subtract %8, %cst_4 : tensor<f32>
    %17 = stablehlo.minimum %12, %16 : tensor<f32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.maximum %cst_5, %17 : tensor<f32>
    %19 = stablehlo.convert %15 : (tensor<f32>) -> tensor<i32>
    %20 = stablehlo.convert %18 : (tensor<f32>) -> tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %21 = stablehlo.compare LT, %19, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_6 = stablehlo.constant dense<40> : tensor<i32>
    %22 = stablehlo.add %19, %c_6 : tensor<i32>
    %23 = stablehlo.select %21, %22, %19 : tensor<i1>, tensor<i32>
    %24 = stablehlo.dynamic_slice %3, %23, sizes = [1] : (tensor<40xf32>, tensor<i32>) -> tensor<1xf32>
    %25 = stablehlo.reshape %24 : (tensor<1xf32>) -> tensor<f32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %26 = stablehlo.compare LT, %20, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_8 = stablehlo.constant dense<40> : tensor<i32>
    %27 = stablehlo.add %20, %c_8 : tensor<i32>
    %28 = stablehlo.select %26, %27, %20 : tensor<i1>, tensor<i32>
    %29 = stablehlo.dynamic_slice %3, %28, sizes = [1] : (tensor<40xf32>, tensor<i32>) -> tensor<1xf32>
    %30 = stablehlo.reshape %29 : (tensor<1xf32>) -> tensor<f32>
    %31 = stablehlo.add %25, %30 : tensor<f32>
    %cst_9 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %32 = stablehlo.multiply %31, %cst_9 : tensor<f32>
    return %32 : tensor<f32>
  }
  func.func private @_where(%arg0: tensor<40xi1>, %arg1: tensor<f32>, %arg2: tensor<40xf32>) -> tensor<40xf32> {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<40xf32>
    %2 = stablehlo.select %arg0, %1, %arg2 : tensor<40xi1>, tensor<40xf32>
    return %2 : tensor<40xf32>
  }
}
