// RUN: mesh-opt %s --canonicalize --split-input-file | FileCheck %s
// Collectives that cancel, merge or do nothing.

#mesh = #dtensor.mesh<x = 2, y = 2>
#full = #dtensor.layout<#mesh, [*]>
#x = #dtensor.layout<#mesh, [x]>
#xy = #dtensor.layout<#mesh, [{x, y}]>
!full = tensor<8xf32, #spmd.shard<[8], #full>>
!x = tensor<4xf32, #spmd.shard<[8], #x>>
!xy = tensor<2xf32, #spmd.shard<[8], #xy>>

// CHECK-LABEL: func.func @cancel
// CHECK-SAME: (%[[F:.*]]: tensor<8xf32, {{.*}}>, %[[S:.*]]: tensor<4xf32,
func.func @cancel(%f: !full, %s: !x) -> (!full, !x) {
  %0 = spmd.slice over [x] %f : (!full) -> !x
  %1 = spmd.all_gather over [x] %0 : (!x) -> !full
  %2 = spmd.all_gather over [x] %s : (!x) -> !full
  %3 = spmd.slice over [x] %2 : (!full) -> !x
  // CHECK-NEXT: return %[[F]], %[[S]]
  return %1, %3 : !full, !x
}

// Combined collectives are left to the passes that know what to combine, but
// unused and repeated operands go.
// CHECK-LABEL: func.func @operands
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32, {{.*}}>, %[[B:.*]]: tensor<4xf32,
func.func @operands(%a: !x, %b: !x) -> (!full, !full) {
  // CHECK-NEXT: %[[R:.*]] = spmd.all_gather over [x] %[[A]] {bytes = 32 : i64} : (tensor<4xf32, {{.*}}>) -> tensor<8xf32
  %0:3 = spmd.all_gather over [x] %a, %b, %a {bytes = 96 : i64} : (!x, !x, !x) -> (!full, !full, !full)
  // CHECK-NEXT: return %[[R]], %[[R]]
  return %0#0, %0#2 : !full, !full
}

// CHECK-LABEL: func.func @merge
// CHECK-SAME: (%[[A:.*]]: tensor<2xf32,
func.func @merge(%a: !xy) -> !full {
  // CHECK-NEXT: spmd.all_gather over [x, y] %[[A]] {bytes = 32 : i64}
  %0 = spmd.all_gather over [y] %a {bytes = 16 : i64} : (!xy) -> !x
  %1 = spmd.all_gather over [x] %0 {bytes = 32 : i64} : (!x) -> !full
  return %1 : !full
}

// A value in between that is used is not gathered twice.
// CHECK-LABEL: func.func @used_between
func.func @used_between(%a: !xy) -> (!x, !full) {
  // CHECK-COUNT-2: spmd.all_gather
  %0 = spmd.all_gather over [y] %a : (!xy) -> !x
  %1 = spmd.all_gather over [x] %0 : (!x) -> !full
  return %0, %1 : !x, !full
}

// CHECK-LABEL: func.func @constant
func.func @constant() -> !x {
  // CHECK-NEXT: dtensor.constant dense<1.000000e+00> : tensor<8xf32> -> tensor<4xf32, #spmd.shard<[8], #layout_x>>
  %0 = dtensor.constant dense<1.0> : tensor<8xf32> -> !full
  %1 = spmd.slice over [x] %0 : (!full) -> !x
  return %1 : !x
}

// CHECK-LABEL: func.func @permute_nothing
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32,
func.func @permute_nothing(%a: !x) -> !x {
  %0 = spmd.permute over [x] %a : (!x) -> !x
  // CHECK-NEXT: return %[[A]]
  return %0 : !x
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 2>
#full = #dtensor.layout<#mesh, []>
#x = #dtensor.layout<#mesh, [] partial<x: sum>>
#xy = #dtensor.layout<#mesh, [] partial<x: sum, y: sum>>
#mixed = #dtensor.layout<#mesh, [] partial<x: max>>
!full = tensor<f32, #spmd.shard<[], #full>>
!x = tensor<f32, #spmd.shard<[], #x>>
!xy = tensor<f32, #spmd.shard<[], #xy>>

// CHECK-LABEL: func.func @reductions
func.func @reductions(%a: !xy) -> !full {
  // CHECK-NEXT: spmd.all_reduce sum over [x, y]
  // CHECK-NEXT: return
  %0 = spmd.all_reduce sum over [y] %a : (!xy) -> !x
  %1 = spmd.all_reduce sum over [x] %0 : (!x) -> !full
  return %1 : !full
}
