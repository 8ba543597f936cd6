module @jit_pad_interior_and_negative attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=8]> {stablehlo.mesh = {axes = [{name = "batch", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<64x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) -> (tensor<128x9xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0 = stablehlo.pad %arg0, %cst, low = [5, 1], high = [3, -2], interior = [1, 0] : (tensor<64x10xf32>, tensor<f32>) -> tensor<135x9xf32>
    %1 = stablehlo.slice %0 [0:128, 0:9] : (tensor<135x9xf32>) -> tensor<128x9xf32>
    return %1 : tensor<128x9xf32>
  }
}
