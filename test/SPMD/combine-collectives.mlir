// Independent collectives of one kind become one.
// RUN: mesh-opt %s --spmd-combine-collectives --split-input-file | FileCheck %s

#mesh = #dtensor.mesh<x = 2>
#full = #spmd.shard<[8], #dtensor.layout<#mesh, [*]>>
#sum = #spmd.shard<[8], #dtensor.layout<#mesh, [*] partial<x: sum>>>

// (89) Two independent all_reduces become one; the user of the first moves
// behind it.
// CHECK-LABEL: func.func @independent
// CHECK-NEXT: %[[B:.*]] = dtensor.negate %arg1
// CHECK-NEXT: %[[R:.*]]:2 = spmd.all_reduce sum over [x] %arg0, %[[B]] {bytes = 64 : i64, dtensor.origin = {x = "argument 'a'"}, reason = "one | two"}
// CHECK-NEXT: %[[E:.*]] = dtensor.exp %[[R]]#0
// CHECK-NEXT: return %[[E]], %[[R]]#1
func.func @independent(%a: tensor<8xf32, #sum>, %b: tensor<8xf32, #sum>) -> (tensor<8xf32, #full>, tensor<8xf32, #full>) {
  %0 = spmd.all_reduce sum over [x] %a {reason = "one", dtensor.origin = {x = "argument 'a'"}} : (tensor<8xf32, #sum>) -> tensor<8xf32, #full>
  %1 = dtensor.exp %0 : tensor<8xf32, #full>
  %2 = dtensor.negate %b : tensor<8xf32, #sum>
  %3 = spmd.all_reduce sum over [x] %2 {reason = "two"} : (tensor<8xf32, #sum>) -> tensor<8xf32, #full>
  return %1, %3 : tensor<8xf32, #full>, tensor<8xf32, #full>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#full = #spmd.shard<[8], #dtensor.layout<#mesh, [*]>>
#sum = #spmd.shard<[8], #dtensor.layout<#mesh, [*] partial<x: sum>>>
#sum_y = #spmd.shard<[8], #dtensor.layout<#mesh, [*] partial<y: sum>>>
#max = #spmd.shard<[8], #dtensor.layout<#mesh, [*] partial<x: max>>>

// (89) Another reduction, other axes and another element type are not merged.
// CHECK-LABEL: func.func @different
// CHECK-NEXT: spmd.all_reduce sum over [x] %arg0 :
// CHECK-NEXT: spmd.all_reduce max over [x] %arg1 :
// CHECK-NEXT: spmd.all_reduce sum over [y] %arg2 :
// CHECK-NEXT: spmd.all_reduce sum over [x] %arg3 :
func.func @different(%a: tensor<8xf32, #sum>, %b: tensor<8xf32, #max>, %c: tensor<8xf32, #sum_y>, %d: tensor<8xf64, #sum>)
    -> (tensor<8xf32, #full>, tensor<8xf32, #full>, tensor<8xf32, #full>, tensor<8xf64, #full>) {
  %0 = spmd.all_reduce sum over [x] %a : (tensor<8xf32, #sum>) -> tensor<8xf32, #full>
  %1 = spmd.all_reduce max over [x] %b : (tensor<8xf32, #max>) -> tensor<8xf32, #full>
  %2 = spmd.all_reduce sum over [y] %c : (tensor<8xf32, #sum_y>) -> tensor<8xf32, #full>
  %3 = spmd.all_reduce sum over [x] %d : (tensor<8xf64, #sum>) -> tensor<8xf64, #full>
  return %0, %1, %2, %3 : tensor<8xf32, #full>, tensor<8xf32, #full>, tensor<8xf32, #full>, tensor<8xf64, #full>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#full = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, *]>>
#rows = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [x, *]>>
#columns = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, x]>>
#sum = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, *] partial<x: sum>>>

// (89) Dependent ones are merged layer by layer: two layers of two.
// CHECK-LABEL: func.func @layers
// CHECK: %[[ONE:.*]]:2 = spmd.all_reduce sum over [x] %arg0, %arg1
// CHECK: %[[TWO:.*]]:2 = spmd.all_reduce sum over [x]
// CHECK-NOT: spmd.all_reduce
// CHECK: return %[[TWO]]#0, %[[TWO]]#1
func.func @layers(%a: tensor<8x8xf32, #sum>, %b: tensor<8x8xf32, #sum>, %w: tensor<4x8xf32, #rows>)
    -> (tensor<8x8xf32, #full>, tensor<8x8xf32, #full>) {
  %0 = spmd.all_reduce sum over [x] %a : (tensor<8x8xf32, #sum>) -> tensor<8x8xf32, #full>
  %1 = spmd.slice over [x] %0 : (tensor<8x8xf32, #full>) -> tensor<8x4xf32, #columns>
  %2 = dtensor.matmul %1, %w : (tensor<8x4xf32, #columns>, tensor<4x8xf32, #rows>) -> tensor<8x8xf32, #sum>
  %3 = spmd.all_reduce sum over [x] %2 : (tensor<8x8xf32, #sum>) -> tensor<8x8xf32, #full>
  %4 = spmd.all_reduce sum over [x] %b : (tensor<8x8xf32, #sum>) -> tensor<8x8xf32, #full>
  %5 = spmd.slice over [x] %4 : (tensor<8x8xf32, #full>) -> tensor<8x4xf32, #columns>
  %6 = dtensor.matmul %5, %w : (tensor<8x4xf32, #columns>, tensor<4x8xf32, #rows>) -> tensor<8x8xf32, #sum>
  %7 = spmd.all_reduce sum over [x] %6 : (tensor<8x8xf32, #sum>) -> tensor<8x8xf32, #full>
  return %3, %7 : tensor<8x8xf32, #full>, tensor<8x8xf32, #full>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#full = #spmd.shard<[8], #dtensor.layout<#mesh, [*]>>
#rows = #spmd.shard<[8], #dtensor.layout<#mesh, [x]>>

// Gathers are merged where no user waits: not all weights at once.
// CHECK-LABEL: func.func @gathers
// CHECK-NEXT: %[[W:.*]]:2 = spmd.all_gather over [x] %arg0, %arg1 {bytes = 64 : i64}
// CHECK-NEXT: dtensor.add %[[W]]#0, %[[W]]#1
// CHECK-NEXT: spmd.all_gather over [x] %arg2
// CHECK-NEXT: dtensor.add
func.func @gathers(%a: tensor<4xf32, #rows>, %b: tensor<4xf32, #rows>, %c: tensor<4xf32, #rows>) -> tensor<8xf32, #full> {
  %0 = spmd.all_gather over [x] %a : (tensor<4xf32, #rows>) -> tensor<8xf32, #full>
  %1 = spmd.all_gather over [x] %b : (tensor<4xf32, #rows>) -> tensor<8xf32, #full>
  %2 = dtensor.add %0, %1 : tensor<8xf32, #full>
  %3 = spmd.all_gather over [x] %c : (tensor<4xf32, #rows>) -> tensor<8xf32, #full>
  %4 = dtensor.add %2, %3 : tensor<8xf32, #full>
  return %4 : tensor<8xf32, #full>
}

// -----

#mesh = #dtensor.mesh<x = 2>

// A function that is not expanded yet, and a declaration, have no collectives.
// CHECK-LABEL: func.func @not_expanded
// CHECK-NEXT: dtensor.exp %arg0
// CHECK-NEXT: return
// CHECK: func.func private @declared(tensor<8xf32>)
func.func @not_expanded(%a: tensor<8xf32, #dtensor.layout<#mesh, [x]>>) -> tensor<8xf32, #dtensor.layout<#mesh, [x]>> {
  %0 = dtensor.exp %a : tensor<8xf32, #dtensor.layout<#mesh, [x]>>
  return %0 : tensor<8xf32, #dtensor.layout<#mesh, [x]>>
}
func.func private @declared(tensor<8xf32>)
