// RUN: mesh-opt %s --split-input-file --verify-diagnostics
// Every constraint of the collectives is checked.

#mesh = #dtensor.mesh<x = 2>
#full = #dtensor.layout<#mesh, [*]>
#x = #dtensor.layout<#mesh, [x]>
!full = tensor<4xf32, #spmd.shard<[4], #full>>
!x = tensor<2xf32, #spmd.shard<[4], #x>>
func.func @counts(%a: !x) {
  // expected-error @+1 {{'spmd.all_gather' op violates constraint C1: there are 1 operands and 2 results}}
  %0:2 = spmd.all_gather over [x] %a : (!x) -> (!full, !full)
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#full = #dtensor.layout<#mesh, [*]>
#x = #dtensor.layout<#mesh, [x]>
func.func @shapes(%a: tensor<2xf32, #spmd.shard<[4], #x>>) {
  // expected-error @+1 {{'spmd.all_gather' op violates constraint C2: the operand is a global 'tensor<4xf32>', the result a 'tensor<3xf32>'}}
  %0 = spmd.all_gather over [x] %a : (tensor<2xf32, #spmd.shard<[4], #x>>) -> tensor<3xf32, #spmd.shard<[3], #full>>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#full = #dtensor.layout<#mesh, [*]>
#x = #dtensor.layout<#mesh, [x]>
func.func @element_types(%a: tensor<2xf32, #spmd.shard<[4], #x>>) {
  // expected-error @+1 {{'spmd.all_gather' op violates constraint C2}}
  %0 = spmd.all_gather over [x] %a : (tensor<2xf32, #spmd.shard<[4], #x>>) -> tensor<4xi32, #spmd.shard<[4], #full>>
  return
}

// -----

#full = #dtensor.layout<#dtensor.mesh<y = 2>, [*]>
#x = #dtensor.layout<#dtensor.mesh<x = 2>, [x]>
func.func @meshes(%a: tensor<2xf32, #spmd.shard<[4], #x>>) {
  // expected-error @+1 {{'spmd.all_gather' op violates constraint C3: layouts of two meshes in one op}}
  %0 = spmd.all_gather over [x] %a : (tensor<2xf32, #spmd.shard<[4], #x>>) -> tensor<4xf32, #spmd.shard<[4], #full>>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#full = #dtensor.layout<#mesh, [*]>
#x = #dtensor.layout<#mesh, [x]>
func.func @axes(%a: tensor<2xf32, #spmd.shard<[4], #x>>) {
  // expected-error @+1 {{'spmd.all_gather' op violates constraint C3: axis "model" is not in #dtensor.mesh<x = 2>}}
  %0 = spmd.all_gather over [model] %a : (tensor<2xf32, #spmd.shard<[4], #x>>) -> tensor<4xf32, #spmd.shard<[4], #full>>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#full = #dtensor.layout<#mesh, [*]>
#x = #dtensor.layout<#mesh, [x]>
func.func @no_axes(%a: tensor<2xf32, #spmd.shard<[4], #x>>) {
  // expected-error @+1 {{'spmd.all_gather' op violates constraint C4}}
  %0 = spmd.all_gather over [] %a : (tensor<2xf32, #spmd.shard<[4], #x>>) -> tensor<4xf32, #spmd.shard<[4], #full>>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#full = #dtensor.layout<#mesh, [*]>
func.func @all_gather(%a: tensor<4xf32, #spmd.shard<[4], #full>>) {
  // expected-error @+1 {{'spmd.all_gather' op violates constraint C4}}
  %0 = spmd.all_gather over [x] %a : (tensor<4xf32, #spmd.shard<[4], #full>>) -> tensor<4xf32, #spmd.shard<[4], #full>>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#full = #dtensor.layout<#mesh, [*]>
func.func @all_reduce(%a: tensor<4xf32, #spmd.shard<[4], #full>>) {
  // expected-error @+1 {{'spmd.all_reduce' op violates constraint C4: all_reduce over [x] cannot turn [*] into [*]: the source is not partial over all of these axes}}
  %0 = spmd.all_reduce sum over [x] %a : (tensor<4xf32, #spmd.shard<[4], #full>>) -> tensor<4xf32, #spmd.shard<[4], #full>>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#full = #dtensor.layout<#mesh, [*]>
#sum = #dtensor.layout<#mesh, [*] partial<x: sum>>
func.func @reduce_scatter(%a: tensor<4xf32, #spmd.shard<[4], #sum>>) {
  // expected-error @+1 {{'spmd.reduce_scatter' op violates constraint C4}}
  %0 = spmd.reduce_scatter sum over [x] %a : (tensor<4xf32, #spmd.shard<[4], #sum>>) -> tensor<4xf32, #spmd.shard<[4], #full>>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#full = #dtensor.layout<#mesh, [*]>
#x = #dtensor.layout<#mesh, [x]>
func.func @all_to_all(%a: tensor<2xf32, #spmd.shard<[4], #x>>) {
  // expected-error @+1 {{'spmd.all_to_all' op violates constraint C4}}
  %0 = spmd.all_to_all over [x] %a : (tensor<2xf32, #spmd.shard<[4], #x>>) -> tensor<4xf32, #spmd.shard<[4], #full>>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#x = #dtensor.layout<#mesh, [x]>
#y = #dtensor.layout<#mesh, [y]>
func.func @permute(%a: tensor<4xf32, #spmd.shard<[8], #x>>) {
  // expected-error @+1 {{'spmd.permute' op violates constraint C4}}
  %0 = spmd.permute over [x] %a : (tensor<4xf32, #spmd.shard<[8], #x>>) -> tensor<2xf32, #spmd.shard<[8], #y>>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#full = #dtensor.layout<#mesh, [*]>
#x = #dtensor.layout<#mesh, [x]>
func.func @slice(%a: tensor<2xf32, #spmd.shard<[4], #x>>) {
  // expected-error @+1 {{'spmd.slice' op violates constraint C4}}
  %0 = spmd.slice over [x] %a : (tensor<2xf32, #spmd.shard<[4], #x>>) -> tensor<4xf32, #spmd.shard<[4], #full>>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#full = #dtensor.layout<#mesh, [*]>
#x = #dtensor.layout<#mesh, [x]>
func.func @bytes(%a: tensor<2xf32, #spmd.shard<[4], #x>>) {
  // expected-error @+1 {{'spmd.all_gather' op violates constraint C5: the results take 16 bytes, not 8}}
  %0 = spmd.all_gather over [x] %a {bytes = 8 : i64} : (tensor<2xf32, #spmd.shard<[4], #x>>) -> tensor<4xf32, #spmd.shard<[4], #full>>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#full = #dtensor.layout<#mesh, [*]>
#sum = #dtensor.layout<#mesh, [*] partial<x: sum>>
func.func @kind(%a: tensor<4xf32, #spmd.shard<[4], #sum>>) {
  // expected-error @+1 {{'spmd.all_reduce' op violates constraint C6: operand #0 is partial by sum, not max}}
  %0 = spmd.all_reduce max over [x] %a : (tensor<4xf32, #spmd.shard<[4], #sum>>) -> tensor<4xf32, #spmd.shard<[4], #full>>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#x = #dtensor.layout<#mesh, [x]>
#sum = #dtensor.layout<#mesh, [*] partial<x: sum>>
func.func @scatter_kind(%a: tensor<4xf32, #spmd.shard<[4], #sum>>) {
  // expected-error @+1 {{'spmd.reduce_scatter' op violates constraint C6}}
  %0 = spmd.reduce_scatter prod over [x] %a : (tensor<4xf32, #spmd.shard<[4], #sum>>) -> tensor<2xf32, #spmd.shard<[4], #x>>
  return
}

// -----

// Collectives work on shards only.
#full = #dtensor.layout<#dtensor.mesh<x = 2>, [*]>
#x = #dtensor.layout<#dtensor.mesh<x = 2>, [x]>
func.func @global(%a: tensor<4xf32, #x>) {
  // expected-error @+1 {{'spmd.all_gather' op operand #0 must be variadic of one device's shard of a tensor}}
  %0 = spmd.all_gather over [x] %a : (tensor<4xf32, #x>) -> tensor<4xf32, #full>
  return
}
