// What the verifiers of linear algebra, fft, batch normalisation and random
// numbers refuse, by constraint.
// RUN: mesh-opt --split-input-file --verify-diagnostics %s

func.func @case1(%a: tensor<3x3xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.cholesky"(%a) : (tensor<3x3xf32>) -> tensor<3x3xf64>
  return
}

// -----

func.func @case2(%a: tensor<3xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.cholesky %a : tensor<3xf32>
  return
}

// -----

func.func @case3(%a: tensor<3x4xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = stablehlo.cholesky %a : tensor<3x4xf32>
  return
}

// -----

func.func @case4(%a: tensor<3x3xf32>, %b: tensor<3x2xf64>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xf32>, tensor<3x2xf64>) -> tensor<3x2xf32>
  return
}

// -----

func.func @case5(%a: tensor<3xf32>, %b: tensor<3xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @case6(%a: tensor<3x3xf32>, %b: tensor<1x3x2xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xf32>, tensor<1x3x2xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @case7(%a: tensor<3x3xf32>, %b: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @case8(%a: tensor<3x4xf32>, %b: tensor<3x2xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x4xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @case9(%a: tensor<3x3xf32>, %b: tensor<3x2xf32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @case10(%a: tensor<3x3xf32>, %b: tensor<3x2xf32>) {
  // expected-error @below {{violates constraint I6: }}
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE_INVALID>} : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @case11(%x: tensor<8xcomplex<f32>>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = stablehlo.fft %x, type = FFT, length = [8, 8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  return
}

// -----

func.func @case12(%x: tensor<8xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.fft %x, type = FFT, length = [8] : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @case13(%x: tensor<8xcomplex<f32>>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.fft %x, type = RFFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  return
}

// -----

func.func @case14(%x: tensor<5xcomplex<f32>>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.fft %x, type = IRFFT, length = [8] : (tensor<5xcomplex<f32>>) -> tensor<8xf64>
  return
}

// -----

func.func @case15(%x: tensor<2x2x2x2xcomplex<f32>>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = stablehlo.fft %x, type = FFT, length = [2, 2, 2, 2] : (tensor<2x2x2x2xcomplex<f32>>) -> tensor<2x2x2x2xcomplex<f32>>
  return
}

// -----

func.func @case16(%x: tensor<8xcomplex<f32>>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = stablehlo.fft %x, type = FFT, length = [] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  return
}

// -----

func.func @case17(%x: tensor<8xf32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = stablehlo.fft %x, type = RFFT, length = [6] : (tensor<8xf32>) -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @case18(%x: tensor<8xf32>) {
  // expected-error @below {{violates constraint C5: }}
  %0 = stablehlo.fft %x, type = RFFT, length = [8] : (tensor<8xf32>) -> tensor<8xcomplex<f32>>
  return
}

// -----

func.func @case19(%x: tensor<8xcomplex<f32>>) {
  // expected-error @below {{violates constraint C5: }}
  %0 = stablehlo.fft %x, type = IRFFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
  return
}

// -----

func.func @case20(%x: tensor<8xcomplex<f32>>) {
  // expected-error @below {{violates constraint C5: }}
  %0 = stablehlo.fft %x, type = FFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<9xcomplex<f32>>
  return
}

// -----

func.func @case21(%x: tensor<2x4xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.batch_norm_inference"(%x, %a, %b, %c, %d) {epsilon = 1.0 : f32, feature_index = 2 : i64} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @case22(%x: tensor<2x4xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.batch_norm_inference"(%x, %a, %b, %c, %d) {epsilon = 1.0 : f32, feature_index = -1 : i64} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @case23(%x: tensor<2x4xf32>, %a: tensor<4xf64>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.batch_norm_inference"(%x, %a, %b, %c, %d) {epsilon = 1.0 : f32, feature_index = 1 : i64} : (tensor<2x4xf32>, tensor<4xf64>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @case24(%x: tensor<2x4xf32>, %a: tensor<3xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = "stablehlo.batch_norm_inference"(%x, %a, %b, %c, %d) {epsilon = 1.0 : f32, feature_index = 1 : i64} : (tensor<2x4xf32>, tensor<3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @case25(%x: tensor<2x4xf32>, %a: tensor<4xf32>, %b: tensor<3xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.batch_norm_inference"(%x, %a, %b, %c, %d) {epsilon = 1.0 : f32, feature_index = 1 : i64} : (tensor<2x4xf32>, tensor<4xf32>, tensor<3xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @case26(%x: tensor<2x4xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<3xf32>, %d: tensor<4xf32>) {
  // expected-error @below {{violates constraint C5: }}
  %0 = "stablehlo.batch_norm_inference"(%x, %a, %b, %c, %d) {epsilon = 1.0 : f32, feature_index = 1 : i64} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @case27(%x: tensor<2x4xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<3xf32>) {
  // expected-error @below {{violates constraint C6: }}
  %0 = "stablehlo.batch_norm_inference"(%x, %a, %b, %c, %d) {epsilon = 1.0 : f32, feature_index = 1 : i64} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @case28(%x: tensor<2x4xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>) {
  // expected-error @below {{violates constraint C7: }}
  %0 = "stablehlo.batch_norm_inference"(%x, %a, %b, %c, %d) {epsilon = 1.0 : f32, feature_index = 1 : i64} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @case29(%x: tensor<2x4xf32>, %v: tensor<4xf32>) {
  // expected-error @below {{violates constraint C5: }}
  %0:3 = "stablehlo.batch_norm_training"(%x, %v, %v) {epsilon = 1.0 : f32, feature_index = 1 : i64} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<3xf32>, tensor<4xf32>)
  return
}

// -----

func.func @case30(%x: tensor<2x4xf32>, %v: tensor<4xf32>) {
  // expected-error @below {{violates constraint C7: }}
  %0:3 = "stablehlo.batch_norm_training"(%x, %v, %v) {epsilon = 1.0 : f32, feature_index = 1 : i64} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x2xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @case31(%x: tensor<2x4xf32>, %v: tensor<4xf32>) {
  // expected-error @below {{violates constraint C5: }}
  %0:3 = "stablehlo.batch_norm_grad"(%x, %v, %v, %v, %x) {epsilon = 1.0 : f32, feature_index = 0 : i64} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @case32(%x: tensor<2x4xf32>, %v: tensor<4xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0:3 = "stablehlo.batch_norm_grad"(%x, %v, %v, %v, %x) {epsilon = 1.0 : f32, feature_index = 1 : i64} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4xf32>) -> (tensor<4x2xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @case33(%a: tensor<f32>, %b: tensor<f64>, %s: tensor<1xi64>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<f32>, tensor<f64>, tensor<1xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @case34(%a: tensor<i32>, %s: tensor<1xi64>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = stablehlo.rng %a, %a, %s, distribution = NORMAL : (tensor<i32>, tensor<i32>, tensor<1xi64>) -> tensor<4xi32>
  return
}

// -----

func.func @case35(%a: tensor<f32>, %s: tensor<2xi64>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = stablehlo.rng %a, %a, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @case36(%s: tensor<2xui64>) {
  // expected-error @below {{violates constraint C1: }}
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  return
}

// -----

func.func @case37(%s: tensor<3xui64>) {
  // expected-error @below {{violates constraint C2: }}
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<3xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  return
}
