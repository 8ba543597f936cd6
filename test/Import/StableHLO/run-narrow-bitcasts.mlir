// RUN: mesh-run %s --verify | FileCheck %s

// Numbers of 4 and 2 bits lie along the last dim of a bitcast, lowest bits
// first: 0x21 is [1, 2], and 0xF8 is [-8, -1].

// CHECK: result 0
// CHECK-SAME: [33, -8]
// CHECK: result 1
// CHECK-SAME: [1, 2, -8, -1]
// CHECK: result 2
// CHECK-SAME: [8451]
// CHECK: result 3
// CHECK-SAME: [1, 3, 2, 0]
func.func @main() -> (tensor<2xi8>, tensor<2x2xi8>, tensor<1xi16>, tensor<4xui8>) {
  %nibbles = stablehlo.constant dense<[[1, 2], [-8, -1]]> : tensor<2x2xi4>
  %bytes = stablehlo.constant dense<[33, -8]> : tensor<2xi8>
  %four = stablehlo.constant dense<[[3, 0, 1, 2]]> : tensor<1x4xui4>
  %short = stablehlo.constant dense<45> : tensor<ui8>
  %0 = stablehlo.bitcast_convert %nibbles : (tensor<2x2xi4>) -> tensor<2xi8>
  %1 = stablehlo.bitcast_convert %bytes : (tensor<2xi8>) -> tensor<2x2xi4>
  %2 = stablehlo.convert %1 : (tensor<2x2xi4>) -> tensor<2x2xi8>
  %3 = stablehlo.bitcast_convert %four : (tensor<1x4xui4>) -> tensor<1xi16>
  %4 = stablehlo.bitcast_convert %short : (tensor<ui8>) -> tensor<4xui2>
  %5 = stablehlo.convert %4 : (tensor<4xui2>) -> tensor<4xui8>
  return %0, %2, %3, %5 : tensor<2xi8>, tensor<2x2xi8>, tensor<1xi16>, tensor<4xui8>
}
