// --stats: one entry a collective that is executed, with the bytes of one
// device's result, padded as sent; and memory and times.
// RUN: mesh-run %s --machine=ring --no-refine --stats=%t.json && FileCheck %s < %t.json
// RUN: mesh-run %s --machine=ring --no-refine --private-memories --stats=%t.json && FileCheck %s < %t.json
// RUN: mesh-run %s --machine=ring --no-refine --explain | FileCheck %s --check-prefix=EXPLAIN
// CHECK: "devices": 4
// CHECK: "collectives": [
// CHECK: "step": {{[0-9]+}}
// CHECK-NEXT: "kind": "all_reduce"
// CHECK-NEXT: "group_size": 4
// CHECK-NEXT: "result_bytes": 20
// CHECK-NEXT: }
// CHECK-NEXT: ]
// CHECK: "peak_bytes_per_device": {{[1-9]}}
// CHECK-NEXT: "bytes_in_use": {{[1-9]}}
// CHECK: "compile_ms":
// CHECK: "step_ms":
// CHECK: "predicted": {
// CHECK-NEXT: "machine": "ring"
// CHECK-NEXT: "peak_bytes_per_device": {{[1-9]}}
// CHECK-NEXT: "step_ms":
// EXPLAIN: all_reduce
#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>

func.func @main(%x: tensor<6x5xf32, #rows>) -> tensor<5xf32, #dtensor.layout<#mesh, [*]>> {
  %0 = dtensor.reduce sum %x dims [0] : (tensor<6x5xf32, #rows>) -> tensor<5xf32>
  %1 = dtensor.constraint %0 : (tensor<5xf32>) -> tensor<5xf32, #dtensor.layout<#mesh, [*]>>
  return %1 : tensor<5xf32, #dtensor.layout<#mesh, [*]>>
}
