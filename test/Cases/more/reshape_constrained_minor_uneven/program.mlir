module @jit_reshape_constrained_minor_uneven attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["model"=8]> {stablehlo.mesh = {axes = [{name = "model", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<2x20x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) -> (tensor<4xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    %0 = stablehlo.reshape %arg0 : (tensor<2x20x12xf32>) -> tensor<40x12xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"model"}, {}]> : tensor<40x12xf32>
    %2 = stablehlo.exponential %1 : tensor<40x12xf32>
    %3 = stablehlo.reshape %2 : (tensor<40x12xf32>) -> tensor<4x10x12xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [1, 2] : (tensor<4x10x12xf32>, tensor<f32>) -> tensor<4xf32>
    return %4 : tensor<4xf32>
  }
}
