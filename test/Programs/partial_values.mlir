// Pending reductions that the user wrote: partial arguments of every kind, and a
// partial result.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2, y = 4>
#sum = #dtensor.layout<#mesh, [x, *] partial<y: sum>>
#sums = #dtensor.layout<#mesh, [*, *] partial<x: sum, y: sum>>
#max = #dtensor.layout<#mesh, [*, *] partial<y: max>>
#min = #dtensor.layout<#mesh, [*, x] partial<y: min>>
#prod = #dtensor.layout<#mesh, [x, *] partial<y: prod>>
#full = #dtensor.layout<#mesh, [*, *]>
#rows = #dtensor.layout<#mesh, [{x, y}, *]>

func.func @main(%a: tensor<5x6xf32, #sum>, %b: tensor<5x6xf32, #sums>, %c: tensor<5x6xf32, #max>,
                %d: tensor<5x6xf32, #min>, %e: tensor<5x6xf32, #prod>, %f: tensor<5x6xi32, #sum>)
    -> (tensor<5x6xf32>, tensor<5x6xf32, #rows>, tensor<5x6xf32>, tensor<5x6xf32, #full>,
        tensor<5x6xf32>, tensor<5x6xi32>, tensor<5x6xf32, #sum>) {
  %0 = dtensor.exp %a : (tensor<5x6xf32, #sum>) -> tensor<5x6xf32>
  %1 = dtensor.constraint %b : (tensor<5x6xf32, #sums>) -> tensor<5x6xf32, #rows>
  %2 = dtensor.add %c, %d : (tensor<5x6xf32, #max>, tensor<5x6xf32, #min>) -> tensor<5x6xf32>
  %3 = dtensor.relayout %c : (tensor<5x6xf32, #max>) -> tensor<5x6xf32, #full>
  %4 = dtensor.tanh %e : (tensor<5x6xf32, #prod>) -> tensor<5x6xf32>
  %5 = dtensor.add %f, %f : (tensor<5x6xi32, #sum>, tensor<5x6xi32, #sum>) -> tensor<5x6xi32>
  %6 = dtensor.add %a, %a : (tensor<5x6xf32, #sum>, tensor<5x6xf32, #sum>) -> tensor<5x6xf32, #sum>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<5x6xf32>, tensor<5x6xf32, #rows>, tensor<5x6xf32>, tensor<5x6xf32, #full>,
      tensor<5x6xf32>, tensor<5x6xi32>, tensor<5x6xf32, #sum>
}
