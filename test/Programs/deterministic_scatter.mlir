// Sums of windows that meet in a few places have the same bits whether the
// result is whole or cut over devices, whose parts have as many updates.
// RUN: mesh-run %s --verify --deterministic --output-dir=%t.whole
// RUN: mesh-run %s --verify --deterministic --machine=ring --private-memories --output-dir=%t.cut
// RUN: cmp %t.whole/result_0.npy %t.cut/result_0.npy
// RUN: cmp %t.whole/result_1.npy %t.cut/result_1.npy
// RUN: cmp %t.whole/result_2.npy %t.cut/result_2.npy
#mesh = #dtensor.mesh<x = 3, y = 2>
#cut = #dtensor.layout<#mesh, [{y, x}, *, *]>

func.func @main(%a: tensor<7x6x7xf16, #cut>, %b: tensor<7x6x7xf32, #cut>, %c: tensor<7x6x7xf64, #cut>,
                %u: tensor<6x5x5x4xf16>, %v: tensor<6x5x5x4xf32>, %w: tensor<6x5x5x4xf64>)
    -> (tensor<7x6x7xf16, #cut>, tensor<7x6x7xf32, #cut>, tensor<7x6x7xf64, #cut>) {
  %i = dtensor.constant dense<[[3, 2, 1, 0, 3, 1], [0, 1, 2, 1, 0, 2], [1, 0, 1, 1, 0, 0]]> : tensor<3x6xi32>
  %0 = dtensor.scatter %a at %i with %u {index_vector_dim = 0 : i64, kind = #dtensor.kind<sum>, scatter_dims_to_operand_dims = array<i64: 2, 0, 1>, update_window_dims = array<i64: 1, 2, 3>}
      : (tensor<7x6x7xf16, #cut>, tensor<3x6xi32>, tensor<6x5x5x4xf16>) -> tensor<7x6x7xf16, #cut>
  %1 = dtensor.scatter %b at %i with %v {index_vector_dim = 0 : i64, kind = #dtensor.kind<sum>, scatter_dims_to_operand_dims = array<i64: 2, 0, 1>, update_window_dims = array<i64: 1, 2, 3>}
      : (tensor<7x6x7xf32, #cut>, tensor<3x6xi32>, tensor<6x5x5x4xf32>) -> tensor<7x6x7xf32, #cut>
  %2 = dtensor.scatter %c at %i with %w {index_vector_dim = 0 : i64, kind = #dtensor.kind<sum>, scatter_dims_to_operand_dims = array<i64: 2, 0, 1>, update_window_dims = array<i64: 1, 2, 3>}
      : (tensor<7x6x7xf64, #cut>, tensor<3x6xi32>, tensor<6x5x5x4xf64>) -> tensor<7x6x7xf64, #cut>
  return %0, %1, %2 : tensor<7x6x7xf16, #cut>, tensor<7x6x7xf32, #cut>, tensor<7x6x7xf64, #cut>
}
