// Whether a kernel or the library multiplies small matrices follows from their
// global sizes where bits must not depend on the mesh.
// RUN: rm -rf %t && mkdir %t
// RUN: sed 's/mesh<x = 4>/mesh<x = 1>/' %s > %t/1.mlir
// RUN: mesh-run %t/1.mlir --deterministic --output-dir=%t/on1
// RUN: mesh-run %s --deterministic --output-dir=%t/on4
// RUN: cmp %t/on1/result_0.npy %t/on4/result_0.npy
#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>

func.func @main(%a: tensor<16x16xf64, #rows>, %b: tensor<16x16xf64>) -> tensor<16x16xf64, #rows> {
  %x = dtensor.exp %a : (tensor<16x16xf64, #rows>) -> tensor<16x16xf64, #rows>
  %y = dtensor.exp %b : (tensor<16x16xf64>) -> tensor<16x16xf64>
  %0 = dtensor.matmul %x, %y : (tensor<16x16xf64, #rows>, tensor<16x16xf64>) -> tensor<16x16xf64, #rows>
  return %0 : tensor<16x16xf64, #rows>
}
