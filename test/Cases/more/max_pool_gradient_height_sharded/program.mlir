module @jit_max_pool_gradient_height_sharded attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=8]> {stablehlo.mesh = {axes = [{name = "batch", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<4x32x16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"batch"}, {}, {}]>}, %arg1: tensor<4x16x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"batch"}, {}, {}]>}) -> (tensor<4x32x16x8xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {"batch"}, {}, {}]>}) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.pad %arg0, %cst, low = [0, 0, 0, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<4x32x16x8xf32>, tensor<f32>) -> tensor<4x32x16x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = "stablehlo.select_and_scatter"(%0, %arg1, %cst_0) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %3 = stablehlo.compare GE, %arg2, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    }, {
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %3 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<4x32x16x8xf32>, tensor<4x16x8x8xf32>, tensor<f32>) -> tensor<4x32x16x8xf32>
    %2 = stablehlo.slice %1 [0:4, 0:32, 0:16, 0:8] : (tensor<4x32x16x8xf32>) -> tensor<4x32x16x8xf32>
    return %2 : tensor<4x32x16x8xf32>
  }
}
