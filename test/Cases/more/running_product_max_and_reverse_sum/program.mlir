module @jit_running_product_max_and_reverse_sum attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=8]> {stablehlo.mesh = {axes = [{name = "batch", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<64x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) -> (tensor<64x6xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}, tensor<64x6xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}, tensor<64x6xf32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) {
    %cst = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64x6xf32>
    %1 = stablehlo.multiply %0, %arg0 : tensor<64x6xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<64x6xf32>
    %3 = stablehlo.add %2, %1 : tensor<64x6xf32>
    %4 = call @cumprod(%3) : (tensor<64x6xf32>) -> tensor<64x6xf32>
    %5 = call @cummax(%arg0) : (tensor<64x6xf32>) -> tensor<64x6xf32>
    %6 = call @cumsum(%arg0) : (tensor<64x6xf32>) -> tensor<64x6xf32>
    return %4, %5, %6 : tensor<64x6xf32>, tensor<64x6xf32>, tensor<64x6xf32>
  }
  func.func private @cumprod(%arg0: tensor<64x6xf32>) -> tensor<64x6xf32> {
    %0 = call @cumprod_0(%arg0) : (tensor<64x6xf32>) -> tensor<64x6xf32>
    return %0 : tensor<64x6xf32>
  }
  func.func private @cumprod_0(%arg0: tensor<64x6xf32>) -> tensor<64x6xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%arg0, %cst) <{base_dilations = array<i64: 1, 1>, padding = dense<[[63, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 64, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %1 = stablehlo.multiply %arg1, %arg2 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<64x6xf32>, tensor<f32>) -> tensor<64x6xf32>
    return %0 : tensor<64x6xf32>
  }
  func.func private @cummax(%arg0: tensor<64x6xf32>) -> tensor<64x6xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[63, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 64, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<64x6xf32>, tensor<f32>) -> tensor<64x6xf32>
    return %1 : tensor<64x6xf32>
  }
  func.func private @cumsum(%arg0: tensor<64x6xf32>) -> tensor<64x6xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 63], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 64, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<64x6xf32>, tensor<f32>) -> tensor<64x6xf32>
    return %1 : tensor<64x6xf32>
  }
}
