// JAX's scan over a stack of layers, sharded over what the layers make: each
// layer's product is gathered, and what is carried is whole.
// RUN: %verify
// RUN: mesh-run %s --machine=ring --stats=%t.json --explain 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: FileCheck %s --check-prefix=STATS --input-file=%t.json

// EXPLAIN: 1 collective, 4608 bytes sent by each device
// EXPLAIN: all_gather over [model]: 1024 bytes, 768 sent
// EXPLAIN-NEXT: in the body of the while at {{.*}}scan_over_layers.mlir:{{[0-9:]+}}, 6 times

// The one in the loop each time, by one id.
// STATS-COUNT-6: "step": [[ID:[0-9]+]],
// STATS-NOT: "step":
#mesh = #dtensor.mesh<batch = 2, model = 4>
#w = #dtensor.layout<#mesh, [*, *, model]>
#x = #dtensor.layout<#mesh, [batch, *]>
func.func @main(%w: tensor<6x32x32xf32, #w>, %x: tensor<16x32xf32, #x>) -> tensor<16x32xf32, #x> {
  %c = dtensor.constant dense<0> : tensor<i32>
  %0:3 = dtensor.while (%w, %c, %x) : (tensor<6x32x32xf32, #w>, tensor<i32>, tensor<16x32xf32, #x>) -> (tensor<6x32x32xf32>, tensor<i32>, tensor<16x32xf32>) cond {
  ^bb0(%a: tensor<6x32x32xf32>, %i: tensor<i32>, %h: tensor<16x32xf32>):
    %n = dtensor.constant dense<6> : tensor<i32>
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%a: tensor<6x32x32xf32>, %i: tensor<i32>, %h: tensor<16x32xf32>):
    %z = dtensor.constant dense<0> : tensor<i32>
    %s = dtensor.dynamic_slice %a at %i, %z, %z sizes [1, 32, 32] : (tensor<6x32x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x32xf32>
    %l = dtensor.reshape %s : (tensor<1x32x32xf32>) -> tensor<32x32xf32>
    %d = dtensor.matmul %h, %l : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
    %t = dtensor.tanh %d : tensor<16x32xf32>
    %one = dtensor.constant dense<1> : tensor<i32>
    %j = dtensor.add %i, %one : tensor<i32>
    dtensor.yield %a, %j, %t : tensor<6x32x32xf32>, tensor<i32>, tensor<16x32xf32>
  }
  %out = dtensor.constraint %0#2 : (tensor<16x32xf32>) -> tensor<16x32xf32, #x>
  return %out : tensor<16x32xf32, #x>
}
