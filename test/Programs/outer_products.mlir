// Products that add nothing up: of vectors, of batches whose dims change their
// order, and of a sparse matrix's elements with rows of a dense one.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x, *]>
#row = #dtensor.layout<#mesh, [x]>

func.func @main(%v: tensor<9xf32, #row>, %w: tensor<7xf32>, %h: tensor<5x3x4xbf16>, %k: tensor<2x4x3xbf16>,
                %z: tensor<6x5xcomplex<f32>>, %d: tensor<20xf32>, %x: tensor<8x3xf32, #rows>)
    -> (tensor<9x7xf32>, tensor<4x3x5x2xbf16>, tensor<6x5x5xcomplex<f32>>, tensor<8x3xf32>) {
  %0 = dtensor.dot_general %v, %w : (tensor<9xf32, #row>, tensor<7xf32>) -> tensor<9x7xf32>
  %1 = dtensor.dot_general %h, %k batching [2, 1] x [1, 2] : (tensor<5x3x4xbf16>, tensor<2x4x3xbf16>) -> tensor<4x3x5x2xbf16>
  %2 = dtensor.dot_general %z, %z batching [0] x [0] : (tensor<6x5xcomplex<f32>>, tensor<6x5xcomplex<f32>>) -> tensor<6x5x5xcomplex<f32>>

  // Element i is in row 3 i mod 8 and column 5 i mod 8.
  %i = dtensor.iota dim 0 : tensor<20x1xi32>
  %c3 = dtensor.constant dense<3> : tensor<20x1xi32>
  %c5 = dtensor.constant dense<5> : tensor<20x1xi32>
  %c8 = dtensor.constant dense<8> : tensor<20x1xi32>
  %i3 = dtensor.multiply %i, %c3 : tensor<20x1xi32>
  %i5 = dtensor.multiply %i, %c5 : tensor<20x1xi32>
  %r = dtensor.remainder %i3, %c8 : tensor<20x1xi32>
  %c = dtensor.remainder %i5, %c8 : tensor<20x1xi32>
  %g = dtensor.gather %x, %c {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>,
      start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 3>}
      : (tensor<8x3xf32, #rows>, tensor<20x1xi32>) -> tensor<20x3xf32>
  %p = dtensor.dot_general %d, %g batching [0] x [0] : (tensor<20xf32>, tensor<20x3xf32>) -> tensor<20x3xf32>
  %zero = dtensor.constant dense<0.0> : tensor<8x3xf32>
  %s = dtensor.scatter %zero at %r with %p {index_vector_dim = 1 : i64,
      inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<sum>,
      scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
      : (tensor<8x3xf32>, tensor<20x1xi32>, tensor<20x3xf32>) -> tensor<8x3xf32>
  return %0, %1, %2, %s : tensor<9x7xf32>, tensor<4x3x5x2xbf16>, tensor<6x5x5xcomplex<f32>>, tensor<8x3xf32>
}
