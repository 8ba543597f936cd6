// Reductions by a function keep the order of elements, which XLA's own do not on
// GPUs: pairs of neighbours where the function is associative (of 5, 2 and a rest,
// then 1 and a rest, then all), a loop where it is not. Dims that are reduced come
// last, in order.
// RUN: mesh-opt %s --target=stablehlo | FileCheck %s
#mesh = #dtensor.mesh<x = 2>
#cube = #dtensor.layout<#mesh, [*, x, *]>
#line = #dtensor.layout<#mesh, [x]>
#one = #dtensor.layout<#mesh, []>

// CHECK-NOT: "stablehlo.reduce"
// CHECK: "stablehlo.transpose"{{.*}}permutation = array<i64: 1, 0, 2>
// CHECK: "stablehlo.reshape"{{.*}} -> tensor<3x5xf32>
// CHECK: "stablehlo.map"{{.*}}
// CHECK: (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
// CHECK: "stablehlo.concatenate"{{.*}} -> tensor<3x3xf32>
// CHECK: "stablehlo.map"
// CHECK: (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
// CHECK: "stablehlo.concatenate"{{.*}} -> tensor<3x2xf32>
// CHECK: "stablehlo.map"
// CHECK: (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
// The init value comes first.
// CHECK: "stablehlo.map"
// CHECK: (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK: "stablehlo.while"
// CHECK: "stablehlo.dynamic_slice"
// CHECK: "stablehlo.map"
// CHECK-NOT: "stablehlo.reduce"
func.func @main(%a: tensor<5x6x1xf32, #cube>, %z: tensor<f32, #one>) -> (tensor<6xf32, #line>, tensor<6xf32, #line>) {
  %0 = dtensor.generic_reduce %a from %z dims [2, 0] {dtensor.associative} : (tensor<5x6x1xf32, #cube>, tensor<f32, #one>) -> tensor<6xf32, #line> {
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %m = dtensor.maximum %l, %r : tensor<f32>
    dtensor.yield %m : tensor<f32>
  }
  %1 = dtensor.generic_reduce %a from %z dims [0, 2] : (tensor<5x6x1xf32, #cube>, tensor<f32, #one>) -> tensor<6xf32, #line> {
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %p = dtensor.multiply %l, %r : tensor<f32>
    %s = dtensor.add %p, %r : tensor<f32>
    dtensor.yield %s : tensor<f32>
  }
  return %0, %1 : tensor<6xf32, #line>, tensor<6xf32, #line>
}
