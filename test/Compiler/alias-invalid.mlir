// An alias may be any number in the text; a program names a result by it.
// RUN: mesh-opt %s --dtensor-propagate-layouts | FileCheck %s --check-prefix=READ
// RUN: not mesh-run %s 2>&1 | FileCheck %s
// READ: dtensor.alias = -1
// CHECK: alias-invalid.mlir:{{.*}}: error: dtensor.alias = -1 of argument #0: the function has 1 results
#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x]>
func.func @main(%w: tensor<4xf32, #rows> {dtensor.alias = -1 : i64}) -> tensor<4xf32, #rows> {
  %0 = dtensor.exp %w : tensor<4xf32, #rows>
  return %0 : tensor<4xf32, #rows>
}
