// Every mistake is an error that names what was expected and what was given.
// RUN: rm -rf %t && mesh-run %s --function=make --output-dir=%t

// RUN: not mesh-run %s 2>&1 | FileCheck %s --check-prefix=WHICH
// WHICH: error: {{.*}}main

// RUN: not mesh-run %s --function=nothing 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: {{.*}}'nothing'

// RUN: not mesh-run %s --function=take --input=%t/result_0.npy 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: mesh-run: error: 'take' takes 2 arguments, got 1 --input file: give one for each, in order, or none for random ones

// RUN: not mesh-run %s --function=take --input=%t/result_1.npy --input=%t/result_1.npy 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: mesh-run: error: argument 0 ('weight'): expected f32[2, 3], got f32[3, 2] in '{{.*}}result_1.npy'

// RUN: not mesh-run %s --function=take --input=%t/result_0.npy --input=%t/result_0.npy 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: mesh-run: error: argument 1: expected i32[2, 3], got f32[2, 3] in '{{.*}}result_0.npy'

// RUN: not mesh-run %s --function=take --input=%t/missing.npy --input=%t/result_0.npy 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: mesh-run: error: argument 0 ('weight') (expected f32[2, 3]): {{.*}}missing.npy

// RUN: not mesh-run %s --function=take --input=%s --input=%t/result_0.npy 2>&1 | FileCheck %s --check-prefix=FORMAT
// FORMAT: mesh-run: error: argument 0 ('weight') (expected f32[2, 3]): {{.*}}mesh-run-errors.mlir

// RUN: not mesh-run %s --function=make --machine=fast 2>&1 | FileCheck %s --check-prefix=MACHINE
// MACHINE: mesh-run: error: {{.*}}fast

// RUN: not mesh-run %t/no.mlir 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: mesh-run: error: {{.*}}no.mlir

// RUN: not mesh-run %s --function=make --repeat=0 2>&1 | FileCheck %s --check-prefix=REPEAT
// REPEAT: --repeat: expected an integer of at least 1, got 0
// RUN: not mesh-run %s --function=make --auto-layout=-5 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: --auto-layout: expected an integer of at least 0, got -5

// RUN: not mesh-run %s --function=make --workers=two 2>&1 | FileCheck %s --check-prefix=WORKERS
// WORKERS: mesh-run: error: --workers: expected an integer of at least 1, got two
// RUN: not mesh-run %s --function=make --seed=two 2>&1 | FileCheck %s --check-prefix=SEED
// SEED: mesh-run: error: --seed: expected an integer, got two

// RUN: echo 'func.func @main(%%a: tensor<4xf32, #dtensor.layout<#dtensor.mesh<x = 2>, [x]>>, %%b: tensor<4xf32, #dtensor.layout<#dtensor.mesh<y = 4>, [y]>>) { return }' > %t/meshes.mlir
// RUN: not mesh-run %t/meshes.mlir 2>&1 | FileCheck %s --check-prefix=MESHES
// MESHES: meshes.mlir:1:{{[0-9]+}}: error: argument #1 is on mesh <y=4>, which does not go with mesh <x=2>: it has 4 devices, not 2; all meshes of a function are over the same devices

// RUN: echo 'func.func @main(%%x: tensor<2xf32, #nothing>) { return }' > %t/bad.mlir
// RUN: not mesh-run %t/bad.mlir 2>&1 | FileCheck %s --check-prefix=PARSE
// PARSE: bad.mlir:1:{{[0-9]+}}: error: undefined symbol alias id 'nothing'

// RUN: echo 'func.func @main(%%x: tensor<?xf32>) { return }' > %t/dynamic.mlir
// RUN: not mesh-run %t/dynamic.mlir 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// DYNAMIC: dynamic.mlir:1:{{[0-9]+}}: error: argument #0 has type 'tensor<?xf32>'; expected a tensor of fixed shape

// RUN: echo 'func.func @main(%%x: tensor<2xf8E5M2>) { return }' > %t/half.mlir
// RUN: not mesh-run %t/half.mlir 2>&1 | FileCheck %s --check-prefix=HALF
// HALF: half.mlir:1:{{[0-9]+}}: error: argument #0 has type 'tensor<2xf8E5M2>'; expected a tensor of fixed shape (or a variable) of f16,

// RUN: mesh-opt %s --pass-pipeline='builtin.module(func.func(dtensor-propagate-layouts,dtensor-insert-relayouts,dtensor-expand-to-spmd))' -o %t/partitioned.mlir
// RUN: not mesh-run %t/partitioned.mlir --function=take 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: argument #0 has type {{.*}}, one device's shard: the program is partitioned already

// A nan prints like NumPy's, whatever its sign bit.
// RUN: mesh-run %s --function=infinite | FileCheck %s --check-prefix=NAN
// NAN: result 0 f32[2] [*] [nan, nan]

// RUN: not mesh-run %s --function=infinite --check-finite 2>&1 | FileCheck %s --check-prefix=FINITE
// FINITE: mesh-run: error: {{.*}}mesh-run-errors.mlir:[[# @LINE + 23]]:{{[0-9]+}}: {{.*}} holds a nan or an infinity

// What cannot be written is known before the program runs: no result is printed.
// RUN: not mesh-run %s --function=infinite --stats=%t/missing/stats.json > %t/stats.out 2>&1
// RUN: FileCheck %s --check-prefix=STATS < %t/stats.out
// STATS-NOT: result 0
// STATS: mesh-run: error: cannot write '{{.*}}missing/stats.json': No such file or directory
// STATS-NOT: result 0
// RUN: not mesh-run %s --function=infinite --output-dir=%t/bad.mlir/results > %t/folder.out 2>&1
// RUN: FileCheck %s --check-prefix=FOLDER < %t/folder.out
// FOLDER-NOT: result 0
// FOLDER: mesh-run: error: cannot make the directory '{{.*}}bad.mlir/results': Not a directory
// FOLDER-NOT: result 0

func.func @make() -> (tensor<2x3xf32>, tensor<3x2xf32>) {
  %0 = dtensor.constant dense<1.0> : tensor<2x3xf32>
  %1 = dtensor.constant dense<2.0> : tensor<3x2xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<3x2xf32>
}
func.func @take(%a: tensor<2x3xf32> {dtensor.name = "weight"}, %b: tensor<2x3xi32>) -> tensor<2x3xf32> {
  return %a : tensor<2x3xf32>
}
func.func @infinite(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = dtensor.log %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
