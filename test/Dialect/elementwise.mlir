// RUN: mesh-opt %s | mesh-opt | FileCheck %s
// Elementwise ops are read and printed, with one type where all are the same.

#mesh = #dtensor.mesh<x = 2, y = 4>
#rows = #dtensor.layout<#mesh, [x, *]>
#grid = #dtensor.layout<#mesh, [x, y]>

// CHECK-LABEL: func.func @unary
// CHECK-SAME: tensor<8x4xf32, #layout_x_u>
func.func @unary(%x: tensor<8x4xf32>, %l: tensor<8x4xf32, #rows>, %b: tensor<3xi1>) -> tensor<8x4xf32> {
  // CHECK-NEXT: dtensor.abs %{{.*}} : tensor<8x4xf32>
  %0 = dtensor.abs %x : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.negate
  %1 = dtensor.negate %0 : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.sign
  %2 = dtensor.sign %1 : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.exp %
  %3 = dtensor.exp %2 : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.expm1
  %4 = dtensor.expm1 %3 : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.log %
  %5 = dtensor.log %4 : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.log1p
  %6 = dtensor.log1p %5 : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.sqrt
  %7 = dtensor.sqrt %6 : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.rsqrt
  %8 = dtensor.rsqrt %7 : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.cbrt
  %9 = dtensor.cbrt %8 : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.tanh
  %10 = dtensor.tanh %9 : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.logistic
  %11 = dtensor.logistic %10 : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.sine
  %12 = dtensor.sine %11 : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.cosine
  %13 = dtensor.cosine %12 : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.erf
  %14 = dtensor.erf %13 : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.floor
  %15 = dtensor.floor %14 : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.ceil
  %16 = dtensor.ceil %15 : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.round
  %17 = dtensor.round %16 : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.not %{{.*}} : tensor<3xi1>
  %18 = dtensor.not %b : tensor<3xi1>
  // CHECK-NEXT: dtensor.is_finite %{{.*}} : (tensor<8x4xf32>) -> tensor<8x4xi1>
  %19 = dtensor.is_finite %17 : (tensor<8x4xf32>) -> tensor<8x4xi1>
  // A layout is part of the type, so types may differ.
  // CHECK-NEXT: dtensor.exp %{{.*}} : (tensor<8x4xf32, #layout_x_u>) -> tensor<8x4xf32>
  %20 = dtensor.exp %l : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32>
  // CHECK-NEXT: dtensor.exp %{{.*}} : tensor<8x4xf32, #layout_x_u>
  %21 = dtensor.exp %l : tensor<8x4xf32, #rows>
  return %17 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @binary
func.func @binary(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>, %i: tensor<8x4xi32>, %l: tensor<8x4xf32, #grid>) {
  // CHECK-NEXT: dtensor.add %{{.*}}, %{{.*}} : tensor<8x4xf32>
  %0 = dtensor.add %a, %b : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.subtract
  %1 = dtensor.subtract %a, %b : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.multiply
  %2 = dtensor.multiply %a, %b : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.divide
  %3 = dtensor.divide %a, %b : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.remainder
  %4 = dtensor.remainder %a, %b : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.power
  %5 = dtensor.power %a, %b : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.maximum
  %6 = dtensor.maximum %a, %b : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.minimum
  %7 = dtensor.minimum %a, %b : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.and %{{.*}} : tensor<8x4xi32>
  %8 = dtensor.and %i, %i : tensor<8x4xi32>
  // CHECK-NEXT: dtensor.or
  %9 = dtensor.or %i, %i : tensor<8x4xi32>
  // CHECK-NEXT: dtensor.xor
  %10 = dtensor.xor %i, %i : tensor<8x4xi32>
  // CHECK-NEXT: dtensor.add %{{.*}}, %{{.*}} : (tensor<8x4xf32>, tensor<8x4xf32, #layout_x_y>) -> tensor<8x4xf32>
  %11 = dtensor.add %a, %l : (tensor<8x4xf32>, tensor<8x4xf32, #grid>) -> tensor<8x4xf32>
  return
}

// CHECK-LABEL: func.func @others
func.func @others(%a: tensor<8x4xf32>, %s: tensor<f32>, %q: tensor<i1>) -> tensor<8x4xbf16> {
  // CHECK-NEXT: dtensor.compare LT, %{{.*}}, %{{.*}} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xi1>
  %0 = dtensor.compare LT, %a, %a : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xi1>
  // CHECK-NEXT: dtensor.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<8x4xi1>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = dtensor.select %0, %a, %a : (tensor<8x4xi1>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK-NEXT: dtensor.select %{{.*}} : (tensor<i1>,
  %2 = dtensor.select %q, %a, %a : (tensor<i1>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK-NEXT: dtensor.clamp %{{.*}}, %{{.*}}, %{{.*}} : (tensor<f32>, tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  %3 = dtensor.clamp %s, %a, %s : (tensor<f32>, tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  // CHECK-NEXT: dtensor.convert %{{.*}} : (tensor<8x4xf32>) -> tensor<8x4xbf16>
  %4 = dtensor.convert %3 : (tensor<8x4xf32>) -> tensor<8x4xbf16>
  return %4 : tensor<8x4xbf16>
}
