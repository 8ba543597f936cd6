// Products of integers of 8 bits into 32: of all signs, odd extents, sums of
// more than 24 bits, transposed operands and results, long contractions,
// batches, contractions over two dims, terms that are cut; and a small one.
// RUN: %verify
// RUN: mesh-run %s --verify --deterministic --private-memories
#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>
#columns = #dtensor.layout<#mesh, [*, x]>
#batch = #dtensor.layout<#mesh, [x, *, *]>

func.func @main(%a: tensor<66x70xi8, #rows>, %b: tensor<70x65xi8>,
                %u: tensor<67x70xui8>, %w: tensor<70x65xui8>,
                %long: tensor<9x5003xi8, #columns>, %other: tensor<5003x12xi8>,
                %h: tensor<8x34x26xi8, #batch>, %k: tensor<8x25x26xi8>,
                %p: tensor<6x33x7xi8>, %q: tensor<7x41x6xi8>,
                %s: tensor<3x5xi8>, %t: tensor<5x4xi8>)
    -> (tensor<66x65xi32, #rows>, tensor<67x65xi32>, tensor<65x66xi32>, tensor<67x65xi32>,
        tensor<9x12xi32>, tensor<8x34x25xi32, #batch>, tensor<33x41xi32>, tensor<3x4xi32>,
        tensor<66x66xi32>) {
  %0 = dtensor.dot_general %a, %b contracting [1] x [0]
      : (tensor<66x70xi8, #rows>, tensor<70x65xi8>) -> tensor<66x65xi32, #rows>
  %1 = dtensor.dot_general %u, %b contracting [1] x [0]
      : (tensor<67x70xui8>, tensor<70x65xi8>) -> tensor<67x65xi32>
  %2 = dtensor.dot_general %w, %a contracting [0] x [1]
      : (tensor<70x65xui8>, tensor<66x70xi8, #rows>) -> tensor<65x66xi32>
  %3 = dtensor.dot_general %u, %w contracting [1] x [0]
      : (tensor<67x70xui8>, tensor<70x65xui8>) -> tensor<67x65xi32>
  %4 = dtensor.dot_general %long, %other contracting [1] x [0]
      : (tensor<9x5003xi8, #columns>, tensor<5003x12xi8>) -> tensor<9x12xi32>
  %5 = dtensor.dot_general %h, %k batching [0] x [0] contracting [2] x [2]
      : (tensor<8x34x26xi8, #batch>, tensor<8x25x26xi8>) -> tensor<8x34x25xi32, #batch>
  %6 = dtensor.dot_general %p, %q contracting [0, 2] x [2, 0]
      : (tensor<6x33x7xi8>, tensor<7x41x6xi8>) -> tensor<33x41xi32>
  %7 = dtensor.dot_general %s, %t contracting [1] x [0]
      : (tensor<3x5xi8>, tensor<5x4xi8>) -> tensor<3x4xi32>
  %8 = dtensor.dot_general %a, %a contracting [1] x [1]
      : (tensor<66x70xi8, #rows>, tensor<66x70xi8, #rows>) -> tensor<66x66xi32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<66x65xi32, #rows>, tensor<67x65xi32>,
      tensor<65x66xi32>, tensor<67x65xi32>, tensor<9x12xi32>, tensor<8x34x25xi32, #batch>,
      tensor<33x41xi32>, tensor<3x4xi32>, tensor<66x66xi32>
}
