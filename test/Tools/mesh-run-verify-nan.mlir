// What is nan in both proves nothing: --verify counts it, and what is nan throughout is not ok.
// RUN: mesh-run %s --function=some --verify | FileCheck %s --check-prefix=SOME
// SOME: verify result 0 f32[4]: error 0, allowed {{.*}}, 2 of 4 elements are nan in both: ok
// SOME: verify result 1 f32[1]: error 0, allowed {{.*}}, 1 of 1 elements is nan in both: NAN THROUGHOUT
// RUN: not mesh-run %s --function=all --verify > %t.all 2>&1
// RUN: FileCheck %s --check-prefix=ALL < %t.all
// ALL: verify result 0 complex<f32>[2]: error 0, allowed {{.*}}, 4 of 4 parts are nan in both: NAN THROUGHOUT
// ALL: mesh-run: error: all results are nan throughout, {{.*}} by --input or as dtensor.range of the arguments

// Random inputs lie where the program says.
// RUN: mesh-run %s --function=ranges --verify | FileCheck %s --check-prefix=RANGES
// RANGES: result 0 i1[] [] [true]
// RANGES: result 1 i32[8] [*] {{\[[34], [34], [34], [34], [34], [34], ... 2 more\]}}
// RANGES: verify result 2 f32[8]: error {{[^,]*}}, allowed {{[^,]*}}: ok
// RUN: not mesh-run %s --function=bad 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: error: argument #0 has dtensor.range = array<f64: 2.{{.*}}, 1.{{.*}}>: expected the first number and the end of a range, as in array<f64: 0.0, 1.0>
// RUN: not mesh-run %s --function=halves 2>&1 | FileCheck %s --check-prefix=HALVES
// HALVES: error: argument #0 has dtensor.range = {{.*}}, whole ones of integers

// A saved program has the ranges, and makes the same inputs.
// RUN: rm -rf %t && mkdir -p %t
// RUN: mesh-run %s --function=ranges --emit-program=%t/ranges.mlprog --output-dir=%t/source
// RUN: mesh-run %t/ranges.mlprog --output-dir=%t/saved | FileCheck %s --check-prefix=SAVED
// SAVED: result 0 i1[] [] [true]
// RUN: cmp %t/source/result_1.npy %t/saved/result_1.npy
// RUN: cmp %t/source/result_2.npy %t/saved/result_2.npy

func.func @some() -> (tensor<4xf32>, tensor<1xf32>) {
  %0 = dtensor.constant dense<[1.0, 0x7FC00000, 2.0, 0x7FC00000]> : tensor<4xf32>
  %1 = dtensor.constant dense<0x7FC00000> : tensor<1xf32>
  return %0, %1 : tensor<4xf32>, tensor<1xf32>
}
func.func @all() -> tensor<2xcomplex<f32>> {
  %0 = dtensor.constant dense<(0x7FC00000, 0x7FC00000)> : tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}
func.func @ranges(%x: tensor<1000xf32> {dtensor.range = array<f64: 2.0, 3.0>},
                  %i: tensor<8xi32> {dtensor.range = array<f64: 3.0, 5.0>},
                  %v: tensor<8xf32> {dtensor.range = array<f64: 0.0, 1.0>}) -> (tensor<i1>, tensor<8xi32>, tensor<8xf32>) {
  %two = dtensor.constant dense<2.0> : tensor<1000xf32>
  %three = dtensor.constant dense<3.0> : tensor<1000xf32>
  %0 = dtensor.compare GE, %x, %two : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xi1>
  %1 = dtensor.compare LE, %x, %three : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xi1>
  %2 = dtensor.and %0, %1 : tensor<1000xi1>
  %3 = dtensor.reduce and %2 dims [0] : (tensor<1000xi1>) -> tensor<i1>
  %4 = dtensor.sqrt %v : tensor<8xf32>
  return %3, %i, %4 : tensor<i1>, tensor<8xi32>, tensor<8xf32>
}
func.func @bad(%x: tensor<2xf32> {dtensor.range = array<f64: 2.0, 1.0>}) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func @halves(%x: tensor<2xi32> {dtensor.range = array<f64: 0.5, 1.0>}) -> tensor<2xi32> {
  return %x : tensor<2xi32>
}
