// A product that adds nothing up is computed in the kernel that uses it.
// RUN: mesh-opt %s --spmd-form-kernels | FileCheck %s

#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x, *]>
#row = #dtensor.layout<#mesh, [x]>
#whole = #dtensor.layout<#mesh, [*]>
#cube = #dtensor.layout<#mesh, [*, *, *]>
#square = #dtensor.layout<#mesh, [*, *]>
#v = #spmd.shard<[8], #row>
#w = #spmd.shard<[6], #whole>
#m = #spmd.shard<[8, 6], #rows>
#a = #spmd.shard<[5, 7], #square>
#c = #spmd.shard<[7, 5, 5], #cube>

// Two vectors, and the tanh of their product.
// CHECK-LABEL: func.func @vectors
// CHECK-NOT: dot_general
// CHECK: spmd.kernel
// CHECK: arith.mulf
// CHECK: math.tanh
// CHECK-NOT: spmd.kernel
// CHECK: return
func.func @vectors(%v: tensor<4xf32, #v>, %w: tensor<6xf32, #w>) -> tensor<4x6xf32, #m> {
  %0 = dtensor.dot_general %v, %w : (tensor<4xf32, #v>, tensor<6xf32, #w>) -> tensor<4x6xf32, #m>
  %1 = dtensor.tanh %0 : tensor<4x6xf32, #m>
  return %1 : tensor<4x6xf32, #m>
}

// A row of the product is a column of the operand: the library copies it first.
// CHECK-LABEL: func.func @columns
// CHECK: dot_general
func.func @columns(%a: tensor<5x7xf32, #a>) -> tensor<7x5x5xf32, #c> {
  %0 = dtensor.dot_general %a, %a batching [1] x [1] : (tensor<5x7xf32, #a>, tensor<5x7xf32, #a>) -> tensor<7x5x5xf32, #c>
  return %0 : tensor<7x5x5xf32, #c>
}
