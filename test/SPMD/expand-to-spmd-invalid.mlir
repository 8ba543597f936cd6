// What cannot be expanded. Nothing changes before all types are checked.
// RUN: mesh-opt %s --dtensor-expand-to-spmd --split-input-file --verify-diagnostics

// expected-error @+1 {{has a result without a layout; run --dtensor-propagate-layouts first}}
func.func @undecided(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

#x = #dtensor.layout<#dtensor.mesh<x = 2>, [x]>
func.func @constraint(%a: tensor<4xf32, #x>) -> tensor<4xf32, #x> {
  // expected-error @+1 {{must become a relayout: run --dtensor-insert-relayouts first}}
  %0 = dtensor.constraint %a : (tensor<4xf32, #x>) -> tensor<4xf32, #x>
  return %0 : tensor<4xf32, #x>
}
