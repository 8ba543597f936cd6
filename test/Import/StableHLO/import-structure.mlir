// Movement, products, reductions, windows, indexing, calls and control flow.
// RUN: mesh-opt %s --stablehlo-to-dtensor --split-input-file | FileCheck %s

// CHECK-LABEL: @movement
// CHECK: dtensor.broadcast_in_dim %arg0 dims [1]
// CHECK: dtensor.pad {{.*}} low [1, -1] high [0, 0] interior [0, 1]
// CHECK: dtensor.reverse {{.*}} dims [0]
// CHECK: dtensor.slice {{.*}} [0:3, 1:5:2]
// CHECK: dtensor.transpose {{.*}} dims [1, 0]
func.func @movement(%x: tensor<4xf32>, %z: tensor<f32>) -> tensor<2x3xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
  %1 = stablehlo.pad %0, %z, low = [1, -1], high = [0, 0], interior = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<3x6xf32>
  %2 = stablehlo.reverse %1, dims = [0] : tensor<3x6xf32>
  %3 = stablehlo.slice %2 [0:3, 1:5:2] : (tensor<3x6xf32>) -> tensor<3x2xf32>
  %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
  return %4 : tensor<2x3xf32>
}

// -----

// Operands are converted to a wider result's type before the product.
// CHECK-LABEL: @dot_of_integers
// CHECK-COUNT-2: dtensor.convert {{.*}}i8{{.*}} -> tensor<{{.*}}xi32>
// CHECK: dtensor.dot_general {{.*}} contracting [1] x [0] : (tensor<8x4xi32>
func.func @dot_of_integers(%x: tensor<8x4xi8>, %y: tensor<4x5xi8>) -> tensor<8x5xi32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<8x4xi8>, tensor<4x5xi8>) -> tensor<8x5xi32>
  return %0 : tensor<8x5xi32>
}

// -----

// Halves are not: devices then send half as much.
// CHECK-LABEL: @dot(
// CHECK-NOT: dtensor.convert
// CHECK: dtensor.dot_general {{.*}} batching [0] x [0] contracting [2] x [1] : (tensor<3x8x4xbf16>, {{.*}}) -> tensor<3x8x5xf32>
func.func @dot(%x: tensor<3x8x4xbf16>, %y: tensor<3x4x5xbf16>) -> tensor<3x8x5xf32> {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x4xbf16>, tensor<3x4x5xbf16>) -> tensor<3x8x5xf32>
  return %0 : tensor<3x8x5xf32>
}

// -----

// An init that is no identity is combined once, after the reduction.
// CHECK-LABEL: @init
// CHECK: %[[R:.*]] = dtensor.reduce sum %arg0 dims [1]
// CHECK: dtensor.add {{.*}}, %[[R]]
func.func @init(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<2.5> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: @identity
// CHECK: %[[R:.*]] = dtensor.reduce max %arg0 dims [1]
// CHECK-NEXT: return %[[R]]
func.func @identity(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// JAX's argmax.
// CHECK-LABEL: @argmax
// CHECK: dtensor.argmax %arg0 dim 1
// CHECK-NOT: generic_reduce
func.func @argmax(%x: tensor<4x8xf32>) -> tensor<4xi32> {
  %i = stablehlo.iota dim = 1 : tensor<4x8xi32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.reduce(%x init: %low), (%i init: %zero) across dimensions = [1] : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%ai: tensor<i32>, %bi: tensor<i32>) {
    %1 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %3 = stablehlo.or %1, %2 : tensor<i1>
    %4 = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %5 = stablehlo.compare LT, %ai, %bi, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.and %4, %5 : tensor<i1>
    %7 = stablehlo.or %3, %6 : tensor<i1>
    %8 = stablehlo.select %3, %a, %b : tensor<i1>, tensor<f32>
    %9 = stablehlo.select %7, %ai, %bi : tensor<i1>, tensor<i32>
    stablehlo.return %8, %9 : tensor<f32>, tensor<i32>
  }
  return %0#1 : tensor<4xi32>
}

// -----

// Any other reducer is a region.
// CHECK-LABEL: @custom
// CHECK: dtensor.generic_reduce %arg0 from %{{.*}} dims [0]
// CHECK: dtensor.atan2
func.func @custom(%x: tensor<4x8xf32>) -> tensor<8xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %1 = stablehlo.atan2 %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }
  return %0 : tensor<8xf32>
}

// -----

// A window as large as the dim, padded on one side: a running sum.
// CHECK-LABEL: @running
// CHECK: dtensor.cumulative sum %arg0 dim 0 :
func.func @running(%x: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %c) <{padding = dense<[[63, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 64, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<64x32xf32>, tensor<f32>) -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}

// -----

// Private functions are inlined; tuples are their elements; a region keeps a
// barrier's results apart from its operands.
// CHECK-LABEL: @main
// CHECK-NEXT: %[[N:.*]] = dtensor.negate %arg0
// CHECK: %[[R:.*]] = dtensor.case {{.*}} {dtensor.inlined, dtensor.recomputed}
// CHECK-NEXT: yield %[[N]]
// CHECK: return %[[R]]
// CHECK-NOT: func.func private
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.tuple %x, %0 : tuple<tensor<4xf32>, tensor<4xf32>>
  %2 = stablehlo.get_tuple_element %1[1] : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %3 = stablehlo.optimization_barrier %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: @control
// CHECK: dtensor.while
// CHECK: dtensor.compare LT
// CHECK: } do {
// CHECK: dtensor.case
func.func @control(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
  %c = stablehlo.constant dense<100.0> : tensor<f32>
  %0 = stablehlo.while(%v = %x) : tensor<f32>
   cond {
    %2 = stablehlo.compare LT, %v, %c, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %2 = stablehlo.add %v, %v : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }
  %1 = "stablehlo.if"(%p) ({
    stablehlo.return %0 : tensor<f32>
  }, {
    %2 = stablehlo.negate %0 : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// CHECK-LABEL: @library
// CHECK: dtensor.cholesky %{{.*}} {lower}
// CHECK: dtensor.triangular_solve {{.*}}left_side, lower
// CHECK: dtensor.top_k %{{.*}} k 2
// CHECK: dtensor.top_k %{{.*}} k 1
func.func @library(%a: tensor<3x4x4xf32>, %b: tensor<3x4x5xf32>) -> (tensor<3x4x1xf32>, tensor<3xi32>) {
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<3x4x4xf32>) -> (tensor<3x4x4xf32>, tensor<3xi32>)
  %1 = stablehlo.custom_call @lapack_strsm_ffi(%0#0, %b) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}} : (tensor<3x4x4xf32>, tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
  %2, %3 = chlo.top_k(%1, k = 2) : tensor<3x4x5xf32> -> (tensor<3x4x2xf32>, tensor<3x4x2xi32>)
  %4:2 = stablehlo.composite "chlo.top_k" %2 {composite_attributes = {k = 1 : i64}, decomposition = @sorted, version = 1 : i32} : (tensor<3x4x2xf32>) -> (tensor<3x4x1xf32>, tensor<3x4x1xi32>)
  return %4#0, %0#1 : tensor<3x4x1xf32>, tensor<3xi32>
}
func.func private @sorted(%a: tensor<3x4x2xf32>) -> (tensor<3x4x1xf32>, tensor<3x4x1xi32>) {
  %0 = stablehlo.slice %a [0:3, 0:4, 0:1] : (tensor<3x4x2xf32>) -> tensor<3x4x1xf32>
  %1 = stablehlo.constant dense<0> : tensor<3x4x1xi32>
  return %0, %1 : tensor<3x4x1xf32>, tensor<3x4x1xi32>
}

// -----

// A program of nothing but calls is one of JAX's, too.
// CHECK: module @calls
// CHECK: func.func @main(%[[X:.*]]: tensor<8xf32>)
// CHECK-NOT: call
// CHECK: return
module @calls attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = call @same(%x) : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
  func.func private @same(%x: tensor<8xf32>) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}
