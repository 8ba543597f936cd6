module @jit_gather_with_batching_dims attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=8]> {stablehlo.mesh = {axes = [{name = "batch", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<8x20x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}, %arg1: tensor<8x5xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) -> (tensor<8x5x6xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1] : (tensor<8x5xi32>) -> tensor<8x5x1xi32>
    %1 = call @take_along_axis(%arg0, %0) : (tensor<8x20x6xf32>, tensor<8x5x1xi32>) -> tensor<8x5x6xf32>
    return %1 : tensor<8x5x6xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<8x20x6xf32>, %arg1: tensor<8x5x1xi32>) -> tensor<8x5x6xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x5x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<8x5x1xi32>, tensor<8x5x1xi32>) -> tensor<8x5x1xi1>
    %c_0 = stablehlo.constant dense<20> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8x5x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<8x5x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<8x5x1xi1>, tensor<8x5x1xi32>
    %c_1 = stablehlo.constant dense<19> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<8x5x1xi32>
    %6 = stablehlo.compare GE, %4, %5, SIGNED : (tensor<8x5x1xi32>, tensor<8x5x1xi32>) -> tensor<8x5x1xi1>
    %7 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<8x5x1xi32>
    %9 = stablehlo.compare LE, %4, %8, SIGNED : (tensor<8x5x1xi32>, tensor<8x5x1xi32>) -> tensor<8x5x1xi1>
    %10 = stablehlo.and %6, %9 : tensor<8x5x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %11 = stablehlo.reduce(%10 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<8x5x1xi1>, tensor<i1>) -> tensor<8x5xi1>
    %12 = "stablehlo.gather"(%arg0, %4) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 6>}> : (tensor<8x20x6xf32>, tensor<8x5x1xi32>) -> tensor<8x5x6xf32>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<8x5xi1>) -> tensor<8x5x6xi1>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x5x6xf32>
    %15 = stablehlo.select %13, %12, %14 : tensor<8x5x6xi1>, tensor<8x5x6xf32>
    return %15 : tensor<8x5x6xf32>
  }
}
