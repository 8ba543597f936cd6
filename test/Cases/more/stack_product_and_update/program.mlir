module @jit_stack_product_and_update attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["y"=2, "z"=4]> {stablehlo.mesh = {axes = [{name = "y", size = 2 : i64}, {name = "z", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x16x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}, {"y"}, {}, {}]>}, %arg1: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"z"}]>}, %arg2: tensor<2x8x4x8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"y"}, {}]>}, %arg3: tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, []>}) -> (tensor<2x8x16x8x32xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.negate %arg0 : tensor<8x16x8x8xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2, 3, 4] : (tensor<8x16x8x8xf32>) -> tensor<1x8x16x8x8xf32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [1, 2, 3, 4] : (tensor<8x16x8x8xf32>) -> tensor<1x8x16x8x8xf32>
    %3 = stablehlo.concatenate %1, %2, dim = 0 : (tensor<1x8x16x8x8xf32>, tensor<1x8x16x8x8xf32>) -> tensor<2x8x16x8x8xf32>
    %4 = stablehlo.dot_general %3, %arg1, contracting_dims = [4] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8x16x8x8xf32>, tensor<8x32xf32>) -> tensor<2x8x16x8x32xf32>
    %5 = stablehlo.tanh %4 : tensor<2x8x16x8x32xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare LT, %arg3, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<16> : tensor<i32>
    %7 = stablehlo.add %arg3, %c_0 : tensor<i32>
    %8 = stablehlo.select %6, %7, %arg3 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.dynamic_update_slice %5, %arg2, %c_1, %c_2, %8, %c_3, %c_4 : (tensor<2x8x16x8x32xf32>, tensor<2x8x4x8x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x8x16x8x32xf32>
    return %9 : tensor<2x8x16x8x32xf32>
  }
}
