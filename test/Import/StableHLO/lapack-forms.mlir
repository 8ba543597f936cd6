// LAPACK's calls as JAX wrote them in 2023 and 2024: options and sizes as operands, scratch memory as results, and at first tuples of all.
// RUN: mesh-opt %s --stablehlo-to-dtensor --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @cholesky
// CHECK: dtensor.cholesky %{{.*}} {lower}
func.func @cholesky(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>) {
  %lower = stablehlo.constant dense<1> : tensor<i32>
  %batch = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<4> : tensor<i32>
  %0:2 = stablehlo.custom_call @lapack_spotrf(%lower, %batch, %n, %a) {api_version = 2 : i32} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>)
  return %0#0, %0#1 : tensor<4x4xf32>, tensor<i32>
}

// -----

// A flag may be computed; info of what never fails is 0.
// CHECK-LABEL: @qr
// CHECK: %[[QR:.*]], %[[TAUS:.*]] = dtensor.geqrf
// CHECK: dtensor.householder_product %[[QR]], %[[TAUS]]
func.func @qr(%a: tensor<5x3xcomplex<f32>>) -> (tensor<5x3xcomplex<f32>>, tensor<i32>) {
  %b = stablehlo.constant dense<1> : tensor<i32>
  %m = stablehlo.constant dense<5> : tensor<i64>
  %m32 = stablehlo.convert %m : (tensor<i64>) -> tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %work = stablehlo.constant dense<96> : tensor<i32>
  %0 = stablehlo.custom_call @lapack_cgeqrf(%b, %m32, %n, %work, %a) {api_version = 2 : i32, operand_layouts = [dense<> : tensor<0xindex>, dense<> : tensor<0xindex>, dense<> : tensor<0xindex>, dense<> : tensor<0xindex>, dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>, dense<0> : tensor<1xindex>]} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<5x3xcomplex<f32>>) -> tuple<tensor<5x3xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<i32>, tensor<96xcomplex<f32>>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<5x3xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<i32>, tensor<96xcomplex<f32>>>) -> tensor<5x3xcomplex<f32>>
  %2 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<5x3xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<i32>, tensor<96xcomplex<f32>>>) -> tensor<3xcomplex<f32>>
  %3 = stablehlo.get_tuple_element %0[2] : (tuple<tensor<5x3xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<i32>, tensor<96xcomplex<f32>>>) -> tensor<i32>
  %4:3 = stablehlo.custom_call @lapack_cungqr(%b, %m32, %n, %n, %work, %1, %2) {api_version = 2 : i32} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<5x3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> (tensor<5x3xcomplex<f32>>, tensor<i32>, tensor<96xcomplex<f32>>)
  return %4#0, %3 : tensor<5x3xcomplex<f32>>, tensor<i32>
}

// -----

// CHECK-LABEL: @decompositions
// CHECK: dtensor.lu
// CHECK: dtensor.eigh %{{.*}} : (tensor<4x4xf32>)
// CHECK: dtensor.svd %{{.*}} {full_matrices}
// CHECK: dtensor.svd %{{.*}} : (tensor<4x4xf32>)
// CHECK: dtensor.eig
// CHECK: dtensor.schur
// CHECK: dtensor.hessenberg
func.func @decompositions(%a: tensor<4x4xf32>) -> (tensor<4xi32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<3xf32>) {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.constant dense<1> : tensor<i32>
  %4 = stablehlo.constant dense<4> : tensor<i32>
  %w = stablehlo.constant dense<64> : tensor<i32>
  %N = stablehlo.constant dense<78> : tensor<ui8>
  %V = stablehlo.constant dense<86> : tensor<ui8>
  %lu:3 = stablehlo.custom_call @lapack_sgetrf(%1, %4, %4, %a) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xi32>, tensor<i32>)
  %eigh:5 = stablehlo.custom_call @lapack_ssyevd(%0, %1, %4, %a) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<i32>, tensor<64xf32>, tensor<23xi32>)
  %svd:7 = stablehlo.custom_call @lapack_sgesdd(%1, %1, %1, %4, %4, %w, %a) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<i32>, tensor<32xi32>, tensor<64xf32>)
  %values:7 = stablehlo.custom_call @lapack_sgesdd(%0, %0, %1, %4, %4, %w, %a) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<i32>, tensor<32xi32>, tensor<64xf32>)
  %eig:8 = stablehlo.custom_call @lapack_sgeev(%1, %4, %N, %V, %a) : (tensor<i32>, tensor<i32>, tensor<ui8>, tensor<ui8>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>, tensor<i32>)
  %schur:6 = stablehlo.custom_call @lapack_sgees(%1, %4, %V, %N, %a) : (tensor<i32>, tensor<i32>, tensor<ui8>, tensor<ui8>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<i32>, tensor<i32>)
  %h:4 = stablehlo.custom_call @lapack_sgehrd(%4, %1, %4, %4, %1, %w, %a) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<3xf32>, tensor<i32>, tensor<64xf32>)
  return %lu#1, %eigh#1, %svd#2, %values#1, %eig#3, %schur#3, %h#1 : tensor<4xi32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<3xf32>
}

// -----

func.func @option(%a: tensor<4x4xf32>, %lower: tensor<i32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{operand #0 of custom call 'lapack_spotrf' must be a constant: the results depend on it}}
  %0:2 = stablehlo.custom_call @lapack_spotrf(%lower, %lower, %lower, %a) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>)
  return %0#0 : tensor<4x4xf32>
}

// -----

func.func @scratch(%a: tensor<4x4xf32>) -> tensor<96xf32> {
  %n = stablehlo.constant dense<4> : tensor<i32>
  // expected-error @+1 {{result 3 of custom call 'lapack_sgeqrf' is scratch memory, but is used}}
  %0:4 = stablehlo.custom_call @lapack_sgeqrf(%n, %n, %n, %n, %a) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<i32>, tensor<96xf32>)
  return %0#3 : tensor<96xf32>
}

// -----

// Columns that come first are an operand.
// CHECK-LABEL: @leading_columns
// CHECK: dtensor.pivoted_qr %{{.*}} leading %{{.*}} : (tensor<4x4xf32>, tensor<4xi32>)
func.func @leading_columns(%a: tensor<4x4xf32>, %p: tensor<4xi32>) -> tensor<4x4xf32> {
  %0:3 = stablehlo.custom_call @lapack_sgeqp3_ffi(%a, %p) {mhlo.backend_config = {}} : (tensor<4x4xf32>, tensor<4xi32>) -> (tensor<4x4xf32>, tensor<4xi32>, tensor<4xf32>)
  return %0#0 : tensor<4x4xf32>
}

// -----

func.func @part(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{custom call 'lapack_sgehrd_ffi' of a part of the matrix is not supported: 'low' must be 1 and 'high' 4}}
  %0:3 = stablehlo.custom_call @lapack_sgehrd_ffi(%a) {mhlo.backend_config = {low = 2 : i32, high = 4 : i32}} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<3xf32>, tensor<i32>)
  return %0#0 : tensor<4x4xf32>
}

// -----

// Calls that XLA expands gave tuples too, and lists of dims were elements.
// CHECK-LABEL: @tuples
// CHECK: dtensor.lu
// CHECK: dtensor.transpose %{{.*}} dims [1, 0]
// CHECK: dtensor.reverse %{{.*}} dims [0]
func.func @tuples(%a: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xi32>) {
  %0 = stablehlo.custom_call @LuDecomposition(%a) : (tensor<3x3xf32>) -> tuple<tensor<3x3xf32>, tensor<3xi32>, tensor<3xi32>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<3x3xf32>, tensor<3xi32>, tensor<3xi32>>) -> tensor<3x3xf32>
  %2 = stablehlo.get_tuple_element %0[2] : (tuple<tensor<3x3xf32>, tensor<3xi32>, tensor<3xi32>>) -> tensor<3xi32>
  %3 = "stablehlo.transpose"(%1) {permutation = dense<[1, 0]> : tensor<2xi64>} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %4 = "stablehlo.reverse"(%2) {dimensions = dense<0> : tensor<1xi64>} : (tensor<3xi32>) -> tensor<3xi32>
  return %3, %4 : tensor<3x3xf32>, tensor<3xi32>
}
