module @jit_tridiagonal_solve_batch_sharded attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=8]> {stablehlo.mesh = {axes = [{name = "batch", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<8x3x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}, %arg1: tensor<8x6x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}) -> (tensor<8x6x2xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}) {
    %0 = stablehlo.slice %arg0 [0:8, 0:1, 0:6] : (tensor<8x3x6xf32>) -> tensor<8x1x6xf32>
    %1 = stablehlo.reshape %0 : (tensor<8x1x6xf32>) -> tensor<8x6xf32>
    %2 = stablehlo.slice %arg0 [0:8, 1:2, 0:6] : (tensor<8x3x6xf32>) -> tensor<8x1x6xf32>
    %3 = stablehlo.reshape %2 : (tensor<8x1x6xf32>) -> tensor<8x6xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
    %5 = stablehlo.add %3, %4 : tensor<8x6xf32>
    %6 = stablehlo.slice %arg0 [0:8, 2:3, 0:6] : (tensor<8x3x6xf32>) -> tensor<8x1x6xf32>
    %7 = stablehlo.reshape %6 : (tensor<8x1x6xf32>) -> tensor<8x6xf32>
    %8:5 = stablehlo.custom_call @lapack_sgtsv_ffi(%1, %5, %7, %arg1) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>, #stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 1, operand_tuple_indices = []>, #stablehlo.output_operand_alias<output_tuple_indices = [2], operand_index = 2, operand_tuple_indices = []>, #stablehlo.output_operand_alias<output_tuple_indices = [3], operand_index = 3, operand_tuple_indices = []>], result_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, k], [i, l], [i, m, n])->([i, o], [i, p], [i, q], [i, r, s], [i]) {i=8, j=6, k=6, l=6, m=6, n=2, o=6, p=6, q=6, r=6, s=2}, custom>} : (tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6x2xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6x2xf32>, tensor<8xi32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %10 = stablehlo.compare EQ, %8#4, %9, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0] : (tensor<8xi1>) -> tensor<8x1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x6x2xf32>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2] : (tensor<8x1x1xi1>) -> tensor<8x6x2xi1>
    %14 = stablehlo.select %13, %8#3, %12 : tensor<8x6x2xi1>, tensor<8x6x2xf32>
    return %14 : tensor<8x6x2xf32>
  }
}
