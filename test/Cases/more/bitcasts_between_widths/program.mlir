module @jit_bitcasts_between_widths attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["y"=4, "z"=2]> {stablehlo.mesh = {axes = [{name = "y", size = 4 : i64}, {name = "z", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<16x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"z"}]>}) -> (tensor<16x2xi32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, tensor<16x12xi32> {jax.result_info = "result[1]"}, tensor<16x12xi32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{"z"}, {}]>}) {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<16x12xf32>) -> tensor<16x12x2xui16>
    %1 = stablehlo.convert %arg0 : (tensor<16x12xf32>) -> tensor<16x12xbf16>
    %2 = stablehlo.bitcast_convert %1 : (tensor<16x12xbf16>) -> tensor<16x12x2xui8>
    %3 = stablehlo.reverse %0, dims = [0, 2] : tensor<16x12x2xui16>
    %4 = stablehlo.bitcast_convert %3 : (tensor<16x12x2xui16>) -> tensor<16x12xi32>
    %5 = stablehlo.convert %0 : (tensor<16x12x2xui16>) -> tensor<16x12x2xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.reduce(%5 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<16x12x2xi32>, tensor<i32>) -> tensor<16x2xi32>
    %7 = stablehlo.slice %2 [0:16, 0:12, 1:2] : (tensor<16x12x2xui8>) -> tensor<16x12x1xui8>
    %8 = stablehlo.reshape %7 : (tensor<16x12x1xui8>) -> tensor<16x12xui8>
    %9 = stablehlo.convert %8 : (tensor<16x12xui8>) -> tensor<16x12xi32>
    return %6, %9, %4 : tensor<16x2xi32>, tensor<16x12xi32>, tensor<16x12xi32>
  }
}
