// Integers of 4 bits as NumPy saves them: numbers of i8 for i4, of ui8 for ui4, and bytes for both.
// RUN: rm -rf %t && mkdir %t
// RUN: mesh-run %s --function=numbers --output-dir=%t
// RUN: mesh-run %s --function=take --input=%t/result_0.npy --input=%t/result_1.npy --verify | FileCheck %s
// RUN: mesh-run %s --function=take --input=%t/result_2.npy --input=%t/result_1.npy --verify | FileCheck %s
// CHECK: result 0 i32[4] {{.*}} [-8, -1, 0, 7]
// CHECK: result 1 i32[4] {{.*}} [0, 1, 8, 15]

// RUN: not mesh-run %s --function=take --input=%t/result_3.npy --input=%t/result_1.npy 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: mesh-run: error: argument 0{{.*}}: expected numbers from -8 to 7, got 8 in '{{.*}}result_3.npy'
// RUN: not mesh-run %s --function=take --input=%t/result_0.npy --input=%t/result_0.npy 2>&1 | FileCheck %s --check-prefix=SIGNED
// SIGNED: mesh-run: error: argument 1{{.*}}: expected ui8[4], got i8[4]
// RUN: not mesh-run %s --function=take --input=%t/result_4.npy --input=%t/result_1.npy 2>&1 | FileCheck %s --check-prefix=WIDE
// WIDE: mesh-run: error: argument 0{{.*}}: expected ui8[4] or i8[4], of integers of 4 bits, got i32[4]
module {
  func.func @numbers() -> (tensor<4xi8>, tensor<4xui8>, tensor<4xui8>, tensor<4xi8>, tensor<4xi32>) {
    %i = stablehlo.constant dense<[-8, -1, 0, 7]> : tensor<4xi8>
    %u = stablehlo.constant dense<[0, 1, 8, 15]> : tensor<4xui8>
    %bytes = stablehlo.constant dense<[248, 255, 0, 7]> : tensor<4xui8>
    %large = stablehlo.constant dense<8> : tensor<4xi8>
    %wide = stablehlo.constant dense<1> : tensor<4xi32>
    return %i, %u, %bytes, %large, %wide : tensor<4xi8>, tensor<4xui8>, tensor<4xui8>, tensor<4xi8>, tensor<4xi32>
  }
  func.func @take(%a: tensor<4xi4>, %b: tensor<4xui4>) -> (tensor<4xi32>, tensor<4xi32>) {
    %0 = stablehlo.convert %a : (tensor<4xi4>) -> tensor<4xi32>
    %1 = stablehlo.convert %b : (tensor<4xui4>) -> tensor<4xi32>
    return %0, %1 : tensor<4xi32>, tensor<4xi32>
  }
}
