// A training step of four layers, each in a name scope, whose gradients are
// clipped by their global norm, runs in a pipeline, in one process or several.
// The numbers stay the same.
// RUN: mesh-run %s --function=step --pipeline=microbatches=4 --verify
// RUN: mesh-run %s --function=step --pipeline=microbatches=8,schedule=gpipe,stages=2 --verify
// RUN: mesh-run %s --function=step --pipeline=microbatches=4,schedule=zero-bubble --private-memories --repeat=3 --carry=1 --stats=%t.json | FileCheck %s --check-prefix=CARRY
// RUN: FileCheck %s --check-prefix=STATS --input-file=%t.json
// RUN: mesh-launch -n 2 mesh-run %s --function=step --pipeline=microbatches=4,schedule=zero-bubble --private-memories --repeat=3 --carry=1 --stats=%t.processes.json | FileCheck %s --check-prefix=CARRY
// RUN: FileCheck %s --check-prefix=STATS --input-file=%t.processes.json
// RUN: not mesh-launch -n 3 mesh-run %s --function=step --pipeline=schedule=interleaved,sets=2 2>&1 | FileCheck %s --check-prefix=PROCESSES
// RUN: mesh-run %s --function=step --pipeline=schedule=interleaved,sets=2 --verify
// RUN: mesh-opt %s --function=step --pipeline=microbatches=8,stages=2,schedule=zero-bubble --machine=gpu:h100 | FileCheck %s
// RUN: not mesh-opt %s --function=unnamed --pipeline 2>&1 | FileCheck %s --check-prefix=UNNAMED
// RUN: not mesh-opt %s --function=returns --pipeline 2>&1 | FileCheck %s --check-prefix=RETURNS
// RUN: not mesh-run %s --function=step --pipeline=schedule=2f2b 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// CHECK: a pipeline of 2 stages on 2 sets of 2 devices of gpu:h100, schedule zero-bubble, 8 microbatches of 8 rows of 'x', 'y'
// CHECK-NEXT: stage  scopes                  forward   backward    weights   transfer  held     memory
// CHECK-NEXT: 0  stage0 to stage1 {{[0-9.]+}} us 0 ps {{[0-9.]+}} us {{[0-9.]+}} us 2 {{[0-9.]+}} kB
// CHECK-NEXT: 1  stage2 to stage3 0 ps {{[0-9.]+}} us {{[0-9.]+}} us 0 ps 2 {{[0-9.]+}} kB
// CHECK-NEXT: time of a step: {{[0-9.]+}} us, of which {{[0-9.]+}} us are for the updates; devices wait in {{[0-9.]+}} % of the time before
// The loss of the third step, as without a pipeline.
// CARRY: result 0 f32[] [1813.86]
// The peaks of the four sets of devices are what was predicted.
// STATS: "peak_bytes_per_device": [
// STATS-NEXT: [[FIRST:[0-9]+]],
// STATS-NEXT: [[SECOND:[0-9]+]],
// STATS-NEXT: [[THIRD:[0-9]+]],
// STATS-NEXT: [[FOURTH:[0-9]+]]
// STATS: "predicted": {
// STATS: "peak_bytes_per_device": [
// STATS-NEXT: [[FIRST]],
// STATS-NEXT: [[SECOND]],
// STATS-NEXT: [[THIRD]],
// STATS-NEXT: [[FOURTH]]
// PROCESSES: the pipeline has 2 sets of devices and runs in 3 processes; expected no more processes than sets, of which each process has one or more
// UNNAMED: no op is in a stage of the pipeline: put the ops of stage i into the name scope stagei, as jax.named_scope("stage0") does, or name other scopes with --pipeline=scope=NAME
// RETURNS: this op is in the scope stage1, which is in stage 1 of the pipeline, and needs a value that stage 0 computes later, in its backward part
// SCHEDULE: --pipeline: expected microbatches=N, stages=N, sets=N, scope=NAME or schedule=gpipe, 1f1b, interleaved or zero-bubble, separated by commas, got 'schedule=2f2b'

#mesh = #dtensor.mesh<d = 2>
#rows = #dtensor.layout<#mesh, [d, *]>
#forward0 = loc("jit(step)/jvp(stage0)")
#forward1 = loc("jit(step)/jvp(stage1)")
#forward2 = loc("jit(step)/jvp(stage2)")
#forward3 = loc("jit(step)/jvp(stage3)")
#backward0 = loc("jit(step)/transpose(jvp(stage0))")
#backward1 = loc("jit(step)/transpose(jvp(stage1))")
#backward2 = loc("jit(step)/transpose(jvp(stage2))")
#backward3 = loc("jit(step)/transpose(jvp(stage3))")
func.func @step(%w0: tensor<32x32xf32> {dtensor.alias = 1 : i64, dtensor.name = "w0"},
                %w1: tensor<32x32xf32> {dtensor.alias = 2 : i64, dtensor.name = "w1"},
                %w2: tensor<32x32xf32> {dtensor.alias = 3 : i64, dtensor.name = "w2"},
                %w3: tensor<32x32xf32> {dtensor.alias = 4 : i64, dtensor.name = "w3"},
                %x: tensor<64x32xf32, #rows> {dtensor.name = "x"}, %y: tensor<64x32xf32, #rows> {dtensor.name = "y"})
    -> (tensor<f32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>) {
  %one = dtensor.constant dense<1.0> : tensor<64x32xf32>
  %m0 = dtensor.matmul %x, %w0 : (tensor<64x32xf32, #rows>, tensor<32x32xf32>) -> tensor<64x32xf32> loc(#forward0)
  %h0 = dtensor.tanh %m0 : tensor<64x32xf32> loc(#forward0)
  %m1 = dtensor.matmul %h0, %w1 : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32> loc(#forward1)
  %h1 = dtensor.tanh %m1 : tensor<64x32xf32> loc(#forward1)
  %m2 = dtensor.matmul %h1, %w2 : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32> loc(#forward2)
  %h2 = dtensor.tanh %m2 : tensor<64x32xf32> loc(#forward2)
  %m3 = dtensor.matmul %h2, %w3 : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32> loc(#forward3)
  %h3 = dtensor.tanh %m3 : tensor<64x32xf32> loc(#forward3)
  %d4 = dtensor.subtract %h3, %y : (tensor<64x32xf32>, tensor<64x32xf32, #rows>) -> tensor<64x32xf32>
  %q = dtensor.multiply %d4, %d4 : tensor<64x32xf32>
  %loss = dtensor.reduce sum %q dims [0, 1] : (tensor<64x32xf32>) -> tensor<f32>
  %s3 = dtensor.multiply %h3, %h3 : tensor<64x32xf32> loc(#backward3)
  %t3 = dtensor.subtract %one, %s3 : tensor<64x32xf32> loc(#backward3)
  %e3 = dtensor.multiply %d4, %t3 : tensor<64x32xf32> loc(#backward3)
  %u3 = dtensor.transpose %h2 dims [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32> loc(#backward3)
  %g3 = dtensor.matmul %u3, %e3 : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32> loc(#backward3)
  %v3 = dtensor.transpose %w3 dims [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32> loc(#backward3)
  %d3 = dtensor.matmul %e3, %v3 : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32> loc(#backward3)
  %s2 = dtensor.multiply %h2, %h2 : tensor<64x32xf32> loc(#backward2)
  %t2 = dtensor.subtract %one, %s2 : tensor<64x32xf32> loc(#backward2)
  %e2 = dtensor.multiply %d3, %t2 : tensor<64x32xf32> loc(#backward2)
  %u2 = dtensor.transpose %h1 dims [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32> loc(#backward2)
  %g2 = dtensor.matmul %u2, %e2 : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32> loc(#backward2)
  %v2 = dtensor.transpose %w2 dims [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32> loc(#backward2)
  %d2 = dtensor.matmul %e2, %v2 : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32> loc(#backward2)
  %s1 = dtensor.multiply %h1, %h1 : tensor<64x32xf32> loc(#backward1)
  %t1 = dtensor.subtract %one, %s1 : tensor<64x32xf32> loc(#backward1)
  %e1 = dtensor.multiply %d2, %t1 : tensor<64x32xf32> loc(#backward1)
  %u1 = dtensor.transpose %h0 dims [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32> loc(#backward1)
  %g1 = dtensor.matmul %u1, %e1 : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32> loc(#backward1)
  %v1 = dtensor.transpose %w1 dims [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32> loc(#backward1)
  %d1 = dtensor.matmul %e1, %v1 : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32> loc(#backward1)
  %s0 = dtensor.multiply %h0, %h0 : tensor<64x32xf32> loc(#backward0)
  %t0 = dtensor.subtract %one, %s0 : tensor<64x32xf32> loc(#backward0)
  %e0 = dtensor.multiply %d1, %t0 : tensor<64x32xf32> loc(#backward0)
  %u0 = dtensor.transpose %x dims [1, 0] : (tensor<64x32xf32, #rows>) -> tensor<32x64xf32> loc(#backward0)
  %g0 = dtensor.matmul %u0, %e0 : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32> loc(#backward0)
  %p0 = dtensor.multiply %g0, %g0 : tensor<32x32xf32>
  %n0 = dtensor.reduce sum %p0 dims [0, 1] : (tensor<32x32xf32>) -> tensor<f32>
  %p1 = dtensor.multiply %g1, %g1 : tensor<32x32xf32>
  %n1 = dtensor.reduce sum %p1 dims [0, 1] : (tensor<32x32xf32>) -> tensor<f32>
  %p2 = dtensor.multiply %g2, %g2 : tensor<32x32xf32>
  %n2 = dtensor.reduce sum %p2 dims [0, 1] : (tensor<32x32xf32>) -> tensor<f32>
  %p3 = dtensor.multiply %g3, %g3 : tensor<32x32xf32>
  %n3 = dtensor.reduce sum %p3 dims [0, 1] : (tensor<32x32xf32>) -> tensor<f32>
  %a1 = dtensor.add %n0, %n1 : tensor<f32>
  %a2 = dtensor.add %a1, %n2 : tensor<f32>
  %a3 = dtensor.add %a2, %n3 : tensor<f32>
  %scale = dtensor.rsqrt %a3 : tensor<f32>
  %c0 = dtensor.broadcast_in_dim %scale dims [] : (tensor<f32>) -> tensor<32x32xf32>
  %r0 = dtensor.multiply %g0, %c0 : tensor<32x32xf32>
  %next0 = dtensor.subtract %w0, %r0 : tensor<32x32xf32>
  %c1 = dtensor.broadcast_in_dim %scale dims [] : (tensor<f32>) -> tensor<32x32xf32>
  %r1 = dtensor.multiply %g1, %c1 : tensor<32x32xf32>
  %next1 = dtensor.subtract %w1, %r1 : tensor<32x32xf32>
  %c2 = dtensor.broadcast_in_dim %scale dims [] : (tensor<f32>) -> tensor<32x32xf32>
  %r2 = dtensor.multiply %g2, %c2 : tensor<32x32xf32>
  %next2 = dtensor.subtract %w2, %r2 : tensor<32x32xf32>
  %c3 = dtensor.broadcast_in_dim %scale dims [] : (tensor<f32>) -> tensor<32x32xf32>
  %r3 = dtensor.multiply %g3, %c3 : tensor<32x32xf32>
  %next3 = dtensor.subtract %w3, %r3 : tensor<32x32xf32>
  return %loss, %next0, %next1, %next2, %next3 : tensor<f32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>
}
func.func @unnamed(%x: tensor<8x4xf32>) -> tensor<f32> {
  %a = dtensor.tanh %x : tensor<8x4xf32>
  %loss = dtensor.reduce sum %a dims [0, 1] : (tensor<8x4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
func.func @returns(%x: tensor<8x4xf32>) -> tensor<f32> {
  %a = dtensor.tanh %x : tensor<8x4xf32> loc(#forward1)
  %b = dtensor.exp %a : tensor<8x4xf32> loc(#backward0)
  %c = dtensor.tanh %b : tensor<8x4xf32> loc(#forward1)
  %loss = dtensor.reduce sum %c dims [0, 1] : (tensor<8x4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
