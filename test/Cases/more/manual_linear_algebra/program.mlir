module @jit_manual_linear_algebra attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<8x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %arg1: tensor<8x4x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<8x4x3xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}, {}, {}]>, <@mesh, [{"x"}, {}, {}]>] out_shardings=[<@mesh, [{"x"}, {}, {}]>] manual_axes={"x"} (%arg2: tensor<1x4x4xf32>, %arg3: tensor<1x4x3xf32>) {
      %1 = stablehlo.transpose %arg2, dims = [0, 2, 1] : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
      %2 = stablehlo.reshape %arg2 : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
      %3 = stablehlo.reshape %1 : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
      %4 = stablehlo.dot_general %2, %3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %5 = stablehlo.broadcast_in_dim %4, dims = [1, 2] : (tensor<4x4xf32>) -> tensor<1x4x4xf32>
      %6 = stablehlo.iota dim = 0 : tensor<4x4xi32>
      %7 = stablehlo.iota dim = 1 : tensor<4x4xi32>
      %c = stablehlo.constant dense<0> : tensor<i32>
      %8 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x4xi32>
      %9 = stablehlo.add %6, %8 : tensor<4x4xi32>
      %10 = stablehlo.compare EQ, %9, %7, SIGNED : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
      %11 = stablehlo.convert %10 : (tensor<4x4xi1>) -> tensor<4x4xf32>
      %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %12 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
      %13 = stablehlo.multiply %12, %11 : tensor<4x4xf32>
      %14 = stablehlo.broadcast_in_dim %13, dims = [1, 2] : (tensor<4x4xf32>) -> tensor<1x4x4xf32>
      %15 = stablehlo.add %5, %14 : tensor<1x4x4xf32>
      %16 = func.call @cholesky(%15) : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
      %17 = stablehlo.custom_call @lapack_strsm_ffi(%16, %arg3) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=1, j=4, k=4, l=4, m=3, n=4, o=3}, custom>} : (tensor<1x4x4xf32>, tensor<1x4x3xf32>) -> tensor<1x4x3xf32>
      %18 = stablehlo.transpose %arg3, dims = [0, 2, 1] : (tensor<1x4x3xf32>) -> tensor<1x3x4xf32>
      %19 = func.call @fft(%18) : (tensor<1x3x4xf32>) -> tensor<1x3x3xcomplex<f32>>
      %20 = stablehlo.transpose %19, dims = [0, 2, 1] : (tensor<1x3x3xcomplex<f32>>) -> tensor<1x3x3xcomplex<f32>>
      %21:2 = func.call @qr(%15) : (tensor<1x4x4xf32>) -> (tensor<1x4x4xf32>, tensor<1x4x4xf32>)
      %22 = stablehlo.abs %20 : (tensor<1x3x3xcomplex<f32>>) -> tensor<1x3x3xf32>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %23 = stablehlo.reduce(%22 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<1x3x3xf32>, tensor<f32>) -> tensor<1x3xf32>
      %24 = stablehlo.broadcast_in_dim %23, dims = [0, 2] : (tensor<1x3xf32>) -> tensor<1x1x3xf32>
      %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2] : (tensor<1x1x3xf32>) -> tensor<1x4x3xf32>
      %26 = stablehlo.add %17, %25 : tensor<1x4x3xf32>
      %27 = stablehlo.reshape %21#0 : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
      %28 = stablehlo.reshape %21#1 : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
      %29 = stablehlo.dot_general %27, %28, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %30 = stablehlo.broadcast_in_dim %29, dims = [1, 2] : (tensor<4x4xf32>) -> tensor<1x4x4xf32>
      %31 = stablehlo.reshape %30 : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
      %32 = stablehlo.reshape %arg3 : (tensor<1x4x3xf32>) -> tensor<4x3xf32>
      %33 = stablehlo.dot_general %31, %32, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %34 = stablehlo.broadcast_in_dim %33, dims = [1, 2] : (tensor<4x3xf32>) -> tensor<1x4x3xf32>
      %35 = stablehlo.add %26, %34 : tensor<1x4x3xf32>
      sdy.return %35 : tensor<1x4x3xf32>
    } : (tensor<8x4x4xf32>, tensor<8x4x3xf32>) -> tensor<8x4x3xf32>
    return %0 : tensor<8x4x3xf32>
  }
  func.func private @cholesky(%arg0: tensor<1x4x4xf32>) -> tensor<1x4x4xf32> {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<1x4x4xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x4x4xf32>
    %3 = stablehlo.divide %1, %2 : tensor<1x4x4xf32>
    %4:2 = stablehlo.custom_call @lapack_spotrf_ffi(%3) {backend_config = "", mhlo.backend_config = {uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i]) {i=1, j=4, k=4, l=4, m=4}, custom>} : (tensor<1x4x4xf32>) -> (tensor<1x4x4xf32>, tensor<1xi32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %6 = stablehlo.compare EQ, %4#1, %5, SIGNED : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<1xi1>) -> tensor<1x1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x4x4xf32>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<1x1x1xi1>) -> tensor<1x4x4xi1>
    %10 = stablehlo.select %9, %4#0, %8 : tensor<1x4x4xi1>, tensor<1x4x4xf32>
    %11 = stablehlo.iota dim = 0 : tensor<4x4xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<4x4xi32>
    %13 = stablehlo.add %11, %12 : tensor<4x4xi32>
    %14 = stablehlo.iota dim = 1 : tensor<4x4xi32>
    %15 = stablehlo.compare GE, %13, %14, SIGNED : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
    %16 = stablehlo.broadcast_in_dim %15, dims = [1, 2] : (tensor<4x4xi1>) -> tensor<1x4x4xi1>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x4x4xf32>
    %18 = stablehlo.select %16, %10, %17 : tensor<1x4x4xi1>, tensor<1x4x4xf32>
    return %18 : tensor<1x4x4xf32>
  }
  func.func private @fft(%arg0: tensor<1x3x4xf32>) -> tensor<1x3x3xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [4] : (tensor<1x3x4xf32>) -> tensor<1x3x3xcomplex<f32>>
    return %0 : tensor<1x3x3xcomplex<f32>>
  }
  func.func private @qr(%arg0: tensor<1x4x4xf32>) -> (tensor<1x4x4xf32>, tensor<1x4x4xf32>) {
    %0:2 = stablehlo.custom_call @lapack_sgeqrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n]) {i=1, j=4, k=4, l=4, m=4, n=4}, custom>} : (tensor<1x4x4xf32>) -> (tensor<1x4x4xf32>, tensor<1x4xf32>)
    %1 = stablehlo.custom_call @lapack_sorgqr_ffi(%0#0, %0#1) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l])->([i, m, n]) {i=1, j=4, k=4, l=4, m=4, n=4}, custom>} : (tensor<1x4x4xf32>, tensor<1x4xf32>) -> tensor<1x4x4xf32>
    %2 = stablehlo.iota dim = 0 : tensor<4x4xi32>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x4xi32>
    %4 = stablehlo.add %2, %3 : tensor<4x4xi32>
    %5 = stablehlo.iota dim = 1 : tensor<4x4xi32>
    %6 = stablehlo.compare GE, %4, %5, SIGNED : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [1, 2] : (tensor<4x4xi1>) -> tensor<1x4x4xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x4x4xf32>
    %9 = stablehlo.select %7, %8, %0#0 : tensor<1x4x4xi1>, tensor<1x4x4xf32>
    return %1, %9 : tensor<1x4x4xf32>, tensor<1x4x4xf32>
  }
}
