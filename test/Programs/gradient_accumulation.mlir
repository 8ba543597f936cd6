// Gradients of micro-batches summed in a loop: reduced once, after it. The
// counter starts elsewhere and steps by two; the second sum starts from an
// argument and is read by nothing in the loop either.
// RUN: %verify
// RUN: mesh-run %s --machine=ring --explain 2>&1 | FileCheck %s
// CHECK-NOT: all_reduce{{.*}}
// CHECK-NOT: in the body
// CHECK: all_reduce sum over [batch]
// CHECK-NOT: in the body
#mesh = #dtensor.mesh<batch = 4>
#x = #dtensor.layout<#mesh, [*, batch, *]>
#full = #dtensor.layout<#mesh, [*, *]>

func.func @main(%x: tensor<3x6x5xf32, #x>, %g: tensor<3x6x2xf32, #x>, %start: tensor<5x2xf32, #full>)
    -> (tensor<5x2xf32, #full>, tensor<5x2xf32, #full>) {
  %first = dtensor.constant dense<-1> : tensor<i64>
  %zeros = dtensor.constant dense<0.0> : tensor<5x2xf32>
  %0:3 = dtensor.while (%first, %zeros, %start)
      : (tensor<i64>, tensor<5x2xf32>, tensor<5x2xf32, #full>)
      -> (tensor<i64>, tensor<5x2xf32>, tensor<5x2xf32>) cond {
  ^bb0(%i: tensor<i64>, %s: tensor<5x2xf32>, %t: tensor<5x2xf32>):
    %n = dtensor.constant dense<3> : tensor<i64>
    %p = dtensor.compare LE, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %s: tensor<5x2xf32>, %t: tensor<5x2xf32>):
    %two = dtensor.constant dense<2> : tensor<i64>
    %j = dtensor.add %i, %two : tensor<i64>
    %z = dtensor.constant dense<0> : tensor<i64>
    %k = dtensor.divide %j, %two : tensor<i64>
    %xs = dtensor.dynamic_slice %x at %k, %z, %z sizes [1, 6, 5] : (tensor<3x6x5xf32, #x>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x6x5xf32>
    %gs = dtensor.dynamic_slice %g at %k, %z, %z sizes [1, 6, 2] : (tensor<3x6x2xf32, #x>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x6x2xf32>
    %x2 = dtensor.reshape %xs : (tensor<1x6x5xf32>) -> tensor<6x5xf32>
    %g2 = dtensor.reshape %gs : (tensor<1x6x2xf32>) -> tensor<6x2xf32>
    %dw = dtensor.dot_general %x2, %g2 contracting [0] x [0] : (tensor<6x5xf32>, tensor<6x2xf32>) -> tensor<5x2xf32>
    %n = dtensor.add %s, %dw : tensor<5x2xf32>
    %sq = dtensor.multiply %x2, %x2 : tensor<6x5xf32>
    %d2 = dtensor.dot_general %sq, %g2 contracting [0] x [0] : (tensor<6x5xf32>, tensor<6x2xf32>) -> tensor<5x2xf32>
    %m = dtensor.add %d2, %t : tensor<5x2xf32>
    dtensor.yield %j, %n, %m : tensor<i64>, tensor<5x2xf32>, tensor<5x2xf32>
  }
  %a = dtensor.constraint %0#1 : (tensor<5x2xf32>) -> tensor<5x2xf32, #full>
  %b = dtensor.constraint %0#2 : (tensor<5x2xf32>) -> tensor<5x2xf32, #full>
  return %a, %b : tensor<5x2xf32, #full>, tensor<5x2xf32, #full>
}
