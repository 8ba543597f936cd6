// RUN: mesh-opt %s --split-input-file --verify-diagnostics
// Constraints of the ops on bits, on complex numbers and between types, and the
// element types that ops do not take.

func.func @abs_part(%z: tensor<4xcomplex<f64>>) {
  // expected-error @+1 {{'dtensor.abs' op violates constraint C2: of 'complex<f64>' gives 'f64', not 'f32'}}
  %0 = dtensor.abs %z : (tensor<4xcomplex<f64>>) -> tensor<4xf32>
  return
}

// -----

func.func @real_part(%z: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{'dtensor.real' op violates constraint C2: of 'complex<f32>' gives 'f32', not 'f64'}}
  %0 = dtensor.real %z : (tensor<4xcomplex<f32>>) -> tensor<4xf64>
  return
}

// -----

func.func @imag_shape(%z: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{'dtensor.imag' op violates constraint C1}}
  %0 = dtensor.imag %z : (tensor<4xcomplex<f32>>) -> tensor<5xf32>
  return
}

// -----

func.func @complex_parts(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @+1 {{'dtensor.complex' op violates constraint C2: makes 'complex<f32>' of parts of type 'f64'}}
  %0 = dtensor.complex %x, %y : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @complex_order(%z: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{'dtensor.compare' op violates constraint C3: complex numbers have no order: only EQ and NE compare them}}
  %0 = dtensor.compare LT, %z, %z : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xi1>
  return
}

// -----

func.func @precision(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.reduce_precision' op violates constraint C3: rounds to 0 exponent and 3 mantissa bits}}
  %0 = dtensor.reduce_precision %x exponent 0 mantissa 3 : tensor<4xf32>
  return
}

// -----

func.func @cast_bool(%x: tensor<8xi1>) {
  // expected-error @+1 {{'dtensor.bitcast_convert' op violates constraint C1: casts 'i1' to 'i8', but i1 has no bits of its own}}
  %0 = dtensor.bitcast_convert %x : (tensor<8xi1>) -> tensor<8xi8>
  return
}

// -----

func.func @cast_wider(%x: tensor<8x3xi8>) {
  // expected-error @+1 {{'dtensor.bitcast_convert' op violates constraint C2: the operand's last dim has not the extent 4 that 'f32' has of 'i8'}}
  %0 = dtensor.bitcast_convert %x : (tensor<8x3xi8>) -> tensor<8xf32>
  return
}

// -----

func.func @cast_shape(%x: tensor<8xf32>) {
  // expected-error @+1 {{'dtensor.bitcast_convert' op violates constraint C2: the result's global shape is not the operand's as 'i8'}}
  %0 = dtensor.bitcast_convert %x : (tensor<8xf32>) -> tensor<8x2xi8>
  return
}

// -----

func.func @extreme_of_complex(%z: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{'dtensor.maximum' op operand #0 must be tensor of static shape of float, integer or i1}}
  %0 = dtensor.maximum %z, %z : tensor<4xcomplex<f32>>
  return
}

// -----

func.func @reduction_of_complex(%z: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{'dtensor.reduce' op violates constraint C5: a reduction by max does not take 'complex<f32>'}}
  %0 = dtensor.reduce max %z dims [0] : (tensor<4xcomplex<f32>>) -> tensor<complex<f32>>
  return
}

// -----

func.func @shift_of_bool(%p: tensor<4xi1>) {
  // expected-error @+1 {{'dtensor.shift_left' op operand #0 must be tensor of static shape of integer (8, 16, 32 or 64 bits)}}
  %0 = dtensor.shift_left %p, %p : tensor<4xi1>
  return
}

// -----

func.func @atan2_of_complex(%z: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{'dtensor.atan2' op operand #0 must be tensor of static shape of float (f16, bf16, f32 or f64)}}
  %0 = dtensor.atan2 %z, %z : tensor<4xcomplex<f32>>
  return
}
