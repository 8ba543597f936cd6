// Reductions over an outer and an inner dim, whose runs are short (sums are made
// in pairs); over rows of
// a few elements, which are written out; and chains of f16, in vectors of all
// lanes.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2, y = 2>
#inner = #dtensor.layout<#mesh, [*, x, *]>
#outer = #dtensor.layout<#mesh, [x, *, *]>
#rows = #dtensor.layout<#mesh, [{x, y}, *]>

func.func @main(%a: tensor<70x33x50xf32, #inner>, %b: tensor<9x21x13xf64>, %c: tensor<5x300x3xbf16, #outer>,
                %d: tensor<1001x3xf32, #rows>, %e: tensor<257x7xf16>, %f: tensor<130x2x16xi32>,
                %g: tensor<999xf16>, %h: tensor<999xf16>)
    -> (tensor<33xf32>, tensor<33xf32>, tensor<33xf32>, tensor<21xf64>, tensor<300xbf16>, tensor<300xbf16>,
        tensor<1001xf32>, tensor<1001xf32>, tensor<1001xf32>, tensor<257xf16>, tensor<257xf16>, tensor<2xi32>,
        tensor<2xi32>, tensor<999xf16>, tensor<1001xf32>) {
  // Sums of NCHW statistics: two at once, of what is computed there.
  %sum = dtensor.reduce sum %a dims [0, 2] : (tensor<70x33x50xf32, #inner>) -> tensor<33xf32>
  %square = dtensor.multiply %a, %a : (tensor<70x33x50xf32, #inner>, tensor<70x33x50xf32, #inner>) -> tensor<70x33x50xf32>
  %squares = dtensor.reduce sum %square dims [0, 2] : (tensor<70x33x50xf32>) -> tensor<33xf32>
  %most = dtensor.reduce max %a dims [0, 2] : (tensor<70x33x50xf32, #inner>) -> tensor<33xf32>
  %double = dtensor.reduce sum %b dims [0, 2] : (tensor<9x21x13xf64>) -> tensor<21xf64>
  %bf = dtensor.reduce sum %c dims [0, 2] : (tensor<5x300x3xbf16, #outer>) -> tensor<300xbf16>
  %least = dtensor.reduce min %c dims [0, 2] : (tensor<5x300x3xbf16, #outer>) -> tensor<300xbf16>
  %short = dtensor.reduce sum %d dims [1] : (tensor<1001x3xf32, #rows>) -> tensor<1001xf32>
  %shortMax = dtensor.reduce max %d dims [1] : (tensor<1001x3xf32, #rows>) -> tensor<1001xf32>
  %product = dtensor.reduce prod %d dims [1] : (tensor<1001x3xf32, #rows>) -> tensor<1001xf32>
  %halfSum = dtensor.reduce sum %e dims [1] : (tensor<257x7xf16>) -> tensor<257xf16>
  %halfMin = dtensor.reduce min %e dims [1] : (tensor<257x7xf16>) -> tensor<257xf16>
  %integers = dtensor.reduce sum %f dims [0, 2] : (tensor<130x2x16xi32>) -> tensor<2xi32>
  %integerMax = dtensor.reduce max %f dims [0, 2] : (tensor<130x2x16xi32>) -> tensor<2xi32>
  %gh = dtensor.multiply %g, %h : tensor<999xf16>
  %ghg = dtensor.add %gh, %g : tensor<999xf16>
  %chain = dtensor.multiply %ghg, %h : tensor<999xf16>
  %exp = dtensor.exp %d : (tensor<1001x3xf32, #rows>) -> tensor<1001x3xf32>
  %sumOfExp = dtensor.reduce sum %exp dims [1] : (tensor<1001x3xf32>) -> tensor<1001xf32>
  return %sum, %squares, %most, %double, %bf, %least, %short, %shortMax, %product, %halfSum, %halfMin, %integers, %integerMax, %chain, %sumOfExp
      : tensor<33xf32>, tensor<33xf32>, tensor<33xf32>, tensor<21xf64>, tensor<300xbf16>, tensor<300xbf16>,
        tensor<1001xf32>, tensor<1001xf32>, tensor<1001xf32>, tensor<257xf16>, tensor<257xf16>, tensor<2xi32>,
        tensor<2xi32>, tensor<999xf16>, tensor<1001xf32>
}
