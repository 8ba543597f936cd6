// Slices that begin in one shard and end in another, at run-time indices, and at
// both ends of the tensor, where starts are clamped; updates of a variable's
// memory in place.
// RUN: %verify
#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>
#columns = #dtensor.layout<#mesh, [*, x]>

func.func @main(%a: tensor<11x6xf32, #rows>, %u: tensor<5x6xf32>, %p: tensor<11x6xi1, #columns>,
                %i: tensor<i32>, %cache: tensor<9x4xf32, #rows> {dtensor.alias = 6 : i64},
                %new: tensor<1x4xf32>)
    -> (tensor<5x6xf32>, tensor<11x6xf32, #rows>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<11x2xi1>,
        tensor<11x6xf32, #columns>, tensor<9x4xf32, #rows>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %far = dtensor.constant dense<2000000000> : tensor<i32>
  %before = dtensor.constant dense<-3> : tensor<i32>
  %0 = dtensor.dynamic_slice %a at %i, %zero sizes [5, 6]
      : (tensor<11x6xf32, #rows>, tensor<i32>, tensor<i32>) -> tensor<5x6xf32>
  %1 = dtensor.dynamic_update_slice %a with %u at %i, %zero
      : (tensor<11x6xf32, #rows>, tensor<5x6xf32>, tensor<i32>, tensor<i32>) -> tensor<11x6xf32>
  %2 = dtensor.dynamic_slice %a at %far, %far sizes [5, 6]
      : (tensor<11x6xf32, #rows>, tensor<i32>, tensor<i32>) -> tensor<5x6xf32>
  %3 = dtensor.dynamic_slice %a at %before, %zero sizes [5, 6]
      : (tensor<11x6xf32, #rows>, tensor<i32>, tensor<i32>) -> tensor<5x6xf32>
  %4 = dtensor.dynamic_slice %p at %zero, %i sizes [11, 2]
      : (tensor<11x6xi1, #columns>, tensor<i32>, tensor<i32>) -> tensor<11x2xi1>
  %5 = dtensor.dynamic_update_slice %a with %u at %far, %before
      : (tensor<11x6xf32, #rows>, tensor<5x6xf32>, tensor<i32>, tensor<i32>) -> tensor<11x6xf32>
  %6 = dtensor.dynamic_update_slice %cache with %new at %i, %zero
      : (tensor<9x4xf32, #rows>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<9x4xf32>
  %r1 = dtensor.constraint %1 : (tensor<11x6xf32>) -> tensor<11x6xf32, #rows>
  %r5 = dtensor.constraint %5 : (tensor<11x6xf32>) -> tensor<11x6xf32, #columns>
  %r6 = dtensor.constraint %6 : (tensor<9x4xf32>) -> tensor<9x4xf32, #rows>
  return %0, %r1, %2, %3, %4, %r5, %r6 : tensor<5x6xf32>, tensor<11x6xf32, #rows>, tensor<5x6xf32>,
      tensor<5x6xf32>, tensor<11x2xi1>, tensor<11x6xf32, #columns>, tensor<9x4xf32, #rows>
}
