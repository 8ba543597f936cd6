// RUN: mesh-opt %s | mesh-opt | FileCheck %s
// Meshes and layouts are read and printed; an alias tells the layout.

// CHECK-DAG: #[[ONE:mesh[0-9]*]] = #dtensor.mesh<batch = 8>
// CHECK-DAG: #[[THREE:mesh[0-9]*]] = #dtensor.mesh<x = 2, y = 4, z = 3>
#mesh = #dtensor.mesh<x = 2, y = 4, z = 3>

// CHECK-DAG: #layout = #dtensor.layout<#[[THREE]], []>
// CHECK-DAG: #layout_x_u = #dtensor.layout<#[[THREE]], [x, *]>
// CHECK-DAG: #layout_xy_u_sum_z = #dtensor.layout<#[[THREE]], [{x, y}, *] partial<z: sum>>
// CHECK-DAG: #layout_max_x_max_z = #dtensor.layout<#[[THREE]], [] partial<x: max, z: max>>
module attributes {dtensor.mesh = #dtensor.mesh<batch = 8>} {
  // CHECK: func.func private @layouts
  func.func private @layouts(
    tensor<f32, #dtensor.layout<#mesh, []>>,
    tensor<4x4xf32, #dtensor.layout<#mesh, [x, *]>>,
    tensor<4x4xf32, #dtensor.layout<#mesh, [{x, y}, *] partial<z: sum>>>,
    // Pending reductions are sorted by axis.
    tensor<f32, #dtensor.layout<#mesh, [] partial<z: max, x: max>>>)
  // CHECK: kinds = [#dtensor.kind<sum>, #dtensor.kind<or>]
  func.func private @attributes() attributes {kinds = [#dtensor.kind<sum>, #dtensor.kind<or>]}
}
