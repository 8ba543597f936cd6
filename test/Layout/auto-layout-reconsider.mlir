// With reconsider, layouts that arguments have are a start; a program that names
// no mesh takes the option's.
// RUN: mesh-opt %s --dtensor-auto-layout="machine=ring reconsider" --split-input-file | FileCheck %s
// RUN: mesh-opt %s --dtensor-auto-layout="machine=ring mesh=a=2,b=4" --split-input-file | FileCheck %s --check-prefix=MESH

#columns = #dtensor.layout<#dtensor.mesh<a = 2, b = 4>, [*, {a, b}]>
// CHECK-LABEL: func.func @given
// CHECK-SAME: %arg0: tensor<4096x512xf32, #layout_ab_u>
module attributes {dtensor.open_signature} {
  func.func @given(%x: tensor<4096x512xf32, #columns>, %w: tensor<512x512xf32>) -> tensor<4096x512xf32> {
    %0 = dtensor.dot_general %x, %w contracting [1] x [0] : (tensor<4096x512xf32, #columns>, tensor<512x512xf32>) -> tensor<4096x512xf32>
    return %0 : tensor<4096x512xf32>
  }
}

// -----

// Layers that differ in their number share a line.
// MESH-LABEL: func.func @layers
// MESH-SAME: %arg0: tensor<4096x512xf32, #layout_ab_u>
// MESH-SAME: "layers.*.w (2 arguments): [
module attributes {dtensor.open_signature} {
  func.func @layers(%x: tensor<4096x512xf32>, %w0: tensor<512x512xf32> {dtensor.name = "layers.0.w"}, %w1: tensor<512x512xf32> {dtensor.name = "layers.1.w"}) -> tensor<4096x512xf32> {
    %0 = dtensor.dot_general %x, %w0 contracting [1] x [0] : (tensor<4096x512xf32>, tensor<512x512xf32>) -> tensor<4096x512xf32>
    %1 = dtensor.dot_general %0, %w1 contracting [1] x [0] : (tensor<4096x512xf32>, tensor<512x512xf32>) -> tensor<4096x512xf32>
    return %1 : tensor<4096x512xf32>
  }
}
