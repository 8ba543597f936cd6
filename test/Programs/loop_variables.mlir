// Variables that loops and branches read and assign, and that are read again.
// RUN: mesh-opt %s --dtensor-partition=machine=ring -o /dev/null
// RUN: %verify
#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>
!v = !dtensor.variable<tensor<6x3xf32, #rows>>
!n = !dtensor.variable<tensor<i32>>

func.func @main(%v: !v, %n: !n, %x: tensor<6x3xf32, #rows>) -> tensor<6x3xf32, #rows> {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %i = dtensor.while (%zero) : (tensor<i32>) -> tensor<i32> cond {
  ^bb0(%i: tensor<i32>):
    %limit = dtensor.constant dense<3> : tensor<i32>
    %p = dtensor.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>):
    %old = dtensor.read_variable %v : (!v) -> tensor<6x3xf32, #rows>
    %new = dtensor.subtract %old, %x : tensor<6x3xf32, #rows>
    dtensor.assign_variable %v, %new : !v, tensor<6x3xf32, #rows>
    %c = dtensor.read_variable %n : (!n) -> tensor<i32>
    dtensor.case %c : (tensor<i32>) -> () {
      %again = dtensor.read_variable %v : (!v) -> tensor<6x3xf32, #rows>
      %twice = dtensor.add %again, %again : tensor<6x3xf32, #rows>
      dtensor.assign_variable %v, %twice : !v, tensor<6x3xf32, #rows>
      dtensor.yield
    }, {
      dtensor.yield
    }
    %d = dtensor.add %c, %one : tensor<i32>
    dtensor.assign_variable %n, %d : !n, tensor<i32>
    %j = dtensor.add %i, %one : tensor<i32>
    dtensor.yield %j : tensor<i32>
  }
  %last = dtensor.read_variable %v : (!v) -> tensor<6x3xf32, #rows>
  return %last : tensor<6x3xf32, #rows>
}
