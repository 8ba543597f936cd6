module @jit_complex_products attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=8]> {stablehlo.mesh = {axes = [{name = "batch", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<64x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}, %arg1: tensor<64x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) -> (tensor<6xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<64x6xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) {
    %0 = stablehlo.complex %arg0, %arg1 : tensor<64x6xcomplex<f32>>
    %1 = stablehlo.exponential %0 : tensor<64x6xcomplex<f32>>
    %2 = stablehlo.multiply %0, %1 : tensor<64x6xcomplex<f32>>
    %cst = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<64x6xcomplex<f32>>, tensor<complex<f32>>) -> tensor<6xcomplex<f32>>
    %4 = stablehlo.real %3 : (tensor<6xcomplex<f32>>) -> tensor<6xf32>
    %5 = stablehlo.imag %2 : (tensor<64x6xcomplex<f32>>) -> tensor<64x6xf32>
    %6 = stablehlo.abs %0 : (tensor<64x6xcomplex<f32>>) -> tensor<64x6xf32>
    %7 = stablehlo.add %5, %6 : tensor<64x6xf32>
    return %4, %7 : tensor<6xf32>, tensor<64x6xf32>
  }
}
