// Behaviour that TensorFlow DTensor's own tests check: relayouts.
// RUN: mesh-opt %s --dtensor-partition='machine=ring refine=false' | FileCheck %s
// RUN: mesh-run %s --function=item20 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item21 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item22 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item23a --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item23b --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item23c --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item23d --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item24 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item25 --verify --machine=ring --no-refine --private-memories

#mesh = #dtensor.mesh<x = 2, y = 4>
#xyu = #dtensor.layout<#mesh, [x, y, *]>
#yxu = #dtensor.layout<#mesh, [y, x, *]>
#xuu = #dtensor.layout<#mesh, [x, *, *]>
#uxu = #dtensor.layout<#mesh, [*, x, *]>
#uux = #dtensor.layout<#mesh, [*, *, x]>
#uyx = #dtensor.layout<#mesh, [*, y, x]>
#xuy = #dtensor.layout<#mesh, [x, *, y]>
#uuu = #dtensor.layout<#mesh, [*, *, *]>
#xu = #dtensor.layout<#mesh, [x, *]>
#ux = #dtensor.layout<#mesh, [*, x]>
#uy = #dtensor.layout<#mesh, [*, y]>
#yu = #dtensor.layout<#mesh, [y, *]>
#uu = #dtensor.layout<#mesh, [*, *]>

// 20: dropping an axis gathers over it.
// CHECK-LABEL: func.func @item20
// CHECK-NEXT: spmd.all_gather over [y] {{.*}} -> tensor<4x8x8xf32, #spmd.shard<[8, 8, 8], #layout_x_u_u>>
// CHECK-NEXT: return
func.func @item20(%a: tensor<8x8x8xf32, #xyu>) -> tensor<8x8x8xf32, #xuu> {
  %0 = dtensor.relayout %a : (tensor<8x8x8xf32, #xyu>) -> tensor<8x8x8xf32, #xuu>
  return %0 : tensor<8x8x8xf32, #xuu>
}

// 21: adding axes is a local slice.
// CHECK-LABEL: func.func @item21
// CHECK-NEXT: spmd.slice over [x, y] {{.*}} -> tensor<4x2x8xf32, #spmd.shard<[8, 8, 8], #layout_x_y_u>>
// CHECK-NEXT: return
func.func @item21(%a: tensor<8x8x8xf32, #uuu>) -> tensor<8x8x8xf32, #xyu> {
  %0 = dtensor.relayout %a : (tensor<8x8x8xf32, #uuu>) -> tensor<8x8x8xf32, #xyu>
  return %0 : tensor<8x8x8xf32, #xyu>
}

// 22: an axis that changes its dim is an all_to_all.
// CHECK-LABEL: func.func @item22
// CHECK-NEXT: spmd.all_to_all over [x] {{.*}} -> tensor<8x4xf32, #spmd.shard<[8, 8], #layout_u_x>>
// CHECK-NEXT: spmd.all_to_all over [y] {{.*}} -> tensor<2x8xf32, #spmd.shard<[8, 8], #layout_y_u>>
// CHECK-NEXT: return
func.func @item22(%a: tensor<8x8xf32, #xu>, %b: tensor<8x8xf32, #uy>) -> (tensor<8x8xf32, #ux>, tensor<8x8xf32, #yu>) {
  %0 = dtensor.relayout %a : (tensor<8x8xf32, #xu>) -> tensor<8x8xf32, #ux>
  %1 = dtensor.relayout %b : (tensor<8x8xf32, #uy>) -> tensor<8x8xf32, #yu>
  return %0, %1 : tensor<8x8xf32, #ux>, tensor<8x8xf32, #yu>
}

// 23: the same in three dims; axes that stay, stay.
// CHECK-LABEL: func.func @item23a
// CHECK-NEXT: spmd.all_to_all over [x] {{.*}} -> tensor<8x8x4xf32, #spmd.shard<[8, 8, 8], #layout_u_u_x>>
// CHECK-NEXT: return
func.func @item23a(%a: tensor<8x8x8xf32, #xuu>) -> tensor<8x8x8xf32, #uux> {
  %0 = dtensor.relayout %a : (tensor<8x8x8xf32, #xuu>) -> tensor<8x8x8xf32, #uux>
  return %0 : tensor<8x8x8xf32, #uux>
}
// CHECK-LABEL: func.func @item23b
// CHECK-NEXT: spmd.all_to_all over [x] {{.*}} -> tensor<8x8x4xf32, #spmd.shard<[8, 8, 8], #layout_u_u_x>>
// CHECK-NEXT: return
func.func @item23b(%a: tensor<8x8x8xf32, #uxu>) -> tensor<8x8x8xf32, #uux> {
  %0 = dtensor.relayout %a : (tensor<8x8x8xf32, #uxu>) -> tensor<8x8x8xf32, #uux>
  return %0 : tensor<8x8x8xf32, #uux>
}
// CHECK-LABEL: func.func @item23c
// CHECK-NEXT: spmd.all_to_all over [x] {{.*}} -> tensor<8x2x4xf32, #spmd.shard<[8, 8, 8], #layout_u_y_x>>
// CHECK-NEXT: return
func.func @item23c(%a: tensor<8x8x8xf32, #xyu>) -> tensor<8x8x8xf32, #uyx> {
  %0 = dtensor.relayout %a : (tensor<8x8x8xf32, #xyu>) -> tensor<8x8x8xf32, #uyx>
  return %0 : tensor<8x8x8xf32, #uyx>
}
// CHECK-LABEL: func.func @item23d
// CHECK-NEXT: spmd.all_to_all over [y] {{.*}} -> tensor<4x2x8xf32, #spmd.shard<[8, 8, 8], #layout_x_y_u>>
// CHECK-NEXT: return
func.func @item23d(%a: tensor<8x8x8xf32, #xuy>) -> tensor<8x8x8xf32, #xyu> {
  %0 = dtensor.relayout %a : (tensor<8x8x8xf32, #xuy>) -> tensor<8x8x8xf32, #xyu>
  return %0 : tensor<8x8x8xf32, #xyu>
}

// 24: [x, y] -> [x, *], what TensorFlow writes as [match, unsharded].
// CHECK-LABEL: func.func @item24
// CHECK-NEXT: spmd.all_gather over [y] {{.*}} -> tensor<4x8xf32, #spmd.shard<[8, 8], #layout_x_u>>
// CHECK-NEXT: return
func.func @item24(%a: tensor<8x8xf32, #dtensor.layout<#mesh, [x, y]>>) -> tensor<8x8xf32, #xu> {
  %0 = dtensor.relayout %a : (tensor<8x8xf32, #dtensor.layout<#mesh, [x, y]>>) -> tensor<8x8xf32, #xu>
  return %0 : tensor<8x8xf32, #xu>
}

// 25: gathers of integers and booleans.
// CHECK-LABEL: func.func @item25
// CHECK-NEXT: spmd.all_gather over [x] %arg0 {bytes = 256 : i64, {{.*}} -> tensor<8x8xi32
// CHECK-NEXT: spmd.all_gather over [x] %arg1 {bytes = 64 : i64, {{.*}} -> tensor<8x8xi1
// CHECK-NEXT: return
func.func @item25(%a: tensor<8x8xi32, #xu>, %b: tensor<8x8xi1, #xu>) -> (tensor<8x8xi32, #uu>, tensor<8x8xi1, #uu>) {
  %0 = dtensor.relayout %a : (tensor<8x8xi32, #xu>) -> tensor<8x8xi32, #uu>
  %1 = dtensor.relayout %b : (tensor<8x8xi1, #xu>) -> tensor<8x8xi1, #uu>
  return %0, %1 : tensor<8x8xi32, #uu>, tensor<8x8xi1, #uu>
}
