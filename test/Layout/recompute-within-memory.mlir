// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A step of twelve layers whose results wait for the backward part: with less
// memory, they are computed again, and the numbers stay the same.
// RUN: mesh-opt %s --auto-layout=700000 --machine=ring --predict --explain 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: mesh-opt %s --auto-layout=400000 --machine=ring --predict --explain 2>&1 | FileCheck %s --check-prefix=LESS
// RUN: mesh-run %s --auto-layout=400000 --machine=ring --verify
// RUN: not mesh-opt %s --auto-layout=50000 --machine=ring --predict 2>&1 | FileCheck %s --check-prefix=NONE
// WHOLE-NOT: recompute {{.*}}jax.checkpoint
// WHOLE: memory of each device: 65{{.*}} kB
// LESS: recompute {{.*}}recompute-within-memory.mlir:{{.*}}, as jax.checkpoint does: {{[0-9]+}} bytes per device less
// LESS: memory of each device: 3{{[0-9][0-9]}}.{{.*}} kB
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
  %m6 = dtensor.matmul %h6, %w : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
  %t6 = dtensor.tanh %m6 : tensor<256x64xf32>
  %s6 = dtensor.sine %t6 : tensor<256x64xf32>
  %h7 = dtensor.add %s6, %t6 : tensor<256x64xf32>
  %m7 = dtensor.matmul %h7, %w : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
  %t7 = dtensor.tanh %m7 : tensor<256x64xf32>
  %s7 = dtensor.sine %t7 : tensor<256x64xf32>
  %h8 = dtensor.add %s7, %t7 : tensor<256x64xf32>
  %m8 = dtensor.matmul %h8, %w : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
  %t8 = dtensor.tanh %m8 : tensor<256x64xf32>
  %s8 = dtensor.sine %t8 : tensor<256x64xf32>
  %h9 = dtensor.add %s8, %t8 : tensor<256x64xf32>
  %m9 = dtensor.matmul %h9, %w : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
  %t9 = dtensor.tanh %m9 : tensor<256x64xf32>
  %s9 = dtensor.sine %t9 : tensor<256x64xf32>
  %h10 = dtensor.add %s9, %t9 : tensor<256x64xf32>
  %m10 = dtensor.matmul %h10, %w : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
  %t10 = dtensor.tanh %m10 : tensor<256x64xf32>
  %s10 = dtensor.sine %t10 : tensor<256x64xf32>
  %h11 = dtensor.add %s10, %t10 : tensor<256x64xf32>
  %m11 = dtensor.matmul %h11, %w : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
  %t11 = dtensor.tanh %m11 : tensor<256x64xf32>
  %s11 = dtensor.sine %t11 : tensor<256x64xf32>
  %h12 = dtensor.add %s11, %t11 : tensor<256x64xf32>
  %wt = dtensor.transpose %w dims [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %c11 = dtensor.cosine %t11 : tensor<256x64xf32>
  %a11 = dtensor.multiply %c11, %h12 : tensor<256x64xf32>
  %b11 = dtensor.add %a11, %h12 : tensor<256x64xf32>
  %q11 = dtensor.multiply %t11, %t11 : tensor<256x64xf32>
  %d11 = dtensor.subtract %b11, %q11 : tensor<256x64xf32>
  %ht11 = dtensor.transpose %h11 dims [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
  %gw11 = dtensor.matmul %ht11, %d11 : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
  %gh11 = dtensor.matmul %d11, %wt : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
  %c10 = dtensor.cosine %t10 : tensor<256x64xf32>
  %a10 = dtensor.multiply %c10, %gh11 : tensor<256x64xf32>
  %b10 = dtensor.add %a10, %gh11 : tensor<256x64xf32>
  %q10 = dtensor.multiply %t10, %t10 : tensor<256x64xf32>
  %d10 = dtensor.subtract %b10, %q10 : tensor<256x64xf32>
  %ht10 = dtensor.transpose %h10 dims [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
  %gw10 = dtensor.matmul %ht10, %d10 : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
  %gh10 = dtensor.matmul %d10, %wt : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
  %acc10 = dtensor.add %gw11, %gw10 : tensor<64x64xf32>
  %c9 = dtensor.cosine %t9 : tensor<256x64xf32>
  %a9 = dtensor.multiply %c9, %gh10 : tensor<256x64xf32>
  %b9 = dtensor.add %a9, %gh10 : tensor<256x64xf32>
  %q9 = dtensor.multiply %t9, %t9 : tensor<256x64xf32>
  %d9 = dtensor.subtract %b9, %q9 : tensor<256x64xf32>
  %ht9 = dtensor.transpose %h9 dims [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
  %gw9 = dtensor.matmul %ht9, %d9 : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
  %gh9 = dtensor.matmul %d9, %wt : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
  %acc9 = dtensor.add %acc10, %gw9 : tensor<64x64xf32>
  %c8 = dtensor.cosine %t8 : tensor<256x64xf32>
  %a8 = dtensor.multiply %c8, %gh9 : tensor<256x64xf32>
  %b8 = dtensor.add %a8, %gh9 : tensor<256x64xf32>
  %q8 = dtensor.multiply %t8, %t8 : tensor<256x64xf32>
  %d8 = dtensor.subtract %b8, %q8 : tensor<256x64xf32>
  %ht8 = dtensor.transpose %h8 dims [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
  %gw8 = dtensor.matmul %ht8, %d8 : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
  %gh8 = dtensor.matmul %d8, %wt : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
  %acc8 = dtensor.add %acc9, %gw8 : tensor<64x64xf32>
  %c7 = dtensor.cosine %t7 : tensor<256x64xf32>
  %a7 = dtensor.multiply %c7, %gh8 : tensor<256x64xf32>
  %b7 = dtensor.add %a7, %gh8 : tensor<256x64xf32>
  %q7 = dtensor.multiply %t7, %t7 : tensor<256x64xf32>
  %d7 = dtensor.subtract %b7, %q7 : tensor<256x64xf32>
  %ht7 = dtensor.transpose %h7 dims [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
  %gw7 = dtensor.matmul %ht7, %d7 : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
  %gh7 = dtensor.matmul %d7, %wt : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
  %acc7 = dtensor.add %acc8, %gw7 : tensor<64x64xf32>
  %c6 = dtensor.cosine %t6 : tensor<256x64xf32>
  %a6 = dtensor.multiply %c6, %gh7 : tensor<256x64xf32>
  %b6 = dtensor.add %a6, %gh7 : tensor<256x64xf32>
  %q6 = dtensor.multiply %t6, %t6 : tensor<256x64xf32>
  %d6 = dtensor.subtract %b6, %q6 : tensor<256x64xf32>
  %ht6 = dtensor.transpose %h6 dims [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
  %gw6 = dtensor.matmul %ht6, %d6 : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
  %gh6 = dtensor.matmul %d6, %wt : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
  %acc6 = dtensor.add %acc7, %gw6 : tensor<64x64xf32>
  %c5 = dtensor.cosine %t5 : tensor<256x64xf32>
  %a5 = dtensor.multiply %c5, %gh6 : tensor<256x64xf32>
  %b5 = dtensor.add %a5, %gh6 : tensor<256x64xf32>
  %q5 = dtensor.multiply %t5, %t5 : tensor<256x64xf32>
  %d5 = dtensor.subtract %b5, %q5 : tensor<256x64xf32>
  %ht5 = dtensor.transpose %h5 dims [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
  %gw5 = dtensor.matmul %ht5, %d5 : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
  %gh5 = dtensor.matmul %d5, %wt : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
  %acc5 = dtensor.add %acc6, %gw5 : tensor<64x64xf32>
  %c4 = dtensor.cosine %t4 : tensor<256x64xf32>
  %a4 = dtensor.multiply %c4, %gh5 : tensor<256x64xf32>
  %b4 = dtensor.add %a4, %gh5 : tensor<256x64xf32>
  %q4 = dtensor.multiply %t4, %t4 : tensor<256x64xf32>
  %d4 = dtensor.subtract %b4, %q4 : tensor<256x64xf32>
  %ht4 = dtensor.transpose %h4 dims [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
  %gw4 = dtensor.matmul %ht4, %d4 : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
  %gh4 = dtensor.matmul %d4, %wt : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
  %acc4 = dtensor.add %acc5, %gw4 : tensor<64x64xf32>
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
