// Ops move to layouts that the machine model finds cheaper.
// RUN: mesh-opt %s --dtensor-propagate-layouts --dtensor-refine-layouts=machine=ring --split-input-file | FileCheck %s --check-prefixes=CHECK,RING
// RUN: mesh-opt %s --dtensor-propagate-layouts --dtensor-refine-layouts --split-input-file | FileCheck %s --check-prefixes=CHECK,SHARED

#mesh = #dtensor.mesh<batch = 8>
#rows = #dtensor.layout<#mesh, [batch, *]>
#full = #dtensor.layout<#mesh, [*, *]>

// The weight gradient of data parallelism. On a ring its rows are gathered; in
// shared memory the update moves to rows as well. Arguments and results stay.
// CHECK-LABEL: func.func @weight_gradient
// CHECK-SAME: %arg0: tensor<128x784xf32, #layout_batch_u>, %arg1: tensor<128x700xf32, #layout_batch_u>, %arg2: tensor<784x700xf32, #layout_u_u>, %arg3: tensor<784x700xf32, #layout_u_u>) -> (tensor<784x700xf32, #layout_u_u>, tensor<784x700xf32, #layout_u_u>)
// RING-SAME: attributes {dtensor.predicted_time = {{.*}} : i64, dtensor.refined = ["predicted {{.*}} -> {{.*}}", "dtensor.dot_general at {{.*}}:8: [*, *] partial<batch: sum> -> [batch, *], not [*, *] partial<batch: sum>: all_reduce over [batch] of 2195200 bytes; {{.*}} us against {{.*}} us, {{.*}} us more"]}
// CHECK: %[[DH:.*]] = dtensor.negate %arg1 {{.*}} : tensor<128x700xf32, #layout_batch_u>
// CHECK: %[[DW:.*]] = dtensor.dot_general %arg0, %[[DH]]
// CHECK-SAME: dtensor.refined = "[*, *] partial<batch: sum>"
// CHECK-SAME: -> tensor<784x700xf32, #layout_batch_u>
// RING: dtensor.multiply %[[DW]], %[[DW]] {{.*}} -> tensor<784x700xf32, #layout_u_u>
// SHARED: dtensor.multiply %[[DW]], %[[DW]] {{.*}} : tensor<784x700xf32, #layout_batch_u>
// CHECK: return {{.*}} : tensor<784x700xf32, #layout_u_u>, tensor<784x700xf32, #layout_u_u>
func.func @weight_gradient(%x: tensor<128x784xf32, #rows>, %y: tensor<128x700xf32, #rows>, %w: tensor<784x700xf32, #full>, %m: tensor<784x700xf32, #full>) -> (tensor<784x700xf32, #full>, tensor<784x700xf32, #full>) {
  %dh = dtensor.negate %y : (tensor<128x700xf32, #rows>) -> tensor<128x700xf32>
  %0 = dtensor.dot_general %x, %dh contracting [0] x [0] : (tensor<128x784xf32, #rows>, tensor<128x700xf32>) -> tensor<784x700xf32>
  %1 = dtensor.multiply %0, %0 : tensor<784x700xf32>
  %2 = dtensor.add %m, %1 : (tensor<784x700xf32, #full>, tensor<784x700xf32>) -> tensor<784x700xf32>
  %3 = dtensor.subtract %w, %2 : (tensor<784x700xf32, #full>, tensor<784x700xf32>) -> tensor<784x700xf32>
  %4 = dtensor.constraint %2 : (tensor<784x700xf32>) -> tensor<784x700xf32, #full>
  %5 = dtensor.constraint %3 : (tensor<784x700xf32>) -> tensor<784x700xf32, #full>
  return %4, %5 : tensor<784x700xf32, #full>, tensor<784x700xf32, #full>
}

// -----

#mesh = #dtensor.mesh<batch = 8>
#rows = #dtensor.layout<#mesh, [batch, *]>
#full = #dtensor.layout<#mesh, [*, *]>

// With a large batch the all_reduce is the cheapest: what was looked at is
// noted, nothing moves.
// RING-LABEL: func.func @large_batch
// RING: dtensor.dot_general
// RING-NOT: dtensor.refined
// RING-SAME: dtensor.rejected = "[batch, *]: all_to_all over [batch] of 401408 bytes + all_gather over [batch] of 2867200 bytes + all_gather over [batch] of 2195200 bytes; {{.*}} more"
// RING-SAME: -> tensor<784x700xf32, #layout_u_u_sum_batch>
func.func @large_batch(%x: tensor<1024x784xf32, #rows>, %y: tensor<1024x700xf32, #rows>, %w: tensor<784x700xf32, #full>, %m: tensor<784x700xf32, #full>) -> (tensor<784x700xf32, #full>, tensor<784x700xf32, #full>) {
  %dh = dtensor.negate %y : (tensor<1024x700xf32, #rows>) -> tensor<1024x700xf32>
  %0 = dtensor.dot_general %x, %dh contracting [0] x [0] : (tensor<1024x784xf32, #rows>, tensor<1024x700xf32>) -> tensor<784x700xf32>
  %1 = dtensor.multiply %0, %0 : tensor<784x700xf32>
  %2 = dtensor.add %m, %1 : (tensor<784x700xf32, #full>, tensor<784x700xf32>) -> tensor<784x700xf32>
  %3 = dtensor.subtract %w, %2 : (tensor<784x700xf32, #full>, tensor<784x700xf32>) -> tensor<784x700xf32>
  %4 = dtensor.constraint %2 : (tensor<784x700xf32>) -> tensor<784x700xf32, #full>
  %5 = dtensor.constraint %3 : (tensor<784x700xf32>) -> tensor<784x700xf32, #full>
  return %4, %5 : tensor<784x700xf32, #full>, tensor<784x700xf32, #full>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>

// Where there is nothing to gain nothing changes.
// CHECK-LABEL: func.func @local
// CHECK-SAME: dtensor.refined = ["predicted [[TIME:.*]] -> [[TIME]]"]
// CHECK-NOT: dtensor.re{{fined|jected}}
// CHECK: return
func.func @local(%x: tensor<64x64xf32, #rows>) -> tensor<64x64xf32> {
  %0 = dtensor.exp %x : (tensor<64x64xf32, #rows>) -> tensor<64x64xf32>
  %1 = dtensor.add %0, %x : (tensor<64x64xf32>, tensor<64x64xf32, #rows>) -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>
#columns = #dtensor.layout<#mesh, [*, x]>

// What a constraint pins stays, even where it costs two relayouts.
// CHECK-LABEL: func.func @pinned
// CHECK: dtensor.constraint {{.*}} -> tensor<4096x4096xf32, #layout_u_x>
func.func @pinned(%x: tensor<4096x4096xf32, #rows>) -> tensor<4096x4096xf32, #rows> {
  %0 = dtensor.exp %x : (tensor<4096x4096xf32, #rows>) -> tensor<4096x4096xf32>
  %1 = dtensor.constraint %0 : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32, #columns>
  %2 = dtensor.negate %1 : (tensor<4096x4096xf32, #columns>) -> tensor<4096x4096xf32>
  %3 = dtensor.constraint %2 : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32, #rows>
  return %3 : tensor<4096x4096xf32, #rows>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>
#full = #dtensor.layout<#mesh, [*, *]>

// Constants are made in the layout that each user likes.
// SHARED-LABEL: func.func @constant
// SHARED: %[[C:.*]] = dtensor.constant {{.*}} #layout_x_u>
// SHARED: dtensor.multiply %{{.*}}, %[[C]] {{.*}} : tensor<512x512xf32, #layout_x_u>
func.func @constant(%x: tensor<512x512xf32, #rows>, %y: tensor<512x512xf32, #rows>) -> tensor<512x512xf32, #full> {
  %0 = dtensor.dot_general %x, %y contracting [0] x [0] : (tensor<512x512xf32, #rows>, tensor<512x512xf32, #rows>) -> tensor<512x512xf32>
  %1 = dtensor.exp %0 : tensor<512x512xf32>
  %2 = dtensor.constant dense<2.0> : tensor<512x512xf32>
  %3 = dtensor.multiply %1, %2 : tensor<512x512xf32>
  %4 = dtensor.constraint %3 : (tensor<512x512xf32>) -> tensor<512x512xf32, #full>
  return %4 : tensor<512x512xf32, #full>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>

// A result whose layout nobody wrote keeps the one that propagation gave.
// SHARED-LABEL: func.func @result
// SHARED-SAME: -> tensor<512x512xf32, #layout_u_u>
// SHARED: %[[E:.*]] = dtensor.exp {{.*}} : tensor<512x512xf32, #layout_x_u>
// SHARED: %[[R:.*]] = dtensor.constraint %[[E]] : (tensor<512x512xf32, #layout_x_u>) -> tensor<512x512xf32, #layout_u_u>
// SHARED: return %[[R]]
func.func @result(%x: tensor<512x512xf32, #rows>, %y: tensor<512x512xf32, #rows>) -> tensor<512x512xf32> {
  %0 = dtensor.dot_general %x, %y contracting [0] x [0] : (tensor<512x512xf32, #rows>, tensor<512x512xf32, #rows>) -> tensor<512x512xf32>
  %1 = dtensor.exp %0 : tensor<512x512xf32>
  return %1 : tensor<512x512xf32>
}

// -----

// One device: nothing to decide. A declaration stays.
// CHECK-LABEL: func.func private @declared
// CHECK-LABEL: func.func @one_device
// CHECK-NOT: dtensor.refined
// CHECK: return
func.func private @declared(tensor<4xf32>) -> tensor<4xf32>
func.func @one_device(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dtensor.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
