// RUN: mesh-opt %s | mesh-opt | FileCheck %s
// Ops on bits, on complex numbers and between types are read and printed; every
// element type has tensors and constants.

// CHECK-LABEL: func.func @types
func.func @types() -> (tensor<2xf16>, tensor<2xi16>, tensor<2xui16>, tensor<2xui64>, tensor<2xcomplex<f32>>, tensor<2xcomplex<f64>>) {
  // CHECK-NEXT: dense<[1.000000e+00, 6.550400e+04]> : tensor<2xf16>
  %0 = dtensor.constant dense<[1.0, 65504.0]> : tensor<2xf16>
  // CHECK-NEXT: dense<-3> : tensor<2xi16>
  %1 = dtensor.constant dense<-3> : tensor<2xi16>
  // CHECK-NEXT: dense<65535> : tensor<2xui16>
  %2 = dtensor.constant dense<65535> : tensor<2xui16>
  // CHECK-NEXT: dense<18446744073709551615> : tensor<2xui64>
  %3 = dtensor.constant dense<18446744073709551615> : tensor<2xui64>
  // CHECK-NEXT: dense<[(1.000000e+00,-2.000000e+00), (0.000000e+00,3.000000e+00)]> : tensor<2xcomplex<f32>>
  %4 = dtensor.constant dense<[(1.0, -2.0), (0.0, 3.0)]> : tensor<2xcomplex<f32>>
  // CHECK-NEXT: dense<(5.000000e-01,0.000000e+00)> : tensor<2xcomplex<f64>>
  %5 = dtensor.constant dense<(0.5, 0.0)> : tensor<2xcomplex<f64>>
  return %0, %1, %2, %3, %4, %5 : tensor<2xf16>, tensor<2xi16>, tensor<2xui16>, tensor<2xui64>, tensor<2xcomplex<f32>>, tensor<2xcomplex<f64>>
}

// CHECK-LABEL: func.func @bits
func.func @bits(%a: tensor<8x4xi32>, %b: tensor<8x4xi32>, %x: tensor<8x4xf32>) {
  // CHECK-NEXT: dtensor.shift_left %{{.*}}, %{{.*}} : tensor<8x4xi32>
  %0 = dtensor.shift_left %a, %b : tensor<8x4xi32>
  // CHECK-NEXT: dtensor.shift_right_arithmetic %
  %1 = dtensor.shift_right_arithmetic %a, %b : tensor<8x4xi32>
  // CHECK-NEXT: dtensor.shift_right_logical %
  %2 = dtensor.shift_right_logical %a, %b : tensor<8x4xi32>
  // CHECK-NEXT: dtensor.popcnt %
  %3 = dtensor.popcnt %a : tensor<8x4xi32>
  // CHECK-NEXT: dtensor.count_leading_zeros %
  %4 = dtensor.count_leading_zeros %a : tensor<8x4xi32>
  // CHECK-NEXT: dtensor.reduce_precision %{{.*}} exponent 5 mantissa 10 : tensor<8x4xf32>
  %5 = dtensor.reduce_precision %x exponent 5 mantissa 10 : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.round_nearest_afz %
  %6 = dtensor.round_nearest_afz %x : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.tan %
  %7 = dtensor.tan %x : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.atan2 %{{.*}}, %{{.*}} : tensor<8x4xf32>
  %8 = dtensor.atan2 %x, %7 : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.bitcast_convert %{{.*}} : (tensor<8x4xf32>) -> tensor<8x4xui32>
  %9 = dtensor.bitcast_convert %x : (tensor<8x4xf32>) -> tensor<8x4xui32>
  // CHECK-NEXT: (tensor<8x4xf32>) -> tensor<8x4x4xui8>
  %10 = dtensor.bitcast_convert %x : (tensor<8x4xf32>) -> tensor<8x4x4xui8>
  // CHECK-NEXT: (tensor<8x4xf32>) -> tensor<8xcomplex<f64>>
  %11 = dtensor.bitcast_convert %x : (tensor<8x4xf32>) -> tensor<8xcomplex<f64>>
  return
}

// CHECK-LABEL: func.func @complex
func.func @complex(%x: tensor<8xf32>, %z: tensor<8xcomplex<f32>>, %p: tensor<8xi1>) {
  // CHECK-NEXT: dtensor.complex %{{.*}}, %{{.*}} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xcomplex<f32>>
  %0 = dtensor.complex %x, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xcomplex<f32>>
  // CHECK-NEXT: dtensor.real %{{.*}} : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
  %1 = dtensor.real %z : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
  // CHECK-NEXT: dtensor.imag %{{.*}} : (tensor<8xf32>) -> tensor<8xf32>
  %2 = dtensor.imag %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: dtensor.abs %{{.*}} : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
  %3 = dtensor.abs %z : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
  // CHECK-NEXT: dtensor.exp %{{.*}} : tensor<8xcomplex<f32>>
  %4 = dtensor.exp %z : tensor<8xcomplex<f32>>
  // CHECK-NEXT: dtensor.compare NE
  %5 = dtensor.compare NE, %z, %4 : (tensor<8xcomplex<f32>>, tensor<8xcomplex<f32>>) -> tensor<8xi1>
  // CHECK-NEXT: dtensor.add %{{.*}}, %{{.*}} : tensor<8xi1>
  %6 = dtensor.add %p, %5 : tensor<8xi1>
  // CHECK-NEXT: dtensor.minimum %{{.*}}, %{{.*}} : tensor<8xi1>
  %7 = dtensor.minimum %p, %5 : tensor<8xi1>
  return
}
