// Scopes of jax.named_scope become those of steps, which the page folds.
// RUN: mesh-opt %s --explain=%t.json && FileCheck %s < %t.json

// CHECK: "scope": "layer_0/mlp"
// CHECK: "scope": "transpose(layer_0)/mlp"
// The names of functions, of parts of loops and of transformations of no scope
// are left out.
// CHECK-NOT: "scope":
// CHECK: "folds"

func.func public @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc(#forward)
  %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [1] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc(#backward)
  %2 = stablehlo.dot_general %1, %a, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc(#nothing)
  return %2 : tensor<64x64xf32>
}
#file = loc("step.py":1:1)
#forward = loc("jit(step)/jvp(layer_0)/mlp/dot_general"(#file))
#backward = loc("jit(step)/transpose(jvp(layer_0))/while/body/closed_call/mlp/dot_general"(#file))
#nothing = loc("jit(step)/transpose(jvp())/dot_general"(#file))
