// RUN: mesh-opt --target=cuda %s | FileCheck %s

// Sums of many terms are cut into parts, so that a whole card has work, and the
// results of the parts are summed. Of all elements: 32 parts of 8,192 terms. Of
// columns: 16 parts of 256 rows. Parts do not go over the ends of shards.
#mesh = #dtensor.mesh<x = 2>
#cut = #dtensor.layout<#mesh, [x]>
#one = #dtensor.layout<#mesh, []>
#rows = #dtensor.layout<#mesh, [x, *]>
#row = #dtensor.layout<#mesh, [*]>

// CHECK: // Meshloom device code 1
// CHECK-NEXT: // kernel {{.*}} results 1 terms 256 grid 1 parameters p0 p1 e0 e1
// CHECK-NEXT: // kernel {{.*}} results 256 terms 1 grid none parameters p0 p1 e0
// CHECK-NEXT: // kernel {{.*}} results 32 terms 8 grid 2,1 parameters p0 p1 e0 e1 e2
// CHECK-NEXT: // kernel {{.*}} results 256 terms 1 grid 0 parameters p0 p1 e0 e1
func.func @main(%x: tensor<262144xf32, #cut>, %y: tensor<4096x256xf32, #rows>)
    -> (tensor<f32, #one>, tensor<256xf32, #row>) {
  %0 = dtensor.reduce sum %x dims [0] : (tensor<262144xf32, #cut>) -> tensor<f32, #one>
  %1 = dtensor.reduce sum %y dims [0] : (tensor<4096x256xf32, #rows>) -> tensor<256xf32, #row>
  return %0, %1 : tensor<f32, #one>, tensor<256xf32, #row>
}
