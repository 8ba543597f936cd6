// Wishes: open dims, priorities, axes kept free, barriers, groups.
// RUN: mesh-opt %s --pass-pipeline='builtin.module(func.func(dtensor-propagate-layouts))' --split-input-file | FileCheck %s

// An open dim takes what comes; a closed one does not.
#mesh = #dtensor.mesh<x = 2, y = 4>
#xu = #dtensor.layout<#mesh, [x, *]>
#uy = #dtensor.layout<#mesh, [*, y]>
#uu = #dtensor.layout<#mesh, [*, *]>
// CHECK-DAG: #[[xu:.*]] = #dtensor.layout<#{{.*}}, [x, *]>
// CHECK-DAG: #[[xy:.*]] = #dtensor.layout<#{{.*}}, [x, y]>
// CHECK-LABEL: @open
// CHECK: dtensor.constraint {{.*}} -> tensor<8x8xf32, #[[xy]]>
// CHECK: dtensor.constraint {{.*}} -> tensor<8x8xf32, #[[xu]]>
func.func @open(%a: tensor<8x8xf32>, %b: tensor<8x8xf32, #uy>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = dtensor.constraint %a {dtensor.wish = {layout = #xu, open = array<i1: false, true>}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = dtensor.add %0, %b : (tensor<8x8xf32>, tensor<8x8xf32, #uy>) -> tensor<8x8xf32>
  %2 = dtensor.constraint %a {dtensor.wish = {layout = #xu}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = dtensor.add %2, %b : (tensor<8x8xf32>, tensor<8x8xf32, #uy>) -> tensor<8x8xf32>
  return %1, %3 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// The dim with the smaller number goes first, whatever the order of ops.
#mesh = #dtensor.mesh<x = 2, y = 4>
#xu = #dtensor.layout<#mesh, [x, *]>
#ux = #dtensor.layout<#mesh, [*, x]>
// CHECK-DAG: #[[ux:.*]] = #dtensor.layout<#{{.*}}, [*, x]>
// CHECK-LABEL: @priorities
// CHECK: dtensor.add {{.*}} -> tensor<8x8xf32, #[[ux]]>
func.func @priorities(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = dtensor.constraint %a {dtensor.wish = {layout = #xu, open = array<i1: true, true>, priorities = array<i64: 1, 1>}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = dtensor.constraint %b {dtensor.wish = {layout = #ux, open = array<i1: true, true>}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = dtensor.add %0, %1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// -----

// An axis that is to stay replicated is taken by no dim.
#mesh = #dtensor.mesh<x = 2, y = 4>
#xu = #dtensor.layout<#mesh, [x, *]>
#uy = #dtensor.layout<#mesh, [*, y]>
// CHECK-DAG: #[[xu:.*]] = #dtensor.layout<#{{.*}}, [x, *]>
// CHECK-LABEL: @replicated
// CHECK: dtensor.constraint {{.*}} -> tensor<8x8xf32, #[[xu]]>
func.func @replicated(%a: tensor<8x8xf32>, %b: tensor<8x8xf32, #uy>) -> tensor<8x8xf32> {
  %0 = dtensor.constraint %a {dtensor.wish = {layout = #xu, open = array<i1: true, true>, replicated = ["y"]}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = dtensor.add %0, %b : (tensor<8x8xf32>, tensor<8x8xf32, #uy>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

// A barrier lets axes pass one way, or not at all.
#mesh = #dtensor.mesh<x = 2, y = 4>
#x = #dtensor.layout<#mesh, [x]>
#u = #dtensor.layout<#mesh, [*]>
// CHECK-DAG: #[[x:.*]] = #dtensor.layout<#{{.*}}, [x]>
// CHECK-DAG: #[[u:.*]] = #dtensor.layout<#{{.*}}, [*]>
// CHECK-LABEL: @barriers
// CHECK: dtensor.constraint {{.*}} -> tensor<8xf32, #[[x]]>
// CHECK: dtensor.constraint {{.*}} -> tensor<8xf32, #[[u]]>
func.func @barriers(%a: tensor<8xf32, #x>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = dtensor.constraint %a {dtensor.wish = {layout = #u, open = array<i1: true>, direction = "forward"}} : (tensor<8xf32, #x>) -> tensor<8xf32>
  %1 = dtensor.constraint %a {dtensor.wish = {layout = #u, open = array<i1: true>, direction = "none"}} : (tensor<8xf32, #x>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Values of a group are laid out alike.
#mesh = #dtensor.mesh<x = 2, y = 4>
#x = #dtensor.layout<#mesh, [x]>
#u = #dtensor.layout<#mesh, [*]>
// CHECK-DAG: #[[x:.*]] = #dtensor.layout<#{{.*}}, [x]>
// CHECK-LABEL: @group
// CHECK-SAME: %{{.*}}: tensor<8xf32, #[[x]]>, %{{.*}}: tensor<8xf32, #[[x]]>
func.func @group(%a: tensor<8xf32, #x>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = dtensor.constraint %a {dtensor.wish = {layout = #u, open = array<i1: true>, group = 9223372036854775807 : i64}} : (tensor<8xf32, #x>) -> tensor<8xf32>
  %1 = dtensor.constraint %b {dtensor.wish = {layout = #u, open = array<i1: true>, group = 9223372036854775807 : i64}} : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// A released wish is what propagation begins with: what uses the value is laid
// out for it, and the constraint goes.
#mesh = #dtensor.mesh<x = 2, y = 4>
#xu = #dtensor.layout<#mesh, [x, *]>
#ux = #dtensor.layout<#mesh, [*, x]>
// CHECK-DAG: #[[xu:.*]] = #dtensor.layout<#{{.*}}, [x, *]>
// CHECK-DAG: #[[ux:.*]] = #dtensor.layout<#{{.*}}, [*, x]>
// CHECK-LABEL: @released
// CHECK: %[[E:.*]] = dtensor.exp %{{.*}} : tensor<8x8xf32, #[[xu]]>
// CHECK-NEXT: dtensor.tanh %[[E]] {{.*}} : (tensor<8x8xf32, #[[xu]]>) -> tensor<8x8xf32, #[[ux]]>
func.func @released(%a: tensor<8x8xf32, #xu>) -> tensor<8x8xf32> {
  %0 = dtensor.exp %a : (tensor<8x8xf32, #xu>) -> tensor<8x8xf32>
  %1 = dtensor.constraint %0 {dtensor.wish = {layout = #ux, open = array<i1: true, true>, released}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = dtensor.tanh %1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
