// Collectives of one value are dropped, folded and merged.
// RUN: mesh-opt %s --spmd-simplify-collectives --split-input-file | FileCheck %s

#mesh = #dtensor.mesh<x = 2, y = 4>
#rows = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [x, *]>>
#full = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, *]>>
#sum = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, *] partial<x: sum>>>

// all_reduce + slice over the same axis -> reduce_scatter.
// CHECK-LABEL: func.func @scatter
// CHECK-NEXT: %[[R:.*]] = spmd.reduce_scatter sum over [x] %arg0 {bytes = 128 : i64, reason = "needed"}
// CHECK-NEXT: return %[[R]]
func.func @scatter(%a: tensor<8x8xf32, #sum>) -> tensor<4x8xf32, #rows> {
  %0 = spmd.all_reduce sum over [x] %a {bytes = 256 : i64, reason = "needed"} : (tensor<8x8xf32, #sum>) -> tensor<8x8xf32, #full>
  %1 = spmd.slice over [x] %0 : (tensor<8x8xf32, #full>) -> tensor<4x8xf32, #rows>
  return %1 : tensor<4x8xf32, #rows>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#rows = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [x, *]>>
#full = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, *]>>
#sum = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, *] partial<x: sum, y: sum>>>

// Axes that are not sliced are reduced on the smaller part.
// CHECK-LABEL: func.func @scatter_some_axes
// CHECK-NEXT: spmd.reduce_scatter sum over [x] %arg0 {bytes = 128 : i64}
// CHECK-NEXT: spmd.all_reduce sum over [y] {{.*}} {bytes = 128 : i64}
// CHECK-NEXT: return
func.func @scatter_some_axes(%a: tensor<8x8xf32, #sum>) -> tensor<4x8xf32, #rows> {
  %0 = spmd.all_reduce sum over [x, y] %a : (tensor<8x8xf32, #sum>) -> tensor<8x8xf32, #full>
  %1 = spmd.slice over [x] %0 : (tensor<8x8xf32, #full>) -> tensor<4x8xf32, #rows>
  return %1 : tensor<4x8xf32, #rows>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#rows = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [x, *]>>
#full = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, *]>>
#sum = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, *] partial<x: sum>>>

// The whole value is needed too: slicing it is free.
// CHECK-LABEL: func.func @scatter_multi_user
// CHECK-NEXT: spmd.all_reduce
// CHECK-NEXT: spmd.slice
func.func @scatter_multi_user(%a: tensor<8x8xf32, #sum>) -> (tensor<4x8xf32, #rows>, tensor<8x8xf32, #full>) {
  %0 = spmd.all_reduce sum over [x] %a : (tensor<8x8xf32, #sum>) -> tensor<8x8xf32, #full>
  %1 = spmd.slice over [x] %0 : (tensor<8x8xf32, #full>) -> tensor<4x8xf32, #rows>
  return %1, %0 : tensor<4x8xf32, #rows>, tensor<8x8xf32, #full>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#rows = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [y, *]>>
#full = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, *]>>
#sum = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, *] partial<x: sum>>>

// Sliced over another axis than it is reduced over.
// CHECK-LABEL: func.func @scatter_wrong_axis
// CHECK-NEXT: spmd.all_reduce sum over [x]
// CHECK-NEXT: spmd.slice over [y]
func.func @scatter_wrong_axis(%a: tensor<8x8xf32, #sum>) -> tensor<2x8xf32, #rows> {
  %0 = spmd.all_reduce sum over [x] %a : (tensor<8x8xf32, #sum>) -> tensor<8x8xf32, #full>
  %1 = spmd.slice over [y] %0 : (tensor<8x8xf32, #full>) -> tensor<2x8xf32, #rows>
  return %1 : tensor<2x8xf32, #rows>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#rows = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [x, *]>>
#full = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, *]>>

// A gather and the slice that undoes it.
// CHECK-LABEL: func.func @there_and_back
// CHECK-NEXT: return %arg0
func.func @there_and_back(%a: tensor<4x8xf32, #rows>) -> tensor<4x8xf32, #rows> {
  %0 = spmd.all_gather over [x] %a : (tensor<4x8xf32, #rows>) -> tensor<8x8xf32, #full>
  %1 = spmd.slice over [x] %0 : (tensor<8x8xf32, #full>) -> tensor<4x8xf32, #rows>
  return %1 : tensor<4x8xf32, #rows>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#xy = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [{x, y}, *]>>
#rows = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [x, *]>>
#full = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, *]>>
#sums = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, *] partial<x: sum, y: sum>>>
#sum = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, *] partial<x: sum>>>

// Two of a kind in a row become one over both axes.
// CHECK-LABEL: func.func @chains
// CHECK-NEXT: %[[G:.*]] = spmd.all_gather over {{\[(x, y|y, x)\]}} %arg0 {bytes = 256 : i64}
// CHECK-NEXT: %[[R:.*]] = spmd.all_reduce sum over {{\[(x, y|y, x)\]}} %arg1 {bytes = 256 : i64}
// CHECK-NEXT: return %[[G]], %[[R]]
func.func @chains(%a: tensor<1x8xf32, #xy>, %b: tensor<8x8xf32, #sums>) -> (tensor<8x8xf32, #full>, tensor<8x8xf32, #full>) {
  %0 = spmd.all_gather over [y] %a : (tensor<1x8xf32, #xy>) -> tensor<4x8xf32, #rows>
  %1 = spmd.all_gather over [x] %0 : (tensor<4x8xf32, #rows>) -> tensor<8x8xf32, #full>
  %2 = spmd.all_reduce sum over [y] %b : (tensor<8x8xf32, #sums>) -> tensor<8x8xf32, #sum>
  %3 = spmd.all_reduce sum over [x] %2 : (tensor<8x8xf32, #sum>) -> tensor<8x8xf32, #full>
  return %1, %3 : tensor<8x8xf32, #full>, tensor<8x8xf32, #full>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#full = #spmd.shard<[8], #dtensor.layout<#mesh, [*]>>
#sum = #spmd.shard<[8], #dtensor.layout<#mesh, [*] partial<x: sum>>>

// The sum of two sums is reduced once.
// CHECK-LABEL: func.func @reduce_once
// CHECK-NEXT: %[[D:.*]] = dtensor.subtract %arg0, %arg1 : tensor<8xf32, #spmd.shard<[8], #layout_u_sum_x>>
// CHECK-NEXT: %[[R:.*]] = spmd.all_reduce sum over [x] %[[D]]
// CHECK-NEXT: return %[[R]]
func.func @reduce_once(%a: tensor<8xf32, #sum>, %b: tensor<8xf32, #sum>) -> tensor<8xf32, #full> {
  %0 = spmd.all_reduce sum over [x] %a : (tensor<8xf32, #sum>) -> tensor<8xf32, #full>
  %1 = spmd.all_reduce sum over [x] %b : (tensor<8xf32, #sum>) -> tensor<8xf32, #full>
  %2 = dtensor.subtract %0, %1 : tensor<8xf32, #full>
  return %2 : tensor<8xf32, #full>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#full = #spmd.shard<[8], #dtensor.layout<#mesh, [*]>>
#sum = #spmd.shard<[8], #dtensor.layout<#mesh, [*] partial<x: sum>>>

// Not where one of them is needed by itself, nor for a product.
// CHECK-LABEL: func.func @not_reduce_once
// CHECK-COUNT-2: spmd.all_reduce
// CHECK: dtensor.add
// CHECK: dtensor.multiply
func.func @not_reduce_once(%a: tensor<8xf32, #sum>, %b: tensor<8xf32, #sum>) -> tensor<8xf32, #full> {
  %0 = spmd.all_reduce sum over [x] %a : (tensor<8xf32, #sum>) -> tensor<8xf32, #full>
  %1 = spmd.all_reduce sum over [x] %b : (tensor<8xf32, #sum>) -> tensor<8xf32, #full>
  %2 = dtensor.add %0, %1 : tensor<8xf32, #full>
  %3 = dtensor.multiply %2, %0 : tensor<8xf32, #full>
  return %3 : tensor<8xf32, #full>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #spmd.shard<[8], #dtensor.layout<#mesh, [x]>>
#full = #spmd.shard<[8], #dtensor.layout<#mesh, [*]>>

// Equal collectives of one value become one; unused ones go.
// CHECK-LABEL: func.func @equal_and_unused
// CHECK-NEXT: %[[A:.*]] = spmd.all_gather over [x] %arg0
// CHECK-NEXT: return %[[A]], %[[A]]
func.func @equal_and_unused(%a: tensor<4xf32, #rows>) -> (tensor<8xf32, #full>, tensor<8xf32, #full>) {
  %0 = spmd.all_gather over [x] %a : (tensor<4xf32, #rows>) -> tensor<8xf32, #full>
  %1 = spmd.all_gather over [x] %a : (tensor<4xf32, #rows>) -> tensor<8xf32, #full>
  %2 = spmd.all_gather over [x] %a : (tensor<4xf32, #rows>) -> tensor<8xf32, #full>
  return %0, %1 : tensor<8xf32, #full>, tensor<8xf32, #full>
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

// -----

#mesh = #dtensor.mesh<x = 2>
#part = #spmd.shard<[8], #dtensor.layout<#mesh, [x]>>
#row = #spmd.shard<[8], #dtensor.layout<#mesh, [*]>>
#rows = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [x, *]>>
#full = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, *]>>

// Pairs of all elements, of which each device needs the rows of its own ones: it
// takes their first element from its part, and pairs no others.
// CHECK-LABEL: func.func @pairs
// CHECK: %[[ALL:.*]] = spmd.all_gather over [x] %arg0
// CHECK: %[[FIRST:.*]] = dtensor.broadcast_in_dim %arg0 dims [0] {{.*}} -> tensor<4x8xf32
// CHECK: %[[SECOND:.*]] = dtensor.broadcast_in_dim %[[ALL]] dims [1] {{.*}} -> tensor<4x8xf32
// CHECK: dtensor.add %[[FIRST]], %[[SECOND]] : tensor<4x8xf32
// CHECK-NOT: spmd.slice
// CHECK: return
func.func @pairs(%a: tensor<4xf32, #part>) -> tensor<4xf32, #part> {
  %0 = spmd.all_gather over [x] %a : (tensor<4xf32, #part>) -> tensor<8xf32, #row>
  %1 = dtensor.broadcast_in_dim %0 dims [0] : (tensor<8xf32, #row>) -> tensor<8x8xf32, #full>
  %2 = dtensor.broadcast_in_dim %0 dims [1] : (tensor<8xf32, #row>) -> tensor<8x8xf32, #full>
  %3 = dtensor.add %1, %2 : tensor<8x8xf32, #full>
  %4 = spmd.slice over [x] %3 : (tensor<8x8xf32, #full>) -> tensor<4x8xf32, #rows>
  %5 = dtensor.reduce max %4 dims [1] : (tensor<4x8xf32, #rows>) -> tensor<4xf32, #part>
  return %5 : tensor<4xf32, #part>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#row = #spmd.shard<[8], #dtensor.layout<#mesh, [*]>>
#full = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, *]>>
#part = #spmd.shard<[8], #dtensor.layout<#mesh, [x]>>

// A sum that is sliced stays whole.
// CHECK-LABEL: func.func @sliced_sum
// CHECK-NEXT: dtensor.reduce sum %arg0
// CHECK-NEXT: spmd.slice
func.func @sliced_sum(%a: tensor<8x8xf32, #full>) -> tensor<4xf32, #part> {
  %0 = dtensor.reduce sum %a dims [1] : (tensor<8x8xf32, #full>) -> tensor<8xf32, #row>
  %1 = spmd.slice over [x] %0 : (tensor<8xf32, #row>) -> tensor<4xf32, #part>
  return %1 : tensor<4xf32, #part>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#rows = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [x, *]>>
#full = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, *]>>
#columns = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, x]>>
#row = #spmd.shard<[8], #dtensor.layout<#mesh, [*]>>
#sum = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, *] partial<x: sum>>>

// (90) A slice moves up through ops that only it needs: all_reduce becomes
// reduce_scatter, and the ops work on parts.
// CHECK-LABEL: func.func @scatter_through_ops
// CHECK: %[[B:.*]] = dtensor.broadcast_in_dim %arg1 dims [1] {{.*}} -> tensor<4x8xf32
// CHECK: %[[R:.*]] = spmd.reduce_scatter sum over [x] %arg0
// CHECK-NOT: spmd.slice
// CHECK: %[[A:.*]] = dtensor.add %[[R]], %[[B]] : tensor<4x8xf32
// CHECK: %[[E:.*]] = dtensor.tanh %[[A]] : tensor<4x8xf32
// CHECK-NEXT: return %[[E]]
func.func @scatter_through_ops(%a: tensor<8x8xf32, #sum>, %b: tensor<8xf32, #row>) -> tensor<4x8xf32, #rows> {
  %0 = spmd.all_reduce sum over [x] %a : (tensor<8x8xf32, #sum>) -> tensor<8x8xf32, #full>
  %1 = dtensor.broadcast_in_dim %b dims [1] : (tensor<8xf32, #row>) -> tensor<8x8xf32, #full>
  %2 = dtensor.add %0, %1 : tensor<8x8xf32, #full>
  %3 = dtensor.tanh %2 : tensor<8x8xf32, #full>
  %4 = spmd.slice over [x] %3 : (tensor<8x8xf32, #full>) -> tensor<4x8xf32, #rows>
  return %4 : tensor<4x8xf32, #rows>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#full = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, *]>>
#columns = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, x]>>
#sum = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, *] partial<x: sum>>>

// (90) The other dim, and through a transpose.
// CHECK-LABEL: func.func @scatter_through_transpose
// CHECK: %[[R:.*]] = spmd.reduce_scatter sum over [x] %arg0 {{.*}} -> tensor<4x8xf32
// CHECK: dtensor.transpose %[[R]] dims [1, 0] {{.*}} -> tensor<8x4xf32
func.func @scatter_through_transpose(%a: tensor<8x8xf32, #sum>) -> tensor<8x4xf32, #columns> {
  %0 = spmd.all_reduce sum over [x] %a : (tensor<8x8xf32, #sum>) -> tensor<8x8xf32, #full>
  %1 = dtensor.transpose %0 dims [1, 0] : (tensor<8x8xf32, #full>) -> tensor<8x8xf32, #full>
  %2 = spmd.slice over [x] %1 : (tensor<8x8xf32, #full>) -> tensor<8x4xf32, #columns>
  return %2 : tensor<8x4xf32, #columns>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#rows = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [x, *]>>
#full = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, *]>>
#sum = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, *] partial<x: sum>>>

// (90) Not where another user needs the whole value on the way.
// CHECK-LABEL: func.func @scatter_through_shared_op
// CHECK-NEXT: spmd.all_reduce
// CHECK-NEXT: dtensor.tanh {{.*}} : tensor<8x8xf32
// CHECK-NEXT: spmd.slice
func.func @scatter_through_shared_op(%a: tensor<8x8xf32, #sum>) -> (tensor<4x8xf32, #rows>, tensor<8x8xf32, #full>) {
  %0 = spmd.all_reduce sum over [x] %a : (tensor<8x8xf32, #sum>) -> tensor<8x8xf32, #full>
  %1 = dtensor.tanh %0 : tensor<8x8xf32, #full>
  %2 = spmd.slice over [x] %1 : (tensor<8x8xf32, #full>) -> tensor<4x8xf32, #rows>
  return %2, %1 : tensor<4x8xf32, #rows>, tensor<8x8xf32, #full>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#full = #spmd.shard<[8], #dtensor.layout<#mesh, [*]>>
#max = #spmd.shard<[8], #dtensor.layout<#mesh, [*] partial<x: max>>>
#sum = #spmd.shard<[8], #dtensor.layout<#mesh, [*] partial<x: sum>>>

// Maxima are merged before one reduction; the maximum of sums is not a sum.
// CHECK-LABEL: func.func @maximum
// CHECK-NEXT: %[[M:.*]] = dtensor.maximum %arg0, %arg1
// CHECK-NEXT: spmd.all_reduce max over [x] %[[M]]
// CHECK-NEXT: spmd.all_reduce sum over [x] %arg2
// CHECK-NEXT: spmd.all_reduce sum over [x] %arg3
// CHECK-NEXT: dtensor.maximum
func.func @maximum(%a: tensor<8xf32, #max>, %b: tensor<8xf32, #max>, %c: tensor<8xf32, #sum>, %d: tensor<8xf32, #sum>)
    -> (tensor<8xf32, #full>, tensor<8xf32, #full>) {
  %0 = spmd.all_reduce max over [x] %a : (tensor<8xf32, #max>) -> tensor<8xf32, #full>
  %1 = spmd.all_reduce max over [x] %b : (tensor<8xf32, #max>) -> tensor<8xf32, #full>
  %2 = dtensor.maximum %0, %1 : tensor<8xf32, #full>
  %3 = spmd.all_reduce sum over [x] %c : (tensor<8xf32, #sum>) -> tensor<8xf32, #full>
  %4 = spmd.all_reduce sum over [x] %d : (tensor<8xf32, #sum>) -> tensor<8xf32, #full>
  %5 = dtensor.maximum %3, %4 : tensor<8xf32, #full>
  return %2, %5 : tensor<8xf32, #full>, tensor<8xf32, #full>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#rows = #spmd.shard<[8], #dtensor.layout<#mesh, [x]>>
#sum = #spmd.shard<[8], #dtensor.layout<#mesh, [*] partial<x: sum>>>

// Scattered sums too.
// CHECK-LABEL: func.func @scattered_sums
// CHECK-NEXT: %[[S:.*]] = dtensor.add %arg0, %arg1
// CHECK-NEXT: spmd.reduce_scatter sum over [x] %[[S]]
// CHECK-NEXT: return
func.func @scattered_sums(%a: tensor<8xf32, #sum>, %b: tensor<8xf32, #sum>) -> tensor<4xf32, #rows> {
  %0 = spmd.reduce_scatter sum over [x] %a : (tensor<8xf32, #sum>) -> tensor<4xf32, #rows>
  %1 = spmd.reduce_scatter sum over [x] %b : (tensor<8xf32, #sum>) -> tensor<4xf32, #rows>
  %2 = dtensor.add %0, %1 : tensor<4xf32, #rows>
  return %2 : tensor<4xf32, #rows>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#rows = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [x, *]>>
#columns = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, x]>>
#full = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, *]>>

// Every device had its columns before it took rows.
// CHECK-LABEL: func.func @slice_of_earlier
// CHECK-NEXT: %[[ROWS:.*]] = spmd.slice over [x] %arg0
// CHECK-NEXT: %[[COLUMNS:.*]] = spmd.slice over [x] %arg0 {{.*}}reason = "columns"
// CHECK-NEXT: return %[[ROWS]], %[[COLUMNS]]
func.func @slice_of_earlier(%a: tensor<8x8xf32, #full>) -> (tensor<4x8xf32, #rows>, tensor<8x4xf32, #columns>) {
  %0 = spmd.slice over [x] %a : (tensor<8x8xf32, #full>) -> tensor<4x8xf32, #rows>
  %1 = spmd.all_to_all over [x] %0 {reason = "columns"} : (tensor<4x8xf32, #rows>) -> tensor<8x4xf32, #columns>
  return %0, %1 : tensor<4x8xf32, #rows>, tensor<8x4xf32, #columns>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#rows = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [x, *]>>
#columns = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, x]>>
#full = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, *]>>
#sum = #spmd.shard<[8, 8], #dtensor.layout<#mesh, [*, *] partial<x: sum>>>

// Of a sum no device has more than its rows: moving those is less.
// CHECK-LABEL: func.func @no_slice_of_a_scattered_sum
// CHECK-NEXT: spmd.reduce_scatter sum over [x] %arg0
// CHECK-NEXT: spmd.all_to_all over [x]
// CHECK-NEXT: return
func.func @no_slice_of_a_scattered_sum(%a: tensor<8x8xf32, #sum>) -> (tensor<4x8xf32, #rows>, tensor<8x4xf32, #columns>) {
  %0 = spmd.all_reduce sum over [x] %a : (tensor<8x8xf32, #sum>) -> tensor<8x8xf32, #full>
  %1 = spmd.slice over [x] %0 : (tensor<8x8xf32, #full>) -> tensor<4x8xf32, #rows>
  %2 = spmd.all_to_all over [x] %1 : (tensor<4x8xf32, #rows>) -> tensor<8x4xf32, #columns>
  return %1, %2 : tensor<4x8xf32, #rows>, tensor<8x4xf32, #columns>
}
