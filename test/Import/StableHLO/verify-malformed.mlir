// The generic form can say anything: operands, attributes, regions and blocks
// that are missing, too many or of another kind.
// RUN: mesh-opt --split-input-file --verify-diagnostics %s

func.func @f(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error @below {{'stablehlo.reduce' op region #0 ('body') failed to verify constraint: region with 1 blocks}}
  %0 = "stablehlo.reduce"(%x, %s) ({}) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error @below {{empty block: expect at least a terminator}}
  %0 = "stablehlo.reduce"(%x, %s) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %s: tensor<f32>) {
  %0 = "stablehlo.reduce"(%x, %s) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    // expected-error @below {{'func.return' op expects parent op 'func.func'}}
    return %a : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error @below {{'stablehlo.reduce' op requires one region}}
  %0 = "stablehlo.reduce"(%x, %s) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error @below {{'stablehlo.reduce' op attribute 'dimensions' failed to satisfy constraint: i64 dense array attribute}}
  %0 = "stablehlo.reduce"(%x, %s) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {dimensions = dense<0> : tensor<1x1xi64>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.sort' op requires one region}}
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {}) {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @below {{'stablehlo.sort' op violates constraint C4: dimension has -1, expected 0 <= dimension < 0}}
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.while' op region #0 ('cond') failed to verify constraint: region with 1 blocks}}
  %0 = "stablehlo.while"(%x) ({
  }, {
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.iota' op attribute 'iota_dimension' failed to satisfy constraint: 64-bit signless integer attribute}}
  %0 = "stablehlo.iota"() {iota_dimension = 0 : i32} : () -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.constant' op requires attribute 'value'}}
  %0 = "stablehlo.constant"() : () -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.constant' op attribute 'value' failed to satisfy constraint: constant vector/tensor attribute}}
  %0 = "stablehlo.constant"() {value = 1.0 : f32} : () -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.gather' op attribute 'dimension_numbers' failed to satisfy constraint: What the dims of gather's operand, indices and result are}}
  %0 = "stablehlo.gather"(%x, %x) {dimension_numbers = #stablehlo.scatter<index_vector_dim = 0>, slice_sizes = array<i64: 1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.add' op requires one result}}
  "stablehlo.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> ()
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.reduce_precision' op attribute 'exponent_bits' failed to satisfy constraint: 32-bit signless integer attribute}}
  %0 = "stablehlo.reduce_precision"(%x) {exponent_bits = 9223372036854775807 : i64, mantissa_bits = 2 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%i: tensor<i32>) {
  // expected-error @below {{'stablehlo.case' op region #1 ('branches') failed to verify constraint: region with 1 blocks}}
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %i : tensor<i32>
  }, {
  ^bb0:
    stablehlo.return %i : tensor<i32>
  ^bb1:
    stablehlo.return %i : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  %0 = "stablehlo.slice"(%x) {start_indices = array<i64>, limit_indices = array<i64>, strides = array<i64>} : (tensor<f32>) -> tensor<f32>
  %1 = "stablehlo.transpose"(%x) {permutation = array<i64>} : (tensor<f32>) -> tensor<f32>
  // expected-error @below {{'stablehlo.fft' op violates constraint C3: size(fft_length) has 0, expected 1 <= size(fft_length) < 4}}
  %2 = "stablehlo.fft"(%x) {fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64>} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.abs' op violates constraint C2: the element types of 'f32' and '!stablehlo.token' differ}}
  %0 = "stablehlo.abs"(%x) : (tensor<4xf32>) -> tensor<4x!stablehlo.token>
  return
}

// -----

func.func @f(%x: tensor<0x4xf32>, %s: tensor<f32>) {
  // expected-error @below {{'stablehlo.constant' op requires zero operands}}
  %0 = stablehlo.reduce(%x init: %s) applies stablehlo.constant across dimensions = [0] : (tensor<0x4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<0x4xf32>, %s: tensor<f32>) {
  // expected-error @below {{'stablehlo.while' op expected 2 regions}}
  %0 = stablehlo.reduce(%x init: %s) applies stablehlo.while across dimensions = [0] : (tensor<0x4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<0x4xf32>, %s: tensor<f32>) {
  // expected-error @below {{'stablehlo.compare' op requires attribute 'comparison_direction'}}
  %0 = stablehlo.reduce(%x init: %s) applies stablehlo.compare across dimensions = [0] : (tensor<0x4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<0x4xf32>, %s: tensor<f32>) {
  // expected-error @below {{'func.return' op requires zero results}}
  %0 = stablehlo.reduce(%x init: %s) applies func.return across dimensions = [0] : (tensor<0x4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}
