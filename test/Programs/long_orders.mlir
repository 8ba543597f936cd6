// Lines that are so long that they are sorted by digits: of every type, up and
// down, stably, with zeros of both signs.
// RUN: %verify
func.func @main(%f32: tensor<3x700xf32>, %f64: tensor<3x700xf64>, %bf16: tensor<3x700xbf16>, %f16: tensor<3x700xf16>, %i32: tensor<3x700xi32>, %i64: tensor<3x700xi64>, %ui32: tensor<3x700xui32>, %ui8: tensor<3x700xui8>)
    -> (tensor<3x700xf32>, tensor<3x700xi32>, tensor<3x700xf32>, tensor<3x700xi32>, tensor<3x700xf64>, tensor<3x700xi32>, tensor<3x700xf64>, tensor<3x700xi32>, tensor<3x700xbf16>, tensor<3x700xi32>, tensor<3x700xbf16>, tensor<3x700xi32>, tensor<3x700xf16>, tensor<3x700xi32>, tensor<3x700xf16>, tensor<3x700xi32>, tensor<3x700xi32>, tensor<3x700xi32>, tensor<3x700xi32>, tensor<3x700xi32>, tensor<3x700xi64>, tensor<3x700xi32>, tensor<3x700xi64>, tensor<3x700xi32>, tensor<3x700xui32>, tensor<3x700xi32>, tensor<3x700xui32>, tensor<3x700xi32>, tensor<3x700xui8>, tensor<3x700xi32>, tensor<3x700xui8>, tensor<3x700xi32>, tensor<3x700xf32>, tensor<3x700xi32>, tensor<3x700xf32>, tensor<3x700xi32>, tensor<3x700xi64>, tensor<3x700xi32>, tensor<3x700xi32>, tensor<3x700xi32>) {
  %position = dtensor.iota dim 1 : tensor<3x700xi32>
  %up_f32:2 = dtensor.sort %f32, %position dim 1 {is_stable}
      : (tensor<3x700xf32>, tensor<3x700xi32>) -> (tensor<3x700xf32>, tensor<3x700xi32>) {
  ^bb0(%l: tensor<f32>, %r: tensor<f32>, %p: tensor<i32>, %q: tensor<i32>):
    %first = dtensor.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    dtensor.yield %first : tensor<i1>
  }
  %down_f32:2 = dtensor.sort %f32, %position dim 1 {is_stable}
      : (tensor<3x700xf32>, tensor<3x700xi32>) -> (tensor<3x700xf32>, tensor<3x700xi32>) {
  ^bb0(%l: tensor<f32>, %r: tensor<f32>, %p: tensor<i32>, %q: tensor<i32>):
    %first = dtensor.compare GT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    dtensor.yield %first : tensor<i1>
  }
  %up_f64:2 = dtensor.sort %f64, %position dim 1 {is_stable}
      : (tensor<3x700xf64>, tensor<3x700xi32>) -> (tensor<3x700xf64>, tensor<3x700xi32>) {
  ^bb0(%l: tensor<f64>, %r: tensor<f64>, %p: tensor<i32>, %q: tensor<i32>):
    %first = dtensor.compare LT, %l, %r : (tensor<f64>, tensor<f64>) -> tensor<i1>
    dtensor.yield %first : tensor<i1>
  }
  %down_f64:2 = dtensor.sort %f64, %position dim 1 {is_stable}
      : (tensor<3x700xf64>, tensor<3x700xi32>) -> (tensor<3x700xf64>, tensor<3x700xi32>) {
  ^bb0(%l: tensor<f64>, %r: tensor<f64>, %p: tensor<i32>, %q: tensor<i32>):
    %first = dtensor.compare GT, %l, %r : (tensor<f64>, tensor<f64>) -> tensor<i1>
    dtensor.yield %first : tensor<i1>
  }
  %up_bf16:2 = dtensor.sort %bf16, %position dim 1 {is_stable}
      : (tensor<3x700xbf16>, tensor<3x700xi32>) -> (tensor<3x700xbf16>, tensor<3x700xi32>) {
  ^bb0(%l: tensor<bf16>, %r: tensor<bf16>, %p: tensor<i32>, %q: tensor<i32>):
    %first = dtensor.compare LT, %l, %r : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    dtensor.yield %first : tensor<i1>
  }
  %down_bf16:2 = dtensor.sort %bf16, %position dim 1 {is_stable}
      : (tensor<3x700xbf16>, tensor<3x700xi32>) -> (tensor<3x700xbf16>, tensor<3x700xi32>) {
  ^bb0(%l: tensor<bf16>, %r: tensor<bf16>, %p: tensor<i32>, %q: tensor<i32>):
    %first = dtensor.compare GT, %l, %r : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    dtensor.yield %first : tensor<i1>
  }
  %up_f16:2 = dtensor.sort %f16, %position dim 1 {is_stable}
      : (tensor<3x700xf16>, tensor<3x700xi32>) -> (tensor<3x700xf16>, tensor<3x700xi32>) {
  ^bb0(%l: tensor<f16>, %r: tensor<f16>, %p: tensor<i32>, %q: tensor<i32>):
    %first = dtensor.compare LT, %l, %r : (tensor<f16>, tensor<f16>) -> tensor<i1>
    dtensor.yield %first : tensor<i1>
  }
  %down_f16:2 = dtensor.sort %f16, %position dim 1 {is_stable}
      : (tensor<3x700xf16>, tensor<3x700xi32>) -> (tensor<3x700xf16>, tensor<3x700xi32>) {
  ^bb0(%l: tensor<f16>, %r: tensor<f16>, %p: tensor<i32>, %q: tensor<i32>):
    %first = dtensor.compare GT, %l, %r : (tensor<f16>, tensor<f16>) -> tensor<i1>
    dtensor.yield %first : tensor<i1>
  }
  %up_i32:2 = dtensor.sort %i32, %position dim 1 {is_stable}
      : (tensor<3x700xi32>, tensor<3x700xi32>) -> (tensor<3x700xi32>, tensor<3x700xi32>) {
  ^bb0(%l: tensor<i32>, %r: tensor<i32>, %p: tensor<i32>, %q: tensor<i32>):
    %first = dtensor.compare LT, %l, %r : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %first : tensor<i1>
  }
  %down_i32:2 = dtensor.sort %i32, %position dim 1 {is_stable}
      : (tensor<3x700xi32>, tensor<3x700xi32>) -> (tensor<3x700xi32>, tensor<3x700xi32>) {
  ^bb0(%l: tensor<i32>, %r: tensor<i32>, %p: tensor<i32>, %q: tensor<i32>):
    %first = dtensor.compare GT, %l, %r : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %first : tensor<i1>
  }
  %up_i64:2 = dtensor.sort %i64, %position dim 1 {is_stable}
      : (tensor<3x700xi64>, tensor<3x700xi32>) -> (tensor<3x700xi64>, tensor<3x700xi32>) {
  ^bb0(%l: tensor<i64>, %r: tensor<i64>, %p: tensor<i32>, %q: tensor<i32>):
    %first = dtensor.compare LT, %l, %r : (tensor<i64>, tensor<i64>) -> tensor<i1>
    dtensor.yield %first : tensor<i1>
  }
  %down_i64:2 = dtensor.sort %i64, %position dim 1 {is_stable}
      : (tensor<3x700xi64>, tensor<3x700xi32>) -> (tensor<3x700xi64>, tensor<3x700xi32>) {
  ^bb0(%l: tensor<i64>, %r: tensor<i64>, %p: tensor<i32>, %q: tensor<i32>):
    %first = dtensor.compare GT, %l, %r : (tensor<i64>, tensor<i64>) -> tensor<i1>
    dtensor.yield %first : tensor<i1>
  }
  %up_ui32:2 = dtensor.sort %ui32, %position dim 1 {is_stable}
      : (tensor<3x700xui32>, tensor<3x700xi32>) -> (tensor<3x700xui32>, tensor<3x700xi32>) {
  ^bb0(%l: tensor<ui32>, %r: tensor<ui32>, %p: tensor<i32>, %q: tensor<i32>):
    %first = dtensor.compare LT, %l, %r : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    dtensor.yield %first : tensor<i1>
  }
  %down_ui32:2 = dtensor.sort %ui32, %position dim 1 {is_stable}
      : (tensor<3x700xui32>, tensor<3x700xi32>) -> (tensor<3x700xui32>, tensor<3x700xi32>) {
  ^bb0(%l: tensor<ui32>, %r: tensor<ui32>, %p: tensor<i32>, %q: tensor<i32>):
    %first = dtensor.compare GT, %l, %r : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    dtensor.yield %first : tensor<i1>
  }
  %up_ui8:2 = dtensor.sort %ui8, %position dim 1 {is_stable}
      : (tensor<3x700xui8>, tensor<3x700xi32>) -> (tensor<3x700xui8>, tensor<3x700xi32>) {
  ^bb0(%l: tensor<ui8>, %r: tensor<ui8>, %p: tensor<i32>, %q: tensor<i32>):
    %first = dtensor.compare LT, %l, %r : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
    dtensor.yield %first : tensor<i1>
  }
  %down_ui8:2 = dtensor.sort %ui8, %position dim 1 {is_stable}
      : (tensor<3x700xui8>, tensor<3x700xi32>) -> (tensor<3x700xui8>, tensor<3x700xi32>) {
  ^bb0(%l: tensor<ui8>, %r: tensor<ui8>, %p: tensor<i32>, %q: tensor<i32>):
    %first = dtensor.compare GT, %l, %r : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
    dtensor.yield %first : tensor<i1>
  }
  // Zeros of both signs are equal: all stay where they are.
  %none = dtensor.constant dense<0.0> : tensor<3x700xf32>
  %zeros = dtensor.multiply %f32, %none : tensor<3x700xf32>
  %zeros_up:2 = dtensor.sort %zeros, %position dim 1 {is_stable}
      : (tensor<3x700xf32>, tensor<3x700xi32>) -> (tensor<3x700xf32>, tensor<3x700xi32>) {
  ^bb0(%l: tensor<f32>, %r: tensor<f32>, %p: tensor<i32>, %q: tensor<i32>):
    %first = dtensor.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    dtensor.yield %first : tensor<i1>
  }
  %zeros_down:2 = dtensor.sort %zeros, %position dim 1 {is_stable}
      : (tensor<3x700xf32>, tensor<3x700xi32>) -> (tensor<3x700xf32>, tensor<3x700xi32>) {
  ^bb0(%l: tensor<f32>, %r: tensor<f32>, %p: tensor<i32>, %q: tensor<i32>):
    %first = dtensor.compare GT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    dtensor.yield %first : tensor<i1>
  }
  // Integers that need all of their bits.
  %big = dtensor.constant dense<4611686018427387904> : tensor<3x700xi64>
  %far = dtensor.multiply %i64, %big : tensor<3x700xi64>
  %wide = dtensor.add %far, %i64 : tensor<3x700xi64>
  %sorted:2 = dtensor.sort %wide, %position dim 1 {is_stable}
      : (tensor<3x700xi64>, tensor<3x700xi32>) -> (tensor<3x700xi64>, tensor<3x700xi32>) {
  ^bb0(%l: tensor<i64>, %r: tensor<i64>, %p: tensor<i32>, %q: tensor<i32>):
    %first = dtensor.compare LT, %l, %r : (tensor<i64>, tensor<i64>) -> tensor<i1>
    dtensor.yield %first : tensor<i1>
  }
  // Equal elements change places where the comparison says so.
  %backwards:2 = dtensor.sort %i32, %position dim 1 {is_stable}
      : (tensor<3x700xi32>, tensor<3x700xi32>) -> (tensor<3x700xi32>, tensor<3x700xi32>) {
  ^bb0(%l: tensor<i32>, %r: tensor<i32>, %p: tensor<i32>, %q: tensor<i32>):
    %first = dtensor.compare LE, %l, %r : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %first : tensor<i1>
  }
  return %up_f32#0, %up_f32#1, %down_f32#0, %down_f32#1, %up_f64#0, %up_f64#1, %down_f64#0, %down_f64#1, %up_bf16#0, %up_bf16#1, %down_bf16#0, %down_bf16#1, %up_f16#0, %up_f16#1, %down_f16#0, %down_f16#1, %up_i32#0, %up_i32#1, %down_i32#0, %down_i32#1, %up_i64#0, %up_i64#1, %down_i64#0, %down_i64#1, %up_ui32#0, %up_ui32#1, %down_ui32#0, %down_ui32#1, %up_ui8#0, %up_ui8#1, %down_ui8#0, %down_ui8#1, %zeros_up#0, %zeros_up#1, %zeros_down#0, %zeros_down#1, %sorted#0, %sorted#1, %backwards#0, %backwards#1
      : tensor<3x700xf32>, tensor<3x700xi32>, tensor<3x700xf32>, tensor<3x700xi32>, tensor<3x700xf64>, tensor<3x700xi32>, tensor<3x700xf64>, tensor<3x700xi32>, tensor<3x700xbf16>, tensor<3x700xi32>, tensor<3x700xbf16>, tensor<3x700xi32>, tensor<3x700xf16>, tensor<3x700xi32>, tensor<3x700xf16>, tensor<3x700xi32>, tensor<3x700xi32>, tensor<3x700xi32>, tensor<3x700xi32>, tensor<3x700xi32>, tensor<3x700xi64>, tensor<3x700xi32>, tensor<3x700xi64>, tensor<3x700xi32>, tensor<3x700xui32>, tensor<3x700xi32>, tensor<3x700xui32>, tensor<3x700xi32>, tensor<3x700xui8>, tensor<3x700xi32>, tensor<3x700xui8>, tensor<3x700xi32>, tensor<3x700xf32>, tensor<3x700xi32>, tensor<3x700xf32>, tensor<3x700xi32>, tensor<3x700xi64>, tensor<3x700xi32>, tensor<3x700xi32>, tensor<3x700xi32>
}
