module @jit_manual_indexing attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<16x8xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %c = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
    %c_0 = stablehlo.constant dense<[0, 1, 1]> : tensor<3xi32>
    %0 = sdy.manual_computation(%c, %c_0, %arg0, %arg1) in_shardings=[<@mesh, [{}]>, <@mesh, [{}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg2: tensor<2xi32>, %arg3: tensor<3xi32>, %arg4: tensor<2x8xf32>, %arg5: tensor<1xi32>) {
      %1 = stablehlo.reshape %arg5 : (tensor<1xi32>) -> tensor<i32>
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      %2 = stablehlo.compare LT, %1, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_2 = stablehlo.constant dense<8> : tensor<i32>
      %3 = stablehlo.add %1, %c_2 : tensor<i32>
      %4 = stablehlo.select %2, %3, %1 : tensor<i1>, tensor<i32>
      %c_3 = stablehlo.constant dense<0> : tensor<i32>
      %5 = stablehlo.dynamic_slice %arg4, %c_3, %4, sizes = [2, 3] : (tensor<2x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
      %c_4 = stablehlo.constant dense<2> : tensor<i32>
      %6 = func.call @floor_divide(%1, %c_4) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_5 = stablehlo.constant dense<0> : tensor<i32>
      %7 = stablehlo.compare LT, %6, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_6 = stablehlo.constant dense<8> : tensor<i32>
      %8 = stablehlo.add %6, %c_6 : tensor<i32>
      %9 = stablehlo.select %7, %8, %6 : tensor<i1>, tensor<i32>
      %c_7 = stablehlo.constant dense<0> : tensor<i32>
      %10 = stablehlo.dynamic_update_slice %arg4, %5, %c_7, %9 : (tensor<2x8xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>
      %c_8 = stablehlo.constant dense<0> : tensor<i32>
      %11 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<2xi32>
      %12 = stablehlo.compare LT, %arg2, %11, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
      %c_9 = stablehlo.constant dense<8> : tensor<i32>
      %13 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<2xi32>
      %14 = stablehlo.add %arg2, %13 : tensor<2xi32>
      %15 = stablehlo.select %12, %14, %arg2 : tensor<2xi1>, tensor<2xi32>
      %16 = stablehlo.broadcast_in_dim %15, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
      %17 = "stablehlo.gather"(%arg4, %16) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 2, 1>}> : (tensor<2x8xf32>, tensor<2x1xi32>) -> tensor<2x2xf32>
      %c_10 = stablehlo.constant dense<0> : tensor<i32>
      %18 = stablehlo.compare LT, %1, %c_10, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_11 = stablehlo.constant dense<8> : tensor<i32>
      %19 = stablehlo.add %1, %c_11 : tensor<i32>
      %20 = stablehlo.select %18, %19, %1 : tensor<i1>, tensor<i32>
      %21 = stablehlo.broadcast_in_dim %20, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %cst = stablehlo.constant dense<7.000000e+00> : tensor<f32>
      %22 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2xf32>
      %23 = "stablehlo.scatter"(%10, %21, %22) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1]>, unique_indices = true}> ({
      ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
        %37 = stablehlo.add %arg6, %arg7 : tensor<f32>
        stablehlo.return %37 : tensor<f32>
      }) : (tensor<2x8xf32>, tensor<1xi32>, tensor<2xf32>) -> tensor<2x8xf32>
      %c_12 = stablehlo.constant dense<0> : tensor<i32>
      %24 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<i32>) -> tensor<3xi32>
      %25 = stablehlo.multiply %arg3, %24 : tensor<3xi32>
      %c_13 = stablehlo.constant dense<2> : tensor<i32>
      %26 = func.call @remainder(%1, %c_13) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<i32>) -> tensor<3xi32>
      %28 = stablehlo.add %25, %27 : tensor<3xi32>
      %29 = func.call @_take(%arg4, %28) : (tensor<2x8xf32>, tensor<3xi32>) -> tensor<3x8xf32>
      %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %30 = stablehlo.reduce(%29 init: %cst_14) applies stablehlo.add across dimensions = [0] : (tensor<3x8xf32>, tensor<f32>) -> tensor<8xf32>
      %31 = stablehlo.add %10, %23 : tensor<2x8xf32>
      %c_15 = stablehlo.constant dense<0> : tensor<i32>
      %32 = func.call @_pad(%17, %c_15) : (tensor<2x2xf32>, tensor<i32>) -> tensor<2x8xf32>
      %33 = stablehlo.add %31, %32 : tensor<2x8xf32>
      %34 = stablehlo.broadcast_in_dim %30, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
      %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<2x8xf32>
      %36 = stablehlo.add %33, %35 : tensor<2x8xf32>
      sdy.return %36 : tensor<2x8xf32>
    } : (tensor<2xi32>, tensor<3xi32>, tensor<16x8xf32>, tensor<8xi32>) -> tensor<16x8xf32>
    return %0 : tensor<16x8xf32>
  }
  func.func private @floor_divide(%arg0: tensor<i32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.divide %arg0, %0 : tensor<i32>
    %2 = stablehlo.sign %arg0 : tensor<i32>
    %3 = stablehlo.sign %0 : tensor<i32>
    %4 = stablehlo.compare NE, %2, %3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.remainder %arg0, %0 : tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare NE, %5, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.and %4, %6 : tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %8 = stablehlo.subtract %1, %c_0 : tensor<i32>
    %9 = call @_where(%7, %8, %1) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    return %9 : tensor<i32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @remainder(%arg0: tensor<i32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = call @_where(%1, %c_0, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.remainder %arg0, %2 : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.compare NE, %3, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.compare LT, %3, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.compare NE, %5, %6, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %8 = stablehlo.and %7, %4 : tensor<i1>
    %9 = stablehlo.add %3, %2 : tensor<i32>
    %10 = stablehlo.select %8, %9, %3 : tensor<i1>, tensor<i32>
    return %10 : tensor<i32>
  }
  func.func private @_take(%arg0: tensor<2x8xf32>, %arg1: tensor<3xi32>) -> tensor<3x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<3xi32>
    %4 = call @_where_0(%1, %3, %arg1) : (tensor<3xi1>, tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %c_1 = stablehlo.constant dense<1> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<3x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [1] : (tensor<1xi32>) -> tensor<1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<1x1xi32>) -> tensor<3x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<3x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [1] : (tensor<3x1xi1>, tensor<i1>) -> tensor<3xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<2x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [0] : (tensor<3xi1>) -> tensor<3x8xi1>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x8xf32>
    %16 = stablehlo.select %14, %13, %15 : tensor<3x8xi1>, tensor<3x8xf32>
    return %16 : tensor<3x8xf32>
  }
  func.func private @_where_0(%arg0: tensor<3xi1>, %arg1: tensor<3xi32>, %arg2: tensor<3xi32>) -> tensor<3xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<3xi1>, tensor<3xi32>
    return %0 : tensor<3xi32>
  }
  func.func private @_pad(%arg0: tensor<2x2xf32>, %arg1: tensor<i32>) -> tensor<2x8xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.pad %arg0, %0, low = [0, 0], high = [0, 6], interior = [0, 0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x8xf32>
    return %1 : tensor<2x8xf32>
  }
}
