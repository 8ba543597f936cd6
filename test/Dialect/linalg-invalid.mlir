// RUN: mesh-opt %s --split-input-file --verify-diagnostics
// Every constraint of factorizations, transforms and custom calls is checked.

func.func @cholesky_result(%a: tensor<3x4x4xf32>, %b: tensor<3x4x7xf32>, %c: tensor<3x4x7xcomplex<f32>>, %d: tensor<3x4xf32>) {
  // expected-error @+1 {{'dtensor.cholesky' op violates constraint C1}}
  %0 = dtensor.cholesky %a : (tensor<3x4x4xf32>) -> tensor<3x4x4xf64>
  return
}

// -----

func.func @cholesky_square(%a: tensor<3x4x4xf32>, %b: tensor<3x4x7xf32>, %c: tensor<3x4x7xcomplex<f32>>, %d: tensor<3x4xf32>) {
  // expected-error @+1 {{'dtensor.cholesky' op violates constraint C2}}
  %0 = dtensor.cholesky %b : tensor<3x4x7xf32>
  return
}

// -----

func.func @solve_type(%a: tensor<3x4x4xf32>, %b: tensor<3x4x7xf32>, %c: tensor<3x4x7xcomplex<f32>>, %d: tensor<3x4xf32>) {
  // expected-error @+1 {{'dtensor.triangular_solve' op violates constraint C1}}
  %0 = dtensor.triangular_solve %a, %b {left_side} : (tensor<3x4x4xf32>, tensor<3x4x7xf32>) -> tensor<3x4x7xf64>
  return
}

// -----

func.func @solve_rank(%a: tensor<3x4x4xf32>, %b: tensor<3x4x7xf32>, %c: tensor<3x4x7xcomplex<f32>>, %d: tensor<3x4xf32>) {
  // expected-error @+1 {{'dtensor.triangular_solve' op violates constraint C2}}
  %0 = dtensor.triangular_solve %a, %d {left_side} : (tensor<3x4x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @solve_sizes(%a: tensor<3x4x4xf32>, %b: tensor<3x4x7xf32>, %c: tensor<3x4x7xcomplex<f32>>, %d: tensor<3x4xf32>) {
  // expected-error @+1 {{'dtensor.triangular_solve' op violates constraint C3}}
  %0 = dtensor.triangular_solve %a, %b : (tensor<3x4x4xf32>, tensor<3x4x7xf32>) -> tensor<3x4x7xf32>
  return
}

// -----

func.func @solve_result(%a: tensor<3x4x4xf32>, %b: tensor<3x4x7xf32>, %c: tensor<3x4x7xcomplex<f32>>, %d: tensor<3x4xf32>) {
  // expected-error @+1 {{'dtensor.triangular_solve' op violates constraint C4}}
  %0 = dtensor.triangular_solve %a, %b {left_side} : (tensor<3x4x4xf32>, tensor<3x4x7xf32>) -> tensor<3x4x4xf32>
  return
}

// -----

func.func @solve_transpose(%a: tensor<3x4x4xf32>, %b: tensor<3x4x7xf32>, %c: tensor<3x4x7xcomplex<f32>>, %d: tensor<3x4xf32>) {
  // expected-error @+1 {{'dtensor.triangular_solve' op violates constraint C5: transpose_a is 'SOMETIMES'}}
  %0 = dtensor.triangular_solve %a, %b {left_side, transpose_a = "SOMETIMES"} : (tensor<3x4x4xf32>, tensor<3x4x7xf32>) -> tensor<3x4x7xf32>
  return
}

// -----

func.func @fft_kind(%a: tensor<3x4x4xf32>, %b: tensor<3x4x7xf32>, %c: tensor<3x4x7xcomplex<f32>>, %d: tensor<3x4xf32>) {
  // expected-error @+1 {{'dtensor.fft' op violates constraint C1}}
  %0 = dtensor.fft %c {fft_length = array<i64: 7>, fft_type = "DCT"} : (tensor<3x4x7xcomplex<f32>>) -> tensor<3x4x7xcomplex<f32>>
  return
}

// -----

func.func @fft_type(%a: tensor<3x4x4xf32>, %b: tensor<3x4x7xf32>, %c: tensor<3x4x7xcomplex<f32>>, %d: tensor<3x4xf32>) {
  // expected-error @+1 {{'dtensor.fft' op violates constraint C2}}
  %0 = dtensor.fft %c {fft_length = array<i64: 7>, fft_type = "RFFT"} : (tensor<3x4x7xcomplex<f32>>) -> tensor<3x4x7xcomplex<f32>>
  return
}

// -----

func.func @fft_length(%a: tensor<3x4x4xf32>, %b: tensor<3x4x7xf32>, %c: tensor<3x4x7xcomplex<f32>>, %d: tensor<3x4xf32>) {
  // expected-error @+1 {{'dtensor.fft' op violates constraint C3}}
  %0 = dtensor.fft %c {fft_length = array<i64: 8>, fft_type = "FFT"} : (tensor<3x4x7xcomplex<f32>>) -> tensor<3x4x7xcomplex<f32>>
  return
}

// -----

func.func @fft_result(%a: tensor<3x4x4xf32>, %b: tensor<3x4x7xf32>, %c: tensor<3x4x7xcomplex<f32>>, %d: tensor<3x4xf32>) {
  // expected-error @+1 {{'dtensor.fft' op violates constraint C4}}
  %0 = dtensor.fft %c {fft_length = array<i64: 7>, fft_type = "FFT"} : (tensor<3x4x7xcomplex<f32>>) -> tensor<3x4x8xcomplex<f32>>
  return
}

// -----

func.func @geqrf_type(%a: tensor<3x4x4xf32>, %b: tensor<3x4x7xf32>, %c: tensor<3x4x7xcomplex<f32>>, %d: tensor<3x4xf32>) {
  // expected-error @+1 {{'dtensor.geqrf' op violates constraint C1}}
  %0:2 = dtensor.geqrf %b : (tensor<3x4x7xf32>) -> (tensor<3x4x7xf32>, tensor<3x4xf64>)
  return
}

// -----

func.func @geqrf_result(%a: tensor<3x4x4xf32>, %b: tensor<3x4x7xf32>, %c: tensor<3x4x7xcomplex<f32>>, %d: tensor<3x4xf32>) {
  // expected-error @+1 {{'dtensor.geqrf' op violates constraint C2}}
  %0:2 = dtensor.geqrf %b : (tensor<3x4x7xf32>) -> (tensor<3x7x4xf32>, tensor<3x4xf32>)
  return
}

// -----

func.func @geqrf_taus(%a: tensor<3x4x4xf32>, %b: tensor<3x4x7xf32>, %c: tensor<3x4x7xcomplex<f32>>, %d: tensor<3x4xf32>) {
  // expected-error @+1 {{'dtensor.geqrf' op violates constraint C3}}
  %0:2 = dtensor.geqrf %b : (tensor<3x4x7xf32>) -> (tensor<3x4x7xf32>, tensor<3x7xf32>)
  return
}

// -----

func.func @product_type(%a: tensor<3x4x4xf32>, %b: tensor<3x4x7xf32>, %c: tensor<3x4x7xcomplex<f32>>, %d: tensor<3x4xf32>) {
  // expected-error @+1 {{'dtensor.householder_product' op violates constraint C1}}
  %0 = dtensor.householder_product %a, %d : (tensor<3x4x4xf32>, tensor<3x4xf32>) -> tensor<3x4x4xf64>
  return
}

// -----

func.func @product_wide(%a: tensor<3x4x4xf32>, %b: tensor<3x4x7xf32>, %c: tensor<3x4x7xcomplex<f32>>, %d: tensor<3x4xf32>) {
  // expected-error @+1 {{'dtensor.householder_product' op violates constraint C2}}
  %0 = dtensor.householder_product %b, %d : (tensor<3x4x7xf32>, tensor<3x4xf32>) -> tensor<3x4x7xf32>
  return
}

// -----

func.func @product_taus(%a: tensor<3x4x4xf32>, %d: tensor<3x5xf32>) {
  // expected-error @+1 {{'dtensor.householder_product' op violates constraint C3}}
  %0 = dtensor.householder_product %a, %d : (tensor<3x4x4xf32>, tensor<3x5xf32>) -> tensor<3x4x4xf32>
  return
}

// -----

func.func @custom_none(%a: tensor<3x4x4xf32>, %b: tensor<3x4x7xf32>, %c: tensor<3x4x7xcomplex<f32>>, %d: tensor<3x4xf32>) {
  // expected-error @+1 {{'dtensor.custom_call' op violates constraint C1}}
  "dtensor.custom_call"(%d) {call_target_name = "mine"} : (tensor<3x4xf32>) -> ()
  return
}

// -----

func.func @custom_text(%a: tensor<3x4x4xf32>, %b: tensor<3x4x7xf32>, %c: tensor<3x4x7xcomplex<f32>>, %d: tensor<3x4xf32>) {
  // expected-error @+1 {{'dtensor.custom_call' op violates constraint C2}}
  %0 = dtensor.custom_call "mine"(%d) {rule = "a b"} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @custom_batch(%a: tensor<3x4x4xf32>, %b: tensor<3x4x7xf32>, %c: tensor<3x4x7xcomplex<f32>>, %d: tensor<3x4xf32>) {
  // expected-error @+1 {{'dtensor.custom_call' op violates constraint C3: the first 2 dims of 'tensor<3xf32>' are not those of the first result}}
  %0:2 = dtensor.custom_call "mine"(%d) {batch_dims = 2} : (tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3xf32>)
  return
}

// -----

func.func @callback_mask(%a: tensor<3x4xf32>) {
  // expected-error @+1 {{'dtensor.callback' op violates constraint C4: with 'masked' its first input must be a tensor of i1 with the batch dims}}
  %0 = dtensor.callback "mine"(%a) {batch_dims = 1, masked} : (tensor<3x4xf32>) -> tensor<3xi32>
  return
}

// -----

func.func @custom_reduced(%a: tensor<3x4x4xf32>, %b: tensor<3x4x7xf32>, %c: tensor<3x4x7xcomplex<f32>>, %d: tensor<3x4xf32>) {
  // expected-error @+1 {{'dtensor.custom_call' op violates constraint C4: a reduction by or does not take 'f32'}}
  %0 = dtensor.custom_call "mine"(%d) {rule = "a b -> a", kind = #dtensor.kind<or>} : (tensor<3x4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @lu_matrices(%a: tensor<3xf32>) {
  // expected-error @+1 {{'dtensor.lu' op violates constraint C1}}
  %0:3 = dtensor.lu %a : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xi32>, tensor<3xi32>)
  return
}

// -----

func.func @lu_pivots(%a: tensor<3x5x4xf32>) {
  // expected-error @+1 {{'dtensor.lu' op violates constraint C2}}
  %0:3 = dtensor.lu %a : (tensor<3x5x4xf32>) -> (tensor<3x5x4xf32>, tensor<3x5xi32>, tensor<3x5xi32>)
  return
}

// -----

func.func @lu_permutation(%a: tensor<3x5x4xf32>) {
  // expected-error @+1 {{'dtensor.lu' op violates constraint C3}}
  %0:3 = dtensor.lu %a : (tensor<3x5x4xf32>) -> (tensor<3x5x4xf32>, tensor<3x4xi32>, tensor<3x4xi32>)
  return
}

// -----

func.func @eigh_vectors(%a: tensor<3x4x4xcomplex<f32>>) {
  // expected-error @+1 {{'dtensor.eigh' op violates constraint C1}}
  %0:2 = dtensor.eigh %a : (tensor<3x4x4xcomplex<f32>>) -> (tensor<3x4x4xf32>, tensor<3x4xf32>)
  return
}

// -----

func.func @eigh_square(%a: tensor<3x5x4xf32>) {
  // expected-error @+1 {{'dtensor.eigh' op violates constraint C2: the operand has no square matrices: it is 'tensor<3x5x4xf32>'}}
  %0:2 = dtensor.eigh %a : (tensor<3x5x4xf32>) -> (tensor<3x5x4xf32>, tensor<3x4xf32>)
  return
}

// -----

func.func @eigh_values(%a: tensor<3x4x4xcomplex<f32>>) {
  // expected-error @+1 {{'dtensor.eigh' op violates constraint C3}}
  %0:2 = dtensor.eigh %a : (tensor<3x4x4xcomplex<f32>>) -> (tensor<3x4x4xcomplex<f32>>, tensor<3x4xf64>)
  return
}

// -----

func.func @svd_types(%a: tensor<3x5x4xf32>) {
  // expected-error @+1 {{'dtensor.svd' op violates constraint C1}}
  %0:3 = dtensor.svd %a : (tensor<3x5x4xf32>) -> (tensor<3x5x4xf32>, tensor<3x4xf64>, tensor<3x4x4xf32>)
  return
}

// -----

func.func @svd_sizes(%a: tensor<3x5x4xf32>) {
  // expected-error @+1 {{'dtensor.svd' op violates constraint C2: result 0 must be 'tensor<3x5x5xf32>', not 'tensor<3x5x4xf32>'}}
  %0:3 = dtensor.svd %a {full_matrices} : (tensor<3x5x4xf32>) -> (tensor<3x5x4xf32>, tensor<3x4xf32>, tensor<3x4x4xf32>)
  return
}

// -----

func.func @eig_square(%a: tensor<3x5x4xf32>) {
  // expected-error @+1 {{'dtensor.eig' op violates constraint C1}}
  %0:2 = dtensor.eig %a : (tensor<3x5x4xf32>) -> (tensor<3x4xcomplex<f32>>, tensor<3x5x4xcomplex<f32>>)
  return
}

// -----

func.func @eig_results(%a: tensor<3x4x4xcomplex<f32>>) {
  // expected-error @+1 {{'dtensor.eig' op violates constraint C2}}
  %0:2 = dtensor.eig %a : (tensor<3x4x4xcomplex<f32>>) -> (tensor<3x4xcomplex<f64>>, tensor<3x4x4xcomplex<f64>>)
  return
}

// -----

func.func @leading_columns(%a: tensor<3x4x4xf32>, %p: tensor<4xi32>) {
  // expected-error @+1 {{'dtensor.pivoted_qr' op violates constraint C4: the leading columns must be 'tensor<3x4xi32>', not 'tensor<4xi32>'}}
  %0:3 = dtensor.pivoted_qr %a leading %p : (tensor<3x4x4xf32>, tensor<4xi32>) -> (tensor<3x4x4xf32>, tensor<3x4xi32>, tensor<3x4xf32>)
  return
}

// -----

func.func @schur_results(%a: tensor<3x4x4xcomplex<f32>>) {
  // expected-error @+1 {{'dtensor.schur' op violates constraint C1}}
  %0:2 = dtensor.schur %a : (tensor<3x4x4xcomplex<f32>>) -> (tensor<3x4x4xcomplex<f32>>, tensor<3x4x4xcomplex<f64>>)
  return
}

// -----

func.func @schur_square(%a: tensor<3x5x4xf32>) {
  // expected-error @+1 {{'dtensor.schur' op violates constraint C2}}
  %0:2 = dtensor.schur %a : (tensor<3x5x4xf32>) -> (tensor<3x5x4xf32>, tensor<3x5x4xf32>)
  return
}

// -----

func.func @pivoted_qr_type(%a: tensor<3x5x4xf32>) {
  // expected-error @+1 {{'dtensor.pivoted_qr' op violates constraint C1}}
  %0:3 = dtensor.pivoted_qr %a : (tensor<3x5x4xf32>) -> (tensor<3x5x4xf64>, tensor<3x4xi32>, tensor<3x4xf32>)
  return
}

// -----

func.func @pivoted_qr_permutation(%a: tensor<3x5x4xf32>) {
  // expected-error @+1 {{'dtensor.pivoted_qr' op violates constraint C2}}
  %0:3 = dtensor.pivoted_qr %a : (tensor<3x5x4xf32>) -> (tensor<3x5x4xf32>, tensor<3x5xi32>, tensor<3x4xf32>)
  return
}

// -----

func.func @pivoted_qr_taus(%a: tensor<3x5x4xf32>) {
  // expected-error @+1 {{'dtensor.pivoted_qr' op violates constraint C3}}
  %0:3 = dtensor.pivoted_qr %a : (tensor<3x5x4xf32>) -> (tensor<3x5x4xf32>, tensor<3x4xi32>, tensor<3x5xf32>)
  return
}

// -----

func.func @hessenberg_type(%a: tensor<3x4x4xf32>) {
  // expected-error @+1 {{'dtensor.hessenberg' op violates constraint C1}}
  %0:2 = dtensor.hessenberg %a : (tensor<3x4x4xf32>) -> (tensor<3x4x4xf32>, tensor<3x3xf64>)
  return
}

// -----

func.func @hessenberg_square(%a: tensor<3x5x4xf32>) {
  // expected-error @+1 {{'dtensor.hessenberg' op violates constraint C2}}
  %0:2 = dtensor.hessenberg %a : (tensor<3x5x4xf32>) -> (tensor<3x5x4xf32>, tensor<3x3xf32>)
  return
}

// -----

func.func @hessenberg_taus(%a: tensor<3x4x4xf32>) {
  // expected-error @+1 {{'dtensor.hessenberg' op violates constraint C3}}
  %0:2 = dtensor.hessenberg %a : (tensor<3x4x4xf32>) -> (tensor<3x4x4xf32>, tensor<3x4xf32>)
  return
}

// -----

func.func @tridiagonal_type(%d: tensor<3x5xf64>, %a: tensor<3x5x4xf32>) {
  // expected-error @+1 {{'dtensor.tridiagonal_solve' op violates constraint C1}}
  %0 = dtensor.tridiagonal_solve %d, %d, %d, %a : (tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5x4xf32>) -> tensor<3x5x4xf32>
  return
}

// -----

func.func @tridiagonal_sizes(%d: tensor<3x4xf32>, %a: tensor<3x5x4xf32>) {
  // expected-error @+1 {{'dtensor.tridiagonal_solve' op violates constraint C2}}
  %0 = dtensor.tridiagonal_solve %d, %d, %d, %a : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x5x4xf32>) -> tensor<3x5x4xf32>
  return
}

// -----

func.func @tridiagonal_result(%d: tensor<3x5xf32>, %a: tensor<3x5x4xf32>) {
  // expected-error @+1 {{'dtensor.tridiagonal_solve' op violates constraint C3}}
  %0 = dtensor.tridiagonal_solve %d, %d, %d, %a : (tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5x4xf32>) -> tensor<3x4x5xf32>
  return
}
