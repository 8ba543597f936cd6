module @jit__lambda attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<30x22xf32>) -> (tensor<30x22xf32> {jax.result_info = "result[0]"}, tensor<30x22xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<30x22xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<30x22xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{"x"}, {"y"}]> : tensor<30x22xf32>
    %3 = call @_roll_static(%2) : (tensor<30x22xf32>) -> tensor<30x22xf32>
    %4 = stablehlo.add %3, %2 : tensor<30x22xf32>
    %5 = sdy.sharding_constraint %4 <@mesh, [{"x"}, {"y"}]> : tensor<30x22xf32>
    %6 = call @_flip(%2) : (tensor<30x22xf32>) -> tensor<30x22xf32>
    %7 = sdy.sharding_constraint %6 <@mesh, [{"x"}, {"y"}]> : tensor<30x22xf32>
    return %5, %7 : tensor<30x22xf32>, tensor<30x22xf32>
  }
  func.func private @_roll_static(%arg0: tensor<30x22xf32>) -> tensor<30x22xf32> {
    %0 = stablehlo.slice %arg0 [23:30, 0:22] : (tensor<30x22xf32>) -> tensor<7x22xf32>
    %1 = stablehlo.slice %arg0 [0:23, 0:22] : (tensor<30x22xf32>) -> tensor<23x22xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<7x22xf32>, tensor<23x22xf32>) -> tensor<30x22xf32>
    return %2 : tensor<30x22xf32>
  }
  func.func private @_flip(%arg0: tensor<30x22xf32>) -> tensor<30x22xf32> {
    %0 = stablehlo.reverse %arg0, dims = [1] : tensor<30x22xf32>
    return %0 : tensor<30x22xf32>
  }
}
