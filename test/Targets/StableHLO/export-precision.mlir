// Products and convolutions multiply what they are given: XLA's default would round
// f32 to TF32 on GPUs and to bf16 on TPUs. The function is called main, as plug-ins
// want it.
// RUN: mesh-opt %s --target=stablehlo | FileCheck %s
#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x, *]>
#whole = #dtensor.layout<#mesh, [*, *]>
#images = #dtensor.layout<#mesh, [x, *, *, *]>
#kernel = #dtensor.layout<#mesh, [*, *, *, *]>

// CHECK: sym_name = "main"
// CHECK: "stablehlo.dot_general"{{.*}}precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]
// CHECK: "stablehlo.dot_general"{{.*}}precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]
// CHECK: "stablehlo.convolution"{{.*}}precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]
func.func @step(%a: tensor<4x3xf32, #rows>, %b: tensor<3x5xf32, #whole>, %i: tensor<2x4x4x1xf32, #images>,
                %k: tensor<3x3x1x2xf32, #kernel>) -> (tensor<4x5xf32, #rows>, tensor<3x3xf32, #whole>, tensor<2x2x2x2xf32, #images>) {
  %0 = dtensor.matmul %a, %b : (tensor<4x3xf32, #rows>, tensor<3x5xf32, #whole>) -> tensor<4x5xf32, #rows>
  %1 = dtensor.dot_general %b, %b contracting [1] x [1] : (tensor<3x5xf32, #whole>, tensor<3x5xf32, #whole>) -> tensor<3x3xf32, #whole>
  %2 = dtensor.convolution %i, %k dims [b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]
      : (tensor<2x4x4x1xf32, #images>, tensor<3x3x1x2xf32, #kernel>) -> tensor<2x2x2x2xf32, #images>
  return %0, %1, %2 : tensor<4x5xf32, #rows>, tensor<3x3xf32, #whole>, tensor<2x2x2x2xf32, #images>
}
