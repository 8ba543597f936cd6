// Behaviour that TensorFlow DTensor's own tests check: elementwise ops.
// RUN: mesh-opt %s --dtensor-propagate-layouts | FileCheck %s --check-prefix=LAYOUT
// RUN: mesh-opt %s --dtensor-partition='machine=ring refine=false' | FileCheck %s

#mesh = #dtensor.mesh<x = 2, y = 4>
#x = #dtensor.layout<#mesh, [x]>
#y = #dtensor.layout<#mesh, [y]>
#xu = #dtensor.layout<#mesh, [x, *]>
#ux = #dtensor.layout<#mesh, [*, x]>
#uy = #dtensor.layout<#mesh, [*, y]>
#yu = #dtensor.layout<#mesh, [y, *]>
#xy = #dtensor.layout<#mesh, [x, y]>
#uu = #dtensor.layout<#mesh, [*, *]>
#xyu = #dtensor.layout<#mesh, [x, y, *]>
#uxu = #dtensor.layout<#mesh, [*, x, *]>
#scalar = #dtensor.layout<#mesh, []>
#nhwc = #dtensor.layout<#mesh, [x, *, *, *]>

// 44: unary ops keep [x, y, u].
// LAYOUT-LABEL: func.func @item44
// LAYOUT: dtensor.exp {{.*}} : tensor<4x8x3xf32, #layout_x_y_u>
// LAYOUT: dtensor.is_finite {{.*}} -> tensor<4x8x3xi1, #layout_x_y_u>
// LAYOUT: dtensor.convert {{.*}} -> tensor<4x8x3xbf16, #layout_x_y_u>
// CHECK-LABEL: func.func @item44
// CHECK-NOT: spmd.all
func.func @item44(%a: tensor<4x8x3xf32, #xyu>) -> (tensor<4x8x3xi1>, tensor<4x8x3xbf16>) {
  %0 = dtensor.exp %a : (tensor<4x8x3xf32, #xyu>) -> tensor<4x8x3xf32>
  %1 = dtensor.is_finite %0 : (tensor<4x8x3xf32>) -> tensor<4x8x3xi1>
  %2 = dtensor.convert %0 : (tensor<4x8x3xf32>) -> tensor<4x8x3xbf16>
  return %1, %2 : tensor<4x8x3xi1>, tensor<4x8x3xbf16>
}

// 45: binary ops keep [x, y].
// LAYOUT-LABEL: func.func @item45
// LAYOUT: dtensor.maximum {{.*}} : tensor<4x8xf32, #layout_x_y>
// CHECK-LABEL: func.func @item45
// CHECK-NOT: spmd.all
func.func @item45(%a: tensor<4x8xf32, #xy>, %b: tensor<4x8xf32, #xy>) -> tensor<4x8xf32> {
  %0 = dtensor.maximum %a, %b : (tensor<4x8xf32, #xy>, tensor<4x8xf32, #xy>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// 46: a scalar operand keeps the other's layout.
// LAYOUT-LABEL: func.func @item46
// LAYOUT: dtensor.broadcast_in_dim {{.*}} -> tensor<4x8xf32, #layout_x_y>
// LAYOUT: dtensor.divide {{.*}} : tensor<4x8xf32, #layout_x_y>
// CHECK-LABEL: func.func @item46
// CHECK-NOT: spmd.{{all|slice}}
func.func @item46(%a: tensor<4x8xf32, #xy>, %s: tensor<f32, #scalar>) -> tensor<4x8xf32> {
  %0 = dtensor.broadcast_in_dim %s dims [] : (tensor<f32, #scalar>) -> tensor<4x8xf32>
  %1 = dtensor.divide %a, %0 : (tensor<4x8xf32, #xy>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// 47: [y, u] + [x, u] -> [y, u]: the second is moved to the first.
// LAYOUT-LABEL: func.func @item47
// LAYOUT: dtensor.add {{.*}} -> tensor<8x8xf32, #layout_y_u>
// CHECK-LABEL: func.func @item47
// CHECK: %[[B:.*]] = spmd.{{.*}} -> tensor<2x8xf32, #spmd.shard<[8, 8], #layout_y_u>>
// CHECK-NEXT: dtensor.add %arg0, %[[B]]
// CHECK-NEXT: return
func.func @item47(%a: tensor<8x8xf32, #yu>, %b: tensor<8x8xf32, #xu>) -> tensor<8x8xf32> {
  %0 = dtensor.add %a, %b : (tensor<8x8xf32, #yu>, tensor<8x8xf32, #xu>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// 48: [x, u] op [u, x] with [u, x] asked for.
// LAYOUT-LABEL: func.func @item48
// LAYOUT: dtensor.multiply {{.*}} -> tensor<8x8xf32, #layout_u_x>
// CHECK-LABEL: func.func @item48
// CHECK-NEXT: %[[A:.*]] = spmd.all_to_all over [x] %arg0
// CHECK-NEXT: dtensor.multiply %[[A]], %arg1
// CHECK-NEXT: return
func.func @item48(%a: tensor<8x8xf32, #xu>, %b: tensor<8x8xf32, #ux>) -> tensor<8x8xf32, #ux> {
  %0 = dtensor.multiply %a, %b : (tensor<8x8xf32, #xu>, tensor<8x8xf32, #ux>) -> tensor<8x8xf32>
  %1 = dtensor.constraint %0 : (tensor<8x8xf32>) -> tensor<8x8xf32, #ux>
  return %1 : tensor<8x8xf32, #ux>
}

// 49: (u, x, u) + (u, y) -> (u, x, y): the first is sliced.
// LAYOUT-LABEL: func.func @item49
// LAYOUT: dtensor.broadcast_in_dim {{.*}} -> tensor<4x8x8xf32, #layout_u_x_y>
// LAYOUT: dtensor.add {{.*}} -> tensor<4x8x8xf32, #layout_u_x_y>
// CHECK-LABEL: func.func @item49
// CHECK-DAG: spmd.slice over [y] %arg0
// CHECK-DAG: dtensor.broadcast_in_dim
// CHECK-NOT: spmd.all
// CHECK: return {{.*}}#layout_u_x_y>>
func.func @item49(%a: tensor<4x8x8xf32, #uxu>, %b: tensor<8x8xf32, #uy>) -> tensor<4x8x8xf32> {
  %0 = dtensor.broadcast_in_dim %b dims [1, 2] : (tensor<8x8xf32, #uy>) -> tensor<4x8x8xf32>
  %1 = dtensor.add %a, %0 : (tensor<4x8x8xf32, #uxu>, tensor<4x8x8xf32>) -> tensor<4x8x8xf32>
  return %1 : tensor<4x8x8xf32>
}

// 50: the channels of a biased value take the bias's axis where it is free,
// with channels last and first; else the bias is gathered.
// LAYOUT-LABEL: func.func @item50
// LAYOUT: dtensor.add {{.*}} -> tensor<4x3x3x8xf32, #layout_x_u_u_y>
// LAYOUT: dtensor.add {{.*}} -> tensor<4x8x3x3xf32, #layout_x_y_u_u>
// LAYOUT: dtensor.add {{.*}} : tensor<4x3x3x8xf32, #layout_x_u_u_u>
// CHECK-LABEL: func.func @item50
// CHECK: spmd.all_gather over [x] %arg3
// CHECK-NOT: spmd.all_gather
func.func @item50(%nhwc: tensor<4x3x3x8xf32, #nhwc>, %nchw: tensor<4x8x3x3xf32, #nhwc>,
                  %free: tensor<8xf32, #y>, %taken: tensor<8xf32, #x>)
    -> (tensor<4x3x3x8xf32>, tensor<4x8x3x3xf32>, tensor<4x3x3x8xf32>) {
  %0 = dtensor.broadcast_in_dim %free dims [3] : (tensor<8xf32, #y>) -> tensor<4x3x3x8xf32>
  %1 = dtensor.add %nhwc, %0 : (tensor<4x3x3x8xf32, #nhwc>, tensor<4x3x3x8xf32>) -> tensor<4x3x3x8xf32>
  %2 = dtensor.broadcast_in_dim %free dims [1] : (tensor<8xf32, #y>) -> tensor<4x8x3x3xf32>
  %3 = dtensor.add %nchw, %2 : (tensor<4x8x3x3xf32, #nhwc>, tensor<4x8x3x3xf32>) -> tensor<4x8x3x3xf32>
  %4 = dtensor.broadcast_in_dim %taken dims [3] : (tensor<8xf32, #x>) -> tensor<4x3x3x8xf32>
  %5 = dtensor.add %nhwc, %4 : (tensor<4x3x3x8xf32, #nhwc>, tensor<4x3x3x8xf32>) -> tensor<4x3x3x8xf32>
  return %1, %3, %5 : tensor<4x3x3x8xf32>, tensor<4x8x3x3xf32>, tensor<4x3x3x8xf32>
}
