// RUN: mesh-opt %s --split-input-file | mesh-opt --split-input-file | FileCheck %s
// RUN: mesh-opt %s --split-input-file --mlir-print-op-generic | mesh-opt --split-input-file | FileCheck %s
// spmd.library_call with all its parts prints and parses.

#mesh = #dtensor.mesh<x = 2>
#rows = #spmd.shard<[9, 4], #dtensor.layout<#mesh, [x, *]>>
#scalar = #spmd.shard<[], #dtensor.layout<#mesh, []>>
#id = affine_map<(d0, d1, d2) -> (d0, d1)>
#window = affine_map<(d0, d1, d2) -> (d2, d1)>
#none = affine_map<() -> ()>

// CHECK-LABEL: @all_parts
// CHECK: %{{.*}} = spmd.library_call "mine" loops [9 over [x], held 4, held 9 over [x] ranges [0, 6, 4, 9]]
// CHECK-SAME: ins (%arg0 at #{{.*}}, %arg1 at #{{.*}}) outs (#{{.*}}) in_place [0] {flops = 7 : i64, options = {axis = 1 : i64, mode = "a", sizes = array<i64: 1, 2>, upper = true}, overwritable = array<i32: 0>}
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<f32,
// CHECK-NEXT: %[[R:.*]] = spmd.kernel loops [] ins (%[[A]]
// CHECK: spmd.yield %[[R]] : tensor<f32,
func.func @all_parts(%a: tensor<5x4xf32, #rows>, %b: tensor<5x4xf32, #rows>) -> tensor<5x4xf32, #rows> {
  %0 = spmd.library_call "mine" loops [9 over [x], held 4, held 9 over [x] ranges [0, 6, 4, 9]]
      ins (%a at #id, %b at #window) outs (#id) in_place [0]
      {options = {sizes = array<i64: 1, 2>, mode = "a", axis = 1 : i64, upper = true}, overwritable = array<i32: 0>, flops = 7 : i64}
      : (tensor<5x4xf32, #rows>, tensor<5x4xf32, #rows>) -> tensor<5x4xf32, #rows> {
  ^bb0(%s: tensor<f32, #scalar>):
    %1 = spmd.kernel loops [] ins (%s at #none) outs (#none) : (tensor<f32, #scalar>) -> tensor<f32, #scalar> {
    ^bb0(%t: f32):
      %2 = arith.negf %t : f32
      spmd.yield %2 : f32
    }
    spmd.yield %1 : tensor<f32, #scalar>
  }
  return %0 : tensor<5x4xf32, #rows>
}
