// Axes flow from the user's layouts along the factors of sharding rules.
// RUN: mesh-opt %s --dtensor-propagate-layouts --split-input-file | FileCheck %s

#mesh = #dtensor.mesh<x = 2, y = 4>
#xu = #dtensor.layout<#mesh, [x, *]>

// Forward through elementwise ops, transposes and reshapes.
// CHECK-LABEL: func.func @forward
// CHECK: dtensor.exp {{.*}} : tensor<8x6xf32, #layout_x_u>
// CHECK: dtensor.transpose {{.*}} -> tensor<6x8xf32, #layout_u_x>
// CHECK: dtensor.reshape {{.*}} -> tensor<2x3x8xf32, #layout_u_u_x>
// CHECK: return {{.*}} : tensor<2x3x8xf32, #layout_u_u_x>
func.func @forward(%a: tensor<8x6xf32, #xu>) -> tensor<2x3x8xf32> {
  %0 = dtensor.exp %a : (tensor<8x6xf32, #xu>) -> tensor<8x6xf32>
  %1 = dtensor.transpose %0 dims [1, 0] : (tensor<8x6xf32>) -> tensor<6x8xf32>
  %2 = dtensor.reshape %1 : (tensor<6x8xf32>) -> tensor<2x3x8xf32>
  return %2 : tensor<2x3x8xf32>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#xu = #dtensor.layout<#mesh, [x, *]>

// Backward from a constraint, into arguments that have no layout. Each says
// where its axis comes from.
// CHECK-LABEL: func.func @backward
// CHECK-SAME: %arg0: tensor<8x6xf32, #layout_x_u> {dtensor.name = "a", dtensor.origin = {x = "result #0 [x, *]"}}
// CHECK-SAME: %arg1: tensor<6x5xf32, #layout_u_u>
// CHECK: dtensor.matmul %arg0, %arg1 {dtensor.origin = {x = "result #0 [x, *]"}} : {{.*}} -> tensor<8x5xf32, #layout_x_u>
func.func @backward(%a: tensor<8x6xf32> {dtensor.name = "a"}, %b: tensor<6x5xf32>) -> tensor<8x5xf32, #xu> {
  %0 = dtensor.matmul %a, %b : (tensor<8x6xf32>, tensor<6x5xf32>) -> tensor<8x5xf32>
  %1 = dtensor.constraint %0 : (tensor<8x5xf32>) -> tensor<8x5xf32, #xu>
  return %1 : tensor<8x5xf32, #xu>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#xu = #dtensor.layout<#mesh, [x, *]>
#uu = #dtensor.layout<#mesh, [*, *]>

// A given layout never changes, whatever the result asks for.
// CHECK-LABEL: func.func @given_layouts_stay
// CHECK-SAME: %arg0: tensor<8x8xf32, #layout_u_u>
// CHECK: dtensor.negate {{.*}} : (tensor<8x8xf32, #layout_u_u>) -> tensor<8x8xf32, #layout_x_u>
func.func @given_layouts_stay(%a: tensor<8x8xf32, #uu>) -> tensor<8x8xf32, #xu> {
  %0 = dtensor.negate %a : (tensor<8x8xf32, #uu>) -> tensor<8x8xf32>
  %1 = dtensor.constraint %0 : (tensor<8x8xf32>) -> tensor<8x8xf32, #xu>
  return %1 : tensor<8x8xf32, #xu>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#rows = #dtensor.layout<#mesh, [x, *]>
#columns = #dtensor.layout<#mesh, [*, y]>

// Each use of a constant is laid out as that use likes; equal ones stay one.
// CHECK-LABEL: func.func @constant_per_use
// CHECK-DAG: %[[ROWS:.*]] = dtensor.constant {{.*}}-> tensor<8x8xf32, #layout_x_u>
// CHECK-DAG: %[[COLUMNS:.*]] = dtensor.constant {{.*}}-> tensor<8x8xf32, #layout_u_y>
// CHECK-NOT: dtensor.constant
// CHECK: dtensor.add %arg0, %[[ROWS]]
// CHECK: dtensor.add %arg1, %[[COLUMNS]]
// CHECK: dtensor.multiply %arg0, %[[ROWS]]
func.func @constant_per_use(%a: tensor<8x8xf32, #rows>, %b: tensor<8x8xf32, #columns>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %c = dtensor.constant dense<2.0> : tensor<8x8xf32>
  %0 = dtensor.add %a, %c : (tensor<8x8xf32, #rows>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = dtensor.add %b, %c : (tensor<8x8xf32, #columns>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = dtensor.multiply %a, %c : (tensor<8x8xf32, #rows>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#uu = #dtensor.layout<#mesh, [*, *]>

// A constant of several values is whole on every device.
// CHECK-LABEL: func.func @dense_constant
// CHECK: dtensor.constant dense<[1.0{{.*}}, 2.0{{.*}}]> : tensor<2xf32> -> tensor<2xf32, #layout_u>
func.func @dense_constant(%a: tensor<2xf32, #dtensor.layout<#mesh, [x]>>) -> tensor<2xf32> {
  %c = dtensor.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = dtensor.add %a, %c : (tensor<2xf32, #dtensor.layout<#mesh, [x]>>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

#mesh = #dtensor.mesh<batch = 8>
#rows = #dtensor.layout<#mesh, [batch, *]>
#uu = #dtensor.layout<#mesh, [*, *]>

// A weight gradient of data parallel training is partial. It has two users, so
// both see one reduction; a pending sum with one user passes through what is
// linear in it.
// CHECK-LABEL: func.func @weight_gradient
// CHECK: %[[G:.*]] = dtensor.dot_general {{.*}} -> tensor<6x5xf32, #layout_u_u_sum_batch>
// CHECK: dtensor.multiply %[[G]], %[[G]] : (tensor<6x5xf32, #layout_u_u_sum_batch>, tensor<6x5xf32, #layout_u_u_sum_batch>) -> tensor<6x5xf32, #layout_u_u>
// CHECK: dtensor.add %arg2, %[[G]] : (tensor<6x5xf32, #layout_u_u>, tensor<6x5xf32, #layout_u_u_sum_batch>) -> tensor<6x5xf32, #layout_u_u>
// CHECK: %[[LOSS:.*]] = dtensor.reduce sum {{.*}} -> tensor<f32, #layout_sum_batch>
// CHECK: dtensor.divide %[[LOSS]], {{.*}} -> tensor<f32, #layout_sum_batch>
// CHECK: %[[RESULT:.*]] = dtensor.constraint {{.*}} : (tensor<f32, #layout_sum_batch>) -> tensor<f32, #layout>
// CHECK: return {{.*}}, %[[RESULT]]
func.func @weight_gradient(%x: tensor<16x6xf32, #rows>, %dh: tensor<16x5xf32, #rows>, %m: tensor<6x5xf32, #uu>)
    -> (tensor<6x5xf32>, tensor<6x5xf32>, tensor<f32>) {
  %g = dtensor.dot_general %x, %dh contracting [0] x [0]
      : (tensor<16x6xf32, #rows>, tensor<16x5xf32, #rows>) -> tensor<6x5xf32>
  %0 = dtensor.multiply %g, %g : tensor<6x5xf32>
  %1 = dtensor.add %m, %g : (tensor<6x5xf32, #uu>, tensor<6x5xf32>) -> tensor<6x5xf32>
  %2 = dtensor.reduce sum %x dims [0, 1] : (tensor<16x6xf32, #rows>) -> tensor<f32>
  %n = dtensor.constant dense<16.0> : tensor<f32>
  %3 = dtensor.divide %2, %n : tensor<f32>
  return %0, %1, %3 : tensor<6x5xf32>, tensor<6x5xf32>, tensor<f32>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#ux = #dtensor.layout<#mesh, [*, x]>
#xu = #dtensor.layout<#mesh, [x, *]>

// Two pending sums are added before they are reduced; what is not linear takes
// a whole value; a broadcast would make the reduction larger, so it is before.
// CHECK-LABEL: func.func @partial_flow
// CHECK: %[[A:.*]] = dtensor.matmul {{.*}} -> tensor<8x8xf32, #layout_u_u_sum_x>
// CHECK: %[[B:.*]] = dtensor.matmul {{.*}} -> tensor<8x8xf32, #layout_u_u_sum_x>
// CHECK: %[[SUM:.*]] = dtensor.add %[[A]], %[[B]] {{.*}}: tensor<8x8xf32, #layout_u_u_sum_x>
// CHECK: dtensor.exp %[[SUM]] : (tensor<8x8xf32, #layout_u_u_sum_x>) -> tensor<8x8xf32, #layout_u_u>
// CHECK: %[[R:.*]] = dtensor.reduce max {{.*}} -> tensor<8xf32, #layout_u_max_x>
// CHECK: dtensor.broadcast_in_dim %[[R]] dims [0] : (tensor<8xf32, #layout_u_max_x>) -> tensor<8x8xf32, #layout_u_u>
func.func @partial_flow(%a: tensor<8x8xf32, #ux>, %b: tensor<8x8xf32, #xu>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = dtensor.matmul %a, %b : (tensor<8x8xf32, #ux>, tensor<8x8xf32, #xu>) -> tensor<8x8xf32>
  %1 = dtensor.matmul %a, %b : (tensor<8x8xf32, #ux>, tensor<8x8xf32, #xu>) -> tensor<8x8xf32>
  %2 = dtensor.add %0, %1 : tensor<8x8xf32>
  %3 = dtensor.exp %2 : tensor<8x8xf32>
  %4 = dtensor.reduce max %a dims [1] : (tensor<8x8xf32, #ux>) -> tensor<8xf32>
  %5 = dtensor.broadcast_in_dim %4 dims [0] : (tensor<8xf32>) -> tensor<8x8xf32>
  return %3, %5 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

#mesh = #dtensor.mesh<batch = 2, model = 4>
#x = #dtensor.layout<#mesh, [batch, *]>
#w1 = #dtensor.layout<#mesh, [*, model]>

// Megatron's MLP: the second weight, without a layout, gets its rows sharded,
// and its product is partial.
// CHECK-LABEL: func.func @megatron
// CHECK-SAME: %arg2: tensor<32x16xf32, #layout_model_u>
// CHECK: dtensor.matmul {{.*}} -> tensor<8x32xf32, #layout_batch_model>
// CHECK: dtensor.tanh {{.*}} : tensor<8x32xf32, #layout_batch_model>
// CHECK: dtensor.matmul {{.*}} -> tensor<8x16xf32, #layout_batch_u_sum_model>
func.func @megatron(%x: tensor<8x16xf32, #x>, %w1: tensor<16x32xf32, #w1>, %w2: tensor<32x16xf32>) -> tensor<8x16xf32> {
  %0 = dtensor.matmul %x, %w1 : (tensor<8x16xf32, #x>, tensor<16x32xf32, #w1>) -> tensor<8x32xf32>
  %1 = dtensor.tanh %0 : tensor<8x32xf32>
  %2 = dtensor.matmul %1, %w2 : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}

// -----

// No layout and no mesh anywhere: one device.
// CHECK: #mesh = #dtensor.mesh<d = 1>
// CHECK-LABEL: func.func @one_device(%arg0: tensor<4xf32, #layout_u>) -> tensor<4xf32, #layout_u>
func.func @one_device(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dtensor.exp %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The module's mesh, where no layout names one.
module attributes {dtensor.mesh = #dtensor.mesh<x = 2>} {
  // CHECK: #mesh = #dtensor.mesh<x = 2>
  // CHECK: #layout_u = #dtensor.layout<#mesh, [*]>
  // CHECK-LABEL: func.func @module_mesh(%arg0: tensor<4xf32, #layout_u>)
  func.func @module_mesh(%a: tensor<4xf32>) -> tensor<4xf32> {
    return %a : tensor<4xf32>
  }
}

// -----

#mesh = #dtensor.mesh<x = 2>
#x = #dtensor.layout<#mesh, [x]>

// A program that is laid out already stays as it is.
// CHECK-LABEL: func.func @laid_out
// CHECK: dtensor.exp %arg0 {dtensor.origin = {x = "argument #0 [x]"}} : tensor<4xf32, #layout_x>
func.func @laid_out(%a: tensor<4xf32, #x>) -> tensor<4xf32, #x> {
  %0 = dtensor.exp %a {dtensor.origin = {x = "argument #0 [x]"}} : tensor<4xf32, #x>
  return %0 : tensor<4xf32, #x>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#x = #dtensor.layout<#mesh, [x]>

// A variable without a layout goes out as it came in.
// CHECK-LABEL: func.func @variable
// CHECK-SAME: (%arg0: tensor<4xf32, #layout_x> {dtensor.alias = 0 : i64, {{.*}}}, %arg1: tensor<4xf32, #layout_x>)
// CHECK-SAME: -> tensor<4xf32, #layout_x>
// CHECK-LABEL: func.func @unsharded_variable
// CHECK-SAME: (%arg0: tensor<f32, #layout> {dtensor.alias = 0 : i64}, %arg1: tensor<4xf32, #layout_x>)
// CHECK: %[[NEW:.*]] = dtensor.constraint {{.*}} : (tensor<f32, #layout_sum_x>) -> tensor<f32, #layout>
// CHECK: return %[[NEW]]
func.func @variable(%v: tensor<4xf32> {dtensor.alias = 0 : i64}, %a: tensor<4xf32, #x>) -> tensor<4xf32> {
  %0 = dtensor.add %v, %a : (tensor<4xf32>, tensor<4xf32, #x>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @unsharded_variable(%v: tensor<f32> {dtensor.alias = 0 : i64}, %a: tensor<4xf32, #x>) -> tensor<f32> {
  %0 = dtensor.reduce sum %a dims [0] : (tensor<4xf32, #x>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#columns = #dtensor.layout<#mesh, [*, x]>
#rows = #dtensor.layout<#mesh, [x, *]>
#full = #dtensor.layout<#mesh, [*, *]>

// A result keeps the layout that it is declared with, where its op, whose type
// says the same, becomes partial.
// CHECK-LABEL: func.func @declared_result
// CHECK-SAME: -> tensor<6x5xf32, #layout_u_u> {
// CHECK: %[[PART:.*]] = dtensor.matmul {{.*}} -> tensor<6x5xf32, #layout_u_u_sum_x>
// CHECK: %[[ALL:.*]] = dtensor.constraint %[[PART]]
// CHECK: return %[[ALL]]
func.func @declared_result(%a: tensor<6x8xf32, #columns>, %b: tensor<8x5xf32, #rows>) -> tensor<6x5xf32, #full> {
  %0 = dtensor.matmul %a, %b : (tensor<6x8xf32, #columns>, tensor<8x5xf32, #rows>) -> tensor<6x5xf32, #full>
  return %0 : tensor<6x5xf32, #full>
}
