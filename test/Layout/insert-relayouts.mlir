// Operands are made to agree with how their op runs.
// RUN: mesh-opt %s --dtensor-insert-relayouts --split-input-file | FileCheck %s

#mesh = #dtensor.mesh<x = 2, y = 4>
#xu = #dtensor.layout<#mesh, [x, *]>
#uy = #dtensor.layout<#mesh, [*, y]>
#uu = #dtensor.layout<#mesh, [*, *]>
#partial = #dtensor.layout<#mesh, [*, *] partial<x: sum>>

// A value needed twice in the same layout is brought there once, before its
// first user.
// CHECK-LABEL: func.func @shared
// CHECK-NEXT: dtensor.exp %arg1
// CHECK-NEXT: %[[A:.*]] = dtensor.relayout %arg0 {dtensor.op = "dtensor.add", dtensor.origin = {x = "argument 'a' [x, *]"}, dtensor.reason = "[x, *] -> [*, *] for operand #0 of add; 'x' from argument 'a' [x, *]"} : (tensor<8x8xf32, #layout_x_u>) -> tensor<8x8xf32, #layout_u_u>
// CHECK-NEXT: dtensor.add %[[A]], %{{.*}} : tensor<8x8xf32, #layout_u_u>
// CHECK-NEXT: dtensor.multiply %{{.*}}, %[[A]] : tensor<8x8xf32, #layout_u_u>
// CHECK-NOT: relayout
func.func @shared(%a: tensor<8x8xf32, #xu> {dtensor.name = "a"}, %b: tensor<8x8xf32, #uu>) -> tensor<8x8xf32, #uu> {
  %0 = dtensor.exp %b : tensor<8x8xf32, #uu>
  %1 = dtensor.add %a, %0 : (tensor<8x8xf32, #xu>, tensor<8x8xf32, #uu>) -> tensor<8x8xf32, #uu>
  %2 = dtensor.multiply %1, %a : (tensor<8x8xf32, #uu>, tensor<8x8xf32, #xu>) -> tensor<8x8xf32, #uu>
  return %2 : tensor<8x8xf32, #uu>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#xu = #dtensor.layout<#mesh, [x, *]>
#uu = #dtensor.layout<#mesh, [*, *]>
#partial = #dtensor.layout<#mesh, [*, *] partial<x: sum>>

// A pending reduction that is needed whole and in shards is resolved once; the
// shards are cut from the whole value.
// CHECK-LABEL: func.func @reduced_once
// CHECK: %[[WHOLE:.*]] = dtensor.relayout %arg0 {{.*}} : (tensor<8x8xf32, #layout_u_u_sum_x>) -> tensor<8x8xf32, #layout_u_u>
// CHECK: %[[ROWS:.*]] = dtensor.relayout %[[WHOLE]] {{.*}} : (tensor<8x8xf32, #layout_u_u>) -> tensor<8x8xf32, #layout_x_u>
// CHECK: dtensor.exp %[[ROWS]]
// CHECK: dtensor.exp %[[WHOLE]]
func.func @reduced_once(%a: tensor<8x8xf32, #partial>) -> (tensor<8x8xf32, #xu>, tensor<8x8xf32, #uu>) {
  %0 = dtensor.exp %a : (tensor<8x8xf32, #partial>) -> tensor<8x8xf32, #xu>
  %1 = dtensor.exp %a : (tensor<8x8xf32, #partial>) -> tensor<8x8xf32, #uu>
  return %0, %1 : tensor<8x8xf32, #xu>, tensor<8x8xf32, #uu>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#xu = #dtensor.layout<#mesh, [x, *]>
#uu = #dtensor.layout<#mesh, [*, *]>

// A constraint becomes a relayout, or nothing where the layout is right.
// CHECK-LABEL: func.func @constraint
// CHECK-NEXT: %[[A:.*]] = dtensor.relayout %arg0 {{.*}}dtensor.reason = "[x, *] -> [*, *] for result 'out'; 'x' from argument #0 [x, *]"
// CHECK-NEXT: return %[[A]], %arg0
func.func @constraint(%a: tensor<8x8xf32, #xu>) -> (tensor<8x8xf32, #uu> {dtensor.name = "out"}, tensor<8x8xf32, #xu>) {
  %0 = dtensor.constraint %a : (tensor<8x8xf32, #xu>) -> tensor<8x8xf32, #uu>
  %1 = dtensor.constraint %a : (tensor<8x8xf32, #xu>) -> tensor<8x8xf32, #xu>
  return %0, %1 : tensor<8x8xf32, #uu>, tensor<8x8xf32, #xu>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#xu = #dtensor.layout<#mesh, [x, *]>

// What agrees is left alone.
// CHECK-LABEL: func.func @agrees
// CHECK-NOT: relayout
// CHECK: return
func.func @agrees(%a: tensor<8x8xf32, #xu>) -> tensor<8x8xf32, #xu> {
  %0 = dtensor.exp %a : tensor<8x8xf32, #xu>
  return %0 : tensor<8x8xf32, #xu>
}
