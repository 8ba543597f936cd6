// RUN: mesh-opt %s --split-input-file --verify-diagnostics
// Meshes, layouts and encodings that are none.

// expected-error @+1 {{violates constraint C1 of #dtensor.mesh}}
func.func private @no_axes(tensor<4xf32, #dtensor.layout<#dtensor.mesh<>, [*]>>)

// -----

// expected-error @+1 {{violates constraint C1 of #dtensor.mesh}}
#mesh = #dtensor.mesh<x = 2, x = 4>

// -----

// expected-error @+1 {{violates constraint C1 of #dtensor.mesh}}
#mesh = #dtensor.mesh<x = 0>

// -----

// expected-error @+1 {{violates constraint C1 of #dtensor.mesh}}
#mesh = #dtensor.mesh<unsharded = 2>

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
// expected-error @+1 {{violates constraint C1 of #dtensor.layout: axis 'z' is not in the mesh, which has 'x', 'y'}}
#layout = #dtensor.layout<#mesh, [z]>

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
// expected-error @+1 {{violates constraint C1 of #dtensor.layout}}
#layout = #dtensor.layout<#mesh, [x, x]>

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
// expected-error @+1 {{violates constraint C1 of #dtensor.layout}}
#layout = #dtensor.layout<#mesh, [{x, y}] partial<y: sum>>

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
// expected-error @+1 {{unknown kind of reduction 'mean'; expected sum, prod, min, max, and, or}}
#layout = #dtensor.layout<#mesh, [x] partial<y: mean>>

// -----

#mesh = #dtensor.mesh<x = 2>
#layout = #dtensor.layout<#mesh, [x]>
// expected-error @+1 {{violates constraint C2 of #dtensor.layout: [x] has 1 dims, but the tensor has 2}}
func.func private @rank(tensor<4x4xf32, #layout>)

// -----

#mesh = #dtensor.mesh<x = 2>
#layout = #dtensor.layout<#mesh, [x]>
// expected-error @+1 {{violates constraint C1 of #spmd.shard: the global shape has 2 dims, the layout 1}}
func.func private @shard_rank(tensor<4xf32, #spmd.shard<[8, 4], #layout>>)

// -----

#mesh = #dtensor.mesh<x = 2>
#layout = #dtensor.layout<#mesh, [x]>
// expected-error @+1 {{#spmd.shard: the global shape has a negative extent}}
func.func private @shard_negative(tensor<4xf32, #spmd.shard<[-1], #layout>>)

// -----

#mesh = #dtensor.mesh<x = 2>
#layout = #dtensor.layout<#mesh, [x]>
// expected-error @+1 {{violates constraint C2 of #spmd.shard: the local shape must be [3]}}
func.func private @shard_shape(tensor<2xf32, #spmd.shard<[5], #layout>>)

// -----

// expected-error @+1 {{needs a #dtensor.mesh for 'dtensor.mesh', but has 8}}
module attributes {dtensor.mesh = 8 : i64} {}

// -----

// expected-error @+1 {{has 'dtensor.mesh', which belongs on the module}}
func.func private @mesh_of_function() attributes {dtensor.mesh = #dtensor.mesh<x = 2>}

// -----

// expected-error @+1 {{unknown kind of reduction 'mean'; expected sum, prod, min, max, and, or}}
func.func private @kind() attributes {kind = #dtensor.kind<mean>}
