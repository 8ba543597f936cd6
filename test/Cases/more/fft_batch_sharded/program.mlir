module @jit_fft_batch_sharded attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=8]> {stablehlo.mesh = {axes = [{name = "batch", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) -> (tensor<16x64xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) {
    %0 = call @fft(%arg0) : (tensor<16x64xf32>) -> tensor<16x33xcomplex<f32>>
    %1 = stablehlo.real %0 : (tensor<16x33xcomplex<f32>>) -> tensor<16x33xf32>
    %2 = stablehlo.imag %0 : (tensor<16x33xcomplex<f32>>) -> tensor<16x33xf32>
    %3 = stablehlo.negate %2 : tensor<16x33xf32>
    %4 = stablehlo.complex %1, %3 : tensor<16x33xcomplex<f32>>
    %5 = stablehlo.multiply %0, %4 : tensor<16x33xcomplex<f32>>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = call @_pad(%5, %c) : (tensor<16x33xcomplex<f32>>, tensor<i32>) -> tensor<16x33xcomplex<f32>>
    %7 = call @fft_0(%6) : (tensor<16x33xcomplex<f32>>) -> tensor<16x64xf32>
    return %7 : tensor<16x64xf32>
  }
  func.func private @fft(%arg0: tensor<16x64xf32>) -> tensor<16x33xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [64] : (tensor<16x64xf32>) -> tensor<16x33xcomplex<f32>>
    return %0 : tensor<16x33xcomplex<f32>>
  }
  func.func private @_pad(%arg0: tensor<16x33xcomplex<f32>>, %arg1: tensor<i32>) -> tensor<16x33xcomplex<f32>> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<complex<f32>>
    %1 = stablehlo.pad %arg0, %0, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<16x33xcomplex<f32>>, tensor<complex<f32>>) -> tensor<16x33xcomplex<f32>>
    return %1 : tensor<16x33xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<16x33xcomplex<f32>>) -> tensor<16x64xf32> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [64] : (tensor<16x33xcomplex<f32>>) -> tensor<16x64xf32>
    return %0 : tensor<16x64xf32>
  }
}
