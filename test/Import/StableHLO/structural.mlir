// Ops that move, index, multiply and reduce, in the text of each release.
// RUN: mesh-opt %s > %t.pretty
// RUN: mesh-opt %t.pretty | diff %t.pretty -
// RUN: mesh-opt --mlir-print-op-generic %s > %t.generic
// RUN: mesh-opt %t.generic | diff %t.pretty -
// RUN: FileCheck %s < %t.pretty

// CHECK-LABEL: func.func @movement
func.func @movement(%x: tensor<64x8xf32>, %s: tensor<f32>) {
  // CHECK: stablehlo.slice %{{.*}} [5:53:2, 0:8] : (tensor<64x8xf32>) -> tensor<24x8xf32>
  %0 = stablehlo.slice %x [5:53:2, 0:8] : (tensor<64x8xf32>) -> tensor<24x8xf32>
  // CHECK: stablehlo.pad %{{.*}}, %{{.*}}, low = [-1, 0], high = [2, 0], interior = [0, 3] : (tensor<64x8xf32>, tensor<f32>) -> tensor<65x29xf32>
  %1 = stablehlo.pad %x, %s, low = [-1, 0], high = [2, 0], interior = [0, 3] : (tensor<64x8xf32>, tensor<f32>) -> tensor<65x29xf32>
  // CHECK: stablehlo.concatenate %{{.*}}, %{{.*}}, dim = 0 : (tensor<64x8xf32>, tensor<24x8xf32>) -> tensor<88x8xf32>
  %2 = stablehlo.concatenate %x, %0, dim = 0 : (tensor<64x8xf32>, tensor<24x8xf32>) -> tensor<88x8xf32>
  // CHECK: stablehlo.reverse %{{.*}}, dims = [0] : tensor<64x8xf32>
  %3 = stablehlo.reverse %x, dims = [0] : tensor<64x8xf32>
  // CHECK: stablehlo.broadcast_in_dim %{{.*}}, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %4 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %5 = stablehlo.broadcast %s, sizes = [2, 3] : (tensor<f32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.transpose %{{.*}}, dims = [1, 0] : (tensor<64x8xf32>) -> tensor<8x64xf32>
  %6 = stablehlo.transpose %x, dims = [1, 0] : (tensor<64x8xf32>) -> tensor<8x64xf32>
  %7 = stablehlo.reshape %x : (tensor<64x8xf32>) -> tensor<512xf32>
  return
}

// CHECK-LABEL: func.func @indexing
func.func @indexing(%x: tensor<10x6xf32>, %i: tensor<i32>, %at: tensor<4x1xi32>, %u: tensor<4x6xf32>, %s: tensor<f32>) {
  // CHECK: stablehlo.dynamic_slice %{{.*}}, %{{.*}}, %{{.*}}, sizes = [3, 2] : (tensor<10x6xf32>, tensor<i32>, tensor<i32>) -> tensor<3x2xf32>
  %0 = stablehlo.dynamic_slice %x, %i, %i, sizes = [3, 2] : (tensor<10x6xf32>, tensor<i32>, tensor<i32>) -> tensor<3x2xf32>
  // CHECK: stablehlo.dynamic_slice %{{.*}}, sizes = [] : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.dynamic_slice %s, sizes = [] : (tensor<f32>) -> tensor<f32>
  %2 = stablehlo.dynamic_update_slice %x, %0, %i, %i : (tensor<10x6xf32>, tensor<3x2xf32>, tensor<i32>, tensor<i32>) -> tensor<10x6xf32>
  // CHECK: #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>
  %3 = "stablehlo.gather"(%x, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 6>}> : (tensor<10x6xf32>, tensor<4x1xi32>) -> tensor<4x6xf32>
  // Fields in any order, and a comma after the last.
  // CHECK: #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  %4 = "stablehlo.scatter"(%x, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<index_vector_dim = 1, scatter_dims_to_operand_dims = [0], inserted_window_dims = [0], update_window_dims = [1],>, indices_are_sorted = false, unique_indices = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %8 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %8 : tensor<f32>
  }) : (tensor<10x6xf32>, tensor<4x1xi32>, tensor<4x6xf32>) -> tensor<10x6xf32>
  // CHECK: operand_batching_dims = [0], start_indices_batching_dims = [0]
  %5 = "stablehlo.gather"(%u, %at) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>} : (tensor<4x6xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  %6:2 = "stablehlo.sort"(%x, %x) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %8 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %8 : tensor<i1>
  }) : (tensor<10x6xf32>, tensor<10x6xf32>) -> (tensor<10x6xf32>, tensor<10x6xf32>)
  return
}

// CHECK-LABEL: func.func @products
func.func @products(%a: tensor<3x8x6xf32>, %b: tensor<3x6x5xf32>, %m: tensor<8x6xf32>, %n: tensor<6x5xf32>) {
  // CHECK: stablehlo.dot_general %{{.*}}, %{{.*}}, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, HIGHEST] : (
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, HIGHEST] : (tensor<3x8x6xf32>, tensor<3x6x5xf32>) -> tensor<3x8x5xf32>
  // CHECK: contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, {{.*}}, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (
  %1 = stablehlo.dot_general %m, %n, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<8x6xf32>, tensor<6x5xf32>) -> tensor<8x5xf32>
  %2 = "stablehlo.dot_general"(%m, %n) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGH>]}> : (tensor<8x6xf32>, tensor<6x5xf32>) -> tensor<8x5xf32>
  // CHECK: stablehlo.dot %{{.*}}, %{{.*}}, precision = [HIGH, DEFAULT] : (
  %3 = stablehlo.dot %m, %n, precision = [HIGH, DEFAULT] : (tensor<8x6xf32>, tensor<6x5xf32>) -> tensor<8x5xf32>
  %4 = stablehlo.einsum %m, %n, config = "ij,jk->ik" : (tensor<8x6xf32>, tensor<6x5xf32>) -> tensor<8x5xf32>
  return
}

// CHECK-LABEL: func.func @convolutions
func.func @convolutions(%x: tensor<2x9x8x6xf32>, %w: tensor<3x3x6x4xf32>, %v: tensor<2x6x9xf32>, %k: tensor<4x6x3xf32>) {
  // CHECK: stablehlo.convolution(%{{.*}}, %{{.*}}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = {{\[\[}}1, 2], [0, -1]], lhs_dilate = [1, 2], rhs_dilate = [2, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[1, 2], [0, -1]], lhs_dilate = [1, 2], rhs_dilate = [2, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x9x8x6xf32>, tensor<3x3x6x4xf32>) -> tensor<2x4x12x4xf32>
  // CHECK: dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = {{\[\[}}2, 0]], reverse = [false]} {
  %1 = stablehlo.convolution(%v, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = [[2, 0]], reverse = [0]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x6x9xf32>, tensor<4x6x3xf32>) -> tensor<2x4x9xf32>
  // CHECK: window = {} {
  %2 = stablehlo.convolution(%v, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[f, 0, b], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x6x9xf32>, tensor<4x6x3xf32>) -> tensor<4x7x2xf32>
  %3 = "stablehlo.convolution"(%x, %w) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 1, 0, f]x[1, 0, i, o]->[b, 1, 0, f]>, feature_group_count = 1 : i64, padding = dense<0> : tensor<2x2xi64>, window_strides = array<i64: 1, 1>}> : (tensor<2x9x8x6xf32>, tensor<3x3x6x4xf32>) -> tensor<2x7x6x4xf32>
  return
}

// CHECK-LABEL: func.func @reductions
func.func @reductions(%x: tensor<4x6xf32>, %i: tensor<4x6xi32>, %s: tensor<f32>, %z: tensor<i32>) {
  // CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %0 = stablehlo.reduce(%x init: %s) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}), (%{{.*}} init: %{{.*}}) across dimensions = [0] : (
  // CHECK-NEXT: reducer(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>) (%[[C:.*]]: tensor<i32>, %[[D:.*]]: tensor<i32>) {
  // CHECK-NEXT: stablehlo.compare GT, %[[A]], %[[B]]
  // CHECK-NEXT: stablehlo.select
  // CHECK-NEXT: stablehlo.select %{{.*}}, %[[C]], %[[D]]
  %1:2 = stablehlo.reduce(%x init: %s), (%i init: %z) across dimensions = [0] : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<6xf32>, tensor<6xi32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>)  {
    %p = stablehlo.compare  GT, %a, %b,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %v = stablehlo.select %p, %a, %b : tensor<i1>, tensor<f32>
    %w = stablehlo.select %p, %c, %d : tensor<i1>, tensor<i32>
    stablehlo.return %v, %w : tensor<f32>, tensor<i32>
  }
  // The generic form of what `applies` states is printed as that.
  // CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}) applies stablehlo.maximum across dimensions = [0, 1] {mhlo.sharding = "{replicated}"} : (
  %2 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %v = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%v) : (tensor<f32>) -> ()
  }) {mhlo.sharding = "{replicated}"} : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
  // Arguments in the other order are not.
  // CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}) across dimensions = [1] : (
  // CHECK-NEXT: reducer(
  %3 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %v = stablehlo.maximum %b, %a : tensor<f32>
    stablehlo.return %v : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = "stablehlo.reduce_window"(%x, %s) <{base_dilations = array<i64: 1, 2>, padding = dense<[[0, 0], [1, 2]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %v = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %v : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x13xf32>
  %5 = "stablehlo.select_and_scatter"(%x, %x, %s) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 1>, window_strides = array<i64: 1, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare  GE, %a, %b,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %v = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %v : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  %6 = "stablehlo.map"(%x, %x) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %v = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %v : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// CHECK-LABEL: func.func @numerics
func.func @numerics(%a: tensor<3x4x4xf32>, %b: tensor<3x4x2xf32>, %c: tensor<3x8xcomplex<f32>>, %k: tensor<4xui32>, %f: tensor<4xf32>, %s: tensor<f32>, %d: tensor<1xi64>) {
  // CHECK: stablehlo.cholesky %{{.*}}, lower = true : tensor<3x4x4xf32>
  %0 = stablehlo.cholesky %a, lower = true : tensor<3x4x4xf32>
  // CHECK: stablehlo.cholesky %{{.*}} : tensor<3x4x4xf32>
  %1 = stablehlo.cholesky %a : tensor<3x4x4xf32>
  // CHECK: transpose_a = #stablehlo<transpose NO_TRANSPOSE>
  %2 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x4x4xf32>, tensor<3x4x2xf32>) -> tensor<3x4x2xf32>
  // CHECK: stablehlo.fft %{{.*}}, type = IRFFT, length = [14] : (tensor<3x8xcomplex<f32>>) -> tensor<3x14xf32>
  %3 = stablehlo.fft %c, type =  IRFFT, length = [14] : (tensor<3x8xcomplex<f32>>) -> tensor<3x14xf32>
  // CHECK: stablehlo.rng_bit_generator %{{.*}}, algorithm = THREE_FRY : (tensor<4xui32>) -> (tensor<4xui32>, tensor<3xui32>)
  %4:2 = stablehlo.rng_bit_generator %k, algorithm =  THREE_FRY : (tensor<4xui32>) -> (tensor<4xui32>, tensor<3xui32>)
  // CHECK: stablehlo.rng %{{.*}}, distribution = UNIFORM :
  %5 = stablehlo.rng %s, %s, %d, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<7xf32>
  %6:3 = "stablehlo.batch_norm_training"(%a, %f, %f) <{epsilon = 1.0e-05 : f32, feature_index = 2 : i64}> : (tensor<3x4x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<3x4x4xf32>, tensor<4xf32>, tensor<4xf32>)
  %7 = "stablehlo.batch_norm_inference"(%a, %f, %f, %f, %f) <{epsilon = 1.0e-05 : f32, feature_index = 2 : i64}> : (tensor<3x4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<3x4x4xf32>
  %8:3 = "stablehlo.batch_norm_grad"(%a, %f, %f, %f, %a) <{epsilon = 1.0e-05 : f32, feature_index = 2 : i64}> : (tensor<3x4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<3x4x4xf32>) -> (tensor<3x4x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// CHECK-LABEL: func.func @chlo
func.func @chlo(%x: tensor<16xf32>, %y: tensor<4x16xf32>, %i: tensor<4xi32>, %s: tensor<f32>) {
  // CHECK: chlo.erf_inv %{{.*}} : tensor<16xf32> -> tensor<16xf32>
  %0 = chlo.erf_inv %x : tensor<16xf32> -> tensor<16xf32>
  %1 = chlo.square %x : tensor<16xf32> -> tensor<16xf32>
  %2 = chlo.lgamma %x : tensor<16xf32> -> tensor<16xf32>
  // CHECK: chlo.zeta %{{.*}}, %{{.*}} : tensor<16xf32>, tensor<16xf32> -> tensor<16xf32>
  %3 = chlo.zeta %x, %x : tensor<16xf32>, tensor<16xf32> -> tensor<16xf32>
  // CHECK: chlo.top_k(%{{.*}}, k = 8) : tensor<16xf32> -> (tensor<8xf32>, tensor<8xi32>)
  %4:2 = chlo.top_k(%x, k = 8) : tensor<16xf32> -> (tensor<8xf32>, tensor<8xi32>)
  %5:2 = chlo.top_k(%x, k = 8, is_stable = false) : tensor<16xf32> -> (tensor<8xf32>, tensor<8xi32>)
  %6 = chlo.broadcast_add %x, %y {broadcast_dimensions = array<i64: 1>} : (tensor<16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %7 = chlo.is_inf %x : tensor<16xf32> -> tensor<16xi1>
  // CHECK: chlo.scan(%{{.*}}) inits(%{{.*}}) dimension=0 attributes {is_reverse = true} {
  %8:2 = chlo.scan(%x) inits(%s) dimension=0 attributes {is_reverse = true} {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %9 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %9, %9 : tensor<f32>, tensor<f32>
  } : (tensor<16xf32>, tensor<f32>) -> (tensor<16xf32>, tensor<f32>)
  return
}
