// Behaviour that TensorFlow DTensor's own tests check: products. Where
// the item names the result's layout and the operands alone would give another,
// the function asks for it.
// RUN: mesh-opt %s --dtensor-propagate-layouts | FileCheck %s --check-prefix=LAYOUT
// RUN: mesh-opt %s --dtensor-partition='machine=ring refine=false' | FileCheck %s
// RUN: mesh-run %s --function=item40 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item41 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item42 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item43 --verify --machine=ring --no-refine --private-memories

#mesh = #dtensor.mesh<x = 2, y = 4>
#uu = #dtensor.layout<#mesh, [*, *]>
#ux = #dtensor.layout<#mesh, [*, x]>
#uy = #dtensor.layout<#mesh, [*, y]>
#xu = #dtensor.layout<#mesh, [x, *]>
#yu = #dtensor.layout<#mesh, [y, *]>
#xy = #dtensor.layout<#mesh, [x, y]>
#yx = #dtensor.layout<#mesh, [y, x]>
#xuy = #dtensor.layout<#mesh, [x, *, y]>
#xyu = #dtensor.layout<#mesh, [x, y, *]>

// 27: u . u -> u.
// LAYOUT-LABEL: func.func @item27
// LAYOUT: dtensor.matmul {{.*}} -> tensor<8x8xf32, #layout_u_u>
// CHECK-LABEL: func.func @item27
// CHECK-NEXT: %{{[0-9]+}} = dtensor.dot_general
// CHECK-NEXT: return
func.func @item27(%a: tensor<8x8xf32, #uu>, %b: tensor<8x8xf32, #uu>) -> tensor<8x8xf32> {
  %0 = dtensor.matmul %a, %b : (tensor<8x8xf32, #uu>, tensor<8x8xf32, #uu>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// 28: [u, x] . [x, u] -> [u, u]: one all_reduce.
// LAYOUT-LABEL: func.func @item28
// LAYOUT: dtensor.matmul {{.*}} -> tensor<8x8xf32, #layout_u_u_sum_x>
// CHECK-LABEL: func.func @item28
// CHECK-NEXT: %{{[0-9]+}} = dtensor.dot_general
// CHECK-NEXT: spmd.all_reduce sum over [x] {{.*}}#layout_u_u>>
// CHECK-NEXT: return
func.func @item28(%a: tensor<8x8xf32, #ux>, %b: tensor<8x8xf32, #xu>) -> tensor<8x8xf32> {
  %0 = dtensor.matmul %a, %b : (tensor<8x8xf32, #ux>, tensor<8x8xf32, #xu>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// 29: [x, u] . [u, y] -> [x, y]: nothing is sent.
// LAYOUT-LABEL: func.func @item29
// LAYOUT: dtensor.matmul {{.*}} -> tensor<8x8xf32, #layout_x_y>
// CHECK-LABEL: func.func @item29
// CHECK-NEXT: %{{[0-9]+}} = dtensor.dot_general
// CHECK-NEXT: return
func.func @item29(%a: tensor<8x8xf32, #xu>, %b: tensor<8x8xf32, #uy>) -> tensor<8x8xf32> {
  %0 = dtensor.matmul %a, %b : (tensor<8x8xf32, #xu>, tensor<8x8xf32, #uy>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// 30: [x, u] . [u, x] -> [u, u]. Both want x for a dim of the result. The left
// operand gets it: half the work of TensorFlow's two gathers.
// LAYOUT-LABEL: func.func @item30
// LAYOUT: dtensor.matmul {{.*}} -> tensor<8x8xf32, #layout_x_u>
// CHECK-LABEL: func.func @item30
// CHECK-NEXT: %[[B:.*]] = spmd.all_gather over [x] %arg1
// CHECK-NEXT: %[[C:.*]] = dtensor.dot_general %arg0, %[[B]]
// CHECK-NEXT: spmd.all_gather over [x] %[[C]] {{.*}}#layout_u_u>>
// CHECK-NEXT: return
func.func @item30(%a: tensor<8x8xf32, #xu>, %b: tensor<8x8xf32, #ux>) -> tensor<8x8xf32, #uu> {
  %0 = dtensor.matmul %a, %b : (tensor<8x8xf32, #xu>, tensor<8x8xf32, #ux>) -> tensor<8x8xf32>
  %1 = dtensor.constraint %0 : (tensor<8x8xf32>) -> tensor<8x8xf32, #uu>
  return %1 : tensor<8x8xf32, #uu>
}

// 31: [u, y] . [u, u] -> [u, u]: the right operand is sliced. TensorFlow's
// all_reduce sends 384 bytes; reducing a half on each row of devices, and
// gathering, 320.
// LAYOUT-LABEL: func.func @item31
// LAYOUT: dtensor.matmul {{.*}} -> tensor<8x8xf32, #layout_u_u_sum_y>
// CHECK-LABEL: func.func @item31
// CHECK-NEXT: spmd.slice over [y] %arg1
// CHECK-NEXT: %{{[0-9]+}} = dtensor.dot_general
// CHECK-NEXT: spmd.slice over [x]
// CHECK-NEXT: spmd.reduce_scatter sum over [y]
// CHECK-NEXT: spmd.all_gather over [x, y] {{.*}}#layout_u_u>>
// CHECK-NEXT: return
func.func @item31(%a: tensor<8x8xf32, #uy>, %b: tensor<8x8xf32, #uu>) -> tensor<8x8xf32> {
  %0 = dtensor.matmul %a, %b : (tensor<8x8xf32, #uy>, tensor<8x8xf32, #uu>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// 32: [y, x] . [x, y] -> [u, y]: the left operand is gathered over y,
// all_reduce over x.
// LAYOUT-LABEL: func.func @item32
// LAYOUT: dtensor.matmul {{.*}} -> tensor<8x8xf32, #layout_u_y_sum_x>
// CHECK-LABEL: func.func @item32
// CHECK-NEXT: spmd.all_gather over [y] %arg0
// CHECK-NEXT: %{{[0-9]+}} = dtensor.dot_general
// CHECK-NEXT: spmd.all_reduce sum over [x] {{.*}}#layout_u_y>>
// CHECK-NEXT: return
func.func @item32(%a: tensor<8x8xf32, #yx>, %b: tensor<8x8xf32, #xy>) -> tensor<8x8xf32, #uy> {
  %0 = dtensor.matmul %a, %b : (tensor<8x8xf32, #yx>, tensor<8x8xf32, #xy>) -> tensor<8x8xf32>
  %1 = dtensor.constraint %0 : (tensor<8x8xf32>) -> tensor<8x8xf32, #uy>
  return %1 : tensor<8x8xf32, #uy>
}

// 33: [u, x] . [x, u] -> [u, y]: the right operand is sliced, all_reduce.
// LAYOUT-LABEL: func.func @item33
// LAYOUT: dtensor.matmul {{.*}} -> tensor<8x8xf32, #layout_u_y_sum_x>
// CHECK-LABEL: func.func @item33
// CHECK-NEXT: spmd.slice over [y] %arg1
// CHECK-NEXT: %{{[0-9]+}} = dtensor.dot_general
// CHECK-NEXT: spmd.all_reduce sum over [x] {{.*}}#layout_u_y>>
// CHECK-NEXT: return
func.func @item33(%a: tensor<8x8xf32, #ux>, %b: tensor<8x8xf32, #xu>) -> tensor<8x8xf32, #uy> {
  %0 = dtensor.matmul %a, %b : (tensor<8x8xf32, #ux>, tensor<8x8xf32, #xu>) -> tensor<8x8xf32>
  %1 = dtensor.constraint %0 : (tensor<8x8xf32>) -> tensor<8x8xf32, #uy>
  return %1 : tensor<8x8xf32, #uy>
}

// 34: [x, y] . [u, y] -> [x, y]: the left operand is gathered; nothing reduces.
// LAYOUT-LABEL: func.func @item34
// LAYOUT: dtensor.matmul {{.*}} -> tensor<8x8xf32, #layout_x_y>
// CHECK-LABEL: func.func @item34
// CHECK-NEXT: spmd.all_gather over [y] %arg0
// CHECK-NEXT: %{{[0-9]+}} = dtensor.dot_general
// CHECK-NEXT: return
func.func @item34(%a: tensor<8x8xf32, #xy>, %b: tensor<8x8xf32, #uy>) -> tensor<8x8xf32> {
  %0 = dtensor.matmul %a, %b : (tensor<8x8xf32, #xy>, tensor<8x8xf32, #uy>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// 35: contracting y against x, an error in TensorFlow: here the left operand's
// axis is used and the right one is moved to it.
// LAYOUT-LABEL: func.func @item35
// LAYOUT: dtensor.matmul {{.*}} -> tensor<8x8xf32, #layout_u_u_sum_y>
// CHECK-LABEL: func.func @item35
// CHECK: %{{[0-9]+}} = dtensor.dot_general
// CHECK-NEXT: spmd.slice over [x]
// CHECK-NEXT: spmd.reduce_scatter sum over [y]
// CHECK-NEXT: spmd.all_gather over [x, y] {{.*}}#layout_u_u>>
// CHECK-NEXT: return
func.func @item35(%a: tensor<8x8xf32, #uy>, %b: tensor<8x8xf32, #xu>) -> tensor<8x8xf32> {
  %0 = dtensor.matmul %a, %b : (tensor<8x8xf32, #uy>, tensor<8x8xf32, #xu>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// 36: the four combinations of transposed operands, [x, u] . [u, y] each.
// LAYOUT-LABEL: func.func @item36
// LAYOUT: dtensor.dot_general {{.*}} -> tensor<8x8xf32, #layout_x_y>
// LAYOUT: dtensor.dot_general {{.*}} -> tensor<8x8xf32, #layout_x_y>
// LAYOUT: dtensor.dot_general {{.*}} -> tensor<8x8xf32, #layout_x_y>
// LAYOUT: dtensor.dot_general {{.*}} -> tensor<8x8xf32, #layout_x_y>
// CHECK-LABEL: func.func @item36
// CHECK-NOT: spmd.all
func.func @item36(%a: tensor<8x8xf32, #xu>, %b: tensor<8x8xf32, #uy>, %at: tensor<8x8xf32, #ux>, %bt: tensor<8x8xf32, #yu>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = dtensor.dot_general %a, %b contracting [1] x [0] : (tensor<8x8xf32, #xu>, tensor<8x8xf32, #uy>) -> tensor<8x8xf32>
  %1 = dtensor.dot_general %at, %b contracting [0] x [0] : (tensor<8x8xf32, #ux>, tensor<8x8xf32, #uy>) -> tensor<8x8xf32>
  %2 = dtensor.dot_general %a, %bt contracting [1] x [1] : (tensor<8x8xf32, #xu>, tensor<8x8xf32, #yu>) -> tensor<8x8xf32>
  %3 = dtensor.dot_general %at, %bt contracting [0] x [1] : (tensor<8x8xf32, #ux>, tensor<8x8xf32, #yu>) -> tensor<8x8xf32>
  return %0, %1, %2, %3 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// 37: batched, [x, u, y] . [x, y, u] -> [x, u, u]: all_reduce.
// LAYOUT-LABEL: func.func @item37
// LAYOUT: dtensor.matmul {{.*}} -> tensor<4x8x8xf32, #layout_x_u_u_sum_y>
// CHECK-LABEL: func.func @item37
// CHECK-NEXT: %{{[0-9]+}} = dtensor.dot_general
// CHECK-NEXT: spmd.all_reduce sum over [y] {{.*}}#layout_x_u_u>>
// CHECK-NEXT: return
func.func @item37(%a: tensor<4x8x8xf32, #xuy>, %b: tensor<4x8x8xf32, #xyu>) -> tensor<4x8x8xf32> {
  %0 = dtensor.matmul %a, %b : (tensor<4x8x8xf32, #xuy>, tensor<4x8x8xf32, #xyu>) -> tensor<4x8x8xf32>
  return %0 : tensor<4x8x8xf32>
}

// 38: three dims by two; the second is broadcast over the batch.
// LAYOUT-LABEL: func.func @item38
// LAYOUT: dtensor.dot_general {{.*}} -> tensor<4x8x8xf32, #layout_x_u_u_sum_y>
// CHECK-LABEL: func.func @item38
// CHECK-NEXT: %{{[0-9]+}} = dtensor.dot_general
// CHECK-NEXT: spmd.all_reduce sum over [y] {{.*}}#layout_x_u_u>>
// CHECK-NEXT: return
func.func @item38(%a: tensor<4x8x8xf32, #xuy>, %b: tensor<8x8xf32, #yu>) -> tensor<4x8x8xf32> {
  %0 = dtensor.dot_general %a, %b contracting [2] x [0] : (tensor<4x8x8xf32, #xuy>, tensor<8x8xf32, #yu>) -> tensor<4x8x8xf32>
  return %0 : tensor<4x8x8xf32>
}

// 39: [u, x] . [x, u], then relayout to [x, u] or [u, x]: reduce_scatter,
// written as a relayout or as a constraint.
// LAYOUT-LABEL: func.func @item39
// LAYOUT-COUNT-3: dtensor.matmul {{.*}} -> tensor<8x8xf32, #layout_u_u_sum_x>
// CHECK-LABEL: func.func @item39
// CHECK-NOT: spmd.all_reduce
// CHECK-DAG: spmd.reduce_scatter sum over [x] {{.*}} -> {{.*}}#layout_x_u>>
// CHECK-DAG: spmd.reduce_scatter sum over [x] {{.*}} -> {{.*}}#layout_u_x>>
func.func @item39(%a: tensor<8x8xf32, #ux>, %b: tensor<8x8xf32, #xu>, %c: tensor<8x8xf32, #xu>)
    -> (tensor<8x8xf32, #xu>, tensor<8x8xf32, #ux>, tensor<8x8xf32, #ux>) {
  %0 = dtensor.matmul %a, %b : (tensor<8x8xf32, #ux>, tensor<8x8xf32, #xu>) -> tensor<8x8xf32>
  %1 = dtensor.relayout %0 : (tensor<8x8xf32>) -> tensor<8x8xf32, #xu>
  %2 = dtensor.matmul %a, %c : (tensor<8x8xf32, #ux>, tensor<8x8xf32, #xu>) -> tensor<8x8xf32>
  %3 = dtensor.exp %1 : tensor<8x8xf32, #xu>
  %4 = dtensor.matmul %a, %3 : (tensor<8x8xf32, #ux>, tensor<8x8xf32, #xu>) -> tensor<8x8xf32>
  %5 = dtensor.constraint %4 : (tensor<8x8xf32>) -> tensor<8x8xf32, #ux>
  %6 = dtensor.relayout %2 : (tensor<8x8xf32>) -> tensor<8x8xf32, #ux>
  return %1, %6, %5 : tensor<8x8xf32, #xu>, tensor<8x8xf32, #ux>, tensor<8x8xf32, #ux>
}

// 40: bsd,dnh->bsnh with [x, u, y], [u, y, u]: y is for the heads, so the model
// dim is gathered.
// LAYOUT-LABEL: func.func @item40
// LAYOUT: dtensor.dot_general {{.*}} -> tensor<4x4x8x4xf32, #layout_x_u_y_u>
// CHECK-LABEL: func.func @item40
// CHECK-NEXT: spmd.all_gather over [y] %arg0
// CHECK-NEXT: %{{[0-9]+}} = dtensor.dot_general
// CHECK-NEXT: return
func.func @item40(%a: tensor<4x4x8xf32, #xuy>, %b: tensor<8x8x4xf32, #dtensor.layout<#mesh, [*, y, *]>>) -> tensor<4x4x8x4xf32> {
  %0 = dtensor.dot_general %a, %b contracting [2] x [0]
      : (tensor<4x4x8xf32, #xuy>, tensor<8x8x4xf32, #dtensor.layout<#mesh, [*, y, *]>>) -> tensor<4x4x8x4xf32>
  return %0 : tensor<4x4x8x4xf32>
}

// 41: bfi,bfd->di -> [u, y], all_reduce over x. (dot_general gives i before d,
// so it takes its operands in the other order.)
// LAYOUT-LABEL: func.func @item41
// LAYOUT: dtensor.dot_general {{.*}} -> tensor<8x8xf32, #layout_y_u_sum_x>
// LAYOUT: dtensor.transpose {{.*}} -> tensor<8x8xf32, #layout_u_y_sum_x>
// CHECK-LABEL: func.func @item41
// CHECK-NEXT: %{{[0-9]+}} = dtensor.dot_general %arg1, %arg0
// CHECK-NEXT: spmd.all_reduce sum over [x] {{.*}}#layout_u_y>>
// CHECK-NEXT: return
func.func @item41(%a: tensor<4x4x8xf32, #xuy>, %b: tensor<4x4x8xf32, #dtensor.layout<#mesh, [x, *, *]>>) -> tensor<8x8xf32> {
  %0 = dtensor.dot_general %a, %b contracting [0, 1] x [0, 1]
      : (tensor<4x4x8xf32, #xuy>, tensor<4x4x8xf32, #dtensor.layout<#mesh, [x, *, *]>>) -> tensor<8x8xf32>
  %1 = dtensor.transpose %0 dims [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// 42: bfnh,nhd->bfd -> [x, u, y].
// LAYOUT-LABEL: func.func @item42
// LAYOUT: dtensor.dot_general {{.*}} -> tensor<4x4x8xf32, #layout_x_u_y>
// CHECK-LABEL: func.func @item42
// CHECK-NEXT: %{{[0-9]+}} = dtensor.dot_general
// CHECK-NEXT: return
func.func @item42(%a: tensor<4x4x8x4xf32, #dtensor.layout<#mesh, [x, *, *, *]>>, %b: tensor<8x4x8xf32, #dtensor.layout<#mesh, [*, *, y]>>) -> tensor<4x4x8xf32> {
  %0 = dtensor.dot_general %a, %b contracting [2, 3] x [0, 1]
      : (tensor<4x4x8x4xf32, #dtensor.layout<#mesh, [x, *, *, *]>>, tensor<8x4x8xf32, #dtensor.layout<#mesh, [*, *, y]>>) -> tensor<4x4x8xf32>
  return %0 : tensor<4x4x8xf32>
}

// 43: ab[x, y], bc[y, x] -> [u, u]. As 30, a keeps x until the sum over y is
// done.
// LAYOUT-LABEL: func.func @item43
// LAYOUT: dtensor.matmul {{.*}} -> tensor<8x8xf32, #layout_x_u_sum_y>
// CHECK-LABEL: func.func @item43
// CHECK-NEXT: spmd.all_gather over [x] %arg1
// CHECK-NEXT: %{{[0-9]+}} = dtensor.dot_general
// CHECK: return {{.*}}#layout_u_u>>
func.func @item43(%a: tensor<8x8xf32, #xy>, %b: tensor<8x8xf32, #yx>) -> tensor<8x8xf32, #uu> {
  %0 = dtensor.matmul %a, %b : (tensor<8x8xf32, #xy>, tensor<8x8xf32, #yx>) -> tensor<8x8xf32>
  %1 = dtensor.constraint %0 : (tensor<8x8xf32>) -> tensor<8x8xf32, #uu>
  return %1 : tensor<8x8xf32, #uu>
}
