// What the verifiers of products and convolutions refuse, by constraint.
// RUN: mesh-opt --split-input-file --verify-diagnostics %s

func.func @case1(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<3x4xf64>, %e: tensor<4x4xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = stablehlo.dot %a, %c : (tensor<2x3xf32>, tensor<3x4xf64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @case2(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<3x4xf64>, %e: tensor<4x4xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.dot %a, %s : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @case3(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<3x4xf64>, %e: tensor<4x4xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = stablehlo.dot %a, %e : (tensor<2x3xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @case4(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<3x4xf64>, %e: tensor<4x4xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = stablehlo.dot %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @case5(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<3x4xf64>, %e: tensor<4x4xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C5: }}
  %0 = "stablehlo.dot"(%a, %b) {precision_config = ["FASTEST", "HIGH"]} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @case6(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0, 1] x [0], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @case7(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1, 2] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @case8(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [0] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @case9(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [1], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @case10(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @below {{violates constraint C5: }}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [3] x [0], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @case11(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @below {{violates constraint C6: }}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [-1] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @case12(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @below {{violates constraint C7: }}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [3], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @case13(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @below {{violates constraint C8: }}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [3] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @case14(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @below {{violates constraint C9: }}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [2], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @case15(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @below {{violates constraint C10: }}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @case16(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @below {{violates constraint C11: }}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT, DEFAULT] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @case17(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @below {{violates constraint C12: }}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @case18(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @below {{violates constraint C21: }}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGH, HIGH], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @case19(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @below {{violates constraint C22: }}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 0, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @case20(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @below {{violates constraint C23: }}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 0, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @case21(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @below {{violates constraint C24: }}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 0, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @case22(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @below {{violates constraint C24: }}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @case23(%a: tensor<4x11x5xf32>, %b: tensor<3x2x5x7xf32>, %g: tensor<3xi64>) {
  // expected-error @below {{violates constraint C9: }}
  %0 = "chlo.ragged_dot"(%a, %b, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>} : (tensor<4x11x5xf32>, tensor<3x2x5x7xf32>, tensor<3xi64>) -> tensor<2x11x7xf32>
  return
}

// -----

func.func @case24(%a: tensor<2x11x6xf32>, %b: tensor<3x2x5x7xf32>, %g: tensor<3xi64>) {
  // expected-error @below {{violates constraint C10: }}
  %0 = "chlo.ragged_dot"(%a, %b, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>} : (tensor<2x11x6xf32>, tensor<3x2x5x7xf32>, tensor<3xi64>) -> tensor<2x11x7xf32>
  return
}

// -----

func.func @case25(%a: tensor<2x11x5xf32>, %b: tensor<3x2x5x7xf32>, %g: tensor<3xi64>) {
  // expected-error @below {{violates constraint C11: }}
  %0 = "chlo.ragged_dot"(%a, %b, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>, precision_config = [7]} : (tensor<2x11x5xf32>, tensor<3x2x5x7xf32>, tensor<3xi64>) -> tensor<2x11x7xf32>
  return
}

// -----

func.func @case26(%a: tensor<2x11x5xf32>, %b: tensor<3x2x5x7xf32>, %g: tensor<3xi64>) {
  // expected-error @below {{violates constraint C12: }}
  %0 = "chlo.ragged_dot"(%a, %b, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], rhs_group_dimensions = [0]>} : (tensor<2x11x5xf32>, tensor<3x2x5x7xf32>, tensor<3xi64>) -> tensor<2x11x7xf32>
  return
}

// -----

func.func @case27(%a: tensor<2x11x5xf32>, %b: tensor<3x2x5x7xf32>, %g: tensor<3xi64>) {
  // expected-error @below {{violates constraint C12: }}
  %0 = "chlo.ragged_dot"(%a, %b, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [3], rhs_group_dimensions = [0]>} : (tensor<2x11x5xf32>, tensor<3x2x5x7xf32>, tensor<3xi64>) -> tensor<2x11x7xf32>
  return
}

// -----

func.func @case28(%a: tensor<2x11x5xf32>, %b: tensor<3x2x5x7xf32>, %g: tensor<3xi64>) {
  // expected-error @below {{violates constraint C13: }}
  %0 = "chlo.ragged_dot"(%a, %b, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1]>} : (tensor<2x11x5xf32>, tensor<3x2x5x7xf32>, tensor<3xi64>) -> tensor<2x11x7xf32>
  return
}

// -----

func.func @case29(%a: tensor<2x11x5xf32>, %b: tensor<3x2x5x7xf32>, %g: tensor<3xi64>) {
  // expected-error @below {{violates constraint C13: }}
  %0 = "chlo.ragged_dot"(%a, %b, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [2], rhs_group_dimensions = [0]>} : (tensor<2x11x5xf32>, tensor<3x2x5x7xf32>, tensor<3xi64>) -> tensor<2x11x7xf32>
  return
}

// -----

func.func @case30(%a: tensor<2x11x5xf32>, %b: tensor<3x2x5x7xf32>, %g: tensor<3xi64>) {
  // expected-error @below {{violates constraint C13: }}
  %0 = "chlo.ragged_dot"(%a, %b, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<2x11x5xf32>, tensor<3x2x5x7xf32>, tensor<3xi64>) -> tensor<2x11x7xf32>
  return
}

// -----

func.func @case31(%a: tensor<2x11x5xf32>, %b: tensor<3x2x5x7xf32>, %g: tensor<3xi64>) {
  // expected-error @below {{violates constraint C14: }}
  %0 = "chlo.ragged_dot"(%a, %b, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>} : (tensor<2x11x5xf32>, tensor<3x2x5x7xf32>, tensor<3xi64>) -> tensor<2x11x7xf32>
  return
}

// -----

func.func @case32(%a: tensor<2x11x5xf32>, %b: tensor<3x2x5x7xf32>, %g: tensor<3xi64>) {
  // expected-error @below {{violates constraint C14: }}
  %0 = "chlo.ragged_dot"(%a, %b, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [2]>} : (tensor<2x11x5xf32>, tensor<3x2x5x7xf32>, tensor<3xi64>) -> tensor<2x11x7xf32>
  return
}

// -----

func.func @case33(%a: tensor<2x11x5xf32>, %b: tensor<3x2x5x7xf32>, %g: tensor<3xi64>) {
  // expected-error @below {{violates constraint C14: }}
  %0 = "chlo.ragged_dot"(%a, %b, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [4]>} : (tensor<2x11x5xf32>, tensor<3x2x5x7xf32>, tensor<3xi64>) -> tensor<2x11x7xf32>
  return
}

// -----

func.func @case34(%a: tensor<2x11x5xf32>, %b: tensor<3x2x5x7xf32>, %g: tensor<i64>) {
  // expected-error @below {{violates constraint C15: }}
  %0 = "chlo.ragged_dot"(%a, %b, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>} : (tensor<2x11x5xf32>, tensor<3x2x5x7xf32>, tensor<i64>) -> tensor<2x11x7xf32>
  return
}

// -----

func.func @case35(%a: tensor<2x11x5xf32>, %b: tensor<3x2x5x7xf32>, %g: tensor<3x3xi64>) {
  // expected-error @below {{violates constraint C15: }}
  %0 = "chlo.ragged_dot"(%a, %b, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>} : (tensor<2x11x5xf32>, tensor<3x2x5x7xf32>, tensor<3x3xi64>) -> tensor<2x11x7xf32>
  return
}

// -----

func.func @case36(%a: tensor<2x11x5xf32>, %b: tensor<3x2x5x7xf32>, %g: tensor<4xi64>) {
  // expected-error @below {{violates constraint C16: }}
  %0 = "chlo.ragged_dot"(%a, %b, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>} : (tensor<2x11x5xf32>, tensor<3x2x5x7xf32>, tensor<4xi64>) -> tensor<2x11x7xf32>
  return
}

// -----

func.func @case37(%a: tensor<2x11x5xf32>, %b: tensor<3x2x5x7xf32>, %g: tensor<3xi64>) {
  // expected-error @below {{violates constraint C17: }}
  %0 = "chlo.ragged_dot"(%a, %b, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>} : (tensor<2x11x5xf32>, tensor<3x2x5x7xf32>, tensor<3xi64>) -> tensor<2x11x8xf32>
  return
}

// -----

func.func @case38(%x: tensor<1x8x8x4xf32>, %k: tensor<3x4x16xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @case39(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x16xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @case40(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x16xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [0, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @case41(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x16xf32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.convolution"(%x, %k) {batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, padding = dense<0> : tensor<4x1xi64>} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @case42(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x16xf32>) {
  // expected-error @below {{violates constraint C5: }}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {lhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @case43(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x16xf32>) {
  // expected-error @below {{violates constraint C6: }}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {lhs_dilate = [1, 0]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @case44(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x16xf32>) {
  // expected-error @below {{violates constraint C7: }}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @case45(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x16xf32>) {
  // expected-error @below {{violates constraint C8: }}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {rhs_dilate = [1, -1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @case46(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x16xf32>) {
  // expected-error @below {{violates constraint C9: }}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @case47(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x16xf32>) {
  // expected-error @below {{violates constraint C10: }}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @case48(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x16xf32>) {
  // expected-error @below {{violates constraint C11: }}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @case49(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x3x16xf32>) {
  // expected-error @below {{violates constraint C14: }}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x3x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @case50(%x: tensor<3x8x8x4xf32>, %k: tensor<3x3x4x16xf32>) {
  // expected-error @below {{violates constraint C15: }}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 3 : i64, feature_group_count = 1 : i64} : (tensor<3x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @case51(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x2x15xf32>) {
  // expected-error @below {{violates constraint C16: }}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x2x15xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @case52(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x16xf32>) {
  // expected-error @below {{violates constraint C12: }}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @case53(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x16xf32>) {
  // expected-error @below {{violates constraint C17: }}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @case54(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x16xf32>) {
  // expected-error @below {{violates constraint C19: }}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @case55(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x16xf32>) {
  // expected-error @below {{violates constraint C21: }}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 0 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @case56(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x16xf32>) {
  // expected-error @below {{violates constraint C22: }}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = -1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @case57(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x16xf32>) {
  // expected-error @below {{violates constraint C23: }}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 2 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @case58(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x16xf32>) {
  // expected-error @below {{violates constraint C25: }}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x15xf32>
  return
}

// -----

func.func @case59(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x16xf32>) {
  // expected-error @below {{violates constraint C25: }}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x7x6x16xf32>
  return
}

// -----

func.func @case60(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x16xf32>) {
  // expected-error @below {{violates constraint C26: }}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x16xf32>
  return
}

// -----

func.func @case61(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x16xf64>) {
  // expected-error @below {{violates constraint C27: }}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf64>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @case62(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x16xf32>) {
  // expected-error @below {{violates constraint C25: }}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[9223372036854775807, 9223372036854775807], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x1x6x16xf32>
  return
}
