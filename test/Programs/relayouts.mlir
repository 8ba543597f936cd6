// A value on a tour of layouts: every kind of collective, uneven shards.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2, y = 4>
#a = #dtensor.layout<#mesh, [x, y]>
#b = #dtensor.layout<#mesh, [y, x]>
#c = #dtensor.layout<#mesh, [{x, y}, *]>
#d = #dtensor.layout<#mesh, [{y, x}, *]>
#e = #dtensor.layout<#mesh, [*, {x, y}]>
#f = #dtensor.layout<#mesh, [*, *]>
#g = #dtensor.layout<#mesh, [*, y]>

func.func @main(%0: tensor<9x10xf32, #a>, %i: tensor<9x10xi8, #c>)
    -> (tensor<9x10xf32, #g>, tensor<9x10xi8, #d>, tensor<9x10xf32, #b>, tensor<9x10xf32, #e>) {
  %1 = dtensor.constraint %0 : (tensor<9x10xf32, #a>) -> tensor<9x10xf32, #b>
  %2 = dtensor.constraint %1 : (tensor<9x10xf32, #b>) -> tensor<9x10xf32, #c>
  %3 = dtensor.constraint %2 : (tensor<9x10xf32, #c>) -> tensor<9x10xf32, #d>
  %4 = dtensor.constraint %3 : (tensor<9x10xf32, #d>) -> tensor<9x10xf32, #e>
  %5 = dtensor.constraint %4 : (tensor<9x10xf32, #e>) -> tensor<9x10xf32, #f>
  %6 = dtensor.constraint %5 : (tensor<9x10xf32, #f>) -> tensor<9x10xf32, #g>
  %7 = dtensor.constraint %i : (tensor<9x10xi8, #c>) -> tensor<9x10xi8, #d>
  return %6, %7, %1, %4 : tensor<9x10xf32, #g>, tensor<9x10xi8, #d>, tensor<9x10xf32, #b>, tensor<9x10xf32, #e>
}
