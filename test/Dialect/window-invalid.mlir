// RUN: mesh-opt %s --split-input-file --verify-diagnostics
// Every constraint of convolutions, windows and running reductions is checked.

func.func @conv_type(%x: tensor<8x28x3xf32>, %w: tensor<3x3x16xf64>) {
  // expected-error @+1 {{'dtensor.convolution' op violates constraint C1}}
  %0 = dtensor.convolution %x, %w dims [b, 0, f] x [0, i, o] -> [b, 0, f] : (tensor<8x28x3xf32>, tensor<3x3x16xf64>) -> tensor<8x26x16xf32>
  return
}

// -----

func.func @conv_rank(%x: tensor<8x28x3xf32>, %w: tensor<3x3x3x16xf32>) {
  // expected-error @+1 {{'dtensor.convolution' op violates constraint C2: lhs has 3 dims, rhs 4}}
  %0 = dtensor.convolution %x, %w dims [b, 0, f] x [0, 1, i, o] -> [b, 0, f] : (tensor<8x28x3xf32>, tensor<3x3x3x16xf32>) -> tensor<8x26x16xf32>
  return
}

// -----

func.func @conv_letters(%x: tensor<8x28x3xf32>, %w: tensor<3x3x16xf32>) {
  // expected-error @+1 {{expected 'b' and 'f' once each, and numbers of spatial dims}}
  %0 = dtensor.convolution %x, %w dims [b, 0, b] x [0, i, o] -> [b, 0, f] : (tensor<8x28x3xf32>, tensor<3x3x16xf32>) -> tensor<8x26x16xf32>
  return
}

// -----

func.func @conv_numbers(%x: tensor<8x28x3xf32>, %w: tensor<3x3x16xf32>) {
  // expected-error @+1 {{spatial dims must be numbered from 0, each once}}
  %0 = dtensor.convolution %x, %w dims [b, 1, f] x [0, i, o] -> [b, 0, f] : (tensor<8x28x3xf32>, tensor<3x3x16xf32>) -> tensor<8x26x16xf32>
  return
}

// -----

func.func @conv_lists(%x: tensor<8x28x3xf32>, %w: tensor<3x3x16xf32>) {
  // expected-error @+1 {{'dtensor.convolution' op violates constraint C3: strides, dilations and reversal need 1 entries, padding 2}}
  %0 = dtensor.convolution %x, %w dims [b, 0, f] x [0, i, o] -> [b, 0, f] strides [1, 1] : (tensor<8x28x3xf32>, tensor<3x3x16xf32>) -> tensor<8x26x16xf32>
  return
}

// -----

func.func @conv_stride(%x: tensor<8x28x3xf32>, %w: tensor<3x3x16xf32>) {
  // expected-error @+1 {{'dtensor.convolution' op violates constraint C3: strides and dilations must be at least 1}}
  %0 = dtensor.convolution %x, %w dims [b, 0, f] x [0, i, o] -> [b, 0, f] strides [0] : (tensor<8x28x3xf32>, tensor<3x3x16xf32>) -> tensor<8x26x16xf32>
  return
}

// -----

func.func @conv_groups(%x: tensor<8x28x6xf32>, %w: tensor<3x3x16xf32>) {
  // expected-error @+1 {{'dtensor.convolution' op violates constraint C3: the group counts are 2 and 2}}
  %0 = dtensor.convolution %x, %w dims [b, 0, f] x [0, i, o] -> [b, 0, f] feature_groups 2 batch_groups 2 : (tensor<8x28x6xf32>, tensor<3x3x16xf32>) -> tensor<4x26x16xf32>
  return
}

// -----

func.func @conv_features(%x: tensor<8x28x4xf32>, %w: tensor<3x3x16xf32>) {
  // expected-error @+1 {{'dtensor.convolution' op violates constraint C4: lhs has 4 input features, but the kernel takes 3 for each of 1 groups}}
  %0 = dtensor.convolution %x, %w dims [b, 0, f] x [0, i, o] -> [b, 0, f] : (tensor<8x28x4xf32>, tensor<3x3x16xf32>) -> tensor<8x26x16xf32>
  return
}

// -----

func.func @conv_divides(%x: tensor<8x28x3xf32>, %w: tensor<3x3x16xf32>) {
  // expected-error @+1 {{'dtensor.convolution' op violates constraint C5}}
  %0 = dtensor.convolution %x, %w dims [b, 0, f] x [0, i, o] -> [b, 0, f] batch_groups 3 : (tensor<8x28x3xf32>, tensor<3x3x16xf32>) -> tensor<8x26x16xf32>
  return
}

// -----

func.func @conv_result(%x: tensor<8x28x3xf32>, %w: tensor<3x3x16xf32>) {
  // expected-error @+1 {{'dtensor.convolution' op violates constraint C6: the result must be 'tensor<8x13x16xf32>'}}
  %0 = dtensor.convolution %x, %w dims [b, 0, f] x [0, i, o] -> [b, 0, f] strides [2] : (tensor<8x28x3xf32>, tensor<3x3x16xf32>) -> tensor<8x26x16xf32>
  return
}

// -----

func.func @window_init(%x: tensor<8xf32>, %v: tensor<1xf32>) {
  // expected-error @+1 {{'dtensor.reduce_window' op violates constraint C1: an init value is not a scalar}}
  %0 = dtensor.reduce_window sum %x init %v window [3] : (tensor<8xf32>, tensor<1xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @window_lists(%x: tensor<8x2xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'dtensor.reduce_window' op violates constraint C2: the operand has 2 dims}}
  %0 = dtensor.reduce_window sum %x init %v window [3] : (tensor<8x2xf32>, tensor<f32>) -> tensor<6x2xf32>
  return
}

// -----

func.func @window_size(%x: tensor<8xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'dtensor.reduce_window' op violates constraint C2: window sizes, strides and dilations must be at least 1}}
  %0 = dtensor.reduce_window sum %x init %v window [0] : (tensor<8xf32>, tensor<f32>) -> tensor<6xf32>
  return
}

// -----

func.func @window_shapes(%x: tensor<8xf32>, %y: tensor<9xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'dtensor.reduce_window' op violates constraint C3}}
  %0:2 = dtensor.reduce_window %x, %y init %v, %v window [3] : (tensor<8xf32>, tensor<9xf32>, tensor<f32>, tensor<f32>) -> (tensor<6xf32>, tensor<6xf32>) {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    dtensor.yield %a, %b : tensor<f32>, tensor<f32>
  }
  return
}

// -----

func.func @window_result(%x: tensor<8xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'dtensor.reduce_window' op violates constraint C4: with a 'tensor<8xf32>', the init value must be a 'tensor<f32>' and the result a 'tensor<6xf32>'}}
  %0 = dtensor.reduce_window sum %x init %v window [3] : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @window_region(%x: tensor<8xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'dtensor.reduce_window' op violates constraint C5: the region must have one block}}
  %0 = dtensor.reduce_window %x init %v window [3] : (tensor<8xf32>, tensor<f32>) -> tensor<6xf32>
  return
}

// -----

func.func @window_kind(%x: tensor<8xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'dtensor.reduce_window' op violates constraint C6: a reduction by and does not take 'f32'}}
  %0 = dtensor.reduce_window and %x init %v window [3] : (tensor<8xf32>, tensor<f32>) -> tensor<6xf32>
  return
}

// -----

func.func @scatter_shape(%x: tensor<8xf32>, %s: tensor<6xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'dtensor.select_and_scatter' op violates constraint C1: the operand's shape is [8], the result's [9]}}
  %0 = dtensor.select_and_scatter %x, %s init %v select max scatter sum window [3] : (tensor<8xf32>, tensor<6xf32>, tensor<f32>) -> tensor<9xf32>
  return
}

// -----

func.func @scatter_padding(%x: tensor<8xf32>, %s: tensor<6xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'dtensor.select_and_scatter' op violates constraint C2: padding must be at least 0}}
  %0 = dtensor.select_and_scatter %x, %s init %v select max scatter sum window [3] padding [-1, 1] : (tensor<8xf32>, tensor<6xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @scatter_source(%x: tensor<8xf32>, %s: tensor<5xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'dtensor.select_and_scatter' op violates constraint C3: the source must be a 'tensor<6xf32>'}}
  %0 = dtensor.select_and_scatter %x, %s init %v select max scatter sum window [3] : (tensor<8xf32>, tensor<5xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @scatter_select(%x: tensor<8xf32>, %s: tensor<6xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'dtensor.select_and_scatter' op violates constraint C4: select must be min, max, or a region}}
  %0 = dtensor.select_and_scatter %x, %s init %v select sum scatter sum window [3] : (tensor<8xf32>, tensor<6xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @cumulative_shape(%x: tensor<8xf32>) {
  // expected-error @+1 {{'dtensor.cumulative' op violates constraint C1}}
  %0 = dtensor.cumulative sum %x dim 0 : (tensor<8xf32>) -> tensor<7xf32>
  return
}

// -----

func.func @cumulative_dim(%x: tensor<8xf32>) {
  // expected-error @+1 {{'dtensor.cumulative' op violates constraint C2: dimension is 1}}
  %0 = dtensor.cumulative sum %x dim 1 : tensor<8xf32>
  return
}

// -----

func.func @cumulative_kind(%x: tensor<8xi1>) {
  // expected-error @+1 {{'dtensor.cumulative' op violates constraint C3: a reduction by sum does not take 'i1'}}
  %0 = dtensor.cumulative sum %x dim 0 : tensor<8xi1>
  return
}

// -----

func.func @conv_numbers_too_large(%x: tensor<8x28x3xf32>, %w: tensor<3x3x16xf32>) {
  // expected-error @+1 {{'dtensor.convolution' op violates constraint C3: a number is beyond 2^31}}
  %0 = dtensor.convolution %x, %w dims [b, 0, f] x [0, i, o] -> [b, 0, f] padding [9223372036854775807, 9223372036854775807] : (tensor<8x28x3xf32>, tensor<3x3x16xf32>) -> tensor<8x26x16xf32>
  return
}

// -----

func.func @window_numbers_too_large(%x: tensor<8xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'dtensor.reduce_window' op violates constraint C2: a number is beyond 2^31}}
  %0 = dtensor.reduce_window sum %x init %v window [4294967296] base_dilations [9223372036854775807] : (tensor<8xf32>, tensor<f32>) -> tensor<6xf32>
  return
}
