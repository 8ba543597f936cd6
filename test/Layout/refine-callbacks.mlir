// A function of the host is called where a shard_map says, by the device that has the shard: refinement moves what it is
// given and what it gives, not the call, though calling it everywhere would send nothing.
// RUN: mesh-opt %s --dtensor-refine-layouts=machine=ring --dtensor-insert-relayouts=machine=ring | FileCheck %s

#mesh = #dtensor.mesh<batch = 2, x = 2>
#cut = #dtensor.layout<#mesh, [batch, x]>
#parts = #dtensor.layout<#mesh, [batch, x, *, *]>
#whole = #dtensor.layout<#mesh, [*, *, *, *]>

// CHECK-LABEL: @parts
// CHECK: dtensor.callback "parts"(%{{.*}}) {batch_dims = 2 : i64} : (tensor<2x2xi64, #layout_batch_x>) -> (tensor<2x2x4x4xf32, #layout_batch_x_u_u>, tensor<2x2xi32, #layout_batch_x>)
// CHECK: dtensor.relayout %{{.*}} : (tensor<2x2x4x4xf32, #layout_batch_x_u_u>) -> tensor<2x2x4x4xf32, #layout_u_u_u_u>
func.func @parts() -> tensor<2x2x4x4xf32, #whole> {
  %numbers = dtensor.iota dim 0 : tensor<2x2xi64, #cut>
  %elements, %done = dtensor.callback "parts"(%numbers) {batch_dims = 2 : i64}
      : (tensor<2x2xi64, #cut>) -> (tensor<2x2x4x4xf32, #parts>, tensor<2x2xi32, #cut>)
  %whole = dtensor.relayout %elements : (tensor<2x2x4x4xf32, #parts>) -> tensor<2x2x4x4xf32, #whole>
  return %whole : tensor<2x2x4x4xf32, #whole>
}
