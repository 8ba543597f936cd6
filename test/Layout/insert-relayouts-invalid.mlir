// Layouts that no relayout can bring about.
// RUN: mesh-opt %s --dtensor-insert-relayouts --split-input-file --verify-diagnostics

#mesh = #dtensor.mesh<x = 2, y = 4>
#xu = #dtensor.layout<#mesh, [x, *]>
#partial = #dtensor.layout<#mesh, [*, *] partial<x: sum>>

// A pending reduction cannot be made.
// expected-note @+1 {{it is [x, *]; 'x' from argument 'a' [x, *]}}
func.func @made_partial(%a: tensor<8x8xf32, #xu> {dtensor.name = "a"}) -> tensor<8x8xf32, #partial> {
  // expected-error @+1 {{needs operand #0 as [*, *] partial<x: sum>, but it is [x, *]; a pending reduction can be resolved, but not made: drop 'x' from the partial axes}}
  %0 = dtensor.constraint %a : (tensor<8x8xf32, #xu>) -> tensor<8x8xf32, #partial>
  return %0 : tensor<8x8xf32, #partial>
}

// -----

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
