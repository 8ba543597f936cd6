// Random bits, and uniform and normal numbers made from them, by global index:
// the same under every layout.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2, y = 4>
#both = #dtensor.layout<#mesh, [x, y]>
#one = #dtensor.layout<#mesh, [*, {y, x}]>

func.func @main(%seed: tensor<2xui32>)
    -> (tensor<7x10xui32, #both>, tensor<7x10xui32, #one>, tensor<7x10xf32, #both>, tensor<7x10xf32>) {
  %bits = dtensor.rng uniform_bits %seed : (tensor<2xui32>) -> tensor<7x10xui32>
  %0 = dtensor.constraint %bits : (tensor<7x10xui32>) -> tensor<7x10xui32, #both>
  %other = dtensor.rng uniform_bits %seed : (tensor<2xui32>) -> tensor<7x10xui32, #one>
  // The upper 24 bits, scaled to [0, 1).
  %c256 = dtensor.constant dense<256> : tensor<7x10xui32>
  %1 = dtensor.divide %bits, %c256 : tensor<7x10xui32>
  %2 = dtensor.convert %1 : (tensor<7x10xui32>) -> tensor<7x10xf32>
  %scale = dtensor.constant dense<5.9604644775390625e-08> : tensor<7x10xf32>
  %3 = dtensor.multiply %2, %scale : tensor<7x10xf32>
  // Box and Muller, of one number and its mirror image.
  %one = dtensor.constant dense<1.0> : tensor<7x10xf32>
  %tiny = dtensor.constant dense<1.0e-3> : tensor<7x10xf32>
  %4 = dtensor.maximum %3, %tiny : tensor<7x10xf32>
  %5 = dtensor.log %4 : tensor<7x10xf32>
  %minus2 = dtensor.constant dense<-2.0> : tensor<7x10xf32>
  %6 = dtensor.multiply %5, %minus2 : tensor<7x10xf32>
  %7 = dtensor.sqrt %6 : tensor<7x10xf32>
  %8 = dtensor.subtract %one, %3 : tensor<7x10xf32>
  %turn = dtensor.constant dense<6.283185307179586> : tensor<7x10xf32>
  %9 = dtensor.multiply %8, %turn : tensor<7x10xf32>
  %10 = dtensor.cosine %9 : tensor<7x10xf32>
  %11 = dtensor.multiply %7, %10 : tensor<7x10xf32>
  %12 = dtensor.constraint %3 : (tensor<7x10xf32>) -> tensor<7x10xf32, #both>
  return %0, %other, %12, %11 : tensor<7x10xui32, #both>, tensor<7x10xui32, #one>, tensor<7x10xf32, #both>, tensor<7x10xf32>
}
