// Rows that have come to rest stay as they are: the mask, the rows that it
// chooses and what says whether the next step is needed are read from each other's
// kernels in both directions, where ops join them in the order of the program.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2>
#row = #dtensor.layout<#mesh, [x]>
#full = #dtensor.layout<#mesh, [x, *]>
func.func @main(%x: tensor<4x8xf32, #full>, %y: tensor<4x8xf32, #full>, %p: tensor<4xi1, #row>, %q: tensor<4xi1, #row>, %limit: tensor<4xf32, #row>) -> (tensor<4x8xf32>, tensor<4xi1>) {
  %d = dtensor.subtract %x, %y : (tensor<4x8xf32, #full>, tensor<4x8xf32, #full>) -> tensor<4x8xf32>
  %dd = dtensor.multiply %d, %d : tensor<4x8xf32>
  %r = dtensor.reduce sum %dd dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %s = dtensor.sqrt %r : tensor<4xf32>
  %c = dtensor.compare GT, %s, %limit : (tensor<4xf32>, tensor<4xf32, #row>) -> tensor<4xi1>
  %m = dtensor.and %p, %q : (tensor<4xi1, #row>, tensor<4xi1, #row>) -> tensor<4xi1>
  %mm = dtensor.broadcast_in_dim %m dims [0] : (tensor<4xi1>) -> tensor<4x8xi1>
  %z = dtensor.select %mm, %d, %x : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32, #full>) -> tensor<4x8xf32>
  %o = dtensor.select %m, %c, %p : (tensor<4xi1>, tensor<4xi1>, tensor<4xi1, #row>) -> tensor<4xi1>
  return %z, %o : tensor<4x8xf32>, tensor<4xi1>
}
