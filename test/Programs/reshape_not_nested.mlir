// A reshape whose dims share a divisor, which can be sharded, and do not nest
// beyond it.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2, y = 2>
#x = #dtensor.layout<#mesh, [x, *, *]>
#xy = #dtensor.layout<#mesh, [{x, y}, *, *]>

func.func @main(%a: tensor<2x5x6xf32, #x>, %b: tensor<8x5x6xf32, #xy>)
    -> (tensor<6x10xf32>, tensor<24x10xf32>, tensor<1x6x10xf32>) {
  %0 = dtensor.reshape %a : (tensor<2x5x6xf32, #x>) -> tensor<6x10xf32>
  %1 = dtensor.reshape %b : (tensor<8x5x6xf32, #xy>) -> tensor<24x10xf32>
  %2 = dtensor.reshape %a : (tensor<2x5x6xf32, #x>) -> tensor<1x6x10xf32>
  return %0, %1, %2 : tensor<6x10xf32>, tensor<24x10xf32>, tensor<1x6x10xf32>
}
