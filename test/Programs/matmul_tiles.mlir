// Products whose sizes are no multiples of a tile, of f32, bf16 and f16, with
// several dims of rows, columns and terms, and with no terms.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x, *]>
#batch = #dtensor.layout<#mesh, [*, x, *, *]>

func.func @main(%a: tensor<131x70xf32, #rows>, %b: tensor<70x67xf32>,
                %c: tensor<33x100xbf16>, %d: tensor<65x100xbf16>,
                %e: tensor<5x3x7x9xf16, #batch>, %f: tensor<7x9x3x11x2xf16>,
                %g: tensor<3x0xf32>, %h: tensor<0x4xf32>)
    -> (tensor<131x67xf32>, tensor<33x65xbf16>, tensor<3x5x11x2xf16>, tensor<3x4xf32>) {
  %0 = dtensor.matmul %a, %b : (tensor<131x70xf32, #rows>, tensor<70x67xf32>) -> tensor<131x67xf32>
  %1 = dtensor.dot_general %c, %d contracting [1] x [1]
      : (tensor<33x100xbf16>, tensor<65x100xbf16>) -> tensor<33x65xbf16>
  %2 = dtensor.dot_general %e, %f batching [1] x [2] contracting [2, 3] x [0, 1]
      : (tensor<5x3x7x9xf16, #batch>, tensor<7x9x3x11x2xf16>) -> tensor<3x5x11x2xf16>
  %3 = dtensor.matmul %g, %h : (tensor<3x0xf32>, tensor<0x4xf32>) -> tensor<3x4xf32>
  return %0, %1, %2, %3 : tensor<131x67xf32>, tensor<33x65xbf16>, tensor<3x5x11x2xf16>, tensor<3x4xf32>
}
