// Blocks of two devices in rows of three: the second of three processes has
// devices of both rows, and so all of the result; it takes part in bringing it
// to the others.
// RUN: mesh-run %s | FileCheck %s --check-prefix=ONE
// RUN: mesh-launch -n 3 mesh-run %s | FileCheck %s
// ONE: result 0 f32[5, 4] [x, *] [-2, -1.4942,
// CHECK-DAG: [0] result 0 f32[5, 4] [x, *] [-2, -1.4942,
// CHECK-DAG: [1] result 0 f32[5, 4] [x, *] [-2, -1.4942,
// CHECK-DAG: [2] result 0 f32[5, 4] [x, *] [-2, -1.4942,
#mesh = #dtensor.mesh<x = 2, y = 3>
#rows = #dtensor.layout<#mesh, [x, *]>

func.func @main(%a: tensor<5x4xf32, #rows>) -> tensor<5x4xf32, #rows> {
  %0 = dtensor.add %a, %a : (tensor<5x4xf32, #rows>, tensor<5x4xf32, #rows>) -> tensor<5x4xf32, #rows>
  return %0 : tensor<5x4xf32, #rows>
}
