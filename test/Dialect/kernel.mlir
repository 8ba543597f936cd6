// spmd.kernel, spmd.yield, spmd.index and spmd.load print and parse.
// RUN: mesh-opt %s | mesh-opt | FileCheck %s

#mesh = #dtensor.mesh<x = 2, y = 4>
#xy = #spmd.shard<[6, 8], #dtensor.layout<#mesh, [x, y]>>
#x = #spmd.shard<[6], #dtensor.layout<#mesh, [x] partial<y: sum>>>
#row = #spmd.shard<[6], #dtensor.layout<#mesh, [x]>>
#n = #spmd.shard<[], #dtensor.layout<#mesh, []>>

// CHECK-DAG: #[[IJ:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[REVERSED:.*]] = affine_map<(d0, d1) -> (-d0 + 5)>
// CHECK-DAG: #[[I:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[NONE:.*]] = affine_map<() -> ()>
// CHECK-LABEL: func.func @kernel
// CHECK: spmd.kernel loops [6 over [x], reduce 8 over [y]] ins (%arg0 at #[[IJ]], %arg1 at #[[REVERSED]]) outs (#[[IJ]], sum #[[I]]) in_place [0, -1]
// CHECK: ^bb0(%{{.*}}: f32, %{{.*}}: i32):
// CHECK: spmd.index 1
// CHECK: spmd.yield %{{.*}}, %{{.*}} : f32, f32
// CHECK: spmd.kernel loops [] ins () outs (#[[NONE]])
func.func @kernel(%a: tensor<3x2xf32, #xy>, %b: tensor<3xui32, #row>) -> (tensor<3xf32, #x>, tensor<i64, #n>) {
  %0:2 = spmd.kernel loops [6 over [x], reduce 8 over [y]]
      ins (%a at affine_map<(i, j) -> (i, j)>, %b at affine_map<(i, j) -> (5 - i)>)
      outs (affine_map<(i, j) -> (i, j)>, sum affine_map<(i, j) -> (i)>) in_place [0, -1]
      : (tensor<3x2xf32, #xy>, tensor<3xui32, #row>) -> (tensor<3x2xf32, #xy>, tensor<3xf32, #x>) {
  ^bb0(%x: f32, %y: i32):
    %i = spmd.index 1
    %f = arith.sitofp %i : i64 to f32
    %s = arith.addf %x, %f : f32
    spmd.yield %x, %s : f32, f32
  }
  %1 = spmd.kernel loops [] ins () outs (affine_map<() -> ()>) : () -> tensor<i64, #n> {
    %c = arith.constant 3 : i64
    spmd.yield %c : i64
  }
  return %0#1, %1 : tensor<3xf32, #x>, tensor<i64, #n>
}

#whole = #spmd.shard<[6], #dtensor.layout<#mesh, [*]>>

// CHECK-LABEL: func.func @load
// CHECK: spmd.kernel loops [6 over [x], held 6] ins (%arg0 at #{{.*}}, %arg1 at #{{.*}}) outs (#{{.*}})
// CHECK: %[[I:.*]] = arith.extui
// CHECK: %[[X:.*]] = spmd.load 1 over [1] at %[[I]] : f32
// CHECK: spmd.yield %[[X]]
func.func @load(%i: tensor<3xui32, #row>, %t: tensor<6xf32, #whole>) -> tensor<3xf32, #row> {
  %0 = spmd.kernel loops [6 over [x], held 6]
      ins (%i at affine_map<(i, j) -> (i)>, %t at affine_map<(i, j) -> (j)>)
      outs (affine_map<(i, j) -> (i)>)
      : (tensor<3xui32, #row>, tensor<6xf32, #whole>) -> tensor<3xf32, #row> {
  ^bb0(%k: i32, %unused: f32):
    %wide = arith.extui %k : i32 to i64
    %x = spmd.load 1 over [1] at %wide : f32
    spmd.yield %x : f32
  }
  return %0 : tensor<3xf32, #row>
}
