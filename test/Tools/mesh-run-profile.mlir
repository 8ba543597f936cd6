// --profile: the costliest steps as a table; --profile=FILE: a trace, in which
// every step of the program is, with shared and with private memories.
// RUN: mesh-run %s --machine=ring --no-refine --repeat=3 --profile | FileCheck %s
// RUN: mesh-run %s --machine=ring --no-refine --profile=%t.json
// RUN: FileCheck %s --check-prefix=TRACE < %t.json
// RUN: mesh-run %s --machine=ring --no-refine --private-memories --profile=%t.json
// RUN: FileCheck %s --check-prefixes=TRACE,APART < %t.json
// RUN: mesh-run %s --platform=reference --profile=%t.json && FileCheck %s --check-prefix=REFERENCE < %t.json
// RUN: not mesh-run %s --profile=%t.missing/trace.json 2>&1 | FileCheck %s --check-prefix=ERROR

// CHECK: result 0 f32[5]
// CHECK: profiled after a first run, which is left out
// CHECK-NEXT: 3 runs of 1 program in {{.*}} ms; steps took {{.*}} ms of {{[0-9]+}} worker
// CHECK-NEXT: peak of a worker, measured: {{.*}} GFLOP/s (f32), {{.*}} GB/s
// CHECK-NEXT: ms share GFLOP/s GB/s of peak op scope source
// CHECK-NEXT: {{[0-9.]+}}% {{.*}}mesh-run-profile.mlir:

// TRACE: "otherData": {"workers":{{[0-9]+}},"peak GFLOP/s of a worker":
// TRACE-DAG: "kind":"kernel"
// TRACE-DAG: "kind":"all_reduce"
// TRACE-DAG: "ph":"b","name":"main"
// TRACE-DAG: "ph":"e","name":"main"
// APART-DAG: "devices":"3","bytes":20
// TRACE-DAG: "process_name",{{.*}}"name":"cpu"
// TRACE-DAG: "thread_name",{{.*}}"name":"worker
// REFERENCE: "name":"reference"

// ERROR: mesh-run: error: {{.*}}missing/trace.json

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>

func.func @main(%x: tensor<6x5xf32, #rows>) -> tensor<5xf32, #dtensor.layout<#mesh, [*]>> {
  %0 = dtensor.reduce sum %x dims [0] : (tensor<6x5xf32, #rows>) -> tensor<5xf32>
  %1 = dtensor.constraint %0 : (tensor<5xf32>) -> tensor<5xf32, #dtensor.layout<#mesh, [*]>>
  return %1 : tensor<5xf32, #dtensor.layout<#mesh, [*]>>
}
