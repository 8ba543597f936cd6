// Meshes that do not go together are named, with what is on them.
// RUN: mesh-opt %s --dtensor-unify-meshes --split-input-file --verify-diagnostics

#a = #dtensor.mesh<x = 2, y = 3>
#b = #dtensor.mesh<p = 3, q = 2>
// expected-note @+1 {{mesh <x=2, y=3> is from argument 'a' here}}
func.func @no_refinement(%a: tensor<6xf32, #dtensor.layout<#a, [x]>> {dtensor.name = "a"},
    // expected-error @+1 {{argument 'b' is on mesh <p=3, q=2>, which does not go with mesh <x=2, y=3>: axis}}
    %b: tensor<6xf32, #dtensor.layout<#b, [p]>> {dtensor.name = "b"}) {
  return
}

// -----

#a = #dtensor.mesh<x = 4>
#b = #dtensor.mesh<p = 8>
// expected-note @+1 {{mesh <x=4> is from argument #0 here}}
func.func @counts(%a: tensor<8xf32, #dtensor.layout<#a, [x]>>) -> tensor<8xf32> {
  // expected-error @+1 {{this relayout is on mesh <p=8>, which does not go with mesh <x=4>: it has 8 devices, not 4; all meshes of a function are over the same devices}}
  %0 = dtensor.relayout %a : (tensor<8xf32, #dtensor.layout<#a, [x]>>) -> tensor<8xf32, #dtensor.layout<#b, [p]>>
  %1 = dtensor.exp %0 : (tensor<8xf32, #dtensor.layout<#b, [p]>>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
