// Running reductions along dims that are whole or sharded, uneven and empty,
// forwards and backwards.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2, y = 4>
#rows = #dtensor.layout<#mesh, [{x, y}, *]>
#cols = #dtensor.layout<#mesh, [*, y]>
#both = #dtensor.layout<#mesh, [y, x]>

func.func @main(%a: tensor<19x6xf32, #rows>, %b: tensor<19x6xi32, #cols>, %c: tensor<5x7xbf16, #both>, %d: tensor<5x7xi1, #rows>, %e: tensor<0x3xf32, #rows>,
                %f: tensor<4x3x5xcomplex<f32>>)
    -> (tensor<19x6xf32, #rows>, tensor<19x6xf32>, tensor<19x6xi32, #cols>, tensor<19x6xi32>, tensor<5x7xbf16, #both>, tensor<5x7xbf16>, tensor<5x7xi1, #rows>,
        tensor<0x3xf32, #rows>, tensor<4x3x5xcomplex<f32>>) {
  %0 = dtensor.cumulative sum %a dim 0 : tensor<19x6xf32, #rows>
  %1 = dtensor.cumulative max %a dim 0 reverse : (tensor<19x6xf32, #rows>) -> tensor<19x6xf32>
  %2 = dtensor.cumulative prod %b dim 0 : tensor<19x6xi32, #cols>
  %3 = dtensor.cumulative min %b dim 1 : (tensor<19x6xi32, #cols>) -> tensor<19x6xi32>
  %4 = dtensor.cumulative sum %c dim 0 reverse : tensor<5x7xbf16, #both>
  %5 = dtensor.cumulative prod %c dim 1 : (tensor<5x7xbf16, #both>) -> tensor<5x7xbf16>
  %6 = dtensor.cumulative or %d dim 0 : tensor<5x7xi1, #rows>
  %7 = dtensor.cumulative sum %e dim 0 : tensor<0x3xf32, #rows>
  %8 = dtensor.cumulative sum %f dim 1 : tensor<4x3x5xcomplex<f32>>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<19x6xf32, #rows>, tensor<19x6xf32>, tensor<19x6xi32, #cols>, tensor<19x6xi32>, tensor<5x7xbf16, #both>, tensor<5x7xbf16>, tensor<5x7xi1, #rows>,
      tensor<0x3xf32, #rows>, tensor<4x3x5xcomplex<f32>>
}
