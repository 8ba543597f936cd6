// RUN: mesh-opt %s --canonicalize --split-input-file | FileCheck %s
// Ops that move elements: what cancels, what merges, what stays.

// CHECK-LABEL: func.func @cancel
// CHECK-SAME: (%[[X:.*]]: tensor<8x4xf32>)
func.func @cancel(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = dtensor.transpose %x dims [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %1 = dtensor.transpose %0 dims [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %2 = dtensor.reshape %1 : (tensor<8x4xf32>) -> tensor<32xf32>
  %3 = dtensor.reshape %2 : (tensor<32xf32>) -> tensor<8x4xf32>
  %4 = dtensor.reverse %3 dims [0] : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %5 = dtensor.reverse %4 dims [0] : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %6 = dtensor.broadcast_in_dim %5 dims [0, 1] : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %7 = dtensor.slice %6 [0:8, 0:4] : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %8 = dtensor.concatenate %7 dim 0 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %9 = dtensor.reduce sum %8 dims [] : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]]
  return %1, %3, %5, %9 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// Reductions over dims of one element move elements; where layouts are chosen
// they stay.
#mesh = #dtensor.mesh<x = 2>
#row = #dtensor.layout<#mesh, [*, x]>
#sum = #dtensor.layout<#mesh, [*] partial<x: sum>>
// CHECK-LABEL: func.func @reduce_one_element
// CHECK-SAME: (%[[X:.*]]: tensor<8x1x1xf32>, %[[Y:.*]]: tensor<8x1xi32>, %[[Z:.*]]: tensor<8x1xf32, {{.*}}>)
func.func @reduce_one_element(%x: tensor<8x1x1xf32>, %y: tensor<8x1xi32>, %z: tensor<8x1xf32, #row>) -> (tensor<8xf32>, tensor<8xi32>, tensor<1x1xf32>, tensor<8xf32, #sum>) {
  // CHECK-DAG: %[[A:.*]] = dtensor.reshape %[[X]] : (tensor<8x1x1xf32>) -> tensor<8xf32>
  %0 = dtensor.reduce sum %x dims [1, 2] : (tensor<8x1x1xf32>) -> tensor<8xf32>
  // CHECK-DAG: %[[B:.*]] = dtensor.reshape %[[Y]] : (tensor<8x1xi32>) -> tensor<8xi32>
  %1 = dtensor.reduce max %y dims [1] : (tensor<8x1xi32>) -> tensor<8xi32>
  // CHECK-DAG: %[[C:.*]] = dtensor.reduce sum %[[X]] dims [0]
  %2 = dtensor.reduce sum %x dims [0] : (tensor<8x1x1xf32>) -> tensor<1x1xf32>
  // CHECK-DAG: %[[D:.*]] = dtensor.reduce sum %[[Z]] dims [1]
  %3 = dtensor.reduce sum %z dims [1] : (tensor<8x1xf32, #row>) -> tensor<8xf32, #sum>
  // CHECK: return %[[A]], %[[B]], %[[C]], %[[D]]
  return %0, %1, %2, %3 : tensor<8xf32>, tensor<8xi32>, tensor<1x1xf32>, tensor<8xf32, #sum>
}

// -----

// CHECK-LABEL: func.func @merge
// CHECK-SAME: (%[[X:.*]]: tensor<8x4x2xf32>, %[[V:.*]]: tensor<4xf32>)
func.func @merge(%x: tensor<8x4x2xf32>, %v: tensor<4xf32>) -> (tensor<4x2x8xf32>, tensor<64xf32>, tensor<2x8x4xf32>, tensor<1x2x2xf32>) {
  // CHECK-DAG: %[[T:.*]] = dtensor.transpose %[[X]] dims [1, 2, 0] : (tensor<8x4x2xf32>) -> tensor<4x2x8xf32>
  %0 = dtensor.transpose %x dims [1, 0, 2] : (tensor<8x4x2xf32>) -> tensor<4x8x2xf32>
  %1 = dtensor.transpose %0 dims [0, 2, 1] : (tensor<4x8x2xf32>) -> tensor<4x2x8xf32>
  // CHECK-DAG: %[[R:.*]] = dtensor.reshape %[[X]] : (tensor<8x4x2xf32>) -> tensor<64xf32>
  %2 = dtensor.reshape %x : (tensor<8x4x2xf32>) -> tensor<32x2xf32>
  %3 = dtensor.reshape %2 : (tensor<32x2xf32>) -> tensor<64xf32>
  // CHECK-DAG: %[[B:.*]] = dtensor.broadcast_in_dim %[[V]] dims [2] : (tensor<4xf32>) -> tensor<2x8x4xf32>
  %4 = dtensor.broadcast_in_dim %v dims [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %5 = dtensor.broadcast_in_dim %4 dims [1, 2] : (tensor<8x4xf32>) -> tensor<2x8x4xf32>
  // CHECK-DAG: %[[S:.*]] = dtensor.slice %[[X]] [6:7:4, 1:4:2, 0:2] : (tensor<8x4x2xf32>) -> tensor<1x2x2xf32>
  %6 = dtensor.slice %x [2:8:2, 1:4, 0:2] : (tensor<8x4x2xf32>) -> tensor<3x3x2xf32>
  %7 = dtensor.slice %6 [2:3:2, 0:3:2, 0:2] : (tensor<3x3x2xf32>) -> tensor<1x2x2xf32>
  // CHECK: return %[[T]], %[[R]], %[[B]], %[[S]]
  return %1, %3, %5, %7 : tensor<4x2x8xf32>, tensor<64xf32>, tensor<2x8x4xf32>, tensor<1x2x2xf32>
}

// -----

// CHECK-LABEL: func.func @constants
func.func @constants() -> (tensor<8x4xf32>, tensor<4x8xi32>, tensor<6xi32>) {
  // CHECK-DAG: %[[A:.*]] = dtensor.constant dense<1.000000e+00> : tensor<8x4xf32>
  %one = dtensor.constant dense<1.0> : tensor<f32>
  %0 = dtensor.broadcast_in_dim %one dims [] : (tensor<f32>) -> tensor<8x4xf32>
  // CHECK-DAG: %[[B:.*]] = dtensor.constant dense<0> : tensor<4x8xi32>
  %iota = dtensor.iota dim 0 : tensor<1x4x8xi32>
  %1 = dtensor.reshape %iota : (tensor<1x4x8xi32>) -> tensor<4x8xi32>
  // CHECK-DAG: %[[C:.*]] = dtensor.constant dense<7> : tensor<6xi32>
  %two = dtensor.constant dense<7> : tensor<2xi32>
  %four = dtensor.constant dense<7> : tensor<4xi32>
  %2 = dtensor.concatenate %two, %four dim 0 : (tensor<2xi32>, tensor<4xi32>) -> tensor<6xi32>
  // CHECK: return %[[A]], %[[B]], %[[C]]
  return %0, %1, %2 : tensor<8x4xf32>, tensor<4x8xi32>, tensor<6xi32>
}

// -----

// CHECK-LABEL: func.func @concatenate_empty
// CHECK-SAME: (%[[A:.*]]: tensor<2xf32>, %[[E:.*]]: tensor<0xf32>)
func.func @concatenate_empty(%a: tensor<2xf32>, %e: tensor<0xf32>) -> (tensor<4xf32>, tensor<2xf32>) {
  // CHECK: dtensor.concatenate %[[A]], %[[A]] dim 0
  %0 = dtensor.concatenate %a, %e, %a dim 0 : (tensor<2xf32>, tensor<0xf32>, tensor<2xf32>) -> tensor<4xf32>
  %1 = dtensor.concatenate %a, %e dim 0 : (tensor<2xf32>, tensor<0xf32>) -> tensor<2xf32>
  // CHECK: return %{{.*}}, %[[A]]
  return %0, %1 : tensor<4xf32>, tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @matmul
func.func @matmul(%a: tensor<8x4xf32>, %b: tensor<4x5xf32>, %c: tensor<3x2x8x4xf32>, %d: tensor<3x2x4x5xf32>) -> (tensor<8x5xf32>, tensor<3x2x8x5xf32>) {
  // CHECK: dtensor.dot_general %{{.*}}, %{{.*}} contracting [1] x [0] : (tensor<8x4xf32>, tensor<4x5xf32>) -> tensor<8x5xf32>
  %0 = dtensor.matmul %a, %b : (tensor<8x4xf32>, tensor<4x5xf32>) -> tensor<8x5xf32>
  // CHECK: dtensor.dot_general %{{.*}}, %{{.*}} batching [0, 1] x [0, 1] contracting [3] x [2]
  %1 = dtensor.matmul %c, %d : (tensor<3x2x8x4xf32>, tensor<3x2x4x5xf32>) -> tensor<3x2x8x5xf32>
  return %0, %1 : tensor<8x5xf32>, tensor<3x2x8x5xf32>
}

// -----

#mesh = #dtensor.mesh<x = 1>
#matrix = #dtensor.layout<#mesh, [*, *]>
#cube = #dtensor.layout<#mesh, [*, *, *]>
#s3_4_5 = #spmd.shard<[3, 4, 5], #cube>
#s3_5_4 = #spmd.shard<[3, 5, 4], #cube>
#s3_8_4 = #spmd.shard<[3, 8, 4], #cube>
#s3_8_5 = #spmd.shard<[3, 8, 5], #cube>
#s4_3_5 = #spmd.shard<[4, 3, 5], #cube>
#s4_5 = #spmd.shard<[4, 5], #matrix>
#s5_4 = #spmd.shard<[5, 4], #matrix>

// Between shards, a transposed product is the product of its operands in the other order.
// CHECK-LABEL: func.func @transposed_products
// CHECK-SAME: (%[[G:.*]]: tensor<3x8x5xf32, {{.*}}>, %[[X:.*]]: tensor<3x8x4xf32, {{.*}}>)
func.func @transposed_products(%g: tensor<3x8x5xf32, #s3_8_5>, %x: tensor<3x8x4xf32, #s3_8_4>) -> (tensor<3x4x5xf32, #s3_4_5>, tensor<4x5xf32, #s4_5>, tensor<4x3x5xf32, #s4_3_5>, tensor<3x5x4xf32, #s3_5_4>) {
  // CHECK: %[[A:.*]] = dtensor.dot_general %[[X]], %[[G]] batching [0] x [0] contracting [1] x [1] {{.*}} -> tensor<3x4x5xf32, {{.*}}>
  %0 = dtensor.dot_general %g, %x batching [0] x [0] contracting [1] x [1] : (tensor<3x8x5xf32, #s3_8_5>, tensor<3x8x4xf32, #s3_8_4>) -> tensor<3x5x4xf32, #s3_5_4>
  %1 = dtensor.transpose %0 dims [0, 2, 1] : (tensor<3x5x4xf32, #s3_5_4>) -> tensor<3x4x5xf32, #s3_4_5>
  // CHECK: %[[B:.*]] = dtensor.dot_general %[[X]], %[[G]] contracting [0, 1] x [0, 1] {{.*}} -> tensor<4x5xf32, {{.*}}>
  %2 = dtensor.dot_general %g, %x contracting [0, 1] x [0, 1] : (tensor<3x8x5xf32, #s3_8_5>, tensor<3x8x4xf32, #s3_8_4>) -> tensor<5x4xf32, #s5_4>
  %3 = dtensor.transpose %2 dims [1, 0] : (tensor<5x4xf32, #s5_4>) -> tensor<4x5xf32, #s4_5>
  // Not where the batch moves, nor where the product itself is used, too.
  // CHECK: %[[C:.*]] = dtensor.dot_general %[[G]], %[[X]]
  // CHECK: %[[D:.*]] = dtensor.transpose %[[C]] dims [2, 0, 1]
  %4 = dtensor.dot_general %g, %x batching [0] x [0] contracting [1] x [1] : (tensor<3x8x5xf32, #s3_8_5>, tensor<3x8x4xf32, #s3_8_4>) -> tensor<3x5x4xf32, #s3_5_4>
  %5 = dtensor.transpose %4 dims [2, 0, 1] : (tensor<3x5x4xf32, #s3_5_4>) -> tensor<4x3x5xf32, #s4_3_5>
  // CHECK: return %[[A]], %[[B]], %[[D]], %[[C]]
  return %1, %3, %5, %4 : tensor<3x4x5xf32, #s3_4_5>, tensor<4x5xf32, #s4_5>, tensor<4x3x5xf32, #s4_3_5>, tensor<3x5x4xf32, #s3_5_4>
}

// A product of whole tensors keeps its transpose: both may be laid out.
// CHECK-LABEL: func.func @whole
// CHECK: %[[P:.*]] = dtensor.dot_general %arg0, %arg1
// CHECK: dtensor.transpose %[[P]] dims [1, 0]
func.func @whole(%g: tensor<8x5xf32>, %x: tensor<8x4xf32>) -> tensor<4x5xf32> {
  %0 = dtensor.dot_general %g, %x contracting [0] x [0] : (tensor<8x5xf32>, tensor<8x4xf32>) -> tensor<5x4xf32>
  %1 = dtensor.transpose %0 dims [1, 0] : (tensor<5x4xf32>) -> tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}

// -----

// A product reads its operands in any order of dims, as long as those of the
// result stay in order.
// CHECK-LABEL: func.func @transposed_operands
// CHECK-SAME: (%[[A:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<5x4xf32>, %[[C:.*]]: tensor<2x3x4xf32>)
func.func @transposed_operands(%a: tensor<4x8xf32>, %b: tensor<5x4xf32>, %c: tensor<2x3x4xf32>) -> (tensor<8x5xf32>, tensor<3x2x5xf32>) {
  // CHECK: dtensor.dot_general %[[A]], %[[B]] contracting [0] x [1] : (tensor<4x8xf32>, tensor<5x4xf32>) -> tensor<8x5xf32>
  %0 = dtensor.transpose %a dims [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = dtensor.transpose %b dims [1, 0] : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %2 = dtensor.matmul %0, %1 : (tensor<8x4xf32>, tensor<4x5xf32>) -> tensor<8x5xf32>
  // CHECK: %[[T:.*]] = dtensor.transpose %[[C]]
  // CHECK: dtensor.dot_general %[[T]], %[[B]] contracting [2] x [1]
  %3 = dtensor.transpose %c dims [1, 0, 2] : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %4 = dtensor.dot_general %3, %1 contracting [2] x [0] : (tensor<3x2x4xf32>, tensor<4x5xf32>) -> tensor<3x2x5xf32>
  return %2, %4 : tensor<8x5xf32>, tensor<3x2x5xf32>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x, *]>
#columns = #dtensor.layout<#mesh, [*, x]>
#full = #dtensor.layout<#mesh, [*, *]>

// CHECK-LABEL: func.func @relayouts
// CHECK-SAME: (%[[X:.*]]: tensor<4x4xf32, #layout_x_u>)
func.func @relayouts(%x: tensor<4x4xf32, #rows>) -> (tensor<4x4xf32, #rows>, tensor<4x4xf32, #columns>, tensor<4x4xf32, #rows>, tensor<4x4xf32, #rows>) {
  // CHECK-DAG: %[[ONE:.*]] = dtensor.constant dense<1.000000e+00> : tensor<4x4xf32> -> tensor<4x4xf32, #layout_x_u>
  %0 = dtensor.relayout %x : (tensor<4x4xf32, #rows>) -> tensor<4x4xf32, #rows>
  %1 = dtensor.relayout %x : (tensor<4x4xf32, #rows>) -> tensor<4x4xf32, #full>
  // CHECK-DAG: %[[C:.*]] = dtensor.relayout %[[X]] : (tensor<4x4xf32, #layout_x_u>) -> tensor<4x4xf32, #layout_u_x>
  %2 = dtensor.relayout %1 : (tensor<4x4xf32, #full>) -> tensor<4x4xf32, #columns>
  %3 = dtensor.relayout %2 : (tensor<4x4xf32, #columns>) -> tensor<4x4xf32, #rows>
  %one = dtensor.constant dense<1.0> : tensor<4x4xf32, #full>
  %4 = dtensor.relayout %one : (tensor<4x4xf32, #full>) -> tensor<4x4xf32, #rows>
  // CHECK: return %[[X]], %[[C]]
  return %0, %2, %3, %4 : tensor<4x4xf32, #rows>, tensor<4x4xf32, #columns>, tensor<4x4xf32, #rows>, tensor<4x4xf32, #rows>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x, *]>
#flat = #dtensor.layout<#mesh, [x]>

// The layout in between may be what the user needs: it stays.
// CHECK-LABEL: func.func @decided_reshapes
func.func @decided_reshapes(%x: tensor<6x2xf32, #rows>) -> tensor<4x3xf32, #rows> {
  // CHECK-COUNT-2: dtensor.reshape
  %0 = dtensor.reshape %x : (tensor<6x2xf32, #rows>) -> tensor<12xf32, #flat>
  %1 = dtensor.reshape %0 : (tensor<12xf32, #flat>) -> tensor<4x3xf32, #rows>
  return %1 : tensor<4x3xf32, #rows>
}

// -----

// Zeros around an image and between its elements are the convolution's own;
// other padding, and padded features, stay.
// CHECK-LABEL: func.func @pad_of_convolution
// CHECK-SAME: (%[[X:.*]]: tensor<2x8x3xf32>, %[[W:[^:]*]]: tensor<3x3x4xf32>, %[[V:[^:]*]]: tensor<3x4x4xf32>)
func.func @pad_of_convolution(%x: tensor<2x8x3xf32>, %w: tensor<3x3x4xf32>, %v: tensor<3x4x4xf32>) -> (tensor<2x16x4xf32>, tensor<2x7x4xf32>, tensor<2x6x4xf32>) {
  %zero = dtensor.constant dense<0.0> : tensor<f32>
  %one = dtensor.constant dense<1.0> : tensor<f32>
  // CHECK-DAG: dtensor.convolution %[[X]], %[[W]] {{.*}} padding [2, 1] lhs_dilation [2] :
  %0 = dtensor.pad %x, %zero low [0, 2, 0] high [0, -1, 0] interior [0, 1, 0] : (tensor<2x8x3xf32>, tensor<f32>) -> tensor<2x16x3xf32>
  %1 = dtensor.convolution %0, %w dims [b, 0, f] x [0, i, o] -> [b, 0, f] padding [0, 2] : (tensor<2x16x3xf32>, tensor<3x3x4xf32>) -> tensor<2x16x4xf32>
  // CHECK-DAG: %[[ONES:.*]] = dtensor.pad %[[X]], %{{.*}} low [0, 1, 0]
  // CHECK-DAG: dtensor.convolution %[[ONES]], %[[W]]
  %2 = dtensor.pad %x, %one low [0, 1, 0] high [0, 0, 0] interior [0, 0, 0] : (tensor<2x8x3xf32>, tensor<f32>) -> tensor<2x9x3xf32>
  %3 = dtensor.convolution %2, %w dims [b, 0, f] x [0, i, o] -> [b, 0, f] : (tensor<2x9x3xf32>, tensor<3x3x4xf32>) -> tensor<2x7x4xf32>
  // CHECK-DAG: %[[FEATURES:.*]] = dtensor.pad %[[X]], %{{.*}} low [0, 0, 1]
  // CHECK-DAG: dtensor.convolution %[[FEATURES]], %[[V]]
  %4 = dtensor.pad %x, %zero low [0, 0, 1] high [0, 0, 0] interior [0, 0, 0] : (tensor<2x8x3xf32>, tensor<f32>) -> tensor<2x8x4xf32>
  %5 = dtensor.convolution %4, %v dims [b, 0, f] x [0, i, o] -> [b, 0, f] : (tensor<2x8x4xf32>, tensor<3x4x4xf32>) -> tensor<2x6x4xf32>
  return %1, %3, %5 : tensor<2x16x4xf32>, tensor<2x7x4xf32>, tensor<2x6x4xf32>
}

// -----

// Zeros around elements and between them are the window's own where the window
// begins with the same number.
// CHECK-LABEL: func.func @pad_of_window
// CHECK-SAME: (%[[X:.*]]: tensor<2x8xf32>)
func.func @pad_of_window(%x: tensor<2x8xf32>) -> (tensor<2x16xf32>, tensor<2x16xf32>) {
  %zero = dtensor.constant dense<0.0> : tensor<f32>
  %one = dtensor.constant dense<1.0> : tensor<f32>
  // CHECK-DAG: dtensor.reduce_window sum %[[X]] init %{{.*}} window [1, 2] padding [0, 0, 2, 0] base_dilations [1, 2] :
  %0 = dtensor.pad %x, %zero low [0, 2] high [0, -1] interior [0, 1] : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x16xf32>
  %1 = dtensor.reduce_window sum %0 init %zero window [1, 2] padding [0, 0, 0, 1] : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  // CHECK-DAG: %[[ONES:.*]] = dtensor.pad
  // CHECK-DAG: dtensor.reduce_window sum %[[ONES]] init
  %2 = dtensor.pad %x, %one low [0, 2] high [0, -1] interior [0, 1] : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x16xf32>
  %3 = dtensor.reduce_window sum %2 init %zero window [1, 2] padding [0, 0, 0, 1] : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  return %1, %3 : tensor<2x16xf32>, tensor<2x16xf32>
}

// -----

// What is joined in two steps is joined in one; an index that is a vector of one
// number needs no dim.
// CHECK-LABEL: func.func @joined_twice
// CHECK-SAME: (%[[X:[^:]*]]: tensor<3xf32>, %[[Y:[^:]*]]: tensor<2xf32>, %[[I:[^:]*]]: tensor<2xi32>)
func.func @joined_twice(%x: tensor<3xf32>, %y: tensor<2xf32>, %i: tensor<2xi32>) -> tensor<8xf32> {
  // CHECK: %[[ALL:.*]] = dtensor.concatenate %[[X]], %[[Y]], %[[X]] dim 0
  %0 = dtensor.concatenate %x, %y dim 0 : (tensor<3xf32>, tensor<2xf32>) -> tensor<5xf32>
  %1 = dtensor.concatenate %0, %x dim 0 : (tensor<5xf32>, tensor<3xf32>) -> tensor<8xf32>
  // CHECK: dtensor.scatter %[[ALL]] at %[[I]] with %[[Y]]
  %2 = dtensor.broadcast_in_dim %i dims [0] : (tensor<2xi32>) -> tensor<2x1xi32>
  %3 = dtensor.scatter %1 at %2 with %y {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<8xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}

// A reduction of stacked slices combines them in pairs, unless it computes in a
// wider type than theirs.
// CHECK-LABEL: func.func @stacked(%arg0: tensor<1x8xf32>, %arg1: tensor<1x8xf32>, %arg2: tensor<1x8xf32>, %arg3: tensor<1x8xbf16>)
// CHECK-DAG: %[[A:.*]] = dtensor.reshape %arg0
// CHECK-DAG: %[[B:.*]] = dtensor.reshape %arg1
// CHECK-DAG: %[[C:.*]] = dtensor.reshape %arg2
// CHECK: %[[AB:.*]] = dtensor.maximum %[[A]], %[[B]]
// CHECK: %[[MAX:.*]] = dtensor.maximum %[[AB]], %[[C]]
// CHECK: %[[JOINED:.*]] = dtensor.concatenate
// CHECK: %[[SUM:.*]] = dtensor.reduce sum %[[JOINED]]
// CHECK: return %[[MAX]], %[[SUM]]
func.func @stacked(%a: tensor<1x8xf32>, %b: tensor<1x8xf32>, %c: tensor<1x8xf32>, %d: tensor<1x8xbf16>) -> (tensor<8xf32>, tensor<8xbf16>) {
  %0 = dtensor.concatenate %a, %b, %c dim 0 : (tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<3x8xf32>
  %1 = dtensor.reduce max %0 dims [0] : (tensor<3x8xf32>) -> tensor<8xf32>
  %2 = dtensor.concatenate %d, %d dim 0 : (tensor<1x8xbf16>, tensor<1x8xbf16>) -> tensor<2x8xbf16>
  %3 = dtensor.reduce sum %2 dims [0] : (tensor<2x8xbf16>) -> tensor<8xbf16>
  return %1, %3 : tensor<8xf32>, tensor<8xbf16>
}

// JAX joins many slices in two steps. A tree of joins that nothing else reads is
// one, of however many operands.
// CHECK-LABEL: func.func @stacked_in_steps
// CHECK-NOT: concatenate
// CHECK-COUNT-16: dtensor.maximum
// CHECK-NOT: dtensor.reduce
func.func @stacked_in_steps(%a0: tensor<1x8xf32>, %a1: tensor<1x8xf32>, %a2: tensor<1x8xf32>, %a3: tensor<1x8xf32>, %a4: tensor<1x8xf32>, %a5: tensor<1x8xf32>, %a6: tensor<1x8xf32>, %a7: tensor<1x8xf32>, %a8: tensor<1x8xf32>, %a9: tensor<1x8xf32>, %a10: tensor<1x8xf32>, %a11: tensor<1x8xf32>, %a12: tensor<1x8xf32>, %a13: tensor<1x8xf32>, %a14: tensor<1x8xf32>, %a15: tensor<1x8xf32>, %a16: tensor<1x8xf32>) -> tensor<8xf32> {
  %0 = dtensor.concatenate %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9, %a10, %a11, %a12, %a13, %a14, %a15 dim 0 : (tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<16x8xf32>
  %1 = dtensor.concatenate %0, %a16 dim 0 : (tensor<16x8xf32>, tensor<1x8xf32>) -> tensor<17x8xf32>
  %2 = dtensor.reduce max %1 dims [0] : (tensor<17x8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// argmax of a stack compares its slices, of which a nan is the best one.
// CHECK-LABEL: func.func @best_of_stack
// CHECK-NOT: concatenate
// CHECK: %[[LE:.*]] = dtensor.compare LE
// CHECK: %[[NAN:.*]] = dtensor.compare NE
// CHECK: %[[STAYS:.*]] = dtensor.or %[[LE]], %[[NAN]]
// CHECK: %[[BEST:.*]] = dtensor.select %[[STAYS]]
// CHECK-NOT: dtensor.argmax
// CHECK: return %[[BEST]]
func.func @best_of_stack(%a: tensor<1x8xf32>, %b: tensor<1x8xf32>) -> tensor<8xi64> {
  %0 = dtensor.concatenate %a, %b dim 0 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
  %1 = dtensor.argmax %0 dim 0 : (tensor<2x8xf32>) -> tensor<8xi64>
  return %1 : tensor<8xi64>
}

// A scatter that adds most of a tensor at a constant place is a sum; one that
// adds little of it, or not all of whose window is inside, stays.
// CHECK-LABEL: func.func @constant_window
// CHECK: %[[ZERO:.*]] = dtensor.constant dense<-0.000000e+00>
// CHECK: %[[PADDED:.*]] = dtensor.pad %arg1{{.*}}%[[ZERO]]
// CHECK: %[[SUM:.*]] = dtensor.add %arg0, %[[PADDED]]
// CHECK: %[[LITTLE:.*]] = dtensor.scatter
// CHECK: %[[OUTSIDE:.*]] = dtensor.scatter
// CHECK: return %[[SUM]], %[[LITTLE]], %[[OUTSIDE]]
func.func @constant_window(%x: tensor<9x9xf32>, %u: tensor<8x7xf32>, %v: tensor<2x7xf32>) -> (tensor<9x9xf32>, tensor<9x9xf32>, tensor<9x9xf32>) {
  %one = dtensor.constant dense<1> : tensor<1xi32>
  %two = dtensor.constant dense<2> : tensor<1xi32>
  %at = dtensor.concatenate %one, %two dim 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %off = dtensor.constant dense<2> : tensor<2xi32>
  %0 = dtensor.scatter %x at %at with %u {index_vector_dim = 0 : i64, update_window_dims = array<i64: 0, 1>, scatter_dims_to_operand_dims = array<i64: 0, 1>, kind = #dtensor.kind<sum>}
      : (tensor<9x9xf32>, tensor<2xi32>, tensor<8x7xf32>) -> tensor<9x9xf32>
  %1 = dtensor.scatter %x at %at with %v {index_vector_dim = 0 : i64, update_window_dims = array<i64: 0, 1>, scatter_dims_to_operand_dims = array<i64: 0, 1>, kind = #dtensor.kind<sum>}
      : (tensor<9x9xf32>, tensor<2xi32>, tensor<2x7xf32>) -> tensor<9x9xf32>
  %2 = dtensor.scatter %x at %off with %u {index_vector_dim = 0 : i64, update_window_dims = array<i64: 0, 1>, scatter_dims_to_operand_dims = array<i64: 0, 1>, kind = #dtensor.kind<sum>}
      : (tensor<9x9xf32>, tensor<2xi32>, tensor<8x7xf32>) -> tensor<9x9xf32>
  return %0, %1, %2 : tensor<9x9xf32>, tensor<9x9xf32>, tensor<9x9xf32>
}

// A scatter that replaces one window at a constant place is an update of a
// slice; one whose window is not inside stays.
// CHECK-LABEL: func.func @replaced_window
// CHECK-DAG: %[[ZERO:.*]] = dtensor.constant dense<0> : tensor<i64>
// CHECK-DAG: %[[ONE:.*]] = dtensor.constant dense<1> : tensor<i64>
// CHECK-DAG: %[[TWO:.*]] = dtensor.constant dense<2> : tensor<i64>
// CHECK: %[[COLUMN:.*]] = dtensor.reshape %arg1 : (tensor<9xf32>) -> tensor<9x1x1xf32>
// CHECK: %[[SET:.*]] = dtensor.dynamic_update_slice %arg0 with %[[COLUMN]] at %[[ZERO]], %[[ONE]], %[[TWO]]
// CHECK: %[[OUTSIDE:.*]] = dtensor.scatter
// CHECK: return %[[SET]], %[[OUTSIDE]]
func.func @replaced_window(%x: tensor<9x3x3xf32>, %u: tensor<9xf32>) -> (tensor<9x3x3xf32>, tensor<9x3x3xf32>) {
  %one = dtensor.constant dense<1> : tensor<1xi32>
  %two = dtensor.constant dense<2> : tensor<1xi32>
  %at = dtensor.concatenate %one, %two dim 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %off = dtensor.constant dense<3> : tensor<2xi32>
  %0 = dtensor.scatter %x at %at with %u {index_vector_dim = 0 : i64, update_window_dims = array<i64: 0>, inserted_window_dims = array<i64: 1, 2>, scatter_dims_to_operand_dims = array<i64: 1, 2>}
      : (tensor<9x3x3xf32>, tensor<2xi32>, tensor<9xf32>) -> tensor<9x3x3xf32>
  %1 = dtensor.scatter %x at %off with %u {index_vector_dim = 0 : i64, update_window_dims = array<i64: 0>, inserted_window_dims = array<i64: 1, 2>, scatter_dims_to_operand_dims = array<i64: 1, 2>}
      : (tensor<9x3x3xf32>, tensor<2xi32>, tensor<9xf32>) -> tensor<9x3x3xf32>
  return %0, %1 : tensor<9x3x3xf32>, tensor<9x3x3xf32>
}

// A region passes on values that nothing else uses: %b, and not %x.
// CHECK-LABEL: @unshared
// CHECK: %[[B:.*]] = dtensor.negate
// CHECK: %[[R:.*]] = dtensor.case {{.*}} {dtensor.recomputed} : (tensor<i32>) -> tensor<4xf32> {
// CHECK-NEXT: yield %arg0
// CHECK: return %arg0, %[[R]], %[[B]]
func.func @unshared(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %i = dtensor.constant dense<0> : tensor<i32>
  %b = dtensor.negate %x : tensor<4xf32>
  %0:2 = dtensor.case %i {dtensor.recomputed} : (tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>) {
    dtensor.yield %x, %b : tensor<4xf32>, tensor<4xf32>
  }
  return %x, %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
