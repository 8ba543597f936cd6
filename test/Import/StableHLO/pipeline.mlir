// The scopes of JAX arrive as locations: a step as jax.jit lowers it, with
// as_text(debug_info=True), runs in a pipeline. So are the named computations
// of Shardy. A donated argument is no batch.
// RUN: mesh-run %s --function=main --pipeline=microbatches=4 --verify
// RUN: mesh-run %s --function=main --pipeline=microbatches=2,schedule=zero-bubble --verify
// RUN: mesh-opt %s --function=named --pipeline=scope=part | FileCheck %s
// CHECK: a pipeline of 2 stages on 2 sets of 1 device of ring, schedule 1f1b, 2 microbatches of 4 rows of argument #1
// CHECK: 0 part1
// CHECK-NEXT: 1 part2
#forward0 = loc("jit(step)/jvp(stage0)/dot_general")
#forward1 = loc("jit(step)/jvp(stage1)/dot_general")
#backward0 = loc("jit(step)/transpose(jvp(stage0))/dot_general")
#backward1 = loc("jit(step)/transpose(jvp(stage1))/dot_general")
func.func public @main(%w1: tensor<4x6xf32> {tf.aliasing_output = 0 : i32}, %w2: tensor<6x2xf32> {tf.aliasing_output = 1 : i32}, %x: tensor<8x4xf32>, %y: tensor<8x2xf32>) -> (tensor<4x6xf32>, tensor<6x2xf32>, tensor<f32>) {
  %0 = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> loc(#forward0)
  %1 = stablehlo.tanh %0 : tensor<8x6xf32> loc(#forward0)
  %cst = stablehlo.constant dense<1.0> : tensor<8x6xf32>
  %3 = stablehlo.subtract %cst, %1 : tensor<8x6xf32> loc(#forward0)
  %4 = stablehlo.dot_general %1, %w2, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x2xf32>) -> tensor<8x2xf32> loc(#forward1)
  %5 = stablehlo.subtract %4, %y : tensor<8x2xf32> loc(#forward1)
  %6 = stablehlo.multiply %5, %5 : tensor<8x2xf32> loc(#forward1)
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %9 = stablehlo.reduce(%6 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x2xf32>, tensor<f32>) -> tensor<f32> loc(#forward1)
  %12 = stablehlo.dot_general %1, %5, contracting_dims = [0] x [0] : (tensor<8x6xf32>, tensor<8x2xf32>) -> tensor<6x2xf32> loc(#backward1)
  %14 = stablehlo.dot_general %5, %w2, contracting_dims = [1] x [1] : (tensor<8x2xf32>, tensor<6x2xf32>) -> tensor<8x6xf32> loc(#backward1)
  %15 = stablehlo.multiply %14, %3 : tensor<8x6xf32> loc(#backward0)
  %16 = stablehlo.multiply %15, %1 : tensor<8x6xf32> loc(#backward0)
  %17 = stablehlo.add %15, %16 : tensor<8x6xf32> loc(#backward0)
  %18 = stablehlo.dot_general %x, %17, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<4x6xf32> loc(#backward0)
  %20 = stablehlo.subtract %w1, %18 : tensor<4x6xf32>
  %21 = stablehlo.subtract %w2, %12 : tensor<6x2xf32>
  return %20, %21, %9 : tensor<4x6xf32>, tensor<6x2xf32>, tensor<f32>
}
func.func @named(%w: tensor<8x6xf32> {jax.buffer_donor = true}, %x: tensor<8x8xf32>) -> tensor<f32> {
  %0 = sdy.named_computation<"part1">(%x, %w) (%a: tensor<8x8xf32>, %b: tensor<8x6xf32>) {
    %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    sdy.return %1 : tensor<8x6xf32>
  } : (tensor<8x8xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  %2 = sdy.named_computation<"part2">(%0) (%a: tensor<8x6xf32>) {
    %3 = stablehlo.tanh %a : tensor<8x6xf32>
    sdy.return %3 : tensor<8x6xf32>
  } : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %4 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<f32>
  return %4 : tensor<f32>
}
