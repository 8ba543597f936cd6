module @jit_sort_small_blocks attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<256x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<256x2xi16> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %cst = stablehlo.constant dense<1.000000e+02> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<256x2xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<256x2xf32>
    %2 = stablehlo.convert %1 : (tensor<256x2xf32>) -> tensor<256x2xi16>
    %3 = call @sort(%2) : (tensor<256x2xi16>) -> tensor<256x2xi16>
    return %3 : tensor<256x2xi16>
  }
  func.func private @sort(%arg0: tensor<256x2xi16>) -> tensor<256x2xi16> {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<i16>, %arg2: tensor<i16>):
      %1 = stablehlo.compare LT, %arg1, %arg2, SIGNED : (tensor<i16>, tensor<i16>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<256x2xi16>) -> tensor<256x2xi16>
    return %0 : tensor<256x2xi16>
  }
}
