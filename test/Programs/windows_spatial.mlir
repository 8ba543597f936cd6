// Windows over sharded dims: pooling with strides, padding and both dilations,
// windows over several hops, uneven and empty shards, init values that count
// for padding; a window function of two values; select_and_scatter.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2, y = 4>
#h = #dtensor.layout<#mesh, [*, {x, y}, *]>
#hc = #dtensor.layout<#mesh, [*, x, y]>
#xy = #dtensor.layout<#mesh, [x, y]>
#v = #dtensor.layout<#mesh, [{y, x}]>

func.func @main(%a: tensor<2x19x3xf32, #h>, %b: tensor<4x16x8xf32, #hc>, %c: tensor<9x11xf32, #xy>,
                %d: tensor<9x11xi32, #xy>, %v: tensor<20xf64, #v>, %few: tensor<3xbf16, #v>, %i1: tensor<20xi1, #v>,
                %dy: tensor<2x9x3xf32, #h>, %dv: tensor<20xf64, #v>)
    -> (tensor<2x9x3xf32, #h>, tensor<4x8x8xf32, #hc>, tensor<9x11xf32, #xy>, tensor<9x21xf32>, tensor<9x11xi32, #xy>,
        tensor<20xf64, #v>, tensor<20xf64, #v>, tensor<3xbf16, #v>, tensor<8xbf16>, tensor<20xi1, #v>,
        tensor<9x11xf32, #xy>, tensor<9x11xi32>, tensor<2x19x3xf32, #h>, tensor<20xf64, #v>, tensor<20xf64>,
        tensor<2x19x3xf64, #h>, tensor<2x19x3xbf16, #h>, tensor<2x19x3xf16, #h>,
        tensor<9x8xf32>) {
  %low = dtensor.constant dense<0xFF800000> : tensor<f32>
  %zero = dtensor.constant dense<0.0> : tensor<f32>
  %half = dtensor.constant dense<0.5> : tensor<f32>
  %three = dtensor.constant dense<3> : tensor<i32>
  %minus = dtensor.constant dense<-1> : tensor<i32>
  %one64 = dtensor.constant dense<1.0> : tensor<f64>
  %zero64 = dtensor.constant dense<0.0> : tensor<f64>
  %zero16 = dtensor.constant dense<0.0> : tensor<bf16>
  %zeroh = dtensor.constant dense<0.0> : tensor<f16>
  %no = dtensor.constant dense<false> : tensor<i1>

  // The largest of 3 in steps of 2, 19 places over 8 devices.
  %0 = dtensor.reduce_window max %a init %low window [1, 3, 1] strides [1, 2, 1] : (tensor<2x19x3xf32, #h>, tensor<f32>) -> tensor<2x9x3xf32, #h>
  // Means over squares with channels sharded, too.
  %1 = dtensor.reduce_window sum %b init %zero window [1, 2, 1] strides [1, 2, 1] : (tensor<4x16x8xf32, #hc>, tensor<f32>) -> tensor<4x8x8xf32, #hc>
  // Both dims; padding adds the init value.
  %2 = dtensor.reduce_window sum %c init %half window [3, 4] padding [1, 1, 2, 1] : (tensor<9x11xf32, #xy>, tensor<f32>) -> tensor<9x11xf32, #xy>
  // Holes between elements hold it, too.
  %3 = dtensor.reduce_window sum %c init %half window [3, 1] padding [2, 0, 0, 0] base_dilations [1, 2] : (tensor<9x11xf32, #xy>, tensor<f32>) -> tensor<9x21xf32>
  %4 = dtensor.reduce_window prod %d init %three window [1, 2] padding [0, 0, 1, 0] : (tensor<9x11xi32, #xy>, tensor<i32>) -> tensor<9x11xi32, #xy>
  // A window longer than a shard of 3, and one with elements 5 apart.
  %5 = dtensor.reduce_window sum %v init %zero64 window [11] padding [10, 0] : (tensor<20xf64, #v>, tensor<f64>) -> tensor<20xf64, #v>
  %6 = dtensor.reduce_window prod %v init %one64 window [3] padding [5, 5] window_dilations [5] : (tensor<20xf64, #v>, tensor<f64>) -> tensor<20xf64, #v>
  // Fewer elements than devices, in and out.
  %7 = dtensor.reduce_window sum %few init %zero16 window [3] padding [1, 1] : (tensor<3xbf16, #v>, tensor<bf16>) -> tensor<3xbf16, #v>
  %8 = dtensor.reduce_window max %few init %zero16 window [2] padding [3, 3] : (tensor<3xbf16, #v>, tensor<bf16>) -> tensor<8xbf16>
  %9 = dtensor.reduce_window or %i1 init %no window [4] padding [0, 3] : (tensor<20xi1, #v>, tensor<i1>) -> tensor<20xi1, #v>
  // The largest and where it was.
  %10:2 = dtensor.reduce_window %c, %d init %low, %minus window [3, 2] padding [1, 1, 1, 0] : (tensor<9x11xf32, #xy>, tensor<9x11xi32, #xy>, tensor<f32>, tensor<i32>) -> (tensor<9x11xf32, #xy>, tensor<9x11xi32>) {
  ^bb0(%p: tensor<f32>, %pi: tensor<i32>, %q: tensor<f32>, %qi: tensor<i32>):
    %g = dtensor.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %m = dtensor.select %g, %p, %q : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %n = dtensor.select %g, %pi, %qi : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    dtensor.yield %m, %n : tensor<f32>, tensor<i32>
  }
  // The gradient of %0.
  %11 = dtensor.select_and_scatter %a, %dy init %zero select max scatter sum window [1, 3, 1] strides [1, 2, 1] : (tensor<2x19x3xf32, #h>, tensor<2x9x3xf32, #h>, tensor<f32>) -> tensor<2x19x3xf32, #h>
  // The same of other floats, whose windows overlap.
  %a64 = dtensor.convert %a : (tensor<2x19x3xf32, #h>) -> tensor<2x19x3xf64, #h>
  %d64 = dtensor.convert %dy : (tensor<2x9x3xf32, #h>) -> tensor<2x9x3xf64, #h>
  %14 = dtensor.select_and_scatter %a64, %d64 init %one64 select max scatter sum window [1, 3, 1] strides [1, 2, 1] : (tensor<2x19x3xf64, #h>, tensor<2x9x3xf64, #h>, tensor<f64>) -> tensor<2x19x3xf64, #h>
  %a16 = dtensor.convert %a : (tensor<2x19x3xf32, #h>) -> tensor<2x19x3xbf16, #h>
  %d16 = dtensor.convert %dy : (tensor<2x9x3xf32, #h>) -> tensor<2x9x3xbf16, #h>
  %15 = dtensor.select_and_scatter %a16, %d16 init %zero16 select min scatter sum window [1, 3, 1] strides [1, 2, 1] : (tensor<2x19x3xbf16, #h>, tensor<2x9x3xbf16, #h>, tensor<bf16>) -> tensor<2x19x3xbf16, #h>
  %ah = dtensor.convert %a : (tensor<2x19x3xf32, #h>) -> tensor<2x19x3xf16, #h>
  %dh = dtensor.convert %dy : (tensor<2x9x3xf32, #h>) -> tensor<2x9x3xf16, #h>
  %16 = dtensor.select_and_scatter %ah, %dh init %zeroh select max scatter sum window [1, 3, 1] strides [1, 2, 1] : (tensor<2x19x3xf16, #h>, tensor<2x9x3xf16, #h>, tensor<f16>) -> tensor<2x19x3xf16, #h>
  // Windows along rows that none reaches beyond.
  %17 = dtensor.reduce_window max %c init %half window [1, 4] : (tensor<9x11xf32, #xy>, tensor<f32>) -> tensor<9x8xf32>
  // Windows that reach over several shards and overlap, from an init value.
  %12 = dtensor.select_and_scatter %v, %dv init %one64 select min scatter sum window [9] padding [4, 4] : (tensor<20xf64, #v>, tensor<20xf64, #v>, tensor<f64>) -> tensor<20xf64, #v>
  // By functions: the last of those at least as large as the first.
  %13 = dtensor.select_and_scatter %v, %dv init %one64 scatter prod window [3] padding [1, 1] : (tensor<20xf64, #v>, tensor<20xf64, #v>, tensor<f64>) -> tensor<20xf64> select {
  ^bb0(%p: tensor<f64>, %q: tensor<f64>):
    %g = dtensor.compare GT, %p, %q : (tensor<f64>, tensor<f64>) -> tensor<i1>
    dtensor.yield %g : tensor<i1>
  }
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10#0, %10#1, %11, %12, %13, %14, %15, %16, %17
      : tensor<2x9x3xf32, #h>, tensor<4x8x8xf32, #hc>, tensor<9x11xf32, #xy>, tensor<9x21xf32>, tensor<9x11xi32, #xy>,
        tensor<20xf64, #v>, tensor<20xf64, #v>, tensor<3xbf16, #v>, tensor<8xbf16>, tensor<20xi1, #v>,
        tensor<9x11xf32, #xy>, tensor<9x11xi32>, tensor<2x19x3xf32, #h>, tensor<20xf64, #v>, tensor<20xf64>,
        tensor<2x19x3xf64, #h>, tensor<2x19x3xbf16, #h>, tensor<2x19x3xf16, #h>,
        tensor<9x8xf32>
}
