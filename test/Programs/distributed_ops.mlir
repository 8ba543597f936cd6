// Ops that need a dim whole on operands that are cut there: uneven blocks,
// blocks without elements, several axes in one dim, equal elements.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2, y = 4>
#rows = #dtensor.layout<#mesh, [*, y]>
#both = #dtensor.layout<#mesh, [x, y]>
#nested = #dtensor.layout<#mesh, [*, {x, y}]>
#line = #dtensor.layout<#mesh, [{x, y}]>
#lines = #dtensor.layout<#mesh, [{x, y}, *]>

func.func @main(%a: tensor<5x1000xf32, #rows>, %b: tensor<3x333xi8, #both>,
                %c: tensor<2x10xf64, #nested>, %d: tensor<1001xf32, #line>,
                %e: tensor<517x3xbf16, #lines>, %f: tensor<5xi32, #line>,
                %g: tensor<700x2xui8, #lines>)
    -> (tensor<5xi32>, tensor<3xi64>, tensor<2xi32>, tensor<i32>,
        tensor<5x7xf32>, tensor<5x7xi32>, tensor<3x4xi8>, tensor<3x4xi32>, tensor<3xi32>, tensor<3xi32>,
        tensor<1001xf32, #line>, tensor<517x3xbf16, #lines>, tensor<5xi32, #line>, tensor<1001xf32, #line>,
        tensor<700x2xui8, #lines>, tensor<2x10xf64, #nested>) {
  %0 = dtensor.argmax %a dim 1 : (tensor<5x1000xf32, #rows>) -> tensor<5xi32>
  %1 = dtensor.argmin %b dim 1 : (tensor<3x333xi8, #both>) -> tensor<3xi64>
  %2 = dtensor.argmin %c dim 1 : (tensor<2x10xf64, #nested>) -> tensor<2xi32>
  %zero = dtensor.constant dense<0.0> : tensor<1001xf32>
  %nan = dtensor.divide %zero, %zero : tensor<1001xf32>
  %three = dtensor.constant dense<0.9> : tensor<1001xf32>
  %large = dtensor.compare GT, %d, %three : (tensor<1001xf32, #line>, tensor<1001xf32>) -> tensor<1001xi1>
  %some = dtensor.select %large, %nan, %d : (tensor<1001xi1>, tensor<1001xf32>, tensor<1001xf32, #line>) -> tensor<1001xf32>
  %3 = dtensor.argmax %some dim 0 : (tensor<1001xf32>) -> tensor<i32>
  %4, %5 = dtensor.top_k %a k 7 : tensor<5x1000xf32, #rows> -> tensor<5x7xf32>, tensor<5x7xi32>
  %6, %7 = dtensor.top_k %b k 4 : tensor<3x333xi8, #both> -> tensor<3x4xi8>, tensor<3x4xi32>
  %8, %9 = dtensor.top_k %f k 3 : tensor<5xi32, #line> -> tensor<3xi32>, tensor<3xi32>
  %10 = dtensor.cumulative sum %d dim 0 : tensor<1001xf32, #line>
  %11 = dtensor.cumulative sum %e dim 0 reverse : tensor<517x3xbf16, #lines>
  %12 = dtensor.cumulative sum %f dim 0 : tensor<5xi32, #line>
  %13 = dtensor.cumulative max %d dim 0 reverse : tensor<1001xf32, #line>
  %14 = dtensor.cumulative min %g dim 0 : tensor<700x2xui8, #lines>
  %15 = dtensor.cumulative prod %c dim 1 : tensor<2x10xf64, #nested>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15
      : tensor<5xi32>, tensor<3xi64>, tensor<2xi32>, tensor<i32>, tensor<5x7xf32>, tensor<5x7xi32>, tensor<3x4xi8>, tensor<3x4xi32>, tensor<3xi32>, tensor<3xi32>,
      tensor<1001xf32, #line>, tensor<517x3xbf16, #lines>, tensor<5xi32, #line>, tensor<1001xf32, #line>, tensor<700x2xui8, #lines>, tensor<2x10xf64, #nested>
}
