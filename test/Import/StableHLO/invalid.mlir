// Malformed text: an error at the place, in its terms.
// RUN: mesh-opt --split-input-file --verify-diagnostics %s

func.func @types(%x: tensor<4xf32>) {
  // expected-error @below {{expected 2 operand types and one result type, but got '(tensor<4xf32>) -> tensor<4xf32>'}}
  %0 = stablehlo.add %x, %x : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @complex(%x: tensor<4xf32>) {
  // expected-error @below {{expected a tensor of complex numbers, but got 'tensor<4xf32>'}}
  %0 = stablehlo.complex %x, %x : tensor<4xf32>
  return
}

// -----

func.func @format(%x: tensor<4xf32>) {
  // expected-error @below {{expected a format such as e5m10, but got e5}}
  %0 = stablehlo.reduce_precision %x, format = e5 : tensor<4xf32>
  return
}

// -----

func.func @constant() {
  // expected-error @below {{expected the elements of a tensor, but got 1.000000e+00 : f32}}
  %0 = stablehlo.constant 1.0 : f32
  return
}

// -----

func.func @window(%x: tensor<2x6x9xf32>, %k: tensor<4x6x3xf32>) {
  // expected-error @below {{expected stride, pad, lhs_dilate, rhs_dilate or reverse, but got step}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {step = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x6x9xf32>, tensor<4x6x3xf32>) -> tensor<2x4x7xf32>
  return
}

// -----

func.func @spatial(%x: tensor<2x6x9xf32>, %k: tensor<4x6x3xf32>) {
  // expected-error @below {{spatial dims are numbered 0 to 0, each once}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 1]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x6x9xf32>, tensor<4x6x3xf32>) -> tensor<2x4x7xf32>
  return
}

// -----

func.func @named(%x: tensor<2x6x9xf32>, %k: tensor<4x6x3xf32>) {
  // expected-error @below {{expected a spatial dim's number, b or f, each once, but got b}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, b, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x6x9xf32>, tensor<4x6x3xf32>) -> tensor<2x4x7xf32>
  return
}

// -----

func.func @precision(%x: tensor<4x4xf32>) {
  // expected-error @below {{expected DEFAULT, HIGH or HIGHEST, but got BEST}}
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0], precision = [BEST, HIGH] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

// expected-error @below {{expected offset_dims, collapsed_slice_dims, operand_batching_dims, start_indices_batching_dims, start_index_map, index_vector_dim, but got offsets}}
module attributes {a = #stablehlo.gather<offsets = [1]>} {}

// -----

// expected-error @below {{index_vector_dim is given twice}}
module attributes {a = #stablehlo.scatter<index_vector_dim = 1, index_vector_dim = 1>} {}

// -----

func.func @applies(%x: tensor<4x4xf32>, %s: tensor<f32>) {
  // expected-error @below {{`applies` takes a reduction of one tensor}}
  %0:2 = stablehlo.reduce(%x init: %s), (%x init: %s) applies stablehlo.add across dimensions = [0] : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @reducer(%x: tensor<4x4xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C6: the region is ('tensor<f32>') -> ('tensor<f32>'), expected two scalars of each of ('tensor<4x4xf32>'), or of wider types, and to return one of each}}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @while_types(%x: tensor<i32>) {
  // expected-error @below {{carries 1 values, but lists 2 types}}
  %0 = stablehlo.while(%i = %x) : tensor<i32>, tensor<i32> cond {
    stablehlo.return
  } do {
    stablehlo.return
  }
  return
}

// -----

func.func @while_arguments(%x: tensor<i32>) {
  // expected-error @below {{violates constraint C2: carries ('tensor<i32>'), but the body takes ('tensor<f32>')}}
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%i: tensor<i32>):
    %p = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%i: tensor<f32>):
    stablehlo.return %x : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  return
}

// -----

// expected-error @below {{expected a priority such as p1, but got first}}
func.func @priority(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}first]>}) { return }

// -----

// expected-error @below {{`?` is the last entry of a dim}}
func.func @open(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?, "x"}]>}) { return }

// -----

// expected-error @below {{replicated is given twice}}
func.func @twice(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], replicated={"x"}, replicated={"y"}>}) { return }

// -----

// expected-error @below {{expected replicated or unreduced, but got partial}}
func.func @partial(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], partial={"x"}>}) { return }

// -----

// expected-error @below {{expected sum, max or min, but got prod}}
func.func @kind(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=prod{"x"}>}) { return }

// -----

// expected-error @below {{expected factors i to z, z_1, ..., but got a}}
module attributes {a = #sdy.op_sharding_rule<([a])->([i]) {i=2}>} {}

// -----

// expected-error @below {{the rule uses a factor whose size it does not give}}
module attributes {a = #sdy.op_sharding_rule<([i, j])->([i]) {i=2}>} {}

// -----

// expected-error @below {{expected the size of factor i, but got that of j}}
module attributes {a = #sdy.op_sharding_rule<([i, j])->([i]) {j=2, i=2}>} {}

// -----

func.func @unknown(%x: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.frobnicate'}}
  %0 = "stablehlo.frobnicate"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
