// Local math becomes kernels: what goes together, what stays apart.
// RUN: mesh-opt %s --spmd-form-kernels --split-input-file | FileCheck %s

#mesh = #dtensor.mesh<batch = 8>
#rows = #spmd.shard<[16, 4], #dtensor.layout<#mesh, [batch, *]>>
#bias = #spmd.shard<[4], #dtensor.layout<#mesh, [*]>>

// A chain of elementwise ops, a broadcast and a splat are one kernel.
// CHECK-DAG: #[[IJ:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[J:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @chain
// CHECK-NEXT: %[[K:.*]] = spmd.kernel loops [16 over [batch], 4] ins (%arg0 at #[[IJ]], %arg1 at #[[J]]) outs (#[[IJ]]) {{.*}}{ops = "add, maximum, tanh"}
// CHECK: ^bb0(%[[X:.*]]: f32, %[[B:.*]]: f32):
// CHECK: %[[SUM:.*]] = arith.addf %[[X]], %[[B]]
// CHECK: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: %[[RELU:.*]] = arith.maximumf %[[SUM]], %[[ZERO]]
// CHECK: %[[TANH:.*]] = math.tanh %[[RELU]]
// CHECK: spmd.yield %[[TANH]]
// CHECK: return %[[K]]
func.func @chain(%x: tensor<2x4xf32, #rows>, %b: tensor<4xf32, #bias>) -> tensor<2x4xf32, #rows> {
  %0 = dtensor.broadcast_in_dim %b dims [1] : (tensor<4xf32, #bias>) -> tensor<2x4xf32, #rows>
  %1 = dtensor.add %x, %0 : tensor<2x4xf32, #rows>
  %2 = dtensor.constant dense<0.0> : tensor<16x4xf32> -> tensor<2x4xf32, #rows>
  %3 = dtensor.maximum %1, %2 : tensor<2x4xf32, #rows>
  %4 = dtensor.tanh %3 : tensor<2x4xf32, #rows>
  return %4 : tensor<2x4xf32, #rows>
}

// -----

#mesh = #dtensor.mesh<batch = 8>
#full = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [*, *]>>

// An optimizer's update is one kernel that writes the new state over the old.
// CHECK-LABEL: func.func @momentum
// CHECK-NEXT: %[[K:.*]]:2 = spmd.kernel loops [6, 4] ins (%arg1 {{.*}}, %arg2 {{.*}}, %arg0 {{.*}}) outs ({{.*}}) in_place [0, 2]
// CHECK: return %[[K]]#1, %[[K]]#0
func.func @momentum(%w: tensor<6x4xf32, #full> {dtensor.alias = 0 : i64},
                    %m: tensor<6x4xf32, #full> {dtensor.alias = 1 : i64},
                    %g: tensor<6x4xf32, #full>)
    -> (tensor<6x4xf32, #full>, tensor<6x4xf32, #full>) {
  %0 = dtensor.constant dense<0.5> : tensor<6x4xf32> -> tensor<6x4xf32, #full>
  %1 = dtensor.multiply %m, %0 : tensor<6x4xf32, #full>
  %2 = dtensor.add %1, %g : tensor<6x4xf32, #full>
  %3 = dtensor.subtract %w, %2 : tensor<6x4xf32, #full>
  return %3, %2 : tensor<6x4xf32, #full>, tensor<6x4xf32, #full>
}

// -----

#mesh = #dtensor.mesh<batch = 8>
#rows = #spmd.shard<[16, 4], #dtensor.layout<#mesh, [batch, *]>>
#row = #spmd.shard<[16], #dtensor.layout<#mesh, [batch]>>

// Reductions along rows are computed with what they reduce, stored or not; what
// needs their result is another kernel.
// CHECK-LABEL: func.func @softmax
// CHECK-NEXT: %[[MAX:.*]] = spmd.kernel loops [16 over [batch], reduce 4] ins (%arg0 {{.*}}) outs (max {{.*}}) {{.*}}{ops = "reduce"}
// CHECK: %[[EXP:.*]]:2 = spmd.kernel loops [16 over [batch], reduce 4] ins (%arg0 {{.*}}, %[[MAX]] {{.*}}) outs (#{{[a-z0-9]*}}, sum {{.*}}) {{.*}}{ops = "subtract, exp, reduce"}
// CHECK: %[[DIV:.*]] = spmd.kernel loops [16 over [batch], 4] ins (%[[EXP]]#0 {{.*}}, %[[EXP]]#1 {{.*}}) outs ({{.*}}) {{.*}}{ops = "divide"}
// CHECK: return %[[DIV]]
func.func @softmax(%x: tensor<2x4xf32, #rows>) -> tensor<2x4xf32, #rows> {
  %0 = dtensor.reduce max %x dims [1] : (tensor<2x4xf32, #rows>) -> tensor<2xf32, #row>
  %1 = dtensor.broadcast_in_dim %0 dims [0] : (tensor<2xf32, #row>) -> tensor<2x4xf32, #rows>
  %2 = dtensor.subtract %x, %1 : tensor<2x4xf32, #rows>
  %3 = dtensor.exp %2 : tensor<2x4xf32, #rows>
  %4 = dtensor.reduce sum %3 dims [1] : (tensor<2x4xf32, #rows>) -> tensor<2xf32, #row>
  %5 = dtensor.broadcast_in_dim %4 dims [0] : (tensor<2xf32, #row>) -> tensor<2x4xf32, #rows>
  %6 = dtensor.divide %3, %5 : tensor<2x4xf32, #rows>
  return %6 : tensor<2x4xf32, #rows>
}

// -----

#mesh = #dtensor.mesh<batch = 8>
#rows = #spmd.shard<[16, 4], #dtensor.layout<#mesh, [batch, *]>>
#sums = #spmd.shard<[4], #dtensor.layout<#mesh, [*] partial<batch: sum>>>

// A reduction over the outermost dim does not go with what is stored row by
// row, but takes in what only it reads; reductions of one space are one kernel.
// CHECK-LABEL: func.func @columns
// CHECK-NEXT: %[[EXP:.*]] = spmd.kernel loops [16 over [batch], 4] ins (%arg0 {{.*}}) outs ({{.*}}) {{.*}}{ops = "exp"}
// CHECK: %[[SUMS:.*]]:2 = spmd.kernel loops [reduce 16 over [batch], 4] ins (%[[EXP]] {{.*}}) outs (sum {{.*}}, sum {{.*}}) {{.*}}{ops = "tanh, reduce"}
// CHECK: return %[[EXP]], %[[SUMS]]#0, %[[SUMS]]#1
func.func @columns(%x: tensor<2x4xf32, #rows>) -> (tensor<2x4xf32, #rows>, tensor<4xf32, #sums>, tensor<4xf32, #sums>) {
  %0 = dtensor.exp %x : tensor<2x4xf32, #rows>
  %1 = dtensor.tanh %0 : tensor<2x4xf32, #rows>
  %2 = dtensor.reduce sum %1 dims [0] : (tensor<2x4xf32, #rows>) -> tensor<4xf32, #sums>
  %3 = dtensor.reduce sum %0 dims [0] : (tensor<2x4xf32, #rows>) -> tensor<4xf32, #sums>
  return %0, %2, %3 : tensor<2x4xf32, #rows>, tensor<4xf32, #sums>, tensor<4xf32, #sums>
}

// -----

#mesh = #dtensor.mesh<batch = 8>
#rows = #spmd.shard<[16, 4], #dtensor.layout<#mesh, [batch, *]>>
#square = #spmd.shard<[4, 4], #dtensor.layout<#mesh, [*, *]>>

// A library dot stays, and parts what depends on it from what it depends on;
// the relu's mask is a byte an element, so it is stored, not computed again.
// CHECK-LABEL: func.func @around_a_dot
// CHECK-NEXT: %[[RELU:.*]]:2 = spmd.kernel loops [16 over [batch], 4] ins (%arg0 {{.*}}) outs ({{.*}}) {{.*}}{ops = "compare, maximum"}
// CHECK: %[[DOT:.*]] = dtensor.dot_general %[[RELU]]#1, %arg1
// CHECK: %[[MASKED:.*]] = spmd.kernel loops [16 over [batch], 4] ins (%[[RELU]]#0 {{.*}}, %[[DOT]] {{.*}}) outs ({{.*}}) {{.*}}{ops = "select"}
// CHECK: return %[[MASKED]]
func.func @around_a_dot(%x: tensor<2x4xf32, #rows>, %w: tensor<4x4xf32, #square>) -> tensor<2x4xf32, #rows> {
  %c = dtensor.constant dense<0.0> : tensor<16x4xf32> -> tensor<2x4xf32, #rows>
  %0 = dtensor.compare GT, %x, %c : (tensor<2x4xf32, #rows>, tensor<2x4xf32, #rows>) -> tensor<2x4xi1, #rows>
  %1 = dtensor.maximum %x, %c : tensor<2x4xf32, #rows>
  %2 = dtensor.dot_general %1, %w contracting [1] x [0] : (tensor<2x4xf32, #rows>, tensor<4x4xf32, #square>) -> tensor<2x4xf32, #rows>
  %3 = dtensor.select %0, %2, %c : (tensor<2x4xi1, #rows>, tensor<2x4xf32, #rows>, tensor<2x4xf32, #rows>) -> tensor<2x4xf32, #rows>
  return %3 : tensor<2x4xf32, #rows>
}

// -----

#mesh = #dtensor.mesh<batch = 8>
#rows = #spmd.shard<[16, 4], #dtensor.layout<#mesh, [batch, *]>>
#columns = #spmd.shard<[16, 4], #dtensor.layout<#mesh, [*, batch]>>
#pending = #spmd.shard<[16, 4], #dtensor.layout<#mesh, [*, *] partial<batch: sum>>>

// Never one kernel for two layouts, pending reductions included.
// CHECK-LABEL: func.func @layouts
// CHECK-COUNT-3: spmd.kernel
// CHECK-NOT: spmd.kernel
func.func @layouts(%x: tensor<2x4xf32, #rows>, %y: tensor<16x1xf32, #columns>, %z: tensor<16x4xf32, #pending>)
    -> (tensor<2x4xf32, #rows>, tensor<16x1xf32, #columns>, tensor<16x4xf32, #pending>) {
  %0 = dtensor.negate %x : tensor<2x4xf32, #rows>
  %1 = dtensor.negate %y : tensor<16x1xf32, #columns>
  %2 = dtensor.negate %z : tensor<16x4xf32, #pending>
  return %0, %1, %2 : tensor<2x4xf32, #rows>, tensor<16x1xf32, #columns>, tensor<16x4xf32, #pending>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#a = #spmd.shard<[4, 3, 5], #dtensor.layout<#mesh, [x, *, *]>>
#b = #spmd.shard<[12, 5], #dtensor.layout<#mesh, [x, *]>>
#c = #spmd.shard<[5, 12], #dtensor.layout<#mesh, [*, x]>>

// A merged dim is two loops; mesh axes stay with the outer one.
// CHECK-DAG: #[[IN:.*]] = affine_map<(d0, d1, d2) -> (d1, d2, d0)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1 * 3 + d2)>
// CHECK-LABEL: func.func @merge
// CHECK-NEXT: spmd.kernel loops [5, 4 over [x], 3] ins (%arg0 at #[[IN]]) outs (#[[OUT]]) {{.*}}{ops = "exp"}
func.func @merge(%x: tensor<2x3x5xf32, #a>) -> tensor<5x6xf32, #c> {
  %0 = dtensor.reshape %x : (tensor<2x3x5xf32, #a>) -> tensor<6x5xf32, #b>
  %1 = dtensor.transpose %0 dims [1, 0] : (tensor<6x5xf32, #b>) -> tensor<5x6xf32, #c>
  %2 = dtensor.exp %1 : tensor<5x6xf32, #c>
  return %2 : tensor<5x6xf32, #c>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#a = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [*, *]>>
#b = #spmd.shard<[8, 3], #dtensor.layout<#mesh, [*, *]>>

// Dims that do not nest go over one dim in memory.
// CHECK-DAG: #[[MERGE:.*]] = affine_map<(d0, d1) -> (d0 * 4 + d1)>
// CHECK-DAG: #[[SPLIT:.*]] = affine_map<(d0, d1) -> (d0 * 3 + d1)>
// CHECK-LABEL: func.func @no_common_factor
// CHECK-NEXT: %[[FLAT:.*]] = spmd.kernel loops [6, 4] ins (%arg0 {{.*}}) outs (#[[MERGE]])
// CHECK: spmd.kernel loops [8, 3] ins (%[[FLAT]] at #[[SPLIT]]) outs
func.func @no_common_factor(%x: tensor<6x4xf32, #a>) -> tensor<8x3xf32, #b> {
  %0 = dtensor.reshape %x : (tensor<6x4xf32, #a>) -> tensor<8x3xf32, #b>
  return %0 : tensor<8x3xf32, #b>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#a = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [x, *]>>
#b = #spmd.shard<[6, 8], #dtensor.layout<#mesh, [x, *]>>

// The parts of a concatenate are written one after the other into one tensor.
// CHECK-DAG: #[[IJ:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[NEXT:.*]] = affine_map<(d0, d1) -> (d0, d1 + 4)>
// CHECK-DAG: #[[REVERSED:.*]] = affine_map<(d0, d1) -> (d0, -d1 + 3)>
// CHECK-LABEL: func.func @concatenate
// CHECK-NEXT: %[[FIRST:.*]] = spmd.kernel loops [6 over [x], 4] ins (%arg0 at #[[IJ]]) outs (#[[IJ]])
// CHECK: %[[SECOND:.*]] = spmd.kernel loops [6 over [x], 4] ins (%arg0 at #[[REVERSED]], %[[FIRST]] at #[[NEXT]]) outs (#[[NEXT]]) in_place [1]
// CHECK: return %[[SECOND]]
func.func @concatenate(%x: tensor<3x4xf32, #a>) -> tensor<3x8xf32, #b> {
  %0 = dtensor.reverse %x dims [1] : (tensor<3x4xf32, #a>) -> tensor<3x4xf32, #a>
  %1 = dtensor.concatenate %x, %0 dim 1 : (tensor<3x4xf32, #a>, tensor<3x4xf32, #a>) -> tensor<3x8xf32, #b>
  return %1 : tensor<3x8xf32, #b>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#a = #spmd.shard<[6, 64], #dtensor.layout<#mesh, [*, x]>>
#b = #spmd.shard<[12, 64], #dtensor.layout<#mesh, [*, x]>>
#c = #spmd.shard<[6, 128], #dtensor.layout<#mesh, [*, x]>>
#d = #spmd.shard<[12, 128], #dtensor.layout<#mesh, [*, x]>>

// Joined rows that only elementwise ops read are never stored: one kernel looks
// where each row comes from. Short ones are.
// CHECK-LABEL: func.func @joined_rows
// CHECK: spmd.kernel loops [12, 128 over [x]] {{.*}}{ops = "compare, select, negate"}
// CHECK-NOT: spmd.kernel
// CHECK: return
func.func @joined_rows(%x: tensor<6x64xf32, #c>, %y: tensor<6x64xf32, #c>) -> tensor<12x64xf32, #d> {
  %0 = dtensor.concatenate %x, %y dim 0 : (tensor<6x64xf32, #c>, tensor<6x64xf32, #c>) -> tensor<12x64xf32, #d>
  %1 = dtensor.negate %0 : tensor<12x64xf32, #d>
  return %1 : tensor<12x64xf32, #d>
}
// CHECK-LABEL: func.func @joined_short_rows
// CHECK: spmd.kernel {{.*}}{ops = "concatenate"}
// CHECK: spmd.kernel {{.*}}{ops = "concatenate"}
// CHECK: spmd.kernel {{.*}}{ops = "negate"}
func.func @joined_short_rows(%x: tensor<6x32xf32, #a>, %y: tensor<6x32xf32, #a>) -> tensor<12x32xf32, #b> {
  %0 = dtensor.concatenate %x, %y dim 0 : (tensor<6x32xf32, #a>, tensor<6x32xf32, #a>) -> tensor<12x32xf32, #b>
  %1 = dtensor.negate %0 : tensor<12x32xf32, #b>
  return %1 : tensor<12x32xf32, #b>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#a = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [x, *]>>
#b = #spmd.shard<[4, 5], #dtensor.layout<#mesh, [*, *]>>
#c = #spmd.shard<[6, 5], #dtensor.layout<#mesh, [x, *]>>

// A dot that no library takes is a kernel; bf16 is multiplied and added in f32.
// CHECK-LABEL: func.func @bf16_dot
// CHECK-NEXT: spmd.kernel loops [6 over [x], 5, reduce 4] ins (%arg0 {{.*}}, %arg1 {{.*}}) outs (sum {{.*}}) {{.*}}{ops = "dot_general"}
// CHECK: ^bb0(%[[L:.*]]: bf16, %[[R:.*]]: bf16):
// CHECK-DAG: %[[LW:.*]] = arith.extf %[[L]] : bf16 to f32
// CHECK-DAG: %[[RW:.*]] = arith.extf %[[R]] : bf16 to f32
// CHECK: %[[P:.*]] = arith.mulf %[[LW]], %[[RW]]
// CHECK: spmd.yield %[[P]] : f32
func.func @bf16_dot(%x: tensor<3x4xbf16, #a>, %y: tensor<4x5xbf16, #b>) -> tensor<3x5xbf16, #c> {
  %0 = dtensor.dot_general %x, %y contracting [1] x [0] : (tensor<3x4xbf16, #a>, tensor<4x5xbf16, #b>) -> tensor<3x5xbf16, #c>
  return %0 : tensor<3x5xbf16, #c>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#a = #spmd.shard<[3, 5], #dtensor.layout<#mesh, [*, x]>>

// Indices are global, whatever the layout.
// CHECK-LABEL: func.func @iota
// CHECK-NEXT: spmd.kernel loops [3, 5 over [x]] ins () outs ({{.*}})
// CHECK: %[[I:.*]] = spmd.index 1
// CHECK: %[[F:.*]] = arith.sitofp %[[I]] : i64 to f32
// CHECK: spmd.yield %[[F]]
func.func @iota() -> tensor<3x3xf32, #a> {
  %0 = dtensor.iota dim 1 : tensor<3x3xf32, #a>
  return %0 : tensor<3x3xf32, #a>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#a = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [x, *]>>
#b = #spmd.shard<[4, 4], #dtensor.layout<#mesh, [*, *]>>
#full = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [*, *]>>

// Nothing to form: dots, collectives and constants with several values stay.
// CHECK-LABEL: func.func @leaves_alone
// CHECK-NEXT: dtensor.constant
// CHECK-NEXT: dtensor.dot_general
// CHECK-NEXT: spmd.all_gather
// CHECK-NEXT: return
func.func @leaves_alone(%x: tensor<3x4xf32, #a>) -> tensor<6x4xf32, #full> {
  %c = dtensor.constant dense<[[1.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 3.0, 0.0], [0.0, 0.0, 0.0, 4.0]]> : tensor<4x4xf32> -> tensor<4x4xf32, #b>
  %0 = dtensor.dot_general %x, %c contracting [1] x [0] : (tensor<3x4xf32, #a>, tensor<4x4xf32, #b>) -> tensor<3x4xf32, #a>
  %1 = spmd.all_gather over [x] %0 : (tensor<3x4xf32, #a>) -> tensor<6x4xf32, #full>
  return %1 : tensor<6x4xf32, #full>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#a = #spmd.shard<[6, 4], #dtensor.layout<#mesh, [x, *]>>
#i = #spmd.shard<[6], #dtensor.layout<#mesh, [x]>>

// The index of a maximum is computed with what only it reads: its loop is not
// vectorised.
// CHECK-LABEL: func.func @argmax
// CHECK-NEXT: %[[EXP:.*]] = spmd.kernel {{.*}} ins (%arg0 {{.*}}) {{.*}}{ops = "exp"}
// CHECK: %[[ARG:.*]] = spmd.kernel loops [6 over [x], reduce 4] ins (%arg0 {{.*}}) outs (argmax {{.*}}) {ops = "tanh, argmax"}
// CHECK: return %[[EXP]], %[[ARG]]
func.func @argmax(%x: tensor<3x4xf32, #a>) -> (tensor<3x4xf32, #a>, tensor<3xi32, #i>) {
  %0 = dtensor.exp %x : tensor<3x4xf32, #a>
  %1 = dtensor.tanh %x : tensor<3x4xf32, #a>
  %2 = dtensor.argmax %1 dim 1 : (tensor<3x4xf32, #a>) -> tensor<3xi32, #i>
  return %0, %2 : tensor<3x4xf32, #a>, tensor<3xi32, #i>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#large = #spmd.shard<[1024, 512], #dtensor.layout<#mesh, [x, *]>>
#small = #spmd.shard<[8, 4], #dtensor.layout<#mesh, [x, *]>>
#one = #spmd.shard<[], #dtensor.layout<#mesh, []>>

// Updates of large parameters that have only a number in common are kernels of
// their own, equal ones; those of small ones are one kernel.
// CHECK-LABEL: func.func @updates
// CHECK-COUNT-2: spmd.kernel loops [1024 over [x], 512] ins ({{.*}}) outs (#{{[a-z0-9]*}}) in_place [0]
// CHECK: spmd.kernel loops [8 over [x], 4] {{.*}} outs (#{{[a-z0-9]*}}, #{{[a-z0-9]*}})
// CHECK-NOT: spmd.kernel
// CHECK: return
func.func @updates(%v: tensor<512x512xf32, #large> {dtensor.alias = 0 : i64}, %w: tensor<512x512xf32, #large> {dtensor.alias = 1 : i64},
                   %g: tensor<512x512xf32, #large>, %h: tensor<512x512xf32, #large>,
                   %a: tensor<4x4xf32, #small> {dtensor.alias = 2 : i64}, %b: tensor<4x4xf32, #small> {dtensor.alias = 3 : i64}, %rate: tensor<f32, #one>)
    -> (tensor<512x512xf32, #large>, tensor<512x512xf32, #large>, tensor<4x4xf32, #small>, tensor<4x4xf32, #small>) {
  %0 = dtensor.broadcast_in_dim %rate dims [] : (tensor<f32, #one>) -> tensor<512x512xf32, #large>
  %1 = dtensor.multiply %g, %0 : tensor<512x512xf32, #large>
  %2 = dtensor.subtract %v, %1 : tensor<512x512xf32, #large>
  %3 = dtensor.multiply %h, %0 : tensor<512x512xf32, #large>
  %4 = dtensor.subtract %w, %3 : tensor<512x512xf32, #large>
  %5 = dtensor.broadcast_in_dim %rate dims [] : (tensor<f32, #one>) -> tensor<4x4xf32, #small>
  %6 = dtensor.multiply %a, %5 : tensor<4x4xf32, #small>
  %7 = dtensor.multiply %b, %5 : tensor<4x4xf32, #small>
  return %2, %4, %6, %7 : tensor<512x512xf32, #large>, tensor<512x512xf32, #large>, tensor<4x4xf32, #small>, tensor<4x4xf32, #small>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#n = #spmd.shard<[8], #dtensor.layout<#mesh, [x]>>
#v = #spmd.shard<[8, 1], #dtensor.layout<#mesh, [x, *]>>
#pairs = #spmd.shard<[8, 2], #dtensor.layout<#mesh, [x, *]>>
#table = #spmd.shard<[5, 7], #dtensor.layout<#mesh, [*, *]>>

// A gather of numbers is a load in the kernel of what it gives and of its
// indices, which are computed there: nothing joins them in memory.
// CHECK-LABEL: func.func @pairs
// CHECK-NEXT: spmd.kernel loops [8 over [x], held 5, held 7] ins ({{.*}}) outs ({{.*}}) {{.*}}{ops = "gather, multiply"}
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: %[[I:.*]] = arith.extsi
// CHECK: %[[J:.*]] = arith.extsi
// CHECK: %[[X:.*]] = spmd.load {{[0-9]}} over [1, 2] at %[[I]], %[[J]] : f32
// CHECK: arith.mulf %[[X]], %[[X]]
// CHECK-NOT: spmd.kernel
// CHECK-NOT: spmd.library_call
// CHECK: return
func.func @pairs(%t: tensor<5x7xf32, #table>, %i: tensor<4x1xi32, #v>, %j: tensor<4xi32, #n>) -> tensor<4xf32, #n> {
  %0 = dtensor.add %j, %j : tensor<4xi32, #n>
  %1 = dtensor.reshape %0 : (tensor<4xi32, #n>) -> tensor<4x1xi32, #v>
  %2 = dtensor.concatenate %i, %1 dim 1 : (tensor<4x1xi32, #v>, tensor<4x1xi32, #v>) -> tensor<4x2xi32, #pairs>
  %3 = dtensor.gather %t, %2 {collapsed_slice_dims = array<i64: 0, 1>,
      index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 1>,
      start_index_map = array<i64: 0, 1>}
      : (tensor<5x7xf32, #table>, tensor<4x2xi32, #pairs>) -> tensor<4xf32, #n>
  %4 = dtensor.multiply %3, %3 : tensor<4xf32, #n>
  return %4 : tensor<4xf32, #n>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#n = #spmd.shard<[8], #dtensor.layout<#mesh, [*]>>

// What a kernel picks elements of is in memory, also where it could be computed
// anew, or is only moved.
// CHECK-LABEL: func.func @table
// CHECK-NEXT: %[[T:.*]] = spmd.kernel loops [8] {{.*}}{ops = "reverse"}
// CHECK: spmd.kernel loops [8, held 8] ins (%arg1 at {{.*}}, %[[T]] at {{.*}})
func.func @table(%t: tensor<8xf32, #n>, %i: tensor<8xi32, #n>) -> tensor<8xf32, #n> {
  %0 = dtensor.reverse %t dims [0] : (tensor<8xf32, #n>) -> tensor<8xf32, #n>
  %1 = dtensor.gather %0, %i {collapsed_slice_dims = array<i64: 0>,
      index_vector_dim = 1 : i64, slice_sizes = array<i64: 1>,
      start_index_map = array<i64: 0>}
      : (tensor<8xf32, #n>, tensor<8xi32, #n>) -> tensor<8xf32, #n>
  return %1 : tensor<8xf32, #n>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#n = #spmd.shard<[8], #dtensor.layout<#mesh, [*]>>
#s = #spmd.shard<[], #dtensor.layout<#mesh, []>>

// A rolled tensor is two copies of slices; math on it looks for the places of
// elements.
// CHECK-LABEL: func.func @rolled
// CHECK-NEXT: spmd.kernel loops [3] ins (%arg0 at {{.*}}{ops = "concatenate"}
// CHECK: spmd.kernel loops [5] ins (%arg0 at {{.*}} in_place [1] {ops = "concatenate"}
// CHECK: spmd.kernel loops [8] {{.*}}{ops = "compare, select, tanh"}
func.func @rolled(%x: tensor<8xf32, #n>, %y: tensor<8xf32, #n>) -> (tensor<8xf32, #n>, tensor<8xf32, #n>) {
  %zero = dtensor.constant dense<0.0> : tensor<f32> -> tensor<f32, #s>
  %index = dtensor.iota dim 0 : tensor<8xi32, #n>
  %three = dtensor.constant dense<3> : tensor<8xi32> -> tensor<8xi32, #n>
  %isFirst = dtensor.compare LT, %index, %three : (tensor<8xi32, #n>, tensor<8xi32, #n>) -> tensor<8xi1, #n>
  %0 = dtensor.pad %x, %zero low [-5] high [5] interior [0] : (tensor<8xf32, #n>, tensor<f32, #s>) -> tensor<8xf32, #n>
  %1 = dtensor.pad %x, %zero low [3] high [-3] interior [0] : (tensor<8xf32, #n>, tensor<f32, #s>) -> tensor<8xf32, #n>
  %2 = dtensor.select %isFirst, %0, %1 : (tensor<8xi1, #n>, tensor<8xf32, #n>, tensor<8xf32, #n>) -> tensor<8xf32, #n>
  %3 = dtensor.pad %y, %zero low [-5] high [5] interior [0] : (tensor<8xf32, #n>, tensor<f32, #s>) -> tensor<8xf32, #n>
  %4 = dtensor.pad %y, %zero low [3] high [-3] interior [0] : (tensor<8xf32, #n>, tensor<f32, #s>) -> tensor<8xf32, #n>
  %5 = dtensor.select %isFirst, %3, %4 : (tensor<8xi1, #n>, tensor<8xf32, #n>, tensor<8xf32, #n>) -> tensor<8xf32, #n>
  %6 = dtensor.tanh %5 : tensor<8xf32, #n>
  return %2, %6 : tensor<8xf32, #n>, tensor<8xf32, #n>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #spmd.shard<[4, 256], #dtensor.layout<#mesh, [*, *]>>
#s = #spmd.shard<[], #dtensor.layout<#mesh, []>>

// Three elements of each row go around: they are copied where rows are long.
// CHECK-LABEL: func.func @rolled_rows
// CHECK-NEXT: spmd.kernel loops [4, 3] {{.*}}{ops = "concatenate"}
// CHECK: spmd.kernel loops [4, 253] {{.*}}{ops = "concatenate"}
func.func @rolled_rows(%x: tensor<4x256xi8, #rows>) -> tensor<4x256xi8, #rows> {
  %zero = dtensor.constant dense<0> : tensor<i8> -> tensor<i8, #s>
  %index = dtensor.iota dim 1 : tensor<4x256xi32, #rows>
  %three = dtensor.constant dense<3> : tensor<4x256xi32> -> tensor<4x256xi32, #rows>
  %isFirst = dtensor.compare LT, %index, %three : (tensor<4x256xi32, #rows>, tensor<4x256xi32, #rows>) -> tensor<4x256xi1, #rows>
  %0 = dtensor.pad %x, %zero low [0, -253] high [0, 253] interior [0, 0] : (tensor<4x256xi8, #rows>, tensor<i8, #s>) -> tensor<4x256xi8, #rows>
  %1 = dtensor.pad %x, %zero low [0, 3] high [0, -3] interior [0, 0] : (tensor<4x256xi8, #rows>, tensor<i8, #s>) -> tensor<4x256xi8, #rows>
  %2 = dtensor.select %isFirst, %0, %1 : (tensor<4x256xi1, #rows>, tensor<4x256xi8, #rows>, tensor<4x256xi8, #rows>) -> tensor<4x256xi8, #rows>
  return %2 : tensor<4x256xi8, #rows>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #spmd.shard<[4, 255], #dtensor.layout<#mesh, [*, *]>>
#s = #spmd.shard<[], #dtensor.layout<#mesh, []>>

// CHECK-LABEL: func.func @rolled_short_rows
// CHECK-NEXT: spmd.kernel loops [4, 255] {{.*}}{ops = "compare, select"}
func.func @rolled_short_rows(%x: tensor<4x255xi8, #rows>) -> tensor<4x255xi8, #rows> {
  %zero = dtensor.constant dense<0> : tensor<i8> -> tensor<i8, #s>
  %index = dtensor.iota dim 1 : tensor<4x255xi32, #rows>
  %three = dtensor.constant dense<3> : tensor<4x255xi32> -> tensor<4x255xi32, #rows>
  %isFirst = dtensor.compare LT, %index, %three : (tensor<4x255xi32, #rows>, tensor<4x255xi32, #rows>) -> tensor<4x255xi1, #rows>
  %0 = dtensor.pad %x, %zero low [0, -252] high [0, 252] interior [0, 0] : (tensor<4x255xi8, #rows>, tensor<i8, #s>) -> tensor<4x255xi8, #rows>
  %1 = dtensor.pad %x, %zero low [0, 3] high [0, -3] interior [0, 0] : (tensor<4x255xi8, #rows>, tensor<i8, #s>) -> tensor<4x255xi8, #rows>
  %2 = dtensor.select %isFirst, %0, %1 : (tensor<4x255xi1, #rows>, tensor<4x255xi8, #rows>, tensor<4x255xi8, #rows>) -> tensor<4x255xi8, #rows>
  return %2 : tensor<4x255xi8, #rows>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #spmd.shard<[4, 256], #dtensor.layout<#mesh, [*, *]>>
#s = #spmd.shard<[], #dtensor.layout<#mesh, []>>

// A tensor that is rolled along two dims is copied along one after the other.
// CHECK-LABEL: func.func @rolled_twice
// CHECK-NEXT: spmd.kernel loops [256] {{.*}}{ops = "concatenate"}
// CHECK: spmd.kernel loops [3, 256] {{.*}}{ops = "concatenate"}
// CHECK: spmd.kernel loops [4, 3] {{.*}}{ops = "concatenate"}
// CHECK: spmd.kernel loops [4, 253] {{.*}}{ops = "concatenate"}
func.func @rolled_twice(%x: tensor<4x256xi8, #rows>) -> tensor<4x256xi8, #rows> {
  %zero = dtensor.constant dense<0> : tensor<i8> -> tensor<i8, #s>
  %row = dtensor.iota dim 0 : tensor<4x256xi32, #rows>
  %one = dtensor.constant dense<1> : tensor<4x256xi32> -> tensor<4x256xi32, #rows>
  %isFirstRow = dtensor.compare LT, %row, %one : (tensor<4x256xi32, #rows>, tensor<4x256xi32, #rows>) -> tensor<4x256xi1, #rows>
  %0 = dtensor.pad %x, %zero low [-3, 0] high [3, 0] interior [0, 0] : (tensor<4x256xi8, #rows>, tensor<i8, #s>) -> tensor<4x256xi8, #rows>
  %1 = dtensor.pad %x, %zero low [1, 0] high [-1, 0] interior [0, 0] : (tensor<4x256xi8, #rows>, tensor<i8, #s>) -> tensor<4x256xi8, #rows>
  %2 = dtensor.select %isFirstRow, %0, %1 : (tensor<4x256xi1, #rows>, tensor<4x256xi8, #rows>, tensor<4x256xi8, #rows>) -> tensor<4x256xi8, #rows>
  %index = dtensor.iota dim 1 : tensor<4x256xi32, #rows>
  %three = dtensor.constant dense<3> : tensor<4x256xi32> -> tensor<4x256xi32, #rows>
  %isFirst = dtensor.compare LT, %index, %three : (tensor<4x256xi32, #rows>, tensor<4x256xi32, #rows>) -> tensor<4x256xi1, #rows>
  %3 = dtensor.pad %2, %zero low [0, -253] high [0, 253] interior [0, 0] : (tensor<4x256xi8, #rows>, tensor<i8, #s>) -> tensor<4x256xi8, #rows>
  %4 = dtensor.pad %2, %zero low [0, 3] high [0, -3] interior [0, 0] : (tensor<4x256xi8, #rows>, tensor<i8, #s>) -> tensor<4x256xi8, #rows>
  %5 = dtensor.select %isFirst, %3, %4 : (tensor<4x256xi1, #rows>, tensor<4x256xi8, #rows>, tensor<4x256xi8, #rows>) -> tensor<4x256xi8, #rows>
  return %5 : tensor<4x256xi8, #rows>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#first = #spmd.shard<[1, 4], #dtensor.layout<#mesh, [*, *]>>
#two = #spmd.shard<[2, 4], #dtensor.layout<#mesh, [*, *]>>
#three = #spmd.shard<[3, 4], #dtensor.layout<#mesh, [*, *]>>
#five = #spmd.shard<[5, 4], #dtensor.layout<#mesh, [*, *]>>
#s = #spmd.shard<[], #dtensor.layout<#mesh, []>>

// Rows of two tensors in turns are written straight to their places, also those
// of a tensor that is joined first: nothing is padded, added or joined.
// CHECK-LABEL: func.func @turns
// CHECK-NEXT: spmd.kernel loops [4] ins (%arg0 at {{.*}}{ops = "add"}
// CHECK: spmd.kernel loops [2, 4] ins (%arg1 at {{.*}} in_place [1] {ops = "add"}
// CHECK: spmd.kernel loops [2, 4] ins (%arg2 at {{.*}} in_place [1] {ops = "add"}
// CHECK-NOT: spmd.kernel
func.func @turns(%x: tensor<1x4xf32, #first>, %y: tensor<2x4xf32, #two>, %z: tensor<2x4xf32, #two>) -> tensor<5x4xf32, #five> {
  %zero = dtensor.constant dense<0.0> : tensor<f32> -> tensor<f32, #s>
  %joined = dtensor.concatenate %x, %y dim 0 : (tensor<1x4xf32, #first>, tensor<2x4xf32, #two>) -> tensor<3x4xf32, #three>
  %0 = dtensor.pad %joined, %zero low [0, 0] high [0, 0] interior [1, 0] : (tensor<3x4xf32, #three>, tensor<f32, #s>) -> tensor<5x4xf32, #five>
  %1 = dtensor.pad %z, %zero low [1, 0] high [1, 0] interior [1, 0] : (tensor<2x4xf32, #two>, tensor<f32, #s>) -> tensor<5x4xf32, #five>
  %2 = dtensor.add %0, %1 : tensor<5x4xf32, #five>
  return %2 : tensor<5x4xf32, #five>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#two = #spmd.shard<[2], #dtensor.layout<#mesh, [*]>>
#four = #spmd.shard<[4], #dtensor.layout<#mesh, [*]>>
#s = #spmd.shard<[], #dtensor.layout<#mesh, []>>

// Elements at the same places are added.
// CHECK-LABEL: func.func @no_turns
// CHECK: ops = "add"}
// CHECK: arith.addf
func.func @no_turns(%x: tensor<2xf32, #two>, %y: tensor<2xf32, #two>) -> tensor<4xf32, #four> {
  %zero = dtensor.constant dense<0.0> : tensor<f32> -> tensor<f32, #s>
  %0 = dtensor.pad %x, %zero low [0] high [1] interior [1] : (tensor<2xf32, #two>, tensor<f32, #s>) -> tensor<4xf32, #four>
  %1 = dtensor.pad %y, %zero low [0] high [1] interior [1] : (tensor<2xf32, #two>, tensor<f32, #s>) -> tensor<4xf32, #four>
  %2 = dtensor.add %0, %1 : tensor<4xf32, #four>
  return %2 : tensor<4xf32, #four>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#tall = #spmd.shard<[300, 200], #dtensor.layout<#mesh, [*, *]>>
#wide = #spmd.shard<[200, 300], #dtensor.layout<#mesh, [*, *]>>
#row = #spmd.shard<[200], #dtensor.layout<#mesh, [*]>>

// A kernel that reduces long rows, and stores along them, reads no tensor that
// is transposed: the transpose is in memory.
// CHECK-LABEL: func.func @far_operand
// CHECK-NEXT: %[[T:.*]] = spmd.library_call "copy" loops [200, 300] ins (%arg0 {{.*}}
// CHECK: spmd.kernel loops [200, reduce 300] ins (%[[T]] at {{.*}}{ops = "exp, reduce"}
func.func @far_operand(%x: tensor<300x200xf32, #tall>) -> (tensor<200x300xf32, #wide>, tensor<200xf32, #row>) {
  %0 = dtensor.transpose %x dims [1, 0] : (tensor<300x200xf32, #tall>) -> tensor<200x300xf32, #wide>
  %1 = dtensor.exp %0 : tensor<200x300xf32, #wide>
  %2 = dtensor.reduce sum %1 dims [1] : (tensor<200x300xf32, #wide>) -> tensor<200xf32, #row>
  return %1, %2 : tensor<200x300xf32, #wide>, tensor<200xf32, #row>
}
// It is read where it lies by a kernel that stores nothing along the rows.
// CHECK-LABEL: func.func @near_operand
// CHECK-NEXT: spmd.kernel loops [200, reduce 300] ins (%arg0 at {{.*}}{ops = "exp, reduce"}
func.func @near_operand(%x: tensor<300x200xf32, #tall>) -> tensor<200xf32, #row> {
  %0 = dtensor.transpose %x dims [1, 0] : (tensor<300x200xf32, #tall>) -> tensor<200x300xf32, #wide>
  %1 = dtensor.exp %0 : tensor<200x300xf32, #wide>
  %2 = dtensor.reduce sum %1 dims [1] : (tensor<200x300xf32, #wide>) -> tensor<200xf32, #row>
  return %2 : tensor<200xf32, #row>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#four = #spmd.shard<[4], #dtensor.layout<#mesh, [*]>>

// A shift by a constant below the width is one instruction; one by as much as
// the width gives zero.
// CHECK-LABEL: func.func @shifts
// CHECK: %[[NEAR:.*]] = arith.shli
// CHECK-NOT: arith.cmpi
// CHECK: arith.shrui %[[NEAR]]
// CHECK: arith.cmpi uge
// CHECK: arith.shli
// CHECK: arith.select
func.func @shifts(%x: tensor<4xui32, #four>) -> (tensor<4xui32, #four>, tensor<4xui32, #four>) {
  %13 = dtensor.constant dense<13> : tensor<4xui32> -> tensor<4xui32, #four>
  %32 = dtensor.constant dense<32> : tensor<4xui32> -> tensor<4xui32, #four>
  %0 = dtensor.shift_left %x, %13 : tensor<4xui32, #four>
  %1 = dtensor.shift_right_logical %0, %13 : tensor<4xui32, #four>
  %2 = dtensor.shift_left %x, %32 : tensor<4xui32, #four>
  return %1, %2 : tensor<4xui32, #four>, tensor<4xui32, #four>
}
