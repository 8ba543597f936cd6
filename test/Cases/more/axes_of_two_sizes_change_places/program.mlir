module @jit_explicit_mode_mlp attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<32x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> (tensor<16x24xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xf32>, tensor<32x24xf32>) -> tensor<16x24xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {"y"}]> : tensor<16x24xf32>
    %2 = stablehlo.tanh %1 : tensor<16x24xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{"x"}, {"y"}]> : tensor<16x24xf32>
    %4 = sdy.sharding_constraint %3 <@mesh, [{"y"}, {"x"}]> : tensor<16x24xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x24xf32>
    %6 = sdy.sharding_constraint %5 <@mesh, [{"y"}, {"x"}]> : tensor<16x24xf32>
    %7 = stablehlo.multiply %4, %6 : tensor<16x24xf32>
    %8 = sdy.sharding_constraint %7 <@mesh, [{"y"}, {"x"}]> : tensor<16x24xf32>
    return %8 : tensor<16x24xf32>
  }
}
