// Negative indices of gathers and scatters, which count from the end: -12 and
// 12 stay out of bounds. Indices of one entry, and of two; whole and cut over
// devices.
// RUN: %verify
// RUN: mesh-opt --target=cpu %s | FileCheck %s
// The library adds the extents and reads rows and columns where they lie: no
// kernel computes or joins indices before.
// CHECK-NOT: concatenate
// CHECK: spmd.library_call "scatter" {{.*}} wrapped_extents = array<i64: 9, 7>
// CHECK: spmd.library_call "scatter" {{.*}} wrapped_extents = array<i64: 9>
// CHECK: spmd.library_call "gather" {{.*}} wrapped_extents = array<i64: 9>
#mesh = #dtensor.mesh<x = 2, y = 2>
#v = #dtensor.layout<#mesh, [x]>
#m = #dtensor.layout<#mesh, [x, y]>

func.func @main(%t: tensor<9x7xf32>, %cut: tensor<9x7xf32, #m>,
                %i: tensor<40xi32> {dtensor.range = array<f64: -13.0, 13.0>},
                %j: tensor<40xi32> {dtensor.range = array<f64: -9.0, 9.0>},
                %k: tensor<40xi64, #v> {dtensor.range = array<f64: -13.0, 13.0>},
                %l: tensor<40xi32> {dtensor.range = array<f64: -13.0, 13.0>},
                %u: tensor<40xf32>, %squares: tensor<40x2x2xf32>, %rows: tensor<40x7xf32>)
    -> (tensor<9x7xf32>, tensor<9x7xf32>, tensor<9x7xf32>, tensor<9x7xf32>, tensor<40x7xf32>) {
  %zero = dtensor.constant dense<0> : tensor<40xi32>
  %nine = dtensor.constant dense<9> : tensor<40xi32>
  %seven = dtensor.constant dense<7> : tensor<40xi32>
  %zero64 = dtensor.constant dense<0> : tensor<40xi64>
  %nine64 = dtensor.constant dense<9> : tensor<40xi64>
  %iIsNegative = dtensor.compare LT, %i, %zero : (tensor<40xi32>, tensor<40xi32>) -> tensor<40xi1>
  %iFromEnd = dtensor.add %i, %nine : tensor<40xi32>
  %row = dtensor.select %iIsNegative, %iFromEnd, %i : (tensor<40xi1>, tensor<40xi32>, tensor<40xi32>) -> tensor<40xi32>
  %jIsNegative = dtensor.compare LT, %j, %zero : (tensor<40xi32>, tensor<40xi32>) -> tensor<40xi1>
  %jFromEnd = dtensor.add %j, %seven : tensor<40xi32>
  %column = dtensor.select %jIsNegative, %jFromEnd, %j : (tensor<40xi1>, tensor<40xi32>, tensor<40xi32>) -> tensor<40xi32>
  %kIsNegative = dtensor.compare LT, %k, %zero64 : (tensor<40xi64, #v>, tensor<40xi64>) -> tensor<40xi1>
  %kFromEnd = dtensor.add %k, %nine64 : (tensor<40xi64, #v>, tensor<40xi64>) -> tensor<40xi64>
  %row64 = dtensor.select %kIsNegative, %kFromEnd, %k : (tensor<40xi1>, tensor<40xi64>, tensor<40xi64, #v>) -> tensor<40xi64>
  %rowOnly = dtensor.reshape %row : (tensor<40xi32>) -> tensor<40x1xi32>
  %columnOnly = dtensor.reshape %column : (tensor<40xi32>) -> tensor<40x1xi32>
  %both = dtensor.concatenate %rowOnly, %columnOnly dim 1 : (tensor<40x1xi32>, tensor<40x1xi32>) -> tensor<40x2xi32>
  %corners = dtensor.concatenate %columnOnly, %rowOnly dim 1 : (tensor<40x1xi32>, tensor<40x1xi32>) -> tensor<40x2xi32>
  %numbers = dtensor.scatter %t at %both with %u {index_vector_dim = 1 : i64,
      inserted_window_dims = array<i64: 0, 1>, kind = #dtensor.kind<sum>,
      scatter_dims_to_operand_dims = array<i64: 0, 1>}
      : (tensor<9x7xf32>, tensor<40x2xi32>, tensor<40xf32>) -> tensor<9x7xf32>
  %boxes = dtensor.scatter %cut at %corners with %squares {index_vector_dim = 1 : i64,
      kind = #dtensor.kind<sum>, scatter_dims_to_operand_dims = array<i64: 0, 1>,
      update_window_dims = array<i64: 1, 2>}
      : (tensor<9x7xf32, #m>, tensor<40x2xi32>, tensor<40x2x2xf32>) -> tensor<9x7xf32>
  %greatest = dtensor.scatter %cut at %rowOnly with %rows {index_vector_dim = 1 : i64,
      inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<max>,
      scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
      : (tensor<9x7xf32, #m>, tensor<40x1xi32>, tensor<40x7xf32>) -> tensor<9x7xf32>
  %sums = dtensor.scatter %cut at %row64 with %rows {index_vector_dim = 1 : i64,
      inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<sum>,
      scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
      : (tensor<9x7xf32, #m>, tensor<40xi64>, tensor<40x7xf32>) -> tensor<9x7xf32>
  %lIsNegative = dtensor.compare LT, %l, %zero : (tensor<40xi32>, tensor<40xi32>) -> tensor<40xi1>
  %lFromEnd = dtensor.add %l, %nine : tensor<40xi32>
  %last = dtensor.select %lIsNegative, %lFromEnd, %l : (tensor<40xi1>, tensor<40xi32>, tensor<40xi32>) -> tensor<40xi32>
  %taken = dtensor.gather %cut, %last {collapsed_slice_dims = array<i64: 0>, index_vector_dim = 1 : i64,
      offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 7>, start_index_map = array<i64: 0>}
      : (tensor<9x7xf32, #m>, tensor<40xi32>) -> tensor<40x7xf32>
  return %numbers, %boxes, %greatest, %sums, %taken : tensor<9x7xf32>, tensor<9x7xf32>, tensor<9x7xf32>, tensor<9x7xf32>, tensor<40x7xf32>
}
