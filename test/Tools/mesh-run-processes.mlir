// In several processes, layouts are chosen for what is slow between them: here
// x is two processes, y two devices of each, and what can move on either moves
// on y. In one process nothing is nearer than anything else. What is between
// them is what the transport found.
// RUN: mesh-run %s --compile-only --explain | FileCheck %s --check-prefix=ONE
// RUN: mesh-launch -n 2 mesh-run %s --compile-only --explain | FileCheck %s --check-prefix=TWO
// RUN: env MESHLOOM_TRANSPORT=tcp mesh-launch -n 2 mesh-run %s --compile-only --explain | FileCheck %s --check-prefix=TCP
// ONE: @main on shared-memory
// ONE: permute over [x, y]: 131072 bytes
// TWO-DAG: [0] @main on processes
// TWO-DAG: [0]   1. all_to_all over [y]: 131072 bytes
// TWO-DAG: [1]   1. all_to_all over [y]: 131072 bytes
// TWO-DAG: [1]   2. all_reduce sum over [x, y]: 4 bytes, 6 sent, 20.0 us
// TCP: 2. all_reduce sum over [x, y]: 4 bytes, 6 sent, 60.0 us
#mesh = #dtensor.mesh<x = 2, y = 2>
#on_x = #dtensor.layout<#mesh, [x, *]>
#on_y = #dtensor.layout<#mesh, [y, *]>

func.func @main(%a: tensor<256x256xf32, #on_x>, %b: tensor<256x256xf32, #on_y>) -> tensor<f32> {
  %0 = dtensor.add %a, %b : (tensor<256x256xf32, #on_x>, tensor<256x256xf32, #on_y>) -> tensor<256x256xf32>
  %1 = dtensor.reduce sum %0 dims [0, 1] : (tensor<256x256xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}
