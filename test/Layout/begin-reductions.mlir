// A relayout to a layout that is partial where the value is not becomes a
// reduction that is left pending: of what each device has, and nothing is sent.
// RUN: mesh-opt %s --dtensor-partition | FileCheck %s
// RUN: mesh-run --verify --function=main %s
// RUN: mesh-run --verify --private-memories --function=main %s
// RUN: mesh-run --verify --private-memories --function=small %s
// RUN: mesh-run --verify --machine=ring --private-memories --function=main %s
// An axis of one device.
// RUN: sed "s/x = 2, y = 4/x = 2, y = 1/" %s > %t.mlir && mesh-run --verify --function=main %t.mlir

#mesh = #dtensor.mesh<x = 2, y = 4>
#rows = #dtensor.layout<#mesh, [x, *]>
#both = #dtensor.layout<#mesh, [{x, y}, *]>
#sum = #dtensor.layout<#mesh, [*, *] partial<x: sum>>
#max = #dtensor.layout<#mesh, [*, *] partial<x: max>>
#rowsum = #dtensor.layout<#mesh, [x, *] partial<y: sum>>
#bothsum = #dtensor.layout<#mesh, [*, *] partial<x: sum, y: sum>>

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[A:arg0]]: {{.*}}, %[[B:arg1]]: {{.*}}, %[[C:arg2]]: {{.*}}, %[[D:arg3]]:
func.func @main(%a: tensor<8x6xf32, #rows>, %b: tensor<8x6xf32, #both>, %c: tensor<5x3xf32, #rows>, %d: tensor<6x6xi32, #sum>)
    -> (tensor<8x6xf32, #sum>, tensor<8x6xf32, #rowsum>, tensor<8x6xf32, #bothsum>, tensor<8x6xf32, #max>, tensor<8x6xf32, #rowsum>, tensor<5x3xf32, #sum>, tensor<6x6xi32, #bothsum>) {
  // CHECK: dtensor.constant dense<0xFF800000>
  // An axis that cuts a dim: each device has its block, and zeros around it.
  // CHECK-NOT: spmd.all
  // CHECK: dtensor.reduce sum %{{.*}} dims [1] : (tensor<1x1x2x4x6xf32, {{.*}}>) -> tensor<1x2x4x6xf32, #spmd.shard<[1, 2, 4, 6], #[[_:.*]]>>
  %0 = dtensor.relayout %a : (tensor<8x6xf32, #rows>) -> tensor<8x6xf32, #sum>
  // One that does not: the first device along it has the value.
  %1 = dtensor.relayout %a : (tensor<8x6xf32, #rows>) -> tensor<8x6xf32, #rowsum>
  %2 = dtensor.relayout %b : (tensor<8x6xf32, #both>) -> tensor<8x6xf32, #bothsum>
  // CHECK: dtensor.reduce max
  %3 = dtensor.relayout %a : (tensor<8x6xf32, #rows>) -> tensor<8x6xf32, #max>
  %4 = dtensor.relayout %b : (tensor<8x6xf32, #both>) -> tensor<8x6xf32, #rowsum>
  // Blocks that are not even are gathered first.
  // CHECK: spmd.all_gather over [x] %[[C]]
  %5 = dtensor.relayout %c : (tensor<5x3xf32, #rows>) -> tensor<5x3xf32, #sum>
  // What is pending already is carried out first.
  // CHECK: spmd.all_reduce sum over [x] %[[D]]
  %6 = dtensor.relayout %d : (tensor<6x6xi32, #sum>) -> tensor<6x6xi32, #bothsum>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<8x6xf32, #sum>, tensor<8x6xf32, #rowsum>, tensor<8x6xf32, #bothsum>, tensor<8x6xf32, #max>, tensor<8x6xf32, #rowsum>, tensor<5x3xf32, #sum>, tensor<6x6xi32, #bothsum>
}

// Beside a dim of one element that has axes, and without elements.
#columns = #dtensor.layout<#mesh, [x, y]>
#columnsum = #dtensor.layout<#mesh, [*, y] partial<x: sum>>
func.func @small(%a: tensor<12x1xf32, #columns>, %b: tensor<0x8xf32, #columns>) -> (tensor<12x1xf32, #columnsum>, tensor<0x8xf32, #columnsum>) {
  %0 = dtensor.relayout %a : (tensor<12x1xf32, #columns>) -> tensor<12x1xf32, #columnsum>
  %1 = dtensor.relayout %b : (tensor<0x8xf32, #columns>) -> tensor<0x8xf32, #columnsum>
  return %0, %1 : tensor<12x1xf32, #columnsum>, tensor<0x8xf32, #columnsum>
}
