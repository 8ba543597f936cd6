// RUN: mesh-opt %s --spmd-form-kernels --verify-diagnostics
// A function of scalars is made of plain ops on them.

#mesh = #dtensor.mesh<x = 4>
#lines = #spmd.shard<[32, 6], #dtensor.layout<#mesh, [x, *]>>

func.func @sort(%t: tensor<8x6xi32, #lines>) -> tensor<8x6xi32, #lines> {
  %0 = dtensor.sort %t dim 1 : (tensor<8x6xi32, #lines>) -> tensor<8x6xi32, #lines> {
  ^bb0(%l: tensor<i32>, %r: tensor<i32>):
    // expected-error @+1 {{'dtensor.reduce' op cannot be part of a function of scalars}}
    %a = dtensor.reduce sum %l dims [] : (tensor<i32>) -> tensor<i32>
    %s = dtensor.add %a, %r : tensor<i32>
    %less = dtensor.compare LT, %s, %r : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %less : tensor<i1>
  }
  return %0 : tensor<8x6xi32, #lines>
}
