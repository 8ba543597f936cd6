// RUN: mesh-opt %s --split-input-file --verify-diagnostics
// Every constraint of ops on layouts and variables, and of layouts in general.

#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x]>
func.func @relayout_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.relayout' op violates constraint C1}}
  %0 = dtensor.relayout %x : (tensor<4xf32>) -> tensor<5xf32, #rows>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x]>
func.func @relayout_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.relayout' op violates constraint C2}}
  %0 = dtensor.relayout %x : (tensor<4xf32>) -> tensor<4xf64, #rows>
  return
}

// -----

func.func @relayout_undecided(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.relayout' op violates constraint C3: the result has no layout}}
  %0 = dtensor.relayout %x : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#full = #dtensor.layout<#mesh, [*]>
#product = #dtensor.layout<#mesh, [*] partial<x: prod>>
func.func @relayout_complex(%x: tensor<4xcomplex<f32>, #full>) {
  // expected-error @+1 {{'dtensor.relayout' op violates constraint C4: of complex numbers only sums can begin, not prod}}
  %0 = dtensor.relayout %x : (tensor<4xcomplex<f32>, #full>) -> tensor<4xcomplex<f32>, #product>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x]>
func.func @constraint_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.constraint' op violates constraint C1}}
  %0 = dtensor.constraint %x : (tensor<4xf32>) -> tensor<5xf32, #rows>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x]>
func.func @constraint_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.constraint' op violates constraint C2}}
  %0 = dtensor.constraint %x : (tensor<4xf32>) -> tensor<4xi32, #rows>
  return
}

// -----

func.func @constraint_undecided(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.constraint' op violates constraint C3}}
  %0 = dtensor.constraint %x : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @read(%v: !dtensor.variable<tensor<4xf32>>) {
  // expected-error @+1 {{'dtensor.read_variable' op violates constraint C1}}
  %0 = dtensor.read_variable %v : (!dtensor.variable<tensor<4xf32>>) -> tensor<5xf32>
  return
}

// -----

func.func @assign(%v: !dtensor.variable<tensor<4xf32>>, %x: tensor<5xf32>) {
  // expected-error @+1 {{'dtensor.assign_variable' op violates constraint C1}}
  dtensor.assign_variable %v, %x : !dtensor.variable<tensor<4xf32>>, tensor<5xf32>
  return
}

// -----

#x = #dtensor.layout<#dtensor.mesh<x = 2>, [x]>
#y = #dtensor.layout<#dtensor.mesh<y = 2>, [y]>
!x = tensor<2xf32, #spmd.shard<[4], #x>>
!y = tensor<2xf32, #spmd.shard<[4], #y>>
func.func @two_meshes(%a: !x, %b: !y) {
  // expected-error @+1 {{'dtensor.add' op violates S1: layouts of two meshes in one op}}
  %0 = dtensor.add %a, %b : (!x, !y) -> !x
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x]>
func.func @mixed(%a: tensor<2xf32, #spmd.shard<[4], #rows>>) {
  // expected-error @+1 {{'dtensor.exp' op violates S2: shards and global tensors in one op}}
  %0 = dtensor.exp %a : (tensor<2xf32, #spmd.shard<[4], #rows>>) -> tensor<4xf32, #rows>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x]>
#full = #dtensor.layout<#mesh, [*]>
func.func @operand(%a: tensor<2xf32, #spmd.shard<[4], #rows>>, %b: tensor<4xf32, #spmd.shard<[4], #full>>) {
  // expected-error @+1 {{'dtensor.add' op violates S3: operand #1 is laid out as [*], but the rule 'd0, d0 -> d0' needs [x]}}
  %0 = dtensor.add %a, %b : (tensor<2xf32, #spmd.shard<[4], #rows>>, tensor<4xf32, #spmd.shard<[4], #full>>) -> tensor<2xf32, #spmd.shard<[4], #rows>>
  return
}

// -----

// exp is not linear: a pending sum does not pass.
#mesh = #dtensor.mesh<x = 2>
#sum = #dtensor.layout<#mesh, [] partial<x: sum>>
func.func @partial(%a: tensor<f32, #spmd.shard<[], #sum>>) {
  // expected-error @+1 {{'dtensor.exp' op violates S3: operand #0}}
  %0 = dtensor.exp %a : tensor<f32, #spmd.shard<[], #sum>>
  return
}

// -----

// Sharding a contracted dim makes the result partial.
#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x]>
#full = #dtensor.layout<#mesh, []>
func.func @reduced(%a: tensor<2xf32, #spmd.shard<[4], #rows>>) {
  // expected-error @+1 {{'dtensor.reduce' op violates S3}}
  %0 = dtensor.reduce sum %a dims [0] : (tensor<2xf32, #spmd.shard<[4], #rows>>) -> tensor<f32, #spmd.shard<[], #full>>
  return
}
