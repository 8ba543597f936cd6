module @jit_ranks_in_blocks attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<i32> {jax.result_info = "result[0]"}, tensor<i32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<1.000000e+06> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<4096xf32>
    %2 = stablehlo.convert %1 : (tensor<4096xf32>) -> tensor<4096xi32>
    %3 = call @sort(%2) : (tensor<4096xi32>) -> tensor<4096xi32>
    %4 = stablehlo.slice %3 [1:4096] : (tensor<4096xi32>) -> tensor<4095xi32>
    %5 = stablehlo.slice %3 [0:4095] : (tensor<4096xi32>) -> tensor<4095xi32>
    %6 = stablehlo.compare EQ, %4, %5, SIGNED : (tensor<4095xi32>, tensor<4095xi32>) -> tensor<4095xi1>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %7 = call @_where(%6, %c, %c_0) : (tensor<4095xi1>, tensor<i32>, tensor<i32>) -> tensor<4095xi32>
    %8 = stablehlo.convert %7 : tensor<4095xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.reduce(%8 init: %c_1) applies stablehlo.add across dimensions = [0] : (tensor<4095xi32>, tensor<i32>) -> tensor<i32>
    %10 = stablehlo.slice %3 [2048:2049] : (tensor<4096xi32>) -> tensor<1xi32>
    %11 = stablehlo.reshape %10 : (tensor<1xi32>) -> tensor<i32>
    return %9, %11 : tensor<i32>, tensor<i32>
  }
  func.func private @sort(%arg0: tensor<4096xi32>) -> tensor<4096xi32> {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>):
      %1 = stablehlo.compare LT, %arg1, %arg2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<4096xi32>) -> tensor<4096xi32>
    return %0 : tensor<4096xi32>
  }
  func.func private @_where(%arg0: tensor<4095xi1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<4095xi32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<i32>) -> tensor<4095xi32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<i32>) -> tensor<4095xi32>
    %2 = stablehlo.select %arg0, %0, %1 : tensor<4095xi1>, tensor<4095xi32>
    return %2 : tensor<4095xi32>
  }
}
