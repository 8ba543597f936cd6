// Wishes that cannot be read.
// RUN: mesh-opt %s --split-input-file --verify-diagnostics

#mesh = #dtensor.mesh<x = 2, y = 4>
#xu = #dtensor.layout<#mesh, [x, *]>
func.func @unknown_axis(%a: tensor<8x8xf32>) {
  // expected-error@+1 {{'replicated' of a wish names "z", which is not an axis of the mesh}}
  %0 = dtensor.constraint %a {dtensor.wish = {layout = #xu, replicated = ["z"]}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#xu = #dtensor.layout<#mesh, [x, *]>
func.func @used_twice(%a: tensor<8x8xf32>) {
  // expected-error@+1 {{axis "x" is both replicated and on a dim of [x, *]}}
  %0 = dtensor.constraint %a {dtensor.wish = {layout = #xu, replicated = ["x"]}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#x = #dtensor.layout<#mesh, [x]>
func.func @rank(%a: tensor<8x8xf32>) {
  // expected-error@+1 {{a wish needs a 'layout' of rank 2 that is not partial}}
  %0 = dtensor.constraint %a {dtensor.wish = {layout = #x}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#xu = #dtensor.layout<#mesh, [x, *]>
func.func @released(%a: tensor<8x8xf32>) {
  // expected-error@+1 {{'released' of a wish takes no value}}
  %0 = dtensor.constraint %a {dtensor.wish = {layout = #xu, released = 1 : i64}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}
