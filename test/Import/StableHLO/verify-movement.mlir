// What the verifiers of ops that move elements refuse, by constraint.
// RUN: mesh-opt --split-input-file --verify-diagnostics %s

func.func @case1(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @case2(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @case3(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @case4(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, -1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @case5(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @case6(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C5: }}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @case7(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = stablehlo.broadcast %x, sizes = [4] : (tensor<2x3xf32>) -> tensor<4x2x3xi32>
  return
}

// -----

func.func @case8(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.broadcast %x, sizes = [-1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @case9(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = stablehlo.broadcast %x, sizes = [4] : (tensor<2x3xf32>) -> tensor<5x2x3xf32>
  return
}

// -----

func.func @case10(%x: tensor<2x3xf32>, %y: tensor<3x3xf32>, %z: tensor<2x3xf64>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = stablehlo.concatenate %x, %z, dim = 0 : (tensor<2x3xf32>, tensor<2x3xf64>) -> tensor<4x3xf32>
  return
}

// -----

func.func @case11(%x: tensor<2x3xf32>, %y: tensor<3x3xf32>, %z: tensor<2x3xf64>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @case12() {
  // expected-error @below {{violates constraint C3: }}
  %0 = "stablehlo.concatenate"() {dimension = 0 : i64} : () -> tensor<2xf32>
  return
}

// -----

func.func @case13(%x: tensor<2x3xf32>, %y: tensor<3x3xf32>, %z: tensor<2x3xf64>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.concatenate"(%x, %y) {dimension = -1 : i64} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @case14(%x: tensor<2x3xf32>, %y: tensor<3x3xf32>, %z: tensor<2x3xf64>) {
  // expected-error @below {{violates constraint C5: }}
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<5x3xf64>
  return
}

// -----

func.func @case15(%x: tensor<2x3xf32>, %y: tensor<3x3xf32>, %z: tensor<2x3xf64>) {
  // expected-error @below {{violates constraint C6: the result must be [5, 3], but is a 'tensor<6x3xf32>'}}
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<6x3xf32>
  return
}

// -----

func.func @case16(%x: tensor<3xf32>, %s: tensor<f32>, %d: tensor<f64>, %v: tensor<1xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = stablehlo.pad %x, %d, low = [1], high = [1], interior = [0] : (tensor<3xf32>, tensor<f64>) -> tensor<5xf32>
  return
}

// -----

func.func @case17(%x: tensor<3xf32>, %s: tensor<f32>, %d: tensor<f64>, %v: tensor<1xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = stablehlo.pad %x, %v, low = [1], high = [1], interior = [0] : (tensor<3xf32>, tensor<1xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @case18(%x: tensor<3xf32>, %s: tensor<f32>, %d: tensor<f64>, %v: tensor<1xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.pad %x, %s, low = [1, 1], high = [1], interior = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
  return
}

// -----

func.func @case19(%x: tensor<3xf32>, %s: tensor<f32>, %d: tensor<f64>, %v: tensor<1xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = stablehlo.pad %x, %s, low = [1], high = [1], interior = [-1] : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
  return
}

// -----

func.func @case20(%x: tensor<3xf32>, %s: tensor<f32>, %d: tensor<f64>, %v: tensor<1xf32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = stablehlo.pad %x, %s, low = [1], high = [1], interior = [1] : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
  return
}

// -----

func.func @case21(%x: tensor<3xf32>, %s: tensor<f32>, %d: tensor<f64>, %v: tensor<1xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = stablehlo.pad %x, %s, low = [0], high = [0], interior = [9223372036854775807] : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
  return
}

// -----

func.func @case22(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<6xf64>
  return
}

// -----

func.func @case23(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C2: 'tensor<2x3xf32>' has 6 elements, 'tensor<5xf32>' has 5}}
  %0 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @case24(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.reverse"(%x) {dimensions = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @case25(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.reverse %x, dims = [0, 0] : tensor<2x3xf32>
  return
}

// -----

func.func @case26(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = stablehlo.reverse %x, dims = [2] : tensor<2x3xf32>
  return
}

// -----

func.func @case27(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = stablehlo.slice %x [0:2, 0:3] : (tensor<2x3xf32>) -> tensor<2x3xf64>
  return
}

// -----

func.func @case28(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.slice %x [0:2] : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @case29(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = stablehlo.slice %x [0:3, 0:3] : (tensor<2x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @case30(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = stablehlo.slice %x [-1:2, 0:3] : (tensor<2x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @case31(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = stablehlo.slice %x [2:1, 0:3] : (tensor<2x3xf32>) -> tensor<0x3xf32>
  return
}

// -----

func.func @case32(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = stablehlo.slice %x [0:2:0, 0:3] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @case33(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C5: }}
  %0 = stablehlo.slice %x [0:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @case34(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf64>
  return
}

// -----

func.func @case35(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.transpose %x, dims = [0, 0] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @case36(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.transpose %x, dims = [0] : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @case37(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.transpose %x, dims = [1, 2] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @case38(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @case39(%s: tensor<1xi64>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = stablehlo.dynamic_iota %s, dim = 1 : (tensor<1xi64>) -> tensor<4xi32>
  return
}

// -----

func.func @case40(%s: tensor<2xi64>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi64>) -> tensor<4xi32>
  return
}

// -----

func.func @case41(%x: tensor<3xf32>, %s: tensor<f32>, %v: tensor<1xi64>, %w: tensor<2xi64>, %d: tensor<f64>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = stablehlo.dynamic_pad %x, %d, %v, %v, %v : (tensor<3xf32>, tensor<f64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @case42(%x: tensor<3xf32>, %s: tensor<f32>, %v: tensor<1xi64>, %w: tensor<2xi64>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.dynamic_pad %x, %s, %v, %w, %v : (tensor<3xf32>, tensor<f32>, tensor<1xi64>, tensor<2xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @case43(%x: tensor<3xf32>, %s: tensor<f32>, %v: tensor<1xi64>, %w: tensor<2xi64>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.dynamic_pad %x, %s : (tensor<3xf32>, tensor<f32>) -> tensor<?xf32>
  return
}

// -----

func.func @case44(%x: tensor<3xf32>, %s: tensor<f32>, %v: tensor<1xi64>, %w: tensor<2xi64>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = stablehlo.dynamic_pad %x, %s, %v, %v, %v : (tensor<3xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @case45(%x: tensor<3xf32>, %s: tensor<f32>, %v: tensor<1xi64>, %w: tensor<2xi64>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = stablehlo.real_dynamic_slice %x, %v, %v, %v : (tensor<3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf64>
  return
}

// -----

func.func @case46(%x: tensor<3xf32>, %s: tensor<f32>, %v: tensor<1xi64>, %w: tensor<2xi64>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.real_dynamic_slice %x, %w, %v, %v : (tensor<3xf32>, tensor<2xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @case47(%x: tensor<3xf32>, %s: tensor<f32>, %v: tensor<1xi64>, %w: tensor<2xi64>) {
  // expected-error @below {{violates constraint C5: }}
  %0 = stablehlo.real_dynamic_slice %x, %v, %v, %v : (tensor<3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<f32>
  return
}

// -----

func.func @case48(%x: tensor<3xf32>, %s: tensor<f32>, %v: tensor<1xi64>, %w: tensor<2xi64>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = stablehlo.dynamic_reshape %x, %v : (tensor<3xf32>, tensor<1xi64>) -> tensor<?xf64>
  return
}

// -----

func.func @case49(%x: tensor<3xf32>, %s: tensor<f32>, %v: tensor<1xi64>, %w: tensor<2xi64>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.dynamic_reshape %x, %v : (tensor<3xf32>, tensor<1xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @case50(%x: tensor<3xf32>, %s: tensor<f32>, %v: tensor<1xi64>, %w: tensor<2xi64>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = stablehlo.dynamic_reshape %x, %v : (tensor<3xf32>, tensor<1xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @case51(%x: tensor<3xf32>, %s: tensor<f32>, %v: tensor<1xi64>, %w: tensor<2xi64>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = stablehlo.dynamic_reshape %x : (tensor<3xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @case52(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = stablehlo.get_dimension_size %x, dim = 2 : (tensor<2x3xf32>) -> tensor<i32>
  return
}

// -----

func.func @case53(%x: tensor<2x3xf32>, %s: tensor<i32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = stablehlo.set_dimension_size %x, %s, dim = 2 : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @case54(%x: tensor<?x3xf32>, %s: tensor<2xi64>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0] : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x3xf32>
  return
}

// -----

func.func @case55(%x: tensor<?x3xf32>, %s: tensor<3xi64>) {
  // expected-error @below {{violates constraint C7: }}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0, 1] : (tensor<?x3xf32>, tensor<3xi64>) -> tensor<?x3xf32>
  return
}
