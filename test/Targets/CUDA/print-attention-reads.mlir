// RUN: mesh-opt --target=cuda %s | FileCheck %s

// Masks compare padded arrays, whose kernels read the elements that there are.
// Such reads are equal where they are of one array: the second weights have a
// sum over keys that a different array hides, so that they are no attention's.
// CHECK: // attention batches 2 terms 8 columns 8 scale 1 hidden -1000000000 {{.*}} mask kernel_{{[0-9a-f]+}} loops 0,2,3 operands {{[0-9]+}}:0,3 5:0,2{{$}}
// CHECK-NOT: // attention
func.func @f(%q: tensor<2x6x4x8xf32>, %k: tensor<2x9x4x8xf32>, %v: tensor<2x9x4x8xf32>, %a: tensor<2x7xf32>, %b: tensor<2x7xf32>, %r: tensor<2x6xf32>) -> (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<2x9xf32>, tensor<2x9xf32>) {
  %s = dtensor.dot_general %q, %k batching [0, 2] x [0, 2] contracting [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x9x4x8xf32>) -> tensor<2x4x6x9xf32>
  %zero = dtensor.constant dense<0.0> : tensor<f32>
  %h = dtensor.constant dense<-1.0e9> : tensor<2x4x6x9xf32>
  %rows = dtensor.broadcast_in_dim %r dims [0, 2] : (tensor<2x6xf32>) -> tensor<2x4x6x9xf32>
  %pa = dtensor.pad %a, %zero low [0, 0] high [0, 2] interior [0, 0] : (tensor<2x7xf32>, tensor<f32>) -> tensor<2x9xf32>
  %ta = dtensor.exp %pa : tensor<2x9xf32>
  %na = dtensor.broadcast_in_dim %ta dims [0, 3] : (tensor<2x9xf32>) -> tensor<2x4x6x9xf32>
  %ca = dtensor.compare GT, %na, %rows : (tensor<2x4x6x9xf32>, tensor<2x4x6x9xf32>) -> tensor<2x4x6x9xi1>
  %ma = dtensor.select %ca, %s, %h : (tensor<2x4x6x9xi1>, tensor<2x4x6x9xf32>, tensor<2x4x6x9xf32>) -> tensor<2x4x6x9xf32>
  %maxa = dtensor.reduce max %ma dims [3] : (tensor<2x4x6x9xf32>) -> tensor<2x4x6xf32>
  %maxsa = dtensor.broadcast_in_dim %maxa dims [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x9xf32>
  %da = dtensor.subtract %ma, %maxsa : tensor<2x4x6x9xf32>
  %ea = dtensor.exp %da : tensor<2x4x6x9xf32>
  %suma = dtensor.reduce sum %ea dims [3] : (tensor<2x4x6x9xf32>) -> tensor<2x4x6xf32>
  %sumsa = dtensor.broadcast_in_dim %suma dims [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x9xf32>
  %pb = dtensor.pad %b, %zero low [0, 0] high [0, 2] interior [0, 0] : (tensor<2x7xf32>, tensor<f32>) -> tensor<2x9xf32>
  %tb = dtensor.exp %pb : tensor<2x9xf32>
  %nb = dtensor.broadcast_in_dim %tb dims [0, 3] : (tensor<2x9xf32>) -> tensor<2x4x6x9xf32>
  %cb = dtensor.compare GT, %nb, %rows : (tensor<2x4x6x9xf32>, tensor<2x4x6x9xf32>) -> tensor<2x4x6x9xi1>
  %mb = dtensor.select %cb, %s, %h : (tensor<2x4x6x9xi1>, tensor<2x4x6x9xf32>, tensor<2x4x6x9xf32>) -> tensor<2x4x6x9xf32>
  %maxb = dtensor.reduce max %mb dims [3] : (tensor<2x4x6x9xf32>) -> tensor<2x4x6xf32>
  %maxsb = dtensor.broadcast_in_dim %maxb dims [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x9xf32>
  %db = dtensor.subtract %mb, %maxsb : tensor<2x4x6x9xf32>
  %eb = dtensor.exp %db : tensor<2x4x6x9xf32>
  %sumb = dtensor.reduce sum %eb dims [3] : (tensor<2x4x6x9xf32>) -> tensor<2x4x6xf32>
  %sumsb = dtensor.broadcast_in_dim %sumb dims [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x9xf32>
  %mixed = dtensor.subtract %ma, %maxsb : tensor<2x4x6x9xf32>
  %emixed = dtensor.exp %mixed : tensor<2x4x6x9xf32>
  %w = dtensor.divide %ea, %sumsa : tensor<2x4x6x9xf32>
  %ow = dtensor.dot_general %w, %v batching [0, 1] x [0, 2] contracting [3] x [1] : (tensor<2x4x6x9xf32>, tensor<2x9x4x8xf32>) -> tensor<2x4x6x8xf32>
  %x = dtensor.divide %emixed, %sumsb : tensor<2x4x6x9xf32>
  %ox = dtensor.dot_general %x, %v batching [0, 1] x [0, 2] contracting [3] x [1] : (tensor<2x4x6x9xf32>, tensor<2x9x4x8xf32>) -> tensor<2x4x6x8xf32>
  return %ow, %ox, %ta, %tb : tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<2x9xf32>, tensor<2x9xf32>
}
