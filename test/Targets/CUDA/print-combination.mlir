// RUN: mesh-opt --target=cuda %s | FileCheck %s

// Numbers that are addends lie apart, so that their loop has a stride.
// CHECK: // kernel combination_sum_f32_0 results 256 terms 1 grid none parameters p0 p1 e0 s0.0
// Addends that an argument keeps: the kernel's last loop goes over them.
// CHECK: // kernel combination_max_f32_2 results 256 terms 1 grid 0,1 parameters p0 p1 e0 e1 e2 s0.0 s0.2 s1.0
// The names of complex types are no names of kernels.
// CHECK: // kernel combination_sum_c64_1 results 256 terms 1 grid 0 parameters
// CHECK: .entry combination_max_f32_2(
// CHECK: .entry combination_sum_c64_1(
#mesh = #dtensor.mesh<x = 4>
#parts = #dtensor.layout<#mesh, [*, *] partial<x: max>>
#sums = #dtensor.layout<#mesh, [*] partial<x: sum>>
#line = #dtensor.layout<#mesh, [*]>
#full = #dtensor.layout<#mesh, [*, *]>
#part = #dtensor.layout<#mesh, [] partial<x: sum>>
#whole = #dtensor.layout<#mesh, []>
func.func @f(%x: tensor<8x9xf32, #parts>, %y: tensor<7xcomplex<f32>, #sums>, %z: tensor<f32, #part>)
    -> (tensor<8x9xf32, #full>, tensor<7xcomplex<f32>, #line>, tensor<f32, #whole>) {
  %0 = dtensor.relayout %x : (tensor<8x9xf32, #parts>) -> tensor<8x9xf32, #full>
  %1 = dtensor.relayout %y : (tensor<7xcomplex<f32>, #sums>) -> tensor<7xcomplex<f32>, #line>
  %2 = dtensor.relayout %z : (tensor<f32, #part>) -> tensor<f32, #whole>
  return %0, %1, %2 : tensor<8x9xf32, #full>, tensor<7xcomplex<f32>, #line>, tensor<f32, #whole>
}
