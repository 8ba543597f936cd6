// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A step of four layers whose results wait for the backward part: with less
// memory, they are computed again, and the numbers stay the same.
// RUN: mesh-opt %s --auto-layout=400000 --machine=ring --predict --explain 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: mesh-opt %s --auto-layout=210000 --machine=ring --predict --explain 2>&1 | FileCheck %s --check-prefix=LESS
// RUN: mesh-run %s --auto-layout=210000 --machine=ring --verify
// RUN: not mesh-opt %s --auto-layout=50000 --machine=ring --predict 2>&1 | FileCheck %s --check-prefix=NONE
// WHOLE-NOT: recompute
// LESS: recompute {{.*}}recompute-within-memory.mlir:{{.*}}, as jax.checkpoint does: {{[0-9]+}} bytes per device less
// LESS: memory of each device: {{1[0-9][0-9]|20[0-9]}}{{.*}} kB
// NONE: no layouts and no values to compute again were found with which a device holds at most 50000 bytes; those that take least take {{[0-9]+}}
#mesh = #dtensor.mesh<x = 4>
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
  %m4 = dtensor.matmul %h4, %w : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
  %t4 = dtensor.tanh %m4 : tensor<256x64xf32>
  %s4 = dtensor.sine %t4 : tensor<256x64xf32>
  %h5 = dtensor.add %s4, %t4 : tensor<256x64xf32>
  %m5 = dtensor.matmul %h5, %w : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
  %t5 = dtensor.tanh %m5 : tensor<256x64xf32>
  %s5 = dtensor.sine %t5 : tensor<256x64xf32>
  %h6 = dtensor.add %s5, %t5 : tensor<256x64xf32>
  %wt = dtensor.transpose %w dims [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %c5 = dtensor.cosine %t5 : tensor<256x64xf32>
  %a5 = dtensor.multiply %c5, %h6 : tensor<256x64xf32>
  %b5 = dtensor.add %a5, %h6 : tensor<256x64xf32>
  %q5 = dtensor.multiply %t5, %t5 : tensor<256x64xf32>
  %d5 = dtensor.subtract %b5, %q5 : tensor<256x64xf32>
  %ht5 = dtensor.transpose %h5 dims [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
  %gw5 = dtensor.matmul %ht5, %d5 : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
  %gh5 = dtensor.matmul %d5, %wt : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
  %c4 = dtensor.cosine %t4 : tensor<256x64xf32>
  %a4 = dtensor.multiply %c4, %gh5 : tensor<256x64xf32>
  %b4 = dtensor.add %a4, %gh5 : tensor<256x64xf32>
  %q4 = dtensor.multiply %t4, %t4 : tensor<256x64xf32>
  %d4 = dtensor.subtract %b4, %q4 : tensor<256x64xf32>
  %ht4 = dtensor.transpose %h4 dims [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
  %gw4 = dtensor.matmul %ht4, %d4 : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
  %gh4 = dtensor.matmul %d4, %wt : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
  %acc4 = dtensor.add %gw5, %gw4 : tensor<64x64xf32>
  %c3 = dtensor.cosine %t3 : tensor<256x64xf32>
  %a3 = dtensor.multiply %c3, %gh4 : tensor<256x64xf32>
  %b3 = dtensor.add %a3, %gh4 : tensor<256x64xf32>
  %q3 = dtensor.multiply %t3, %t3 : tensor<256x64xf32>
  %d3 = dtensor.subtract %b3, %q3 : tensor<256x64xf32>
  %ht3 = dtensor.transpose %h3 dims [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
  %gw3 = dtensor.matmul %ht3, %d3 : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
  %gh3 = dtensor.matmul %d3, %wt : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
  %acc3 = dtensor.add %acc4, %gw3 : tensor<64x64xf32>
  %c2 = dtensor.cosine %t2 : tensor<256x64xf32>
  %a2 = dtensor.multiply %c2, %gh3 : tensor<256x64xf32>
  %b2 = dtensor.add %a2, %gh3 : tensor<256x64xf32>
  %q2 = dtensor.multiply %t2, %t2 : tensor<256x64xf32>
  %d2 = dtensor.subtract %b2, %q2 : tensor<256x64xf32>
  %ht2 = dtensor.transpose %h2 dims [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
  %gw2 = dtensor.matmul %ht2, %d2 : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
  %gh2 = dtensor.matmul %d2, %wt : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
  %acc2 = dtensor.add %acc3, %gw2 : tensor<64x64xf32>
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
}
