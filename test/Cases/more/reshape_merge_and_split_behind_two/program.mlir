module @jit_reshape_merge_and_split_behind_two attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["model"=8]> {stablehlo.mesh = {axes = [{name = "model", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<8x4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}) -> (tensor<8x4x16xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}) {
    %0 = stablehlo.reshape %arg0 : (tensor<8x4x16xf32>) -> tensor<32x16xf32>
    %1 = stablehlo.sine %0 : tensor<32x16xf32>
    %2 = stablehlo.reshape %1 : (tensor<32x16xf32>) -> tensor<2x16x16xf32>
    %3 = stablehlo.transpose %2, dims = [1, 0, 2] : (tensor<2x16x16xf32>) -> tensor<16x2x16xf32>
    %4 = stablehlo.reshape %3 : (tensor<16x2x16xf32>) -> tensor<16x32xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %6 = stablehlo.dot_general %4, %5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
    %7 = stablehlo.reshape %6 : (tensor<16x16xf32>) -> tensor<8x2x16xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 3] : (tensor<8x2x16xf32>) -> tensor<8x2x2x16xf32>
    %9 = stablehlo.reshape %8 : (tensor<8x2x2x16xf32>) -> tensor<8x4x16xf32>
    return %9 : tensor<8x4x16xf32>
  }
}
