// Reshapes that merge and split sharded dims, transposes, broadcasts, slices,
// concatenations and reversals, with layouts given at both ends.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2, y = 4>
#merged = #dtensor.layout<#mesh, [{x, y}, *]>
#split = #dtensor.layout<#mesh, [x, y, *]>
#swapped = #dtensor.layout<#mesh, [y, *, x]>
#uneven = #dtensor.layout<#mesh, [y, x]>

func.func @main(%a: tensor<16x3xf32, #merged>, %b: tensor<5x7xi32, #uneven>)
    -> (tensor<2x8x3xf32, #split>, tensor<3x8x2xf32, #swapped>, tensor<6x8xf32>,
        tensor<3x4xi32, #uneven>, tensor<10x7xi32, #uneven>, tensor<5x7xi32, #uneven>,
        tensor<5x3x7xi32>, tensor<35xi32>) {
  %0 = dtensor.reshape %a : (tensor<16x3xf32, #merged>) -> tensor<2x8x3xf32, #split>
  %1 = dtensor.transpose %0 dims [2, 1, 0] : (tensor<2x8x3xf32, #split>) -> tensor<3x8x2xf32, #swapped>
  %2 = dtensor.reshape %1 : (tensor<3x8x2xf32, #swapped>) -> tensor<6x8xf32>
  %3 = dtensor.slice %b [1:4, 0:7:2] : (tensor<5x7xi32, #uneven>) -> tensor<3x4xi32>
  %4 = dtensor.constraint %3 : (tensor<3x4xi32>) -> tensor<3x4xi32, #uneven>
  %5 = dtensor.concatenate %b, %b dim 0 : (tensor<5x7xi32, #uneven>, tensor<5x7xi32, #uneven>) -> tensor<10x7xi32>
  %6 = dtensor.constraint %5 : (tensor<10x7xi32>) -> tensor<10x7xi32, #uneven>
  %7 = dtensor.reverse %b dims [0, 1] : (tensor<5x7xi32, #uneven>) -> tensor<5x7xi32>
  %8 = dtensor.constraint %7 : (tensor<5x7xi32>) -> tensor<5x7xi32, #uneven>
  %9 = dtensor.broadcast_in_dim %b dims [0, 2] : (tensor<5x7xi32, #uneven>) -> tensor<5x3x7xi32>
  %10 = dtensor.reshape %b : (tensor<5x7xi32, #uneven>) -> tensor<35xi32>
  return %0, %1, %2, %4, %6, %8, %9, %10 : tensor<2x8x3xf32, #split>, tensor<3x8x2xf32, #swapped>, tensor<6x8xf32>,
      tensor<3x4xi32, #uneven>, tensor<10x7xi32, #uneven>, tensor<5x7xi32, #uneven>, tensor<5x3x7xi32>, tensor<35xi32>
}
