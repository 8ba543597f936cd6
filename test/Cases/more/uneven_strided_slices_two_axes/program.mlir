module @jit_uneven_strided_slices_two_axes attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "batch", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<30x42xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<39x12xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = call @_pad(%arg0, %c) : (tensor<30x42xf32>, tensor<i32>) -> tensor<33x45xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"batch"}, {"model"}]> : tensor<33x45xf32>
    %2 = stablehlo.slice %1 [0:33, 5:40:3] : (tensor<33x45xf32>) -> tensor<33x12xf32>
    %3 = stablehlo.reverse %2, dims = [0] : tensor<33x12xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<33x12xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<33x12xf32>
    %6 = sdy.sharding_constraint %5 <@mesh, [{"model"}, {"batch"}]> : tensor<33x12xf32>
    %7 = stablehlo.slice %6 [3:9, 0:12] : (tensor<33x12xf32>) -> tensor<6x12xf32>
    %8 = stablehlo.concatenate %6, %7, dim = 0 : (tensor<33x12xf32>, tensor<6x12xf32>) -> tensor<39x12xf32>
    return %8 : tensor<39x12xf32>
  }
  func.func private @_pad(%arg0: tensor<30x42xf32>, %arg1: tensor<i32>) -> tensor<33x45xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.pad %arg0, %0, low = [1, 3], high = [2, 0], interior = [0, 0] : (tensor<30x42xf32>, tensor<f32>) -> tensor<33x45xf32>
    return %1 : tensor<33x45xf32>
  }
}
