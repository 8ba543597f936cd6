// Uneven and empty shards: blocks are padded to the largest, what combines
// elements masks the padding, and tables say where blocks begin.
// RUN: mesh-opt %s --spmd-to-stablehlo | FileCheck %s

#mesh = #dtensor.mesh<x = 4>
#whole = #dtensor.layout<#mesh, [*, *]>
#rows = #dtensor.layout<#mesh, [x, *]>
#columns = #dtensor.layout<#mesh, [*, x]>
#sum = #dtensor.layout<#mesh, [*, *] partial<x: sum>>
#max0 = #dtensor.layout<#mesh, [*] partial<x: max>>

// 10 rows are 3, 3, 3 and 1: four padded blocks are 12.
// CHECK-LABEL: func.func @all_gather(
// CHECK: %[[ALL:.*]] = "stablehlo.all_gather"
// CHECK-SAME: (tensor<3x4xf32>) -> tensor<12x4xf32>
// CHECK: stablehlo.slice %[[ALL]] [0:10, 0:4]
func.func @all_gather(%x: tensor<3x4xf32, #spmd.shard<[10, 4], #rows>>) -> tensor<10x4xf32, #spmd.shard<[10, 4], #whole>> {
  %0 = spmd.all_gather over [x] %x : (tensor<3x4xf32, #spmd.shard<[10, 4], #rows>>) -> tensor<10x4xf32, #spmd.shard<[10, 4], #whole>>
  return %0 : tensor<10x4xf32, #spmd.shard<[10, 4], #whole>>
}

// The last block is padded before it is cut off.
// CHECK-LABEL: func.func @slice(
// CHECK: stablehlo.pad
// CHECK-SAME: high = [2, 0]
// CHECK: dense<[0, 3, 6, 9]>
// CHECK: stablehlo.dynamic_slice
// CHECK: stablehlo.dynamic_slice
// CHECK-SAME: sizes = [3, 4]
func.func @slice(%x: tensor<10x4xf32, #spmd.shard<[10, 4], #whole>>) -> tensor<3x4xf32, #spmd.shard<[10, 4], #rows>> {
  %0 = spmd.slice over [x] %x : (tensor<10x4xf32, #spmd.shard<[10, 4], #whole>>) -> tensor<3x4xf32, #spmd.shard<[10, 4], #rows>>
  return %0 : tensor<3x4xf32, #spmd.shard<[10, 4], #rows>>
}

// 6 columns are 2, 2, 2 and none.
// CHECK-LABEL: func.func @all_to_all(
// CHECK: stablehlo.pad
// CHECK-SAME: high = [0, 2]
// CHECK: "stablehlo.all_to_all"
// CHECK-SAME: (tensor<3x8xf32>) -> tensor<12x2xf32>
// CHECK: stablehlo.slice
// CHECK-SAME: [0:10, 0:2]
func.func @all_to_all(%x: tensor<3x6xf32, #spmd.shard<[10, 6], #rows>>) -> tensor<10x2xf32, #spmd.shard<[10, 6], #columns>> {
  %0 = spmd.all_to_all over [x] %x : (tensor<3x6xf32, #spmd.shard<[10, 6], #rows>>) -> tensor<10x2xf32, #spmd.shard<[10, 6], #columns>>
  return %0 : tensor<10x2xf32, #spmd.shard<[10, 6], #columns>>
}

// Minus infinity replaces the two rows that the last device does not have.
// CHECK-LABEL: func.func @max(
// CHECK: stablehlo.constant dense<0xFF800000>
// CHECK: dense<[3, 3, 3, 1]>
// CHECK: %[[IN:.*]] = stablehlo.compare LT
// CHECK: %[[MASK:.*]] = stablehlo.broadcast_in_dim %[[IN]]
// CHECK: %[[X:.*]] = stablehlo.select %[[MASK]]
// CHECK: stablehlo.reduce(%[[X]]
// CHECK: "stablehlo.all_reduce"
func.func @max(%x: tensor<3x4xf32, #spmd.shard<[10, 4], #rows>>) -> tensor<4xf32, #spmd.shard<[4], #dtensor.layout<#mesh, [*]>>> {
  %0 = dtensor.reduce max %x dims [0] : (tensor<3x4xf32, #spmd.shard<[10, 4], #rows>>) -> tensor<4xf32, #spmd.shard<[4], #max0>>
  %1 = spmd.all_reduce max over [x] %0 : (tensor<4xf32, #spmd.shard<[4], #max0>>) -> tensor<4xf32, #spmd.shard<[4], #dtensor.layout<#mesh, [*]>>>
  return %1 : tensor<4xf32, #spmd.shard<[4], #dtensor.layout<#mesh, [*]>>>
}

// CHECK-LABEL: func.func @reduce_scatter(
// CHECK: stablehlo.pad
// CHECK-SAME: high = [2, 0]
// CHECK: "stablehlo.reduce_scatter"
// CHECK: (tensor<12x4xf32>) -> tensor<3x4xf32>
func.func @reduce_scatter(%a: tensor<10x1xf32, #spmd.shard<[10, 3], #columns>>, %b: tensor<1x4xf32, #spmd.shard<[3, 4], #rows>>) -> tensor<3x4xf32, #spmd.shard<[10, 4], #rows>> {
  %p = dtensor.dot_general %a, %b contracting [1] x [0] : (tensor<10x1xf32, #spmd.shard<[10, 3], #columns>>, tensor<1x4xf32, #spmd.shard<[3, 4], #rows>>) -> tensor<10x4xf32, #spmd.shard<[10, 4], #sum>>
  %0 = spmd.reduce_scatter sum over [x] %p : (tensor<10x4xf32, #spmd.shard<[10, 4], #sum>>) -> tensor<3x4xf32, #spmd.shard<[10, 4], #rows>>
  return %0 : tensor<3x4xf32, #spmd.shard<[10, 4], #rows>>
}

// A counter starts where the device's block does.
// CHECK-LABEL: func.func @iota(
// CHECK: stablehlo.iota
// CHECK: dense<[0, 3, 6, 9]>
// CHECK: stablehlo.add
func.func @iota() -> tensor<3x4xi32, #spmd.shard<[10, 4], #rows>> {
  %0 = dtensor.iota dim 0 : tensor<3x4xi32, #spmd.shard<[10, 4], #rows>>
  return %0 : tensor<3x4xi32, #spmd.shard<[10, 4], #rows>>
}
