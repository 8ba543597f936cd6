module @jit_space_to_depth attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["model"=8]> {stablehlo.mesh = {axes = [{name = "model", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<8x8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}) -> (tensor<32x32xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) {
    %0 = stablehlo.reshape %arg0 : (tensor<8x8x16xf32>) -> tensor<4x2x8x16xf32>
    %1 = stablehlo.transpose %0, dims = [0, 2, 1, 3] : (tensor<4x2x8x16xf32>) -> tensor<4x8x2x16xf32>
    %2 = stablehlo.reshape %1 : (tensor<4x8x2x16xf32>) -> tensor<32x32xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<32x32xf32>
    return %4 : tensor<32x32xf32>
  }
}
