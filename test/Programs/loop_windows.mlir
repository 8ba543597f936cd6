// A stencil in a loop: neighbours' rows are exchanged each time for the carried
// value, once for the captured one, and in the branch that needs them.
// RUN: %verify
#mesh = #dtensor.mesh<x = 3, y = 2>
#rows = #dtensor.layout<#mesh, [x, y]>

func.func @main(%a: tensor<10x7xf32, #rows>, %b: tensor<10x7xf32, #rows>, %k: tensor<i32>)
    -> (tensor<10x7xf32, #rows>, tensor<9x7xf32>) {
  %c = dtensor.constant dense<0> : tensor<i32>
  %zero = dtensor.constant dense<0.0> : tensor<f32>
  // Used outside of the loop too.
  %e = dtensor.slice %b [1:10, 0:7] : (tensor<10x7xf32, #rows>) -> tensor<9x7xf32>
  %0:2 = dtensor.while (%c, %a) : (tensor<i32>, tensor<10x7xf32, #rows>) -> (tensor<i32>, tensor<10x7xf32, #rows>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<10x7xf32>):
    %n = dtensor.constant dense<3> : tensor<i32>
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<10x7xf32>):
    %one = dtensor.constant dense<1> : tensor<i32>
    %j = dtensor.add %i, %one : tensor<i32>
    %up = dtensor.slice %u [1:10, 0:7] : (tensor<10x7xf32>) -> tensor<9x7xf32>
    %down = dtensor.slice %b [0:9, 0:7] : (tensor<10x7xf32, #rows>) -> tensor<9x7xf32>
    %s = dtensor.add %up, %down : tensor<9x7xf32>
    %t = dtensor.multiply %s, %e : tensor<9x7xf32>
    %v = dtensor.pad %t, %zero low [1, 0] high [0, 0] interior [0, 0] : (tensor<9x7xf32>, tensor<f32>) -> tensor<10x7xf32>
    %w = dtensor.case %k : (tensor<i32>) -> tensor<10x7xf32> {
      dtensor.yield %v : tensor<10x7xf32>
    }, {
      %r = dtensor.slice %b [2:10, 0:7] : (tensor<10x7xf32, #rows>) -> tensor<8x7xf32>
      %q = dtensor.pad %r, %zero low [0, 0] high [2, 0] interior [0, 0] : (tensor<8x7xf32>, tensor<f32>) -> tensor<10x7xf32>
      %m = dtensor.subtract %v, %q : tensor<10x7xf32>
      dtensor.yield %m : tensor<10x7xf32>
    }
    dtensor.yield %j, %w : tensor<i32>, tensor<10x7xf32>
  }
  return %0#1, %e : tensor<10x7xf32, #rows>, tensor<9x7xf32>
}
