// RUN: mesh-opt %s --split-input-file --verify-diagnostics
// Every constraint of spmd.library_call is checked.

#mesh = #dtensor.mesh<x = 2>
#rows = #spmd.shard<[9, 4], #dtensor.layout<#mesh, [x, *]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @twice(%a: tensor<5x4xf32, #rows>) {
  // expected-error @+1 {{'spmd.library_call' op names axis "x" twice (C1)}}
  %0 = spmd.library_call "mine" loops [9 over [x], 4 over [x]] ins (%a at #id) outs (#id)
      : (tensor<5x4xf32, #rows>) -> tensor<5x4xf32, #rows>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #spmd.shard<[9, 4], #dtensor.layout<#mesh, [x, *]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @ranges(%a: tensor<5x4xf32, #rows>) {
  // expected-error @+1 {{'spmd.library_call' op has ranges that are not pairs of numbers (C1)}}
  %0 = spmd.library_call "mine" loops [9 over [x], held 4 ranges [1, 2, 3]] ins (%a at #id) outs (#id)
      : (tensor<5x4xf32, #rows>) -> tensor<5x4xf32, #rows>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #spmd.shard<[9, 4], #dtensor.layout<#mesh, [x, *]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
#less = affine_map<(d0, d1) -> (d0)>
func.func @maps(%a: tensor<5x4xf32, #rows>) {
  // expected-error @+1 {{for 2 loops and a tensor of 2 dims (C2)}}
  %0 = spmd.library_call "mine" loops [9 over [x], 4] ins (%a at #less) outs (#id)
      : (tensor<5x4xf32, #rows>) -> tensor<5x4xf32, #rows>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #spmd.shard<[9, 4], #dtensor.layout<#mesh, [x, *]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @outside(%a: tensor<5x4xf32, #rows>) {
  // expected-error @+1 {{'spmd.library_call' op reaches indices 0 to 9 of dim 0 with extent 9 (C3)}}
  %0 = spmd.library_call "mine" loops [10 over [x], 4] ins (%a at #id) outs (#id)
      : (tensor<5x4xf32, #rows>) -> tensor<5x4xf32, #rows>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #spmd.shard<[9, 4], #dtensor.layout<#mesh, [x, *]>>
#scalar = #spmd.shard<[], #dtensor.layout<#mesh, []>>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @region(%a: tensor<5x4xf32, #rows>) {
  // expected-error @+1 {{'spmd.library_call' op has a region that is not one kernel without loops on its arguments (C4)}}
  %0 = spmd.library_call "mine" loops [9 over [x], 4] ins (%a at #id) outs (#id)
      : (tensor<5x4xf32, #rows>) -> tensor<5x4xf32, #rows> {
  ^bb0(%s: tensor<f32, #scalar>):
    spmd.yield %s : tensor<f32, #scalar>
  }
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #spmd.shard<[9, 4], #dtensor.layout<#mesh, [x, *]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
#swap = affine_map<(d0, d1) -> (d1, d0)>
func.func @rows(%a: tensor<5x4xf32, #rows>) {
  // expected-error @+1 {{'spmd.library_call' op has a region that is not kernels over its first loops, whose results it yields (C4)}}
  %0 = spmd.library_call "rows" loops [9 over [x], reduce 4] ins (%a at #id) outs (#id)
      : (tensor<5x4xf32, #rows>) -> tensor<5x4xf32, #rows> {
  ^bb0(%b: tensor<5x4xf32, #rows>):
    %1 = spmd.kernel loops [4, 9 over [x]] ins (%b at #swap) outs (#swap)
        : (tensor<5x4xf32, #rows>) -> tensor<5x4xf32, #rows> {
    ^bb1(%c: f32):
      spmd.yield %c : f32
    }
    spmd.yield %1 : tensor<5x4xf32, #rows>
  }
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #spmd.shard<[9, 4], #dtensor.layout<#mesh, [x, *]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @in_place(%a: tensor<5x4xf32, #rows>) {
  // expected-error @+1 {{'spmd.library_call' op cannot write output 0 over input 1 (C5)}}
  %0 = spmd.library_call "mine" loops [9 over [x], 4] ins (%a at #id) outs (#id) in_place [1]
      : (tensor<5x4xf32, #rows>) -> tensor<5x4xf32, #rows>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #spmd.shard<[9, 4], #dtensor.layout<#mesh, [x, *]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @options(%a: tensor<5x4xf32, #rows>) {
  // expected-error @+1 {{'spmd.library_call' op has the option "scale" = 2.000000e+00 : f32, which is not an integer, a text or a list of integers (C6)}}
  %0 = spmd.library_call "mine" loops [9 over [x], 4] ins (%a at #id) outs (#id) {options = {scale = 2.0 : f32}}
      : (tensor<5x4xf32, #rows>) -> tensor<5x4xf32, #rows>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #spmd.shard<[9, 4], #dtensor.layout<#mesh, [x, *]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @overwritable(%a: tensor<5x4xf32, #rows>) {
  // expected-error @+1 {{'spmd.library_call' op has an 'overwritable' that is not an input or -1 for each output (C7)}}
  %0 = spmd.library_call "mine" loops [9 over [x], 4] ins (%a at #id) outs (#id) {overwritable = array<i32: 1>}
      : (tensor<5x4xf32, #rows>) -> tensor<5x4xf32, #rows>
  return
}
