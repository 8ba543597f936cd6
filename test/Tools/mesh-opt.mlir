// What one expects of an mlir-opt.

// The help begins with Meshloom's pipelines, passes and options; LLVM's own
// options are not in it.
// RUN: mesh-opt --help | FileCheck %s --check-prefix=FIRST
// FIRST: Meshloom's pipelines:
// FIRST: --dtensor-partition
// FIRST: Meshloom's passes:
// FIRST: --dtensor-propagate-layouts
// FIRST: --spmd-form-kernels
// FIRST: --stablehlo-to-dtensor
// FIRST: USAGE: mesh-opt
// FIRST: Compiler options:
// FIRST: --explain
// FIRST: --target=<name>
// FIRST: General options:
// FIRST-NOT: --instcombine
// FIRST-NOT: --x86-align-branch

// Every pass and the pipeline are there, beside the upstream ones.
// RUN: mesh-opt --help | FileCheck %s --check-prefix=HELP
// HELP-DAG: --canonicalize
// HELP-DAG: --cse
// HELP-DAG: --dtensor-lift-variables
// HELP-DAG: --dtensor-gradient
// HELP-DAG: --dtensor-propagate-layouts
// HELP-DAG: --dtensor-refine-layouts
// HELP-DAG: --dtensor-insert-relayouts
// HELP-DAG: --dtensor-expand-to-spmd
// HELP-DAG: --spmd-simplify-collectives
// HELP-DAG: --spmd-combine-collectives
// HELP-DAG: --spmd-form-kernels
// HELP-DAG: --dtensor-partition
// HELP-DAG: --split-input-file
// HELP-DAG: --verify-diagnostics
// HELP-DAG: --mlir-print-ir-after-all

// --explain comes last wherever it stands.
// RUN: mesh-opt %s --explain --dtensor-partition=machine=ring -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// EXPLAIN: all_gather

// RUN: mesh-opt --show-dialects | FileCheck %s --check-prefix=DIALECTS
// DIALECTS: arith,{{.*}}dtensor,func,{{.*}}math,{{.*}}spmd

// RUN: mesh-opt %s --canonicalize --cse --mlir-print-ir-after-all 2>&1 | FileCheck %s --check-prefix=AFTER
// AFTER: IR Dump After Canonicalizer
// AFTER: IR Dump After CSE

// RUN: mesh-opt %s --pass-pipeline='builtin.module(func.func(dtensor-propagate-layouts))' | FileCheck %s --check-prefix=PIPELINE
// PIPELINE: tensor<4xf32, #layout_x>

// RUN: mesh-opt %s --mlir-print-debuginfo -o %t && FileCheck %s --check-prefix=LOCATIONS < %t
// LOCATIONS: mesh-opt.mlir":[[#]]:

// Bytecode round trip.
// RUN: mesh-opt %s --emit-bytecode | mesh-opt | FileCheck %s --check-prefix=PIPELINE

// RUN: not mesh-opt %t.missing 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: No such file or directory

// RUN: not mesh-opt %s --dtensor-make-coffee 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: Unknown command line argument '--dtensor-make-coffee'

// RUN: not mesh-opt %s --dtensor-partition='machine=abacus' 2>&1 | FileCheck %s --check-prefix=MACHINE
// MACHINE: abacus

// RUN: not mesh-opt %s --split-input-file --verify-diagnostics --canonicalize=max-iterations=x 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: 'x' value invalid

#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x]>
#full = #dtensor.layout<#mesh, [*]>
func.func @main(%x: tensor<4xf32, #rows>) -> tensor<4xf32, #full> {
  %0 = dtensor.exp %x : (tensor<4xf32, #rows>) -> tensor<4xf32>
  %1 = dtensor.constraint %0 : (tensor<4xf32>) -> tensor<4xf32, #full>
  return %1 : tensor<4xf32, #full>
}

// --explain without a pass says that it tells of the program as it stands in the file.
// RUN: mesh-opt %s --explain 2>&1 >/dev/null | FileCheck %s --check-prefix=NO-PASS
// RUN: mesh-opt %s --dtensor-partition --explain 2>&1 >/dev/null | FileCheck %s --check-prefix=PASS --implicit-check-not="no pass ran"
// NO-PASS: mesh-opt: no pass ran before --explain
// NO-PASS-SAME: --stablehlo-to-dtensor --dtensor-partition
// PASS: on shared-memory
