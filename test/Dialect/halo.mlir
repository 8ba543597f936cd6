// Windows round-trip: of shards, of kernels' loops; pad and take.
// RUN: mesh-opt %s | mesh-opt | FileCheck %s

#mesh = #dtensor.mesh<x = 2, y = 2>
#rows = #dtensor.layout<#mesh, [x, *]>
#both = #dtensor.layout<#mesh, [x, y]>
#one = #dtensor.layout<#mesh, [x]>

// CHECK-LABEL: func.func @exchange
func.func @exchange(%a: tensor<5x4xf32, #spmd.shard<[10, 4], #rows>>, %b: tensor<5x2xf32, #spmd.shard<[10, 4], #both>>) {
  // CHECK-NEXT: spmd.halo_exchange over [x] %{{.*}} {bytes = 16 : i64} : (tensor<5x4xf32, #spmd.shard<[10, 4], #layout_x_u>>) -> tensor<6x4xf32, #spmd.shard<[10, 4], #layout_x_u, windows {{\[\[}}0:6, 4:10], *]>>
  %0 = spmd.halo_exchange over [x] %a {bytes = 16 : i64} : (tensor<5x4xf32, #spmd.shard<[10, 4], #rows>>) -> tensor<6x4xf32, #spmd.shard<[10, 4], #rows, windows [[0:6, 4:10], *]>>
  // Empty windows, and windows of two dims.
  // CHECK-NEXT: spmd.halo_exchange over [x, y] %{{.*}} -> tensor<8x4xf32, #spmd.shard<[10, 4], #layout_x_y, windows {{\[\[}}0:8, 0:0], [0:4, 2:2]]>>
  %1 = spmd.halo_exchange over [x, y] %b : (tensor<5x2xf32, #spmd.shard<[10, 4], #both>>) -> tensor<8x4xf32, #spmd.shard<[10, 4], #both, windows [[0:8, 0:0], [0:4, 2:2]]>>
  return
}

// A slice keeps what devices have anyway.
// CHECK-LABEL: func.func @cut
func.func @cut(%a: tensor<10xf32, #spmd.shard<[10], #dtensor.layout<#mesh, [*]>>>) {
  // CHECK-NEXT: spmd.slice over [x] {{.*}} -> tensor<7xf32, #spmd.shard<[10], #layout_x, windows {{\[\[}}0:7, 3:10]]>>
  %0 = spmd.slice over [x] %a : (tensor<10xf32, #spmd.shard<[10], #dtensor.layout<#mesh, [*]>>>) -> tensor<7xf32, #spmd.shard<[10], #one, windows [[0:7, 3:10]]>>
  return
}

// CHECK-LABEL: func.func @kernel
func.func @kernel(%a: tensor<5xf32, #spmd.shard<[10], #one>>) {
  // CHECK-NEXT: spmd.kernel loops [10 over [x] ranges [0, 4, 4, 10]] ins (%{{.*}} at #map) outs (#map1)
  %0 = spmd.kernel loops [10 over [x] ranges [0, 4, 4, 10]]
      ins (%a at affine_map<(d0) -> (d0 - 1)>) outs (affine_map<(d0) -> (d0)>)
      : (tensor<5xf32, #spmd.shard<[10], #one>>) -> tensor<5xf32, #spmd.shard<[10], #one>> {
  ^bb0(%x: f32):
    %i = spmd.index 0
    %zero = arith.constant 0 : i64
    %inside = arith.cmpi sgt, %i, %zero : i64
    // CHECK: spmd.read 0 if %{{.*}} : f32
    %v = spmd.read 0 if %inside : f32
    spmd.yield %v : f32
  }
  return
}

// CHECK-LABEL: func.func @ops
func.func @ops(%x: tensor<8x4xf32>, %v: tensor<f32>) {
  // CHECK-NEXT: dtensor.pad %{{.*}}, %{{.*}} low [1, 0] high [2, -1] interior [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<11x6xf32>
  %0 = dtensor.pad %x, %v low [1, 0] high [2, -1] interior [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<11x6xf32>
  // CHECK-NEXT: dtensor.take %{{.*}} dim 1 at [3, -1] : (tensor<8x4xf32>) -> tensor<8x2xf32>
  %1 = dtensor.take %x dim 1 at [3, -1] : (tensor<8x4xf32>) -> tensor<8x2xf32>
  return
}
