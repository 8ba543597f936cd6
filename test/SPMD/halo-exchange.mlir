// Halo exchanges appear where some device's window is larger than its block.
// RUN: mesh-opt %s --dtensor-expand-to-spmd='machine=ring' --split-input-file | FileCheck %s

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>

// Each device needs the row behind its own; the last has none.
// CHECK-LABEL: func.func @shift
// CHECK: %[[H:.*]] = spmd.halo_exchange over [x] %arg0 {bytes = 12 : i64
// CHECK-SAME: dtensor.op = "dtensor.pad"
// CHECK-SAME: reason = "devices need rows a{1:1:1} of dim 0 of operand #0 of pad beyond their blocks of [x, *]; 'x' from argument 'a'"
// CHECK-SAME: windows {{\[\[}}1:4, 4:7, 7:10, 10:12], *]
// CHECK: dtensor.pad %[[H]]
func.func @shift(%a: tensor<12x3xf32, #rows>) -> tensor<12x3xf32, #rows> {
  %zero = dtensor.constant dense<0.0> : tensor<f32> -> tensor<f32, #dtensor.layout<#mesh, []>>
  %0 = dtensor.pad %a, %zero low [-1, 0] high [1, 0] interior [0, 0] {dtensor.origin = {x = "argument 'a'"}}
      : (tensor<12x3xf32, #rows>, tensor<f32, #dtensor.layout<#mesh, []>>) -> tensor<12x3xf32, #rows>
  return %0 : tensor<12x3xf32, #rows>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x]>

// Every other element: each device has what it needs.
// CHECK-LABEL: func.func @local
// CHECK-NOT: spmd.halo_exchange
func.func @local(%a: tensor<16xf32, #rows>) -> tensor<8xf32, #rows> {
  %0 = dtensor.slice %a [0:16:2] : (tensor<16xf32, #rows>) -> tensor<8xf32, #rows>
  return %0 : tensor<8xf32, #rows>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x]>

// Several hops, and devices that have nothing: 3 elements are 1, 1, 1, 0.
// CHECK-LABEL: func.func @hops
// CHECK: spmd.halo_exchange over [x] %arg0 {{.*}} -> tensor<1xf32, #spmd.shard<[12], #layout_x, windows {{\[\[}}3:4, 8:9, 11:12, 0:0]]>>
func.func @hops(%a: tensor<12xf32, #rows>) -> tensor<3xf32, #rows> {
  %0 = dtensor.take %a dim 0 at [3, 8, 11] : (tensor<12xf32, #rows>) -> tensor<3xf32, #rows>
  return %0 : tensor<3xf32, #rows>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x]>

// Two uses of one value share a window where that sends no more.
// CHECK-LABEL: func.func @shared
// CHECK: spmd.halo_exchange over [x] %arg0 {bytes = 4 : i64
// CHECK-SAME: windows {{\[\[}}0:5, 3:8]]
// CHECK-NOT: spmd.halo_exchange
func.func @shared(%a: tensor<8xf32, #rows>) -> (tensor<8xf32, #rows>, tensor<8xf32, #rows>) {
  %zero = dtensor.constant dense<0.0> : tensor<f32> -> tensor<f32, #dtensor.layout<#mesh, []>>
  %0 = dtensor.pad %a, %zero low [1] high [-1] interior [0] : (tensor<8xf32, #rows>, tensor<f32, #dtensor.layout<#mesh, []>>) -> tensor<8xf32, #rows>
  %1 = dtensor.pad %a, %zero low [-1] high [1] interior [0] : (tensor<8xf32, #rows>, tensor<f32, #dtensor.layout<#mesh, []>>) -> tensor<8xf32, #rows>
  return %0, %1 : tensor<8xf32, #rows>, tensor<8xf32, #rows>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x]>

// A window joins the one with which devices move least in all. The first of a
// shift's two windows is of the last device's elements for the first devices:
// what is reversed does not join it, though the two alone would move no more.
// CHECK-LABEL: func.func @least_in_all
// CHECK: %{{.*}}:3 = spmd.halo_exchange over [x] %arg0, %arg0, %arg0 {bytes = 24 : i64
func.func @least_in_all(%a: tensor<12xf32, #rows>) -> (tensor<12xf32, #rows>, tensor<12xf32, #rows>) {
  %zero = dtensor.constant dense<0.0> : tensor<f32> -> tensor<f32, #dtensor.layout<#mesh, []>>
  %0 = dtensor.pad %a, %zero low [-8] high [8] interior [0] : (tensor<12xf32, #rows>, tensor<f32, #dtensor.layout<#mesh, []>>) -> tensor<12xf32, #rows>
  %1 = dtensor.pad %a, %zero low [4] high [-4] interior [0] : (tensor<12xf32, #rows>, tensor<f32, #dtensor.layout<#mesh, []>>) -> tensor<12xf32, #rows>
  %2 = dtensor.add %0, %1 : tensor<12xf32, #rows>
  %3 = dtensor.reverse %a dims [0] : (tensor<12xf32, #rows>) -> tensor<12xf32, #rows>
  return %2, %3 : tensor<12xf32, #rows>, tensor<12xf32, #rows>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x]>

// What one op needs of several values comes together; bytes are the most that
// one device moves in all.
// CHECK-LABEL: func.func @together
// CHECK: %{{.*}}:2 = spmd.halo_exchange over [x] %arg0, %arg1 {bytes = 16 : i64
func.func @together(%a: tensor<8xf32, #rows>, %b: tensor<8xf32, #rows>) -> tensor<16xf32, #rows> {
  %0 = dtensor.concatenate %a, %b dim 0 : (tensor<8xf32, #rows>, tensor<8xf32, #rows>) -> tensor<16xf32, #rows>
  return %0 : tensor<16xf32, #rows>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x]>
#full = #dtensor.layout<#mesh, [*]>

// A value that every device has whole is cut with its windows; a splat is made
// as large as needed.
// CHECK-LABEL: func.func @for_nothing
// CHECK-NOT: spmd.halo_exchange
// CHECK-DAG: dtensor.constant {{.*}} windows {{\[\[}}0:0, 0:0, 0:4, 4:8]]
// CHECK-DAG: spmd.slice over [x] {{.*}} windows {{\[\[}}0:4, 4:8, 0:0, 0:0]]
func.func @for_nothing(%a: tensor<8xf32, #full>) -> tensor<16xf32, #rows> {
  %0 = dtensor.relayout %a : (tensor<8xf32, #full>) -> tensor<8xf32, #rows>
  %1 = dtensor.constant dense<1.0> : tensor<8xf32> -> tensor<8xf32, #rows>
  %2 = dtensor.concatenate %0, %1 dim 0 : (tensor<8xf32, #rows>, tensor<8xf32, #rows>) -> tensor<16xf32, #rows>
  return %2 : tensor<16xf32, #rows>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x]>
#index = #dtensor.layout<#mesh, []>

// What only one branch needs is sent where that runs.
// CHECK-LABEL: func.func @branches
// CHECK-NOT: spmd.halo_exchange
// CHECK: dtensor.case
// CHECK: spmd.halo_exchange over [x] {{.*}}bytes = 4 : i64
// CHECK: dtensor.yield
// CHECK: spmd.halo_exchange over [x] {{.*}}bytes = 12 : i64
// CHECK: dtensor.yield
func.func @branches(%a: tensor<12xf32, #rows>, %i: tensor<i32, #index>) -> tensor<12xf32, #rows> {
  %zero = dtensor.constant dense<0.0> : tensor<f32> -> tensor<f32, #index>
  %r = dtensor.case %i : (tensor<i32, #index>) -> tensor<12xf32, #rows> {
    %0 = dtensor.pad %a, %zero low [1] high [-1] interior [0] : (tensor<12xf32, #rows>, tensor<f32, #index>) -> tensor<12xf32, #rows>
    dtensor.yield %0 : tensor<12xf32, #rows>
  }, {
    %0 = dtensor.reverse %a dims [0] : (tensor<12xf32, #rows>) -> tensor<12xf32, #rows>
    dtensor.yield %0 : tensor<12xf32, #rows>
  }
  return %r : tensor<12xf32, #rows>
}
