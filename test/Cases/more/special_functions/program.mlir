module @jit_special_functions attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "batch", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<32x48xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}) -> (tensor<32x48xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}) {
    %0 = chlo.lgamma %arg0 : tensor<32x48xf32> -> tensor<32x48xf32>
    %1 = chlo.digamma %arg0 : tensor<32x48xf32> -> tensor<32x48xf32>
    %2 = stablehlo.add %0, %1 : tensor<32x48xf32>
    %3 = chlo.erf_inv %arg0 : tensor<32x48xf32> -> tensor<32x48xf32>
    %4 = stablehlo.add %2, %3 : tensor<32x48xf32>
    %5 = chlo.erfc %arg0 : tensor<32x48xf32> -> tensor<32x48xf32>
    %6 = stablehlo.add %4, %5 : tensor<32x48xf32>
    %7 = stablehlo.tan %arg0 : tensor<32x48xf32>
    %8 = stablehlo.add %6, %7 : tensor<32x48xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x48xf32>
    %10 = stablehlo.subtract %9, %arg0 : tensor<32x48xf32>
    %11 = stablehlo.atan2 %arg0, %10 : tensor<32x48xf32>
    %12 = stablehlo.add %8, %11 : tensor<32x48xf32>
    %13 = chlo.lgamma %arg0 : tensor<32x48xf32> -> tensor<32x48xf32>
    %14 = stablehlo.add %12, %13 : tensor<32x48xf32>
    return %14 : tensor<32x48xf32>
  }
}
