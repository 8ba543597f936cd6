module @jit_stride_and_tile attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=8]> {stablehlo.mesh = {axes = [{name = "batch", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<40x9xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) -> (tensor<16x9xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) {
    %0 = stablehlo.slice %arg0 [0:40:5, 0:9] : (tensor<40x9xf32>) -> tensor<8x9xf32>
    %1 = stablehlo.reshape %0 : (tensor<8x9xf32>) -> tensor<1x8x1x9xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<1x8x1x9xf32>) -> tensor<3x8x1x9xf32>
    %3 = stablehlo.reshape %2 : (tensor<3x8x1x9xf32>) -> tensor<24x9xf32>
    %4 = stablehlo.slice %3 [0:16, 0:9] : (tensor<24x9xf32>) -> tensor<16x9xf32>
    %5 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<40x9xf32>) -> tensor<40x2x9xf32>
    %6 = stablehlo.reshape %5 : (tensor<40x2x9xf32>) -> tensor<80x9xf32>
    %7 = stablehlo.slice %6 [8:24, 0:9] : (tensor<80x9xf32>) -> tensor<16x9xf32>
    %8 = stablehlo.add %4, %7 : tensor<16x9xf32>
    return %8 : tensor<16x9xf32>
  }
}
