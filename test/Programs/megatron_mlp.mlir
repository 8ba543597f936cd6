// Two products, the first sharded by columns and the second by rows: one sum at
// the end, and in bf16.
// RUN: %verify
#mesh = #dtensor.mesh<data = 2, model = 4>
#x = #dtensor.layout<#mesh, [data, *, *]>
#columns = #dtensor.layout<#mesh, [*, model]>
#rows = #dtensor.layout<#mesh, [model, *]>

func.func @main(%x: tensor<4x6x16xf32, #x>, %a: tensor<16x32xf32, #columns>, %b: tensor<32x16xf32, #rows>)
    -> (tensor<4x6x16xf32, #x>, tensor<4x6x16xbf16>) {
  %0 = dtensor.dot_general %x, %a contracting [2] x [0] : (tensor<4x6x16xf32, #x>, tensor<16x32xf32, #columns>) -> tensor<4x6x32xf32>
  %1 = dtensor.logistic %0 : tensor<4x6x32xf32>
  %2 = dtensor.multiply %0, %1 : tensor<4x6x32xf32>
  %3 = dtensor.dot_general %2, %b contracting [2] x [0] : (tensor<4x6x32xf32>, tensor<32x16xf32, #rows>) -> tensor<4x6x16xf32, #x>
  %4 = dtensor.convert %x : (tensor<4x6x16xf32, #x>) -> tensor<4x6x16xbf16>
  %5 = dtensor.convert %a : (tensor<16x32xf32, #columns>) -> tensor<16x32xbf16>
  %6 = dtensor.convert %b : (tensor<32x16xf32, #rows>) -> tensor<32x16xbf16>
  %7 = dtensor.dot_general %4, %5 contracting [2] x [0] : (tensor<4x6x16xbf16>, tensor<16x32xbf16>) -> tensor<4x6x32xbf16>
  %8 = dtensor.tanh %7 : tensor<4x6x32xbf16>
  %9 = dtensor.dot_general %8, %6 contracting [2] x [0] : (tensor<4x6x32xbf16>, tensor<32x16xbf16>) -> tensor<4x6x16xbf16>
  return %3, %9 : tensor<4x6x16xf32, #x>, tensor<4x6x16xbf16>
}
