// Behaviour that TensorFlow DTensor's own tests check: reductions of
// [x, u].
// RUN: mesh-opt %s --dtensor-propagate-layouts | FileCheck %s --check-prefix=LAYOUT
// RUN: mesh-opt %s --dtensor-partition='machine=ring refine=false' | FileCheck %s

#mesh = #dtensor.mesh<x = 2, y = 4>
#xu = #dtensor.layout<#mesh, [x, *]>
#wide = #dtensor.mesh<x = 4, y = 2>
#wide_xy = #dtensor.layout<#wide, [x, y]>

// 51: over dim 0 -> [u], all_reduce.
// LAYOUT-LABEL: func.func @item51
// LAYOUT: dtensor.reduce sum {{.*}} -> tensor<8xf32, #layout_u_sum_x>
// CHECK-LABEL: func.func @item51
// CHECK-NEXT: dtensor.reduce
// CHECK-NEXT: spmd.all_reduce sum over [x] {{.*}}#layout_u>>
// CHECK-NEXT: return
func.func @item51(%a: tensor<8x8xf32, #xu>) -> tensor<8xf32> {
  %0 = dtensor.reduce sum %a dims [0] : (tensor<8x8xf32, #xu>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// 52: over dim 1 -> [x], nothing sent.
// LAYOUT-LABEL: func.func @item52
// LAYOUT: dtensor.reduce sum {{.*}} -> tensor<8xf32, #layout_x>
// CHECK-LABEL: func.func @item52
// CHECK-NEXT: dtensor.reduce
// CHECK-NEXT: return
func.func @item52(%a: tensor<8x8xf32, #xu>) -> tensor<8xf32> {
  %0 = dtensor.reduce sum %a dims [1] : (tensor<8x8xf32, #xu>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// 53: over all dims -> a scalar; sum, max, min and prod with their own kind.
// LAYOUT-LABEL: func.func @item53
// LAYOUT: dtensor.reduce sum {{.*}} -> tensor<f32, #layout_sum_x>
// LAYOUT: dtensor.reduce max {{.*}} -> tensor<f32, #layout_max_x>
// LAYOUT: dtensor.reduce min {{.*}} -> tensor<f32, #layout_min_x>
// LAYOUT: dtensor.reduce prod {{.*}} -> tensor<f32, #layout_prod_x>
// CHECK-LABEL: func.func @item53
// CHECK-DAG: spmd.all_reduce sum over [x]
// CHECK-DAG: spmd.all_reduce max over [x]
// CHECK-DAG: spmd.all_reduce min over [x]
// CHECK-DAG: spmd.all_reduce prod over [x]
// CHECK: return
func.func @item53(%a: tensor<8x8xf32, #xu>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %0 = dtensor.reduce sum %a dims [0, 1] : (tensor<8x8xf32, #xu>) -> tensor<f32>
  %1 = dtensor.reduce max %a dims [0, 1] : (tensor<8x8xf32, #xu>) -> tensor<f32>
  %2 = dtensor.reduce min %a dims [0, 1] : (tensor<8x8xf32, #xu>) -> tensor<f32>
  %3 = dtensor.reduce prod %a dims [0, 1] : (tensor<8x8xf32, #xu>) -> tensor<f32>
  return %0, %1, %2, %3 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// 54: logsumexp over the last dim -> [x], nothing sent.
// LAYOUT-LABEL: func.func @item54
// LAYOUT: dtensor.add {{.*}} : tensor<8xf32, #layout_x>
// CHECK-LABEL: func.func @item54
// CHECK-NOT: spmd.all
func.func @item54(%a: tensor<8x8xf32, #xu>) -> tensor<8xf32> {
  %m = dtensor.reduce max %a dims [1] : (tensor<8x8xf32, #xu>) -> tensor<8xf32>
  %0 = dtensor.broadcast_in_dim %m dims [0] : (tensor<8xf32>) -> tensor<8x8xf32>
  %1 = dtensor.subtract %a, %0 : (tensor<8x8xf32, #xu>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = dtensor.exp %1 : tensor<8x8xf32>
  %3 = dtensor.reduce sum %2 dims [1] : (tensor<8x8xf32>) -> tensor<8xf32>
  %4 = dtensor.log %3 : tensor<8xf32>
  %5 = dtensor.add %4, %m : tensor<8xf32>
  return %5 : tensor<8xf32>
}

// 55: any and all of booleans.
// LAYOUT-LABEL: func.func @item55
// LAYOUT: dtensor.reduce or {{.*}} -> tensor<8xi1, #layout_u_or_x>
// LAYOUT: dtensor.reduce and {{.*}} -> tensor<8xi1, #layout_u_and_x>
// CHECK-LABEL: func.func @item55
// CHECK-DAG: spmd.all_reduce or over [x]
// CHECK-DAG: spmd.all_reduce and over [x]
// CHECK: return
func.func @item55(%a: tensor<8x8xi1, #xu>) -> (tensor<8xi1>, tensor<8xi1>) {
  %0 = dtensor.reduce or %a dims [0] : (tensor<8x8xi1, #xu>) -> tensor<8xi1>
  %1 = dtensor.reduce and %a dims [0] : (tensor<8x8xi1, #xu>) -> tensor<8xi1>
  return %0, %1 : tensor<8xi1>, tensor<8xi1>
}

// 56: half the sum of squares: the factor passes through the pending sum.
// LAYOUT-LABEL: func.func @item56
// LAYOUT: dtensor.multiply {{.*}} -> tensor<f32, #layout_sum_x>
// CHECK-LABEL: func.func @item56
// CHECK: spmd.all_reduce sum over [x] {{.*}} {bytes = 4 : i64
// CHECK-NEXT: return
func.func @item56(%a: tensor<8x8xf32, #xu>) -> tensor<f32> {
  %0 = dtensor.multiply %a, %a : (tensor<8x8xf32, #xu>, tensor<8x8xf32, #xu>) -> tensor<8x8xf32>
  %1 = dtensor.reduce sum %0 dims [0, 1] : (tensor<8x8xf32>) -> tensor<f32>
  %half = dtensor.constant dense<0.5> : tensor<f32>
  %2 = dtensor.multiply %1, %half : tensor<f32>
  return %2 : tensor<f32>
}

// 57: the gradient of a bias -> replicated.
// LAYOUT-LABEL: func.func @item57
// LAYOUT: dtensor.reduce sum {{.*}} -> tensor<3xf32, #layout_u_sum_x>
// CHECK-LABEL: func.func @item57
// CHECK: spmd.all_reduce sum over [x] {{.*}}#layout_u>>
// CHECK-NEXT: return
func.func @item57(%a: tensor<8x4x4x3xf32, #dtensor.layout<#mesh, [x, *, *, *]>>) -> tensor<3xf32> {
  %0 = dtensor.reduce sum %a dims [0, 1, 2] : (tensor<8x4x4x3xf32, #dtensor.layout<#mesh, [x, *, *, *]>>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// 58: [x, y] on a 4 x 2 mesh over dim 0 -> [y], reduced within groups of 4.
// LAYOUT-LABEL: func.func @item58
// LAYOUT: dtensor.reduce sum {{.*}} -> tensor<8xf32, #layout{{.*}}>
// CHECK-LABEL: func.func @item58
// CHECK-NEXT: dtensor.reduce
// CHECK-NEXT: spmd.all_reduce sum over [x] {{.*}} {bytes = 16 : i64, {{.*}} -> tensor<4xf32, #spmd.shard<[8], #layout{{.*}}>>
// CHECK-NEXT: return
func.func @item58(%a: tensor<8x8xf32, #wide_xy>) -> tensor<8xf32> {
  %0 = dtensor.reduce sum %a dims [0] : (tensor<8x8xf32, #wide_xy>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
