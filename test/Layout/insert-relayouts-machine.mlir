// Which layout of a value is made from which follows from the machine's prices,
// the same that refinement looks at.
// RUN: echo '{"preset": "ring", "links": {"x": {"bytes_per_second": 1e8}}}' > %t.json
// RUN: mesh-opt %s --dtensor-insert-relayouts=machine=ring --split-input-file | FileCheck %s --check-prefixes=ALL,RING
// RUN: mesh-opt %s --dtensor-insert-relayouts=machine=%t.json --split-input-file | FileCheck %s --check-prefixes=ALL,SLOW
// RUN: mesh-opt %s --dtensor-insert-relayouts=machine=shared-memory --split-input-file | FileCheck %s --check-prefixes=ALL,SHARED

#mesh = #dtensor.mesh<x = 2, y = 4>
#xu = #dtensor.layout<#mesh, [x, *]>
#uy = #dtensor.layout<#mesh, [*, y]>
#ux = #dtensor.layout<#mesh, [*, x]>

// Both from the value send the least; but not where the link along x is slow:
// then that is used once, and the second one is made along y.
// ALL-LABEL: func.func @slow_link
// ALL: %[[Y:.*]] = dtensor.relayout %arg0 {{.*}} -> tensor<64x64xf32, #layout_u_y>
// RING: dtensor.relayout %arg0 {{.*}} -> tensor<64x64xf32, #layout_u_x>
// SLOW: dtensor.relayout %[[Y]] {{.*}} -> tensor<64x64xf32, #layout_u_x>
// SHARED: dtensor.relayout %arg0 {{.*}} -> tensor<64x64xf32, #layout_u_x>
func.func @slow_link(%a: tensor<64x64xf32, #xu>) -> (tensor<64x64xf32, #uy>, tensor<64x64xf32, #ux>) {
  %0 = dtensor.exp %a : (tensor<64x64xf32, #xu>) -> tensor<64x64xf32, #uy>
  %1 = dtensor.exp %a : (tensor<64x64xf32, #xu>) -> tensor<64x64xf32, #ux>
  return %0, %1 : tensor<64x64xf32, #uy>, tensor<64x64xf32, #ux>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#xu = #dtensor.layout<#mesh, [x, *]>
#yx = #dtensor.layout<#mesh, [y, x]>
#both = #dtensor.layout<#mesh, [{y, x}, *]>

// In shared memory both are views of the value: a view of a view would be no
// cheaper. Between memories the second one moves less when it is made of
// the first.
// ALL-LABEL: func.func @views
// ALL: %[[FIRST:.*]] = dtensor.relayout %arg0 {{.*}} -> tensor<64x64xf32, #layout_y_x>
// RING: dtensor.relayout %[[FIRST]] {{.*}} -> tensor<64x64xf32, #layout_yx_u>
// SHARED: dtensor.relayout %arg0 {{.*}} -> tensor<64x64xf32, #layout_yx_u>
func.func @views(%a: tensor<64x64xf32, #xu>) -> (tensor<64x64xf32, #yx>, tensor<64x64xf32, #both>) {
  %0 = dtensor.exp %a : (tensor<64x64xf32, #xu>) -> tensor<64x64xf32, #yx>
  %1 = dtensor.exp %a : (tensor<64x64xf32, #xu>) -> tensor<64x64xf32, #both>
  return %0, %1 : tensor<64x64xf32, #yx>, tensor<64x64xf32, #both>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#xu = #dtensor.layout<#mesh, [x, *]>
#yu = #dtensor.layout<#mesh, [y, *]>
#uu = #dtensor.layout<#mesh, [*, *]>
#none = #dtensor.layout<#mesh, []>

// What was made in front of a branch is cut inside of it: nothing is sent.
// ALL-LABEL: func.func @in_a_branch
// ALL: %[[WHOLE:.*]] = dtensor.relayout %arg1 {{.*}} -> tensor<64x64xf32, #layout_u_u>
// ALL: dtensor.exp %[[WHOLE]]
// ALL: dtensor.case
// ALL: %[[ROWS:.*]] = dtensor.relayout %[[WHOLE]] {{.*}} -> tensor<64x64xf32, #layout_y_u>
// ALL: dtensor.exp %[[ROWS]]
func.func @in_a_branch(%i: tensor<i32, #none>, %a: tensor<64x64xf32, #xu>, %b: tensor<64x64xf32, #yu>) -> (tensor<64x64xf32, #uu>, tensor<64x64xf32, #yu>) {
  %0 = dtensor.exp %a : (tensor<64x64xf32, #xu>) -> tensor<64x64xf32, #uu>
  %1 = dtensor.case %i : (tensor<i32, #none>) -> tensor<64x64xf32, #yu> {
    %2 = dtensor.exp %a : (tensor<64x64xf32, #xu>) -> tensor<64x64xf32, #yu>
    dtensor.yield %2 : tensor<64x64xf32, #yu>
  }, {
    dtensor.yield %b : tensor<64x64xf32, #yu>
  }
  return %0, %1 : tensor<64x64xf32, #uu>, tensor<64x64xf32, #yu>
}
