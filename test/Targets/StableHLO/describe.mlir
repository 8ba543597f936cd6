// A text that is only read names what StableHLO has no word for; a program that
// is to run is refused.
// RUN: mesh-opt %s --dtensor-partition --spmd-to-stablehlo --split-input-file --verify-diagnostics | FileCheck %s

#rows = #dtensor.layout<#dtensor.mesh<x = 2>, [x, *, *]>

// CHECK-LABEL: func.func @described
// CHECK: stablehlo.custom_call @dtensor.lu(%arg0) : (tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2x3xi32>, tensor<2x3xi32>)
module attributes {dtensor.describe} {
  func.func @described(%a: tensor<4x3x3xf32, #rows>) -> tensor<4x3x3xf32> {
    %lu, %pivots, %permutation = dtensor.lu %a : (tensor<4x3x3xf32, #rows>) -> (tensor<4x3x3xf32>, tensor<4x3xi32>, tensor<4x3xi32>)
    return %lu : tensor<4x3x3xf32>
  }
}

// -----

#rows = #dtensor.layout<#dtensor.mesh<x = 2>, [x, *, *]>

func.func @refused(%a: tensor<4x3x3xf32, #rows>) -> tensor<4x3x3xf32> {
  // expected-error @+1 {{StableHLO has no such op}}
  %lu, %pivots, %permutation = dtensor.lu %a : (tensor<4x3x3xf32, #rows>) -> (tensor<4x3x3xf32>, tensor<4x3xi32>, tensor<4x3xi32>)
  return %lu : tensor<4x3x3xf32>
}
