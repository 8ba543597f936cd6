// RUN: mesh-opt %s --dtensor-gradient | FileCheck %s
#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x]>

// A gradient gets its argument's layout; aliases and names of what was there
// stay.
// CHECK: #[[ROWS:.*]] = #dtensor.layout<#mesh, [x]>
// CHECK: func.func @main
// CHECK-SAME: -> (tensor<f32> {dtensor.name = "loss"}, tensor<4xf32, #[[ROWS]]>)
// CHECK: %[[G:.*]] = dtensor.constraint {{.*}} -> tensor<4xf32, #[[ROWS]]>
// CHECK: return %{{.*}}, %[[G]]
func.func @main(%x: tensor<4xf32, #rows> {dtensor.name = "x"}) -> (tensor<f32> {dtensor.name = "loss"}) {
  %0 = dtensor.multiply %x, %x : (tensor<4xf32, #rows>, tensor<4xf32, #rows>) -> tensor<4xf32>
  %1 = dtensor.reduce sum %0 dims [0] : (tensor<4xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}
