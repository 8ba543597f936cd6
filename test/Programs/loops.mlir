// Loops whose carried values swap, pass on what they were given, start as what
// is used afterwards, or go round an unknown number of times, or never.
// RUN: mesh-opt %s --dtensor-partition=machine=ring -o /dev/null
// RUN: %verify
// RUN: mesh-run %s --emit-program=%t.mlprog && mesh-run %t.mlprog --seed=0 && mesh-run %t.mlprog --private-memories
#mesh = #dtensor.mesh<x = 2, y = 3>
#rows = #dtensor.layout<#mesh, [{x, y}, *]>
#both = #dtensor.layout<#mesh, [x, y]>

func.func @main(%a: tensor<7x5xf32, #rows>, %b: tensor<7x5xf32, #both>)
    -> (tensor<7x5xf32, #rows>, tensor<7x5xf32>, tensor<7x5xf32>, tensor<7x5xf32>,
        tensor<7x5xf32>, tensor<i32>, tensor<7x5xf32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %two = dtensor.constant dense<2.0> : tensor<7x5xf32>
  // Swaps, and a captured value in another layout: brought over once.
  %0:4 = dtensor.while (%zero, %a, %b, %a)
      : (tensor<i32>, tensor<7x5xf32, #rows>, tensor<7x5xf32, #both>, tensor<7x5xf32, #rows>)
      -> (tensor<i32>, tensor<7x5xf32>, tensor<7x5xf32>, tensor<7x5xf32>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<7x5xf32>, %v: tensor<7x5xf32>, %w: tensor<7x5xf32>):
    %n = dtensor.constant dense<5> : tensor<i32>
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<7x5xf32>, %v: tensor<7x5xf32>, %w: tensor<7x5xf32>):
    %one = dtensor.constant dense<1> : tensor<i32>
    %j = dtensor.add %one, %i : tensor<i32>
    %s = dtensor.subtract %u, %b : (tensor<7x5xf32>, tensor<7x5xf32, #both>) -> tensor<7x5xf32>
    dtensor.yield %j, %v, %s, %w : tensor<i32>, tensor<7x5xf32>, tensor<7x5xf32>, tensor<7x5xf32>
  }
  // As long as the sum is small: nobody knows how often. The init lives on.
  %1 = dtensor.while (%b) : (tensor<7x5xf32, #both>) -> tensor<7x5xf32> cond {
  ^bb0(%u: tensor<7x5xf32>):
    %m = dtensor.multiply %u, %u : tensor<7x5xf32>
    %s = dtensor.reduce sum %m dims [0, 1] : (tensor<7x5xf32>) -> tensor<f32>
    %c = dtensor.constant dense<1.0e4> : tensor<f32>
    %p = dtensor.compare LT, %s, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%u: tensor<7x5xf32>):
    %d = dtensor.multiply %u, %two : tensor<7x5xf32>
    dtensor.yield %d : tensor<7x5xf32>
  }
  // Never.
  %2:2 = dtensor.while (%0#0, %1) : (tensor<i32>, tensor<7x5xf32>) -> (tensor<i32>, tensor<7x5xf32>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<7x5xf32>):
    %p = dtensor.compare LT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<7x5xf32>):
    %d = dtensor.exp %u : tensor<7x5xf32>
    dtensor.yield %i, %d : tensor<i32>, tensor<7x5xf32>
  }
  %r = dtensor.constraint %0#1 : (tensor<7x5xf32>) -> tensor<7x5xf32, #rows>
  %kept = dtensor.add %b, %1 : (tensor<7x5xf32, #both>, tensor<7x5xf32>) -> tensor<7x5xf32>
  return %r, %0#2, %0#3, %2#1, %kept, %0#0, %1
      : tensor<7x5xf32, #rows>, tensor<7x5xf32>, tensor<7x5xf32>, tensor<7x5xf32>,
        tensor<7x5xf32>, tensor<i32>, tensor<7x5xf32>
}
