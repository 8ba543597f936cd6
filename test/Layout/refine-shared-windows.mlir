// What several uses of a value need beyond its blocks is priced as the one
// exchange that is made of it.
// RUN: mesh-opt %s --dtensor-propagate-layouts --dtensor-refine-layouts=machine=ring --dtensor-insert-relayouts --dtensor-expand-to-spmd=machine=ring --split-input-file | FileCheck %s

#columns = #dtensor.layout<#dtensor.mesh<x = 4>, [*, x]>

// A roll: each device sends its block and gets another, 384 bytes in 38.4 ns,
// and not so much for each of the two shifts that it is made of.
// CHECK-LABEL: func.func @roll
// CHECK-SAME: dtensor.refined = ["predicted 46.1 ns -> 46.1 ns"]
// CHECK: spmd.halo_exchange over [x] %arg0 {bytes = 384 : i64
// CHECK-NOT: spmd.{{all_to_all|halo_exchange}}
// CHECK: return
func.func @roll(%a: tensor<48x8xf32, #columns>) -> tensor<48x8xf32, #columns> {
  %zero = dtensor.constant dense<0.0> : tensor<f32>
  %front = dtensor.pad %a, %zero low [0, -4] high [0, 4] interior [0, 0] : (tensor<48x8xf32, #columns>, tensor<f32>) -> tensor<48x8xf32>
  %back = dtensor.pad %a, %zero low [0, 4] high [0, -4] interior [0, 0] : (tensor<48x8xf32, #columns>, tensor<f32>) -> tensor<48x8xf32>
  %i = dtensor.iota dim 1 : tensor<48x8xi32>
  %four = dtensor.constant dense<4> : tensor<48x8xi32>
  %is_front = dtensor.compare LT, %i, %four : (tensor<48x8xi32>, tensor<48x8xi32>) -> tensor<48x8xi1>
  %r = dtensor.select %is_front, %front, %back : (tensor<48x8xi1>, tensor<48x8xf32>, tensor<48x8xf32>) -> tensor<48x8xf32, #columns>
  return %r : tensor<48x8xf32, #columns>
}

// -----

#columns = #dtensor.layout<#dtensor.mesh<x = 4>, [*, x]>

// A window of one column and one of two: two columns, 384 bytes, are sent.
// CHECK-LABEL: func.func @two_columns
// CHECK-SAME: dtensor.refined = ["predicted 53.8 ns -> 53.8 ns"]
// CHECK: spmd.halo_exchange over [x] %arg0 {bytes = 384 : i64
// CHECK-NOT: spmd.{{all_to_all|halo_exchange}}
// CHECK: return
func.func @two_columns(%a: tensor<48x16xf32, #columns>) -> tensor<48x16xf32, #columns> {
  %zero = dtensor.constant dense<0.0> : tensor<f32>
  %one = dtensor.pad %a, %zero low [0, 1] high [0, -1] interior [0, 0] : (tensor<48x16xf32, #columns>, tensor<f32>) -> tensor<48x16xf32>
  %two = dtensor.pad %a, %zero low [0, 2] high [0, -2] interior [0, 0] : (tensor<48x16xf32, #columns>, tensor<f32>) -> tensor<48x16xf32>
  %s = dtensor.add %one, %two : (tensor<48x16xf32>, tensor<48x16xf32>) -> tensor<48x16xf32, #columns>
  return %s : tensor<48x16xf32, #columns>
}
