// Layouts that no relayout can bring about.
// RUN: mesh-opt %s --dtensor-insert-relayouts --split-input-file --verify-diagnostics

#mesh = #dtensor.mesh<x = 2, y = 4>
#uu = #dtensor.layout<#mesh, [*, *]>

func.func @undecided(%a: tensor<8x8xf32, #uu>) -> tensor<8x8xf32> {
  // expected-error @+1 {{has a value without a layout; run --dtensor-propagate-layouts first}}
  %0 = dtensor.exp %a : (tensor<8x8xf32, #uu>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#uu = #dtensor.layout<#mesh, [*, *]>
#partial = #dtensor.layout<#mesh, [*, *] partial<x: sum>>

// exp of a sum is not the sum of exps.
func.func @not_linear(%a: tensor<8x8xf32, #partial>) -> tensor<8x8xf32, #partial> {
  // expected-error @+1 {{has result #0 laid out [*, *] partial<x: sum>, but makes [*, *]; only a relayout can change a layout}}
  %0 = dtensor.exp %a : tensor<8x8xf32, #partial>
  return %0 : tensor<8x8xf32, #partial>
}
