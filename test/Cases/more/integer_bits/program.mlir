module @jit_integer_bits attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=8]> {stablehlo.mesh = {axes = [{name = "batch", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<64xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}]>}, %arg1: tensor<64xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}]>}) -> (tensor<64xi32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}]>}) {
    %0 = stablehlo.convert %arg0 : (tensor<64xi32>) -> tensor<64xui32>
    %c = stablehlo.constant dense<8> : tensor<i32>
    %1 = call @remainder(%arg1, %c) : (tensor<64xi32>, tensor<i32>) -> tensor<64xi32>
    %2 = stablehlo.convert %1 : (tensor<64xi32>) -> tensor<64xui32>
    %3 = stablehlo.shift_left %0, %2 : tensor<64xui32>
    %4 = stablehlo.popcnt %3 : tensor<64xui32>
    %5 = stablehlo.count_leading_zeros %3 : tensor<64xui32>
    %6 = stablehlo.add %4, %5 : tensor<64xui32>
    %c_0 = stablehlo.constant dense<3> : tensor<ui32>
    %7 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui32>) -> tensor<64xui32>
    %8 = stablehlo.shift_right_logical %3, %7 : tensor<64xui32>
    %9 = stablehlo.add %6, %8 : tensor<64xui32>
    %10 = stablehlo.convert %9 : (tensor<64xui32>) -> tensor<64xi32>
    %c_1 = stablehlo.constant dense<2> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<64xi32>
    %12 = stablehlo.shift_right_arithmetic %arg0, %11 : tensor<64xi32>
    %13 = stablehlo.add %10, %12 : tensor<64xi32>
    %14 = stablehlo.convert %arg0 : (tensor<64xi32>) -> tensor<64xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %16 = stablehlo.add %15, %14 : tensor<64xf32>
    %17 = stablehlo.bitcast_convert %16 : (tensor<64xf32>) -> tensor<64xi32>
    %18 = stablehlo.add %13, %17 : tensor<64xi32>
    return %18 : tensor<64xi32>
  }
  func.func private @remainder(%arg0: tensor<64xi32>, %arg1: tensor<i32>) -> tensor<64xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = call @_where(%1, %c_0, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<64xi32>
    %4 = stablehlo.remainder %arg0, %3 : tensor<64xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<64xi32>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<64xi32>
    %8 = stablehlo.compare LT, %4, %7, SIGNED : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i1>) -> tensor<64xi1>
    %11 = stablehlo.compare NE, %8, %10, UNSIGNED : (tensor<64xi1>, tensor<64xi1>) -> tensor<64xi1>
    %12 = stablehlo.and %11, %6 : tensor<64xi1>
    %13 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<64xi32>
    %14 = stablehlo.add %4, %13 : tensor<64xi32>
    %15 = stablehlo.select %12, %14, %4 : tensor<64xi1>, tensor<64xi32>
    return %15 : tensor<64xi32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
}
