// Tridiagonal equations that may be singular, as jax.scipy.linalg.eigh_tridiagonal has them: a pivot of 0 becomes epsilon times the largest number
// of the factors, with its sign. What is expected is what JAX computes.
// RUN: mesh-run %s --verify --machine=ring | FileCheck %s
// RUN: mesh-run %s --private-memories | FileCheck %s
// RUN: mesh-run %s --function=complex --verify | FileCheck %s --check-prefix=COMPLEX
module {
  sdy.mesh @mesh = <["x"=2]>
  // Rows 0 and 2 of the first have no pivot; the second has two singular blocks, of which each exchanges nothing; the third one exchanges its rows.
  // CHECK: result 0 f32[3, 4, 1] {{.*}} [1.04858e+06, 0.25, -1.04858e+06, 0.125, -8.38861e+06, 8.38861e+06, ... 6 more]
  // CHECK: result 1 f32[4, 1] {{.*}} [1, 1, 3, 0.5]
  func.func public @main() -> (tensor<3x4x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, tensor<4x1xf32>) {
    %dl = stablehlo.constant dense<[[0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]]> : tensor<3x4xf32>
    %d = stablehlo.constant dense<[[0.0, 4.0, -0.0, 8.0], [1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0]]> : tensor<3x4xf32>
    %du = stablehlo.constant dense<[[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 2.0, 0.0]]> : tensor<3x4xf32>
    %b = stablehlo.constant dense<[[[1.0], [1.0], [1.0], [1.0]], [[1.0], [2.0], [3.0], [4.0]], [[1.0], [1.0], [1.0], [3.5]]]> : tensor<3x4x1xf32>
    %0 = stablehlo.custom_call @tridiagonal_solve_perturbed_ffi(%dl, %d, %du, %b) {mhlo.frontend_attributes = {num_batch_dims = "1"}} : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4x1xf32>) -> tensor<3x4x1xf32>
    %1 = stablehlo.slice %0 [2:3, 0:4, 0:1] : (tensor<3x4x1xf32>) -> tensor<1x4x1xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x4x1xf32>) -> tensor<4x1xf32>
    return %0, %2 : tensor<3x4x1xf32>, tensor<4x1xf32>
  }
  // Two pivots are not normal numbers: the sign is that of the real part.
  // COMPLEX: result 0 {{.*}} [1.04858e+06+0j, 0-0.25j, -1.04858e+06-0j, 0.125+0j, 0.5-0.5j, 0.5-0.5j, ...
  // COMPLEX: result 1 {{.*}} [0, -0.25, -0, 0, -0.5, -0.5, ...
  func.func public @complex() -> (tensor<2x4x1xcomplex<f32>>, tensor<2x4x1xf32>) {
    %dl = stablehlo.constant dense<[[(0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)], [(0.0, 0.0), (0.0, 1.0), (0.0, 0.0), (1.0, 0.0)]]> : tensor<2x4xcomplex<f32>>
    %d = stablehlo.constant dense<[[(0.0, 0.0), (0.0, 4.0), (-0.0, 1.0e-42), (8.0, 0.0)], [(1.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 0.0)]]> : tensor<2x4xcomplex<f32>>
    %du = stablehlo.constant dense<[[(0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)], [(0.0, 1.0), (0.0, 0.0), (1.0, 0.0), (0.0, 0.0)]]> : tensor<2x4xcomplex<f32>>
    %b = stablehlo.constant dense<(1.0, 0.0)> : tensor<2x4x1xcomplex<f32>>
    %0 = stablehlo.custom_call @tridiagonal_solve_perturbed_ffi(%dl, %d, %du, %b) {mhlo.frontend_attributes = {num_batch_dims = "1"}} : (tensor<2x4xcomplex<f32>>, tensor<2x4xcomplex<f32>>, tensor<2x4xcomplex<f32>>, tensor<2x4x1xcomplex<f32>>) -> tensor<2x4x1xcomplex<f32>>
    %1 = stablehlo.imag %0 : (tensor<2x4x1xcomplex<f32>>) -> tensor<2x4x1xf32>
    return %0, %1 : tensor<2x4x1xcomplex<f32>>, tensor<2x4x1xf32>
  }
}
