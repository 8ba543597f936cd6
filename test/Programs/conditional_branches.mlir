// A branch that reduces and one that does not: nothing is sent for the branch
// that does not run.
// RUN: %verify
// RUN: mesh-run %s --machine=ring --explain 2>&1 | FileCheck %s
// CHECK: 1 collective, 7 bytes sent by each device
// CHECK: in branch #0 of the case at {{.*}}conditional_branches.mlir:{{[0-9:]+}}, 1 time
#mesh = #dtensor.mesh<batch = 8>
#x = #dtensor.layout<#mesh, [batch, *]>
#s = #dtensor.layout<#mesh, []>
func.func @main(%x: tensor<32x16xf32, #x>, %i: tensor<i32, #s>) -> tensor<32x16xf32, #x> {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %p = dtensor.compare EQ, %i, %zero : (tensor<i32, #s>, tensor<i32>) -> tensor<i1>
  %c = dtensor.convert %p : (tensor<i1>) -> tensor<i32>
  %r = dtensor.case %c : (tensor<i32>) -> tensor<32x16xf32> {
    %s = dtensor.reduce sum %x dims [0, 1] : (tensor<32x16xf32, #x>) -> tensor<f32>
    %k = dtensor.constant dense<512.0> : tensor<f32>
    %m = dtensor.divide %s, %k : tensor<f32>
    %b = dtensor.broadcast_in_dim %m dims [] : (tensor<f32>) -> tensor<32x16xf32>
    %d = dtensor.subtract %x, %b : (tensor<32x16xf32, #x>, tensor<32x16xf32>) -> tensor<32x16xf32>
    dtensor.yield %d : tensor<32x16xf32>
  }, {
    %k = dtensor.constant dense<2.0> : tensor<32x16xf32>
    %d = dtensor.multiply %x, %k : (tensor<32x16xf32, #x>, tensor<32x16xf32>) -> tensor<32x16xf32>
    dtensor.yield %d : tensor<32x16xf32>
  }
  %out = dtensor.constraint %r : (tensor<32x16xf32>) -> tensor<32x16xf32, #x>
  return %out : tensor<32x16xf32, #x>
}
