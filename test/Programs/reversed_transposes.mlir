// Transposes of which one dim goes backwards, as turns of images, in boxes of
// whole registers and with what is over, and rows of moderate length that
// change their order; lines of short rows that go backwards, as pixels.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x, *]>
#images = #dtensor.layout<#mesh, [x, *, *, *]>
#planes = #dtensor.layout<#mesh, [x, *, *]>

func.func @main(%b: tensor<66x35xi8, #rows>, %h: tensor<37x50xbf16>, %f: tensor<18x33xf32, #rows>, %d: tensor<20x17xf64>,
                %p: tensor<4x18x21xf16, #planes>, %q: tensor<6x5x20xi8>, %r: tensor<3x7x33xf32>, %i: tensor<2x5x37x3xi8, #images>, %j: tensor<3x13x4xf32>, %k: tensor<19x3xbf16>)
    -> (tensor<35x66xi8>, tensor<50x37xbf16>, tensor<33x18xf32>, tensor<17x20xf64>, tensor<17x20xf64>, tensor<17x20xcomplex<f64>>,
        tensor<21x18x4xf16>, tensor<5x6x20xi8>, tensor<7x3x33xf32>,
        tensor<2x5x37x3xi8>, tensor<3x13x4xf32>, tensor<19x3xbf16>, tensor<3x13x4xf32>) {
  %bt = dtensor.transpose %b dims [1, 0] : (tensor<66x35xi8, #rows>) -> tensor<35x66xi8>
  %b0 = dtensor.reverse %bt dims [0] : (tensor<35x66xi8>) -> tensor<35x66xi8>
  %ht = dtensor.transpose %h dims [1, 0] : (tensor<37x50xbf16>) -> tensor<50x37xbf16>
  %h1 = dtensor.reverse %ht dims [0] : (tensor<50x37xbf16>) -> tensor<50x37xbf16>
  %ft = dtensor.transpose %f dims [1, 0] : (tensor<18x33xf32, #rows>) -> tensor<33x18xf32>
  %f0 = dtensor.reverse %ft dims [0, 1] : (tensor<33x18xf32>) -> tensor<33x18xf32>
  %dt = dtensor.transpose %d dims [1, 0] : (tensor<20x17xf64>) -> tensor<17x20xf64>
  %d0 = dtensor.reverse %dt dims [0] : (tensor<17x20xf64>) -> tensor<17x20xf64>
  %dd = dtensor.multiply %d0, %dt : tensor<17x20xf64>
  %z = dtensor.complex %d0, %dt : (tensor<17x20xf64>, tensor<17x20xf64>) -> tensor<17x20xcomplex<f64>>
  %pt = dtensor.transpose %p dims [2, 1, 0] : (tensor<4x18x21xf16, #planes>) -> tensor<21x18x4xf16>
  %p0 = dtensor.reverse %pt dims [0] : (tensor<21x18x4xf16>) -> tensor<21x18x4xf16>
  %qt = dtensor.transpose %q dims [1, 0, 2] : (tensor<6x5x20xi8>) -> tensor<5x6x20xi8>
  %rt = dtensor.transpose %r dims [1, 0, 2] : (tensor<3x7x33xf32>) -> tensor<7x3x33xf32>
  %i0 = dtensor.reverse %i dims [2] : (tensor<2x5x37x3xi8, #images>) -> tensor<2x5x37x3xi8>
  %j0 = dtensor.reverse %j dims [1] : (tensor<3x13x4xf32>) -> tensor<3x13x4xf32>
  %k0 = dtensor.reverse %k dims [0] : (tensor<19x3xbf16>) -> tensor<19x3xbf16>
  %jj = dtensor.multiply %j0, %j : tensor<3x13x4xf32>
  return %b0, %h1, %f0, %d0, %dd, %z, %p0, %qt, %rt, %i0, %j0, %k0, %jj
      : tensor<35x66xi8>, tensor<50x37xbf16>, tensor<33x18xf32>, tensor<17x20xf64>, tensor<17x20xf64>, tensor<17x20xcomplex<f64>>,
        tensor<21x18x4xf16>, tensor<5x6x20xi8>, tensor<7x3x33xf32>,
        tensor<2x5x37x3xi8>, tensor<3x13x4xf32>, tensor<19x3xbf16>, tensor<3x13x4xf32>
}
