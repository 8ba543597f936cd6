// Integers of 4 bits as NumPy saves them: numbers of i8 for i4, of ui8 for ui4, and bytes for both. Results are such numbers.
// RUN: rm -rf %t && mkdir %t
// RUN: mesh-run %s --function=numbers --output-dir=%t
// RUN: mesh-run %s --function=take --input=%t/result_0.npy --input=%t/result_1.npy --verify | FileCheck %s
// RUN: mesh-run %s --function=take --input=%t/result_2.npy --input=%t/result_1.npy --verify | FileCheck %s
// CHECK: result 0 i32[4] {{.*}} [-8, -1, 0, 7]
// CHECK: result 1 i32[4] {{.*}} [0, 1, 8, 15]

// RUN: not mesh-run %s --function=take --input=%t/result_3.npy --input=%t/result_1.npy 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: mesh-run: error: argument 0{{.*}}: expected numbers from -8 to 7, got 8 in '{{.*}}result_3.npy'
// RUN: not mesh-run %s --function=take --input=%t/result_0.npy --input=%t/result_0.npy 2>&1 | FileCheck %s --check-prefix=SIGNED
// SIGNED: mesh-run: error: argument 1{{.*}}: expected ui8[4], integers of 4 bits, got i8[4]
// RUN: not mesh-run %s --function=take --input=%t/result_4.npy --input=%t/result_1.npy 2>&1 | FileCheck %s --check-prefix=WIDE
// WIDE: mesh-run: error: argument 0{{.*}}: expected i8[4], integers of 4 bits, got i32[4]
// RUN: not mesh-run %s --function=take --input=%t/result_0.npy --input=%t/result_2.npy 2>&1 | FileCheck %s --check-prefix=UNSIGNED
// UNSIGNED: mesh-run: error: argument 1{{.*}}: expected numbers from 0 to 15, got 248 in '{{.*}}result_2.npy'

// What a program gives is what it takes, with its sign; of a saved one too.
// RUN: mesh-run %s --function=signs --output-dir=%t/signs | FileCheck %s --check-prefix=SIGNS
// RUN: mesh-run %s --function=give --input=%t/signs/result_0.npy --input=%t/signs/result_1.npy --input=%t/signs/result_2.npy \
// RUN:   --input=%t/signs/result_3.npy --emit-program=%t/give.mlprog --verify | FileCheck %s --check-prefix=SIGNS
// RUN: mesh-run %t/give.mlprog --input=%t/signs/result_0.npy --input=%t/signs/result_1.npy --input=%t/signs/result_2.npy \
// RUN:   --input=%t/signs/result_3.npy | FileCheck %s --check-prefix=SIGNS
// SIGNS: result 0 i8[4] [*] [-1, -8, 7, 0]
// SIGNS: result 1 ui8[4] [*] [15, 8, 7, 0]
// SIGNS: result 2 i8[4] [*] [-1, -2, 1, 0]
// SIGNS: result 3 ui8[4] [*] [3, 2, 1, 0]
module {
  func.func @numbers() -> (tensor<4xi8>, tensor<4xui8>, tensor<4xui8>, tensor<4xi8>, tensor<4xi32>) {
    %i = stablehlo.constant dense<[-8, -1, 0, 7]> : tensor<4xi8>
    %u = stablehlo.constant dense<[0, 1, 8, 15]> : tensor<4xui8>
    %bytes = stablehlo.constant dense<[248, 255, 0, 7]> : tensor<4xui8>
    %large = stablehlo.constant dense<8> : tensor<4xi8>
    %wide = stablehlo.constant dense<1> : tensor<4xi32>
    return %i, %u, %bytes, %large, %wide : tensor<4xi8>, tensor<4xui8>, tensor<4xui8>, tensor<4xi8>, tensor<4xi32>
  }
  func.func @signs() -> (tensor<4xi4>, tensor<4xui4>, tensor<4xi2>, tensor<4xui2>) {
    %a = stablehlo.constant dense<[-1, -8, 7, 0]> : tensor<4xi4>
    %b = stablehlo.bitcast_convert %a : (tensor<4xi4>) -> tensor<4xui4>
    %c = stablehlo.constant dense<[-1, -2, 1, 0]> : tensor<4xi2>
    %d = stablehlo.bitcast_convert %c : (tensor<4xi2>) -> tensor<4xui2>
    return %a, %b, %c, %d : tensor<4xi4>, tensor<4xui4>, tensor<4xi2>, tensor<4xui2>
  }
  func.func @give(%a: tensor<4xi4>, %b: tensor<4xui4>, %c: tensor<4xi2>, %d: tensor<4xui2>) -> (tensor<4xi4>, tensor<4xui4>, tensor<4xi2>, tensor<4xui2>) {
    return %a, %b, %c, %d : tensor<4xi4>, tensor<4xui4>, tensor<4xi2>, tensor<4xui2>
  }
  func.func @take(%a: tensor<4xi4>, %b: tensor<4xui4>) -> (tensor<4xi32>, tensor<4xi32>) {
    %0 = stablehlo.convert %a : (tensor<4xi4>) -> tensor<4xi32>
    %1 = stablehlo.convert %b : (tensor<4xui4>) -> tensor<4xi32>
    return %0, %1 : tensor<4xi32>, tensor<4xi32>
  }
}
