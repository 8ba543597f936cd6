module @jit_reverse_of_a_sum attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<16x8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>}) -> (tensor<16x8x8xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg0, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<16x8x32xf32>, tensor<16x8x32xf32>) -> tensor<16x8x8xf32>
    %1 = call @_flip(%0) : (tensor<16x8x8xf32>) -> tensor<16x8x8xf32>
    return %1 : tensor<16x8x8xf32>
  }
  func.func private @_flip(%arg0: tensor<16x8x8xf32>) -> tensor<16x8x8xf32> {
    %0 = stablehlo.reverse %arg0, dims = [0] : tensor<16x8x8xf32>
    return %0 : tensor<16x8x8xf32>
  }
}
