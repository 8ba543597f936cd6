// RUN: mesh-opt %s --split-input-file --verify-diagnostics
// Every constraint of products and reductions is checked.

func.func @dot_type(%a: tensor<2x3xf32>, %b: tensor<3x4xf64>) {
  // expected-error @+1 {{'dtensor.dot_general' op violates constraint C1}}
  %0 = dtensor.dot_general %a, %b contracting [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @dot_result_type(%a: tensor<2x3xf16>, %b: tensor<3x4xf16>) {
  // expected-error @+1 {{'dtensor.dot_general' op violates constraint C1: the result is neither of the operands' element type, nor f32 where that is f16 or bf16}}
  %0 = dtensor.dot_general %a, %b contracting [1] x [0] : (tensor<2x3xf16>, tensor<3x4xf16>) -> tensor<2x4xf64>
  return
}

// -----

func.func @dot_lists(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{'dtensor.dot_general' op violates constraint C2}}
  %0 = dtensor.dot_general %a, %b contracting [1] x [0, 1] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @dot_dims(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{'dtensor.dot_general' op violates constraint C3}}
  %0 = dtensor.dot_general %a, %b batching [1] x [0] contracting [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @dot_sizes(%a: tensor<2x3xf32>, %b: tensor<5x4xf32>) {
  // expected-error @+1 {{'dtensor.dot_general' op violates constraint C4: dim 1 of lhs has size 3, but dim 0 of rhs has size 5}}
  %0 = dtensor.dot_general %a, %b contracting [1] x [0] : (tensor<2x3xf32>, tensor<5x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @dot_result(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{'dtensor.dot_general' op violates constraint C5: the result must be 'tensor<2x4xf32>'}}
  %0 = dtensor.dot_general %a, %b contracting [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @matmul_type(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{'dtensor.matmul' op violates constraint C1}}
  %0 = dtensor.matmul %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf64>
  return
}

// -----

func.func @matmul_rank(%a: tensor<2x3xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{'dtensor.matmul' op violates constraint C2: the ranks are 2, 1 and 1}}
  %0 = dtensor.matmul %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @matmul_leading(%a: tensor<5x2x3xf32>, %b: tensor<6x3x4xf32>) {
  // expected-error @+1 {{'dtensor.matmul' op violates constraint C3: leading dim 0 has sizes 5, 6 and 5}}
  %0 = dtensor.matmul %a, %b : (tensor<5x2x3xf32>, tensor<6x3x4xf32>) -> tensor<5x2x4xf32>
  return
}

// -----

func.func @matmul_contraction(%a: tensor<2x3xf32>, %b: tensor<5x4xf32>) {
  // expected-error @+1 {{'dtensor.matmul' op violates constraint C4: lhs has 3 columns, rhs 5 rows}}
  %0 = dtensor.matmul %a, %b : (tensor<2x3xf32>, tensor<5x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @matmul_result(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{'dtensor.matmul' op violates constraint C5: the result must be 2 by 4}}
  %0 = dtensor.matmul %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @reduce_counts(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'dtensor.reduce' op violates constraint C1: there are 1 inputs and 2 results}}
  %0:2 = dtensor.reduce sum %x dims [0] : (tensor<2x3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @reduce_dims(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'dtensor.reduce' op violates constraint C2}}
  %0 = dtensor.reduce sum %x dims [2] : (tensor<2x3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @reduce_shapes(%x: tensor<2x3xf32>, %y: tensor<3x3xf32>) {
  // expected-error @+1 {{'dtensor.reduce' op violates constraint C3}}
  %0:2 = dtensor.reduce sum %x, %y dims [0] : (tensor<2x3xf32>, tensor<3x3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @reduce_result(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'dtensor.reduce' op violates constraint C4: the result of a 'tensor<2x3xf32>' must be a 'tensor<3xf32>'}}
  %0 = dtensor.reduce sum %x dims [0] : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_logical(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'dtensor.reduce' op violates constraint C5: a reduction by and does not take 'f32'}}
  %0 = dtensor.reduce and %x dims [0] : (tensor<2x3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @reduce_numbers(%x: tensor<2x3xi1>) {
  // expected-error @+1 {{'dtensor.reduce' op violates constraint C5: a reduction by sum does not take 'i1'}}
  %0 = dtensor.reduce sum %x dims [0] : (tensor<2x3xi1>) -> tensor<3xi1>
  return
}

// -----

func.func @reduce_kind(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{unknown kind of reduction 'mean'; expected sum, prod, min, max, and, or}}
  %0 = dtensor.reduce mean %x dims [0] : (tensor<2x3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @argmax_dim(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'dtensor.argmax' op violates constraint C1: dimension 2 is not a non-empty dim of the operand}}
  %0 = dtensor.argmax %x dim 2 : (tensor<2x3xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @argmax_empty(%x: tensor<2x0xf32>) {
  // expected-error @+1 {{'dtensor.argmax' op violates constraint C1}}
  %0 = dtensor.argmax %x dim 1 : (tensor<2x0xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @argmax_shape(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'dtensor.argmax' op violates constraint C2}}
  %0 = dtensor.argmax %x dim 1 : (tensor<2x3xf32>) -> tensor<3xi32>
  return
}

// -----

func.func @argmin_dim(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'dtensor.argmin' op violates constraint C1}}
  %0 = dtensor.argmin %x dim 2 : (tensor<2x3xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @argmin_shape(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'dtensor.argmin' op violates constraint C2}}
  %0 = dtensor.argmin %x dim 1 : (tensor<2x3xf32>) -> tensor<2x3xi32>
  return
}
