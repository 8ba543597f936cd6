// The power of a constant exponent is a root, a quotient or products where
// these are as exact, also where a half is widened.
// RUN: mesh-opt %s --spmd-form-kernels | FileCheck %s

#mesh = #dtensor.mesh<x = 2>
#row = #dtensor.layout<#mesh, [x]>
#v = #spmd.shard<[8], #row>

// CHECK-LABEL: func.func @root
// CHECK-NOT: powf
// CHECK: math.sqrt
// CHECK-NOT: powf
func.func @root(%v: tensor<4xf16, #v>) -> tensor<4xf16, #v> {
  %half = dtensor.constant dense<0.5> : tensor<8xf16> -> tensor<4xf16, #v>
  %0 = dtensor.power %v, %half : tensor<4xf16, #v>
  return %0 : tensor<4xf16, #v>
}

// CHECK-LABEL: func.func @cube
// CHECK-NOT: powf
// CHECK-COUNT-2: arith.mulf
func.func @cube(%v: tensor<4xf64, #v>) -> tensor<4xf64, #v> {
  %three = dtensor.constant dense<3.0> : tensor<8xf64> -> tensor<4xf64, #v>
  %0 = dtensor.power %v, %three : tensor<4xf64, #v>
  return %0 : tensor<4xf64, #v>
}

// CHECK-LABEL: func.func @fourth
// CHECK: math.powf
func.func @fourth(%v: tensor<4xf32, #v>) -> tensor<4xf32, #v> {
  %four = dtensor.constant dense<4.0> : tensor<8xf32> -> tensor<4xf32, #v>
  %0 = dtensor.power %v, %four : tensor<4xf32, #v>
  return %0 : tensor<4xf32, #v>
}
