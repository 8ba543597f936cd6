// Portable artifacts of StableHLO, as bytecode. Artifacts of one program for six
// releases are read as one program, which gives what the program's text gives.
// RUN: mesh-opt %S/Inputs/step-1.17.0.mlirbc --stablehlo-to-dtensor > %t.newest
// RUN: mesh-opt %S/Inputs/step-0.9.0.mlirbc --stablehlo-to-dtensor | diff %t.newest -
// RUN: mesh-opt %S/Inputs/step-1.0.0.mlirbc --stablehlo-to-dtensor | diff %t.newest -
// RUN: mesh-opt %S/Inputs/step-1.5.0.mlirbc --stablehlo-to-dtensor | diff %t.newest -
// RUN: mesh-opt %S/Inputs/step-1.8.5.mlirbc --stablehlo-to-dtensor | diff %t.newest -
// RUN: mesh-opt %S/Inputs/step-1.13.3.mlirbc --stablehlo-to-dtensor | diff %t.newest -
// RUN: mesh-run %S/Inputs/step-1.17.0.mlirbc --verify
//
// Types of 2, 4 and 8 bits have the values of the text, and a manual computation
// is one.
// RUN: mesh-run %S/Inputs/narrow-types-1.13.3.mlirbc --function=rounded | FileCheck %S/../StableHLO/run-narrow-types.mlir --check-prefix=ROUNDED
// RUN: mesh-run %S/Inputs/narrow-types-1.13.3.mlirbc --function=kinds | FileCheck %S/../StableHLO/run-narrow-types.mlir --check-prefix=KINDS
// RUN: mesh-run %S/Inputs/narrow-types-1.13.3.mlirbc --function=integers | FileCheck %S/../StableHLO/run-narrow-types.mlir --check-prefix=INTEGERS
// Floats that MLIR 19 has no types of have the bits and values of ml_dtypes.
// RUN: mesh-run %S/Inputs/minifloats-1.13.3.mlirbc --function=codes | FileCheck %s --check-prefix=CODES
// CODES: result 0 {{.*}} [40, 196, 84, 112, 120, 0]
// CODES: result 1 {{.*}} [127, 255, 129, 255, 255, 0]
// CODES: result 2 {{.*}} [127, 255, 129, 255, 255, 0]
// CODES: result 3 {{.*}} [2, 12, 6, 7, 8, 0]
// RUN: mesh-run %S/Inputs/minifloats-1.13.3.mlirbc --function=values | FileCheck %s --check-prefix=VALUES
// VALUES: result 0 {{.*}} [0.015625, inf, nan, -0, -inf, 0.96875]
// VALUES: result 1 {{.*}} [5.87747e-39, 1.17549e-38, 2, nan]
// VALUES: result 2 {{.*}} [0.5, 1.5, 4, -0, -0.5, -6]
// VALUES: result 3 {{.*}} [0.5, -7, 7.5, 0.25]
// VALUES: result 4 {{.*}} [0.0625, -28, 1.25, 20]
// RUN: mesh-run %S/Inputs/minifloats-1.13.3.mlirbc --function=computed | FileCheck %s --check-prefix=COMPUTED
// COMPUTED: result 0 {{.*}} [6]
// COMPUTED: result 1 {{.*}} [3, -6, 6, 1]
// COMPUTED: result 2 {{.*}} [18.25, 7, 7, 36.25]
// COMPUTED: result 3 {{.*}} [227, 23]
// COMPUTED: result 4 {{.*}} [-1.5, -1, -0.5, -0]
// RUN: mesh-run %S/Inputs/minifloats-1.13.3.mlirbc --function=reduced | FileCheck %s --check-prefix=REDUCED
// REDUCED: result 0 {{.*}} [9.5]
// RUN: mesh-opt %S/Inputs/minifloats-1.13.3.mlirbc | mesh-opt - --stablehlo-to-dtensor | FileCheck %s --check-prefix=MINIFLOATS
// MINIFLOATS-LABEL: @reduced
// MINIFLOATS: dtensor.constant {{.*}} tensor<3xui8>
//
// RUN: mesh-run %S/Inputs/manual-column-1.13.3.mlirbc --verify
// RUN: mesh-run %S/Inputs/futures-1.17.0.mlirbc --function=argument | FileCheck %S/../StableHLO/run-futures.mlir --check-prefix=ARGUMENT
//
// What JAX's exported.serialize() returns has an artifact inside.
// RUN: mesh-opt %S/Inputs/exported.bin | FileCheck %s --check-prefix=EXPORTED
// EXPORTED: sdy.mesh @mesh = <["batch"=2]>
// EXPORTED: func.func public @main(%arg0: tensor<8x4xf32> {{.*}}sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>
// EXPORTED: stablehlo.dot_general
// EXPORTED: stablehlo.tanh
//
// RUN: mesh-run %S/Inputs/exported.bin --verify | FileCheck %s --check-prefix=VERIFIED
// VERIFIED: ok
//
// An artifact that ends too early is refused, with the place.
// RUN: head -c 1000 %S/Inputs/step-1.13.3.mlirbc > %t.cut
// RUN: not mesh-opt %t.cut 2>&1 | FileCheck %s --check-prefix=CUT
// RUN: not mesh-run %t.cut 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: cut: error: cannot read the artifact: expected {{[0-9]+}} bytes, got {{[0-9]+}} (at byte {{[0-9]+}})
//
// Artifacts that mesh-opt writes are read as the program that they were written
// of, for old and new releases, with calls, loops, reductions and locations.
// RUN: mesh-opt %S/Inputs/step-1.13.3.mlirbc --stablehlo-to-dtensor --dtensor-partition=machine=ring --spmd-to-stablehlo --mlir-print-debuginfo -o %t.step.mlir
// RUN: mesh-opt %t.step.mlir --emit-portable-artifact=1.0.0 -o %t.step.mlirbc
// RUN: mesh-opt %t.step.mlirbc --mlir-print-debuginfo | diff %t.step.mlir -
// RUN: mesh-opt %t.step.mlir --emit-portable-artifact=1.17.0 -o %t.step.mlirbc
// RUN: mesh-opt %t.step.mlirbc --mlir-print-debuginfo | diff %t.step.mlir -
//
// So are small types, bools and complex numbers, and every form of attribute.
// RUN: mesh-opt %S/Inputs/written.mlir --emit-portable-artifact -o %t.written
// RUN: mesh-opt %t.written | FileCheck %S/Inputs/written.mlir
// RUN: not mesh-opt %S/Inputs/written.mlir --emit-portable-artifact=1.5.0 -o %t.old 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: written.mlir:{{[0-9]+}}:{{[0-9]+}}: error: 'func.func' op cannot be written: f8E4M3 is a type that portable artifacts of StableHLO 1.5 do not have
// RUN: not mesh-opt %S/Inputs/written.mlir --emit-portable-artifact=1.99.0 2>&1 | FileCheck %s --check-prefix=NEW
// NEW: portable artifacts are written for releases of StableHLO from 1.0.0 to 1.17.0, and not for '1.99.0'
// RUN: not mesh-opt %S/../../Programs/softmax.mlir --emit-portable-artifact 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: 'func.func' op cannot be written: tensor<{{.*}}, #dtensor.layout<{{.*}} is a type that portable artifacts of StableHLO 1.13 do not have
// RUN: mesh-opt --target=stablehlo --emit-portable-artifact %S/../../Programs/mixer.mlir | mesh-opt | FileCheck %s --check-prefix=CALL
// CALL: stablehlo.custom_call @mhlo.erf({{.*}}) {mhlo.attributes = {}, mhlo.version = 1 : i64}
