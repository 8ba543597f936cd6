// Every constraint of spmd.kernel and spmd.index, broken.
// RUN: mesh-opt %s --split-input-file --verify-diagnostics

#mesh = #dtensor.mesh<x = 2>
#a = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [x, *]>>
#r = #spmd.shard<[6], #dtensor.layout<#mesh, [x]>>
#id = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

func.func @negative_extent(%x: tensor<3x4xf32, #a>) {
  // expected-error @+1 {{has a negative extent (C1)}}
  %0 = spmd.kernel loops [-6 over [x], 4] ins (%x at #id) outs (#id) : (tensor<3x4xf32, #a>) -> tensor<3x4xf32, #a> {
  ^bb0(%e: f32):
    spmd.yield %e : f32
  }
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#a = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [x, *]>>
#r = #spmd.shard<[6], #dtensor.layout<#mesh, [x]>>
#id = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

func.func @unknown_axis(%x: tensor<3x4xf32, #a>) {
  // expected-error @+1 {{no axis of the mesh (C1)}}
  %0 = spmd.kernel loops [6 over [z], 4] ins (%x at #id) outs (#id) : (tensor<3x4xf32, #a>) -> tensor<3x4xf32, #a> {
  ^bb0(%e: f32):
    spmd.yield %e : f32
  }
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#a = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [x, *]>>
#r = #spmd.shard<[6], #dtensor.layout<#mesh, [x]>>
#id = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

func.func @axis_twice(%x: tensor<3x4xf32, #a>) {
  // expected-error @+1 {{names axis "x" twice (C1)}}
  %0 = spmd.kernel loops [6 over [x], 4 over [x]] ins (%x at #id) outs (#id) : (tensor<3x4xf32, #a>) -> tensor<3x4xf32, #a> {
  ^bb0(%e: f32):
    spmd.yield %e : f32
  }
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#a = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [x, *]>>
#r = #spmd.shard<[6], #dtensor.layout<#mesh, [x]>>
#id = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

func.func @map_of_other_rank(%x: tensor<3x4xf32, #a>) {
  // expected-error @+1 {{for 2 loops and a tensor of 2 dims (C2)}}
  %0 = spmd.kernel loops [6 over [x], 4] ins (%x at #i) outs (#id) : (tensor<3x4xf32, #a>) -> tensor<3x4xf32, #a> {
  ^bb0(%e: f32):
    spmd.yield %e : f32
  }
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#a = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [x, *]>>
#r = #spmd.shard<[6], #dtensor.layout<#mesh, [x]>>
#id = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

func.func @not_linear(%x: tensor<3x4xf32, #a>) {
  // expected-error @+1 {{has a map that is not linear}}
  %0 = spmd.kernel loops [6 over [x], 4] ins (%x at affine_map<(i, j) -> (i floordiv 2, j)>) outs (#id) : (tensor<3x4xf32, #a>) -> tensor<3x4xf32, #a> {
  ^bb0(%e: f32):
    spmd.yield %e : f32
  }
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#a = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [x, *]>>
#r = #spmd.shard<[6], #dtensor.layout<#mesh, [x]>>
#id = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

func.func @outside(%x: tensor<3x4xf32, #a>) {
  // expected-error @+1 {{reaches indices 1 to 6 of dim 0 with extent 6 (C3)}}
  %0 = spmd.kernel loops [6 over [x], 4] ins (%x at affine_map<(i, j) -> (i + 1, j)>) outs (#id) : (tensor<3x4xf32, #a>) -> tensor<3x4xf32, #a> {
  ^bb0(%e: f32):
    spmd.yield %e : f32
  }
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#a = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [x, *]>>
#r = #spmd.shard<[6], #dtensor.layout<#mesh, [x]>>
#id = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

func.func @too_few_yielded(%x: tensor<3x4xf32, #a>) {
  // expected-error @+1 {{has a body with 1 arguments that yields 0 values (C4)}}
  %0 = spmd.kernel loops [6 over [x], 4] ins (%x at #id) outs (#id) : (tensor<3x4xf32, #a>) -> tensor<3x4xf32, #a> {
  ^bb0(%e: f32):
    spmd.yield
  }
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#a = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [x, *]>>
#r = #spmd.shard<[6], #dtensor.layout<#mesh, [x]>>
#id = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

func.func @argument_type(%x: tensor<3x4xf32, #a>) {
  // expected-error @+1 {{has a body argument 0 that is not the input's element (C4)}}
  %0 = spmd.kernel loops [6 over [x], 4] ins (%x at #id) outs (#id) : (tensor<3x4xf32, #a>) -> tensor<3x4xf32, #a> {
  ^bb0(%e: f64):
    %f = arith.truncf %e : f64 to f32
    spmd.yield %f : f32
  }
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#a = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [x, *]>>
#r = #spmd.shard<[6], #dtensor.layout<#mesh, [x]>>
#id = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

func.func @yield_type(%x: tensor<3x4xf32, #a>) {
  // expected-error @+1 {{yields 'f64' for output 0 of 'f32' (C4)}}
  %0 = spmd.kernel loops [6 over [x], 4] ins (%x at #id) outs (#id) : (tensor<3x4xf32, #a>) -> tensor<3x4xf32, #a> {
  ^bb0(%e: f32):
    %f = arith.extf %e : f32 to f64
    spmd.yield %f : f64
  }
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#a = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [x, *]>>
#r = #spmd.shard<[6], #dtensor.layout<#mesh, [x]>>
#id = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

func.func @stored_many_times(%x: tensor<3x4xf32, #a>) {
  // expected-error @+1 {{stores output 0 many times: it needs a reducer (C5)}}
  %0 = spmd.kernel loops [6 over [x], reduce 4] ins (%x at #id) outs (#i) : (tensor<3x4xf32, #a>) -> tensor<3xf32, #r> {
  ^bb0(%e: f32):
    spmd.yield %e : f32
  }
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#a = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [x, *]>>
#r = #spmd.shard<[6], #dtensor.layout<#mesh, [x]>>
#id = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

func.func @nothing_to_reduce(%x: tensor<3x4xf32, #a>) {
  // expected-error @+1 {{reduces output 0 that its reduction loops do not leave out (C5)}}
  %0 = spmd.kernel loops [6 over [x], 4] ins (%x at #id) outs (sum #id) : (tensor<3x4xf32, #a>) -> tensor<3x4xf32, #a> {
  ^bb0(%e: f32):
    spmd.yield %e : f32
  }
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#a = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [x, *]>>
#r = #spmd.shard<[6], #dtensor.layout<#mesh, [x]>>
#id = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

func.func @argmax_of_float(%x: tensor<3x4xf32, #a>) {
  // expected-error @+1 {{needs one reduction loop and an i32 or i64 output for argmax and argmin (C5)}}
  %0 = spmd.kernel loops [6 over [x], reduce 4] ins (%x at #id) outs (argmax #i) : (tensor<3x4xf32, #a>) -> tensor<3xf32, #r> {
  ^bb0(%e: f32):
    spmd.yield %e : f32
  }
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#a = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [x, *]>>
#r = #spmd.shard<[6], #dtensor.layout<#mesh, [x]>>
#id = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

func.func @overwrites_other_access(%x: tensor<3x4xf32, #a>) {
  // expected-error @+1 {{cannot write output 0 over input 0 (C6)}}
  %0 = spmd.kernel loops [6 over [x], 4] ins (%x at affine_map<(i, j) -> (i, -j + 3)>) outs (#id) in_place [0] : (tensor<3x4xf32, #a>) -> tensor<3x4xf32, #a> {
  ^bb0(%e: f32):
    spmd.yield %e : f32
  }
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#a = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [x, *]>>
#r = #spmd.shard<[6], #dtensor.layout<#mesh, [x]>>
#id = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

func.func @unknown_reducer(%x: tensor<3x4xf32, #a>) {
  // expected-error @+1 {{expected attribute value}}
  %0 = spmd.kernel loops [6 over [x], reduce 4] ins (%x at #id) outs (mean #i) : (tensor<3x4xf32, #a>) -> tensor<3xf32, #r> {
  ^bb0(%e: f32):
    spmd.yield %e : f32
  }
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#a = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [x, *]>>
#r = #spmd.shard<[6], #dtensor.layout<#mesh, [x]>>
#id = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

func.func @index_of_no_loop(%x: tensor<3x4xf32, #a>) {
  // expected-error @+3 {{names loop 2 of 2 (C1)}}
  %0 = spmd.kernel loops [6 over [x], 4] ins (%x at #id) outs (#id) : (tensor<3x4xf32, #a>) -> tensor<3x4xf32, #a> {
  ^bb0(%e: f32):
    %k = spmd.index 2
    spmd.yield %e : f32
  }
  return
}

// -----

func.func @index_outside() {
  // expected-error @+1 {{is for the body of a spmd.kernel}}
  %0 = spmd.index 0
  return
}

// -----

func.func @global(%x: tensor<6x4xf32>) {
  // expected-error @+1 {{takes and gives tensors with #spmd.shard}}
  %0 = spmd.kernel loops [6, 4] ins (%x at affine_map<(i, j) -> (i, j)>) outs (affine_map<(i, j) -> (i, j)>) : (tensor<6x4xf32>) -> tensor<6x4xf32> {
  ^bb0(%e: f32):
    spmd.yield %e : f32
  }
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#r = #spmd.shard<[6], #dtensor.layout<#mesh, [x]>>
#t = #spmd.shard<[6], #dtensor.layout<#mesh, [*]>>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>

func.func @held_loop_is_read(%k: tensor<3xi64, #r>, %t: tensor<6xf32, #t>) {
  // expected-error @+1 {{uses the held loop 1 for more than spmd.load (C7)}}
  %0 = spmd.kernel loops [6 over [x], held 6] ins (%k at #i, %t at #j) outs (#i) : (tensor<3xi64, #r>, tensor<6xf32, #t>) -> tensor<3xf32, #r> {
  ^bb0(%e: i64, %f: f32):
    spmd.yield %f : f32
  }
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#r = #spmd.shard<[6], #dtensor.layout<#mesh, [x]>>
#t = #spmd.shard<[6], #dtensor.layout<#mesh, [*]>>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>

func.func @held_loop_is_cut(%k: tensor<3xi64, #r>, %t: tensor<6xf32, #t>) {
  // expected-error @+1 {{has axes on the held loop 1, or reduces it (C7)}}
  %0 = spmd.kernel loops [6, held 6 over [x]] ins (%k at #i, %t at #j) outs (#i) : (tensor<3xi64, #r>, tensor<6xf32, #t>) -> tensor<3xf32, #r> {
  ^bb0(%e: i64, %f: f32):
    %x = spmd.load 1 over [1] at %e : f32
    spmd.yield %x : f32
  }
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#r = #spmd.shard<[6], #dtensor.layout<#mesh, [x]>>
#t = #spmd.shard<[6], #dtensor.layout<#mesh, [*]>>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>

func.func @load_of_other_loops(%k: tensor<3xi64, #r>, %t: tensor<6xf32, #t>) {
  // expected-error @+3 {{has 1 indices for 1 loops, where input 1 has 1 held ones (C2)}}
  %0 = spmd.kernel loops [6 over [x], held 6] ins (%k at #i, %t at #j) outs (#i) : (tensor<3xi64, #r>, tensor<6xf32, #t>) -> tensor<3xf32, #r> {
  ^bb0(%e: i64, %f: f32):
    %x = spmd.load 1 over [0] at %e : f32
    spmd.yield %x : f32
  }
  return
}
