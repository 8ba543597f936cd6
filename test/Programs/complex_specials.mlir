// What XLA makes of special complex numbers (checked with JAX 0.10): i1 is
// whether the real part is not 0; sign is z / |z| by parts, z where it is 0;
// tan has no limit where only the real part is infinite.
// RUN: %verify
// RUN: mesh-run %s | FileCheck %s
#mesh = #dtensor.mesh<x = 2>
#full = #dtensor.layout<#mesh, [*]>

// CHECK: result 0 i1[6] [*] [false, true, false, false, true, true]
// CHECK: result 1 complex<f32>[6] [*] [nan+nanj, nan+nanj, nan+nanj, nan+nanj, 0+0j, 0.6+0.8j]
// CHECK: result 2 complex<f32>[6] [*] [nan+0j, nan+nanj, 0+nanj, nan+nanj, 0-0j, -1+0j]
// CHECK: result 3 complex<f32>[6] [*] [nan+nanj, nan+nanj, 0+1j, -0+1j, -0-1j, nan+nanj]
// CHECK: result 4 f64[6] [*] [0, nan, nan, nan, 5, inf]
// CHECK: result 5 complex<f64>[6] [*] [nan+nanj, nan+0j, 1+0j, -1+0j, 1+0j, 0-0j]
func.func @main() -> (tensor<6xi1, #full>, tensor<6xcomplex<f32>, #full>, tensor<6xcomplex<f32>, #full>, tensor<6xcomplex<f32>, #full>, tensor<6xf64, #full>, tensor<6xcomplex<f64>, #full>) {
  %a = dtensor.constant dense<[(0.0, 1.0), (1.0, 0.0), (0.0, 0.0), (0.0, 0x7FC00000), (0x7FC00000, 0.0), (0x7FC00000, 1.0)]> : tensor<6xcomplex<f32>, #full>
  %b = dtensor.constant dense<[(0.0, 0x7FC00000), (0x7FC00000, 0.0), (0x7FC00000, 1.0), (1.0, 0x7FC00000), (0.0, 0.0), (3.0, 4.0)]> : tensor<6xcomplex<f32>, #full>
  %c = dtensor.constant dense<[(0x7F800000, 0.0), (0x7F800000, 0x7F800000), (0.0, 0x7F800000), (0x7F800000, 0x7FC00000), (0.0, -0.0), (-2.0, 0.0)]> : tensor<6xcomplex<f32>, #full>
  %d = dtensor.constant dense<[(0xFF800000, 2.0), (0xFF800000, 1.0e20), (0xFF800000, 0x7F800000), (2.0, 0x7F800000), (2.0, 0xFF800000), (0x7FC00000, 100.0)]> : tensor<6xcomplex<f32>, #full>
  %e = dtensor.constant dense<[(0.0, -0.0), (-0.0, 0x7FF8000000000000), (0x7FF8000000000000, 0.0), (0x7FF8000000000000, 1.0), (3.0, -4.0), (0x7FF8000000000000, 0xFFF0000000000000)]> : tensor<6xcomplex<f64>, #full>
  %f = dtensor.constant dense<[(1.0, 0x7FF8000000000000), (0x7FF8000000000000, 0.0), (0x7FF0000000000000, 0x7FF8000000000000), (0xFFF0000000000000, 0x7FF8000000000000), (0x7FF0000000000000, 0x7FF0000000000000), (0.0, -0.0)]> : tensor<6xcomplex<f64>, #full>
  %0 = dtensor.convert %a : (tensor<6xcomplex<f32>, #full>) -> tensor<6xi1, #full>
  %1 = dtensor.sign %b : tensor<6xcomplex<f32>, #full>
  %2 = dtensor.sign %c : tensor<6xcomplex<f32>, #full>
  %3 = dtensor.tan %d : tensor<6xcomplex<f32>, #full>
  %4 = dtensor.abs %e : (tensor<6xcomplex<f64>, #full>) -> tensor<6xf64, #full>
  %5 = dtensor.tanh %f : tensor<6xcomplex<f64>, #full>
  return %0, %1, %2, %3, %4, %5 : tensor<6xi1, #full>, tensor<6xcomplex<f32>, #full>, tensor<6xcomplex<f32>, #full>, tensor<6xcomplex<f32>, #full>, tensor<6xf64, #full>, tensor<6xcomplex<f64>, #full>
}
