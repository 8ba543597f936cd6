// Batches of small products and of vectors by matrices, of several types, their
// batch cut unevenly over devices or whole; a vector by a matrix of 16 bits; a
// convolution of one feature, whose signal is cut; remainders and functions of
// f64 and of complex numbers.
// RUN: %verify
#mesh = #dtensor.mesh<x = 4>
#batch = #dtensor.layout<#mesh, [x, *, *]>
#line = #dtensor.layout<#mesh, [*, *, x]>

func.func @main(%a: tensor<37x3x3xf64, #batch>, %b: tensor<37x3x5xf64>,
                %h: tensor<18x4x6xbf16, #batch>, %k: tensor<18x5x6xbf16, #batch>,
                %g: tensor<21x3x4xf16>, %f: tensor<21x4x3xf16, #batch>,
                %v: tensor<1x70xbf16>, %m: tensor<70x130xbf16>,
                %s: tensor<2x1x301xf64, #line>, %w: tensor<1x1x9xf64>,
                %p: tensor<65xf32>, %q: tensor<65xf32>, %c: tensor<67xcomplex<f64>>)
    -> (tensor<37x3x5xf64, #batch>, tensor<18x4x5xbf16>, tensor<21x3x3xf16, #batch>,
        tensor<1x130xbf16>, tensor<2x1x301xf64, #line>, tensor<65xf32>,
        tensor<67xcomplex<f64>>, tensor<67xcomplex<f64>>) {
  %0 = dtensor.matmul %a, %b : (tensor<37x3x3xf64, #batch>, tensor<37x3x5xf64>) -> tensor<37x3x5xf64, #batch>
  %1 = dtensor.dot_general %h, %k batching [0] x [0] contracting [2] x [2]
      : (tensor<18x4x6xbf16, #batch>, tensor<18x5x6xbf16, #batch>) -> tensor<18x4x5xbf16>
  %2 = dtensor.matmul %g, %f : (tensor<21x3x4xf16>, tensor<21x4x3xf16, #batch>) -> tensor<21x3x3xf16, #batch>
  %3 = dtensor.matmul %v, %m : (tensor<1x70xbf16>, tensor<70x130xbf16>) -> tensor<1x130xbf16>
  %4 = dtensor.convolution %s, %w dims [b, f, 0] x [o, i, 0] -> [b, f, 0] padding [4, 4]
      : (tensor<2x1x301xf64, #line>, tensor<1x1x9xf64>) -> tensor<2x1x301xf64, #line>
  %5 = dtensor.remainder %p, %q : tensor<65xf32>
  %6 = dtensor.tanh %c : tensor<67xcomplex<f64>>
  %7 = dtensor.log %c : tensor<67xcomplex<f64>>
  return %0, %1, %2, %3, %4, %5, %6, %7
      : tensor<37x3x5xf64, #batch>, tensor<18x4x5xbf16>, tensor<21x3x3xf16, #batch>,
        tensor<1x130xbf16>, tensor<2x1x301xf64, #line>, tensor<65xf32>,
        tensor<67xcomplex<f64>>, tensor<67xcomplex<f64>>
}
