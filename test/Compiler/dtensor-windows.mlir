// Behaviour that TensorFlow DTensor's own tests check: convolutions and max
// pooling with a sharded batch, their gradients, and sharded spatial dims.
// RUN: mesh-opt %s --dtensor-propagate-layouts | FileCheck %s --check-prefix=LAYOUT
// RUN: mesh-opt %s --dtensor-partition='machine=ring refine=false' | FileCheck %s
// RUN: mesh-run %s --function=batch --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=filter_gradient --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=pool_gradient --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=spatial --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=filters --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=large_halo --verify --machine=ring --no-refine --private-memories

#mesh = #dtensor.mesh<x = 2, y = 4>
#batch = #dtensor.layout<#mesh, [x, *, *, *]>
#rows = #dtensor.layout<#mesh, [*, x, *, *]>
#plane = #dtensor.layout<#mesh, [*, x, y, *]>
#outputs = #dtensor.layout<#mesh, [*, *, *, y]>
#inputs = #dtensor.layout<#mesh, [*, *, y, *]>
#full = #dtensor.layout<#mesh, [*, *, *, *]>
#line = #dtensor.layout<#mesh, [*, y, *]>
#kernel_rows = #dtensor.layout<#mesh, [x, *, *, *]>

// 80: a sharded batch stays; nothing is sent.
// LAYOUT-LABEL: func.func @batch
// LAYOUT: dtensor.convolution {{.*}} -> tensor<8x8x8x4xf32, #layout_x_u_u_u>
// LAYOUT: dtensor.reduce_window max {{.*}} -> tensor<8x4x4x4xf32, #layout_x_u_u_u>
// CHECK-LABEL: func.func @batch
// CHECK-NOT: over [
// CHECK: return
func.func @batch(%x: tensor<8x8x8x3xf32, #batch>, %w: tensor<3x3x3x4xf32>) -> tensor<8x4x4x4xf32> {
  %low = dtensor.constant dense<0xFF800000> : tensor<f32>
  %0 = dtensor.convolution %x, %w dims [b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f] padding [1, 1, 1, 1] : (tensor<8x8x8x3xf32, #batch>, tensor<3x3x3x4xf32>) -> tensor<8x8x8x4xf32>
  %1 = dtensor.reduce_window max %0 init %low window [1, 2, 2, 1] strides [1, 2, 2, 1] : (tensor<8x8x8x4xf32>, tensor<f32>) -> tensor<8x4x4x4xf32>
  return %1 : tensor<8x4x4x4xf32>
}

// 80: the filters' gradient sums over the batch: one all_reduce.
// LAYOUT-LABEL: func.func @filter_gradient
// LAYOUT: dtensor.convolution {{.*}} -> tensor<3x3x3x4xf32, #layout_u_u_u_u_sum_x>
// CHECK-LABEL: func.func @filter_gradient
// CHECK-NEXT: dtensor.convolution
// CHECK-NEXT: spmd.all_reduce sum over [x]
// CHECK-NEXT: return
func.func @filter_gradient(%x: tensor<8x8x8x3xf32, #batch>, %dy: tensor<8x6x6x4xf32, #batch>) -> tensor<3x3x3x4xf32> {
  %0 = dtensor.convolution %x, %dy dims [f, 0, 1, b] x [i, 0, 1, o] -> [0, 1, b, f] : (tensor<8x8x8x3xf32, #batch>, tensor<8x6x6x4xf32, #batch>) -> tensor<3x3x3x4xf32>
  return %0 : tensor<3x3x3x4xf32>
}

// 80: the gradient of max pooling keeps the batch.
// LAYOUT-LABEL: func.func @pool_gradient
// LAYOUT: dtensor.select_and_scatter {{.*}} -> tensor<8x8x8x4xf32, #layout_x_u_u_u>
// CHECK-LABEL: func.func @pool_gradient
// CHECK-NOT: over [
// CHECK: return
func.func @pool_gradient(%x: tensor<8x8x8x4xf32, #batch>, %dy: tensor<8x4x4x4xf32, #batch>) -> tensor<8x8x8x4xf32> {
  %zero = dtensor.constant dense<0.0> : tensor<f32>
  %0 = dtensor.select_and_scatter %x, %dy init %zero select max scatter sum window [1, 2, 2, 1] strides [1, 2, 2, 1] : (tensor<8x8x8x4xf32, #batch>, tensor<8x4x4x4xf32, #batch>, tensor<f32>) -> tensor<8x8x8x4xf32>
  return %0 : tensor<8x8x8x4xf32>
}

// 80: SAME and VALID with sharded rows: one row each from the neighbours.
// CHECK-LABEL: func.func @spatial
// CHECK: spmd.halo_exchange over [x]
// CHECK-SAME: windows [*, [0:5, 3:8], *, *]
// CHECK-NEXT: dtensor.convolution {{.*}} padding [1, 1, 1, 1]
// CHECK: spmd.halo_exchange over [x, y]
// CHECK-SAME: windows [*, [0:5, 3:8], [0:4, 2:6, 4:8, 0:0], *]
// CHECK-NEXT: dtensor.convolution
func.func @spatial(%x: tensor<8x8x8x3xf32, #rows>, %z: tensor<8x8x8x3xf32, #plane>, %w: tensor<3x3x3x4xf32>) -> (tensor<8x8x8x4xf32, #rows>, tensor<8x6x6x4xf32, #plane>) {
  %0 = dtensor.convolution %x, %w dims [b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f] padding [1, 1, 1, 1] : (tensor<8x8x8x3xf32, #rows>, tensor<3x3x3x4xf32>) -> tensor<8x8x8x4xf32, #rows>
  %1 = dtensor.convolution %z, %w dims [b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f] : (tensor<8x8x8x3xf32, #plane>, tensor<3x3x3x4xf32>) -> tensor<8x6x6x4xf32, #plane>
  return %0, %1 : tensor<8x8x8x4xf32, #rows>, tensor<8x6x6x4xf32, #plane>
}

// 80: where DTensor cannot, ours computes: filters whose output features, input
// features (a sum) or rows are sharded.
// CHECK-LABEL: func.func @filters
// CHECK: dtensor.convolution {{.*}} -> tensor<8x8x8x1xf32, #spmd.shard<[8, 8, 8, 4], #layout_u_u_u_y{{ ?}}>>
// CHECK: dtensor.convolution {{.*}}#layout_u_u_u_u_sum_y
// CHECK: spmd.all_gather over [x]
// CHECK: dtensor.convolution {{.*}} -> tensor<8x5x5x4xf32, #spmd.shard<[8, 5, 5, 4], #layout_u_u_u_u{{ ?}}>>
func.func @filters(%x: tensor<8x8x8x8xf32, #full>, %o: tensor<3x3x8x4xf32, #outputs>, %i: tensor<3x3x8x4xf32, #inputs>, %k: tensor<4x4x8x4xf32, #kernel_rows>)
    -> (tensor<8x8x8x4xf32, #outputs>, tensor<8x8x8x4xf32, #full>, tensor<8x5x5x4xf32, #full>) {
  %0 = dtensor.convolution %x, %o dims [b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f] padding [1, 1, 1, 1] : (tensor<8x8x8x8xf32, #full>, tensor<3x3x8x4xf32, #outputs>) -> tensor<8x8x8x4xf32, #outputs>
  %1 = dtensor.convolution %x, %i dims [b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f] padding [1, 1, 1, 1] : (tensor<8x8x8x8xf32, #full>, tensor<3x3x8x4xf32, #inputs>) -> tensor<8x8x8x4xf32, #full>
  %2 = dtensor.convolution %x, %k dims [b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f] : (tensor<8x8x8x8xf32, #full>, tensor<4x4x8x4xf32, #kernel_rows>) -> tensor<8x5x5x4xf32, #full>
  return %0, %1, %2 : tensor<8x8x8x4xf32, #outputs>, tensor<8x8x8x4xf32, #full>, tensor<8x5x5x4xf32, #full>
}

// 80: a halo larger than a shard: rows of the next device but one.
// CHECK-LABEL: func.func @large_halo
// CHECK: spmd.halo_exchange over [y]
// CHECK-SAME: windows [*, [0:8, 0:11, 1:12, 4:12], *]
// CHECK-NEXT: dtensor.convolution
// CHECK-NEXT: return
func.func @large_halo(%x: tensor<2x12x3xf32, #line>, %w: tensor<11x3x4xf32>) -> tensor<2x12x4xf32, #line> {
  %0 = dtensor.convolution %x, %w dims [b, 0, f] x [0, i, o] -> [b, 0, f] padding [5, 5] : (tensor<2x12x3xf32, #line>, tensor<11x3x4xf32>) -> tensor<2x12x4xf32, #line>
  return %0 : tensor<2x12x4xf32, #line>
}
