// What windows, halo exchanges, pad and take must not be.
// RUN: mesh-opt %s --split-input-file --verify-diagnostics

#mesh = #dtensor.mesh<x = 2>
#x = #dtensor.layout<#mesh, [x]>
// expected-error @+1 {{violates constraint C3 of #spmd.shard: dim 0 has 1 windows for 2 shards}}
func.func @count(%a: tensor<6xf32, #spmd.shard<[10], #x, windows [[0:6]]>>) {
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#x = #dtensor.layout<#mesh, [x]>
// expected-error @+1 {{violates constraint C3 of #spmd.shard: window 5:11 is not in dim 0 of size 10}}
func.func @inside(%a: tensor<6xf32, #spmd.shard<[10], #x, windows [[0:6, 5:11]]>>) {
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#x = #dtensor.layout<#mesh, [x]>
// expected-error @+1 {{violates constraint C2 of #spmd.shard: the local shape must be [6]}}
func.func @local(%a: tensor<5xf32, #spmd.shard<[10], #x, windows [[0:6, 5:10]]>>) {
  return
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 2>
#x = #dtensor.layout<#mesh, [x]>
func.func @axes(%a: tensor<5xf32, #spmd.shard<[10], #x>>) {
  // expected-error @+1 {{violates constraint C4: the windows of result #0 reach over other axes}}
  %0 = spmd.halo_exchange over [x] %a : (tensor<5xf32, #spmd.shard<[10], #x>>) -> tensor<5xf32, #spmd.shard<[10], #x, windows [[0:5, 6:10]]>>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 2>
#x = #dtensor.layout<#mesh, [x]>
func.func @twice(%a: tensor<6xf32, #spmd.shard<[10], #x, windows [[0:6, 5:10]]>>) {
  // expected-error @+1 {{violates constraint C4: operand #0 has windows}}
  %0 = spmd.halo_exchange over [x] %a : (tensor<6xf32, #spmd.shard<[10], #x, windows [[0:6, 5:10]]>>) -> tensor<7xf32, #spmd.shard<[10], #x, windows [[0:7, 5:10]]>>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 2>
#x = #dtensor.layout<#mesh, [x]>
#xy = #dtensor.layout<#mesh, [{x, y}]>
func.func @cut(%a: tensor<5xf32, #spmd.shard<[10], #x>>) {
  // expected-error @+1 {{violates constraint C4: the windows of result #0 are not in the parts that devices have}}
  %0 = spmd.slice over [y] %a : (tensor<5xf32, #spmd.shard<[10], #x>>) -> tensor<4xf32, #spmd.shard<[10], #xy, windows [[0:3, 2:6, 5:8, 7:10]]>>
  return
}

// -----

// An op that needs more than its operand's window.
#mesh = #dtensor.mesh<x = 2>
#x = #dtensor.layout<#mesh, [x]>
func.func @narrow(%a: tensor<6xf32, #spmd.shard<[10], #x, windows [[0:6, 5:10]]>>) {
  // expected-error @+1 {{violates S4: operand #0 is held as [0:6 5:10], but the rule 'a{-1:9:9} -> a' needs [5:10 0:5]}}
  %0 = dtensor.reverse %a dims [0] : (tensor<6xf32, #spmd.shard<[10], #x, windows [[0:6, 5:10]]>>) -> tensor<5xf32, #spmd.shard<[10], #x>>
  return
}

// -----

func.func @pad_type(%x: tensor<4xf32>, %v: tensor<f64>) {
  // expected-error @+1 {{'dtensor.pad' op violates constraint C1}}
  %0 = dtensor.pad %x, %v low [1] high [1] interior [0] : (tensor<4xf32>, tensor<f64>) -> tensor<6xf32>
  return
}

// -----

func.func @pad_scalar(%x: tensor<4xf32>, %v: tensor<1xf32>) {
  // expected-error @+1 {{'dtensor.pad' op violates constraint C2: padding_value has type}}
  %0 = dtensor.pad %x, %v low [1] high [1] interior [0] : (tensor<4xf32>, tensor<1xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @pad_interior(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'dtensor.pad' op violates constraint C3: interior padding of dim 0 is -1}}
  %0 = dtensor.pad %x, %v low [1] high [1] interior [-1] : (tensor<4xf32>, tensor<f32>) -> tensor<3xf32>
  return
}

// -----

func.func @pad_size(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'dtensor.pad' op violates constraint C4: result dim 0 has size 6, but padding gives 9}}
  %0 = dtensor.pad %x, %v low [1] high [1] interior [1] : (tensor<4xf32>, tensor<f32>) -> tensor<6xf32>
  return
}

// -----

func.func @take_dim(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.take' op violates constraint C2: the operand has no dim 1}}
  %0 = dtensor.take %x dim 1 at [0] : (tensor<4xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @take_index(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.take' op violates constraint C3: index 4 is not in dim 0 of size 4}}
  %0 = dtensor.take %x dim 0 at [4] : (tensor<4xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @take_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.take' op violates constraint C4}}
  %0 = dtensor.take %x dim 0 at [3] : (tensor<4xf32>) -> tensor<2xf32>
  return
}
