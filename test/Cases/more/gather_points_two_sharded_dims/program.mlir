module @jit_gather_points_two_sharded_dims attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "batch", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<64x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"batch"}]>}, %arg1: tensor<7x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<7xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    %0 = stablehlo.slice %arg1 [0:7, 0:1] : (tensor<7x2xi32>) -> tensor<7x1xi32>
    %1 = stablehlo.reshape %0 : (tensor<7x1xi32>) -> tensor<7xi32>
    %2 = stablehlo.slice %arg1 [0:7, 1:2] : (tensor<7x2xi32>) -> tensor<7x1xi32>
    %3 = stablehlo.reshape %2 : (tensor<7x1xi32>) -> tensor<7xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<7xi32>
    %5 = stablehlo.compare LT, %1, %4, SIGNED : (tensor<7xi32>, tensor<7xi32>) -> tensor<7xi1>
    %c_0 = stablehlo.constant dense<64> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<7xi32>
    %7 = stablehlo.add %1, %6 : tensor<7xi32>
    %8 = stablehlo.select %5, %7, %1 : tensor<7xi1>, tensor<7xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<7xi32>
    %10 = stablehlo.compare LT, %3, %9, SIGNED : (tensor<7xi32>, tensor<7xi32>) -> tensor<7xi1>
    %c_2 = stablehlo.constant dense<24> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<7xi32>
    %12 = stablehlo.add %3, %11 : tensor<7xi32>
    %13 = stablehlo.select %10, %12, %3 : tensor<7xi1>, tensor<7xi32>
    %14 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<7xi32>) -> tensor<7x1xi32>
    %15 = stablehlo.broadcast_in_dim %13, dims = [0] : (tensor<7xi32>) -> tensor<7x1xi32>
    %16 = stablehlo.concatenate %14, %15, dim = 1 : (tensor<7x1xi32>, tensor<7x1xi32>) -> tensor<7x2xi32>
    %17 = "stablehlo.gather"(%arg0, %16) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<64x24xf32>, tensor<7x2xi32>) -> tensor<7xf32>
    return %17 : tensor<7xf32>
  }
}
