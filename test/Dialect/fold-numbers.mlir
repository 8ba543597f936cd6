// RUN: mesh-opt %s --canonicalize --split-input-file | FileCheck %s
// Constants of the ops on bits and complex numbers, and casts in their
// canonical form.

// CHECK-LABEL: func.func @bits
func.func @bits() -> (tensor<4xi8>, tensor<4xi8>, tensor<4xi8>, tensor<4xi8>, tensor<4xi8>, tensor<4xi8>) {
  %x = dtensor.constant dense<-96> : tensor<4xi8>
  %one = dtensor.constant dense<1> : tensor<4xi8>
  %eight = dtensor.constant dense<8> : tensor<4xi8>
  // CHECK-DAG: %[[LEFT:.*]] = dtensor.constant dense<64> : tensor<4xi8>
  %0 = dtensor.shift_left %x, %one : tensor<4xi8>
  // CHECK-DAG: %[[RIGHT:.*]] = dtensor.constant dense<-48> : tensor<4xi8>
  %1 = dtensor.shift_right_arithmetic %x, %one : tensor<4xi8>
  // CHECK-DAG: %[[LOGICAL:.*]] = dtensor.constant dense<80> : tensor<4xi8>
  %2 = dtensor.shift_right_logical %x, %one : tensor<4xi8>
  // By the width or more only copies of the sign are left.
  // CHECK-DAG: %[[SIGN:.*]] = dtensor.constant dense<-1> : tensor<4xi8>
  %3 = dtensor.shift_right_arithmetic %x, %eight : tensor<4xi8>
  // CHECK-DAG: %[[COUNT:.*]] = dtensor.constant dense<2> : tensor<4xi8>
  %4 = dtensor.popcnt %x : tensor<4xi8>
  // CHECK-DAG: %[[ZEROS:.*]] = dtensor.constant dense<7> : tensor<4xi8>
  %5 = dtensor.count_leading_zeros %one : tensor<4xi8>
  // CHECK: return %[[LEFT]], %[[RIGHT]], %[[LOGICAL]], %[[SIGN]], %[[COUNT]], %[[ZEROS]]
  return %0, %1, %2, %3, %4, %5 : tensor<4xi8>, tensor<4xi8>, tensor<4xi8>, tensor<4xi8>, tensor<4xi8>, tensor<4xi8>
}

// -----

// CHECK-LABEL: func.func @rounding
func.func @rounding() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xui32>, tensor<4xf16>) {
  %x = dtensor.constant dense<2.5> : tensor<4xf32>
  // CHECK-DAG: %[[AWAY:.*]] = dtensor.constant dense<3.000000e+00> : tensor<4xf32>
  %0 = dtensor.round_nearest_afz %x : tensor<4xf32>
  // 2.5 is halfway between 2 and 3, and 2 is even.
  // CHECK-DAG: %[[EVEN:.*]] = dtensor.constant dense<2.000000e+00> : tensor<4xf32>
  %1 = dtensor.reduce_precision %x exponent 8 mantissa 1 : tensor<4xf32>
  // CHECK-DAG: %[[HUGE:.*]] = dtensor.constant dense<0x7F800000> : tensor<4xf32>
  %2 = dtensor.reduce_precision %x exponent 1 mantissa 23 : tensor<4xf32>
  // CHECK-DAG: %[[BITS:.*]] = dtensor.constant dense<1075838976> : tensor<4xui32>
  %3 = dtensor.bitcast_convert %x : (tensor<4xf32>) -> tensor<4xui32>
  // CHECK-DAG: %[[HALF:.*]] = dtensor.constant dense<2.500000e+00> : tensor<4xf16>
  %4 = dtensor.convert %x : (tensor<4xf32>) -> tensor<4xf16>
  // CHECK: return %[[AWAY]], %[[EVEN]], %[[HUGE]], %[[BITS]], %[[HALF]]
  return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xui32>, tensor<4xf16>
}

// -----

// CHECK-LABEL: func.func @complex
func.func @complex() -> (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2xf32>, tensor<2xf32>) {
  %x = dtensor.constant dense<(3.0, 4.0)> : tensor<2xcomplex<f32>>
  // CHECK-DAG: %[[SQUARE:.*]] = dtensor.constant dense<(-7.000000e+00,2.400000e+01)> : tensor<2xcomplex<f32>>
  %0 = dtensor.multiply %x, %x : tensor<2xcomplex<f32>>
  // CHECK-DAG: %[[MINUS:.*]] = dtensor.constant dense<(-3.000000e+00,-4.000000e+00)> : tensor<2xcomplex<f32>>
  %1 = dtensor.negate %x : tensor<2xcomplex<f32>>
  // CHECK-DAG: %[[SIZE:.*]] = dtensor.constant dense<5.000000e+00> : tensor<2xf32>
  %2 = dtensor.abs %x : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  // CHECK-DAG: %[[IMAG:.*]] = dtensor.constant dense<4.000000e+00> : tensor<2xf32>
  %3 = dtensor.imag %x : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  // CHECK: return %[[SQUARE]], %[[MINUS]], %[[SIZE]], %[[IMAG]]
  return %0, %1, %2, %3 : tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2xf32>, tensor<2xf32>
}

// -----

// Parts that are put together again are the whole.
// CHECK-LABEL: func.func @parts
// CHECK-SAME: (%[[Z:.*]]: tensor<2xcomplex<f32>>, %[[X:.*]]: tensor<2xf32>)
func.func @parts(%z: tensor<2xcomplex<f32>>, %x: tensor<2xf32>) -> (tensor<2xcomplex<f32>>, tensor<2xf32>, tensor<2xf32>) {
  %re = dtensor.real %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %im = dtensor.imag %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %0 = dtensor.complex %re, %im : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
  %1 = dtensor.complex %x, %im : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
  %2 = dtensor.real %1 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %3 = dtensor.real %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: return %[[Z]], %[[X]], %[[X]]
  return %0, %2, %3 : tensor<2xcomplex<f32>>, tensor<2xf32>, tensor<2xf32>
}

// -----

// A cast to narrower elements shifts them out of unsigned words.
// CHECK-LABEL: func.func @narrower
func.func @narrower(%x: tensor<8xf32>) -> tensor<8x4xi8> {
  // CHECK: dtensor.bitcast_convert %{{.*}} : (tensor<8xf32>) -> tensor<8xui32>
  // CHECK: dtensor.shift_right_logical %{{.*}} : tensor<8x4xui32>
  // CHECK: dtensor.convert %{{.*}} : (tensor<8x4xui32>) -> tensor<8x4xui8>
  // CHECK: dtensor.bitcast_convert %{{.*}} : (tensor<8x4xui8>) -> tensor<8x4xi8>
  %0 = dtensor.bitcast_convert %x : (tensor<8xf32>) -> tensor<8x4xi8>
  return %0 : tensor<8x4xi8>
}

// -----

// A cast to wider ones ors them together.
// CHECK-LABEL: func.func @wider
func.func @wider(%x: tensor<8x2xcomplex<f32>>) -> tensor<8xcomplex<f64>> {
  // CHECK: dtensor.reduce or
  // CHECK: dtensor.complex
  // CHECK-NOT: bitcast_convert {{.*}}complex
  %0 = dtensor.bitcast_convert %x : (tensor<8x2xcomplex<f32>>) -> tensor<8xcomplex<f64>>
  return %0 : tensor<8xcomplex<f64>>
}
