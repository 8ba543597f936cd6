// Behaviour that TensorFlow DTensor's own tests check: random numbers are those
// of the element, whatever device makes it.
// RUN: mesh-opt %s --dtensor-propagate-layouts | FileCheck %s --check-prefix=LAYOUT
// RUN: mesh-opt %s --dtensor-partition='machine=ring refine=false' | FileCheck %s
// RUN: mesh-run %s --function=replicated --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=sharded --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=in_order --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=permuted --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=differ --verify --machine=ring --no-refine --private-memories
// RUN: rm -rf %t
// RUN: mesh-run %s --function=replicated --output-dir=%t/replicated
// RUN: mesh-run %s --function=sharded --output-dir=%t/sharded
// RUN: mesh-run %s --function=in_order --output-dir=%t/in_order
// RUN: mesh-run %s --function=permuted --output-dir=%t/permuted
// RUN: cmp %t/replicated/result_0.npy %t/sharded/result_0.npy
// RUN: cmp %t/replicated/result_0.npy %t/in_order/result_0.npy
// RUN: cmp %t/replicated/result_0.npy %t/permuted/result_0.npy
// RUN: mesh-run %s --function=differ | FileCheck %s --check-prefix=DIFFER
// DIFFER: result 0 i1[] [] [false]

#mesh = #dtensor.mesh<x = 2, y = 4>
#xu = #dtensor.layout<#mesh, [x, *]>
#uu = #dtensor.layout<#mesh, [*, *]>
#all = #dtensor.layout<#mesh, [{x, y}, *]>
#permuted = #dtensor.layout<#mesh, [{y, x}, *]>

// Replicated. (The reference of --verify is not distributed.)
// LAYOUT-LABEL: func.func @replicated(
// LAYOUT: dtensor.rng {{.*}} -> tensor<8x6xui32, #layout_u_u>
// CHECK-LABEL: func.func @replicated(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @replicated() -> tensor<8x6xui32> {
  %seed = dtensor.constant dense<[7, 11]> : tensor<2xui32>
  %0 = dtensor.rng uniform_bits %seed : (tensor<2xui32>) -> tensor<8x6xui32>
  return %0 : tensor<8x6xui32>
}

// Sharded along x, the same along y: the devices of a row make the same
// part, and nothing is sent.
// LAYOUT-LABEL: func.func @sharded(
// LAYOUT: dtensor.rng {{.*}} -> tensor<8x6xui32, #layout_x_u>
// CHECK-LABEL: func.func @sharded(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @sharded() -> tensor<8x6xui32, #xu> {
  %seed = dtensor.constant dense<[7, 11]> : tensor<2xui32>
  %0 = dtensor.rng uniform_bits %seed : (tensor<2xui32>) -> tensor<8x6xui32, #xu>
  return %0 : tensor<8x6xui32, #xu>
}

// The devices in another order.
// CHECK-LABEL: func.func @in_order(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @in_order() -> tensor<8x6xui32, #all> {
  %seed = dtensor.constant dense<[7, 11]> : tensor<2xui32>
  %0 = dtensor.rng uniform_bits %seed : (tensor<2xui32>) -> tensor<8x6xui32, #all>
  return %0 : tensor<8x6xui32, #all>
}
// CHECK-LABEL: func.func @permuted(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @permuted() -> tensor<8x6xui32, #permuted> {
  %seed = dtensor.constant dense<[7, 11]> : tensor<2xui32>
  %0 = dtensor.rng uniform_bits %seed : (tensor<2xui32>) -> tensor<8x6xui32, #permuted>
  return %0 : tensor<8x6xui32, #permuted>
}

// Along x they differ: no element of one half is that of the other.
func.func @differ() -> tensor<i1> {
  %seed = dtensor.constant dense<[7, 11]> : tensor<2xui32>
  %0 = dtensor.rng uniform_bits %seed : (tensor<2xui32>) -> tensor<8x6xui32, #xu>
  %1 = dtensor.slice %0 [0:4, 0:6] : (tensor<8x6xui32, #xu>) -> tensor<4x6xui32>
  %2 = dtensor.slice %0 [4:8, 0:6] : (tensor<8x6xui32, #xu>) -> tensor<4x6xui32>
  %3 = dtensor.compare EQ, %1, %2 : (tensor<4x6xui32>, tensor<4x6xui32>) -> tensor<4x6xi1>
  %4 = dtensor.reduce or %3 dims [0, 1] : (tensor<4x6xi1>) -> tensor<i1>
  return %4 : tensor<i1>
}
