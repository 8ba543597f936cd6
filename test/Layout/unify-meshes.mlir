// Layouts over several meshes become layouts over their common refinement.
// RUN: mesh-opt %s --dtensor-unify-meshes --split-input-file | FileCheck %s

#a = #dtensor.mesh<x = 2, y = 4>
#b = #dtensor.mesh<p = 4, q = 2>

// Axes of one are parts of the other's; what was written stays.
// CHECK-DAG: #[[BOTH:.+]] = #dtensor.mesh<x = 2, y:(1)2 = 2, y:(2)2 = 2>
// CHECK-DAG: #[[A:.+]] = #dtensor.mesh<x = 2, y = 4>
// CHECK-DAG: #[[B:.+]] = #dtensor.mesh<p = 4, q = 2>
// CHECK-DAG: #[[ON_B:.+]] = #dtensor.layout<#[[B]], [p]>
// CHECK-DAG: #[[Y:.+]] = #dtensor.layout<#[[BOTH]], [y]>
// CHECK-DAG: #[[P:.+]] = #dtensor.layout<#[[BOTH]], [{x, y:(1)2}]>
// CHECK-LABEL: func.func @two
// CHECK-SAME: tensor<8xf32, #[[Y]]> {dtensor.written = #dtensor.layout<#[[A]], [y]>}
// CHECK-SAME: !dtensor.variable<tensor<8xf32, #[[P]]>> {dtensor.written = #[[ON_B]]}
// CHECK-SAME: -> (tensor<8xf32, #[[P]]> {dtensor.written = #[[ON_B]]})
// CHECK-SAME: attributes {dtensor.meshes = [#[[A]], #[[B]]]}
func.func @two(%x: tensor<8xf32, #dtensor.layout<#a, [y]>>,
               %v: !dtensor.variable<tensor<8xf32, #dtensor.layout<#b, [p]>>>)
    -> tensor<8xf32, #dtensor.layout<#b, [p]>> {
  // CHECK: %[[V:.+]] = dtensor.read_variable
  %0 = dtensor.read_variable %v : (!dtensor.variable<tensor<8xf32, #dtensor.layout<#b, [p]>>>) -> tensor<8xf32, #dtensor.layout<#b, [p]>>
  // CHECK: dtensor.add %{{.+}}, %[[V]] : (tensor<8xf32, #[[Y]]>, tensor<8xf32, #[[P]]>) -> tensor<8xf32>
  %1 = dtensor.add %x, %0 : (tensor<8xf32, #dtensor.layout<#a, [y]>>, tensor<8xf32, #dtensor.layout<#b, [p]>>) -> tensor<8xf32>
  // CHECK: dtensor.relayout {{.+}} -> tensor<8xf32, #[[P]]>
  %2 = dtensor.relayout %1 : (tensor<8xf32>) -> tensor<8xf32, #dtensor.layout<#b, [p]>>
  return %2 : tensor<8xf32, #dtensor.layout<#b, [p]>>
}

// -----

// Wishes, loops and pending reductions.
#a = #dtensor.mesh<x = 2, y = 4>
#b = #dtensor.mesh<p = 4, q = 2>
// CHECK-DAG: #[[BOTH:.+]] = #dtensor.mesh<x = 2, y:(1)2 = 2, y:(2)2 = 2>
// CHECK-DAG: #[[WISH:.+]] = #dtensor.layout<#[[BOTH]], [y:(2)2]>
// CHECK-DAG: #[[SUM:.+]] = #dtensor.layout<#[[BOTH]], [*] partial<y: sum>>
// CHECK-DAG: #[[LOOP:.+]] = #dtensor.layout<#[[BOTH]], [{x, y:(1)2}]>
// CHECK-LABEL: func.func @inside
// CHECK-SAME: tensor<8xf32, #[[SUM]]>
func.func @inside(%x: tensor<8xf32, #dtensor.layout<#a, [*] partial<y: sum>>>, %n: tensor<i32>) -> tensor<8xf32> {
  // CHECK: dtensor.wish = {layout = #[[WISH]], open = array<i1: true>, replicated = ["x", "y:(1)2"]}
  %0 = dtensor.constraint %x {dtensor.wish = {layout = #dtensor.layout<#b, [q]>, open = array<i1: true>, replicated = ["p"]}}
      : (tensor<8xf32, #dtensor.layout<#a, [*] partial<y: sum>>>) -> tensor<8xf32>
  // CHECK: dtensor.while{{.+}} -> tensor<8xf32, #[[LOOP]]>
  %1 = dtensor.while (%0) : (tensor<8xf32>) -> tensor<8xf32, #dtensor.layout<#b, [p]>> cond {
  ^bb0(%c: tensor<8xf32, #dtensor.layout<#b, [p]>>):
    %false = dtensor.constant dense<false> : tensor<i1>
    dtensor.yield %false : tensor<i1>
  } do {
  // CHECK: ^bb0(%{{.+}}: tensor<8xf32, #[[LOOP]]>)
  ^bb0(%c: tensor<8xf32, #dtensor.layout<#b, [p]>>):
    %2 = dtensor.exp %c : (tensor<8xf32, #dtensor.layout<#b, [p]>>) -> tensor<8xf32>
    dtensor.yield %2 : tensor<8xf32>
  }
  %3 = dtensor.exp %1 : (tensor<8xf32, #dtensor.layout<#b, [p]>>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}

// -----

// What cuts nothing needs no refinement, and one device none of its own.
#a = #dtensor.mesh<p = 3, q = 2>
#b = #dtensor.mesh<x = 2, y = 3>
#one = #dtensor.mesh<d = 1>
// CHECK-DAG: #[[B:.+]] = #dtensor.mesh<x = 2, y = 3>
// CHECK-DAG: #[[X:.+]] = #dtensor.layout<#[[B]], [x]>
// CHECK-DAG: #[[ALL:.+]] = #dtensor.layout<#[[B]], [*]>
// CHECK-LABEL: func.func @uncut
// CHECK-SAME: (%{{.+}}: tensor<6xf32, #[[ALL]]> {dtensor.written = {{.+}}}, %{{.+}}: tensor<6xf32, #[[X]]>, %{{.+}}: tensor<6xf32, #[[ALL]]> {dtensor.name = "h"})
// CHECK-SAME: dtensor.notes = ["argument 'h' is on the one device of mesh <d=1>; the program gives it to every device"]
func.func @uncut(%x: tensor<6xf32, #dtensor.layout<#a, [*]>>, %y: tensor<6xf32, #dtensor.layout<#b, [x]>>,
                 %h: tensor<6xf32, #dtensor.layout<#one, [d]>> {dtensor.name = "h"}) {
  return
}

// -----

// Blocks of a dim that does not divide are others where its axis is cut.
#a = #dtensor.mesh<x = 2, y = 4>
#b = #dtensor.mesh<p = 4, q = 2>
// CHECK-LABEL: func.func @uneven
// CHECK-SAME: (%{{.+}}: tensor<10xf32, #{{[^>]+}}>, %{{.+}}: tensor<8xf32, #{{.+}}> {dtensor.written = {{.+}}})
// CHECK-SAME: dtensor.notes = ["argument #0 is cut as [y] on mesh <x=2, y:(1)2=2, y:(2)2=2>, not as [y] on mesh <x=2, y=4>: {{.+}}"]
func.func @uneven(%x: tensor<10xf32, #dtensor.layout<#a, [y]>>, %y: tensor<8xf32, #dtensor.layout<#b, [p]>>) {
  return
}

// -----

// One mesh stays as it is.
// CHECK-LABEL: func.func @one
// CHECK-NOT: attributes
func.func @one(%x: tensor<10xf32, #dtensor.layout<#dtensor.mesh<x = 2, y = 4>, [y]>>) {
  return
}

// -----

// Axes of one device leave all layouts, and come back in the signature.
#m = #dtensor.mesh<a = 1, x = 2, b = 1>
// CHECK-DAG: #[[ON:.+]] = #dtensor.mesh<x = 2>
// CHECK-DAG: #[[M:.+]] = #dtensor.mesh<a = 1, x = 2, b = 1>
// CHECK-DAG: #[[ROWS:.+]] = #dtensor.layout<#[[ON]], [x, *]>
// CHECK-DAG: #[[WHOLE:.+]] = #dtensor.layout<#[[ON]], [*, *]>
// CHECK-DAG: #[[WRITTEN:.+]] = #dtensor.layout<#[[M]], [{x, a}, b]>
// CHECK-LABEL: func.func @axes_of_one
// CHECK-SAME: (%{{.+}}: tensor<8x4xf32, #[[ROWS]]> {dtensor.written = #[[WRITTEN]]},
// CHECK-SAME: %{{.+}}: tensor<8x4xf32, #[[WHOLE]]> {dtensor.written = #dtensor.layout<#[[M]], [*, *] partial<b: max>>},
// CHECK-SAME: %{{.+}}: !dtensor.variable<tensor<8x4xf32, #[[ROWS]]>> {dtensor.written = #[[WRITTEN]]})
// CHECK-SAME: -> (tensor<8x4xf32, #[[ROWS]]> {dtensor.written = #[[WRITTEN]]})
// CHECK-SAME: attributes {dtensor.meshes = [#[[M]]]}
func.func @axes_of_one(%x: tensor<8x4xf32, #dtensor.layout<#m, [{x, a}, b]>>,
                       %p: tensor<8x4xf32, #dtensor.layout<#m, [*, *] partial<b: max>>>,
                       %v: !dtensor.variable<tensor<8x4xf32, #dtensor.layout<#m, [{x, a}, b]>>>)
    -> tensor<8x4xf32, #dtensor.layout<#m, [{x, a}, b]>> {
  // A wish for an axis of one is none.
  // CHECK: dtensor.wish = {layout = #[[WHOLE]], open = array<i1: false, true>, replicated = ["x"]}
  %0 = dtensor.constraint %x {dtensor.wish = {layout = #dtensor.layout<#m, [a, *]>, open = array<i1: false, true>, replicated = ["x", "b"]}}
      : (tensor<8x4xf32, #dtensor.layout<#m, [{x, a}, b]>>) -> tensor<8x4xf32>
  // CHECK: dtensor.relayout {{.+}} -> tensor<8x4xf32, #[[ROWS]]>
  %1 = dtensor.relayout %0 : (tensor<8x4xf32>) -> tensor<8x4xf32, #dtensor.layout<#m, [{x, a}, b]>>
  return %1 : tensor<8x4xf32, #dtensor.layout<#m, [{x, a}, b]>>
}

// -----

// Of a mesh of one device nothing is cut.
#m = #dtensor.mesh<x = 1>
// CHECK-DAG: #[[WHOLE:.+]] = #dtensor.layout<#{{.+}}, [*]>
// CHECK-LABEL: func.func @one_device
// CHECK-SAME: tensor<8xf32, #[[WHOLE]]> {dtensor.written = #dtensor.layout<#{{.+}}, [x]>}
func.func @one_device(%x: tensor<8xf32, #dtensor.layout<#m, [x]>>) {
  return
}

// -----

// A result that nobody laid out is told on the module's mesh, which runs without its axis of one.
#m = #dtensor.mesh<x = 2, b = 1>
module attributes {dtensor.mesh = #m} {
  // CHECK: #[[M:.+]] = #dtensor.mesh<x = 2, b = 1>
  // CHECK-LABEL: func.func @no_layouts
  // CHECK-SAME: attributes {dtensor.meshes = [#[[M]]]}
  func.func @no_layouts(%x: tensor<8xf32>) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}
