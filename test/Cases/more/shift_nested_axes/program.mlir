module @jit_shift_nested_axes attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> (tensor<64x8xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = call @_pad(%arg0, %c) : (tensor<64x8xf32>, tensor<i32>) -> tensor<69x8xf32>
    %1 = stablehlo.slice %0 [0:64, 0:8] : (tensor<69x8xf32>) -> tensor<64x8xf32>
    %2 = stablehlo.add %1, %arg0 : tensor<64x8xf32>
    return %2 : tensor<64x8xf32>
  }
  func.func private @_pad(%arg0: tensor<64x8xf32>, %arg1: tensor<i32>) -> tensor<69x8xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.pad %arg0, %0, low = [5, 0], high = [0, 0], interior = [0, 0] : (tensor<64x8xf32>, tensor<f32>) -> tensor<69x8xf32>
    return %1 : tensor<69x8xf32>
  }
}
