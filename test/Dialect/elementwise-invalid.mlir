// RUN: mesh-opt %s --split-input-file --verify-diagnostics
// Every constraint of the elementwise ops is checked. Those of unary and binary
// ops are common to all (DialectTest.cpp goes through the ops).

func.func @unary_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.exp' op violates constraint C1: operand #0 has global shape [4], but the result has [5]}}
  %0 = dtensor.exp %x : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @unary_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.exp' op violates constraint C2: operand #0 has element type 'f32', but the result has 'f64'}}
  %0 = dtensor.exp %x : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @is_finite(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.is_finite' op violates constraint C1}}
  %0 = dtensor.is_finite %x : (tensor<4xf32>) -> tensor<1xi1>
  return
}

// -----

func.func @binary_shape(%x: tensor<4xf32>, %y: tensor<1xf32>) {
  // expected-error @+1 {{'dtensor.add' op violates constraint C1: operand #1 has global shape [1], but the result has [4]}}
  %0 = dtensor.add %x, %y : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @binary_type(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @+1 {{'dtensor.add' op violates constraint C2: operand #1 has element type 'f64', but the result has 'f32'}}
  %0 = dtensor.add %x, %y : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @compare_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.compare' op violates constraint C1}}
  %0 = dtensor.compare EQ, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<i1>
  return
}

// -----

func.func @compare_type(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error @+1 {{'dtensor.compare' op violates constraint C2: compares 'f32' with 'i32'}}
  %0 = dtensor.compare EQ, %x, %y : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xi1>
  return
}

// -----

func.func @compare_direction(%x: tensor<4xf32>) {
  // expected-error @+1 {{unknown keyword 'XX'}}
  %0 = dtensor.compare XX, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// -----

func.func @select_shape(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error @+1 {{'dtensor.select' op violates constraint C1}}
  %0 = dtensor.select %p, %x, %y : (tensor<i1>, tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @select_type(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @+1 {{'dtensor.select' op violates constraint C2}}
  %0 = dtensor.select %p, %x, %y : (tensor<i1>, tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @select_pred(%p: tensor<1xi1>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.select' op violates constraint C3: pred is neither a scalar nor of the result's global shape}}
  %0 = dtensor.select %p, %x, %x : (tensor<1xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @clamp_shape(%s: tensor<f32>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.clamp' op violates constraint C1}}
  %0 = dtensor.clamp %s, %x, %s : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<5xf32>
  return
}

// -----

func.func @clamp_type(%s: tensor<f64>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.clamp' op violates constraint C2}}
  %0 = dtensor.clamp %s, %x, %s : (tensor<f64>, tensor<4xf32>, tensor<f64>) -> tensor<4xf32>
  return
}

// -----

func.func @clamp_limit(%s: tensor<1xf32>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.clamp' op violates constraint C3}}
  %0 = dtensor.clamp %s, %x, %s : (tensor<1xf32>, tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @convert_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dtensor.convert' op violates constraint C1}}
  %0 = dtensor.convert %x : (tensor<4xf32>) -> tensor<2x2xi32>
  return
}

// -----

func.func @unsupported_type(%x: tensor<4xf8E5M2>) {
  // expected-error @+1 {{'dtensor.exp' op operand #0 must be}}
  %0 = dtensor.exp %x : tensor<4xf8E5M2>
  return
}

// -----

func.func @dynamic_shape(%x: tensor<?xf32>) {
  // expected-error @+1 {{'dtensor.exp' op operand #0 must be}}
  %0 = dtensor.exp %x : tensor<?xf32>
  return
}

// -----

func.func @types(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 2 operand types and one result type}}
  %0 = dtensor.add %x, %x : (tensor<4xf32>) -> tensor<4xf32>
  return
}
