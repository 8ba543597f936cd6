// Products of bf16 and f16 whose result is f32: a vector by a matrix, small and
// large matrices, long contractions, a transposed result, batches, operands
// that are cut along their terms; and products of integers of 8 bits that are
// summed in 32. Also with one order of terms for all meshes.
// RUN: %verify
// RUN: mesh-run %s --verify --deterministic --private-memories
#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>
#columns = #dtensor.layout<#mesh, [*, x]>
#batch = #dtensor.layout<#mesh, [x, *, *]>

func.func @main(%a: tensor<66x70xbf16, #rows>, %b: tensor<70x65xbf16>,
                %v: tensor<1x70xf16>, %m: tensor<70x130xf16>,
                %long: tensor<9x1030xbf16, #columns>, %other: tensor<1030x12xbf16>,
                %h: tensor<18x4x6xbf16, #batch>, %k: tensor<18x5x6xbf16>,
                %f: tensor<33x34xf16>, %g: tensor<35x34xf16, #rows>,
                %i: tensor<33x40xi8, #rows>, %j: tensor<40x34xi8>)
    -> (tensor<66x65xf32, #rows>, tensor<1x130xf32>, tensor<9x12xf32>,
        tensor<18x4x5xf32, #batch>, tensor<35x33xf32>, tensor<33x34xi8, #rows>) {
  %0 = dtensor.dot_general %a, %b contracting [1] x [0]
      : (tensor<66x70xbf16, #rows>, tensor<70x65xbf16>) -> tensor<66x65xf32, #rows>
  %1 = dtensor.dot_general %v, %m contracting [1] x [0]
      : (tensor<1x70xf16>, tensor<70x130xf16>) -> tensor<1x130xf32>
  %2 = dtensor.dot_general %long, %other contracting [1] x [0]
      : (tensor<9x1030xbf16, #columns>, tensor<1030x12xbf16>) -> tensor<9x12xf32>
  %3 = dtensor.dot_general %h, %k batching [0] x [0] contracting [2] x [2]
      : (tensor<18x4x6xbf16, #batch>, tensor<18x5x6xbf16>) -> tensor<18x4x5xf32, #batch>
  %4 = dtensor.dot_general %f, %g contracting [1] x [1]
      : (tensor<33x34xf16>, tensor<35x34xf16, #rows>) -> tensor<33x35xf32>
  %5 = dtensor.transpose %4 dims [1, 0] : (tensor<33x35xf32>) -> tensor<35x33xf32>
  %6 = dtensor.dot_general %i, %j contracting [1] x [0]
      : (tensor<33x40xi8, #rows>, tensor<40x34xi8>) -> tensor<33x34xi8, #rows>
  return %0, %1, %2, %3, %5, %6 : tensor<66x65xf32, #rows>, tensor<1x130xf32>, tensor<9x12xf32>,
      tensor<18x4x5xf32, #batch>, tensor<35x33xf32>, tensor<33x34xi8, #rows>
}
