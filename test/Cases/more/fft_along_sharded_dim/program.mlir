module @jit_fft_along_sharded_dim attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=8]> {stablehlo.mesh = {axes = [{name = "batch", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) -> (tensor<64x16xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %1 = call @fft(%0) : (tensor<16x64xf32>) -> tensor<16x64xcomplex<f32>>
    %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<16x64xcomplex<f32>>) -> tensor<64x16xcomplex<f32>>
    %3 = stablehlo.abs %2 : (tensor<64x16xcomplex<f32>>) -> tensor<64x16xf32>
    return %3 : tensor<64x16xf32>
  }
  func.func private @fft(%arg0: tensor<16x64xf32>) -> tensor<16x64xcomplex<f32>> {
    %0 = stablehlo.convert %arg0 : (tensor<16x64xf32>) -> tensor<16x64xcomplex<f32>>
    %1 = stablehlo.fft %0, type = FFT, length = [64] : (tensor<16x64xcomplex<f32>>) -> tensor<16x64xcomplex<f32>>
    return %1 : tensor<16x64xcomplex<f32>>
  }
}
