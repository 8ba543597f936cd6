// Gradients through slices, paddings, joins, reversals and takes of sharded
// dims.
// RUN: %verify-gradient
#mesh = #dtensor.mesh<x = 3, y = 2>
#rows = #dtensor.layout<#mesh, [{x, y}, *]>

func.func @main(%a: tensor<13x5xf32, #rows>, %b: tensor<4x5xf32, #rows>, %v: tensor<f32>) -> tensor<f32> {
  %0 = dtensor.pad %a, %v low [2, 0] high [-1, 0] interior [1, 0] : (tensor<13x5xf32, #rows>, tensor<f32>) -> tensor<26x5xf32>
  %1 = dtensor.slice %0 [1:22:3, 0:5] : (tensor<26x5xf32>) -> tensor<7x5xf32>
  %2 = dtensor.reverse %a dims [0] : (tensor<13x5xf32, #rows>) -> tensor<13x5xf32>
  %3 = dtensor.concatenate %1, %2, %b dim 0 : (tensor<7x5xf32>, tensor<13x5xf32>, tensor<4x5xf32, #rows>) -> tensor<24x5xf32>
  %4 = dtensor.take %3 dim 0 at [1, 1, -1, 23, 5, 6, 7, 1] : (tensor<24x5xf32>) -> tensor<8x5xf32>
  %5 = dtensor.sine %3 : (tensor<24x5xf32>) -> tensor<24x5xf32>
  %6 = dtensor.tanh %4 : (tensor<8x5xf32>) -> tensor<8x5xf32>
  %7 = dtensor.reduce sum %5 dims [0, 1] : (tensor<24x5xf32>) -> tensor<f32>
  %8 = dtensor.reduce sum %6 dims [0, 1] : (tensor<8x5xf32>) -> tensor<f32>
  %9 = dtensor.add %7, %8 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %9 : tensor<f32>
}
