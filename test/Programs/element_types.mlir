// f16, 16-bit integers, ui64 and bits, on uneven shards.
// RUN: %verify
#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>

func.func @main(%h: tensor<9x6xf16, #rows>, %g: tensor<6x4xf16>, %i: tensor<9x6xi16, #rows>, %u: tensor<9x6xui64, #rows>, %w: tensor<9x6xui16>)
    -> (tensor<9x4xf16>, tensor<6xf16>, tensor<9x6xi16>, tensor<9xui64>, tensor<9x6xui64>, tensor<9x6xi16>, tensor<9x6x2xui8>, tensor<6xi32>) {
  %0 = dtensor.matmul %h, %g : (tensor<9x6xf16, #rows>, tensor<6x4xf16>) -> tensor<9x4xf16>
  %1 = dtensor.exp %h : (tensor<9x6xf16, #rows>) -> tensor<9x6xf16>
  %2 = dtensor.reduce sum %1 dims [0] : (tensor<9x6xf16>) -> tensor<6xf16>
  %c = dtensor.constant dense<-9000> : tensor<9x6xi16>
  %3 = dtensor.multiply %i, %c : (tensor<9x6xi16, #rows>, tensor<9x6xi16>) -> tensor<9x6xi16>
  %big = dtensor.constant dense<18446744073709551609> : tensor<9x6xui64>
  %4 = dtensor.add %u, %big : (tensor<9x6xui64, #rows>, tensor<9x6xui64>) -> tensor<9x6xui64>
  %5 = dtensor.reduce max %4 dims [1] : (tensor<9x6xui64>) -> tensor<9xui64>
  %6 = dtensor.divide %big, %4 : tensor<9x6xui64>
  %7 = dtensor.bitcast_convert %1 : (tensor<9x6xf16>) -> tensor<9x6xi16>
  %8 = dtensor.shift_right_arithmetic %3, %7 : tensor<9x6xi16>
  %9 = dtensor.bitcast_convert %w : (tensor<9x6xui16>) -> tensor<9x6x2xui8>
  %10 = dtensor.argmax %4 dim 0 : (tensor<9x6xui64>) -> tensor<6xi32>
  return %0, %2, %3, %5, %6, %8, %9, %10 : tensor<9x4xf16>, tensor<6xf16>, tensor<9x6xi16>, tensor<9xui64>, tensor<9x6xui64>, tensor<9x6xi16>, tensor<9x6x2xui8>, tensor<6xi32>
}
