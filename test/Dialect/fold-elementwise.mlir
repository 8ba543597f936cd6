// RUN: mesh-opt %s --canonicalize --split-input-file | FileCheck %s
// Constants that are the same everywhere, and identities that hold for every
// value.

// CHECK-LABEL: func.func @unary_constants
func.func @unary_constants() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xi32>, tensor<4xi1>) {
  %0 = dtensor.constant dense<-2.5> : tensor<4xf32>
  %i = dtensor.constant dense<5> : tensor<4xi32>
  // CHECK-DAG: %[[ABS:.*]] = dtensor.constant dense<2.500000e+00> : tensor<4xf32>
  %abs = dtensor.abs %0 : tensor<4xf32>
  // CHECK-DAG: %[[SIGN:.*]] = dtensor.constant dense<-1.000000e+00> : tensor<4xf32>
  %sign = dtensor.sign %0 : tensor<4xf32>
  // CHECK-DAG: %[[FLOOR:.*]] = dtensor.constant dense<-3.000000e+00> : tensor<4xf32>
  %floor = dtensor.floor %0 : tensor<4xf32>
  // Halfway cases go to the even number.
  // CHECK-DAG: %[[ROUND:.*]] = dtensor.constant dense<-2.000000e+00> : tensor<4xf32>
  %round = dtensor.round %0 : tensor<4xf32>
  // CHECK-DAG: %[[NAN:.*]] = dtensor.constant dense<0x{{[7F]FC00000}}> : tensor<4xf32>
  %sqrt = dtensor.sqrt %0 : tensor<4xf32>
  // CHECK-DAG: %[[FALSE:.*]] = dtensor.constant dense<false> : tensor<4xi1>
  %finite = dtensor.is_finite %sqrt : (tensor<4xf32>) -> tensor<4xi1>
  // CHECK-DAG: %[[NOT:.*]] = dtensor.constant dense<-6> : tensor<4xi32>
  %not = dtensor.not %i : tensor<4xi32>
  // CHECK-DAG: %[[TRUE:.*]] = dtensor.constant dense<true> : tensor<4xi1>
  %true = dtensor.not %finite : tensor<4xi1>
  // CHECK: return %[[ABS]], %[[SIGN]], %[[FLOOR]], %[[ROUND]], %[[NAN]], %[[FALSE]], %[[NOT]], %[[TRUE]]
  return %abs, %sign, %floor, %round, %sqrt, %finite, %not, %true : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xi32>, tensor<4xi1>
}

// -----

// CHECK-LABEL: func.func @integer_constants
func.func @integer_constants() -> (tensor<i8>, tensor<i8>, tensor<i8>, tensor<ui8>, tensor<ui8>, tensor<i8>, tensor<i8>, tensor<i1>, tensor<i1>) {
  %max = dtensor.constant dense<127> : tensor<i8>
  %min = dtensor.constant dense<-128> : tensor<i8>
  %minus = dtensor.constant dense<-1> : tensor<i8>
  %zero = dtensor.constant dense<0> : tensor<i8>
  %big = dtensor.constant dense<200> : tensor<ui8>
  %three = dtensor.constant dense<3> : tensor<ui8>
  // Wraps around.
  // CHECK-DAG: %[[MIN:.*]] = dtensor.constant dense<-128> : tensor<i8>
  %one = dtensor.constant dense<1> : tensor<i8>
  %0 = dtensor.add %max, %one : tensor<i8>
  %1 = dtensor.divide %min, %minus : tensor<i8>
  // By zero: all bits set; the remainder is the numerator.
  // CHECK-DAG: %[[ONES:.*]] = dtensor.constant dense<-1> : tensor<i8>
  %2 = dtensor.divide %max, %zero : tensor<i8>
  // CHECK-DAG: %[[MAX:.*]] = dtensor.constant dense<127> : tensor<i8>
  %3 = dtensor.remainder %max, %zero : tensor<i8>
  // Unsigned types are unsigned.
  // CHECK-DAG: %[[QUOTIENT:.*]] = dtensor.constant dense<66> : tensor<ui8>
  %4 = dtensor.divide %big, %three : tensor<ui8>
  // CHECK-DAG: %[[BIG:.*]] = dtensor.constant dense<200> : tensor<ui8>
  %5 = dtensor.maximum %big, %three : tensor<ui8>
  // CHECK-DAG: %[[ZERO:.*]] = dtensor.constant dense<0> : tensor<i8>
  %6 = dtensor.power %max, %minus : tensor<i8>
  // CHECK-DAG: %[[TRUE:.*]] = dtensor.constant dense<true> : tensor<i1>
  %7 = dtensor.compare LT, %min, %max : (tensor<i8>, tensor<i8>) -> tensor<i1>
  // CHECK-DAG: %[[FALSE:.*]] = dtensor.constant dense<false> : tensor<i1>
  %8 = dtensor.compare LT, %big, %three : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
  // CHECK: return %[[MIN]], %[[MIN]], %[[ONES]], %[[QUOTIENT]], %[[BIG]], %[[MAX]], %[[ZERO]], %[[TRUE]], %[[FALSE]]
  return %0, %1, %2, %4, %5, %3, %6, %7, %8 : tensor<i8>, tensor<i8>, tensor<i8>, tensor<ui8>, tensor<ui8>, tensor<i8>, tensor<i8>, tensor<i1>, tensor<i1>
}

// -----

// CHECK-LABEL: func.func @float_constants
func.func @float_constants() -> (tensor<f32>, tensor<bf16>, tensor<f32>, tensor<i1>, tensor<f32>) {
  %a = dtensor.constant dense<1.0> : tensor<f32>
  %b = dtensor.constant dense<3.0> : tensor<f32>
  %nan = dtensor.constant dense<0x7FC00000> : tensor<f32>
  // CHECK-DAG: %[[THIRD:.*]] = dtensor.constant dense<0.333333343> : tensor<f32>
  %0 = dtensor.divide %a, %b : tensor<f32>
  // CHECK-DAG: %[[SHORT:.*]] = dtensor.constant dense<3.339840e-01> : tensor<bf16>
  %1 = dtensor.convert %0 : (tensor<f32>) -> tensor<bf16>
  // nan wins.
  // CHECK-DAG: %[[NAN:.*]] = dtensor.constant dense<0x7FC00000> : tensor<f32>
  %2 = dtensor.maximum %a, %nan : tensor<f32>
  // CHECK-DAG: %[[TRUE:.*]] = dtensor.constant dense<true> : tensor<i1>
  %3 = dtensor.compare NE, %nan, %nan : (tensor<f32>, tensor<f32>) -> tensor<i1>
  // CHECK-DAG: %[[TWO:.*]] = dtensor.constant dense<2.000000e+00> : tensor<f32>
  %two = dtensor.constant dense<2.0> : tensor<f32>
  %4 = dtensor.clamp %a, %b, %two : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK: return %[[THIRD]], %[[SHORT]], %[[NAN]], %[[TRUE]], %[[TWO]]
  return %0, %1, %2, %3, %4 : tensor<f32>, tensor<bf16>, tensor<f32>, tensor<i1>, tensor<f32>
}

// -----

// Float to integer rounds towards zero and saturates; nan becomes 0.
// CHECK-LABEL: func.func @conversions
func.func @conversions() -> (tensor<i8>, tensor<ui8>, tensor<i32>, tensor<i8>, tensor<i1>, tensor<f32>) {
  %a = dtensor.constant dense<-1.0e10> : tensor<f64>
  %nan = dtensor.constant dense<0x7FF8000000000000> : tensor<f64>
  %half = dtensor.constant dense<-2.75> : tensor<f64>
  %i = dtensor.constant dense<300> : tensor<i32>
  // CHECK-DAG: %[[LOW:.*]] = dtensor.constant dense<-128> : tensor<i8>
  %0 = dtensor.convert %a : (tensor<f64>) -> tensor<i8>
  // CHECK-DAG: %[[ZERO:.*]] = dtensor.constant dense<0> : tensor<ui8>
  %1 = dtensor.convert %nan : (tensor<f64>) -> tensor<ui8>
  // CHECK-DAG: %[[TWO:.*]] = dtensor.constant dense<-2> : tensor<i32>
  %2 = dtensor.convert %half : (tensor<f64>) -> tensor<i32>
  // CHECK-DAG: %[[BITS:.*]] = dtensor.constant dense<44> : tensor<i8>
  %3 = dtensor.convert %i : (tensor<i32>) -> tensor<i8>
  // CHECK-DAG: %[[TRUE:.*]] = dtensor.constant dense<true> : tensor<i1>
  %4 = dtensor.convert %i : (tensor<i32>) -> tensor<i1>
  // CHECK-DAG: %[[ONE:.*]] = dtensor.constant dense<1.000000e+00> : tensor<f32>
  %5 = dtensor.convert %4 : (tensor<i1>) -> tensor<f32>
  // CHECK: return %[[LOW]], %[[ZERO]], %[[TWO]], %[[BITS]], %[[TRUE]], %[[ONE]]
  return %0, %1, %2, %3, %4, %5 : tensor<i8>, tensor<ui8>, tensor<i32>, tensor<i8>, tensor<i1>, tensor<f32>
}

// -----

// CHECK-LABEL: func.func @identities
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[I:.*]]: tensor<4xi32>, %[[P:.*]]: tensor<4xi1>
func.func @identities(%x: tensor<4xf32>, %i: tensor<4xi32>, %p: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi1>, tensor<4xf32>) {
  %minusZero = dtensor.constant dense<-0.0> : tensor<4xf32>
  %one = dtensor.constant dense<1.0> : tensor<4xf32>
  %zero = dtensor.constant dense<0> : tensor<4xi32>
  // CHECK-DAG: %[[ZERO:.*]] = dtensor.constant dense<0> : tensor<4xi32>
  %0 = dtensor.add %minusZero, %x : tensor<4xf32>
  %1 = dtensor.multiply %0, %one : tensor<4xf32>
  %2 = dtensor.divide %1, %one : tensor<4xf32>
  %3 = dtensor.negate %2 : tensor<4xf32>
  %4 = dtensor.negate %3 : tensor<4xf32>
  // CHECK-DAG: %[[ABS:.*]] = dtensor.abs %[[X]]
  %5 = dtensor.abs %4 : tensor<4xf32>
  %6 = dtensor.abs %5 : tensor<4xf32>
  %7 = dtensor.or %i, %zero : tensor<4xi32>
  %8 = dtensor.subtract %7, %7 : tensor<4xi32>
  %9 = dtensor.not %p : tensor<4xi1>
  %10 = dtensor.not %9 : tensor<4xi1>
  %11 = dtensor.select %p, %x, %x : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: return %[[X]], %[[ABS]], %[[I]], %[[ZERO]], %[[P]], %[[X]]
  return %4, %6, %7, %8, %10, %11 : tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi1>, tensor<4xf32>
}

// -----

// What looks like an identity and is none: 0.0 turns -0.0 into 0.0, and inf - inf
// and 0 * nan are nan.
// CHECK-LABEL: func.func @not_identities
func.func @not_identities(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = dtensor.constant dense<0.0> : tensor<4xf32>
  // CHECK: dtensor.add
  %0 = dtensor.add %x, %zero : tensor<4xf32>
  // CHECK: dtensor.subtract
  %1 = dtensor.subtract %x, %x : tensor<4xf32>
  // CHECK: dtensor.multiply
  %2 = dtensor.multiply %x, %zero : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x]>
#full = #dtensor.layout<#mesh, [*]>
#sum = #dtensor.layout<#mesh, [*] partial<x: sum>>

// Layouts: an operand of another type does not stand for the result, a constant
// takes the result's layout, and none is partial.
// CHECK-LABEL: func.func @layouts
func.func @layouts(%x: tensor<4xf32, #full>, %s: tensor<4xf32, #sum>) -> (tensor<4xf32, #rows>, tensor<4xf32, #rows>, tensor<4xf32, #sum>) {
  %one = dtensor.constant dense<1.0> : tensor<4xf32, #full>
  // CHECK: dtensor.constant dense<2.000000e+00> : tensor<4xf32> -> tensor<4xf32, #layout_x>
  // CHECK: dtensor.multiply
  %0 = dtensor.multiply %x, %one : (tensor<4xf32, #full>, tensor<4xf32, #full>) -> tensor<4xf32, #rows>
  // CHECK-NOT: dtensor.add
  %1 = dtensor.add %one, %one : (tensor<4xf32, #full>, tensor<4xf32, #full>) -> tensor<4xf32, #rows>
  // CHECK: dtensor.negate
  %2 = dtensor.negate %one : (tensor<4xf32, #full>) -> tensor<4xf32, #sum>
  return %0, %1, %2 : tensor<4xf32, #rows>, tensor<4xf32, #rows>, tensor<4xf32, #sum>
}
