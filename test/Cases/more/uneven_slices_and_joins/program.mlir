module @jit_uneven_slices_and_joins attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=8]> {stablehlo.mesh = {axes = [{name = "batch", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<50x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<56x6xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %0 = stablehlo.slice %arg0 [0:45, 0:6] : (tensor<50x6xf32>) -> tensor<45x6xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<45x6xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<45x6xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{"batch"}, {}]> : tensor<45x6xf32>
    %4 = stablehlo.slice %3 [40:45, 0:6] : (tensor<45x6xf32>) -> tensor<5x6xf32>
    %5 = stablehlo.slice %arg0 [0:3, 0:6] : (tensor<50x6xf32>) -> tensor<3x6xf32>
    %6 = stablehlo.concatenate %4, %3, %5, dim = 0 : (tensor<5x6xf32>, tensor<45x6xf32>, tensor<3x6xf32>) -> tensor<53x6xf32>
    %7 = sdy.sharding_constraint %6 <@mesh, [{"batch"}, {}]> : tensor<53x6xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %8 = call @_pad(%7, %c) : (tensor<53x6xf32>, tensor<i32>) -> tensor<56x6xf32>
    %9 = stablehlo.reverse %8, dims = [0] : tensor<56x6xf32>
    %cst_0 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<56x6xf32>
    %11 = stablehlo.multiply %9, %10 : tensor<56x6xf32>
    return %11 : tensor<56x6xf32>
  }
  func.func private @_pad(%arg0: tensor<53x6xf32>, %arg1: tensor<i32>) -> tensor<56x6xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.pad %arg0, %0, low = [1, 0], high = [2, 0], interior = [0, 0] : (tensor<53x6xf32>, tensor<f32>) -> tensor<56x6xf32>
    return %1 : tensor<56x6xf32>
  }
}
