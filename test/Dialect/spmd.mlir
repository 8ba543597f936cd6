// RUN: mesh-opt %s | mesh-opt | FileCheck %s
// Shard types and collectives are read and printed.

#mesh = #dtensor.mesh<x = 2, y = 2>
#full = #dtensor.layout<#mesh, [*, *]>
#rows = #dtensor.layout<#mesh, [x, *]>
#columns = #dtensor.layout<#mesh, [*, x]>
#xy = #dtensor.layout<#mesh, [{x, y}, *]>
#yx = #dtensor.layout<#mesh, [{y, x}, *]>
#sum = #dtensor.layout<#mesh, [*, *] partial<x: sum>>

// CHECK-LABEL: func.func @collectives
func.func @collectives(%p: tensor<5x4xf32, #spmd.shard<[5, 4], #sum>>,
                       %r: tensor<3x4xf32, #spmd.shard<[5, 4], #rows>>,
                       %q: tensor<2x4xf32, #spmd.shard<[5, 4], #xy>>) {
  // CHECK-NEXT: spmd.all_reduce sum over [x] %{{.*}} : (tensor<5x4xf32, #spmd.shard<[5, 4], #layout_u_u_sum_x>>) -> tensor<5x4xf32, #spmd.shard<[5, 4], #layout_u_u>>
  %0 = spmd.all_reduce sum over [x] %p : (tensor<5x4xf32, #spmd.shard<[5, 4], #sum>>) -> tensor<5x4xf32, #spmd.shard<[5, 4], #full>>
  // Combined, and with notes.
  // CHECK-NEXT: %{{.*}}:2 = spmd.all_reduce sum over [x] %{{.*}}, %{{.*}} {bytes = 160 : i64, reason = "dW"}
  %1:2 = spmd.all_reduce sum over [x] %p, %p {bytes = 160 : i64, reason = "dW"} : (tensor<5x4xf32, #spmd.shard<[5, 4], #sum>>, tensor<5x4xf32, #spmd.shard<[5, 4], #sum>>) -> (tensor<5x4xf32, #spmd.shard<[5, 4], #full>>, tensor<5x4xf32, #spmd.shard<[5, 4], #full>>)
  // CHECK-NEXT: spmd.reduce_scatter sum over [x]
  %2 = spmd.reduce_scatter sum over [x] %p : (tensor<5x4xf32, #spmd.shard<[5, 4], #sum>>) -> tensor<3x4xf32, #spmd.shard<[5, 4], #rows>>
  // CHECK-NEXT: spmd.all_gather over [x]
  %3 = spmd.all_gather over [x] %r : (tensor<3x4xf32, #spmd.shard<[5, 4], #rows>>) -> tensor<5x4xf32, #spmd.shard<[5, 4], #full>>
  // CHECK-NEXT: spmd.all_to_all over [x]
  %4 = spmd.all_to_all over [x] %r : (tensor<3x4xf32, #spmd.shard<[5, 4], #rows>>) -> tensor<5x2xf32, #spmd.shard<[5, 4], #columns>>
  // CHECK-NEXT: spmd.permute over [x, y]
  %5 = spmd.permute over [x, y] %q : (tensor<2x4xf32, #spmd.shard<[5, 4], #xy>>) -> tensor<2x4xf32, #spmd.shard<[5, 4], #yx>>
  // CHECK-NEXT: spmd.slice over [x]
  %6 = spmd.slice over [x] %3 : (tensor<5x4xf32, #spmd.shard<[5, 4], #full>>) -> tensor<3x4xf32, #spmd.shard<[5, 4], #rows>>
  return
}

// Local computation is dtensor ops on shards.
// CHECK-LABEL: func.func @local
func.func @local(%x: tensor<3x4xf32, #spmd.shard<[5, 4], #rows>>, %w: tensor<4x6xf32, #spmd.shard<[4, 6], #full>>) -> tensor<3x6xf32, #spmd.shard<[5, 6], #rows>> {
  // CHECK-NEXT: dtensor.exp %{{.*}} : tensor<3x4xf32, #spmd.shard<[5, 4], #layout_x_u>>
  %0 = dtensor.exp %x : tensor<3x4xf32, #spmd.shard<[5, 4], #rows>>
  // CHECK-NEXT: dtensor.matmul
  %1 = dtensor.matmul %0, %w : (tensor<3x4xf32, #spmd.shard<[5, 4], #rows>>, tensor<4x6xf32, #spmd.shard<[4, 6], #full>>) -> tensor<3x6xf32, #spmd.shard<[5, 6], #rows>>
  // A constant's value is global.
  // CHECK-NEXT: dtensor.constant dense<0.000000e+00> : tensor<5x6xf32> -> tensor<3x6xf32, #spmd.shard<[5, 6], #layout_x_u>>
  %2 = dtensor.constant dense<0.0> : tensor<5x6xf32> -> tensor<3x6xf32, #spmd.shard<[5, 6], #rows>>
  %3 = dtensor.add %1, %2 : tensor<3x6xf32, #spmd.shard<[5, 6], #rows>>
  // Indices are global.
  // CHECK: dtensor.iota dim 0 : tensor<3x6xi32, #spmd.shard<[5, 6], #layout_x_u>>
  %4 = dtensor.iota dim 0 : tensor<3x6xi32, #spmd.shard<[5, 6], #rows>>
  return %3 : tensor<3x6xf32, #spmd.shard<[5, 6], #rows>>
}
