module @jit_forward attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<40x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<40x24xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0 = call @_roll_static(%arg0) : (tensor<40x24xf32>) -> tensor<40x24xf32>
    %1 = call @_flip(%arg0) : (tensor<40x24xf32>) -> tensor<40x24xf32>
    %2 = stablehlo.add %0, %1 : tensor<40x24xf32>
    return %2 : tensor<40x24xf32>
  }
  func.func private @_roll_static(%arg0: tensor<40x24xf32>) -> tensor<40x24xf32> {
    %0 = stablehlo.slice %arg0 [33:40, 0:24] : (tensor<40x24xf32>) -> tensor<7x24xf32>
    %1 = stablehlo.slice %arg0 [0:33, 0:24] : (tensor<40x24xf32>) -> tensor<33x24xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<7x24xf32>, tensor<33x24xf32>) -> tensor<40x24xf32>
    return %2 : tensor<40x24xf32>
  }
  func.func private @_flip(%arg0: tensor<40x24xf32>) -> tensor<40x24xf32> {
    %0 = stablehlo.reverse %arg0, dims = [0] : tensor<40x24xf32>
    return %0 : tensor<40x24xf32>
  }
}
