// Results are printed and written; what is written can be an input again.
// RUN: rm -rf %t && mesh-run %s --output-dir=%t/first | FileCheck %s
// RUN: mesh-run %s --input=%t/first/result_0.npy --output-dir=%t/second --verify --repeat=3 \
// RUN:   | FileCheck %s --check-prefix=AGAIN
// RUN: mesh-run %s --input=%t/first/result_0.npy --output-dir=%t/private --private-memories --workers=1 --machine=ring
// RUN: cmp %t/second/result_0.npy %t/private/result_0.npy
// The same seed, the same numbers.
// RUN: mesh-run %s --output-dir=%t/third --private-memories --seed=0
// RUN: cmp %t/first/result_0.npy %t/third/result_0.npy
// RUN: mesh-run %s --output-dir=%t/other --seed=1
// RUN: not cmp %t/first/result_0.npy %t/other/result_0.npy
#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>

// CHECK: result 0 ('doubled') f32[6, 2] [x, *] [-2, {{.*}}... 6 more]
// CHECK: result 1 i32[] [] [6]
// AGAIN: result 0 ('doubled') f32[6, 2] [x, *] [-4, {{.*}}... 6 more]
// AGAIN: verify result 0 ('doubled') f32[6, 2]: error {{.*}}, allowed 1.5e-05: ok
// AGAIN: verify result 1 i32[]: error 0, allowed 0: ok
func.func @main(%x: tensor<6x2xf32, #rows> {dtensor.name = "x"})
    -> (tensor<6x2xf32, #rows> {dtensor.name = "doubled"}, tensor<i32>) {
  %0 = dtensor.add %x, %x : tensor<6x2xf32, #rows>
  %1 = dtensor.constant dense<1> : tensor<6xi32>
  %2 = dtensor.reduce sum %1 dims [0] : (tensor<6xi32>) -> tensor<i32>
  return %0, %2 : tensor<6x2xf32, #rows>, tensor<i32>
}
