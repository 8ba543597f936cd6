// f8 and integers of 4 and 2 bits: 8 bits each, arithmetic in f32 and i8, results rounded to nearest even (values of ml_dtypes) or wrapped.
// RUN: mesh-run %s --function=rounded | FileCheck %s --check-prefix=ROUNDED
// RUN: mesh-run %s --function=kinds | FileCheck %s --check-prefix=KINDS
// RUN: mesh-run %s --function=integers | FileCheck %s --check-prefix=INTEGERS
// RUN: mesh-run %s --function=ordered --verify | FileCheck %s --check-prefix=ORDERED
// RUN: mesh-run %s --function=bits --verify | FileCheck %s --check-prefix=BITS
// RUN: mesh-run %s --function=product --verify && mesh-run %s --function=product --verify --private-memories
// RUN: mesh-run %s --function=flow --verify
// RUN: mesh-opt %s --stablehlo-to-dtensor | FileCheck %s --check-prefix=IR
// What only moves elements moves bytes.
// IR-LABEL: @flow
// IR-SAME: tensor<8x4xui8
// IR: dtensor.transpose {{.*}} -> tensor<4x8xui8>
module {
  sdy.mesh @mesh = <["x"=2]>
  // 1.0625 is a tie, 500 too large, 2^-10 a tie of denormals.
  // ROUNDED: result 0 {{.*}} [1, 1.125, nan, 0, -448, 0.00195312]
  // ROUNDED: result 1 {{.*}} [56, 57, 127, 0, 254, 1]
  // ROUNDED: result 2 {{.*}} [2, 2.25, nan, 0, nan, 0.00390625]
  func.func public @rounded() -> (tensor<6xf32>, tensor<6xui8>, tensor<6xf32>) {
    %a = stablehlo.constant dense<[1.0625, 1.07, 500.0, 9.765625e-4, -448.0, 0.0015]> : tensor<6xf32>
    %0 = stablehlo.convert %a : (tensor<6xf32>) -> tensor<6xf8E4M3FN>
    %1 = stablehlo.convert %0 : (tensor<6xf8E4M3FN>) -> tensor<6xf32>
    %2 = stablehlo.bitcast_convert %0 : (tensor<6xf8E4M3FN>) -> tensor<6xui8>
    %3 = stablehlo.add %0, %0 : tensor<6xf8E4M3FN>
    %4 = stablehlo.convert %3 : (tensor<6xf8E4M3FN>) -> tensor<6xf32>
    return %1, %2, %4 : tensor<6xf32>, tensor<6xui8>, tensor<6xf32>
  }
  // KINDS: result 0 {{.*}} [124, 252, 60, 126]
  // KINDS: result 1 {{.*}} [120, 248, 56, 124]
  // KINDS: result 2 {{.*}} [128, 128, 64, 128]
  // KINDS: result 3 {{.*}} [128, 128, 64, 128]
  // KINDS: result 4 {{.*}} [128, 128, 88, 128]
  func.func public @kinds() -> (tensor<4xui8>, tensor<4xui8>, tensor<4xui8>, tensor<4xui8>, tensor<4xui8>) {
    %a = stablehlo.constant dense<[1.0e6, -1.0e6, 1.0, 0x7FC00000]> : tensor<4xf32>
    %0 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xf8E5M2>
    %1 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xf8E4M3>
    %2 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xf8E5M2FNUZ>
    %3 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xf8E4M3FNUZ>
    %4 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xf8E4M3B11FNUZ>
    %5 = stablehlo.bitcast_convert %0 : (tensor<4xf8E5M2>) -> tensor<4xui8>
    %6 = stablehlo.bitcast_convert %1 : (tensor<4xf8E4M3>) -> tensor<4xui8>
    %7 = stablehlo.bitcast_convert %2 : (tensor<4xf8E5M2FNUZ>) -> tensor<4xui8>
    %8 = stablehlo.bitcast_convert %3 : (tensor<4xf8E4M3FNUZ>) -> tensor<4xui8>
    %9 = stablehlo.bitcast_convert %4 : (tensor<4xf8E4M3B11FNUZ>) -> tensor<4xui8>
    return %5, %6, %7, %8, %9 : tensor<4xui8>, tensor<4xui8>, tensor<4xui8>, tensor<4xui8>, tensor<4xui8>
  }
  // 7 + 7 and 3 + 3 wrap around; a sum of the same type does, one of i32 does not; -1 has the bits 15.
  // INTEGERS: result 0 {{.*}} [-2, 0, 6, -2]
  // INTEGERS: result 1 {{.*}} [3, 4, 1, 7]
  // INTEGERS: result 2 {{.*}} [1]
  // INTEGERS: result 3 {{.*}} [7, 8, 3, 15]
  // INTEGERS: result 4 {{.*}} [1, 3, 2, 0]
  // INTEGERS: result 5 {{.*}} [123]
  func.func public @integers() -> (tensor<4xi32>, tensor<4xi32>, tensor<i32>, tensor<4xi32>, tensor<4xi32>, tensor<i32>) {
    %a = stablehlo.constant dense<[7, -8, 3, -1]> : tensor<4xi4>
    %one = stablehlo.constant dense<1> : tensor<4xi4>
    %zero = stablehlo.constant dense<0> : tensor<i4>
    %0 = stablehlo.add %a, %a : tensor<4xi4>
    %1 = stablehlo.convert %0 : (tensor<4xi4>) -> tensor<4xi32>
    %2 = stablehlo.shift_right_logical %a, %one : tensor<4xi4>
    %3 = stablehlo.convert %2 : (tensor<4xi4>) -> tensor<4xi32>
    %4 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xi4>, tensor<i4>) -> tensor<i4>
    %5 = stablehlo.convert %4 : (tensor<i4>) -> tensor<i32>
    %6 = stablehlo.bitcast_convert %a : (tensor<4xi4>) -> tensor<4xui4>
    %7 = stablehlo.convert %6 : (tensor<4xui4>) -> tensor<4xi32>
    %c = stablehlo.constant dense<[1, -1, 2, 0]> : tensor<4xi2>
    %d = stablehlo.bitcast_convert %c : (tensor<4xi2>) -> tensor<4xui2>
    %8 = stablehlo.convert %d : (tensor<4xui2>) -> tensor<4xi32>
    %9 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] : (tensor<4xi4>, tensor<4xi4>) -> tensor<i32>
    return %1, %3, %5, %7, %8, %9 : tensor<4xi32>, tensor<4xi32>, tensor<i32>, tensor<4xi32>, tensor<4xi32>, tensor<i32>
  }
  // Each op sees the bits of a number alone, and shifts by the width and more leave its signs, or nothing; floats out of range become the nearest integer.
  // BITS: result 0 {{.*}} [1, 0, 2, 4]
  // BITS: result 1 {{.*}} [3, 1, 2, 0]
  // BITS: result 2 {{.*}} [1, 4, 2, 0]
  // BITS: result 3 {{.*}} [3, 12, 0, 15]
  // BITS: result 4 {{.*}} [3, -4, 0, -1]
  // BITS: result 5 {{.*}} [3, 4, 0, 0]
  // BITS: result 6 {{.*}} [14, 0, 0, 0]
  // BITS: result 7 {{.*}} [0, -2, 1, -2]
  // BITS: result 8 {{.*}} [7, -8, 2, 0]
  // BITS: result 9 {{.*}} [15, 0, 2, 15]
  func.func public @bits() -> (tensor<4xi4>, tensor<4xi4>, tensor<4xui4>, tensor<4xui4>, tensor<4xi4>, tensor<4xui4>, tensor<4xui4>, tensor<4xi2>, tensor<4xi4>, tensor<4xui4>) {
    %a = stablehlo.constant dense<[7, -8, 3, 0]> : tensor<4xi4>
    %b = stablehlo.constant dense<[7, 8, 3, 15]> : tensor<4xui4>
    %c = stablehlo.constant dense<[7, -8, 3, -1]> : tensor<4xi4>
    %by = stablehlo.constant dense<[1, 1, 9, 4]> : tensor<4xui4>
    %signedBy = stablehlo.constant dense<[1, 1, 4, -1]> : tensor<4xi4>
    %d = stablehlo.constant dense<[-1, 0, 1, 0]> : tensor<4xi2>
    %0 = stablehlo.count_leading_zeros %a : tensor<4xi4>
    %1 = stablehlo.popcnt %a : tensor<4xi4>
    %e = stablehlo.constant dense<[7, 0, 3, 8]> : tensor<4xui4>
    %2 = stablehlo.count_leading_zeros %e : tensor<4xui4>
    %3 = stablehlo.shift_right_arithmetic %b, %by : tensor<4xui4>
    %4 = stablehlo.shift_right_arithmetic %c, %signedBy : tensor<4xi4>
    %5 = stablehlo.shift_right_logical %b, %by : tensor<4xui4>
    %6 = stablehlo.shift_left %b, %by : tensor<4xui4>
    %7 = stablehlo.count_leading_zeros %d : tensor<4xi2>
    %floats = stablehlo.constant dense<[100.0, -1.0e9, 2.9, 0x7FC00000]> : tensor<4xf32>
    %8 = stablehlo.convert %floats : (tensor<4xf32>) -> tensor<4xi4>
    %sizes = stablehlo.constant dense<[15.5, -3.0, 2.5, 0x7C00]> : tensor<4xf16>
    %9 = stablehlo.convert %sizes : (tensor<4xf16>) -> tensor<4xui4>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<4xi4>, tensor<4xi4>, tensor<4xui4>, tensor<4xui4>, tensor<4xi4>, tensor<4xui4>, tensor<4xui4>, tensor<4xi2>, tensor<4xi4>, tensor<4xui4>
  }
  // The sign counts where numbers are compared, and is there in what is returned.
  // ORDERED: result 0 i8[4] {{.*}} [-8, -1, 3, 7]
  // ORDERED: result 1 i8[] {{.*}} [7]
  // ORDERED: result 2 i8[] {{.*}} [-8]
  // ORDERED: result 3 i8[4] {{.*}} [-7, -8, -3, 1]
  // ORDERED: result 4 i8[4] {{.*}} [-1, -1, 1, -1]
  // ORDERED: result 5 i8[4] {{.*}} [-2, -1, 0, 1]
  // ORDERED: result 6 i1[4] {{.*}} [false, true, false, true]
  // ORDERED: result 7 ui8[4] {{.*}} [7, 8, 3, 15]
  func.func public @ordered() -> (tensor<4xi4>, tensor<i4>, tensor<i4>, tensor<4xi4>, tensor<4xi4>, tensor<4xi2>, tensor<4xi1>, tensor<4xui4>) {
    %a = stablehlo.constant dense<[7, -8, 3, -1]> : tensor<4xi4>
    %zero = stablehlo.constant dense<0> : tensor<4xi4>
    %low = stablehlo.constant dense<-8> : tensor<i4>
    %high = stablehlo.constant dense<7> : tensor<i4>
    %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
    ^bb0(%x: tensor<i4>, %y: tensor<i4>):
      %lt = stablehlo.compare LT, %x, %y, SIGNED : (tensor<i4>, tensor<i4>) -> tensor<i1>
      stablehlo.return %lt : tensor<i1>
    }) : (tensor<4xi4>) -> tensor<4xi4>
    %1 = stablehlo.reduce(%a init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<4xi4>, tensor<i4>) -> tensor<i4>
    %2 = stablehlo.reduce(%a init: %high) applies stablehlo.minimum across dimensions = [0] : (tensor<4xi4>, tensor<i4>) -> tensor<i4>
    %3 = stablehlo.negate %a : tensor<4xi4>
    %f = stablehlo.constant dense<[-1.0, -1.5, 1.25, -1.0]> : tensor<4xf32>
    %4 = stablehlo.convert %f : (tensor<4xf32>) -> tensor<4xi4>
    %n = stablehlo.constant dense<[-2, 3, 4, 5]> : tensor<4xi32>
    %5 = stablehlo.convert %n : (tensor<4xi32>) -> tensor<4xi2>
    %6 = stablehlo.compare LT, %a, %zero, SIGNED : (tensor<4xi4>, tensor<4xi4>) -> tensor<4xi1>
    %7 = stablehlo.bitcast_convert %a : (tensor<4xi4>) -> tensor<4xui4>
    return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<4xi4>, tensor<i4>, tensor<i4>, tensor<4xi4>, tensor<4xi4>, tensor<4xi2>, tensor<4xi1>, tensor<4xui4>
  }
  // As JAX 0.10.2 writes it.
  func.func public @product(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<16x4xf8E4M3FN> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x4xf32>, tensor<8x4xf8E5M2>) {
    %0 = stablehlo.convert %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf8E4M3FN>
    %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16xf8E4M3FN>, tensor<16x4xf8E4M3FN>) -> tensor<8x4xf32>
    %2 = stablehlo.convert %1 : (tensor<8x4xf32>) -> tensor<8x4xf8E5M2>
    return %1, %2 : tensor<8x4xf32>, tensor<8x4xf8E5M2>
  }
  func.func public @flow(%arg0: tensor<8x4xf8E4M3FN> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x8xf8E4M3FN>, tensor<4xf32>) {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<8x4xf8E4M3FN>) -> tensor<4x8xf8E4M3FN>
    %n = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.while(%i = %n, %value = %0) : tensor<i32>, tensor<4x8xf8E4M3FN>
    cond {
      %end = stablehlo.constant dense<3> : tensor<i32>
      %more = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %half = stablehlo.constant dense<5.000000e-01> : tensor<4x8xf8E4M3FN>
      %next = stablehlo.add %i, %one : tensor<i32>
      %2 = stablehlo.multiply %value, %half : tensor<4x8xf8E4M3FN>
      stablehlo.return %next, %2 : tensor<i32>, tensor<4x8xf8E4M3FN>
    }
    %low = stablehlo.constant dense<0xFE> : tensor<f8E4M3FN>
    %3 = stablehlo.reduce(%1#1 init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<4xf8E4M3FN>
    // jaxlib moves constants out of regions.
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f8E4M3FN>
    %4:2 = "stablehlo.sort"(%3, %3) <{dimension = 0 : i64}> ({
    ^bb0(%a: tensor<f8E4M3FN>, %b: tensor<f8E4M3FN>, %c: tensor<f8E4M3FN>, %d: tensor<f8E4M3FN>):
      %isZero = stablehlo.compare EQ, %a, %zero, FLOAT : (tensor<f8E4M3FN>, tensor<f8E4M3FN>) -> tensor<i1>
      %key = stablehlo.select %isZero, %zero, %a : tensor<i1>, tensor<f8E4M3FN>
      %5 = stablehlo.compare LT, %key, %b, FLOAT : (tensor<f8E4M3FN>, tensor<f8E4M3FN>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    }) : (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) -> (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>)
    %6 = stablehlo.convert %4#0 : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
    return %1#1, %6 : tensor<4x8xf8E4M3FN>, tensor<4xf32>
  }
}
