module @jit_eig_and_schur_batch_sharded attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=8]> {stablehlo.mesh = {axes = [{name = "batch", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<8x5x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}) -> (tensor<8xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}]>}, tensor<8x5x5xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}, tensor<8x5x5xf32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}, tensor<8x5x5xf32> {jax.result_info = "result[3]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}, tensor<8x5x5xf32> {jax.result_info = "result[4]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}) {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<8x5x5xf32>) -> tensor<8x5x5xf32>
    %1 = stablehlo.convert %0 : (tensor<8x5x5xf32>) -> tensor<8x5x5xcomplex<f32>>
    %cst = stablehlo.constant dense<(0.000000e+00,1.000000e+00)> : tensor<complex<f32>>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<8x5x5xcomplex<f32>>
    %3 = stablehlo.multiply %2, %1 : tensor<8x5x5xcomplex<f32>>
    %4 = stablehlo.convert %3 : tensor<8x5x5xcomplex<f32>>
    %5 = stablehlo.convert %arg0 : (tensor<8x5x5xf32>) -> tensor<8x5x5xcomplex<f32>>
    %6 = stablehlo.dot_general %4, %5, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x5x5xcomplex<f32>>, tensor<8x5x5xcomplex<f32>>) -> tensor<8x5x5xcomplex<f32>>
    %7 = stablehlo.convert %arg0 : (tensor<8x5x5xf32>) -> tensor<8x5x5xcomplex<f32>>
    %8 = stablehlo.add %7, %6 : tensor<8x5x5xcomplex<f32>>
    %9:5 = stablehlo.custom_call @lapack_sgeev_ffi(%arg0) {backend_config = "", mhlo.backend_config = {compute_left = 78 : ui8, compute_right = 86 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l], [i, m], [i, n, o], [i, p, q], [i]) {i=8, j=5, k=5, l=5, m=5, n=5, o=5, p=5, q=5}, custom>} : (tensor<8x5x5xf32>) -> (tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5x5xcomplex<f32>>, tensor<8x5x5xcomplex<f32>>, tensor<8xi32>)
    %10 = stablehlo.complex %9#0, %9#1 : tensor<8x5xcomplex<f32>>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %12 = stablehlo.compare EQ, %9#4, %11, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0] : (tensor<8xi1>) -> tensor<8x1xi1>
    %cst_0 = stablehlo.constant dense<(0x7FC00000,0x7FC00000)> : tensor<complex<f32>>
    %14 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f32>>) -> tensor<8x5xcomplex<f32>>
    %15 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<8x1xi1>) -> tensor<8x5xi1>
    %16 = stablehlo.select %15, %10, %14 : tensor<8x5xi1>, tensor<8x5xcomplex<f32>>
    %17 = stablehlo.broadcast_in_dim %12, dims = [0] : (tensor<8xi1>) -> tensor<8x1x1xi1>
    %cst_1 = stablehlo.constant dense<(0x7FC00000,0x7FC00000)> : tensor<complex<f32>>
    %18 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<complex<f32>>) -> tensor<8x5x5xcomplex<f32>>
    %19 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<8x1x1xi1>) -> tensor<8x5x5xi1>
    %20 = stablehlo.select %19, %9#3, %18 : tensor<8x5x5xi1>, tensor<8x5x5xcomplex<f32>>
    %21:6 = stablehlo.custom_call @lapack_sgees_ffi(%arg0) {backend_config = "", mhlo.backend_config = {mode = 86 : ui8, sort = 78 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n, o], [i, p], [i, q], [i], [i]) {i=8, j=5, k=5, l=5, m=5, n=5, o=5, p=5, q=5}, custom>} : (tensor<8x5x5xf32>) -> (tensor<8x5x5xf32>, tensor<8x5x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>, tensor<8xi32>, tensor<8xi32>)
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %22 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %23 = stablehlo.compare EQ, %21#5, %22, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0] : (tensor<8xi1>) -> tensor<8x1x1xi1>
    %cst_3 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x5x5xf32>
    %26 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2] : (tensor<8x1x1xi1>) -> tensor<8x5x5xi1>
    %27 = stablehlo.select %26, %21#0, %25 : tensor<8x5x5xi1>, tensor<8x5x5xf32>
    %28 = stablehlo.broadcast_in_dim %23, dims = [0] : (tensor<8xi1>) -> tensor<8x1x1xi1>
    %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x5x5xf32>
    %30 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2] : (tensor<8x1x1xi1>) -> tensor<8x5x5xi1>
    %31 = stablehlo.select %30, %21#1, %29 : tensor<8x5x5xi1>, tensor<8x5x5xf32>
    %32:4 = stablehlo.custom_call @lapack_cgeev_ffi(%8) {backend_config = "", mhlo.backend_config = {compute_left = 78 : ui8, compute_right = 86 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l], [i, m, n], [i, o, p], [i]) {i=8, j=5, k=5, l=5, m=5, n=5, o=5, p=5}, custom>} : (tensor<8x5x5xcomplex<f32>>) -> (tensor<8x5xcomplex<f32>>, tensor<8x5x5xcomplex<f32>>, tensor<8x5x5xcomplex<f32>>, tensor<8xi32>)
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %33 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %34 = stablehlo.compare EQ, %32#3, %33, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0] : (tensor<8xi1>) -> tensor<8x1xi1>
    %cst_6 = stablehlo.constant dense<(0x7FC00000,0x7FC00000)> : tensor<complex<f32>>
    %36 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<complex<f32>>) -> tensor<8x5xcomplex<f32>>
    %37 = stablehlo.broadcast_in_dim %35, dims = [0, 1] : (tensor<8x1xi1>) -> tensor<8x5xi1>
    %38 = stablehlo.select %37, %32#0, %36 : tensor<8x5xi1>, tensor<8x5xcomplex<f32>>
    %39 = stablehlo.broadcast_in_dim %34, dims = [0] : (tensor<8xi1>) -> tensor<8x1x1xi1>
    %cst_7 = stablehlo.constant dense<(0x7FC00000,0x7FC00000)> : tensor<complex<f32>>
    %40 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<complex<f32>>) -> tensor<8x5x5xcomplex<f32>>
    %41 = stablehlo.broadcast_in_dim %39, dims = [0, 1, 2] : (tensor<8x1x1xi1>) -> tensor<8x5x5xi1>
    %42 = stablehlo.select %41, %32#2, %40 : tensor<8x5x5xi1>, tensor<8x5x5xcomplex<f32>>
    %43 = stablehlo.convert %arg0 : (tensor<8x5x5xf32>) -> tensor<8x5x5xcomplex<f32>>
    %44 = stablehlo.dot_general %43, %20, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x5x5xcomplex<f32>>, tensor<8x5x5xcomplex<f32>>) -> tensor<8x5x5xcomplex<f32>>
    %45 = stablehlo.broadcast_in_dim %16, dims = [0, 2] : (tensor<8x5xcomplex<f32>>) -> tensor<8x1x5xcomplex<f32>>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0, 1, 2] : (tensor<8x1x5xcomplex<f32>>) -> tensor<8x5x5xcomplex<f32>>
    %47 = stablehlo.multiply %20, %46 : tensor<8x5x5xcomplex<f32>>
    %48 = stablehlo.subtract %44, %47 : tensor<8x5x5xcomplex<f32>>
    %49 = stablehlo.multiply %16, %16 : tensor<8x5xcomplex<f32>>
    %cst_8 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %50 = stablehlo.reduce(%49 init: %cst_8) applies stablehlo.add across dimensions = [1] : (tensor<8x5xcomplex<f32>>, tensor<complex<f32>>) -> tensor<8xcomplex<f32>>
    %51 = stablehlo.real %50 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
    %52 = stablehlo.abs %48 : (tensor<8x5x5xcomplex<f32>>) -> tensor<8x5x5xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<8x5x5xf32>
    %54 = stablehlo.add %53, %52 : tensor<8x5x5xf32>
    %55 = stablehlo.dot_general %31, %27, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x5x5xf32>, tensor<8x5x5xf32>) -> tensor<8x5x5xf32>
    %56 = stablehlo.transpose %31, dims = [0, 2, 1] : (tensor<8x5x5xf32>) -> tensor<8x5x5xf32>
    %57 = stablehlo.dot_general %55, %56, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x5x5xf32>, tensor<8x5x5xf32>) -> tensor<8x5x5xf32>
    %58 = stablehlo.transpose %31, dims = [0, 2, 1] : (tensor<8x5x5xf32>) -> tensor<8x5x5xf32>
    %59 = stablehlo.dot_general %58, %31, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x5x5xf32>, tensor<8x5x5xf32>) -> tensor<8x5x5xf32>
    %60 = stablehlo.dot_general %8, %42, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x5x5xcomplex<f32>>, tensor<8x5x5xcomplex<f32>>) -> tensor<8x5x5xcomplex<f32>>
    %61 = stablehlo.broadcast_in_dim %38, dims = [0, 2] : (tensor<8x5xcomplex<f32>>) -> tensor<8x1x5xcomplex<f32>>
    %62 = stablehlo.broadcast_in_dim %61, dims = [0, 1, 2] : (tensor<8x1x5xcomplex<f32>>) -> tensor<8x5x5xcomplex<f32>>
    %63 = stablehlo.multiply %42, %62 : tensor<8x5x5xcomplex<f32>>
    %64 = stablehlo.subtract %60, %63 : tensor<8x5x5xcomplex<f32>>
    %65 = stablehlo.abs %64 : (tensor<8x5x5xcomplex<f32>>) -> tensor<8x5x5xf32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %66 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<8x5x5xf32>
    %67 = stablehlo.add %66, %65 : tensor<8x5x5xf32>
    return %51, %54, %57, %59, %67 : tensor<8xf32>, tensor<8x5x5xf32>, tensor<8x5x5xf32>, tensor<8x5x5xf32>, tensor<8x5x5xf32>
  }
}
