// Gathers of numbers are computed in kernels: tables that are computed or
// moved, index vectors that are joined, and users that pad, reduce or loop.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2, y = 2>
#v = #dtensor.layout<#mesh, [{x, y}]>

func.func @main(%x: tensor<40xf32>, %i: tensor<40xi32, #v>, %m: tensor<9x7xf32>,
                %j: tensor<40xui8>)
    -> (tensor<40xf32>, tensor<40xf32>, tensor<45xf32>, tensor<f32>,
        tensor<40xf32>, tensor<7xf32>) {
  %one = dtensor.constant dense<1.0> : tensor<40xf32>
  %zero = dtensor.constant dense<0.0> : tensor<f32>

  // The table is computed, and what is picked is added to it.
  %0 = dtensor.multiply %x, %x : tensor<40xf32>
  %1 = dtensor.add %0, %one : tensor<40xf32>
  %2 = dtensor.gather %1, %i {collapsed_slice_dims = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>} : (tensor<40xf32>, tensor<40xi32, #v>) -> tensor<40xf32>
  %3 = dtensor.add %2, %1 : tensor<40xf32>

  // Index vectors are joined of one that is given and one that is computed;
  // both lead outside of the table.
  %4 = dtensor.add %i, %i : (tensor<40xi32, #v>, tensor<40xi32, #v>) -> tensor<40xi32>
  %5 = dtensor.reshape %4 : (tensor<40xi32>) -> tensor<40x1xi32>
  %6 = dtensor.reshape %i : (tensor<40xi32, #v>) -> tensor<40x1xi32>
  %7 = dtensor.concatenate %6, %5 dim 1 : (tensor<40x1xi32>, tensor<40x1xi32>) -> tensor<40x2xi32>
  %8 = dtensor.gather %m, %7 {collapsed_slice_dims = array<i64: 0, 1>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1, 0>} : (tensor<9x7xf32>, tensor<40x2xi32>) -> tensor<40xf32>
  %9 = dtensor.tanh %8 : tensor<40xf32>

  // What is picked is padded, and summed.
  %10 = dtensor.gather %x, %j {collapsed_slice_dims = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>} : (tensor<40xf32>, tensor<40xui8>) -> tensor<40xf32>
  %11 = dtensor.pad %10, %zero low [2] high [3] interior [0] : (tensor<40xf32>, tensor<f32>) -> tensor<45xf32>
  %12 = dtensor.tanh %11 : tensor<45xf32>
  %13 = dtensor.multiply %10, %8 : tensor<40xf32>
  %14 = dtensor.reduce sum %13 dims [0] : (tensor<40xf32>) -> tensor<f32>

  // A loop picks elements of what is moved before it.
  %15 = dtensor.reverse %x dims [0] : (tensor<40xf32>) -> tensor<40xf32>
  %count = dtensor.constant dense<0> : tensor<i32>
  %step = dtensor.constant dense<1> : tensor<i32>
  %end = dtensor.constant dense<3> : tensor<i32>
  %loop:3 = dtensor.while (%count, %j, %one) : (tensor<i32>, tensor<40xui8>, tensor<40xf32>) -> (tensor<i32>, tensor<40xui8>, tensor<40xf32>) cond {
  ^bb0(%k: tensor<i32>, %at: tensor<40xui8>, %s: tensor<40xf32>):
    %p = dtensor.compare LT, %k, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%k: tensor<i32>, %at: tensor<40xui8>, %s: tensor<40xf32>):
    %next = dtensor.add %k, %step : tensor<i32>
    %picked = dtensor.gather %15, %at {collapsed_slice_dims = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>} : (tensor<40xf32>, tensor<40xui8>) -> tensor<40xf32>
    %sum = dtensor.add %s, %picked : tensor<40xf32>
    %twice = dtensor.add %at, %at : tensor<40xui8>
    dtensor.yield %next, %twice, %sum : tensor<i32>, tensor<40xui8>, tensor<40xf32>
  }

  // Columns are picked, and summed along the rows.
  %16 = dtensor.gather %m, %7 {collapsed_slice_dims = array<i64: 1>, index_vector_dim = 1 : i64, offset_dims = array<i64: 1>, slice_sizes = array<i64: 7, 1>, start_index_map = array<i64: 1, 0>} : (tensor<9x7xf32>, tensor<40x2xi32>) -> tensor<40x7xf32>
  %17 = dtensor.reduce max %16 dims [0] : (tensor<40x7xf32>) -> tensor<7xf32>
  return %3, %9, %12, %14, %loop#2, %17 : tensor<40xf32>, tensor<40xf32>, tensor<45xf32>, tensor<f32>, tensor<40xf32>, tensor<7xf32>
}
