// Kernels in loops and branches, as local programs.
// RUN: mesh-opt %s --spmd-form-kernels --split-input-file | FileCheck %s

#mesh = #dtensor.mesh<x = 2>
#x = #spmd.shard<[8], #dtensor.layout<#mesh, [x]>>
#s = #spmd.shard<[], #dtensor.layout<#mesh, []>>

// The body's update is made in the memory of the carried value. What is computed
// outside is not computed again inside; a broadcast is, from what it repeats.
// CHECK-LABEL: func.func @loop
// CHECK: %[[K:.*]] = spmd.kernel {{.*}}ops = "exp"
// CHECK: dtensor.while(%arg0)
// CHECK: ^bb0(%{{.*}}):
// CHECK: spmd.kernel
// CHECK: do {
// CHECK: ^bb0(%[[U:.*]]: {{.*}}):
// CHECK-NEXT: %[[N:.*]] = spmd.kernel loops [8 over [x]] ins (%[[U]] at {{.*}}, %[[K]] at {{.*}}, %arg1 at {{.*}}) outs ({{.*}}) in_place [0]
// CHECK-NOT: math.exp
// CHECK: dtensor.yield %[[N]]
func.func @loop(%a: tensor<4xf32, #x>, %b: tensor<f32, #s>) -> tensor<4xf32, #x> {
  %e = dtensor.exp %a : tensor<4xf32, #x>
  %r = dtensor.broadcast_in_dim %b dims [] : (tensor<f32, #s>) -> tensor<4xf32, #x>
  %0 = dtensor.while (%a) : (tensor<4xf32, #x>) -> tensor<4xf32, #x> cond {
  ^bb0(%u: tensor<4xf32, #x>):
    %z = dtensor.constant dense<0.0> : tensor<f32> -> tensor<f32, #s>
    %p = dtensor.compare LT, %b, %z : (tensor<f32, #s>, tensor<f32, #s>) -> tensor<i1, #s>
    dtensor.yield %p : tensor<i1, #s>
  } do {
  ^bb0(%u: tensor<4xf32, #x>):
    %m = dtensor.multiply %u, %e : tensor<4xf32, #x>
    %n = dtensor.add %m, %r : tensor<4xf32, #x>
    dtensor.yield %n : tensor<4xf32, #x>
  }
  return %0 : tensor<4xf32, #x>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#x = #spmd.shard<[8], #dtensor.layout<#mesh, [x]>>
#s = #spmd.shard<[], #dtensor.layout<#mesh, []>>

// What a branch captures is not overwritten in it, nor what is read after a
// loop that is given it; ops around a loop that it depends on, and that depend
// on it, do not become one kernel.
// CHECK-LABEL: func.func @around
// CHECK: %[[A:.*]] = spmd.kernel
// CHECK: %[[C:.*]] = dtensor.case
// CHECK-NOT: in_place
// CHECK: %[[B:.*]] = spmd.kernel {{.*}}ins (%[[C]]
// CHECK: return %[[A]], %[[B]]
func.func @around(%a: tensor<4xf32, #x>, %i: tensor<i32, #s>) -> (tensor<4xf32, #x>, tensor<4xf32, #x>) {
  %e = dtensor.exp %a : tensor<4xf32, #x>
  %c = dtensor.case %i : (tensor<i32, #s>) -> tensor<4xf32, #x> {
    %n = dtensor.negate %e : tensor<4xf32, #x>
    dtensor.yield %n : tensor<4xf32, #x>
  }, {
    dtensor.yield %a : tensor<4xf32, #x>
  }
  %t = dtensor.tanh %c : tensor<4xf32, #x>
  return %e, %t : tensor<4xf32, #x>, tensor<4xf32, #x>
}
