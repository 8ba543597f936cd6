// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A step whose batch runs in microbatches: a loop adds up the gradient and the
// loss, the update runs once, and the numbers stay the same.
// RUN: mesh-opt %s --function=step --accumulate-gradients=4 --auto-layout --machine=ring | FileCheck %s --check-prefix=LIST
// RUN: mesh-run %s --function=step --accumulate-gradients=4 --auto-layout --machine=ring --verify
// RUN: mesh-run %s --function=step --accumulate-gradients=2 --verify --private-memories
// RUN: not mesh-opt %s --function=step --accumulate-gradients=3 --predict 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: not mesh-opt %s --function=normalized --accumulate-gradients=2 --predict 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: not mesh-opt %s --function=numbered --accumulate-gradients=2 --predict 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: mesh-opt %s --function=layers --accumulate-gradients=4 --auto-layout --machine=ring | FileCheck %s --check-prefix=LAYERS
// RUN: mesh-run %s --function=layers --accumulate-gradients=4 --verify
// RUN: mesh-opt %s --function=scanned --accumulate-gradients=4 --auto-layout --machine=ring | FileCheck %s --check-prefix=SCANNED
// RUN: mesh-run %s --function=scanned --accumulate-gradients=4 --verify
// RUN: not mesh-opt %s --function=normalized_layers --accumulate-gradients=2 --predict 2>&1 | FileCheck %s --check-prefix=EXCHANGE
// SCANNED: accumulate gradients over 4 microbatches of 16 rows of 'x'
// EXCHANGE: gradients cannot be accumulated over 2 microbatches: rows of the batch depend on one another here
// LAYERS: accumulate gradients over 4 microbatches of 16 rows of 'x'
// LIST: accumulate gradients over 4 microbatches of 16 rows of 'x', 'y'
// ROWS: gradients cannot be accumulated over 3 microbatches: the batch has 64 rows, which 3 does not divide
// WHOLE: gradients cannot be accumulated over 2 microbatches: this op needs a sum over the whole batch and rows of it
// PLACE: gradients cannot be accumulated over 2 microbatches: what this op gives for a row depends on the place of the row in the batch

// RUN: mesh-opt %s --function=constrained --accumulate-gradients=4 --predict --machine=ring --explain 2>&1 | FileCheck %s --check-prefix=CONSTRAINED
// CONSTRAINED: all_gather over [d]: 2048 bytes
// CONSTRAINED: in the body of the while
// CONSTRAINED: rejected: [d, *]: {{.*}} all_to_all over [d] of 512 bytes
// RUN: mesh-run %s --function=constrained --accumulate-gradients=4 --verify
// RUN: not mesh-opt %s --function=rows --accumulate-gradients=2 --predict 2>&1 | FileCheck %s --check-prefix=RESULT
// RESULT: gradients cannot be accumulated over 2 microbatches: no result is a sum over the batch

#mesh = #dtensor.mesh<d = 4>
#rows = #dtensor.layout<#mesh, [d, *]>
#columns = #dtensor.layout<#mesh, [*, d]>
module attributes {dtensor.mesh = #mesh} {
func.func @step(%w: tensor<32x32xf32> {dtensor.alias = 0 : i64, dtensor.name = "w"}, %x: tensor<64x32xf32> {dtensor.name = "x"}, %y: tensor<64x32xf32> {dtensor.name = "y"}) -> (tensor<32x32xf32>, tensor<f32>) {
  %m = dtensor.matmul %x, %w : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %t = dtensor.tanh %m : tensor<64x32xf32>
  %d = dtensor.subtract %t, %y : tensor<64x32xf32>
  %q = dtensor.multiply %d, %d : tensor<64x32xf32>
  %loss = dtensor.reduce sum %q dims [0, 1] : (tensor<64x32xf32>) -> tensor<f32>
  %xt = dtensor.transpose %x dims [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
  %gradient = dtensor.matmul %xt, %d : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  %next = dtensor.subtract %w, %gradient : tensor<32x32xf32>
  return %next, %loss : tensor<32x32xf32>, tensor<f32>
}
// One layer of a stack of what others saved of the batch.
func.func @layers(%w: tensor<32x32xf32> {dtensor.alias = 0 : i64, dtensor.name = "w"}, %layer: tensor<i32> {dtensor.alias = 1 : i64}, %x: tensor<64x32xf32> {dtensor.name = "x"}) -> (tensor<32x32xf32>, tensor<i32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %saved = dtensor.broadcast_in_dim %x dims [1, 2] : (tensor<64x32xf32>) -> tensor<4x64x32xf32>
  %slice = dtensor.dynamic_slice %saved at %layer, %zero, %zero sizes [1, 64, 32] : (tensor<4x64x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x32xf32>
  %one = dtensor.reshape %slice : (tensor<1x64x32xf32>) -> tensor<64x32xf32>
  %xt = dtensor.transpose %one dims [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
  %gradient = dtensor.matmul %xt, %x : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  %next = dtensor.subtract %w, %gradient : tensor<32x32xf32>
  return %next, %layer : tensor<32x32xf32>, tensor<i32>
}
// A loop over layers puts the gradient of each layer's weights into a stack, and
// adds up those of weights that the layers share.
func.func @scanned(%w: tensor<4x32x32xf32> {dtensor.alias = 0 : i64, dtensor.name = "w"}, %b: tensor<32xf32> {dtensor.alias = 1 : i64, dtensor.name = "b"}, %x: tensor<64x32xf32> {dtensor.name = "x"}) -> (tensor<4x32x32xf32>, tensor<32xf32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %stack = dtensor.constant dense<0.0> : tensor<4x32x32xf32>
  %none = dtensor.constant dense<0.0> : tensor<32xf32>
  %0:4 = dtensor.while (%zero, %x, %stack, %none) : (tensor<i32>, tensor<64x32xf32>, tensor<4x32x32xf32>, tensor<32xf32>) -> (tensor<i32>, tensor<64x32xf32>, tensor<4x32x32xf32>, tensor<32xf32>) cond {
  ^bb0(%i: tensor<i32>, %h: tensor<64x32xf32>, %s: tensor<4x32x32xf32>, %t: tensor<32xf32>):
    %n = dtensor.constant dense<4> : tensor<i32>
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %h: tensor<64x32xf32>, %s: tensor<4x32x32xf32>, %t: tensor<32xf32>):
    %z = dtensor.constant dense<0> : tensor<i32>
    %one = dtensor.constant dense<1> : tensor<i32>
    %slice = dtensor.dynamic_slice %w at %i, %z, %z sizes [1, 32, 32] : (tensor<4x32x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x32xf32>
    %layer = dtensor.reshape %slice : (tensor<1x32x32xf32>) -> tensor<32x32xf32>
    %product = dtensor.matmul %h, %layer : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
    %next = dtensor.tanh %product : tensor<64x32xf32>
    %ht = dtensor.transpose %h dims [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
    %gradient = dtensor.matmul %ht, %next : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
    %update = dtensor.reshape %gradient : (tensor<32x32xf32>) -> tensor<1x32x32xf32>
    %stacked = dtensor.dynamic_update_slice %s with %update at %i, %z, %z : (tensor<4x32x32xf32>, tensor<1x32x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x32x32xf32>
    %bias = dtensor.reduce sum %next dims [0] : (tensor<64x32xf32>) -> tensor<32xf32>
    %sum = dtensor.add %bias, %t : tensor<32xf32>
    %j = dtensor.add %i, %one : tensor<i32>
    dtensor.yield %j, %next, %stacked, %sum : tensor<i32>, tensor<64x32xf32>, tensor<4x32x32xf32>, tensor<32xf32>
  }
  %w1 = dtensor.subtract %w, %0#2 : tensor<4x32x32xf32>
  %b1 = dtensor.subtract %b, %0#3 : tensor<32xf32>
  return %w1, %b1 : tensor<4x32x32xf32>, tensor<32xf32>
}
// The loop needs the sum of a layer for the rows of the next one.
func.func @normalized_layers(%x: tensor<64x32xf32> {dtensor.name = "x"}) -> tensor<32xf32> {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<32xf32>
  %0:3 = dtensor.while (%zero, %x, %none) : (tensor<i32>, tensor<64x32xf32>, tensor<32xf32>) -> (tensor<i32>, tensor<64x32xf32>, tensor<32xf32>) cond {
  ^bb0(%i: tensor<i32>, %h: tensor<64x32xf32>, %t: tensor<32xf32>):
    %n = dtensor.constant dense<4> : tensor<i32>
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %h: tensor<64x32xf32>, %t: tensor<32xf32>):
    %one = dtensor.constant dense<1> : tensor<i32>
    %all = dtensor.broadcast_in_dim %t dims [1] : (tensor<32xf32>) -> tensor<64x32xf32>
    %next = dtensor.subtract %h, %all : tensor<64x32xf32>
    %part = dtensor.reduce sum %next dims [0] : (tensor<64x32xf32>) -> tensor<32xf32>
    %sum = dtensor.add %t, %part : tensor<32xf32>
    %j = dtensor.add %i, %one : tensor<i32>
    dtensor.yield %j, %next, %sum : tensor<i32>, tensor<64x32xf32>, tensor<32xf32>
  }
  return %0#2 : tensor<32xf32>
}
func.func @normalized(%x: tensor<64x32xf32>) -> tensor<f32> {
  %sum = dtensor.reduce sum %x dims [0] : (tensor<64x32xf32>) -> tensor<32xf32>
  %all = dtensor.broadcast_in_dim %sum dims [1] : (tensor<32xf32>) -> tensor<64x32xf32>
  %d = dtensor.subtract %x, %all : tensor<64x32xf32>
  %q = dtensor.multiply %d, %d : tensor<64x32xf32>
  %loss = dtensor.reduce sum %q dims [0, 1] : (tensor<64x32xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
func.func @numbered(%x: tensor<64x32xf32>) -> tensor<f32> {
  %rows = dtensor.iota dim 0 : tensor<64x32xf32>
  %d = dtensor.multiply %x, %rows : tensor<64x32xf32>
  %loss = dtensor.reduce sum %d dims [0, 1] : (tensor<64x32xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
// Layouts of values inside hold for a microbatch.
func.func @constrained(%w: tensor<32x32xf32> {dtensor.alias = 0 : i64}, %x: tensor<64x32xf32, #rows>) -> tensor<32x32xf32> {
  %m = dtensor.matmul %x, %w : (tensor<64x32xf32, #rows>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %c = dtensor.constraint %m : (tensor<64x32xf32>) -> tensor<64x32xf32, #columns>
  %t = dtensor.tanh %c : (tensor<64x32xf32, #columns>) -> tensor<64x32xf32>
  %xt = dtensor.transpose %x dims [1, 0] : (tensor<64x32xf32, #rows>) -> tensor<32x64xf32>
  %gradient = dtensor.matmul %xt, %t : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  %next = dtensor.subtract %w, %gradient : tensor<32x32xf32>
  return %next : tensor<32x32xf32>
}
// The rows of %w, the terms of the product, are no batch: %x would be cut too.
func.func @rows(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>) -> tensor<64x16xf32> {
  %m = dtensor.matmul %x, %w : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  return %m : tensor<64x16xf32>
}
}
