// Sums of f16 and bf16 are written in f32, whatever the plug-in would do: sums
// over dims, windows and running ones, and updates that go to one place.
// RUN: mesh-opt %s --target=stablehlo | FileCheck %s
#mesh = #dtensor.mesh<x = 2>
#one = #dtensor.layout<#mesh, []>
#row = #dtensor.layout<#mesh, [*]>
#flat = #dtensor.layout<#mesh, [*, *]>

// CHECK: "stablehlo.reduce"
// CHECK: "stablehlo.add"{{.*}}tensor<f32>
// CHECK: "stablehlo.reduce_window"
// CHECK: "stablehlo.add"{{.*}}tensor<f32>
// CHECK: "stablehlo.scatter"
// CHECK: "stablehlo.add"{{.*}}tensor<f32>
// CHECK: "stablehlo.convert"{{.*}}tensor<4xf16>
func.func @main(%x: tensor<1000xbf16, #row>, %ids: tensor<1000x1xi32, #flat>, %bins: tensor<4xf16, #row>, %add: tensor<1000xf16, #row>)
    -> (tensor<bf16, #one>, tensor<1000xbf16, #row>, tensor<4xf16, #row>) {
  %0 = dtensor.reduce sum %x dims [0] : (tensor<1000xbf16, #row>) -> tensor<bf16, #one>
  %1 = dtensor.cumulative sum %x dim 0 : tensor<1000xbf16, #row>
  %2 = dtensor.scatter %bins at %ids with %add {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<sum>,
      scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64>}
      : (tensor<4xf16, #row>, tensor<1000x1xi32, #flat>, tensor<1000xf16, #row>) -> tensor<4xf16, #row>
  return %0, %1, %2 : tensor<bf16, #one>, tensor<1000xbf16, #row>, tensor<4xf16, #row>
}
