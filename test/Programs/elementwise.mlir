// Every elementwise op on floats, on a tensor that is uneven over both axes.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2, y = 4>
#both = #dtensor.layout<#mesh, [x, y]>

func.func @main(%a: tensor<7x13xf32, #both>, %b: tensor<7x13xf32>)
    -> (tensor<7x13xf32>, tensor<7x13xf32>, tensor<7x13xf32>, tensor<7x13xi1>) {
  %abs = dtensor.abs %a : (tensor<7x13xf32, #both>) -> tensor<7x13xf32>
  %half = dtensor.constant dense<0.5> : tensor<7x13xf32>
  %positive = dtensor.add %abs, %half : tensor<7x13xf32>
  %0 = dtensor.exp %b : tensor<7x13xf32>
  %1 = dtensor.expm1 %b : tensor<7x13xf32>
  %2 = dtensor.log %positive : tensor<7x13xf32>
  %3 = dtensor.log1p %abs : tensor<7x13xf32>
  %4 = dtensor.sqrt %positive : tensor<7x13xf32>
  %5 = dtensor.rsqrt %positive : tensor<7x13xf32>
  %6 = dtensor.cbrt %b : tensor<7x13xf32>
  %7 = dtensor.tanh %b : tensor<7x13xf32>
  %8 = dtensor.logistic %b : tensor<7x13xf32>
  %9 = dtensor.sine %b : tensor<7x13xf32>
  %10 = dtensor.cosine %b : tensor<7x13xf32>
  %11 = dtensor.erf %b : tensor<7x13xf32>
  %12 = dtensor.negate %b : tensor<7x13xf32>
  %13 = dtensor.sign %b : tensor<7x13xf32>
  %s0 = dtensor.add %0, %1 : tensor<7x13xf32>
  %s1 = dtensor.multiply %s0, %2 : tensor<7x13xf32>
  %s2 = dtensor.subtract %s1, %3 : tensor<7x13xf32>
  %s3 = dtensor.divide %s2, %4 : tensor<7x13xf32>
  %s4 = dtensor.maximum %s3, %5 : tensor<7x13xf32>
  %s5 = dtensor.add %s4, %6 : tensor<7x13xf32>
  %s6 = dtensor.minimum %s5, %7 : tensor<7x13xf32>
  %s7 = dtensor.add %s6, %8 : tensor<7x13xf32>
  %t0 = dtensor.multiply %9, %10 : tensor<7x13xf32>
  %t1 = dtensor.add %t0, %11 : tensor<7x13xf32>
  %t2 = dtensor.subtract %t1, %12 : tensor<7x13xf32>
  %t3 = dtensor.multiply %t2, %13 : tensor<7x13xf32>
  %t4 = dtensor.power %positive, %b : tensor<7x13xf32>
  %t5 = dtensor.add %t3, %t4 : tensor<7x13xf32>
  %t6 = dtensor.remainder %t5, %positive : tensor<7x13xf32>
  %eight = dtensor.constant dense<8.0> : tensor<7x13xf32>
  %u0 = dtensor.multiply %b, %eight : tensor<7x13xf32>
  %u1 = dtensor.floor %u0 : tensor<7x13xf32>
  %u2 = dtensor.ceil %u0 : tensor<7x13xf32>
  %u3 = dtensor.round %u0 : tensor<7x13xf32>
  %u4 = dtensor.multiply %u1, %u2 : tensor<7x13xf32>
  %u5 = dtensor.add %u4, %u3 : tensor<7x13xf32>
  %finite = dtensor.is_finite %u5 : (tensor<7x13xf32>) -> tensor<7x13xi1>
  %less = dtensor.compare LT, %u5, %t5 : (tensor<7x13xf32>, tensor<7x13xf32>) -> tensor<7x13xi1>
  %flag = dtensor.xor %finite, %less : tensor<7x13xi1>
  return %s7, %t6, %u5, %flag : tensor<7x13xf32>, tensor<7x13xf32>, tensor<7x13xf32>, tensor<7x13xi1>
}
