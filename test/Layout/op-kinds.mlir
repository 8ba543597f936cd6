// Ops of one kind share what is decided for them, but not what also depends on
// the values that they take, on who else uses those, or on wishes.
// RUN: mesh-opt %s --dtensor-propagate-layouts --split-input-file | FileCheck %s
// RUN: mesh-opt %s --dtensor-propagate-layouts --dtensor-insert-relayouts --split-input-file | FileCheck %s --check-prefix=RELAYOUT

#mesh = #dtensor.mesh<x = 2>
#ux = #dtensor.layout<#mesh, [*, x]>

// Zeros may be filled in before the sum, ones not.
// CHECK-LABEL: func.func @pads
// CHECK: %[[A:.*]] = dtensor.pad {{.*}} -> tensor<7x5xf32, #layout_u_u_sum_x>
// CHECK: %[[B:.*]] = dtensor.pad {{.*}} -> tensor<7x5xf32, #layout_u_u>
// CHECK: dtensor.add %[[A]], %[[B]]
// RELAYOUT-LABEL: func.func @pads
// RELAYOUT: dtensor.pad {{.*}} -> tensor<7x5xf32, #layout_u_u_sum_x>
// RELAYOUT: %[[WHOLE:.*]] = dtensor.relayout {{.*}} -> tensor<8x5xf32, #layout_u_u>
// RELAYOUT: dtensor.pad %[[WHOLE]]
func.func @pads(%a: tensor<8x6xf32, #ux>, %w: tensor<6x5xf32>) -> tensor<7x5xf32> {
  %zero = dtensor.constant dense<0.0> : tensor<f32>
  %one = dtensor.constant dense<1.0> : tensor<f32>
  %0 = dtensor.matmul %a, %w : (tensor<8x6xf32, #ux>, tensor<6x5xf32>) -> tensor<8x5xf32>
  %1 = dtensor.matmul %a, %w : (tensor<8x6xf32, #ux>, tensor<6x5xf32>) -> tensor<8x5xf32>
  %2 = dtensor.negate %0 : (tensor<8x5xf32>) -> tensor<8x5xf32>
  %3 = dtensor.negate %1 : (tensor<8x5xf32>) -> tensor<8x5xf32>
  %4 = dtensor.pad %2, %zero low [0, 0] high [-1, 0] interior [0, 0] : (tensor<8x5xf32>, tensor<f32>) -> tensor<7x5xf32>
  %5 = dtensor.pad %3, %one low [0, 0] high [-1, 0] interior [0, 0] : (tensor<8x5xf32>, tensor<f32>) -> tensor<7x5xf32>
  %6 = dtensor.add %4, %5 : (tensor<7x5xf32>, tensor<7x5xf32>) -> tensor<7x5xf32>
  return %6 : tensor<7x5xf32>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#ux = #dtensor.layout<#mesh, [*, x]>

// A pending sum passes where nobody else uses the value, and only there.
// CHECK-LABEL: func.func @users
// CHECK: %[[ONE:.*]] = dtensor.matmul
// CHECK: %[[TWO:.*]] = dtensor.matmul
// CHECK: dtensor.negate %[[ONE]] {{.*}} : tensor<8x5xf32, #layout_u_u_sum_x>
// CHECK: dtensor.negate %[[TWO]] {{.*}} -> tensor<8x5xf32, #layout_u_u>
// CHECK: dtensor.exp %[[TWO]]
// RELAYOUT-LABEL: func.func @users
func.func @users(%a: tensor<8x6xf32, #ux>, %w: tensor<6x5xf32>) -> (tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>) {
  %0 = dtensor.matmul %a, %w : (tensor<8x6xf32, #ux>, tensor<6x5xf32>) -> tensor<8x5xf32>
  %1 = dtensor.matmul %a, %w : (tensor<8x6xf32, #ux>, tensor<6x5xf32>) -> tensor<8x5xf32>
  %2 = dtensor.negate %0 : (tensor<8x5xf32>) -> tensor<8x5xf32>
  %3 = dtensor.negate %1 : (tensor<8x5xf32>) -> tensor<8x5xf32>
  %4 = dtensor.exp %1 : (tensor<8x5xf32>) -> tensor<8x5xf32>
  return %2, %3, %4 : tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 2>
#xu = #dtensor.layout<#mesh, [x, *]>
#yu = #dtensor.layout<#mesh, [y, *]>

// The same op twice: of what a value has, and of where it has it from. One
// value taken twice is laid out once.
// CHECK-LABEL: func.func @origins
// CHECK: dtensor.exp %arg0 {dtensor.origin = {x = "argument 'a' [x, *]"}}
// CHECK: dtensor.exp %arg1 {dtensor.origin = {x = "argument 'b' [x, *]"}}
// CHECK: dtensor.exp %arg2 {dtensor.origin = {y = "argument 'c' [y, *]"}} : tensor<8x6xf32, #layout_y_u>
// CHECK: dtensor.exp %arg3 {dtensor.origin = {x = "result #4 [x, *]"}} : tensor<8x6xf32, #layout_x_u>
// CHECK: dtensor.add {{.*}} {dtensor.origin = {x = "result #4 [x, *]"}}
// RELAYOUT-LABEL: func.func @origins
// RELAYOUT-NOT: relayout
func.func @origins(%a: tensor<8x6xf32, #xu> {dtensor.name = "a"}, %b: tensor<8x6xf32, #xu> {dtensor.name = "b"},
                   %c: tensor<8x6xf32, #yu> {dtensor.name = "c"}, %d: tensor<8x6xf32>)
    -> (tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32, #xu>) {
  %0 = dtensor.exp %a : (tensor<8x6xf32, #xu>) -> tensor<8x6xf32>
  %1 = dtensor.exp %b : (tensor<8x6xf32, #xu>) -> tensor<8x6xf32>
  %2 = dtensor.exp %c : (tensor<8x6xf32, #yu>) -> tensor<8x6xf32>
  %3 = dtensor.exp %d : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %4 = dtensor.add %3, %3 : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  %5 = dtensor.constraint %4 : (tensor<8x6xf32>) -> tensor<8x6xf32, #xu>
  return %0, %1, %2, %3, %5 : tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32, #xu>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#xu = #dtensor.layout<#mesh, [x, *]>
#uu = #dtensor.layout<#mesh, [*, *]>

// Of two values that an axis could come to alike, one is wished to stay without.
// CHECK-LABEL: func.func @wishes
// CHECK: %[[OPEN:.*]] = dtensor.exp %arg1 {{.*}} : tensor<8x6xf32, #layout_x_u>
// CHECK: %[[CLOSED:.*]] = dtensor.constraint %arg2 {{.*}} -> tensor<8x6xf32, #layout_u_u>
// CHECK: dtensor.add %arg0, %[[OPEN]]
// CHECK: dtensor.add %arg0, %[[CLOSED]]
// RELAYOUT-LABEL: func.func @wishes
func.func @wishes(%a: tensor<8x6xf32, #xu>, %b: tensor<8x6xf32>, %c: tensor<8x6xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>) {
  %0 = dtensor.exp %b : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %1 = dtensor.constraint %c {dtensor.wish = {layout = #uu}} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %2 = dtensor.add %a, %0 : (tensor<8x6xf32, #xu>, tensor<8x6xf32>) -> tensor<8x6xf32>
  %3 = dtensor.add %a, %1 : (tensor<8x6xf32, #xu>, tensor<8x6xf32>) -> tensor<8x6xf32>
  return %2, %3 : tensor<8x6xf32>, tensor<8x6xf32>
}
