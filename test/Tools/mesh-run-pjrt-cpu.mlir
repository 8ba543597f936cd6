// A program on the devices of XLA's plug-in for CPUs: one device's StableHLO,
// with its collective, compiled and run there, gives what the reference gives.
// REQUIRES: pjrt
// RUN: mesh-run %s --platform=pjrt:%pjrt_cpu --verify | FileCheck %s
// RUN: mesh-run %s --platform=pjrt:%pjrt_cpu --machine=ring --no-refine --verify | FileCheck %s

// CHECK: verify result 0 f32[4, 3]: error {{.*}}: ok

#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x, *]>
#columns = #dtensor.layout<#mesh, [*, x]>
#whole = #dtensor.layout<#mesh, [*, *]>

func.func @main(%a: tensor<4x6xf32, #columns>, %b: tensor<6x3xf32, #rows>) -> tensor<4x3xf32, #whole> {
  %0 = dtensor.matmul %a, %b : (tensor<4x6xf32, #columns>, tensor<6x3xf32, #rows>) -> tensor<4x3xf32, #whole>
  return %0 : tensor<4x3xf32, #whole>
}
