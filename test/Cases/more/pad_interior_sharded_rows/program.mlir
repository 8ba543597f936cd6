module @jit_pad_interior_sharded_rows attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=8]> {stablehlo.mesh = {axes = [{name = "batch", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) -> (tensor<128x8xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) {
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %0 = stablehlo.pad %arg0, %cst, low = [2, 0], high = [1, 0], interior = [1, 0] : (tensor<64x8xf32>, tensor<f32>) -> tensor<130x8xf32>
    %1 = stablehlo.slice %0 [0:128, 0:8] : (tensor<130x8xf32>) -> tensor<128x8xf32>
    return %1 : tensor<128x8xf32>
  }
}
