// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A step of four layers whose results wait for the backward part: with less
// memory, they are computed again, or the batch runs in microbatches, or both.
// Weights that are cut are gathered twice. The numbers stay the same.
// RUN: mesh-opt %s --auto-layout=250000 --machine=ring --predict --explain 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: mesh-opt %s --auto-layout=140000 --machine=ring | FileCheck %s --check-prefix=LESS
// RUN: mesh-opt %s --auto-layout=140000 --machine=ring -o %t.json
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// RUN: mesh-opt %s --auto-layout=125000 --machine=ring | FileCheck %s --check-prefix=FEWER
// RUN: mesh-run %s --auto-layout=88000 --machine=ring --verify
// RUN: mesh-opt %s --auto-layout=88000 --machine=ring --predict --explain 2>&1 | FileCheck %s --check-prefix=LEAST
// RUN: not mesh-opt %s --auto-layout=40000 --machine=ring --predict 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: mesh-opt %s --function=sharded --auto-layout=900000 --machine=ring | FileCheck %s --check-prefix=AGAIN
// RUN: mesh-run %s --function=sharded --auto-layout=900000 --machine=ring --verify
// RUN: not mesh-opt %s --function=budgeted --predict 2>&1 | FileCheck %s --check-prefix=BUDGET
// RUN: not mesh-opt %s --function=budgeted --target=stablehlo 2>&1 | FileCheck %s --check-prefix=TEXT
// BUDGET: a device holds at most 100 bytes
// TEXT: a memory budget is for programs that run on virtual CPUs and on the platform cuda
// AGAIN: 840.{{.*}} kB of memory
// AGAIN-COUNT-2: gather the operand of the op at {{.*}} again in the backward part, as FSDP does: 65536 bytes per device less
// WHOLE-NOT: memory: {{recompute|accumulate}}
// WHOLE: memory of each device: 238.{{.*}} kB
// LESS: 135.{{.*}} kB of memory
// LESS: recompute {{.*}}recompute-within-memory.mlir:{{.*}}, as jax.checkpoint does: {{[0-9]+}} bytes per device less
// JSON: "memory_choices": [
// JSON-NEXT: "recompute {{.*}}, as jax.checkpoint does
// Each number of microbatches has a bound of its own: 8 take 60.9 us.
// FEWER: 50.{{.*}} us a step, {{.*}} 124.{{.*}} kB of memory
// FEWER: accumulate gradients over 4 microbatches
// LEAST: memory: accumulate gradients over 8 microbatches of 32 rows of argument #0
// LEAST-NEXT: recompute {{.*}}, as jax.checkpoint does: 18432 bytes per device less
// LEAST: memory of each device: 86.{{.*}} kB
// NONE: no layouts, values to compute again and microbatches were found with which a device holds at most 40000 bytes; those that take least take {{[0-9]+}}

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>
module attributes {dtensor.mesh = #mesh} {
func.func @main(%h0: tensor<256x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
%m0 = dtensor.matmul %h0, %w : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
%t0 = dtensor.tanh %m0 : tensor<256x64xf32>
%s0 = dtensor.sine %t0 : tensor<256x64xf32>
%h1 = dtensor.add %s0, %t0 : tensor<256x64xf32>
%m1 = dtensor.matmul %h1, %w : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
%t1 = dtensor.tanh %m1 : tensor<256x64xf32>
%s1 = dtensor.sine %t1 : tensor<256x64xf32>
%h2 = dtensor.add %s1, %t1 : tensor<256x64xf32>
%m2 = dtensor.matmul %h2, %w : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
%t2 = dtensor.tanh %m2 : tensor<256x64xf32>
%s2 = dtensor.sine %t2 : tensor<256x64xf32>
%h3 = dtensor.add %s2, %t2 : tensor<256x64xf32>
%m3 = dtensor.matmul %h3, %w : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
%t3 = dtensor.tanh %m3 : tensor<256x64xf32>
%s3 = dtensor.sine %t3 : tensor<256x64xf32>
%h4 = dtensor.add %s3, %t3 : tensor<256x64xf32>
%wt = dtensor.transpose %w dims [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
%c3 = dtensor.cosine %t3 : tensor<256x64xf32>
%a3 = dtensor.multiply %c3, %h4 : tensor<256x64xf32>
%b3 = dtensor.add %a3, %h4 : tensor<256x64xf32>
%q3 = dtensor.multiply %t3, %t3 : tensor<256x64xf32>
%d3 = dtensor.subtract %b3, %q3 : tensor<256x64xf32>
%ht3 = dtensor.transpose %h3 dims [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
%gw3 = dtensor.matmul %ht3, %d3 : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
%gh3 = dtensor.matmul %d3, %wt : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
%c2 = dtensor.cosine %t2 : tensor<256x64xf32>
%a2 = dtensor.multiply %c2, %gh3 : tensor<256x64xf32>
%b2 = dtensor.add %a2, %gh3 : tensor<256x64xf32>
%q2 = dtensor.multiply %t2, %t2 : tensor<256x64xf32>
%d2 = dtensor.subtract %b2, %q2 : tensor<256x64xf32>
%ht2 = dtensor.transpose %h2 dims [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
%gw2 = dtensor.matmul %ht2, %d2 : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
%gh2 = dtensor.matmul %d2, %wt : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
%acc2 = dtensor.add %gw3, %gw2 : tensor<64x64xf32>
%c1 = dtensor.cosine %t1 : tensor<256x64xf32>
%a1 = dtensor.multiply %c1, %gh2 : tensor<256x64xf32>
%b1 = dtensor.add %a1, %gh2 : tensor<256x64xf32>
%q1 = dtensor.multiply %t1, %t1 : tensor<256x64xf32>
%d1 = dtensor.subtract %b1, %q1 : tensor<256x64xf32>
%ht1 = dtensor.transpose %h1 dims [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
%gw1 = dtensor.matmul %ht1, %d1 : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
%gh1 = dtensor.matmul %d1, %wt : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
%acc1 = dtensor.add %acc2, %gw1 : tensor<64x64xf32>
%c0 = dtensor.cosine %t0 : tensor<256x64xf32>
%a0 = dtensor.multiply %c0, %gh1 : tensor<256x64xf32>
%b0 = dtensor.add %a0, %gh1 : tensor<256x64xf32>
%q0 = dtensor.multiply %t0, %t0 : tensor<256x64xf32>
%d0 = dtensor.subtract %b0, %q0 : tensor<256x64xf32>
%ht0 = dtensor.transpose %h0 dims [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
%gw0 = dtensor.matmul %ht0, %d0 : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
%gh0 = dtensor.matmul %d0, %wt : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
%acc0 = dtensor.add %acc1, %gw0 : tensor<64x64xf32>
return %acc0 : tensor<64x64xf32>
}
func.func @sharded(%x: tensor<1024x128xf32, #rows>, %w0: tensor<128x128xf32, #rows> {dtensor.alias = 0 : i64}, %w1: tensor<128x128xf32, #rows> {dtensor.alias = 1 : i64}, %w2: tensor<128x128xf32, #rows> {dtensor.alias = 2 : i64}) -> (tensor<128x128xf32, #rows>, tensor<128x128xf32, #rows>, tensor<128x128xf32, #rows>) {
  %m0 = dtensor.matmul %x, %w0 : (tensor<1024x128xf32, #rows>, tensor<128x128xf32, #rows>) -> tensor<1024x128xf32>
  %h0 = dtensor.tanh %m0 : tensor<1024x128xf32>
  %m1 = dtensor.matmul %h0, %w1 : (tensor<1024x128xf32>, tensor<128x128xf32, #rows>) -> tensor<1024x128xf32>
  %h1 = dtensor.tanh %m1 : tensor<1024x128xf32>
  %m2 = dtensor.matmul %h1, %w2 : (tensor<1024x128xf32>, tensor<128x128xf32, #rows>) -> tensor<1024x128xf32>
  %h2 = dtensor.tanh %m2 : tensor<1024x128xf32>
  %g2 = dtensor.dot_general %h1, %h2 contracting [0] x [0] : (tensor<1024x128xf32>, tensor<1024x128xf32>) -> tensor<128x128xf32>
  %n2 = dtensor.subtract %w2, %g2 : (tensor<128x128xf32, #rows>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %r2 = dtensor.constraint %n2 : (tensor<128x128xf32>) -> tensor<128x128xf32, #rows>
  %b2 = dtensor.dot_general %h2, %w2 contracting [1] x [1] : (tensor<1024x128xf32>, tensor<128x128xf32, #rows>) -> tensor<1024x128xf32>
  %d2 = dtensor.multiply %b2, %h1 : tensor<1024x128xf32>
  %g1 = dtensor.dot_general %h0, %d2 contracting [0] x [0] : (tensor<1024x128xf32>, tensor<1024x128xf32>) -> tensor<128x128xf32>
  %n1 = dtensor.subtract %w1, %g1 : (tensor<128x128xf32, #rows>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %r1 = dtensor.constraint %n1 : (tensor<128x128xf32>) -> tensor<128x128xf32, #rows>
  %b1 = dtensor.dot_general %d2, %w1 contracting [1] x [1] : (tensor<1024x128xf32>, tensor<128x128xf32, #rows>) -> tensor<1024x128xf32>
  %d1 = dtensor.multiply %b1, %h0 : tensor<1024x128xf32>
  %g0 = dtensor.dot_general %x, %d1 contracting [0] x [0] : (tensor<1024x128xf32, #rows>, tensor<1024x128xf32>) -> tensor<128x128xf32>
  %n0 = dtensor.subtract %w0, %g0 : (tensor<128x128xf32, #rows>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %r0 = dtensor.constraint %n0 : (tensor<128x128xf32>) -> tensor<128x128xf32, #rows>
  return %r0, %r1, %r2 : tensor<128x128xf32, #rows>, tensor<128x128xf32, #rows>, tensor<128x128xf32, #rows>
}

func.func @budgeted(%x: tensor<64x64xf32, #rows>) -> tensor<64x64xf32> attributes {dtensor.memory_budget = 100} {
%0 = dtensor.tanh %x : (tensor<64x64xf32, #rows>) -> tensor<64x64xf32>
return %0 : tensor<64x64xf32>
}
}
