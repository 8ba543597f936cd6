// Types become shards, relayouts become collectives.
// RUN: mesh-opt %s --dtensor-expand-to-spmd='machine=ring' --split-input-file | FileCheck %s

#mesh = #dtensor.mesh<x = 2, y = 4>
#xu = #dtensor.layout<#mesh, [x, *]>

// Shards are padded; attributes keep the global shape; origins are dropped.
// CHECK-LABEL: func.func @local_types
// CHECK-SAME: (%arg0: tensor<4x5xf32, #spmd.shard<[7, 5], #layout_x_u>>) -> tensor<4x5xf32, #spmd.shard<[7, 5], #layout_x_u>>
// CHECK-NEXT: %[[C:.*]] = dtensor.constant dense<1.0{{.*}}> : tensor<7x5xf32> -> tensor<4x5xf32, #spmd.shard<[7, 5], #layout_x_u>>
// CHECK-NEXT: dtensor.add %arg0, %[[C]] : tensor<4x5xf32, #spmd.shard<[7, 5], #layout_x_u>>
func.func @local_types(%a: tensor<7x5xf32, #xu>) -> tensor<7x5xf32, #xu> {
  %0 = dtensor.constant dense<1.0> : tensor<7x5xf32> -> tensor<7x5xf32, #xu>
  %1 = dtensor.add %a, %0 {dtensor.origin = {x = "argument #0 [x, *]"}} : tensor<7x5xf32, #xu>
  return %1 : tensor<7x5xf32, #xu>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#uu = #dtensor.layout<#mesh, [*, *]>
#partial = #dtensor.layout<#mesh, [*, *] partial<x: sum, y: sum>>

// Each collective says why it is there and what one device gets.
// CHECK-LABEL: func.func @all_reduce
// CHECK: spmd.all_reduce sum over [x, y] %arg0 {bytes = 256 : i64, dtensor.origin = {x = "argument 'a'"}, reason = "because"}
func.func @all_reduce(%a: tensor<8x8xf32, #partial>) -> tensor<8x8xf32, #uu> {
  %0 = dtensor.relayout %a {dtensor.reason = "because", dtensor.origin = {x = "argument 'a'"}}
      : (tensor<8x8xf32, #partial>) -> tensor<8x8xf32, #uu>
  return %0 : tensor<8x8xf32, #uu>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#xy = #dtensor.layout<#mesh, [x, y]>
#uu = #dtensor.layout<#mesh, [*, *]>

// A relayout to the same layout is nothing; the user's own says so.
// CHECK-LABEL: func.func @own_relayouts
// CHECK-NEXT: %[[A:.*]] = spmd.all_gather over [x, y] %arg0 {bytes = 256 : i64, reason = "[x, y] -> [*, *] asked for"}
// CHECK-NEXT: return %[[A]], %arg0
func.func @own_relayouts(%a: tensor<8x8xf32, #xy>) -> (tensor<8x8xf32, #uu>, tensor<8x8xf32, #xy>) {
  %0 = dtensor.relayout %a : (tensor<8x8xf32, #xy>) -> tensor<8x8xf32, #uu>
  %1 = dtensor.relayout %a : (tensor<8x8xf32, #xy>) -> tensor<8x8xf32, #xy>
  return %0, %1 : tensor<8x8xf32, #uu>, tensor<8x8xf32, #xy>
}

// -----

// A function without tensors is left alone.
// CHECK-LABEL: func.func @empty()
// CHECK-NEXT: return
func.func @empty() {
  return
}
