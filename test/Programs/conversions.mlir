// Conversions between the types, and a bf16 round trip.
// RUN: %verify
#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x]>

func.func @main(%a: tensor<11xf32, #rows>, %b: tensor<11xi32, #rows>, %p: tensor<11xi1, #rows>)
    -> (tensor<11xbf16>, tensor<11xi8>, tensor<11xui8>, tensor<11xi1>, tensor<11xf64>, tensor<11xi64>, tensor<11xf32>, tensor<11xi32>) {
  %0 = dtensor.convert %a : (tensor<11xf32, #rows>) -> tensor<11xbf16>
  %c = dtensor.constant dense<300.0> : tensor<11xf32>
  %1 = dtensor.multiply %a, %c : (tensor<11xf32, #rows>, tensor<11xf32>) -> tensor<11xf32>
  %2 = dtensor.convert %1 : (tensor<11xf32>) -> tensor<11xi8>
  %3 = dtensor.convert %1 : (tensor<11xf32>) -> tensor<11xui8>
  %4 = dtensor.convert %b : (tensor<11xi32, #rows>) -> tensor<11xi1>
  %5 = dtensor.convert %a : (tensor<11xf32, #rows>) -> tensor<11xf64>
  %6 = dtensor.convert %3 : (tensor<11xui8>) -> tensor<11xi64>
  %7 = dtensor.convert %p : (tensor<11xi1, #rows>) -> tensor<11xf32>
  %8 = dtensor.convert %2 : (tensor<11xi8>) -> tensor<11xi32>
  return %0, %2, %3, %4, %5, %6, %7, %8 : tensor<11xbf16>, tensor<11xi8>, tensor<11xui8>, tensor<11xi1>, tensor<11xf64>, tensor<11xi64>, tensor<11xf32>, tensor<11xi32>
}
