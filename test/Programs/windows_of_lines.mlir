// Windows of images whose columns are the innermost dim: the rows of several
// lines of windows are combined first. Odd extents, strides, dilations, padding
// of both signs, images that are cut; and padding that becomes the window's.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2, y = 2>
#image = #dtensor.layout<#mesh, [*, *, x, y]>

func.func @main(%x0: tensor<3x5x23x29xf32, #image>, 
                %x1: tensor<2x3x23x29xf32>, 
                %x2: tensor<2x3x15x140xbf16>, 
                %x3: tensor<1x2x70x33xf64, #image>, 
                %x4: tensor<2x2x11x13xi32>, 
                %x5: tensor<2x2x11x13xf16>, 
                %x6: tensor<2x2x11x13xi1>, 
                %x7: tensor<2x2x11x13xcomplex<f32>>, 
                %x8: tensor<2x1x9x3001xf32>, 
                %g: tensor<2x7x9x5xf32>)
    -> (tensor<3x5x11x14xf32>, tensor<2x3x12x11xf32>, tensor<2x3x15x140xbf16>,
        tensor<1x2x23x17xf64>, tensor<2x2x6x7xi32>, tensor<2x2x9x11xf16>,
        tensor<2x2x6x13xi1>, tensor<2x2x5x6xcomplex<f32>>, tensor<2x1x3x749xf32>,
        tensor<2x15x25x5xf32>) {
  %i0 = dtensor.constant dense<0.0> : tensor<f32>
  %0 = dtensor.reduce_window sum %x0 init %i0 window [1, 1, 3, 3] strides [1, 1, 2, 2]
      : (tensor<3x5x23x29xf32, #image>, tensor<f32>) -> tensor<3x5x11x14xf32>
  %i1 = dtensor.constant dense<-3.0e+38> : tensor<f32>
  %1 = dtensor.reduce_window max %x1 init %i1 window [1, 1, 3, 2] strides [1, 1, 2, 3] padding [0, 0, 0, 0, 1, 1, 1, 2]
      : (tensor<2x3x23x29xf32>, tensor<f32>) -> tensor<2x3x12x11xf32>
  %i2 = dtensor.constant dense<0.0> : tensor<bf16>
  %2 = dtensor.reduce_window sum %x2 init %i2 window [1, 1, 2, 5] strides [1, 1, 1, 1] padding [0, 0, 0, 0, 1, 0, 3, 1]
      : (tensor<2x3x15x140xbf16>, tensor<bf16>) -> tensor<2x3x15x140xbf16>
  %i3 = dtensor.constant dense<0.0> : tensor<f64>
  %3 = dtensor.reduce_window sum %x3 init %i3 window [1, 1, 2, 3] strides [1, 1, 3, 2] padding [0, 0, 0, 0, 0, 1, 2, 4] window_dilations [1, 1, 2, 3]
      : (tensor<1x2x70x33xf64, #image>, tensor<f64>) -> tensor<1x2x23x17xf64>
  %i4 = dtensor.constant dense<1> : tensor<i32>
  %4 = dtensor.reduce_window prod %x4 init %i4 window [1, 1, 2, 2] strides [1, 1, 2, 2] padding [0, 0, 0, 0, 0, 1, 0, 1]
      : (tensor<2x2x11x13xi32>, tensor<i32>) -> tensor<2x2x6x7xi32>
  %i5 = dtensor.constant dense<-6.0e+4> : tensor<f16>
  %5 = dtensor.reduce_window max %x5 init %i5 window [1, 1, 3, 3] strides [1, 1, 1, 1] padding [0, 0, 0, 0, 1, 1, 1, 1] window_dilations [1, 1, 2, 2]
      : (tensor<2x2x11x13xf16>, tensor<f16>) -> tensor<2x2x9x11xf16>
  %i6 = dtensor.constant dense<false> : tensor<i1>
  %6 = dtensor.reduce_window or %x6 init %i6 window [1, 1, 3, 3] strides [1, 1, 2, 1] padding [0, 0, 0, 0, 1, 1, 1, 1]
      : (tensor<2x2x11x13xi1>, tensor<i1>) -> tensor<2x2x6x13xi1>
  %i7 = dtensor.constant dense<(0.0,0.0)> : tensor<complex<f32>>
  %7 = dtensor.reduce_window sum %x7 init %i7 window [1, 1, 2, 2] strides [1, 1, 2, 2]
      : (tensor<2x2x11x13xcomplex<f32>>, tensor<complex<f32>>) -> tensor<2x2x5x6xcomplex<f32>>
  %i8 = dtensor.constant dense<0.25> : tensor<f32>
  %8 = dtensor.reduce_window min %x8 init %i8 window [1, 1, 2, 4] strides [1, 1, 3, 4] padding [0, 0, 0, 0, 0, 0, -3, -2]
      : (tensor<2x1x9x3001xf32>, tensor<f32>) -> tensor<2x1x3x749xf32>
  %zero = dtensor.constant dense<0.0> : tensor<f32>
  %spread = dtensor.pad %g, %zero low [0, 1, 2, 0] high [0, 2, 0, 0] interior [0, 1, 2, 0] : (tensor<2x7x9x5xf32>, tensor<f32>) -> tensor<2x16x27x5xf32>
  %gradient = dtensor.reduce_window sum %spread init %zero window [1, 2, 3, 1] : (tensor<2x16x27x5xf32>, tensor<f32>) -> tensor<2x15x25x5xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %gradient : tensor<3x5x11x14xf32>, tensor<2x3x12x11xf32>, tensor<2x3x15x140xbf16>,
        tensor<1x2x23x17xf64>, tensor<2x2x6x7xi32>, tensor<2x2x9x11xf16>,
        tensor<2x2x6x13xi1>, tensor<2x2x5x6xcomplex<f32>>, tensor<2x1x3x749xf32>,
        tensor<2x15x25x5xf32>
}
