// RUN: mesh-opt %s | mesh-opt | FileCheck %s
// Ops on shapes, products, reductions, layouts and variables are read and
// printed.

#mesh = #dtensor.mesh<batch = 8>
#rows = #dtensor.layout<#mesh, [batch, *]>
#full = #dtensor.layout<#mesh, [*, *]>

// The example of DESIGN.md.
// CHECK-LABEL: func.func @dense
func.func @dense(%x: tensor<128x784xf32, #rows>, %w: tensor<784x700xf32, #full>) -> tensor<128x700xf32> {
  // CHECK-NEXT: dtensor.matmul %{{.*}}, %{{.*}} : (tensor<128x784xf32, #layout_batch_u>, tensor<784x700xf32, #layout_u_u>) -> tensor<128x700xf32>
  %y = dtensor.matmul %x, %w : (tensor<128x784xf32, #rows>, tensor<784x700xf32, #full>) -> tensor<128x700xf32>
  return %y : tensor<128x700xf32>
}

// CHECK-LABEL: func.func @creation
func.func @creation(%seed: tensor<2xui32>) {
  // CHECK-NEXT: dtensor.constant dense<0.000000e+00> : tensor<8x4xf32>
  %0 = dtensor.constant dense<0.0> : tensor<8x4xf32>
  // A constant's value has no encoding; its result may have one.
  // CHECK-NEXT: dtensor.constant dense<0.000000e+00> : tensor<8x4xf32> -> tensor<8x4xf32, #layout_batch_u>
  %1 = dtensor.constant dense<0.0> : tensor<8x4xf32> -> tensor<8x4xf32, #rows>
  // CHECK-NEXT: dtensor.constant dense<1.000000e+00> : tensor<8x4xf32> -> tensor<8x4xf32, #layout_batch_u>
  %2 = dtensor.constant dense<1.0> : tensor<8x4xf32, #rows>
  // CHECK-NEXT: dtensor.constant {note = "mine"} dense<true> : tensor<i1>
  %3 = dtensor.constant {note = "mine"} dense<true> : tensor<i1>
  // CHECK-NEXT: dtensor.constant dense<[1, 2]> : tensor<2xui32>
  %4 = dtensor.constant dense<[1, 2]> : tensor<2xui32>
  // CHECK-NEXT: dtensor.iota dim 1 : tensor<8x4xi32>
  %5 = dtensor.iota dim 1 : tensor<8x4xi32>
  // CHECK-NEXT: dtensor.rng uniform_bits %{{.*}} : (tensor<2xui32>) -> tensor<8x4xui32>
  %6 = dtensor.rng uniform_bits %seed : (tensor<2xui32>) -> tensor<8x4xui32>
  return
}

// CHECK-LABEL: func.func @movement
func.func @movement(%x: tensor<8x4xf32>, %v: tensor<4xf32>) {
  // CHECK-NEXT: dtensor.broadcast_in_dim %{{.*}} dims [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %0 = dtensor.broadcast_in_dim %v dims [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  // CHECK-NEXT: dtensor.reshape %{{.*}} : (tensor<8x4xf32>) -> tensor<2x16xf32>
  %1 = dtensor.reshape %x : (tensor<8x4xf32>) -> tensor<2x16xf32>
  // CHECK-NEXT: dtensor.transpose %{{.*}} dims [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %2 = dtensor.transpose %x dims [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: dtensor.slice %{{.*}} [0:8, 1:4:2] : (tensor<8x4xf32>) -> tensor<8x2xf32>
  %3 = dtensor.slice %x [0:8:1, 1:4:2] : (tensor<8x4xf32>) -> tensor<8x2xf32>
  // CHECK-NEXT: dtensor.concatenate %{{.*}}, %{{.*}} dim 1 : (tensor<8x4xf32>, tensor<8x2xf32>) -> tensor<8x6xf32>
  %4 = dtensor.concatenate %x, %3 dim 1 : (tensor<8x4xf32>, tensor<8x2xf32>) -> tensor<8x6xf32>
  // CHECK-NEXT: dtensor.reverse %{{.*}} dims [0] : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %5 = dtensor.reverse %x dims [0] : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// CHECK-LABEL: func.func @contraction
func.func @contraction(%a: tensor<3x8x4xf32>, %b: tensor<3x4x5xf32>, %v: tensor<7xf32>, %p: tensor<4xi1>) {
  // CHECK-NEXT: dtensor.dot_general %{{.*}}, %{{.*}} batching [0] x [0] contracting [2] x [1] : (tensor<3x8x4xf32>, tensor<3x4x5xf32>) -> tensor<3x8x5xf32>
  %0 = dtensor.dot_general %a, %b batching [0] x [0] contracting [2] x [1] : (tensor<3x8x4xf32>, tensor<3x4x5xf32>) -> tensor<3x8x5xf32>
  // CHECK-NEXT: dtensor.dot_general %{{.*}}, %{{.*}} : (tensor<7xf32>, tensor<7xf32>) -> tensor<7x7xf32>
  %1 = dtensor.dot_general %v, %v : (tensor<7xf32>, tensor<7xf32>) -> tensor<7x7xf32>
  // CHECK-NEXT: dtensor.matmul %{{.*}}, %{{.*}} : (tensor<3x8x4xf32>, tensor<3x4x5xf32>) -> tensor<3x8x5xf32>
  %2 = dtensor.matmul %a, %b : (tensor<3x8x4xf32>, tensor<3x4x5xf32>) -> tensor<3x8x5xf32>
  // CHECK-NEXT: dtensor.reduce sum %{{.*}}, %{{.*}} dims [0, 2] : (tensor<3x8x4xf32>, tensor<3x8x4xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %3:2 = dtensor.reduce sum %a, %a dims [0, 2] : (tensor<3x8x4xf32>, tensor<3x8x4xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  // CHECK-NEXT: dtensor.reduce or %{{.*}} dims [0] : (tensor<4xi1>) -> tensor<i1>
  %4 = dtensor.reduce or %p dims [0] : (tensor<4xi1>) -> tensor<i1>
  // CHECK-NEXT: dtensor.argmax %{{.*}} dim 1 : (tensor<3x8x4xf32>) -> tensor<3x4xi64>
  %5 = dtensor.argmax %a dim 1 : (tensor<3x8x4xf32>) -> tensor<3x4xi64>
  // CHECK-NEXT: dtensor.argmin %{{.*}} dim 0 : (tensor<7xf32>) -> tensor<i32>
  %6 = dtensor.argmin %v dim 0 : (tensor<7xf32>) -> tensor<i32>
  return
}

// CHECK-LABEL: func.func @layouts
func.func @layouts(%x: tensor<8x4xf32, #rows>, %y: tensor<8x4xf32>) {
  // CHECK-NEXT: dtensor.relayout %{{.*}} : (tensor<8x4xf32, #layout_batch_u>) -> tensor<8x4xf32, #layout_u_u>
  %0 = dtensor.relayout %x : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #full>
  // CHECK-NEXT: dtensor.constraint %{{.*}} : (tensor<8x4xf32>) -> tensor<8x4xf32, #layout_batch_u>
  %1 = dtensor.constraint %y : (tensor<8x4xf32>) -> tensor<8x4xf32, #rows>
  return
}

// CHECK-LABEL: func.func @variables
// CHECK-SAME: !dtensor.variable<tensor<8x4xf32, #layout_batch_u>>
func.func @variables(%v: !dtensor.variable<tensor<8x4xf32, #rows>>, %x: tensor<8x4xf32>) {
  // CHECK-NEXT: dtensor.read_variable %{{.*}} : (!dtensor.variable<tensor<8x4xf32, #layout_batch_u>>) -> tensor<8x4xf32, #layout_batch_u>
  %0 = dtensor.read_variable %v : (!dtensor.variable<tensor<8x4xf32, #rows>>) -> tensor<8x4xf32, #rows>
  // CHECK-NEXT: dtensor.assign_variable %{{.*}}, %{{.*}} : !dtensor.variable<tensor<8x4xf32, #layout_batch_u>>, tensor<8x4xf32>
  dtensor.assign_variable %v, %x : !dtensor.variable<tensor<8x4xf32, #rows>>, tensor<8x4xf32>
  return
}
