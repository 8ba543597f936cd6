module @jit_eigh_batch_sharded attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=8]> {stablehlo.mesh = {axes = [{name = "batch", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<8x5x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}) -> (tensor<8x5xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}, tensor<8x5x5xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}, tensor<8x5x5xf32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}, tensor<8x5x5xf32> {jax.result_info = "result[3]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}) {
    %0:2 = call @eigh(%arg0) : (tensor<8x5x5xf32>) -> (tensor<8x5xf32>, tensor<8x5x5xf32>)
    %1:4 = call @eigh_0(%arg0) : (tensor<8x5x5xf32>) -> (tensor<8x5xf32>, tensor<8x5x5xf32>, tensor<8x5x5xf32>, tensor<5x2xi32>)
    %2 = stablehlo.exponential %1#0 : tensor<8x5xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x5xf32>
    %4 = stablehlo.multiply %3, %2 : tensor<8x5xf32>
    %5 = call @eigh_1(%1#2, %1#1, %1#3, %4) : (tensor<8x5x5xf32>, tensor<8x5x5xf32>, tensor<5x2xi32>, tensor<8x5xf32>) -> tensor<8x5x5xf32>
    %6 = stablehlo.broadcast_in_dim %0#0, dims = [0, 2] : (tensor<8x5xf32>) -> tensor<8x1x5xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<8x1x5xf32>) -> tensor<8x5x5xf32>
    %8 = stablehlo.multiply %0#1, %7 : tensor<8x5x5xf32>
    %9 = stablehlo.transpose %0#1, dims = [0, 2, 1] : (tensor<8x5x5xf32>) -> tensor<8x5x5xf32>
    %10 = stablehlo.dot_general %8, %9, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x5x5xf32>, tensor<8x5x5xf32>) -> tensor<8x5x5xf32>
    %11 = stablehlo.abs %0#1 : tensor<8x5x5xf32>
    return %0#0, %10, %11, %5 : tensor<8x5xf32>, tensor<8x5x5xf32>, tensor<8x5x5xf32>, tensor<8x5x5xf32>
  }
  func.func private @eigh(%arg0: tensor<8x5x5xf32>) -> (tensor<8x5xf32>, tensor<8x5x5xf32>) {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<8x5x5xf32>) -> tensor<8x5x5xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<8x5x5xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x5x5xf32>
    %3 = stablehlo.divide %1, %2 : tensor<8x5x5xf32>
    %4:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%3) {backend_config = "", mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i]) {i=8, j=5, k=5, l=5, m=5, n=5}, custom>} : (tensor<8x5x5xf32>) -> (tensor<8x5x5xf32>, tensor<8x5xf32>, tensor<8xi32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %6 = stablehlo.compare EQ, %4#2, %5, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<8xi1>) -> tensor<8x1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x5x5xf32>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<8x1x1xi1>) -> tensor<8x5x5xi1>
    %10 = stablehlo.select %9, %4#0, %8 : tensor<8x5x5xi1>, tensor<8x5x5xf32>
    %11 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<8xi1>) -> tensor<8x1xi1>
    %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x5xf32>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<8x1xi1>) -> tensor<8x5xi1>
    %14 = stablehlo.select %13, %4#1, %12 : tensor<8x5xi1>, tensor<8x5xf32>
    return %14, %10 : tensor<8x5xf32>, tensor<8x5x5xf32>
  }
  func.func private @eigh_0(%arg0: tensor<8x5x5xf32>) -> (tensor<8x5xf32>, tensor<8x5x5xf32>, tensor<8x5x5xf32>, tensor<5x2xi32>) {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<8x5x5xf32>) -> tensor<8x5x5xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<8x5x5xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x5x5xf32>
    %3 = stablehlo.divide %1, %2 : tensor<8x5x5xf32>
    %4 = stablehlo.transpose %3, dims = [0, 2, 1] : (tensor<8x5x5xf32>) -> tensor<8x5x5xf32>
    %5 = stablehlo.add %3, %4 : tensor<8x5x5xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x5x5xf32>
    %7 = stablehlo.divide %5, %6 : tensor<8x5x5xf32>
    %8:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%7) {backend_config = "", mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i]) {i=8, j=5, k=5, l=5, m=5, n=5}, custom>} : (tensor<8x5x5xf32>) -> (tensor<8x5x5xf32>, tensor<8x5xf32>, tensor<8xi32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %10 = stablehlo.compare EQ, %8#2, %9, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0] : (tensor<8xi1>) -> tensor<8x1x1xi1>
    %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x5x5xf32>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2] : (tensor<8x1x1xi1>) -> tensor<8x5x5xi1>
    %14 = stablehlo.select %13, %8#0, %12 : tensor<8x5x5xi1>, tensor<8x5x5xf32>
    %15 = stablehlo.broadcast_in_dim %10, dims = [0] : (tensor<8xi1>) -> tensor<8x1xi1>
    %cst_2 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x5xf32>
    %17 = stablehlo.broadcast_in_dim %15, dims = [0, 1] : (tensor<8x1xi1>) -> tensor<8x5xi1>
    %18 = stablehlo.select %17, %8#1, %16 : tensor<8x5xi1>, tensor<8x5xf32>
    %19 = stablehlo.transpose %14, dims = [0, 2, 1] : (tensor<8x5x5xf32>) -> tensor<8x5x5xf32>
    %20 = stablehlo.iota dim = 0 : tensor<5xi32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %21 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %22 = stablehlo.compare LT, %20, %21, SIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
    %c_4 = stablehlo.constant dense<5> : tensor<i32>
    %23 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %24 = stablehlo.add %20, %23 : tensor<5xi32>
    %25 = stablehlo.select %22, %24, %20 : tensor<5xi1>, tensor<5xi32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %26 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %27 = stablehlo.compare LT, %20, %26, SIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
    %c_6 = stablehlo.constant dense<5> : tensor<i32>
    %28 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %29 = stablehlo.add %20, %28 : tensor<5xi32>
    %30 = stablehlo.select %27, %29, %20 : tensor<5xi1>, tensor<5xi32>
    %31 = stablehlo.broadcast_in_dim %25, dims = [0] : (tensor<5xi32>) -> tensor<5x1xi32>
    %32 = stablehlo.broadcast_in_dim %30, dims = [0] : (tensor<5xi32>) -> tensor<5x1xi32>
    %33 = stablehlo.concatenate %31, %32, dim = 1 : (tensor<5x1xi32>, tensor<5x1xi32>) -> tensor<5x2xi32>
    return %18, %14, %19, %33 : tensor<8x5xf32>, tensor<8x5x5xf32>, tensor<8x5x5xf32>, tensor<5x2xi32>
  }
  func.func private @eigh_1(%arg0: tensor<8x5x5xf32>, %arg1: tensor<8x5x5xf32>, %arg2: tensor<5x2xi32>, %arg3: tensor<8x5xf32>) -> tensor<8x5x5xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x5x5xf32>
    %1 = "stablehlo.scatter"(%0, %arg2, %arg3) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1, 2], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %9 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %9 : tensor<f32>
    }) : (tensor<8x5x5xf32>, tensor<5x2xi32>, tensor<8x5xf32>) -> tensor<8x5x5xf32>
    %2 = stablehlo.dot_general %1, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [HIGHEST, HIGHEST] : (tensor<8x5x5xf32>, tensor<8x5x5xf32>) -> tensor<8x5x5xf32>
    %3 = stablehlo.dot_general %2, %arg0, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [HIGHEST, HIGHEST] : (tensor<8x5x5xf32>, tensor<8x5x5xf32>) -> tensor<8x5x5xf32>
    %4 = stablehlo.transpose %3, dims = [0, 2, 1] : (tensor<8x5x5xf32>) -> tensor<8x5x5xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x5x5xf32>
    %6 = stablehlo.divide %4, %5 : tensor<8x5x5xf32>
    %7 = stablehlo.transpose %6, dims = [0, 2, 1] : (tensor<8x5x5xf32>) -> tensor<8x5x5xf32>
    %8 = stablehlo.add %6, %7 : tensor<8x5x5xf32>
    return %8 : tensor<8x5x5xf32>
  }
}
