// Transposes of elements of every size: squares of elements are turned around in
// registers, and odd extents leave elements behind them; rows that change places
// are copied in tiles, alone and with math; whole and cut.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2, y = 2>
#cut = #dtensor.layout<#mesh, [x, y]>
#cut4 = #dtensor.layout<#mesh, [*, x, y, *]>

func.func @main(%x0: tensor<131x77xf32>, 
                %x1: tensor<67x131xf64>, 
                %x2: tensor<131x97xbf16>, 
                %x3: tensor<197x131xi8>, 
                %x4: tensor<131x70xi1>, 
                %x5: tensor<3x50x70xi16>, 
                %x6: tensor<61x37xcomplex<f32>>, 
                %x7: tensor<35x19xcomplex<f64>>, 
                %x8: tensor<3x40x50xf32>, 
                %x9: tensor<131x3xi32>, 
                %x10: tensor<150x90xui8, #cut>, 
                %x11: tensor<3x70x43x33xf32>, 
                %x12: tensor<70x43x5x33xbf16>, 
                %x13: tensor<37x40x70x17xf32, #cut4>, 
                %y: tensor<3x43x70x33xf32>)
    -> (tensor<77x131xf32>, tensor<131x67xf64>, tensor<97x131xbf16>,
        tensor<131x197xi8>, tensor<70x131xi1>, tensor<3x70x50xi16>,
        tensor<37x61xcomplex<f32>>, tensor<19x35xcomplex<f64>>, tensor<50x40x3xf32>,
        tensor<3x131xi32>, tensor<90x150xui8>, tensor<3x43x70x33xf32>,
        tensor<5x43x70x33xbf16>, tensor<37x70x40x17xf32>, tensor<3x43x70x33xf32>) {
  %0 = dtensor.transpose %x0 dims [1, 0] : (tensor<131x77xf32>) -> tensor<77x131xf32>
  %1 = dtensor.transpose %x1 dims [1, 0] : (tensor<67x131xf64>) -> tensor<131x67xf64>
  %2 = dtensor.transpose %x2 dims [1, 0] : (tensor<131x97xbf16>) -> tensor<97x131xbf16>
  %3 = dtensor.transpose %x3 dims [1, 0] : (tensor<197x131xi8>) -> tensor<131x197xi8>
  %4 = dtensor.transpose %x4 dims [1, 0] : (tensor<131x70xi1>) -> tensor<70x131xi1>
  %5 = dtensor.transpose %x5 dims [0, 2, 1] : (tensor<3x50x70xi16>) -> tensor<3x70x50xi16>
  %6 = dtensor.transpose %x6 dims [1, 0] : (tensor<61x37xcomplex<f32>>) -> tensor<37x61xcomplex<f32>>
  %7 = dtensor.transpose %x7 dims [1, 0] : (tensor<35x19xcomplex<f64>>) -> tensor<19x35xcomplex<f64>>
  %8 = dtensor.transpose %x8 dims [2, 1, 0] : (tensor<3x40x50xf32>) -> tensor<50x40x3xf32>
  %9 = dtensor.transpose %x9 dims [1, 0] : (tensor<131x3xi32>) -> tensor<3x131xi32>
  %10 = dtensor.transpose %x10 dims [1, 0] : (tensor<150x90xui8, #cut>) -> tensor<90x150xui8>
  %11 = dtensor.transpose %x11 dims [0, 2, 1, 3] : (tensor<3x70x43x33xf32>) -> tensor<3x43x70x33xf32>
  %12 = dtensor.transpose %x12 dims [2, 1, 0, 3] : (tensor<70x43x5x33xbf16>) -> tensor<5x43x70x33xbf16>
  %13 = dtensor.transpose %x13 dims [0, 2, 1, 3] : (tensor<37x40x70x17xf32, #cut4>) -> tensor<37x70x40x17xf32>
  %sum = dtensor.add %11, %y : tensor<3x43x70x33xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %sum : tensor<77x131xf32>, tensor<131x67xf64>, tensor<97x131xbf16>,
        tensor<131x197xi8>, tensor<70x131xi1>, tensor<3x70x50xi16>,
        tensor<37x61xcomplex<f32>>, tensor<19x35xcomplex<f64>>, tensor<50x40x3xf32>,
        tensor<3x131xi32>, tensor<90x150xui8>, tensor<3x43x70x33xf32>,
        tensor<5x43x70x33xbf16>, tensor<37x70x40x17xf32>, tensor<3x43x70x33xf32>
}
