module @jit_roll_both_dims attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "batch", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<32x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}) -> (tensor<32x24xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}) {
    %0 = call @_roll_static(%arg0) : (tensor<32x24xf32>) -> tensor<32x24xf32>
    %1 = stablehlo.add %0, %arg0 : tensor<32x24xf32>
    return %1 : tensor<32x24xf32>
  }
  func.func private @_roll_static(%arg0: tensor<32x24xf32>) -> tensor<32x24xf32> {
    %0 = stablehlo.slice %arg0 [27:32, 0:24] : (tensor<32x24xf32>) -> tensor<5x24xf32>
    %1 = stablehlo.slice %arg0 [0:27, 0:24] : (tensor<32x24xf32>) -> tensor<27x24xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<5x24xf32>, tensor<27x24xf32>) -> tensor<32x24xf32>
    %3 = stablehlo.slice %2 [0:32, 7:24] : (tensor<32x24xf32>) -> tensor<32x17xf32>
    %4 = stablehlo.slice %2 [0:32, 0:7] : (tensor<32x24xf32>) -> tensor<32x7xf32>
    %5 = stablehlo.concatenate %3, %4, dim = 1 : (tensor<32x17xf32>, tensor<32x7xf32>) -> tensor<32x24xf32>
    return %5 : tensor<32x24xf32>
  }
}
