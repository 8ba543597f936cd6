// Where the caller leaves arguments and results without a layout to the
// compiler, refinement lays them out as is cheapest.
// RUN: mesh-opt %s --dtensor-propagate-layouts --dtensor-refine-layouts=machine=ring --split-input-file | FileCheck %s
// RUN: mesh-opt %s --dtensor-propagate-layouts --split-input-file | FileCheck %s --check-prefix=PROPAGATED

#rows = #dtensor.layout<#dtensor.mesh<x = 4>, [x, *]>

// Propagation cuts %b as what it is added to; the product needs it whole. A
// device that has all of it sends nothing.
// PROPAGATED-LABEL: func.func @argument
// PROPAGATED-SAME: %arg1: tensor<64x64xf32, #layout_x_u> {dtensor.origin = {x = "argument #0 [x, *]"}}
// PROPAGATED-SAME: dtensor.open_arguments = array<i64: 1>, dtensor.open_results = array<i64: 0>
// CHECK-LABEL: func.func @argument
// CHECK-SAME: %arg1: tensor<64x64xf32, #layout_u_u>) ->
// CHECK-SAME: "argument #1: [x, *] -> [*, *], as its users take it"
// CHECK-NOT: dtensor.open
// CHECK: dtensor.dot_general %arg0, %arg1
module attributes {dtensor.open_signature} {
  func.func @argument(%a: tensor<64x64xf32, #rows>, %b: tensor<64x64xf32>)
      -> (tensor<64x64xf32>, tensor<64x64xf32, #rows>) {
    %sum = dtensor.add %a, %b : (tensor<64x64xf32, #rows>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %product = dtensor.dot_general %a, %b contracting [1] x [0] : (tensor<64x64xf32, #rows>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %pinned = dtensor.constraint %product : (tensor<64x64xf32>) -> tensor<64x64xf32, #rows>
    return %sum, %pinned : tensor<64x64xf32>, tensor<64x64xf32, #rows>
  }
}

// -----

#columns = #dtensor.layout<#dtensor.mesh<x = 4>, [*, x]>

// Rows are sorted where they lie after one all_to_all, and nothing brings them
// back. A value that comes in the memory of an argument is laid out as that.
// PROPAGATED-LABEL: func.func @result
// PROPAGATED-SAME: dtensor.open_arguments = array<i64>, dtensor.open_results = array<i64: 0>
// CHECK-LABEL: func.func @result
// CHECK-SAME: %arg1: tensor<64x64xf32, #layout_u_u>
// CHECK-SAME: -> (tensor<64x64xf32, #layout_x_u>, tensor<64x64xf32, #layout_u_u>)
// CHECK-NOT: dtensor.constraint
module attributes {dtensor.open_signature} {
  func.func @result(%a: tensor<64x64xf32, #columns>, %b: tensor<64x64xf32> {dtensor.alias = 1 : i64})
      -> (tensor<64x64xf32>, tensor<64x64xf32>) {
    %sorted = dtensor.sort %a dim 1 {is_stable} : (tensor<64x64xf32, #columns>) -> tensor<64x64xf32> {
    ^bb0(%left: tensor<f32>, %right: tensor<f32>):
      %less = dtensor.compare LT, %left, %right : (tensor<f32>, tensor<f32>) -> tensor<i1>
      dtensor.yield %less : tensor<i1>
    }
    return %sorted, %b : tensor<64x64xf32>, tensor<64x64xf32>
  }
}
