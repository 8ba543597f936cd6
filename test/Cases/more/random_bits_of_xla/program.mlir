module @jit_random_bits_of_xla attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<16xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<8x6xi32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<5x3xi32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<4xi32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<7xi32> {jax.result_info = "result[3]", sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    %c = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xui32>
    %0 = stablehlo.slice %arg0 [0:1] : (tensor<16xi32>) -> tensor<1xi32>
    %1 = stablehlo.reshape %0 : (tensor<1xi32>) -> tensor<i32>
    %2 = stablehlo.convert %1 : (tensor<i32>) -> tensor<ui32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<ui32>) -> tensor<4xui32>
    %4 = stablehlo.add %c, %3 : tensor<4xui32>
    %5 = stablehlo.reshape %4 : (tensor<4xui32>) -> tensor<2x2xui32>
    %6 = stablehlo.bitcast_convert %5 : (tensor<2x2xui32>) -> tensor<2xui64>
    %output_state, %output = stablehlo.rng_bit_generator %6, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8x6xui32>)
    %7 = stablehlo.bitcast_convert %output_state : (tensor<2xui64>) -> tensor<2x2xui32>
    %8 = stablehlo.reshape %7 : (tensor<2x2xui32>) -> tensor<4xui32>
    %9 = stablehlo.reshape %4 : (tensor<4xui32>) -> tensor<2x2xui32>
    %10 = stablehlo.bitcast_convert %9 : (tensor<2x2xui32>) -> tensor<2xui64>
    %output_state_0, %output_1 = stablehlo.rng_bit_generator %10, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5x3xui32>)
    %11 = stablehlo.bitcast_convert %output_state_0 : (tensor<2xui64>) -> tensor<2x2xui32>
    %12 = stablehlo.reshape %11 : (tensor<2x2xui32>) -> tensor<4xui32>
    %13 = stablehlo.reshape %4 : (tensor<4xui32>) -> tensor<2x2xui32>
    %14 = stablehlo.bitcast_convert %13 : (tensor<2x2xui32>) -> tensor<2xui64>
    %output_state_2, %output_3 = stablehlo.rng_bit_generator %14, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<7xui8>)
    %15 = stablehlo.bitcast_convert %output_state_2 : (tensor<2xui64>) -> tensor<2x2xui32>
    %16 = stablehlo.reshape %15 : (tensor<2x2xui32>) -> tensor<4xui32>
    %17 = stablehlo.convert %output : (tensor<8x6xui32>) -> tensor<8x6xi32>
    %18 = stablehlo.convert %output_1 : (tensor<5x3xui32>) -> tensor<5x3xi32>
    %19 = stablehlo.convert %8 : (tensor<4xui32>) -> tensor<4xi32>
    %20 = stablehlo.convert %12 : (tensor<4xui32>) -> tensor<4xi32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %21 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %22 = stablehlo.multiply %20, %21 : tensor<4xi32>
    %23 = stablehlo.add %19, %22 : tensor<4xi32>
    %24 = stablehlo.convert %output_3 : (tensor<7xui8>) -> tensor<7xi32>
    return %17, %18, %23, %24 : tensor<8x6xi32>, tensor<5x3xi32>, tensor<4xi32>, tensor<7xi32>
  }
}
