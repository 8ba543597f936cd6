// In a deterministic function no sum or product of floats is cut: what it
// reduces is brought together first. Sums of integers and maxima are cut as
// elsewhere, as their order changes nothing.
// RUN: mesh-opt %s --dtensor-partition=machine=ring | FileCheck %s
// RUN: sed 's/ attributes {dtensor.deterministic}//' %s | mesh-opt --dtensor-partition=machine=ring | FileCheck %s --check-prefix=FREE
#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>
#columns = #dtensor.layout<#mesh, [*, x]>

// CHECK-LABEL: @product
// CHECK-NOT: all_reduce
// CHECK-NOT: reduce_scatter
// CHECK: return
// FREE-LABEL: @product
// FREE: all_reduce sum
func.func @product(%a: tensor<8x4096xf32, #columns>, %b: tensor<4096x8xf32, #rows>)
    -> tensor<8x8xf32> attributes {dtensor.deterministic} {
  %0 = dtensor.dot_general %a, %b contracting [1] x [0]
      : (tensor<8x4096xf32, #columns>, tensor<4096x8xf32, #rows>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: @reductions
// CHECK: dtensor.reduce sum {{.*}}xf32
// CHECK-NOT: all_reduce sum {{.*}}xf32
// CHECK: all_reduce max {{.*}}xf32
// CHECK: all_reduce sum {{.*}}xi32
// FREE-LABEL: @reductions
// FREE: all_reduce sum {{.*}}xf32
func.func @reductions(%a: tensor<4096x8xf32, #rows>, %b: tensor<4096x8xi32, #rows>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xi32>) attributes {dtensor.deterministic} {
  %0 = dtensor.reduce sum %a dims [0] : (tensor<4096x8xf32, #rows>) -> tensor<8xf32>
  %1 = dtensor.reduce max %a dims [0] : (tensor<4096x8xf32, #rows>) -> tensor<8xf32>
  %2 = dtensor.reduce sum %b dims [0] : (tensor<4096x8xi32, #rows>) -> tensor<8xi32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xi32>
}

// Running sums are not made block by block either.
// CHECK-LABEL: @running
// CHECK: all_gather
// CHECK: dtensor.cumulative sum
// CHECK-NOT: dtensor.cumulative
// CHECK: return
func.func @running(%a: tensor<4096xf32, #dtensor.layout<#mesh, [x]>>)
    -> tensor<4096xf32> attributes {dtensor.deterministic} {
  %0 = dtensor.cumulative sum %a dim 0 : (tensor<4096xf32, #dtensor.layout<#mesh, [x]>>) -> tensor<4096xf32>
  return %0 : tensor<4096xf32>
}
