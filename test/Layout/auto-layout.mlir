// Arguments that nobody laid out get the layouts of the cheapest plan.
// RUN: mesh-opt %s --dtensor-auto-layout=machine=ring --split-input-file | FileCheck %s
// RUN: mesh-opt %s --dtensor-partition="auto-layout machine=ring" --split-input-file | FileCheck %s --check-prefix=SENT
// RUN: not mesh-opt %s --dtensor-auto-layout="machine=ring memory=1000" --split-input-file 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not mesh-opt %s --dtensor-auto-layout="machine=ring mesh=x" --split-input-file 2>&1 | FileCheck %s --check-prefix=MESH
// RUN: not mesh-opt %s --dtensor-auto-layout="machine=ring mesh=x=2" --split-input-file 2>&1 | FileCheck %s --check-prefix=OTHER

// MEMORY: error: no layouts were found in which a device holds at most 1000 bytes; those that take least take {{[0-9]+}} at the peak of a step
// MESH: error: 'x' is not a mesh: expected names of axes and their sizes, as in x=2,y=4, or a number of devices
// OTHER: error: the program is on mesh <x=8>, not on the mesh <x=2> that the option names

// Rows of the larger operand: nothing is sent.
// CHECK-LABEL: func.func @product
// CHECK-SAME: %arg0: tensor<4096x512xf32, #layout_x_u>
// CHECK-SAME: %arg1: tensor<512x512xf32, #layout_u_u>
// CHECK-SAME: dtensor.auto_layout = ["predicted {{[^"]*}}; no layouts are faster"
// CHECK-SAME: "x: [x, *] PartitionSpec('x', None) #sdy.sharding<@mesh, [{\22x\22}, {}]>"
// SENT-LABEL: func.func @product
// SENT-NOT: spmd.all
module attributes {dtensor.mesh = #dtensor.mesh<x = 8>, dtensor.open_signature} {
  func.func @product(%x: tensor<4096x512xf32> {dtensor.name = "x"}, %w: tensor<512x512xf32>) -> tensor<4096x512xf32> {
    %0 = dtensor.dot_general %x, %w contracting [1] x [0] : (tensor<4096x512xf32>, tensor<512x512xf32>) -> tensor<4096x512xf32>
    return %0 : tensor<4096x512xf32>
  }
}

// -----

// The next value of the state is laid out as the state is. Columns of it need
// nothing from other devices.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %arg0: tensor<64x64xf32, #layout_u_x>
// CHECK-SAME: %arg1: tensor<65536x64xf32, #layout_u_u>
// CHECK-SAME: -> tensor<64x64xf32, #layout_u_x>
// SENT-LABEL: func.func @step
// SENT-NOT: spmd.all
module attributes {dtensor.mesh = #dtensor.mesh<x = 8>, dtensor.open_signature} {
  func.func @step(%w: tensor<64x64xf32> {dtensor.alias = 0 : i64}, %x: tensor<65536x64xf32>) -> tensor<64x64xf32> {
    %h = dtensor.dot_general %x, %w contracting [1] x [0] : (tensor<65536x64xf32>, tensor<64x64xf32>) -> tensor<65536x64xf32>
    %g = dtensor.dot_general %x, %h contracting [0] x [0] : (tensor<65536x64xf32>, tensor<65536x64xf32>) -> tensor<64x64xf32>
    %n = dtensor.subtract %w, %g : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    return %n : tensor<64x64xf32>
  }
}

// -----

// Layouts that the user gave stand.
#columns = #dtensor.layout<#dtensor.mesh<x = 8>, [*, x]>
// CHECK-LABEL: func.func @given
// SENT-LABEL: func.func @given
// CHECK-SAME: %arg0: tensor<4096x512xf32, #layout_u_x>
module attributes {dtensor.mesh = #dtensor.mesh<x = 8>, dtensor.open_signature} {
  func.func @given(%x: tensor<4096x512xf32, #columns>, %w: tensor<512x512xf32>) -> tensor<4096x512xf32> {
    %0 = dtensor.dot_general %x, %w contracting [1] x [0] : (tensor<4096x512xf32, #columns>, tensor<512x512xf32>) -> tensor<4096x512xf32>
    return %0 : tensor<4096x512xf32>
  }
}
