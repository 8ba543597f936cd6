// Integer arithmetic of every type, exact: it wraps, and division by zero gives
// all bits.
// RUN: %verify
#mesh = #dtensor.mesh<x = 8>
#rows = #dtensor.layout<#mesh, [x]>

func.func @main(%a: tensor<19xi32, #rows>, %b: tensor<19xi32, #rows>, %c: tensor<19xi8, #rows>,
                %d: tensor<19xui8, #rows>, %e: tensor<19xi64, #rows>, %f: tensor<19xui32, #rows>)
    -> (tensor<19xi32>, tensor<19xi32>, tensor<19xi8>, tensor<19xui8>, tensor<19xi64>, tensor<19xui32>, tensor<19xi32>) {
  %four = dtensor.constant dense<4> : tensor<19xi32>
  %0 = dtensor.subtract %a, %four : (tensor<19xi32, #rows>, tensor<19xi32>) -> tensor<19xi32>
  %1 = dtensor.divide %0, %b : (tensor<19xi32>, tensor<19xi32, #rows>) -> tensor<19xi32>
  %2 = dtensor.remainder %0, %b : (tensor<19xi32>, tensor<19xi32, #rows>) -> tensor<19xi32>
  %3 = dtensor.power %0, %b : (tensor<19xi32>, tensor<19xi32, #rows>) -> tensor<19xi32>
  %4 = dtensor.xor %1, %3 : tensor<19xi32>
  %5 = dtensor.sign %0 : tensor<19xi32>
  %6 = dtensor.abs %0 : tensor<19xi32>
  %7 = dtensor.multiply %5, %6 : tensor<19xi32>
  %c100 = dtensor.constant dense<100> : tensor<19xi8>
  %8 = dtensor.multiply %c, %c100 : (tensor<19xi8, #rows>, tensor<19xi8>) -> tensor<19xi8>
  %9 = dtensor.not %d : (tensor<19xui8, #rows>) -> tensor<19xui8>
  %10 = dtensor.maximum %9, %d : (tensor<19xui8>, tensor<19xui8, #rows>) -> tensor<19xui8>
  %big = dtensor.constant dense<4611686018427387904> : tensor<19xi64>
  %11 = dtensor.multiply %e, %big : (tensor<19xi64, #rows>, tensor<19xi64>) -> tensor<19xi64>
  %c3 = dtensor.constant dense<4294967293> : tensor<19xui32>
  %12 = dtensor.add %f, %c3 : (tensor<19xui32, #rows>, tensor<19xui32>) -> tensor<19xui32>
  %c7 = dtensor.constant dense<7> : tensor<19xui32>
  %13 = dtensor.divide %12, %c7 : tensor<19xui32>
  %14 = dtensor.clamp %2, %0, %four : (tensor<19xi32>, tensor<19xi32>, tensor<19xi32>) -> tensor<19xi32>
  %15 = dtensor.add %14, %7 : tensor<19xi32>
  return %4, %2, %8, %10, %11, %13, %15 : tensor<19xi32>, tensor<19xi32>, tensor<19xi8>, tensor<19xui8>, tensor<19xi64>, tensor<19xui32>, tensor<19xi32>
}
