// What RefineLayouts cannot work on.
// RUN: mesh-opt %s --dtensor-refine-layouts --split-input-file --verify-diagnostics

// expected-error @below {{argument #0 has no layout; run --dtensor-propagate-layouts first}}
func.func @argument(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

#rows = #dtensor.layout<#dtensor.mesh<x = 2>, [x]>
func.func @result(%x: tensor<4xf32, #rows>) -> tensor<4xf32> {
  // expected-error @below {{has a result without a layout; run --dtensor-propagate-layouts first}}
  %0 = dtensor.exp %x : (tensor<4xf32, #rows>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
