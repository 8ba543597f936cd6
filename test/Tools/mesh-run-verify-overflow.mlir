// Sums and products whose value is finite, and overflow in some order of their terms.
// RUN: mesh-run %s --function=products --verify | FileCheck %s --check-prefix=PRODUCTS
// RUN: mesh-run %s --function=products --verify --machine=ring | FileCheck %s --check-prefix=PRODUCTS
// RUN: mesh-run %s --function=products --verify --private-memories | FileCheck %s --check-prefix=PRODUCTS
// RUN: mesh-run %s --function=products --verify --machine=ring-latency --private-memories | FileCheck %s --check-prefix=PRODUCTS
// RUN: mesh-run %s --function=products --verify --deterministic | FileCheck %s --check-prefix=PRODUCTS
// RUN: mesh-run %s --function=products --verify --platform=cpu:processes=2 | FileCheck %s --check-prefix=PRODUCTS
// Products are multiplied in f64: a 0 among factors of which others overflow makes them 0.
// PRODUCTS: result 0 f32[] [] [0]
// PRODUCTS: result 1 f32[] [] [0]
// PRODUCTS: result 2 bf16[] [] [0]
// PRODUCTS: result 3 complex<f32>[] [] [0{{.*}}]
// PRODUCTS: verify result 3 {{.*}}: ok

// What a device's own part overflows to is lost: --verify says so, and does not call it wrong.
// (Interpreted kernels add f32 numbers in f64, where nothing overflows here. Blocks are
// worth their while on 16 cores, if phases cost little.)
// RUN: echo '{"preset": "shared-memory", "workers": 16, "phase_boundary_ps": 1000}' > %t.json
// Kernels that are compiled are not those that an earlier run has interpreted.
// RUN: mesh-run %s --function=sums --machine=%t.json > %t.interpreted
// RUN: env MESHLOOM_INTERPRET_KERNELS=0 mesh-run %s --function=sums --verify --machine=%t.json | FileCheck %s --check-prefixes=SUMS,BLOCKS
// RUN: env MESHLOOM_INTERPRET_KERNELS=0 mesh-run %s --function=sums --verify --machine=ring --private-memories | FileCheck %s --check-prefix=SUMS
// SUMS: verify result 0 f32[2]: {{.*}}1 of 2 elements is not finite, as something overflows on the way: ok
// SUMS: verify result 1 f32[2]: {{.*}}: ok
// BLOCKS: verify result 2 f32[2, 8]: {{.*}} not finite, as something overflows on the way: ok
#mesh = #dtensor.mesh<a = 4>
#cut = #dtensor.layout<#mesh, [a]>
#columns = #dtensor.layout<#mesh, [*, a]>
func.func @products() -> (tensor<f32>, tensor<f32>, tensor<bf16>, tensor<complex<f32>>) {
  %0 = dtensor.iota dim 0 : tensor<64xf32>
  %1 = dtensor.relayout %0 : (tensor<64xf32>) -> tensor<64xf32, #cut>
  %2 = dtensor.reduce prod %1 dims [0] : (tensor<64xf32, #cut>) -> tensor<f32>
  %3 = dtensor.reduce prod %0 dims [0] : (tensor<64xf32>) -> tensor<f32>
  %4 = dtensor.convert %1 : (tensor<64xf32, #cut>) -> tensor<64xbf16>
  %5 = dtensor.reduce prod %4 dims [0] : (tensor<64xbf16>) -> tensor<bf16>
  %6 = dtensor.complex %1, %1 : (tensor<64xf32, #cut>, tensor<64xf32, #cut>) -> tensor<64xcomplex<f32>>
  %7 = dtensor.reduce prod %6 dims [0] : (tensor<64xcomplex<f32>>) -> tensor<complex<f32>>
  return %2, %3, %5, %7 : tensor<f32>, tensor<f32>, tensor<bf16>, tensor<complex<f32>>
}
func.func @sums() -> (tensor<2xf32>, tensor<2xf32>, tensor<2x8xf32>) {
  %0 = dtensor.constant dense<[[3.0e38, 3.0e38, -3.0e38, -3.0e38, 3.0e38, 3.0e38, -3.0e38, -3.0e38], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]]> : tensor<2x8xf32>
  %1 = dtensor.relayout %0 : (tensor<2x8xf32>) -> tensor<2x8xf32, #columns>
  %2 = dtensor.reduce sum %1 dims [1] : (tensor<2x8xf32, #columns>) -> tensor<2xf32>
  %3 = dtensor.constant dense<[[0.0, 1.0, 1.0e30, 1.0e30, 1.0e30, 1.0e30, 1.0e30, 1.0e30], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]]> : tensor<2x8xf32>
  %4 = dtensor.relayout %3 : (tensor<2x8xf32>) -> tensor<2x8xf32, #columns>
  %5 = dtensor.reduce prod %4 dims [1] : (tensor<2x8xf32, #columns>) -> tensor<2xf32>
  %6 = dtensor.cumulative prod %4 dim 1 : (tensor<2x8xf32, #columns>) -> tensor<2x8xf32>
  return %2, %5, %6 : tensor<2xf32>, tensor<2xf32>, tensor<2x8xf32>
}
