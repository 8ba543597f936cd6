module @jit_svd_batch_sharded attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=8]> {stablehlo.mesh = {axes = [{name = "batch", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<8x6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}) -> (tensor<8x4xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}, tensor<8x6x4xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}, tensor<8x6x6xf32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}, tensor<8x4x6xf32> {jax.result_info = "result[3]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}, tensor<8x6x4xf32> {jax.result_info = "result[4]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}) {
    %0:3 = call @svd(%arg0) : (tensor<8x6x4xf32>) -> (tensor<8x6x6xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>)
    %1 = stablehlo.slice %0#0 [0:8, 0:6, 0:4] : (tensor<8x6x6xf32>) -> tensor<8x6x4xf32>
    %2 = stablehlo.broadcast_in_dim %0#1, dims = [0, 2] : (tensor<8x4xf32>) -> tensor<8x1x4xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<8x1x4xf32>) -> tensor<8x6x4xf32>
    %4 = stablehlo.multiply %1, %3 : tensor<8x6x4xf32>
    %5 = stablehlo.dot_general %4, %0#2, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x6x4xf32>, tensor<8x4x4xf32>) -> tensor<8x6x4xf32>
    %6 = stablehlo.transpose %0#0, dims = [0, 2, 1] : (tensor<8x6x6xf32>) -> tensor<8x6x6xf32>
    %7 = stablehlo.dot_general %6, %0#0, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x6x6xf32>, tensor<8x6x6xf32>) -> tensor<8x6x6xf32>
    %8 = call @_pinv(%arg0) : (tensor<8x6x4xf32>) -> tensor<8x4x6xf32>
    %9:4 = call @svd_1(%arg0) : (tensor<8x6x4xf32>) -> (tensor<8x4xf32>, tensor<8x4x6xf32>, tensor<8x4x4xf32>, tensor<4x2xi32>)
    %10 = stablehlo.multiply %9#0, %9#0 : tensor<8x4xf32>
    %cst = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %12 = stablehlo.multiply %11, %10 : tensor<8x4xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %14 = stablehlo.multiply %13, %12 : tensor<8x4xf32>
    %15 = call @svd_2(%9#1, %9#2, %9#3, %14) : (tensor<8x4x6xf32>, tensor<8x4x4xf32>, tensor<4x2xi32>, tensor<8x4xf32>) -> tensor<8x6x4xf32>
    return %0#1, %5, %7, %8, %15 : tensor<8x4xf32>, tensor<8x6x4xf32>, tensor<8x6x6xf32>, tensor<8x4x6xf32>, tensor<8x6x4xf32>
  }
  func.func private @svd(%arg0: tensor<8x6x4xf32>) -> (tensor<8x6x6xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>) {
    %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%arg0) {backend_config = "", mhlo.backend_config = {mode = 65 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=8, j=6, k=4, l=6, m=4, n=4, o=6, p=6, q=4, r=4}, custom>} : (tensor<8x6x4xf32>) -> (tensor<8x6x4xf32>, tensor<8x4xf32>, tensor<8x6x6xf32>, tensor<8x4x4xf32>, tensor<8xi32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %2 = stablehlo.compare EQ, %0#4, %1, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<8xi1>) -> tensor<8x1xi1>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<8x1xi1>) -> tensor<8x4xi1>
    %6 = stablehlo.select %5, %0#1, %4 : tensor<8x4xi1>, tensor<8x4xf32>
    %7 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<8xi1>) -> tensor<8x1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x6x6xf32>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<8x1x1xi1>) -> tensor<8x6x6xi1>
    %10 = stablehlo.select %9, %0#2, %8 : tensor<8x6x6xi1>, tensor<8x6x6xf32>
    %11 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<8xi1>) -> tensor<8x1x1xi1>
    %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x4x4xf32>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2] : (tensor<8x1x1xi1>) -> tensor<8x4x4xi1>
    %14 = stablehlo.select %13, %0#3, %12 : tensor<8x4x4xi1>, tensor<8x4x4xf32>
    return %10, %6, %14 : tensor<8x6x6xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>
  }
  func.func private @_pinv(%arg0: tensor<8x6x4xf32>) -> tensor<8x4x6xf32> {
    %cst = stablehlo.constant dense<6.000000e+01> : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.1920929E-7> : tensor<f32>
    %0 = stablehlo.multiply %cst, %cst_0 : tensor<f32>
    %1:3 = call @svd_0(%arg0) : (tensor<8x6x4xf32>) -> (tensor<8x6x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>)
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<1xf32>) -> tensor<1x1xf32>
    %4 = stablehlo.slice %1#1 [0:8, 0:1] : (tensor<8x4xf32>) -> tensor<8x1xf32>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<8x1xf32>
    %6 = stablehlo.multiply %5, %4 : tensor<8x1xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x4xf32>
    %8 = stablehlo.compare GT, %1#1, %7, FLOAT : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xi1>
    %cst_1 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %9 = call @_where(%8, %1#1, %cst_1) : (tensor<8x4xi1>, tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
    %10 = stablehlo.transpose %1#2, dims = [0, 2, 1] : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
    %11 = stablehlo.transpose %1#0, dims = [0, 2, 1] : (tensor<8x6x4xf32>) -> tensor<8x4x6xf32>
    %12 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<8x4xf32>) -> tensor<8x4x1xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<8x4x1xf32>) -> tensor<8x4x6xf32>
    %14 = stablehlo.divide %11, %13 : tensor<8x4x6xf32>
    %15 = stablehlo.dot_general %10, %14, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, HIGHEST] : (tensor<8x4x4xf32>, tensor<8x4x6xf32>) -> tensor<8x4x6xf32>
    return %15 : tensor<8x4x6xf32>
  }
  func.func private @svd_0(%arg0: tensor<8x6x4xf32>) -> (tensor<8x6x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>) {
    %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%arg0) {backend_config = "", mhlo.backend_config = {mode = 83 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=8, j=6, k=4, l=6, m=4, n=4, o=6, p=4, q=4, r=4}, custom>} : (tensor<8x6x4xf32>) -> (tensor<8x6x4xf32>, tensor<8x4xf32>, tensor<8x6x4xf32>, tensor<8x4x4xf32>, tensor<8xi32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %2 = stablehlo.compare EQ, %0#4, %1, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<8xi1>) -> tensor<8x1xi1>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<8x1xi1>) -> tensor<8x4xi1>
    %6 = stablehlo.select %5, %0#1, %4 : tensor<8x4xi1>, tensor<8x4xf32>
    %7 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<8xi1>) -> tensor<8x1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x6x4xf32>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<8x1x1xi1>) -> tensor<8x6x4xi1>
    %10 = stablehlo.select %9, %0#2, %8 : tensor<8x6x4xi1>, tensor<8x6x4xf32>
    %11 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<8xi1>) -> tensor<8x1x1xi1>
    %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x4x4xf32>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2] : (tensor<8x1x1xi1>) -> tensor<8x4x4xi1>
    %14 = stablehlo.select %13, %0#3, %12 : tensor<8x4x4xi1>, tensor<8x4x4xf32>
    return %10, %6, %14 : tensor<8x6x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>
  }
  func.func private @_where(%arg0: tensor<8x4xi1>, %arg1: tensor<8x4xf32>, %arg2: tensor<f32>) -> tensor<8x4xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<8x4xi1>, tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
  func.func private @svd_1(%arg0: tensor<8x6x4xf32>) -> (tensor<8x4xf32>, tensor<8x4x6xf32>, tensor<8x4x4xf32>, tensor<4x2xi32>) {
    %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%arg0) {backend_config = "", mhlo.backend_config = {mode = 83 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=8, j=6, k=4, l=6, m=4, n=4, o=6, p=4, q=4, r=4}, custom>} : (tensor<8x6x4xf32>) -> (tensor<8x6x4xf32>, tensor<8x4xf32>, tensor<8x6x4xf32>, tensor<8x4x4xf32>, tensor<8xi32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %2 = stablehlo.compare EQ, %0#4, %1, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<8xi1>) -> tensor<8x1xi1>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<8x1xi1>) -> tensor<8x4xi1>
    %6 = stablehlo.select %5, %0#1, %4 : tensor<8x4xi1>, tensor<8x4xf32>
    %7 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<8xi1>) -> tensor<8x1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x6x4xf32>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<8x1x1xi1>) -> tensor<8x6x4xi1>
    %10 = stablehlo.select %9, %0#2, %8 : tensor<8x6x4xi1>, tensor<8x6x4xf32>
    %11 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<8xi1>) -> tensor<8x1x1xi1>
    %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x4x4xf32>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2] : (tensor<8x1x1xi1>) -> tensor<8x4x4xi1>
    %14 = stablehlo.select %13, %0#3, %12 : tensor<8x4x4xi1>, tensor<8x4x4xf32>
    %15 = stablehlo.transpose %10, dims = [0, 2, 1] : (tensor<8x6x4xf32>) -> tensor<8x4x6xf32>
    %16 = stablehlo.transpose %14, dims = [0, 2, 1] : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
    %17 = stablehlo.iota dim = 0 : tensor<4xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %18 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %19 = stablehlo.compare LT, %17, %18, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_3 = stablehlo.constant dense<4> : tensor<i32>
    %20 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %21 = stablehlo.add %17, %20 : tensor<4xi32>
    %22 = stablehlo.select %19, %21, %17 : tensor<4xi1>, tensor<4xi32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %23 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %24 = stablehlo.compare LT, %17, %23, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_5 = stablehlo.constant dense<4> : tensor<i32>
    %25 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %26 = stablehlo.add %17, %25 : tensor<4xi32>
    %27 = stablehlo.select %24, %26, %17 : tensor<4xi1>, tensor<4xi32>
    %28 = stablehlo.broadcast_in_dim %22, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %29 = stablehlo.broadcast_in_dim %27, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %30 = stablehlo.concatenate %28, %29, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
    return %6, %15, %16, %30 : tensor<8x4xf32>, tensor<8x4x6xf32>, tensor<8x4x4xf32>, tensor<4x2xi32>
  }
  func.func private @svd_2(%arg0: tensor<8x4x6xf32>, %arg1: tensor<8x4x4xf32>, %arg2: tensor<4x2xi32>, %arg3: tensor<8x4xf32>) -> tensor<8x6x4xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4x4xf32>
    %1 = "stablehlo.scatter"(%0, %arg2, %arg3) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1, 2], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %5 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<8x4x4xf32>, tensor<4x2xi32>, tensor<8x4xf32>) -> tensor<8x4x4xf32>
    %2 = stablehlo.dot_general %1, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [HIGHEST, HIGHEST] : (tensor<8x4x4xf32>, tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
    %3 = stablehlo.dot_general %2, %arg0, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [HIGHEST, HIGHEST] : (tensor<8x4x4xf32>, tensor<8x4x6xf32>) -> tensor<8x4x6xf32>
    %4 = stablehlo.transpose %3, dims = [0, 2, 1] : (tensor<8x4x6xf32>) -> tensor<8x6x4xf32>
    return %4 : tensor<8x6x4xf32>
  }
}
