// Behaviour that TensorFlow DTensor's own tests check: losses and what
// picks elements. (Convolutions and pooling: dtensor-windows.mlir.)
// RUN: mesh-opt %s --dtensor-propagate-layouts | FileCheck %s --check-prefix=LAYOUT
// RUN: mesh-opt %s --dtensor-partition='machine=ring refine=false' | FileCheck %s
// RUN: mesh-run %s --function=item77_uu_uu --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item77_uu_xu --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item77_uu_ux --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item77_uu_xy --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item77_xu_uu --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item77_xu_xu --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item77_xu_ux --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item77_xu_xy --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item77_ux_uu --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item77_ux_xu --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item77_ux_ux --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item77_ux_xy --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item77_xy_uu --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item77_xy_xu --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item77_xy_ux --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item77_xy_xy --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item78 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item79_argmax --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item79_top_k --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item79_in_top_k_predictions --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item79_in_top_k_targets --verify --machine=ring --no-refine --private-memories

#mesh = #dtensor.mesh<x = 2, y = 4>
#x = #dtensor.layout<#mesh, [x]>
#y = #dtensor.layout<#mesh, [y]>
#u = #dtensor.layout<#mesh, [*]>
#uu = #dtensor.layout<#mesh, [*, *]>
#xu = #dtensor.layout<#mesh, [x, *]>
#ux = #dtensor.layout<#mesh, [*, x]>
#yu = #dtensor.layout<#mesh, [y, *]>
#xy = #dtensor.layout<#mesh, [x, y]>

// Softmax cross entropy of logits and labels, each laid out in four
// ways: [x] where either has its batch on x. Logits [*, x] keep x for their
// classes: those with labels [x, *] and [x, y] give [*].
// LAYOUT-LABEL: func.func @item77_uu_uu(
// LAYOUT: return {{.*}} : tensor<8xf32, #layout_u>
func.func @item77_uu_uu(%z: tensor<8x12xf32, #uu>, %labels: tensor<8x12xf32, #uu>) -> tensor<8xf32> {
  %max = dtensor.reduce max %z dims [1] : (tensor<8x12xf32, #uu>) -> tensor<8xf32>
  %0 = dtensor.broadcast_in_dim %max dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %1 = dtensor.subtract %z, %0 : (tensor<8x12xf32, #uu>, tensor<8x12xf32>) -> tensor<8x12xf32>
  %2 = dtensor.exp %1 : tensor<8x12xf32>
  %3 = dtensor.reduce sum %2 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  %4 = dtensor.log %3 : tensor<8xf32>
  %5 = dtensor.broadcast_in_dim %4 dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %6 = dtensor.subtract %5, %1 : tensor<8x12xf32>
  %7 = dtensor.multiply %6, %labels : (tensor<8x12xf32>, tensor<8x12xf32, #uu>) -> tensor<8x12xf32>
  %8 = dtensor.reduce sum %7 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  return %8 : tensor<8xf32>
}
// LAYOUT-LABEL: func.func @item77_uu_xu(
// LAYOUT: return {{.*}} : tensor<8xf32, #layout_x>
func.func @item77_uu_xu(%z: tensor<8x12xf32, #uu>, %labels: tensor<8x12xf32, #xu>) -> tensor<8xf32> {
  %max = dtensor.reduce max %z dims [1] : (tensor<8x12xf32, #uu>) -> tensor<8xf32>
  %0 = dtensor.broadcast_in_dim %max dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %1 = dtensor.subtract %z, %0 : (tensor<8x12xf32, #uu>, tensor<8x12xf32>) -> tensor<8x12xf32>
  %2 = dtensor.exp %1 : tensor<8x12xf32>
  %3 = dtensor.reduce sum %2 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  %4 = dtensor.log %3 : tensor<8xf32>
  %5 = dtensor.broadcast_in_dim %4 dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %6 = dtensor.subtract %5, %1 : tensor<8x12xf32>
  %7 = dtensor.multiply %6, %labels : (tensor<8x12xf32>, tensor<8x12xf32, #xu>) -> tensor<8x12xf32>
  %8 = dtensor.reduce sum %7 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  return %8 : tensor<8xf32>
}
// LAYOUT-LABEL: func.func @item77_uu_ux(
// LAYOUT: return {{.*}} : tensor<8xf32, #layout_u>
func.func @item77_uu_ux(%z: tensor<8x12xf32, #uu>, %labels: tensor<8x12xf32, #ux>) -> tensor<8xf32> {
  %max = dtensor.reduce max %z dims [1] : (tensor<8x12xf32, #uu>) -> tensor<8xf32>
  %0 = dtensor.broadcast_in_dim %max dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %1 = dtensor.subtract %z, %0 : (tensor<8x12xf32, #uu>, tensor<8x12xf32>) -> tensor<8x12xf32>
  %2 = dtensor.exp %1 : tensor<8x12xf32>
  %3 = dtensor.reduce sum %2 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  %4 = dtensor.log %3 : tensor<8xf32>
  %5 = dtensor.broadcast_in_dim %4 dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %6 = dtensor.subtract %5, %1 : tensor<8x12xf32>
  %7 = dtensor.multiply %6, %labels : (tensor<8x12xf32>, tensor<8x12xf32, #ux>) -> tensor<8x12xf32>
  %8 = dtensor.reduce sum %7 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  return %8 : tensor<8xf32>
}
// LAYOUT-LABEL: func.func @item77_uu_xy(
// LAYOUT: return {{.*}} : tensor<8xf32, #layout_x>
func.func @item77_uu_xy(%z: tensor<8x12xf32, #uu>, %labels: tensor<8x12xf32, #xy>) -> tensor<8xf32> {
  %max = dtensor.reduce max %z dims [1] : (tensor<8x12xf32, #uu>) -> tensor<8xf32>
  %0 = dtensor.broadcast_in_dim %max dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %1 = dtensor.subtract %z, %0 : (tensor<8x12xf32, #uu>, tensor<8x12xf32>) -> tensor<8x12xf32>
  %2 = dtensor.exp %1 : tensor<8x12xf32>
  %3 = dtensor.reduce sum %2 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  %4 = dtensor.log %3 : tensor<8xf32>
  %5 = dtensor.broadcast_in_dim %4 dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %6 = dtensor.subtract %5, %1 : tensor<8x12xf32>
  %7 = dtensor.multiply %6, %labels : (tensor<8x12xf32>, tensor<8x12xf32, #xy>) -> tensor<8x12xf32>
  %8 = dtensor.reduce sum %7 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  return %8 : tensor<8xf32>
}
// LAYOUT-LABEL: func.func @item77_xu_uu(
// LAYOUT: return {{.*}} : tensor<8xf32, #layout_x>
func.func @item77_xu_uu(%z: tensor<8x12xf32, #xu>, %labels: tensor<8x12xf32, #uu>) -> tensor<8xf32> {
  %max = dtensor.reduce max %z dims [1] : (tensor<8x12xf32, #xu>) -> tensor<8xf32>
  %0 = dtensor.broadcast_in_dim %max dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %1 = dtensor.subtract %z, %0 : (tensor<8x12xf32, #xu>, tensor<8x12xf32>) -> tensor<8x12xf32>
  %2 = dtensor.exp %1 : tensor<8x12xf32>
  %3 = dtensor.reduce sum %2 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  %4 = dtensor.log %3 : tensor<8xf32>
  %5 = dtensor.broadcast_in_dim %4 dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %6 = dtensor.subtract %5, %1 : tensor<8x12xf32>
  %7 = dtensor.multiply %6, %labels : (tensor<8x12xf32>, tensor<8x12xf32, #uu>) -> tensor<8x12xf32>
  %8 = dtensor.reduce sum %7 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  return %8 : tensor<8xf32>
}
// LAYOUT-LABEL: func.func @item77_xu_xu(
// LAYOUT: return {{.*}} : tensor<8xf32, #layout_x>
func.func @item77_xu_xu(%z: tensor<8x12xf32, #xu>, %labels: tensor<8x12xf32, #xu>) -> tensor<8xf32> {
  %max = dtensor.reduce max %z dims [1] : (tensor<8x12xf32, #xu>) -> tensor<8xf32>
  %0 = dtensor.broadcast_in_dim %max dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %1 = dtensor.subtract %z, %0 : (tensor<8x12xf32, #xu>, tensor<8x12xf32>) -> tensor<8x12xf32>
  %2 = dtensor.exp %1 : tensor<8x12xf32>
  %3 = dtensor.reduce sum %2 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  %4 = dtensor.log %3 : tensor<8xf32>
  %5 = dtensor.broadcast_in_dim %4 dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %6 = dtensor.subtract %5, %1 : tensor<8x12xf32>
  %7 = dtensor.multiply %6, %labels : (tensor<8x12xf32>, tensor<8x12xf32, #xu>) -> tensor<8x12xf32>
  %8 = dtensor.reduce sum %7 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  return %8 : tensor<8xf32>
}
// LAYOUT-LABEL: func.func @item77_xu_ux(
// LAYOUT: return {{.*}} : tensor<8xf32, #layout_x>
func.func @item77_xu_ux(%z: tensor<8x12xf32, #xu>, %labels: tensor<8x12xf32, #ux>) -> tensor<8xf32> {
  %max = dtensor.reduce max %z dims [1] : (tensor<8x12xf32, #xu>) -> tensor<8xf32>
  %0 = dtensor.broadcast_in_dim %max dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %1 = dtensor.subtract %z, %0 : (tensor<8x12xf32, #xu>, tensor<8x12xf32>) -> tensor<8x12xf32>
  %2 = dtensor.exp %1 : tensor<8x12xf32>
  %3 = dtensor.reduce sum %2 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  %4 = dtensor.log %3 : tensor<8xf32>
  %5 = dtensor.broadcast_in_dim %4 dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %6 = dtensor.subtract %5, %1 : tensor<8x12xf32>
  %7 = dtensor.multiply %6, %labels : (tensor<8x12xf32>, tensor<8x12xf32, #ux>) -> tensor<8x12xf32>
  %8 = dtensor.reduce sum %7 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  return %8 : tensor<8xf32>
}
// LAYOUT-LABEL: func.func @item77_xu_xy(
// LAYOUT: return {{.*}} : tensor<8xf32, #layout_x>
func.func @item77_xu_xy(%z: tensor<8x12xf32, #xu>, %labels: tensor<8x12xf32, #xy>) -> tensor<8xf32> {
  %max = dtensor.reduce max %z dims [1] : (tensor<8x12xf32, #xu>) -> tensor<8xf32>
  %0 = dtensor.broadcast_in_dim %max dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %1 = dtensor.subtract %z, %0 : (tensor<8x12xf32, #xu>, tensor<8x12xf32>) -> tensor<8x12xf32>
  %2 = dtensor.exp %1 : tensor<8x12xf32>
  %3 = dtensor.reduce sum %2 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  %4 = dtensor.log %3 : tensor<8xf32>
  %5 = dtensor.broadcast_in_dim %4 dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %6 = dtensor.subtract %5, %1 : tensor<8x12xf32>
  %7 = dtensor.multiply %6, %labels : (tensor<8x12xf32>, tensor<8x12xf32, #xy>) -> tensor<8x12xf32>
  %8 = dtensor.reduce sum %7 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  return %8 : tensor<8xf32>
}
// LAYOUT-LABEL: func.func @item77_ux_uu(
// LAYOUT: return {{.*}} : tensor<8xf32, #layout_u>
func.func @item77_ux_uu(%z: tensor<8x12xf32, #ux>, %labels: tensor<8x12xf32, #uu>) -> tensor<8xf32> {
  %max = dtensor.reduce max %z dims [1] : (tensor<8x12xf32, #ux>) -> tensor<8xf32>
  %0 = dtensor.broadcast_in_dim %max dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %1 = dtensor.subtract %z, %0 : (tensor<8x12xf32, #ux>, tensor<8x12xf32>) -> tensor<8x12xf32>
  %2 = dtensor.exp %1 : tensor<8x12xf32>
  %3 = dtensor.reduce sum %2 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  %4 = dtensor.log %3 : tensor<8xf32>
  %5 = dtensor.broadcast_in_dim %4 dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %6 = dtensor.subtract %5, %1 : tensor<8x12xf32>
  %7 = dtensor.multiply %6, %labels : (tensor<8x12xf32>, tensor<8x12xf32, #uu>) -> tensor<8x12xf32>
  %8 = dtensor.reduce sum %7 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  return %8 : tensor<8xf32>
}
// LAYOUT-LABEL: func.func @item77_ux_xu(
// LAYOUT: return {{.*}} : tensor<8xf32, #layout_u>
func.func @item77_ux_xu(%z: tensor<8x12xf32, #ux>, %labels: tensor<8x12xf32, #xu>) -> tensor<8xf32> {
  %max = dtensor.reduce max %z dims [1] : (tensor<8x12xf32, #ux>) -> tensor<8xf32>
  %0 = dtensor.broadcast_in_dim %max dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %1 = dtensor.subtract %z, %0 : (tensor<8x12xf32, #ux>, tensor<8x12xf32>) -> tensor<8x12xf32>
  %2 = dtensor.exp %1 : tensor<8x12xf32>
  %3 = dtensor.reduce sum %2 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  %4 = dtensor.log %3 : tensor<8xf32>
  %5 = dtensor.broadcast_in_dim %4 dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %6 = dtensor.subtract %5, %1 : tensor<8x12xf32>
  %7 = dtensor.multiply %6, %labels : (tensor<8x12xf32>, tensor<8x12xf32, #xu>) -> tensor<8x12xf32>
  %8 = dtensor.reduce sum %7 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  return %8 : tensor<8xf32>
}
// LAYOUT-LABEL: func.func @item77_ux_ux(
// LAYOUT: return {{.*}} : tensor<8xf32, #layout_u>
func.func @item77_ux_ux(%z: tensor<8x12xf32, #ux>, %labels: tensor<8x12xf32, #ux>) -> tensor<8xf32> {
  %max = dtensor.reduce max %z dims [1] : (tensor<8x12xf32, #ux>) -> tensor<8xf32>
  %0 = dtensor.broadcast_in_dim %max dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %1 = dtensor.subtract %z, %0 : (tensor<8x12xf32, #ux>, tensor<8x12xf32>) -> tensor<8x12xf32>
  %2 = dtensor.exp %1 : tensor<8x12xf32>
  %3 = dtensor.reduce sum %2 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  %4 = dtensor.log %3 : tensor<8xf32>
  %5 = dtensor.broadcast_in_dim %4 dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %6 = dtensor.subtract %5, %1 : tensor<8x12xf32>
  %7 = dtensor.multiply %6, %labels : (tensor<8x12xf32>, tensor<8x12xf32, #ux>) -> tensor<8x12xf32>
  %8 = dtensor.reduce sum %7 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  return %8 : tensor<8xf32>
}
// LAYOUT-LABEL: func.func @item77_ux_xy(
// LAYOUT: return {{.*}} : tensor<8xf32, #layout_u>
func.func @item77_ux_xy(%z: tensor<8x12xf32, #ux>, %labels: tensor<8x12xf32, #xy>) -> tensor<8xf32> {
  %max = dtensor.reduce max %z dims [1] : (tensor<8x12xf32, #ux>) -> tensor<8xf32>
  %0 = dtensor.broadcast_in_dim %max dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %1 = dtensor.subtract %z, %0 : (tensor<8x12xf32, #ux>, tensor<8x12xf32>) -> tensor<8x12xf32>
  %2 = dtensor.exp %1 : tensor<8x12xf32>
  %3 = dtensor.reduce sum %2 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  %4 = dtensor.log %3 : tensor<8xf32>
  %5 = dtensor.broadcast_in_dim %4 dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %6 = dtensor.subtract %5, %1 : tensor<8x12xf32>
  %7 = dtensor.multiply %6, %labels : (tensor<8x12xf32>, tensor<8x12xf32, #xy>) -> tensor<8x12xf32>
  %8 = dtensor.reduce sum %7 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  return %8 : tensor<8xf32>
}
// LAYOUT-LABEL: func.func @item77_xy_uu(
// LAYOUT: return {{.*}} : tensor<8xf32, #layout_x>
func.func @item77_xy_uu(%z: tensor<8x12xf32, #xy>, %labels: tensor<8x12xf32, #uu>) -> tensor<8xf32> {
  %max = dtensor.reduce max %z dims [1] : (tensor<8x12xf32, #xy>) -> tensor<8xf32>
  %0 = dtensor.broadcast_in_dim %max dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %1 = dtensor.subtract %z, %0 : (tensor<8x12xf32, #xy>, tensor<8x12xf32>) -> tensor<8x12xf32>
  %2 = dtensor.exp %1 : tensor<8x12xf32>
  %3 = dtensor.reduce sum %2 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  %4 = dtensor.log %3 : tensor<8xf32>
  %5 = dtensor.broadcast_in_dim %4 dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %6 = dtensor.subtract %5, %1 : tensor<8x12xf32>
  %7 = dtensor.multiply %6, %labels : (tensor<8x12xf32>, tensor<8x12xf32, #uu>) -> tensor<8x12xf32>
  %8 = dtensor.reduce sum %7 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  return %8 : tensor<8xf32>
}
// LAYOUT-LABEL: func.func @item77_xy_xu(
// LAYOUT: return {{.*}} : tensor<8xf32, #layout_x>
func.func @item77_xy_xu(%z: tensor<8x12xf32, #xy>, %labels: tensor<8x12xf32, #xu>) -> tensor<8xf32> {
  %max = dtensor.reduce max %z dims [1] : (tensor<8x12xf32, #xy>) -> tensor<8xf32>
  %0 = dtensor.broadcast_in_dim %max dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %1 = dtensor.subtract %z, %0 : (tensor<8x12xf32, #xy>, tensor<8x12xf32>) -> tensor<8x12xf32>
  %2 = dtensor.exp %1 : tensor<8x12xf32>
  %3 = dtensor.reduce sum %2 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  %4 = dtensor.log %3 : tensor<8xf32>
  %5 = dtensor.broadcast_in_dim %4 dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %6 = dtensor.subtract %5, %1 : tensor<8x12xf32>
  %7 = dtensor.multiply %6, %labels : (tensor<8x12xf32>, tensor<8x12xf32, #xu>) -> tensor<8x12xf32>
  %8 = dtensor.reduce sum %7 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  return %8 : tensor<8xf32>
}
// LAYOUT-LABEL: func.func @item77_xy_ux(
// LAYOUT: return {{.*}} : tensor<8xf32, #layout_x>
func.func @item77_xy_ux(%z: tensor<8x12xf32, #xy>, %labels: tensor<8x12xf32, #ux>) -> tensor<8xf32> {
  %max = dtensor.reduce max %z dims [1] : (tensor<8x12xf32, #xy>) -> tensor<8xf32>
  %0 = dtensor.broadcast_in_dim %max dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %1 = dtensor.subtract %z, %0 : (tensor<8x12xf32, #xy>, tensor<8x12xf32>) -> tensor<8x12xf32>
  %2 = dtensor.exp %1 : tensor<8x12xf32>
  %3 = dtensor.reduce sum %2 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  %4 = dtensor.log %3 : tensor<8xf32>
  %5 = dtensor.broadcast_in_dim %4 dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %6 = dtensor.subtract %5, %1 : tensor<8x12xf32>
  %7 = dtensor.multiply %6, %labels : (tensor<8x12xf32>, tensor<8x12xf32, #ux>) -> tensor<8x12xf32>
  %8 = dtensor.reduce sum %7 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  return %8 : tensor<8xf32>
}
// LAYOUT-LABEL: func.func @item77_xy_xy(
// LAYOUT: return {{.*}} : tensor<8xf32, #layout_x>
func.func @item77_xy_xy(%z: tensor<8x12xf32, #xy>, %labels: tensor<8x12xf32, #xy>) -> tensor<8xf32> {
  %max = dtensor.reduce max %z dims [1] : (tensor<8x12xf32, #xy>) -> tensor<8xf32>
  %0 = dtensor.broadcast_in_dim %max dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %1 = dtensor.subtract %z, %0 : (tensor<8x12xf32, #xy>, tensor<8x12xf32>) -> tensor<8x12xf32>
  %2 = dtensor.exp %1 : tensor<8x12xf32>
  %3 = dtensor.reduce sum %2 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  %4 = dtensor.log %3 : tensor<8xf32>
  %5 = dtensor.broadcast_in_dim %4 dims [0] : (tensor<8xf32>) -> tensor<8x12xf32>
  %6 = dtensor.subtract %5, %1 : tensor<8x12xf32>
  %7 = dtensor.multiply %6, %labels : (tensor<8x12xf32>, tensor<8x12xf32, #xy>) -> tensor<8x12xf32>
  %8 = dtensor.reduce sum %7 dims [1] : (tensor<8x12xf32>) -> tensor<8xf32>
  return %8 : tensor<8xf32>
}

// Sparse softmax cross entropy, labels [y] -> [y].
// LAYOUT-LABEL: func.func @item78(
// LAYOUT: return {{.*}} : tensor<8xf32, #layout_y>
// CHECK-LABEL: func.func @item78(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.slice over [y] %arg0
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item78(%z: tensor<8x5xf32, #uu>, %labels: tensor<8xi32, #y>) -> tensor<8xf32> {
  %max = dtensor.reduce max %z dims [1] : (tensor<8x5xf32, #uu>) -> tensor<8xf32>
  %0 = dtensor.broadcast_in_dim %max dims [0] : (tensor<8xf32>) -> tensor<8x5xf32>
  %1 = dtensor.subtract %z, %0 : (tensor<8x5xf32, #uu>, tensor<8x5xf32>) -> tensor<8x5xf32>
  %2 = dtensor.exp %1 : tensor<8x5xf32>
  %3 = dtensor.reduce sum %2 dims [1] : (tensor<8x5xf32>) -> tensor<8xf32>
  %4 = dtensor.log %3 : tensor<8xf32>
  %5 = dtensor.iota dim 1 : tensor<8x5xi32>
  %6 = dtensor.broadcast_in_dim %labels dims [0] : (tensor<8xi32, #y>) -> tensor<8x5xi32>
  %7 = dtensor.compare EQ, %5, %6 : (tensor<8x5xi32>, tensor<8x5xi32>) -> tensor<8x5xi1>
  %8 = dtensor.convert %7 : (tensor<8x5xi1>) -> tensor<8x5xf32>
  %9 = dtensor.multiply %1, %8 : tensor<8x5xf32>
  %10 = dtensor.reduce sum %9 dims [1] : (tensor<8x5xf32>) -> tensor<8xf32>
  %11 = dtensor.subtract %4, %10 : tensor<8xf32>
  return %11 : tensor<8xf32>
}

// Argmax of [x, y] along axis 0 -> [y].
// LAYOUT-LABEL: func.func @item79_argmax(
// LAYOUT: dtensor.argmax {{.*}} -> tensor<8xi64, #layout_y>
// CHECK-LABEL: func.func @item79_argmax(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_gather over [x] %arg0 {{.*}}#layout_u_y
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item79_argmax(%a: tensor<8x8xf32, #xy>) -> tensor<8xi64> {
  %0 = dtensor.argmax %a dim 0 : (tensor<8x8xf32, #xy>) -> tensor<8xi64>
  return %0 : tensor<8xi64>
}

// Top_k along a sharded last axis -> [*, *]; the other axis stays.
// LAYOUT-LABEL: func.func @item79_top_k(
// LAYOUT: dtensor.top_k {{.*}} -> tensor<8x3xf32, #layout_u_u>, tensor<8x3xi32, #layout_u_u>
// LAYOUT: dtensor.top_k {{.*}} -> tensor<8x3xf32, #layout_x_u>
// CHECK-LABEL: func.func @item79_top_k(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_gather over [x] %arg0
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_gather over [y] %arg1 {{.*}}#layout_x_u
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item79_top_k(%a: tensor<8x12xf32, #ux>, %b: tensor<8x12xf32, #xy>) -> (tensor<8x3xf32>, tensor<8x3xi32>, tensor<8x3xf32>) {
  %0, %1 = dtensor.top_k %a k 3 : tensor<8x12xf32, #ux> -> tensor<8x3xf32>, tensor<8x3xi32>
  %2, %3 = dtensor.top_k %b k 3 : tensor<8x12xf32, #xy> -> tensor<8x3xf32>, tensor<8x3xi32>
  return %0, %1, %2 : tensor<8x3xf32>, tensor<8x3xi32>, tensor<8x3xf32>
}

// In_top_k has its predictions' batch dim, else its targets'. (Fewer
// than k predictions are larger than the target's.)
// LAYOUT-LABEL: func.func @item79_in_top_k_predictions(
// LAYOUT: return {{.*}} : tensor<8xi1, #layout_x>
func.func @item79_in_top_k_predictions(%p: tensor<8x5xf32, #xu>, %t: tensor<8xi32, #y>) -> tensor<8xi1> {
  %classes = dtensor.iota dim 1 : tensor<8x5xi32>
  %0 = dtensor.broadcast_in_dim %t dims [0] : (tensor<8xi32, #y>) -> tensor<8x5xi32>
  %hit = dtensor.compare EQ, %classes, %0 : (tensor<8x5xi32>, tensor<8x5xi32>) -> tensor<8x5xi1>
  %zero = dtensor.constant dense<0.0> : tensor<8x5xf32>
  %1 = dtensor.select %hit, %p, %zero : (tensor<8x5xi1>, tensor<8x5xf32, #xu>, tensor<8x5xf32>) -> tensor<8x5xf32>
  %2 = dtensor.reduce sum %1 dims [1] : (tensor<8x5xf32>) -> tensor<8xf32>
  %3 = dtensor.broadcast_in_dim %2 dims [0] : (tensor<8xf32>) -> tensor<8x5xf32>
  %4 = dtensor.compare GT, %p, %3 : (tensor<8x5xf32, #xu>, tensor<8x5xf32>) -> tensor<8x5xi1>
  %5 = dtensor.convert %4 : (tensor<8x5xi1>) -> tensor<8x5xi32>
  %6 = dtensor.reduce sum %5 dims [1] : (tensor<8x5xi32>) -> tensor<8xi32>
  %two = dtensor.constant dense<2> : tensor<8xi32>
  %7 = dtensor.compare LT, %6, %two : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
  return %7 : tensor<8xi1>
}
// LAYOUT-LABEL: func.func @item79_in_top_k_targets(
// LAYOUT: return {{.*}} : tensor<8xi1, #layout_y>
func.func @item79_in_top_k_targets(%p: tensor<8x5xf32, #uu>, %t: tensor<8xi32, #y>) -> tensor<8xi1> {
  %classes = dtensor.iota dim 1 : tensor<8x5xi32>
  %0 = dtensor.broadcast_in_dim %t dims [0] : (tensor<8xi32, #y>) -> tensor<8x5xi32>
  %hit = dtensor.compare EQ, %classes, %0 : (tensor<8x5xi32>, tensor<8x5xi32>) -> tensor<8x5xi1>
  %zero = dtensor.constant dense<0.0> : tensor<8x5xf32>
  %1 = dtensor.select %hit, %p, %zero : (tensor<8x5xi1>, tensor<8x5xf32, #uu>, tensor<8x5xf32>) -> tensor<8x5xf32>
  %2 = dtensor.reduce sum %1 dims [1] : (tensor<8x5xf32>) -> tensor<8xf32>
  %3 = dtensor.broadcast_in_dim %2 dims [0] : (tensor<8xf32>) -> tensor<8x5xf32>
  %4 = dtensor.compare GT, %p, %3 : (tensor<8x5xf32, #uu>, tensor<8x5xf32>) -> tensor<8x5xi1>
  %5 = dtensor.convert %4 : (tensor<8x5xi1>) -> tensor<8x5xi32>
  %6 = dtensor.reduce sum %5 dims [1] : (tensor<8x5xi32>) -> tensor<8xi32>
  %two = dtensor.constant dense<2> : tensor<8xi32>
  %7 = dtensor.compare LT, %6, %two : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
  return %7 : tensor<8xi1>
}
