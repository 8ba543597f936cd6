// RUN: mesh-opt %s --dtensor-vectorise-maps --split-input-file --verify-diagnostics

func.func @sizes(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C1: 1 axes, but 2 sizes}}
  dtensor.map (%x) {axes = ["i"], sizes = array<i64: 4, 2>, lanes = [array<i64: 0>]}
      : (tensor<4xf32>) -> () {
  ^bb0(%a: tensor<f32>):
    dtensor.yield
  }
  return
}

// -----

func.func @lanes(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C2: the lanes of input #0 must be rising numbers of the 1 axes}}
  dtensor.map (%x) {axes = ["i"], sizes = array<i64: 4>, lanes = [array<i64: 1>]}
      : (tensor<4xf32>) -> () {
  ^bb0(%a: tensor<f32>):
    dtensor.yield
  }
  return
}

// -----

func.func @argument(%x: tensor<4x2xf32>) {
  // expected-error @below {{violates constraint C3: an input is 'tensor<3xf32>' at a place, but 'tensor<4x2xf32>' for all}}
  dtensor.map (%x) {axes = ["i"], sizes = array<i64: 4>, lanes = [array<i64: 0>]}
      : (tensor<4x2xf32>) -> () {
  ^bb0(%a: tensor<3xf32>):
    dtensor.yield
  }
  return
}

// -----

func.func @members(%x: tensor<4x2xf32>) {
  // expected-error @below {{violates constraint C5: the members must name each of the 4 places once}}
  dtensor.map (%x) {axes = ["i"], sizes = array<i64: 4>, lanes = [array<i64: 0>],
      members = [array<i64: 0, 1, 2, 2>]} : (tensor<4x2xf32>) -> () {
  ^bb0(%a: tensor<2xf32>):
    dtensor.yield
  }
  return
}

// -----

func.func @outside(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{violates constraint C2: 'i' is named twice, or no axis of a map around}}
  %s = dtensor.axis_reduce %x {axes = ["i"], kind = #dtensor.kind<sum>} : (tensor<4xf32>) -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// -----

func.func @part(%x: tensor<4x3xf32>) {
  dtensor.map (%x) {axes = ["i"], sizes = array<i64: 4>, lanes = [array<i64: 0>]}
      : (tensor<4x3xf32>) -> () {
  ^bb0(%a: tensor<3xf32>):
    // expected-error @below {{violates constraint C1: 'tensor<1xf32>' at 4 places does not make up 'tensor<3xf32>'}}
    %p = dtensor.axis_part %a {axis = "i", dimension = 0 : i64} : (tensor<3xf32>) -> tensor<1xf32>
    dtensor.yield
  }
  return
}

// -----

func.func @assigned(%x: tensor<4xf32>, %v: !dtensor.variable<tensor<f32>>) {
  dtensor.map (%x) {axes = ["i"], sizes = array<i64: 4>, lanes = [array<i64: 0>]}
      : (tensor<4xf32>) -> () {
  ^bb0(%a: tensor<f32>):
    // expected-error @below {{variable is assigned a value that differs from place to place}}
    dtensor.assign_variable %v, %a : !dtensor.variable<tensor<f32>>, tensor<f32>
    dtensor.yield
  }
  return
}
