// Joined values that elementwise ops read where they are: uneven parts, on
// sharded and other dims, of several types, read twice, with an empty part.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2, y = 3>
#rows = #dtensor.layout<#mesh, [{x, y}, *]>
#both = #dtensor.layout<#mesh, [x, y]>
#cube = #dtensor.layout<#mesh, [*, y, x]>

func.func @main(%a: tensor<5x130xf32, #rows>, %b: tensor<9x130xf32, #both>, %i: tensor<3x7x128xi16, #cube>, %j: tensor<3x4x128xi16, #cube>, %e: tensor<0x130xf32, #rows>)
    -> (tensor<14x130xf32, #rows>, tensor<14x130xf32>, tensor<3x18x128xi16, #cube>, tensor<19x130xbf16>) {
  %0 = dtensor.concatenate %a, %b dim 0 : (tensor<5x130xf32, #rows>, tensor<9x130xf32, #both>) -> tensor<14x130xf32>
  %1 = dtensor.tanh %0 : tensor<14x130xf32>
  %2 = dtensor.multiply %0, %1 : (tensor<14x130xf32>, tensor<14x130xf32>) -> tensor<14x130xf32, #rows>
  %3 = dtensor.exp %0 : tensor<14x130xf32>
  %4 = dtensor.concatenate %i, %j, %i dim 1 : (tensor<3x7x128xi16, #cube>, tensor<3x4x128xi16, #cube>, tensor<3x7x128xi16, #cube>) -> tensor<3x18x128xi16>
  %5 = dtensor.negate %4 : (tensor<3x18x128xi16>) -> tensor<3x18x128xi16, #cube>
  %6 = dtensor.concatenate %a, %e, %2 dim 0 : (tensor<5x130xf32, #rows>, tensor<0x130xf32, #rows>, tensor<14x130xf32, #rows>) -> tensor<19x130xf32>
  %7 = dtensor.convert %6 : (tensor<19x130xf32>) -> tensor<19x130xbf16>
  return %2, %3, %5, %7 : tensor<14x130xf32, #rows>, tensor<14x130xf32>, tensor<3x18x128xi16, #cube>, tensor<19x130xbf16>
}
