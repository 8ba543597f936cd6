// --suggest: the change of one layout annotation that saves the most.
// RUN: mesh-opt %s --function=rows --suggest --machine=ring | FileCheck %s
// RUN: mesh-opt %s --function=rows --suggest -o %t.json && FileCheck %s --check-prefix=JSON < %t.json
// RUN: mesh-opt %s --function=rows --suggest --machine=ring --explain=%t.page.json && FileCheck %s --check-prefix=PAGE < %t.page.json
// PAGE: "suggestions": [
// PAGE: "title": "to save
// One compilation prints the explanation, writes the page and suggests.
// RUN: mesh-opt %s --function=rows --suggest --machine=ring --explain --explain=%t.both.json 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: FileCheck %s --check-prefix=PAGE < %t.both.json
// BOTH: 1. all_to_all over [x]
// BOTH: @rows on 4 devices of ring, <x=4>:
// RUN: not mesh-opt %s --function=rows --explain=%t.a.json --explain=%t.b.json 2>&1 | FileCheck %s --check-prefix=FILES
// FILES: --explain=FILE names one file; it was given 2 times with one
// RUN: mesh-opt %s --function=broken --suggest | FileCheck %s --check-prefix=CONTRACT
// RUN: mesh-opt %s --function=layers --suggest --auto-layout --mesh=4 | FileCheck %s --check-prefix=AUTO
// RUN: mesh-opt %s --function=layers --auto-layout --mesh=x=4 --explain 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: mesh-run %s --function=rows --suggest --machine=ring --compile-only | FileCheck %s
// RUN: not mesh-opt %s --function=layers --suggest 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not mesh-opt %s --function=rows --suggest --predict 2>&1 | FileCheck %s --check-prefix=BESIDE
// RUN: not mesh-opt %s --function=rows --auto-layout --dtensor-partition 2>&1 | FileCheck %s --check-prefix=PASSES
// RUN: not mesh-opt %s --function=rows --auto-layout=-1 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: not mesh-opt %s --function=rows --predict --mesh=x=4 2>&1 | FileCheck %s --check-prefix=MESH
// RUN: not mesh-opt %s --function=layers --auto-layout --mesh=1 2>&1 | FileCheck %s --check-prefix=DEVICES
// RUN: not mesh-opt %s --function=rows --auto-layout --mesh=8 2>&1 | FileCheck %s --check-prefix=OTHER

// The product cuts its contraction, so that the sum is sent. Rows of both send
// nothing.
// CHECK: @rows on 4 devices of ring, <x=4>: {{.*}} a step, {{.*}} sent by each device, {{.*}} of memory
// CHECK-NEXT: to {{.*}}send less{{.*}}: argument 'a' with [x, *] instead of [*, x]; a step takes {{.*}} less, each device sends {{.*}} less
// CHECK-NEXT: [x, *] PartitionSpec('x', None) #sdy.sharding<@mesh, [{"x"}, {}]>
// CHECK: argument 'a': [*, x] PartitionSpec(None, 'x') #sdy.sharding<@mesh, [{}, {"x"}]>
// CHECK-NEXT: next best [x, *]: a step takes {{.*}} less
// JSON: "machine": "ring"
// JSON: "costs": {
// JSON: "suggestions": [
// JSON: "goal": "bytes"
// JSON-NEXT: "annotation": "argument 'a'"
// JSON: "annotations": [
// JSON: "next_best": {
// CONTRACT: of memory; it breaks its contract
// CONTRACT-NEXT: to keep the contract: argument 'a' with
// Arguments that differ in their number are one annotation, and keep a layout.
// AUTO: @layers on 4 devices of ring,
// AUTO: arguments 'layers.*.w': [
// AUTO-NEXT: next best [
// AUTO-NOT: no layout
// Without --suggest, layouts have no next best one.
// ALONE: automatic layouts: predicted
// ALONE: arguments 'layers.*.w': [
// ALONE-NOT: next best
// ONE: mesh-opt: the program is on one device, where layouts make no difference: give it a layout over a mesh
// BESIDE: --suggest compiles for --machine by itself: name no --target, --contract, --predict or --what-if beside it
// PASSES: --suggest, --auto-layout, --accumulate-gradients and --explain=FILE compile with passes of their own: name none beside them
// BYTES: --auto-layout=-1: expected the bytes that a device may hold, or no value for any number
// MESH: --mesh is for --auto-layout: give that too
// DEVICES: error: layouts over 1 devices were asked for; expected 2 to 1000000
// OTHER: error: the program is on mesh <x=4>, which has 4 devices, not the 8 that the option names

#mesh = #dtensor.mesh<x = 4>
#columns = #dtensor.layout<#mesh, [*, x]>
#rows = #dtensor.layout<#mesh, [x, *]>
#whole = #dtensor.layout<#mesh, [*, *]>
func.func @rows(%a: tensor<64x64xf32, #columns> {dtensor.name = "a"}, %b: tensor<64x64xf32, #whole> {dtensor.name = "b"}) -> tensor<64x64xf32, #rows> {
  %0 = dtensor.dot_general %a, %b contracting [1] x [0] : (tensor<64x64xf32, #columns>, tensor<64x64xf32, #whole>) -> tensor<64x64xf32>
  %1 = dtensor.constraint %0 : (tensor<64x64xf32>) -> tensor<64x64xf32, #rows>
  return %1 : tensor<64x64xf32, #rows>
}
func.func @broken(%a: tensor<64x64xf32, #columns> {dtensor.name = "a"}) -> tensor<64x64xf32, #rows> attributes {dtensor.contract = []} {
  %0 = dtensor.tanh %a : (tensor<64x64xf32, #columns>) -> tensor<64x64xf32>
  %1 = dtensor.constraint %0 : (tensor<64x64xf32>) -> tensor<64x64xf32, #rows>
  return %1 : tensor<64x64xf32, #rows>
}
func.func @layers(%x: tensor<4096x512xf32>, %w0: tensor<512x512xf32> {dtensor.name = "layers.0.w"}, %w1: tensor<512x512xf32> {dtensor.name = "layers.1.w"}) -> tensor<4096x512xf32> {
  %0 = dtensor.dot_general %x, %w0 contracting [1] x [0] : (tensor<4096x512xf32>, tensor<512x512xf32>) -> tensor<4096x512xf32>
  %1 = dtensor.dot_general %0, %w1 contracting [1] x [0] : (tensor<4096x512xf32>, tensor<512x512xf32>) -> tensor<4096x512xf32>
  return %1 : tensor<4096x512xf32>
}
