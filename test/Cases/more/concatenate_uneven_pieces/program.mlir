module @jit_concatenate_uneven_pieces attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "batch", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x30xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}, %arg1: tensor<24x30xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}, %arg2: tensor<16x30xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<44x30xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) {
    %0 = stablehlo.slice %arg0 [0:5, 0:30] : (tensor<8x30xf32>) -> tensor<5x30xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"batch"}, {}]> : tensor<5x30xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x30xf32>
    %3 = stablehlo.multiply %arg2, %2 : tensor<16x30xf32>
    %4 = stablehlo.concatenate %1, %arg1, %3, dim = 0 : (tensor<5x30xf32>, tensor<24x30xf32>, tensor<16x30xf32>) -> tensor<45x30xf32>
    %5 = stablehlo.slice %4 [0:44, 0:30] : (tensor<45x30xf32>) -> tensor<44x30xf32>
    return %5 : tensor<44x30xf32>
  }
}
