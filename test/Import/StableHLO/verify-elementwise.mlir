// What the verifiers of elementwise ops, constants and chlo refuse, by constraint.
// RUN: mesh-opt --split-input-file --verify-diagnostics %s

func.func @case1(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error @below {{violates constraint C1: the types 'tensor<4xf32>' and 'tensor<5xf32>' differ}}
  %0 = "stablehlo.add"(%x, %y) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @case2(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.tanh"(%x) : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @case3(%x: tensor<4xi32>) {
  // expected-error @below {{must be ranked tensor of floating-point or complex<f32> or complex<f64> or quantized values, but got 'tensor<4xi32>'}}
  %0 = stablehlo.tanh %x : tensor<4xi32>
  return
}

// -----

func.func @case4(%x: tensor<4xf32>) {
  // expected-error @below {{must be ranked tensor of i1 or integer values, but got 'tensor<4xf32>'}}
  %0 = stablehlo.or %x, %x : tensor<4xf32>
  return
}

// -----

func.func @case5(%x: tensor<4xi1>) {
  // expected-error @below {{but got 'tensor<4xi1>'}}
  %0 = stablehlo.negate %x : tensor<4xi1>
  return
}

// -----

func.func @case6(%x: tensor<4xui8>) {
  // expected-error @below {{but got 'tensor<4xui8>'}}
  %0 = stablehlo.abs %x : tensor<4xui8>
  return
}

// -----

func.func @case7(%x: tensor<4xi32>) {
  // expected-error @below {{but got 'tensor<4xi32>'}}
  %0 = stablehlo.floor %x : tensor<4xi32>
  return
}

// -----

func.func @case8(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.abs"(%x) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @case9(%x: tensor<4xcomplex<f32>>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.abs"(%x) : (tensor<4xcomplex<f32>>) -> tensor<4xf64>
  return
}

// -----

func.func @case10(%x: tensor<4xcomplex<f32>>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.real"(%x) : (tensor<4xcomplex<f32>>) -> tensor<4xf64>
  return
}

// -----

func.func @case11(%x: tensor<4xcomplex<f32>>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.imag"(%x) : (tensor<4xcomplex<f32>>) -> tensor<3xf32>
  return
}

// -----

func.func @case12(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.convert"(%x) : (tensor<4xf32>) -> tensor<5xi32>
  return
}

// -----

func.func @case13(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.is_finite"(%x) : (tensor<4xf32>) -> tensor<5xi1>
  return
}

// -----

func.func @case14(%x: tensor<4xf32>) {
  // expected-error @below {{must be ranked tensor of i1 values, but got 'tensor<4xi8>'}}
  %0 = "stablehlo.is_finite"(%x) : (tensor<4xf32>) -> tensor<4xi8>
  return
}

// -----

func.func @case15(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.complex"(%x, %y) : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @case16(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.complex"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xcomplex<f32>>
  return
}

// -----

func.func @case17(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = "stablehlo.complex"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f64>>
  return
}

// -----

func.func @case18(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = stablehlo.compare EQ, %x, %y : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xi1>
  return
}

// -----

func.func @case19(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.compare EQ, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xi1>
  return
}

// -----

func.func @case20(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C3: values of type 'f32' do not compare as SIGNED}}
  %0 = stablehlo.compare EQ, %x, %x, SIGNED : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// -----

func.func @case21(%x: tensor<4xui8>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = stablehlo.compare EQ, %x, %x, SIGNED : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  return
}

// -----

func.func @case22(%p: tensor<3xi1>, %x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = stablehlo.select %p, %x, %x : tensor<3xi1>, tensor<4xf32>
  return
}

// -----

func.func @case23(%p: tensor<4xi1>, %x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.select"(%p, %x, %x) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @case24(%p: tensor<4xi8>, %x: tensor<4xf32>) {
  // expected-error @below {{must be ranked tensor of i1 values}}
  %0 = stablehlo.select %p, %x, %x : tensor<4xi8>, tensor<4xf32>
  return
}

// -----

func.func @case25(%a: tensor<3xf32>, %b: tensor<4xf32>, %c: tensor<f32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.clamp"(%a, %b, %c) : (tensor<3xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @case26(%a: tensor<f32>, %b: tensor<4xf32>, %c: tensor<3xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.clamp"(%a, %b, %c) : (tensor<f32>, tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @case27(%a: tensor<f64>, %b: tensor<4xf32>, %c: tensor<f32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = "stablehlo.clamp"(%a, %b, %c) : (tensor<f64>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @case28(%a: tensor<f32>, %b: tensor<4xf32>, %c: tensor<f32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.clamp"(%a, %b, %c) : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<5xf32>
  return
}

// -----

func.func @case29(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.reduce_precision"(%x) {exponent_bits = 5 : i32, mantissa_bits = 2 : i32} : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @case30(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C2: exponent_bits has 0, expected at least 1}}
  %0 = stablehlo.reduce_precision %x, format = e0m2 : tensor<4xf32>
  return
}

// -----

func.func @case31(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C3: mantissa_bits has -1, expected at least 0}}
  %0 = "stablehlo.reduce_precision"(%x) {exponent_bits = 5 : i32, mantissa_bits = -1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @case32(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4x3xi8>
  return
}

// -----

func.func @case33(%x: tensor<4x2xi8>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = stablehlo.bitcast_convert %x : (tensor<4x2xi8>) -> tensor<4xi32>
  return
}

// -----

func.func @case34(%x: tensor<4xcomplex<f32>>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.bitcast_convert %x : (tensor<4xcomplex<f32>>) -> tensor<4xi64>
  return
}

// -----

func.func @case35() {
  // expected-error @below {{violates constraint C1: the value and the result differ in type}}
  %0 = "stablehlo.constant"() {value = dense<1.0> : tensor<4xf32>} : () -> tensor<5xf32>
  return
}

// -----

func.func @case36() {
  // expected-error @below {{violates constraint C1: }}
  %0 = stablehlo.constant() {value = dense<1.0> : tensor<4xf32>} : () -> tensor<4xi32>
  return
}

// -----

func.func @case37() {
  // expected-error @below {{violates constraint C1: }}
  %0 = "chlo.constant"() {value = dense<1.0> : tensor<4xf32>} : () -> tensor<2x2xf32>
  return
}

// -----

func.func @case38(%x: tensor<1x2xi64>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "chlo.constant_like"(%x) {value = 3.2 : f32} : (tensor<1x2xi64>) -> tensor<1x2xi32>
  return
}

// -----

func.func @case39(%x: tensor<1x2xi64>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "chlo.constant_like"(%x) {value = 3 : i32} : (tensor<1x2xi64>) -> tensor<3xi32>
  return
}

// -----

func.func @case40() {
  // expected-error @below {{violates constraint C1: iota_dimension has 1, expected 0 <= iota_dimension < 1}}
  %0 = stablehlo.iota dim = 1 : tensor<4xi32>
  return
}

// -----

func.func @case41() {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.iota"() {iota_dimension = -1 : i64} : () -> tensor<4xi32>
  return
}

// -----

func.func @case42(%x: tensor<4xf32>) {
  // expected-error @below {{has tolerances in mode TOLERANCE only, not in HIGHEST}}
  %0 = "stablehlo.tanh"(%x) {result_accuracy = #stablehlo.result_accuracy<atol = 1.0, rtol = 0.0, ulps = 0, mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @case43(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = chlo.broadcast_add %x, %y : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @case44(%x: tensor<2x4xf32>, %y: tensor<2xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = chlo.broadcast_add %x, %y {broadcast_dimensions = array<i64: 2>} : (tensor<2x4xf32>, tensor<2xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @case45(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = chlo.broadcast_add %x, %y : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @case46(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = chlo.broadcast_complex %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @case47(%p: tensor<2xi1>, %x: tensor<2xi32>, %y: tensor<2xf32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = chlo.broadcast_select %p, %x, %y : (tensor<2xi1>, tensor<2xi32>, tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @case48(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = chlo.is_inf %x : tensor<4xf32> -> tensor<5xi1>
  return
}

// -----

func.func @case49(%x: tensor<4xi1>) {
  // expected-error @below {{must be ranked tensor of integer values, but got 'tensor<4xi1>'}}
  %0 = chlo.mulhi %x, %x : tensor<4xi1>, tensor<4xi1> -> tensor<4xi1>
  return
}

// -----

func.func @case50(%x: tensor<4xi32>) {
  // expected-error @below {{but got 'tensor<4xi32>'}}
  %0 = chlo.erf %x : tensor<4xi32> -> tensor<4xi32>
  return
}

// -----

func.func @case51(%x: tensor<f32>) {
  // expected-error @below {{violates constraint C1: }}
  %0:2 = chlo.top_k(%x, k = 1) : tensor<f32> -> (tensor<1xf32>, tensor<1xi32>)
  return
}

// -----

func.func @case52(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C2: asks for 8 of 4 elements}}
  %0:2 = chlo.top_k(%x, k = 8) : tensor<4xf32> -> (tensor<8xf32>, tensor<8xi32>)
  return
}

// -----

func.func @case53(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0:2 = chlo.top_k(%x, k = -1) : tensor<4xf32> -> (tensor<1xf32>, tensor<1xi32>)
  return
}

// -----

func.func @case54(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0:2 = chlo.top_k(%x, k = 2) : tensor<4xf32> -> (tensor<3xf32>, tensor<2xi32>)
  return
}

// -----

func.func @case55(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C4: }}
  %0:2 = chlo.top_k(%x, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xf32>)
  return
}
