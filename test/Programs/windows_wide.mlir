// Windows of many elements, which slide: every kind and type, along one dim and
// several, with padding and strides; running reductions by functions from both
// ends; init values that count for padding, which are reduced one by one.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2, y = 2>
#v = #dtensor.layout<#mesh, [{x, y}]>
#m = #dtensor.layout<#mesh, [x, y]>
#t = #dtensor.layout<#mesh, [x, *, y]>
#q = #dtensor.layout<#mesh, [*, x, *, y]>

func.func @main(%a0: tensor<500xf32, #v>,
                %a1: tensor<3x700xf32>,
                %a2: tensor<500xf32, #v>,
                %a3: tensor<40x21xf32, #m>,
                %a4: tensor<2x40x30xf64, #t>,
                %a5: tensor<90xf64, #v>,
                %a6: tensor<30x70xbf16, #m>,
                %a7: tensor<200xf16>,
                %a8: tensor<300xi32, #v>,
                %a9: tensor<300xi32, #v>,
                %a10: tensor<17x33xi8, #m>,
                %a11: tensor<100xi64, #v>,
                %a12: tensor<100xi32>,
                %a13: tensor<100xi1, #v>,
                %a14: tensor<64x3xui8>,
                %a15: tensor<90xcomplex<f32>>,
                %a16: tensor<60xf32>,
                %a17: tensor<150x6xf32>,
                %a18: tensor<5x90xf32, #m>,
                %a19: tensor<120xf64, #v>,
                %a20: tensor<100xi32>,
                %a21: tensor<60xf32>)
    -> (tensor<500xf32>,
        tensor<3x700xf32>,
        tensor<167xf32>,
        tensor<40x21xf32>,
        tensor<2x40x15xf64>,
        tensor<90xf64>,
        tensor<15x70xbf16>,
        tensor<4xf16>,
        tensor<326xi32>,
        tensor<326xi32>,
        tensor<17x33xi8>,
        tensor<100xi64>,
        tensor<61xi32>,
        tensor<100xi1>,
        tensor<64x3xui8>,
        tensor<90xcomplex<f32>>,
        tensor<60xf32>,
        tensor<150x6xf32>,
        tensor<5x90xf32>,
        tensor<60xf64>,
        tensor<60xi32>,
        tensor<60xf32>) {
  %z0 = dtensor.constant dense<0.0> : tensor<f32>
  %0 = dtensor.reduce_window sum %a0 init %z0 window [64] padding [31, 32] : (tensor<500xf32, #v>, tensor<f32>) -> tensor<500xf32>
  %z2 = dtensor.constant dense<0.0> : tensor<f32>
  %1 = dtensor.reduce_window sum %a1 init %z2 window [1, 300] padding [0, 0, 299, 0] : (tensor<3x700xf32>, tensor<f32>) -> tensor<3x700xf32>
  %z4 = dtensor.constant dense<0xFF800000> : tensor<f32>
  %2 = dtensor.reduce_window max %a2 init %z4 window [101] strides [3] padding [50, 50] : (tensor<500xf32, #v>, tensor<f32>) -> tensor<167xf32>
  %z6 = dtensor.constant dense<0.5> : tensor<f32>
  %3 = dtensor.reduce_window max %a3 init %z6 window [33, 1] padding [0, 32, 0, 0] : (tensor<40x21xf32, #m>, tensor<f32>) -> tensor<40x21xf32>
  %z8 = dtensor.constant dense<0.0> : tensor<f64>
  %4 = dtensor.reduce_window sum %a4 init %z8 window [1, 15, 15] strides [1, 1, 2] padding [0, 0, 7, 7, 7, 7] : (tensor<2x40x30xf64, #t>, tensor<f64>) -> tensor<2x40x15xf64>
  %z10 = dtensor.constant dense<0x7FF0000000000000> : tensor<f64>
  %5 = dtensor.reduce_window min %a5 init %z10 window [90] padding [89, 0] : (tensor<90xf64, #v>, tensor<f64>) -> tensor<90xf64>
  %z12 = dtensor.constant dense<0.0> : tensor<bf16>
  %6 = dtensor.reduce_window sum %a6 init %z12 window [7, 9] strides [2, 1] padding [3, 3, 8, 0] : (tensor<30x70xbf16, #m>, tensor<bf16>) -> tensor<15x70xbf16>
  %z14 = dtensor.constant dense<0xFC00> : tensor<f16>
  %7 = dtensor.reduce_window max %a7 init %z14 window [40] strides [45] : (tensor<200xf16>, tensor<f16>) -> tensor<4xf16>
  %z16 = dtensor.constant dense<0> : tensor<i32>
  %8 = dtensor.reduce_window sum %a8 init %z16 window [50] padding [70, 5] : (tensor<300xi32, #v>, tensor<i32>) -> tensor<326xi32>
  %z18 = dtensor.constant dense<3> : tensor<i32>
  %9 = dtensor.reduce_window sum %a9 init %z18 window [50] padding [70, 5] : (tensor<300xi32, #v>, tensor<i32>) -> tensor<326xi32>
  %z20 = dtensor.constant dense<-128> : tensor<i8>
  %10 = dtensor.reduce_window max %a10 init %z20 window [6, 8] padding [2, 3, 0, 7] : (tensor<17x33xi8, #m>, tensor<i8>) -> tensor<17x33xi8>
  %z22 = dtensor.constant dense<1> : tensor<i64>
  %11 = dtensor.reduce_window prod %a11 init %z22 window [33] padding [16, 16] : (tensor<100xi64, #v>, tensor<i64>) -> tensor<100xi64>
  %z24 = dtensor.constant dense<-1> : tensor<i32>
  %12 = dtensor.reduce_window and %a12 init %z24 window [40] : (tensor<100xi32>, tensor<i32>) -> tensor<61xi32>
  %z26 = dtensor.constant dense<false> : tensor<i1>
  %13 = dtensor.reduce_window or %a13 init %z26 window [32] padding [31, 0] : (tensor<100xi1, #v>, tensor<i1>) -> tensor<100xi1>
  %z28 = dtensor.constant dense<255> : tensor<ui8>
  %14 = dtensor.reduce_window min %a14 init %z28 window [40, 1] padding [20, 19, 0, 0] : (tensor<64x3xui8>, tensor<ui8>) -> tensor<64x3xui8>
  %z30 = dtensor.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
  %15 = dtensor.reduce_window sum %a15 init %z30 window [35] padding [17, 17] : (tensor<90xcomplex<f32>>, tensor<complex<f32>>) -> tensor<90xcomplex<f32>>
  %z32 = dtensor.constant dense<0.5> : tensor<f32>
  %16 = dtensor.reduce_window sum %a16 init %z32 window [40] padding [39, 0] : (tensor<60xf32>, tensor<f32>) -> tensor<60xf32>
  %z34 = dtensor.constant dense<-1.0e30> : tensor<f32>
  %17 = dtensor.reduce_window %a17 init %z34 window [150, 1] padding [149, 0, 0, 0] : (tensor<150x6xf32>, tensor<f32>) -> tensor<150x6xf32> {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %m = dtensor.maximum %p, %q : tensor<f32>
    %d = dtensor.subtract %p, %q : tensor<f32>
    %b = dtensor.abs %d : tensor<f32>
    %n = dtensor.negate %b : tensor<f32>
    %e = dtensor.exp %n : tensor<f32>
    %l = dtensor.log1p %e : tensor<f32>
    %s = dtensor.add %m, %l : tensor<f32>
    dtensor.yield %s : tensor<f32>
  }
  %z36 = dtensor.constant dense<-1.0e30> : tensor<f32>
  %18 = dtensor.reduce_window %a18 init %z36 window [1, 90] padding [0, 0, 0, 89] : (tensor<5x90xf32, #m>, tensor<f32>) -> tensor<5x90xf32> {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %m = dtensor.maximum %p, %q : tensor<f32>
    %d = dtensor.subtract %p, %q : tensor<f32>
    %b = dtensor.abs %d : tensor<f32>
    %n = dtensor.negate %b : tensor<f32>
    %e = dtensor.exp %n : tensor<f32>
    %l = dtensor.log1p %e : tensor<f32>
    %s = dtensor.add %m, %l : tensor<f32>
    dtensor.yield %s : tensor<f32>
  }
  %z38 = dtensor.constant dense<-1.0e300> : tensor<f64>
  %19 = dtensor.reduce_window %a19 init %z38 window [37] strides [2] padding [20, 16] : (tensor<120xf64, #v>, tensor<f64>) -> tensor<60xf64> {
  ^bb0(%p: tensor<f64>, %q: tensor<f64>):
    %m = dtensor.maximum %p, %q : tensor<f64>
    %d = dtensor.subtract %p, %q : tensor<f64>
    %b = dtensor.abs %d : tensor<f64>
    %n = dtensor.negate %b : tensor<f64>
    %e = dtensor.exp %n : tensor<f64>
    %l = dtensor.log1p %e : tensor<f64>
    %s = dtensor.add %m, %l : tensor<f64>
    dtensor.yield %s : tensor<f64>
  }
  %z40 = dtensor.constant dense<2> : tensor<i32>
  %20 = dtensor.reduce_window %a20 init %z40 window [41] : (tensor<100xi32>, tensor<i32>) -> tensor<60xi32> {
  ^bb0(%p: tensor<i32>, %q: tensor<i32>):
    %g = dtensor.compare GE, %p, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %s = dtensor.select %g, %p, %q : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    dtensor.yield %s : tensor<i32>
  }
  %z42 = dtensor.constant dense<1.0> : tensor<f32>
  %21 = dtensor.reduce_window %a21 init %z42 window [40] padding [39, 0] : (tensor<60xf32>, tensor<f32>) -> tensor<60xf32> {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %h = dtensor.constant dense<0.5> : tensor<f32>
    %g = dtensor.multiply %p, %h : tensor<f32>
    %s = dtensor.add %g, %q : tensor<f32>
    dtensor.yield %s : tensor<f32>
  }
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21
      : tensor<500xf32>,
        tensor<3x700xf32>,
        tensor<167xf32>,
        tensor<40x21xf32>,
        tensor<2x40x15xf64>,
        tensor<90xf64>,
        tensor<15x70xbf16>,
        tensor<4xf16>,
        tensor<326xi32>,
        tensor<326xi32>,
        tensor<17x33xi8>,
        tensor<100xi64>,
        tensor<61xi32>,
        tensor<100xi1>,
        tensor<64x3xui8>,
        tensor<90xcomplex<f32>>,
        tensor<60xf32>,
        tensor<150x6xf32>,
        tensor<5x90xf32>,
        tensor<60xf64>,
        tensor<60xi32>,
        tensor<60xf32>
}
