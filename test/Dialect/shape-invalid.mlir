// RUN: mesh-opt %s --split-input-file --verify-diagnostics
// Every constraint of the ops that make or move elements is checked.

func.func @constant_type() {
  // expected-error @+1 {{'dtensor.constant' op violates constraint C1}}
  %0 = dtensor.constant dense<0.0> : tensor<4xf32> -> tensor<5xf32>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#sum = #dtensor.layout<#mesh, [*] partial<x: sum>>
func.func @constant_partial() {
  // expected-error @+1 {{'dtensor.constant' op violates constraint C2: the result is partial}}
  %0 = dtensor.constant dense<1.0> : tensor<4xf32> -> tensor<4xf32, #sum>
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x]>
func.func @constant_sharded() {
  // expected-error @+1 {{'dtensor.constant' op violates constraint C3: the value is not a splat}}
  %0 = dtensor.constant dense<[1.0, 2.0]> : tensor<2xf32> -> tensor<2xf32, #rows>
  return
}

// -----

func.func @iota_dim() {
  // expected-error @+1 {{'dtensor.iota' op violates constraint C1: iota_dimension is 1, but the result has 1 dims}}
  %0 = dtensor.iota dim 1 : tensor<4xi32>
  return
}

// -----

func.func @rng_seed(%s: tensor<3xui32>) {
  // expected-error @+1 {{'dtensor.rng' op violates constraint C1}}
  %0 = dtensor.rng uniform_bits %s : (tensor<3xui32>) -> tensor<4xui32>
  return
}

// -----

func.func @rng_distribution(%s: tensor<2xui32>) {
  // expected-error @+1 {{unknown keyword 'normal'}}
  %0 = dtensor.rng normal %s : (tensor<2xui32>) -> tensor<4xui32>
  return
}

// -----

func.func @broadcast_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.broadcast_in_dim' op violates constraint C1}}
  %0 = dtensor.broadcast_in_dim %x dims [0] : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @broadcast_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.broadcast_in_dim' op violates constraint C2: the operand has 1 dims, but broadcast_dimensions has 2 entries}}
  %0 = dtensor.broadcast_in_dim %x dims [0, 1] : (tensor<4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @broadcast_dims(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{'dtensor.broadcast_in_dim' op violates constraint C3}}
  %0 = dtensor.broadcast_in_dim %x dims [1, 1] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @broadcast_size(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.broadcast_in_dim' op violates constraint C4: operand dim 0 has size 4, but result dim 1 has size 8}}
  %0 = dtensor.broadcast_in_dim %x dims [1] : (tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @reshape_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.reshape' op violates constraint C1}}
  %0 = dtensor.reshape %x : (tensor<4xf32>) -> tensor<2x2xi32>
  return
}

// -----

func.func @reshape_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.reshape' op violates constraint C2: the operand has 4 elements, the result 5}}
  %0 = dtensor.reshape %x : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @transpose_type(%x: tensor<4x2xf32>) {
  // expected-error @+1 {{'dtensor.transpose' op violates constraint C1}}
  %0 = dtensor.transpose %x dims [1, 0] : (tensor<4x2xf32>) -> tensor<2x4xf64>
  return
}

// -----

func.func @transpose_permutation(%x: tensor<4x2xf32>) {
  // expected-error @+1 {{'dtensor.transpose' op violates constraint C2: not a permutation of the operand's 2 dims}}
  %0 = dtensor.transpose %x dims [0, 2] : (tensor<4x2xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @transpose_shape(%x: tensor<4x2xf32>) {
  // expected-error @+1 {{'dtensor.transpose' op violates constraint C3: result dim 0 has size 4, but operand dim 1 has size 2}}
  %0 = dtensor.transpose %x dims [1, 0] : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @transpose_rank(%x: tensor<4x2xf32>) {
  // expected-error @+1 {{'dtensor.transpose' op violates constraint C3: the result has another rank}}
  %0 = dtensor.transpose %x dims [1, 0] : (tensor<4x2xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @slice_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.slice' op violates constraint C1}}
  %0 = dtensor.slice %x [0:2] : (tensor<4xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @slice_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.slice' op violates constraint C2}}
  %0 = dtensor.slice %x [0:2, 0:2] : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @slice_range(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.slice' op violates constraint C3: 2:5:1 does not lie in dim 0 of size 4}}
  %0 = dtensor.slice %x [2:5] : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @slice_stride(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.slice' op violates constraint C3}}
  %0 = dtensor.slice %x [0:4:0] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @slice_size(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.slice' op violates constraint C4: result dim 0 has size 1, not 2}}
  %0 = dtensor.slice %x [0:3:2] : (tensor<4xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @concatenate_nothing() {
  // expected-error @+1 {{'dtensor.concatenate' op violates constraint C1}}
  %0 = "dtensor.concatenate"() {dimension = 0 : i64} : () -> tensor<4xf32>
  return
}

// -----

func.func @concatenate_type(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @+1 {{'dtensor.concatenate' op violates constraint C2}}
  %0 = dtensor.concatenate %x, %y dim 0 : (tensor<4xf32>, tensor<4xf64>) -> tensor<8xf32>
  return
}

// -----

func.func @concatenate_dim(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.concatenate' op violates constraint C3: the result has no dim 1}}
  %0 = dtensor.concatenate %x, %x dim 1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @concatenate_rank(%x: tensor<4xf32>, %y: tensor<4x1xf32>) {
  // expected-error @+1 {{'dtensor.concatenate' op violates constraint C3: operand #1 has another rank}}
  %0 = dtensor.concatenate %x, %y dim 0 : (tensor<4xf32>, tensor<4x1xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @concatenate_others(%x: tensor<4x3xf32>, %y: tensor<4x2xf32>) {
  // expected-error @+1 {{'dtensor.concatenate' op violates constraint C4: operand #1 has size 2 along dim 1, the result 3}}
  %0 = dtensor.concatenate %x, %y dim 0 : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<8x3xf32>
  return
}

// -----

func.func @concatenate_sum(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.concatenate' op violates constraint C5: the operands have size 8 along dim 0, the result 9}}
  %0 = dtensor.concatenate %x, %x dim 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<9xf32>
  return
}

// -----

func.func @reverse_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.reverse' op violates constraint C1}}
  %0 = dtensor.reverse %x dims [0] : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @reverse_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.reverse' op violates constraint C2}}
  %0 = dtensor.reverse %x dims [0] : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @reverse_dims(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.reverse' op violates constraint C3}}
  %0 = dtensor.reverse %x dims [0, 0] : (tensor<4xf32>) -> tensor<4xf32>
  return
}
