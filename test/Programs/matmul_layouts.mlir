// One product in many layouts: rows, contraction (uneven), columns, two axes.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2, y = 4>
#ik = #dtensor.layout<#mesh, [x, y]>
#kj = #dtensor.layout<#mesh, [y, x]>
#ki = #dtensor.layout<#mesh, [*, {x, y}]>
#k = #dtensor.layout<#mesh, [{y, x}, *]>
#ij = #dtensor.layout<#mesh, [y, x]>

func.func @main(%a: tensor<6x11xf32, #ik>, %b: tensor<11x5xf32, #kj>,
                %c: tensor<6x11xf32, #ki>, %d: tensor<11x5xf32, #k>)
    -> (tensor<6x5xf32, #ij>, tensor<6x5xf32>, tensor<6x5xf32>) {
  %0 = dtensor.matmul %a, %b : (tensor<6x11xf32, #ik>, tensor<11x5xf32, #kj>) -> tensor<6x5xf32, #ij>
  %1 = dtensor.matmul %c, %d : (tensor<6x11xf32, #ki>, tensor<11x5xf32, #k>) -> tensor<6x5xf32>
  %2 = dtensor.matmul %a, %d : (tensor<6x11xf32, #ik>, tensor<11x5xf32, #k>) -> tensor<6x5xf32>
  return %0, %1, %2 : tensor<6x5xf32, #ij>, tensor<6x5xf32>, tensor<6x5xf32>
}
