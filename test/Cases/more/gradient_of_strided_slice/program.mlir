module @jit_gradient_of_strided_slice attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=8]> {stablehlo.mesh = {axes = [{name = "batch", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) -> (tensor<64x8xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) {
    %0 = stablehlo.slice %arg0 [0:64:3, 0:8] : (tensor<64x8xf32>) -> tensor<22x8xf32>
    %1 = stablehlo.cosine %0 : tensor<22x8xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<22x8xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<22x8xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<22x8xf32>
    %5 = stablehlo.multiply %4, %1 : tensor<22x8xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.pad %5, %cst_1, low = [0, 0], high = [0, 0], interior = [2, 0] : (tensor<22x8xf32>, tensor<f32>) -> tensor<64x8xf32>
    return %6 : tensor<64x8xf32>
  }
}
