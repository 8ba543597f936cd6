// Inputs of a recurrent layer are multiplied by their weights in front of the
// loop (--dtensor-multiply-before-loops), whichever dims the devices divide:
// the rows, the features, the time.
// RUN: mesh-opt %s --dtensor-partition=machine=ring | FileCheck %s
// RUN: %verify
// CHECK: dtensor.dot_general
// CHECK: dtensor.dot_general
// CHECK: dtensor.dot_general
// CHECK: dtensor.while
// CHECK-COUNT-1: dtensor.dot_general
// CHECK-NOT: dtensor.dot_general
#mesh = #dtensor.mesh<x = 2, y = 3>
#rows = #dtensor.layout<#mesh, [*, x, *]>
#time = #dtensor.layout<#mesh, [y, *, *]>
#columns = #dtensor.layout<#mesh, [*, y]>

func.func @main(%xs: tensor<11x5x7xf32, #rows>, %zs: tensor<11x5x6xf32, #time>,
    %u: tensor<7x10xf32, #columns>, %v: tensor<6x10xf32>, %w: tensor<10x10xf32>,
    %m: tensor<12x5xf32>, %bs: tensor<5x11x3xbf16>)
    -> (tensor<5x10xf32>, tensor<12x3xf32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %count = dtensor.constant dense<11> : tensor<i32>
  %last = dtensor.constant dense<10> : tensor<i32>
  %start = dtensor.constant dense<0.0> : tensor<5x10xf32>
  %sum = dtensor.constant dense<0.0> : tensor<12x3xf32>
  %0:3 = dtensor.while (%zero, %start, %sum)
      : (tensor<i32>, tensor<5x10xf32>, tensor<12x3xf32>) -> (tensor<i32>, tensor<5x10xf32>, tensor<12x3xf32>) cond {
  ^bb0(%i: tensor<i32>, %h: tensor<5x10xf32>, %s: tensor<12x3xf32>):
    %p = dtensor.compare LT, %i, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %h: tensor<5x10xf32>, %s: tensor<12x3xf32>):
    %j = dtensor.add %i, %one : tensor<i32>
    %x1 = dtensor.dynamic_slice %xs at %i, %zero, %zero sizes [1, 5, 7] : (tensor<11x5x7xf32, #rows>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x5x7xf32>
    %x = dtensor.reshape %x1 : (tensor<1x5x7xf32>) -> tensor<5x7xf32>
    %a = dtensor.dot_general %x, %u contracting [1] x [0] : (tensor<5x7xf32>, tensor<7x10xf32, #columns>) -> tensor<5x10xf32>
    // From the last one to the first.
    %k = dtensor.subtract %last, %i : tensor<i32>
    %z1 = dtensor.dynamic_slice %zs at %k, %zero, %zero sizes [1, 5, 6] : (tensor<11x5x6xf32, #time>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x5x6xf32>
    %z = dtensor.reshape %z1 : (tensor<1x5x6xf32>) -> tensor<5x6xf32>
    %b = dtensor.dot_general %z, %v contracting [1] x [0] : (tensor<5x6xf32>, tensor<6x10xf32>) -> tensor<5x10xf32>
    %c = dtensor.dot_general %h, %w contracting [1] x [0] : (tensor<5x10xf32>, tensor<10x10xf32>) -> tensor<5x10xf32>
    %d = dtensor.add %a, %b : tensor<5x10xf32>
    %e = dtensor.add %c, %d : tensor<5x10xf32>
    %n = dtensor.tanh %e : tensor<5x10xf32>
    // Columns of the dim in the middle, on the right, converted.
    %b1 = dtensor.dynamic_slice %bs at %zero, %i, %zero sizes [5, 1, 3] : (tensor<5x11x3xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5x1x3xbf16>
    %b2 = dtensor.convert %b1 : (tensor<5x1x3xbf16>) -> tensor<5x1x3xf32>
    %b3 = dtensor.reshape %b2 : (tensor<5x1x3xf32>) -> tensor<5x3xf32>
    %f = dtensor.dot_general %m, %b3 contracting [1] x [0] : (tensor<12x5xf32>, tensor<5x3xf32>) -> tensor<12x3xf32>
    %half = dtensor.constant dense<0.5> : tensor<12x3xf32>
    %g = dtensor.multiply %s, %half : tensor<12x3xf32>
    %t = dtensor.add %g, %f : tensor<12x3xf32>
    dtensor.yield %j, %n, %t : tensor<i32>, tensor<5x10xf32>, tensor<12x3xf32>
  }
  return %0#1, %0#2 : tensor<5x10xf32>, tensor<12x3xf32>
}
