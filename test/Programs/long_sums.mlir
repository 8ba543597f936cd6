// Sums of many terms in every op that sums, within --verify's bound, which is
// that of pairwise summation: reductions over leading, inner and several dims,
// and of many rows of few terms, thin products and a vector by a matrix, a running
// sum, a scatter to a few places, and the weight gradient of a convolution.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2>
#one = #dtensor.layout<#mesh, []>
#row = #dtensor.layout<#mesh, [*]>
#cut = #dtensor.layout<#mesh, [x]>
#rows = #dtensor.layout<#mesh, [x, *]>
#flat = #dtensor.layout<#mesh, [*, *]>
#images = #dtensor.layout<#mesh, [x, *, *, *]>
#weights = #dtensor.layout<#mesh, [*, *, *, *]>

func.func @main(%x: tensor<32768x8xf32, #flat>, %y: tensor<32768x8xf32, #rows>, %v: tensor<1x32768xf32, #flat>,
                %line: tensor<60000xf32, #cut>, %ids: tensor<32768x1xi32, #flat>, %bins: tensor<8x8xf32, #flat>,
                %in: tensor<64x16x16x3xf32, #images>, %out: tensor<64x16x16x4xf32, #images>)
    -> (tensor<8xf32, #row>, tensor<8xf32, #row>, tensor<f32, #one>, tensor<1x8xf32, #flat>, tensor<8x8xf32, #flat>,
        tensor<60000xf32, #cut>, tensor<8x8xf32, #flat>, tensor<3x3x3x4xf32, #weights>, tensor<16384xf32, #row>) {
  %0 = dtensor.reduce sum %x dims [0] : (tensor<32768x8xf32, #flat>) -> tensor<8xf32, #row>
  %1 = dtensor.reduce sum %y dims [0] : (tensor<32768x8xf32, #rows>) -> tensor<8xf32, #row>
  %2 = dtensor.reduce sum %y dims [0, 1] : (tensor<32768x8xf32, #rows>) -> tensor<f32, #one>
  %3 = dtensor.dot_general %v, %x contracting [1] x [0] : (tensor<1x32768xf32, #flat>, tensor<32768x8xf32, #flat>) -> tensor<1x8xf32, #flat>
  %4 = dtensor.dot_general %y, %x contracting [0] x [0] : (tensor<32768x8xf32, #rows>, tensor<32768x8xf32, #flat>) -> tensor<8x8xf32, #flat>
  %5 = dtensor.cumulative sum %line dim 0 : tensor<60000xf32, #cut>
  %6 = dtensor.scatter %bins at %ids with %y {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<sum>,
      scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
      : (tensor<8x8xf32, #flat>, tensor<32768x1xi32, #flat>, tensor<32768x8xf32, #rows>) -> tensor<8x8xf32, #flat>
  %7 = dtensor.convolution %in, %out dims [f, 0, 1, b] x [i, 0, 1, o] -> [b, 0, 1, f] padding [1, 1, 1, 1]
      : (tensor<64x16x16x3xf32, #images>, tensor<64x16x16x4xf32, #images>) -> tensor<3x3x3x4xf32, #weights>
  %wide = dtensor.reshape %x : (tensor<32768x8xf32, #flat>) -> tensor<16384x16xf32, #flat>
  %8 = dtensor.reduce sum %wide dims [1] : (tensor<16384x16xf32, #flat>) -> tensor<16384xf32, #row>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<8xf32, #row>, tensor<8xf32, #row>, tensor<f32, #one>, tensor<1x8xf32, #flat>, tensor<8x8xf32, #flat>,
      tensor<60000xf32, #cut>, tensor<8x8xf32, #flat>, tensor<3x3x3x4xf32, #weights>, tensor<16384xf32, #row>
}
