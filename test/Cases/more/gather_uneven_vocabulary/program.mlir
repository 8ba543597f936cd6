module @jit_gather_uneven_vocabulary attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["model"=8]> {stablehlo.mesh = {axes = [{name = "model", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<50x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg1: tensor<12xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<12x16xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %0 = stablehlo.tanh %arg0 : tensor<50x16xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"model"}, {}]> : tensor<50x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %3 = stablehlo.compare LT, %arg1, %2, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %c_0 = stablehlo.constant dense<50> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %5 = stablehlo.add %arg1, %4 : tensor<12xi32>
    %6 = stablehlo.select %3, %5, %arg1 : tensor<12xi1>, tensor<12xi32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %8 = "stablehlo.gather"(%1, %7) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 16>}> : (tensor<50x16xf32>, tensor<12x1xi32>) -> tensor<12x16xf32>
    return %8 : tensor<12x16xf32>
  }
}
