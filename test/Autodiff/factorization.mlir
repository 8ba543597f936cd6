// The gradient of Q goes past the reflections that Q is made of: one
// triangular equation with R, no loop, nothing factorized again.
// RUN: mesh-opt %s --dtensor-gradient | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: %[[PACKED:.*]], %{{.*}} = dtensor.geqrf
// CHECK: %[[Q:.*]] = dtensor.householder_product
// CHECK-NOT: dtensor.householder_product
// CHECK-NOT: dtensor.while
// CHECK: %[[R:.*]] = dtensor.slice %[[PACKED]] [0:3, 0:3]
// CHECK: dtensor.dot_general %[[Q]], %{{.*}}
// CHECK: dtensor.triangular_solve %[[R]], %{{.*}} {transpose_a = "TRANSPOSE"}
// CHECK-NOT: dtensor.triangular_solve
// CHECK: return
func.func @main(%a: tensor<5x3xf32>) -> tensor<f32> {
  %f, %t = dtensor.geqrf %a : (tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>)
  %q = dtensor.householder_product %f, %t : (tensor<5x3xf32>, tensor<3xf32>) -> tensor<5x3xf32>
  %s = dtensor.sine %q : tensor<5x3xf32>
  %l = dtensor.reduce sum %s dims [0, 1] : (tensor<5x3xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
