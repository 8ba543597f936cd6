module @jit_triangular_solve_batch_sharded attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=8]> {stablehlo.mesh = {axes = [{name = "batch", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<16x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}, %arg1: tensor<16x8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}) -> (tensor<16x8x3xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}) {
    %0 = call @tril(%arg0) : (tensor<16x8x8xf32>) -> tensor<16x8x8xf32>
    %1 = stablehlo.iota dim = 0 : tensor<8x8xi32>
    %2 = stablehlo.iota dim = 1 : tensor<8x8xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x8xi32>
    %4 = stablehlo.add %1, %3 : tensor<8x8xi32>
    %5 = stablehlo.compare EQ, %4, %2, SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %6 = stablehlo.convert %5 : (tensor<8x8xi1>) -> tensor<8x8xf32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %8 = stablehlo.multiply %7, %6 : tensor<8x8xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [1, 2] : (tensor<8x8xf32>) -> tensor<1x8x8xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<1x8x8xf32>) -> tensor<16x8x8xf32>
    %11 = stablehlo.add %0, %10 : tensor<16x8x8xf32>
    %12 = call @_solve_triangular(%11, %arg1) : (tensor<16x8x8xf32>, tensor<16x8x3xf32>) -> tensor<16x8x3xf32>
    return %12 : tensor<16x8x3xf32>
  }
  func.func private @tril(%arg0: tensor<16x8x8xf32>) -> tensor<16x8x8xf32> {
    %0 = stablehlo.iota dim = 0 : tensor<8x8xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x8xi32>
    %2 = stablehlo.add %0, %1 : tensor<8x8xi32>
    %3 = stablehlo.iota dim = 1 : tensor<8x8xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %5 = stablehlo.broadcast_in_dim %4, dims = [1, 2] : (tensor<8x8xi1>) -> tensor<16x8x8xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %7 = stablehlo.select %5, %arg0, %6 : tensor<16x8x8xi1>, tensor<16x8x8xf32>
    return %7 : tensor<16x8x8xf32>
  }
  func.func private @_solve_triangular(%arg0: tensor<16x8x8xf32>, %arg1: tensor<16x8x3xf32>) -> tensor<16x8x3xf32> {
    %0 = stablehlo.custom_call @lapack_strsm_ffi(%arg0, %arg1) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=16, j=8, k=8, l=8, m=3, n=8, o=3}, custom>} : (tensor<16x8x8xf32>, tensor<16x8x3xf32>) -> tensor<16x8x3xf32>
    return %0 : tensor<16x8x3xf32>
  }
}
