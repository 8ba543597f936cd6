// A loop in a branch in a loop, with values captured through both, uneven
// shards, a carried value in a layout that the user chose, and a branch that
// passes on what it captured.
// RUN: mesh-opt %s --dtensor-partition=machine=ring -o /dev/null
// RUN: %verify
#mesh = #dtensor.mesh<x = 3, y = 2>
#rows = #dtensor.layout<#mesh, [x, *]>
#cols = #dtensor.layout<#mesh, [*, y]>
#both = #dtensor.layout<#mesh, [y, x]>

func.func @main(%a: tensor<5x7xf32, #rows>, %w: tensor<7x7xf32, #cols>, %k: tensor<i32>)
    -> (tensor<5x7xf32, #both>, tensor<5x7xf32, #rows>, tensor<i32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %ones = dtensor.constant dense<1.0> : tensor<5x7xf32>
  %0:3 = dtensor.while (%zero, %a, %ones)
      : (tensor<i32>, tensor<5x7xf32, #rows>, tensor<5x7xf32>)
      -> (tensor<i32>, tensor<5x7xf32, #both>, tensor<5x7xf32>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<5x7xf32>, %s: tensor<5x7xf32>):
    %n = dtensor.constant dense<4> : tensor<i32>
    %p = dtensor.compare NE, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<5x7xf32>, %s: tensor<5x7xf32>):
    %j = dtensor.add %i, %one : tensor<i32>
    %index = dtensor.subtract %i, %k : tensor<i32>
    %1:2 = dtensor.case %index : (tensor<i32>) -> (tensor<5x7xf32>, tensor<5x7xf32>) {
      %2:2 = dtensor.while (%i, %u) : (tensor<i32>, tensor<5x7xf32>) -> (tensor<i32>, tensor<5x7xf32>) cond {
      ^bb0(%c: tensor<i32>, %v: tensor<5x7xf32>):
        %n = dtensor.constant dense<5> : tensor<i32>
        %p = dtensor.compare GT, %n, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
        dtensor.yield %p : tensor<i1>
      } do {
      ^bb0(%c: tensor<i32>, %v: tensor<5x7xf32>):
        %d = dtensor.add %c, %one : tensor<i32>
        %m = dtensor.matmul %v, %w : (tensor<5x7xf32>, tensor<7x7xf32, #cols>) -> tensor<5x7xf32>
        %t = dtensor.tanh %m : tensor<5x7xf32>
        %b = dtensor.add %t, %a : (tensor<5x7xf32>, tensor<5x7xf32, #rows>) -> tensor<5x7xf32>
        dtensor.yield %d, %b : tensor<i32>, tensor<5x7xf32>
      }
      dtensor.yield %2#1, %u : tensor<5x7xf32>, tensor<5x7xf32>
    }, {
      dtensor.yield %a, %s : tensor<5x7xf32, #rows>, tensor<5x7xf32>
    }, {
      %r = dtensor.reduce sum %u dims [1] : (tensor<5x7xf32>) -> tensor<5xf32>
      %b = dtensor.broadcast_in_dim %r dims [0] : (tensor<5xf32>) -> tensor<5x7xf32>
      %m = dtensor.maximum %u, %b : tensor<5x7xf32>
      dtensor.yield %m, %ones : tensor<5x7xf32>, tensor<5x7xf32>
    }
    dtensor.yield %j, %1#0, %1#1 : tensor<i32>, tensor<5x7xf32>, tensor<5x7xf32>
  }
  %r = dtensor.constraint %0#2 : (tensor<5x7xf32>) -> tensor<5x7xf32, #rows>
  return %0#1, %r, %0#0 : tensor<5x7xf32, #both>, tensor<5x7xf32, #rows>, tensor<i32>
}
