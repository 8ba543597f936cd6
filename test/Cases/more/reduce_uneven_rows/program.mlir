module @jit_reduce_uneven_rows attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<50x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<6xf32> {jax.result_info = "result[0]"}, tensor<6xf32> {jax.result_info = "result[1]"}) {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {}]> : tensor<50x6xf32>
    %cst = stablehlo.constant dense<3.000000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<50x6xf32>
    %2 = stablehlo.multiply %1, %0 : tensor<50x6xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<50x6xf32>
    %4 = stablehlo.add %3, %2 : tensor<50x6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5:2 = stablehlo.reduce(%2 init: %cst_1), (%4 init: %cst_2) across dimensions = [0] : (tensor<50x6xf32>, tensor<50x6xf32>, tensor<f32>, tensor<f32>) -> (tensor<6xf32>, tensor<6xf32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<f32>, %arg4: tensor<f32>)  {
      %6 = stablehlo.abs %arg1 : tensor<f32>
      %7 = stablehlo.abs %arg3 : tensor<f32>
      %8 = stablehlo.compare GE, %6, %7, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %9 = func.call @_where(%8, %arg1, %arg3) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %10 = stablehlo.multiply %arg2, %arg4 : tensor<f32>
      stablehlo.return %9, %10 : tensor<f32>, tensor<f32>
    }
    return %5#0, %5#1 : tensor<6xf32>, tensor<6xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<f32>
    return %0 : tensor<f32>
  }
}
