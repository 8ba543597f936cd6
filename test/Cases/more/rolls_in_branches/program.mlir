module @jit__lambda attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<16x32xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, tensor<16x32xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x32xf32>, tensor<f32>) -> tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.compare GT, %0, %cst_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.convert %1 : (tensor<i1>) -> tensor<i32>
    %3 = "stablehlo.case"(%2) ({
      %6 = stablehlo.reverse %arg0, dims = [1] : tensor<16x32xf32>
      stablehlo.return %6 : tensor<16x32xf32>
    }, {
      %6 = func.call @_roll_static(%arg0) : (tensor<16x32xf32>) -> tensor<16x32xf32>
      stablehlo.return %6 : tensor<16x32xf32>
    }) : (tensor<i32>) -> tensor<16x32xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %c_2 = stablehlo.constant dense<1> : tensor<i32>
    %4 = stablehlo.clamp %c, %c_1, %c_2 : tensor<i32>
    %5 = "stablehlo.case"(%4) ({
      %6 = stablehlo.sine %arg0 : tensor<16x32xf32>
      stablehlo.return %6 : tensor<16x32xf32>
    }, {
      %6 = func.call @_flip(%arg0) : (tensor<16x32xf32>) -> tensor<16x32xf32>
      stablehlo.return %6 : tensor<16x32xf32>
    }) : (tensor<i32>) -> tensor<16x32xf32>
    return %3, %5 : tensor<16x32xf32>, tensor<16x32xf32>
  }
  func.func private @_roll_static(%arg0: tensor<16x32xf32>) -> tensor<16x32xf32> {
    %0 = stablehlo.slice %arg0 [0:16, 30:32] : (tensor<16x32xf32>) -> tensor<16x2xf32>
    %1 = stablehlo.slice %arg0 [0:16, 0:30] : (tensor<16x32xf32>) -> tensor<16x30xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<16x2xf32>, tensor<16x30xf32>) -> tensor<16x32xf32>
    return %2 : tensor<16x32xf32>
  }
  func.func private @_flip(%arg0: tensor<16x32xf32>) -> tensor<16x32xf32> {
    %0 = stablehlo.reverse %arg0, dims = [0] : tensor<16x32xf32>
    return %0 : tensor<16x32xf32>
  }
}
