// mesh-opt --target compiles instead of running passes.

// cpu: the program after the target's last pass, which is kernels.
// RUN: mesh-opt %s --target=cpu | FileCheck %s --check-prefix=CPU
// CPU: func.func @main(%{{.*}}: tensor<2xf32, #spmd.shard<[4], <#dtensor.mesh<x = 2>, [x]>>>
// CPU: spmd.kernel

// stablehlo: what one device runs; the default machine has devices that send.
// RUN: mesh-opt %s --target=stablehlo | FileCheck %s --check-prefix=STABLEHLO
// STABLEHLO: "stablehlo.exponential"{{.*}}(tensor<2xf32>) -> tensor<2xf32>
// STABLEHLO: "stablehlo.all_gather"
// STABLEHLO: mhlo.num_replicas = 2

// StableHLO in, StableHLO out; one of several functions; into a file.
// RUN: mesh-opt %s --target=stablehlo -o %t.mlir && mesh-opt %S/Inputs/two-functions.mlir --target=stablehlo --function=second -o %t2.mlir && FileCheck %s --check-prefix=SECOND < %t2.mlir
// SECOND: "stablehlo.cosine"
// SECOND-NOT: "stablehlo.sine"
// RUN: not mesh-opt %S/Inputs/two-functions.mlir --target=stablehlo 2>&1 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: mesh-opt: the module has no function 'main' and several others (first, second): name one

// --explain says why each collective is there, on the machine that was named.
// RUN: mesh-opt %s --target=stablehlo --machine=tpu:v5e:1x2 --explain -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// EXPLAIN: @main on tpu:v5e:1x2: 1 collective
// RUN: not mesh-opt %s --target=stablehlo --machine=tpu:v5e:1 2>&1 | FileCheck %s --check-prefix=MACHINE
// MACHINE: no machine model for the TPUs 'v5e:1': expected 2 sizes after v5e, as in v5e:2x4

// Passes take no options of compilations.
// RUN: not mesh-opt %s --dtensor-partition --machine=ring 2>&1 | FileCheck %s --check-prefix=COMPILED
// COMPILED: mesh-opt: --machine and --function are for programs that are compiled: give --target, --predict or another option that compiles

// RUN: not mesh-opt %s --target=gpu 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: mesh-opt: there is no target 'gpu'; the targets are cpu, cuda, stablehlo, and TPUs by topology, as in tpu:v5e:2x4
// RUN: not mesh-opt %s --target= 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: mesh-opt: --target= names no target
// RUN: not mesh-opt %s --target=cpu --canonicalize 2>&1 | FileCheck %s --check-prefix=PASSES
// PASSES: mesh-opt: --target, --contract, --predict, --what-if, --pipeline, --suggest, --auto-layout, --accumulate-gradients and --explain=FILE compile with passes of their own: name none beside them

// Without libtpu the error says what was looked for, and whose it is to get.
// RUN: env -u TPU_LIBRARY_PATH -u PJRT_NAMES_AND_LIBRARY_PATHS not mesh-opt %s --target=tpu:v5e:1x2 2>&1 | FileCheck %s --check-prefix=ABSENT
// ABSENT: mesh-opt: there is no plug-in for TPUs: {{.*}}TPU_LIBRARY_PATH is not set{{.*}}its own terms, which you have to accept
// RUN: not mesh-opt %s --target=tpu:v5e:1x2 --tpu-library=%t.missing 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: mesh-opt: there is no PJRT plug-in at '{{.*}}.missing': No such file or directory

#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x]>
#full = #dtensor.layout<#mesh, [*]>
func.func @main(%x: tensor<4xf32, #rows>) -> tensor<4xf32, #full> {
  %0 = dtensor.exp %x : (tensor<4xf32, #rows>) -> tensor<4xf32>
  %1 = dtensor.constraint %0 : (tensor<4xf32>) -> tensor<4xf32, #full>
  return %1 : tensor<4xf32, #full>
}
