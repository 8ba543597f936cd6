// Gradients of windows over sharded dims: sums, products, largest and smallest,
// strided, dilated and cropped, of the init value; of select_and_scatter; of
// running reductions.
// RUN: %verify-gradient
#mesh = #dtensor.mesh<x = 2, y = 4>
#h = #dtensor.layout<#mesh, [*, {x, y}]>
#b = #dtensor.layout<#mesh, [x, *]>

func.func @main(%a: tensor<4x17xf32, #h>, %b: tensor<4x17xf32, #b>, %init: tensor<f32>, %s: tensor<4x17xf32, #h>) -> tensor<f32> {
  %low = dtensor.constant dense<0xFF800000> : tensor<f32>
  %zero = dtensor.constant dense<0.0> : tensor<f32>
  %0 = dtensor.reduce_window max %a init %low window [1, 3] padding [0, 0, 1, 1] : (tensor<4x17xf32, #h>, tensor<f32>) -> tensor<4x17xf32>
  %1 = dtensor.reduce_window sum %a init %init window [2, 4] padding [1, 0, 2, 1] : (tensor<4x17xf32, #h>, tensor<f32>) -> tensor<4x17xf32>
  %2 = dtensor.reduce_window sum %a init %zero window [1, 3] strides [1, 2] padding [0, 0, 9, 9] base_dilations [1, 2] window_dilations [1, 2] : (tensor<4x17xf32, #h>, tensor<f32>) -> tensor<4x24xf32>
  %sliced = dtensor.slice %2 [0:4, 2:19] : (tensor<4x24xf32>) -> tensor<4x17xf32>
  %3 = dtensor.reduce_window max %a init %init window [1, 3] padding [0, 0, 3, -1] window_dilations [1, 2] : (tensor<4x17xf32, #h>, tensor<f32>) -> tensor<4x15xf32>
  %filled = dtensor.pad %3, %zero low [0, 1] high [0, 1] interior [0, 0] : (tensor<4x15xf32>, tensor<f32>) -> tensor<4x17xf32>
  %4 = dtensor.reduce_window prod %b init %init window [1, 3] padding [0, 0, 2, 0] : (tensor<4x17xf32, #b>, tensor<f32>) -> tensor<4x17xf32>
  %5 = dtensor.select_and_scatter %b, %s init %init select max scatter sum window [1, 4] padding [0, 0, 2, 1] : (tensor<4x17xf32, #b>, tensor<4x17xf32, #h>, tensor<f32>) -> tensor<4x17xf32>
  %6 = dtensor.cumulative sum %a dim 1 : tensor<4x17xf32, #h>
  %7 = dtensor.cumulative prod %b dim 1 reverse : (tensor<4x17xf32, #b>) -> tensor<4x17xf32>
  %8 = dtensor.cumulative max %a dim 1 : (tensor<4x17xf32, #h>) -> tensor<4x17xf32>
  %9 = dtensor.cumulative min %b dim 0 reverse : (tensor<4x17xf32, #b>) -> tensor<4x17xf32>
  %10 = dtensor.multiply %0, %1 : tensor<4x17xf32>
  %11 = dtensor.multiply %sliced, %filled : tensor<4x17xf32>
  %12 = dtensor.multiply %4, %5 : tensor<4x17xf32>
  %13 = dtensor.multiply %6, %7 : (tensor<4x17xf32, #h>, tensor<4x17xf32>) -> tensor<4x17xf32>
  %14 = dtensor.multiply %8, %9 : tensor<4x17xf32>
  %15 = dtensor.add %10, %11 : tensor<4x17xf32>
  %16 = dtensor.add %12, %13 : tensor<4x17xf32>
  %17 = dtensor.add %14, %15 : tensor<4x17xf32>
  %18 = dtensor.add %16, %17 : tensor<4x17xf32>
  %19 = dtensor.reduce sum %18 dims [0, 1] : (tensor<4x17xf32>) -> tensor<f32>
  return %19 : tensor<f32>
}
