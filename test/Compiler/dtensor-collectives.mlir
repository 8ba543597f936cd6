// Behaviour that TensorFlow DTensor's own tests check, from programs
// to values. (Each pass by itself: combine-collectives*.mlir and
// simplify-collectives.mlir.)
// RUN: mesh-opt %s --dtensor-partition='machine=ring refine=false' | FileCheck %s
// RUN: mesh-run %s --function=item89 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item89_different --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item89_layers --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item90 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item90_dim1 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item90_users --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item90_group --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item90_two_dims --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item90_at_once --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item91 --verify --machine=ring --no-refine --private-memories
// RUN: mesh-run %s --function=item91 --private-memories | FileCheck %s --check-prefix=SUM
// SUM: result 0 bf16[] [] [264]

#mesh = #dtensor.mesh<x = 2, y = 4>
#u = #dtensor.layout<#mesh, [*]>
#all = #dtensor.layout<#mesh, [{x, y}]>
#xu = #dtensor.layout<#mesh, [x, *]>
#yu = #dtensor.layout<#mesh, [y, *]>
#ux = #dtensor.layout<#mesh, [*, x]>
#uu = #dtensor.layout<#mesh, [*, *]>
#xy = #dtensor.layout<#mesh, [x, y]>

// Two independent reductions of 512 elements are one of 1024.
// CHECK-LABEL: func.func @item89(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_reduce sum over [x] %{{[0-9]+}}, %{{[0-9]+}} {bytes = 4096 : i64
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item89(%a: tensor<8x512xf32, #xu>, %b: tensor<4x512xf32, #xu>) -> (tensor<512xf32, #u>, tensor<512xf32, #u>) {
  %0 = dtensor.reduce sum %a dims [0] : (tensor<8x512xf32, #xu>) -> tensor<512xf32>
  %1 = dtensor.reduce sum %b dims [0] : (tensor<4x512xf32, #xu>) -> tensor<512xf32>
  %2 = dtensor.constraint %0 : (tensor<512xf32>) -> tensor<512xf32, #u>
  %3 = dtensor.constraint %1 : (tensor<512xf32>) -> tensor<512xf32, #u>
  return %2, %3 : tensor<512xf32, #u>, tensor<512xf32, #u>
}

// Another reduction and other groups are not merged with them.
// CHECK-LABEL: func.func @item89_different(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_reduce sum over [x] %{{[0-9]+}} 
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_reduce max over [x] %{{[0-9]+}} 
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.slice over [x]
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.reduce_scatter max over [y] %{{[0-9]+}} 
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_gather over [x, y]
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item89_different(%a: tensor<8x512xf32, #xu>, %b: tensor<8x512xf32, #yu>) -> (tensor<512xf32, #u>, tensor<512xf32, #u>, tensor<512xf32, #u>) {
  %0 = dtensor.reduce sum %a dims [0] : (tensor<8x512xf32, #xu>) -> tensor<512xf32>
  %1 = dtensor.reduce max %a dims [0] : (tensor<8x512xf32, #xu>) -> tensor<512xf32>
  %2 = dtensor.reduce max %b dims [0] : (tensor<8x512xf32, #yu>) -> tensor<512xf32>
  %3 = dtensor.constraint %0 : (tensor<512xf32>) -> tensor<512xf32, #u>
  %4 = dtensor.constraint %1 : (tensor<512xf32>) -> tensor<512xf32, #u>
  %5 = dtensor.constraint %2 : (tensor<512xf32>) -> tensor<512xf32, #u>
  return %3, %4, %5 : tensor<512xf32, #u>, tensor<512xf32, #u>, tensor<512xf32, #u>
}

// Two layers of two: the second pair needs the first.
// CHECK-LABEL: func.func @item89_layers(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.reduce_scatter sum over [x] %{{[0-9]+}}, %{{[0-9]+}} 
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_reduce sum over [x] %{{[0-9]+}}, %{{[0-9]+}} 
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item89_layers(%a: tensor<8x8xf32, #ux>, %b: tensor<8x8xf32, #ux>, %w: tensor<8x8xf32, #xu>) -> (tensor<8x8xf32, #uu>, tensor<8x8xf32, #uu>) {
  %0 = dtensor.matmul %a, %w : (tensor<8x8xf32, #ux>, tensor<8x8xf32, #xu>) -> tensor<8x8xf32>
  %1 = dtensor.matmul %b, %w : (tensor<8x8xf32, #ux>, tensor<8x8xf32, #xu>) -> tensor<8x8xf32>
  %2 = dtensor.tanh %0 : (tensor<8x8xf32>) -> tensor<8x8xf32, #uu>
  %3 = dtensor.tanh %1 : (tensor<8x8xf32>) -> tensor<8x8xf32, #uu>
  %4 = dtensor.constraint %2 : (tensor<8x8xf32, #uu>) -> tensor<8x8xf32, #ux>
  %5 = dtensor.constraint %3 : (tensor<8x8xf32, #uu>) -> tensor<8x8xf32, #ux>
  %6 = dtensor.matmul %4, %w : (tensor<8x8xf32, #ux>, tensor<8x8xf32, #xu>) -> tensor<8x8xf32>
  %7 = dtensor.matmul %5, %w : (tensor<8x8xf32, #ux>, tensor<8x8xf32, #xu>) -> tensor<8x8xf32>
  %8 = dtensor.constraint %6 : (tensor<8x8xf32>) -> tensor<8x8xf32, #uu>
  %9 = dtensor.constraint %7 : (tensor<8x8xf32>) -> tensor<8x8xf32, #uu>
  return %8, %9 : tensor<8x8xf32, #uu>, tensor<8x8xf32, #uu>
}

// A reduction that is then cut along dim 0 or dim 1 is a
// reduce_scatter.
// CHECK-LABEL: func.func @item90(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.reduce_scatter sum over [x] {{.*}} -> tensor<4x8xf32
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item90(%a: tensor<8x8xf32, #ux>, %b: tensor<8x8xf32, #xu>) -> tensor<8x8xf32, #xu> {
  %0 = dtensor.matmul %a, %b : (tensor<8x8xf32, #ux>, tensor<8x8xf32, #xu>) -> tensor<8x8xf32>
  %1 = dtensor.relayout %0 : (tensor<8x8xf32>) -> tensor<8x8xf32, #uu>
  %2 = dtensor.relayout %1 : (tensor<8x8xf32, #uu>) -> tensor<8x8xf32, #xu>
  return %2 : tensor<8x8xf32, #xu>
}
// CHECK-LABEL: func.func @item90_dim1(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.reduce_scatter sum over [x] {{.*}} -> tensor<8x4xf32
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item90_dim1(%a: tensor<8x8xf32, #ux>, %b: tensor<8x8xf32, #xu>) -> tensor<8x8xf32, #ux> {
  %0 = dtensor.matmul %a, %b : (tensor<8x8xf32, #ux>, tensor<8x8xf32, #xu>) -> tensor<8x8xf32>
  %1 = dtensor.relayout %0 : (tensor<8x8xf32>) -> tensor<8x8xf32, #uu>
  %2 = dtensor.relayout %1 : (tensor<8x8xf32, #uu>) -> tensor<8x8xf32, #ux>
  return %2 : tensor<8x8xf32, #ux>
}

// Not where the whole sum is needed too, ...
// CHECK-LABEL: func.func @item90_users(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_reduce sum over [x]
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.slice over [x]
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item90_users(%a: tensor<8x8xf32, #ux>, %b: tensor<8x8xf32, #xu>) -> (tensor<8x8xf32, #xu>, tensor<8x8xf32, #uu>) {
  %0 = dtensor.matmul %a, %b : (tensor<8x8xf32, #ux>, tensor<8x8xf32, #xu>) -> tensor<8x8xf32>
  %1 = dtensor.relayout %0 : (tensor<8x8xf32>) -> tensor<8x8xf32, #uu>
  %2 = dtensor.relayout %1 : (tensor<8x8xf32, #uu>) -> tensor<8x8xf32, #xu>
  return %2, %1 : tensor<8x8xf32, #xu>, tensor<8x8xf32, #uu>
}

// ... nor where the cut is over a different axis than the sum, which
// is of the block that each device keeps.
// CHECK-LABEL: func.func @item90_group(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.slice over [y]
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_reduce sum over [x]
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item90_group(%a: tensor<8x8xf32, #ux>, %b: tensor<8x8xf32, #xu>) -> tensor<8x8xf32, #yu> {
  %0 = dtensor.matmul %a, %b : (tensor<8x8xf32, #ux>, tensor<8x8xf32, #xu>) -> tensor<8x8xf32>
  %1 = dtensor.relayout %0 : (tensor<8x8xf32>) -> tensor<8x8xf32, #uu>
  %2 = dtensor.relayout %1 : (tensor<8x8xf32, #uu>) -> tensor<8x8xf32, #yu>
  return %2 : tensor<8x8xf32, #yu>
}

// Where two dims are cut after the whole sum was asked for, nothing
// else uses the whole sum, so it is scattered as if both were asked for at once.
// CHECK-LABEL: func.func @item90_two_dims(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.slice over [y]
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.reduce_scatter sum over [x]
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item90_two_dims(%a: tensor<8x8xf32, #ux>, %b: tensor<8x8xf32, #xu>) -> tensor<8x8xf32, #xy> {
  %0 = dtensor.matmul %a, %b : (tensor<8x8xf32, #ux>, tensor<8x8xf32, #xu>) -> tensor<8x8xf32>
  %1 = dtensor.relayout %0 : (tensor<8x8xf32>) -> tensor<8x8xf32, #uu>
  %2 = dtensor.relayout %1 : (tensor<8x8xf32, #uu>) -> tensor<8x8xf32, #xy>
  return %2 : tensor<8x8xf32, #xy>
}
// CHECK-LABEL: func.func @item90_at_once(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.slice over [y] {{.*}} -> tensor<8x2xf32
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.reduce_scatter sum over [x] {{.*}} -> tensor<4x2xf32
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item90_at_once(%a: tensor<8x8xf32, #ux>, %b: tensor<8x8xf32, #xu>) -> tensor<8x8xf32, #xy> {
  %0 = dtensor.matmul %a, %b : (tensor<8x8xf32, #ux>, tensor<8x8xf32, #xu>) -> tensor<8x8xf32>
  %1 = dtensor.relayout %0 : (tensor<8x8xf32>) -> tensor<8x8xf32, #xy>
  return %1 : tensor<8x8xf32, #xy>
}

// DTensor sums bf16 as f32 in groups above a threshold. Here bf16 is
// what is sent and every sum is one of f32: 256 on one device and 1 on seven are
// 264 (263 rounded), where sums of bf16 would stay at 256.
// CHECK-LABEL: func.func @item91(
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: spmd.all_reduce sum over [x, y] {{.*}}bf16
// CHECK-NOT: spmd.{{[a-z_]+}} over
// CHECK: return
func.func @item91() -> tensor<bf16> {
  %0 = dtensor.iota dim 0 : tensor<8xi32>
  %1 = dtensor.constraint %0 : (tensor<8xi32>) -> tensor<8xi32, #all>
  %zero = dtensor.constant dense<0> : tensor<8xi32>
  %2 = dtensor.compare EQ, %1, %zero : (tensor<8xi32, #all>, tensor<8xi32>) -> tensor<8xi1>
  %large = dtensor.constant dense<256.0> : tensor<8xbf16>
  %one = dtensor.constant dense<1.0> : tensor<8xbf16>
  %3 = dtensor.select %2, %large, %one : (tensor<8xi1>, tensor<8xbf16>, tensor<8xbf16>) -> tensor<8xbf16>
  %4 = dtensor.reduce sum %3 dims [0] : (tensor<8xbf16>) -> tensor<bf16>
  return %4 : tensor<bf16>
}
