// What cannot be laid out.
// RUN: mesh-opt %s --dtensor-propagate-layouts --split-input-file --verify-diagnostics

#mesh = #dtensor.mesh<x = 2>
#other = #dtensor.mesh<y = 4, z = 2>

// expected-note @+1 {{mesh <x=2> is from here}}
func.func @two_meshes(%a: tensor<4xf32, #dtensor.layout<#mesh, [x]>>,
                      // expected-error @+1 {{function 'two_meshes' has values on two meshes, <x=2> and <y=4, z=2>: run --dtensor-unify-meshes first}}
                      %b: tensor<4xf32, #dtensor.layout<#other, [y]>>) -> tensor<4xf32> {
  %0 = dtensor.exp %a : (tensor<4xf32, #dtensor.layout<#mesh, [x]>>) -> tensor<4xf32>
  %1 = dtensor.exp %b : (tensor<4xf32, #dtensor.layout<#other, [y]>>) -> tensor<4xf32>
  %2 = dtensor.add %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// expected-error @+1 {{argument 'v' has type '!dtensor.variable<tensor<2xf32>>'; lift variables with --dtensor-lift-variables first}}
func.func @variable(%v: !dtensor.variable<tensor<2xf32>> {dtensor.name = "v"}) {
  return
}

// -----

func.func @not_imported(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{has no sharding rule, so it cannot be laid out; run --stablehlo-to-dtensor first}}
  %0 = stablehlo.add %a, %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// expected-error @+1 {{argument #0 has type 'f32'; expected a ranked tensor}}
func.func @number(%v: f32) {
  return
}

// -----

func.func private @callee(tensor<2xf32>)
func.func @call(%a: tensor<2xf32>) {
  // expected-error @+1 {{has no sharding rule, so it cannot be laid out}}
  func.call @callee(%a) : (tensor<2xf32>) -> ()
  return
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 2>
#uu = #dtensor.layout<#mesh, [*, *]>
#xu = #dtensor.layout<#mesh, [x, *]>
#ux = #dtensor.layout<#mesh, [*, x]>
// A sharding group whose values are laid out differently.
func.func @group_layouts(%a: tensor<8x4xf32, #xu>, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = dtensor.constraint %b {dtensor.wish = {layout = #ux}} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-note @+1 {{the other one}}
  %1 = dtensor.constraint %a {dtensor.wish = {layout = #uu, open = array<i1: true, true>, group = 3 : i64}} : (tensor<8x4xf32, #xu>) -> tensor<8x4xf32>
  // expected-error @+1 {{value is in sharding group 3 with another one, but their layouts differ: [*, x] and [x, *]; leave dims of one of them open, or take it out}}
  %2 = dtensor.constraint %0 {dtensor.wish = {layout = #uu, open = array<i1: true, true>, group = 3 : i64}} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %3 = dtensor.add %1, %2 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 2>
#uu = #dtensor.layout<#mesh, [*, *]>
func.func @group_shapes(%a: tensor<8x4xf32>, %b: tensor<4x8xf32>) -> (tensor<8x4xf32>, tensor<4x8xf32>) {
  // expected-note @+1 {{the other one}}
  %0 = dtensor.constraint %a {dtensor.wish = {layout = #uu, open = array<i1: true, true>, group = 3 : i64}} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-error @+1 {{value is in sharding group 3 with another one, but their shapes differ: 'tensor<4x8xf32>' and 'tensor<8x4xf32>'}}
  %1 = dtensor.constraint %b {dtensor.wish = {layout = #uu, open = array<i1: true, true>, group = 3 : i64}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<4x8xf32>
}
