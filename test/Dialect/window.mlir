// RUN: mesh-opt %s | mesh-opt | FileCheck %s
// Convolutions, windows and running reductions are read and printed; what is
// one or zero everywhere is left out.

// CHECK-LABEL: func.func @convolution
func.func @convolution(%x: tensor<8x28x28x3xf32>, %w: tensor<3x3x3x16xf32>, %d: tensor<4x6x9xf32>, %k: tensor<8x3x2xf32>, %b3: tensor<9x3x4xf32>) {
  // CHECK-NEXT: dtensor.convolution %{{.*}}, %{{.*}} dims [b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f] : (tensor<8x28x28x3xf32>, tensor<3x3x3x16xf32>) -> tensor<8x26x26x16xf32>
  %0 = dtensor.convolution %x, %w dims [b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f] strides [1, 1]
      : (tensor<8x28x28x3xf32>, tensor<3x3x3x16xf32>) -> tensor<8x26x26x16xf32>
  // CHECK-NEXT: dtensor.convolution %{{.*}}, %{{.*}} dims [b, 0, 1, f] x [0, 1, i, o] -> [f, 1, b, 0] strides [2, 1] padding [1, 1, -1, 3] lhs_dilation [1, 2] rhs_dilation [2, 1] reversal [1, 0]
  %1 = dtensor.convolution %x, %w dims [b, 0, 1, f] x [0, 1, i, o] -> [f, 1, b, 0]
      strides [2, 1] padding [1, 1, -1, 3] lhs_dilation [1, 2] rhs_dilation [2, 1] reversal [1, 0]
      : (tensor<8x28x28x3xf32>, tensor<3x3x3x16xf32>) -> tensor<16x55x8x13xf32>
  // CHECK-NEXT: dims [b, f, 0] x [o, i, 0] -> [b, f, 0] feature_groups 2
  %2 = dtensor.convolution %d, %k dims [b, f, 0] x [o, i, 0] -> [b, f, 0] feature_groups 2
      : (tensor<4x6x9xf32>, tensor<8x3x2xf32>) -> tensor<4x8x8xf32>
  // CHECK-NEXT: dims [f, b, 0] x [o, 0, i] -> [b, f, 0] batch_groups 3
  %3 = "dtensor.convolution"(%d, %b3) {window_strides = array<i64: 1>, padding = array<i64: 0, 0>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 1>,
    window_reversal = array<i1: false>, input_batch_dimension = 1 : i64, input_feature_dimension = 0 : i64, input_spatial_dimensions = array<i64: 2>,
    kernel_input_feature_dimension = 2 : i64, kernel_output_feature_dimension = 0 : i64, kernel_spatial_dimensions = array<i64: 1>,
    output_batch_dimension = 0 : i64, output_feature_dimension = 1 : i64, output_spatial_dimensions = array<i64: 2>,
    feature_group_count = 1 : i64, batch_group_count = 3 : i64} : (tensor<4x6x9xf32>, tensor<9x3x4xf32>) -> tensor<2x9x7xf32>
  return
}

// CHECK-LABEL: func.func @windows
func.func @windows(%x: tensor<8x9xf32>, %i: tensor<8x9xi32>, %zero: tensor<f32>, %none: tensor<i32>, %dy: tensor<8x5xf32>) {
  // CHECK-NEXT: dtensor.reduce_window max %{{.*}} init %{{.*}} window [1, 3] strides [1, 2] padding [0, 0, 1, 1] : (tensor<8x9xf32>, tensor<f32>) -> tensor<8x5xf32>
  %0 = dtensor.reduce_window max %x init %zero window [1, 3] strides [1, 2] padding [0, 0, 1, 1] : (tensor<8x9xf32>, tensor<f32>) -> tensor<8x5xf32>
  // CHECK-NEXT: dtensor.reduce_window sum %{{.*}} init %{{.*}} window [2, 3] base_dilations [2, 1] window_dilations [3, 2] : (tensor<8x9xf32>, tensor<f32>) -> tensor<12x5xf32>
  %1 = dtensor.reduce_window sum %x init %zero window [2, 3] base_dilations [2, 1] window_dilations [3, 2] : (tensor<8x9xf32>, tensor<f32>) -> tensor<12x5xf32>
  // CHECK-NEXT: %{{.*}}:2 = dtensor.reduce_window %{{.*}}, %{{.*}} init %{{.*}}, %{{.*}} window [1, 3] : (tensor<8x9xf32>, tensor<8x9xi32>, tensor<f32>, tensor<i32>) -> (tensor<8x7xf32>, tensor<8x7xi32>) {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<f32>, %{{.*}}: tensor<i32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<i32>):
  // CHECK: dtensor.yield
  %2:2 = dtensor.reduce_window %x, %i init %zero, %none window [1, 3] : (tensor<8x9xf32>, tensor<8x9xi32>, tensor<f32>, tensor<i32>) -> (tensor<8x7xf32>, tensor<8x7xi32>) {
  ^bb0(%a: tensor<f32>, %ai: tensor<i32>, %b: tensor<f32>, %bi: tensor<i32>):
    %c = dtensor.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %v = dtensor.select %c, %a, %b : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %n = dtensor.select %c, %ai, %bi : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    dtensor.yield %v, %n : tensor<f32>, tensor<i32>
  }
  // CHECK: dtensor.select_and_scatter %{{.*}}, %{{.*}} init %{{.*}} select max scatter sum window [1, 3] strides [1, 2] padding [0, 0, 1, 1] : (tensor<8x9xf32>, tensor<8x5xf32>, tensor<f32>) -> tensor<8x9xf32>
  %3 = dtensor.select_and_scatter %x, %dy init %zero select max scatter sum window [1, 3] strides [1, 2] padding [0, 0, 1, 1]
      : (tensor<8x9xf32>, tensor<8x5xf32>, tensor<f32>) -> tensor<8x9xf32>
  // CHECK-NEXT: dtensor.select_and_scatter %{{.*}}, %{{.*}} init %{{.*}} scatter prod window [1, 5] : (tensor<8x9xf32>, tensor<8x5xf32>, tensor<f32>) -> tensor<8x9xf32> select {
  %4 = dtensor.select_and_scatter %x, %dy init %zero scatter prod window [1, 5]
      : (tensor<8x9xf32>, tensor<8x5xf32>, tensor<f32>) -> tensor<8x9xf32> select {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = dtensor.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    dtensor.yield %c : tensor<i1>
  }
  return
}

// CHECK-LABEL: func.func @cumulative
func.func @cumulative(%x: tensor<8x4xf32>, %b: tensor<8x4xi1>) {
  // CHECK-NEXT: dtensor.cumulative sum %{{.*}} dim 1 : tensor<8x4xf32>
  %0 = dtensor.cumulative sum %x dim 1 : tensor<8x4xf32>
  // CHECK-NEXT: dtensor.cumulative or %{{.*}} dim 0 reverse : tensor<8x4xi1>
  %1 = dtensor.cumulative or %b dim 0 reverse : tensor<8x4xi1>
  return
}
