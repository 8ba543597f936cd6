module @jit_sort_two_keys_in_blocks attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<1024xi32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<1024xi32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<1024xi32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    %cst = stablehlo.constant dense<9.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<1024xf32>
    %2 = stablehlo.convert %1 : (tensor<1024xf32>) -> tensor<1024xi32>
    %cst_0 = stablehlo.constant dense<6.000000e+01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %4 = stablehlo.multiply %arg1, %3 : tensor<1024xf32>
    %5 = stablehlo.convert %4 : (tensor<1024xf32>) -> tensor<1024xi32>
    %6 = stablehlo.iota dim = 0 : tensor<1024xi32>
    %7:3 = "stablehlo.sort"(%2, %5, %6) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<i32>, %arg5: tensor<i32>, %arg6: tensor<i32>, %arg7: tensor<i32>):
      %8 = stablehlo.compare LT, %arg4, %arg5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %9 = stablehlo.compare LT, %arg2, %arg3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %10 = stablehlo.compare EQ, %arg2, %arg3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %11 = stablehlo.and %10, %8 : tensor<i1>
      %12 = stablehlo.or %9, %11 : tensor<i1>
      stablehlo.return %12 : tensor<i1>
    }) : (tensor<1024xi32>, tensor<1024xi32>, tensor<1024xi32>) -> (tensor<1024xi32>, tensor<1024xi32>, tensor<1024xi32>)
    return %7#0, %7#1, %7#2 : tensor<1024xi32>, tensor<1024xi32>, tensor<1024xi32>
  }
}
