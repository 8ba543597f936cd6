// Sine, cosine and tangent of huge numbers, one in place of its argument, beside
// ordinary ones: neighbouring floats are many periods apart, so that
// only an exact reduction gives what f64 gives.
// RUN: %verify
#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>
!v = !dtensor.variable<tensor<9x33xf32, #rows>>

func.func @main(%a: tensor<9x33xf32, #rows>, %v: !v) -> (tensor<9x33xf32, #rows>, tensor<9x33xf32, #rows>, tensor<9x33xf32, #rows>, tensor<9xf32>) {
  %huge = dtensor.constant dense<0x7B000000> : tensor<9x33xf32>
  %large = dtensor.constant dense<0x58800000> : tensor<9x33xf32>
  %0 = dtensor.multiply %a, %huge : (tensor<9x33xf32, #rows>, tensor<9x33xf32>) -> tensor<9x33xf32>
  %1 = dtensor.sine %0 : (tensor<9x33xf32>) -> tensor<9x33xf32, #rows>
  %2 = dtensor.multiply %a, %large : (tensor<9x33xf32, #rows>, tensor<9x33xf32>) -> tensor<9x33xf32>
  %3 = dtensor.cosine %2 : (tensor<9x33xf32>) -> tensor<9x33xf32, #rows>
  %old = dtensor.read_variable %v : (!v) -> tensor<9x33xf32, #rows>
  %4 = dtensor.multiply %old, %huge : (tensor<9x33xf32, #rows>, tensor<9x33xf32>) -> tensor<9x33xf32>
  %new = dtensor.tan %4 : tensor<9x33xf32>
  dtensor.assign_variable %v, %new : !v, tensor<9x33xf32>
  %5 = dtensor.sine %a : (tensor<9x33xf32, #rows>) -> tensor<9x33xf32, #rows>
  %6 = dtensor.sine %2 : tensor<9x33xf32>
  %7 = dtensor.reduce sum %6 dims [1] : (tensor<9x33xf32>) -> tensor<9xf32>
  return %1, %3, %5, %7 : tensor<9x33xf32, #rows>, tensor<9x33xf32, #rows>, tensor<9x33xf32, #rows>, tensor<9xf32>
}
