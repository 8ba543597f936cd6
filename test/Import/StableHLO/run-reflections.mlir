// Pivoted QR, Hessenberg and tridiagonal forms and products with Q: the numbers of JAX 0.10.2, with the batch cut and nothing sent.
// RUN: mesh-run %s --function=pivoted --verify | FileCheck %s --check-prefix=PIVOTED
// RUN: mesh-run %s --function=leading_columns --verify | FileCheck %s --check-prefix=LEADING
// RUN: mesh-run %s --function=eigenvalues | FileCheck %s --check-prefix=EIGENVALUES
// RUN: mesh-run %s --function=hessenberg --verify --private-memories | FileCheck %s --check-prefix=HESSENBERG
// RUN: mesh-run %s --function=tridiagonal --verify | FileCheck %s --check-prefix=TRIDIAGONAL
// RUN: mesh-run %s --function=products --verify --explain | FileCheck %s --check-prefix=PRODUCTS
module {
  sdy.mesh @mesh = <["x"=2]>
  // PIVOTED: result 0 {{.*}} [1, 4, 3, 2, 3, 2, ...
  // PIVOTED: result 1 {{.*}} [5, 2.27156, 2.009{{.*}}, 1.62{{.*}}, 11.8322, 5, ...
  func.func public @pivoted() -> (tensor<2x4xi32>, tensor<2x4xf32>) {
    %a = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} dense<[[[4.0, 1.0, -2.0, 2.0], [1.0, 2.0, 0.0, 1.0], [-2.0, 0.0, 3.0, -2.0], [2.0, 1.0, -2.0, -1.0]], [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 1.0], [2.0, 4.0, 1.0, 3.0], [7.0, 2.0, 9.0, 5.0]]]> : tensor<2x4x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %free = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x4xi32>
    %0:3 = stablehlo.custom_call @lapack_sgeqp3_ffi(%a, %free) {mhlo.backend_config = {}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x4x4xf32>, tensor<2x4xi32>) -> (tensor<2x4x4xf32>, tensor<2x4xi32>, tensor<2x4xf32>)
    %row = stablehlo.iota dim = 1 : tensor<2x4x4xf32>
    %column = stablehlo.iota dim = 2 : tensor<2x4x4xf32>
    %on = stablehlo.compare EQ, %row, %column : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xi1>
    %z = stablehlo.constant dense<0.0> : tensor<2x4x4xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = stablehlo.abs %0#0 : tensor<2x4x4xf32>
    %2 = stablehlo.select %on, %1, %z : tensor<2x4x4xi1>, tensor<2x4x4xf32>
    %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    return %0#1, %3 : tensor<2x4xi32>, tensor<2x4xf32>
  }
  // Column 3 of the first matrix, and columns 2 and 4 of the second come first.
  // LEADING: result 0 {{.*}} [3, 4, 1, 2, 2, 4, ...
  // LEADING: result 1 {{.*}} [4.12311, 2.497{{.*}}, 2.217, 1.62{{.*}}, 7.74597, 5.422{{.*}}, ...
  func.func public @leading_columns() -> (tensor<2x4xi32>, tensor<2x4xf32>) {
    %a = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} dense<[[[4.0, 1.0, -2.0, 2.0], [1.0, 2.0, 0.0, 1.0], [-2.0, 0.0, 3.0, -2.0], [2.0, 1.0, -2.0, -1.0]], [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 1.0], [2.0, 4.0, 1.0, 3.0], [7.0, 2.0, 9.0, 5.0]]]> : tensor<2x4x4xf32>
    %leading = stablehlo.constant dense<[[0, 0, 1, 0], [0, 7, 0, 3]]> : tensor<2x4xi32>
    %0:3 = stablehlo.custom_call @lapack_sgeqp3_ffi(%a, %leading) {mhlo.backend_config = {}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x4x4xf32>, tensor<2x4xi32>) -> (tensor<2x4x4xf32>, tensor<2x4xi32>, tensor<2x4xf32>)
    %row = stablehlo.iota dim = 1 : tensor<2x4x4xf32>
    %column = stablehlo.iota dim = 2 : tensor<2x4x4xf32>
    %on = stablehlo.compare EQ, %row, %column : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xi1>
    %z = stablehlo.constant dense<0.0> : tensor<2x4x4xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = stablehlo.abs %0#0 : tensor<2x4x4xf32>
    %2 = stablehlo.select %on, %1, %z : tensor<2x4x4xi1>, tensor<2x4x4xf32>
    %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    return %0#1, %3 : tensor<2x4xi32>, tensor<2x4xf32>
  }
  // LAPACK's order: that of the diagonal, where the matrix is triangular already.
  // EIGENVALUES: result 0 {{.*}} [5, 1, 3]
  // EIGENVALUES: result 1 {{.*}} [5, 0, 0, 2, 1, 0, ...
  func.func public @eigenvalues() -> (tensor<3xf32>, tensor<3x3xf32>) {
    %a = stablehlo.constant dense<[[5.0, 2.0, 4.0], [0.0, 1.0, 7.0], [0.0, 0.0, 3.0]]> : tensor<3x3xf32>
    %0:5 = stablehlo.custom_call @lapack_sgeev_ffi(%a) {mhlo.backend_config = {compute_left = 78 : ui8, compute_right = 78 : ui8}} : (tensor<3x3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>, tensor<i32>)
    %1:6 = stablehlo.custom_call @lapack_sgees_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, sort = 78 : ui8}} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<i32>, tensor<i32>)
    %2 = stablehlo.transpose %1#0, dims = [1, 0] : (tensor<3x3xf32>) -> tensor<3x3xf32>
    return %0#0, %2 : tensor<3xf32>, tensor<3x3xf32>
  }
  // HESSENBERG: result 0 {{.*}} [4, -3, {{.*}}, -3, 3.33333, ...
  // HESSENBERG: result 1 {{.*}} [1.33333, 1.6, {{.*}}, 1.56614, 1.94{{.*}}]
  func.func public @hessenberg() -> (tensor<2x4x4xf32>, tensor<2x3xf32>) {
    %a = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} dense<[[[4.0, 1.0, -2.0, 2.0], [1.0, 2.0, 0.0, 1.0], [-2.0, 0.0, 3.0, -2.0], [2.0, 1.0, -2.0, -1.0]], [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 1.0], [2.0, 4.0, 1.0, 3.0], [7.0, 2.0, 9.0, 5.0]]]> : tensor<2x4x4xf32>
    %0:3 = stablehlo.custom_call @lapack_sgehrd_ffi(%a) {mhlo.backend_config = {high = 4 : i32, low = 1 : i32}} : (tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<2x3xf32>, tensor<2xi32>)
    return %0#0, %0#1 : tensor<2x4x4xf32>, tensor<2x3xf32>
  }
  // Of the lower triangle, then of the upper one.
  // TRIDIAGONAL: result 0 {{.*}} [4, 3.33333, -1.32, 1.98667, 1, 11.16{{.*}}, ...
  // TRIDIAGONAL: result 1 {{.*}} [-3, -1.66667, 0.90{{.*}}, -8.83176, 7.31{{.*}}, -1.55{{.*}}]
  // TRIDIAGONAL: result 2 {{.*}} [2.26{{.*}}, 1.18{{.*}}, 5.55{{.*}}, -1, -3.67{{.*}}, 5.48{{.*}}, ...
  // TRIDIAGONAL: result 3 {{.*}} [-0.09{{.*}}, 0.89{{.*}}, 3, 1.99{{.*}}, 6.00{{.*}}, -5.09902]
  func.func public @tridiagonal() -> (tensor<2x4xf32>, tensor<2x3xf32>, tensor<2x4xf32>, tensor<2x3xf32>) {
    %a = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} dense<[[[4.0, 1.0, -2.0, 2.0], [1.0, 2.0, 0.0, 1.0], [-2.0, 0.0, 3.0, -2.0], [2.0, 1.0, -2.0, -1.0]], [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 1.0], [2.0, 4.0, 1.0, 3.0], [7.0, 2.0, 9.0, 5.0]]]> : tensor<2x4x4xf32>
    %0:5 = stablehlo.custom_call @lapack_ssytrd_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<2x4xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xi32>)
    %1:5 = stablehlo.custom_call @lapack_ssytrd_ffi(%a) {mhlo.backend_config = {uplo = 85 : ui8}} : (tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<2x4xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xi32>)
    return %0#1, %0#2, %1#1, %1#2 : tensor<2x4xf32>, tensor<2x3xf32>, tensor<2x4xf32>, tensor<2x3xf32>
  }
  // Q^H of three reflections times the first columns is R's; A Q^H Q is A.
  // PRODUCTS: 0 collectives
  // PRODUCTS: result 0 {{.*}} [-5, -1.6, {{.*}}, -1.8547{{.*}}, ...
  // PRODUCTS: result 1 {{.*}} [4, 1, -2, 2, 1, 2, ...
  func.func public @products() -> (tensor<2x4x2xf32>, tensor<2x4x4xf32>) {
    %a = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} dense<[[[4.0, 1.0, -2.0, 2.0], [1.0, 2.0, 0.0, 1.0], [-2.0, 0.0, 3.0, -2.0], [2.0, 1.0, -2.0, -1.0]], [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 1.0], [2.0, 4.0, 1.0, 3.0], [7.0, 2.0, 9.0, 5.0]]]> : tensor<2x4x4xf32>
    %0:2 = stablehlo.custom_call @lapack_sgeqrf_ffi(%a) {mhlo.backend_config = {}} : (tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<2x4xf32>)
    %1 = stablehlo.slice %0#0 [0:2, 0:4, 0:3] : (tensor<2x4x4xf32>) -> tensor<2x4x3xf32>
    %2 = stablehlo.slice %0#1 [0:2, 0:3] : (tensor<2x4xf32>) -> tensor<2x3xf32>
    %3 = stablehlo.slice %a [0:2, 0:4, 0:2] : (tensor<2x4x4xf32>) -> tensor<2x4x2xf32>
    %4 = stablehlo.custom_call @lapack_sormqr_ffi(%1, %2, %3) {mhlo.backend_config = {left = true, transpose = true}} : (tensor<2x4x3xf32>, tensor<2x3xf32>, tensor<2x4x2xf32>) -> tensor<2x4x2xf32>
    %5 = stablehlo.custom_call @lapack_sormqr_ffi(%0#0, %0#1, %a) {mhlo.backend_config = {left = false, transpose = true}} : (tensor<2x4x4xf32>, tensor<2x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    %6 = stablehlo.custom_call @lapack_sormqr_ffi(%0#0, %0#1, %5) {mhlo.backend_config = {left = false, transpose = false}} : (tensor<2x4x4xf32>, tensor<2x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    return %4, %6 : tensor<2x4x2xf32>, tensor<2x4x4xf32>
  }
}
