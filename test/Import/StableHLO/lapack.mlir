// LAPACK's calls as JAX emits them on CPUs, and XLA's own that it emits on TPUs,
// become ops; options and results that those do not have are errors.
// RUN: mesh-opt %s --stablehlo-to-dtensor --split-input-file --verify-diagnostics | FileCheck %s

// Pivots count from 1, and info is where U has the first zero on its diagonal.
// CHECK-LABEL: @getrf
// CHECK: %[[LU:.*]], %[[P:.*]], %{{.*}} = dtensor.lu
// CHECK: dtensor.reduce min
// CHECK: %[[FROM1:.*]] = dtensor.add %[[P]]
// CHECK: return %[[LU]], %[[FROM1]]
func.func @getrf(%a: tensor<3x4x4xf32>) -> (tensor<3x4x4xf32>, tensor<3x4xi32>, tensor<3xi32>) {
  %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) {mhlo.backend_config = {}} : (tensor<3x4x4xf32>) -> (tensor<3x4x4xf32>, tensor<3x4xi32>, tensor<3xi32>)
  return %0#0, %0#1, %0#2 : tensor<3x4x4xf32>, tensor<3x4xi32>, tensor<3xi32>
}

// -----

// CHECK-LABEL: @syevd
// CHECK: dtensor.eigh %{{.*}} {lower}
// CHECK: dtensor.eigh %{{.*}} : (tensor<4x4xcomplex<f64>>)
func.func @syevd(%a: tensor<4x4xf32>, %c: tensor<4x4xcomplex<f64>>) -> (tensor<4xf32>, tensor<4x4xcomplex<f64>>, tensor<i32>) {
  %0:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%a) {mhlo.backend_config = {mode = 78 : ui8, uplo = 76 : ui8}} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<i32>)
  %1:3 = stablehlo.custom_call @lapack_zheevd_ffi(%c) {mhlo.backend_config = {mode = 86 : ui8, uplo = 85 : ui8}} : (tensor<4x4xcomplex<f64>>) -> (tensor<4x4xcomplex<f64>>, tensor<4xf64>, tensor<i32>)
  return %0#1, %1#0, %1#2 : tensor<4xf32>, tensor<4x4xcomplex<f64>>, tensor<i32>
}

// -----

// CHECK-LABEL: @gesdd
// CHECK: dtensor.svd %{{.*}} {full_matrices} : (tensor<6x4xf32>) -> (tensor<6x6xf32>, tensor<4xf32>, tensor<4x4xf32>)
// CHECK: dtensor.svd %{{.*}} : (tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<4xf32>, tensor<4x4xf32>)
// CHECK: dtensor.svd %{{.*}} : (tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<4xf32>, tensor<4x4xf32>)
func.func @gesdd(%a: tensor<6x4xf32>) -> (tensor<6x6xf32>, tensor<6x4xf32>, tensor<4xf32>) {
  %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 65 : ui8}} : (tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<4xf32>, tensor<6x6xf32>, tensor<4x4xf32>, tensor<i32>)
  %1:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 83 : ui8}} : (tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<4xf32>, tensor<6x4xf32>, tensor<4x4xf32>, tensor<i32>)
  %2:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 78 : ui8}} : (tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<4xf32>, tensor<6x6xf32>, tensor<4x4xf32>, tensor<i32>)
  return %0#2, %1#2, %2#1 : tensor<6x6xf32>, tensor<6x4xf32>, tensor<4xf32>
}

// -----

// Real matrices' eigenvalues come in two parts. The left eigenvectors are a
// decomposition of their own, whose order is the same.
// CHECK-LABEL: @geev
// CHECK: %[[W:.*]], %[[V:.*]] = dtensor.eig %{{.*}} {lapack_order} : (tensor<4x4xf32>)
// CHECK: dtensor.real %[[W]]
// CHECK: dtensor.imag %[[W]]
// CHECK: dtensor.eig %{{.*}} {lapack_order, left} : (tensor<4x4xf32>)
// CHECK: dtensor.eig %{{.*}} {lapack_order} : (tensor<4x4xcomplex<f64>>)
func.func @geev(%a: tensor<4x4xf32>, %c: tensor<4x4xcomplex<f64>>) -> (tensor<4xf32>, tensor<4x4xcomplex<f32>>, tensor<4xcomplex<f64>>) {
  %0:5 = stablehlo.custom_call @lapack_sgeev_ffi(%a) {mhlo.backend_config = {compute_left = 86 : ui8, compute_right = 86 : ui8}} : (tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>, tensor<i32>)
  %1:4 = stablehlo.custom_call @lapack_zgeev_ffi(%c) {mhlo.backend_config = {compute_left = 78 : ui8, compute_right = 78 : ui8}} : (tensor<4x4xcomplex<f64>>) -> (tensor<4xcomplex<f64>>, tensor<4x4xcomplex<f64>>, tensor<4x4xcomplex<f64>>, tensor<i32>)
  return %0#1, %0#2, %1#0 : tensor<4xf32>, tensor<4x4xcomplex<f32>>, tensor<4xcomplex<f64>>
}

// -----

// CHECK-LABEL: @gees_gtsv
// CHECK: dtensor.schur %{{.*}} {lapack_order}
// CHECK: dtensor.tridiagonal_solve
func.func @gees_gtsv(%a: tensor<4x4xf32>, %d: tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0:6 = stablehlo.custom_call @lapack_sgees_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, sort = 78 : ui8}} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i32>, tensor<i32>)
  %1:5 = stablehlo.custom_call @lapack_sgtsv_ffi(%d, %d, %d, %a) {mhlo.backend_config = {}} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<i32>)
  return %0#0, %1#3 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: @of_xla
// CHECK: dtensor.eigh %{{.*}} {lower}
// CHECK: dtensor.geqrf
// CHECK: dtensor.lu
// CHECK-NOT: dtensor.add
// CHECK: return
func.func @of_xla(%a: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi32>) {
  %0:2 = stablehlo.custom_call @Eigh(%a) {backend_config = "1,1,15,0.000010"} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  %1:2 = stablehlo.custom_call @QrDecompositionBlock(%a) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  %2:3 = stablehlo.custom_call @LuDecomposition(%a) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xi32>, tensor<4xi32>)
  return %0#1, %1#1, %2#1 : tensor<4xf32>, tensor<4xf32>, tensor<4xi32>
}

// -----

func.func @mode(%a: tensor<6x4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{custom call 'lapack_sgesdd_ffi': 'mode' is 79 (O), expected one of A, S, N}}
  %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 79 : ui8}} : (tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<4xf32>, tensor<6x4xf32>, tensor<4x4xf32>, tensor<i32>)
  return %0#1 : tensor<4xf32>
}

// -----

func.func @uplo(%a: tensor<4x4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{custom call 'lapack_ssyevd_ffi': 'uplo' is 3, expected one of L, U}}
  %0:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%a) {mhlo.backend_config = {uplo = 3 : ui8}} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<i32>)
  return %0#1 : tensor<4xf32>
}

// -----

func.func @scratch(%a: tensor<4x4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{result 1 of custom call 'lapack_sgtsv_ffi' holds nothing that is defined, but is used}}
  %1:5 = stablehlo.custom_call @lapack_sgtsv_ffi(%d, %d, %d, %a) {mhlo.backend_config = {}} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<i32>)
  return %1#1 : tensor<4xf32>
}

// -----

func.func @counts(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{custom call 'lapack_sgetrf_ffi' takes 1 operands and gives 3 results, here 1 and 1}}
  %0 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) {mhlo.backend_config = {}} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @not_square(%a: tensor<6x4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{violates constraint C2: the operand has no square matrices}}
  %0:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<4xf32>, tensor<i32>)
  return %0#1 : tensor<4xf32>
}

// -----

func.func @config(%a: tensor<4x4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{custom call 'Eigh': expected a backend_config that begins with 1 or 0, for the lower or the upper triangle, got ''}}
  %0:2 = stablehlo.custom_call @Eigh(%a) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}

// -----

func.func @integers(%d: tensor<4xi32>, %b: tensor<4x1xi32>) -> tensor<4x1xi32> {
  // expected-error @+1 {{expected three diagonals [..., n], right-hand sides [..., n, k] and solutions like these, of f32, f64 or complex numbers of these}}
  %0 = stablehlo.custom_call @tridiagonal_solve_perturbed_ffi(%d, %d, %d, %b) : (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4x1xi32>) -> tensor<4x1xi32>
  return %0 : tensor<4x1xi32>
}

// -----

func.func @sparse(%values: tensor<6xf32>, %rows: tensor<5xi32>, %columns: tensor<6xi32>, %x: tensor<3xf32>) -> tensor<5xf32> {
  // expected-error @+1 {{takes the values of a sparse matrix, the offsets of its rows and one more, the columns of the values, and a dense matrix or vector, and gives one of as many rows}}
  %0 = stablehlo.custom_call @cpu_csr_sparse_dense_ffi(%values, %rows, %columns, %x) {mhlo.backend_config = {}} : (tensor<6xf32>, tensor<5xi32>, tensor<6xi32>, tensor<3xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
