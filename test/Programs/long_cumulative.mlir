// Running reductions of long lines, several blocks of each side by side: one
// line and several, forwards and backwards, with a last block that is short, of
// kinds that round and kinds that do not, and products, which go one by one.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x, *]>
func.func @main(%a: tensor<1301xf32>, %h: tensor<1301xbf16>, %i: tensor<1301xi32>, %z: tensor<1301xcomplex<f32>>, %p: tensor<1301xi1>,
                %m: tensor<4x577xf64, #rows>)
    -> (tensor<1301xf32>, tensor<1301xf32>, tensor<1301xf32>, tensor<1301xf32>, tensor<1301xbf16>, tensor<1301xi32>, tensor<1301xi32>, tensor<1301xcomplex<f32>>, tensor<1301xi1>, tensor<4x577xf64>, tensor<4x577xf64>) {
  %0 = dtensor.cumulative sum %a dim 0 : (tensor<1301xf32>) -> tensor<1301xf32>
  %1 = dtensor.cumulative sum %a dim 0 reverse : (tensor<1301xf32>) -> tensor<1301xf32>
  %2 = dtensor.cumulative max %a dim 0 : (tensor<1301xf32>) -> tensor<1301xf32>
  %3 = dtensor.cumulative prod %a dim 0 : (tensor<1301xf32>) -> tensor<1301xf32>
  %4 = dtensor.cumulative sum %h dim 0 : (tensor<1301xbf16>) -> tensor<1301xbf16>
  %5 = dtensor.cumulative min %i dim 0 reverse : (tensor<1301xi32>) -> tensor<1301xi32>
  %6 = dtensor.cumulative prod %i dim 0 : (tensor<1301xi32>) -> tensor<1301xi32>
  %7 = dtensor.cumulative sum %z dim 0 : (tensor<1301xcomplex<f32>>) -> tensor<1301xcomplex<f32>>
  %8 = dtensor.cumulative or %p dim 0 : (tensor<1301xi1>) -> tensor<1301xi1>
  %9 = dtensor.cumulative sum %m dim 1 : (tensor<4x577xf64, #rows>) -> tensor<4x577xf64>
  %10 = dtensor.cumulative min %m dim 1 reverse : (tensor<4x577xf64, #rows>) -> tensor<4x577xf64>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10
      : tensor<1301xf32>, tensor<1301xf32>, tensor<1301xf32>, tensor<1301xf32>, tensor<1301xbf16>, tensor<1301xi32>, tensor<1301xi32>, tensor<1301xcomplex<f32>>, tensor<1301xi1>, tensor<4x577xf64>, tensor<4x577xf64>
}
