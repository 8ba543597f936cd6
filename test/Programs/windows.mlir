// Slices, paddings, joins and shifts of sharded dims, with uneven and empty
// shards, over several hops and nested axes, against the reference; and what
// they send.
// RUN: %verify
// RUN: mesh-run %s --machine=ring --no-refine --stats=%t.ring
// RUN: FileCheck %s --check-prefix=RING < %t.ring
// RING: "kind": "permute"

#mesh = #dtensor.mesh<x = 3, y = 2>
#rows = #dtensor.layout<#mesh, [{x, y}, *]>
#swapped = #dtensor.layout<#mesh, [{y, x}, *]>
#both = #dtensor.layout<#mesh, [y, x]>

func.func @main(%a: tensor<13x5xf32, #rows>, %b: tensor<4x5xf32, #rows>, %c: tensor<13x5xf32, #both>)
    -> (tensor<13x5xf32>, tensor<5x5xf32>, tensor<17x5xf32>, tensor<13x5xf32>, tensor<30x7xf32>, tensor<6x5xf32>, tensor<13x5xf32>) {
  %zero = dtensor.constant dense<0.0> : tensor<f32>
  %seven = dtensor.constant dense<7.0> : tensor<f32>
  // A difference of neighbours.
  %0 = dtensor.pad %a, %zero low [1, 0] high [-1, 0] interior [0, 0] : (tensor<13x5xf32, #rows>, tensor<f32>) -> tensor<13x5xf32>
  %1 = dtensor.subtract %a, %0 : (tensor<13x5xf32, #rows>, tensor<13x5xf32>) -> tensor<13x5xf32>
  %2 = dtensor.slice %1 [2:12:2, 0:5] : (tensor<13x5xf32>) -> tensor<5x5xf32>
  %3 = dtensor.concatenate %b, %1 dim 0 : (tensor<4x5xf32, #rows>, tensor<13x5xf32>) -> tensor<17x5xf32>
  %4 = dtensor.reverse %c dims [0, 1] : (tensor<13x5xf32, #both>) -> tensor<13x5xf32>
  %5 = dtensor.pad %c, %seven low [3, 1] high [2, 1] interior [1, 0] : (tensor<13x5xf32, #both>, tensor<f32>) -> tensor<30x7xf32>
  %6 = dtensor.take %a dim 0 at [12, -1, 3, 4, 5, 0] : (tensor<13x5xf32, #rows>) -> tensor<6x5xf32>
  %7 = dtensor.constraint %4 : (tensor<13x5xf32>) -> tensor<13x5xf32, #swapped>
  %8 = dtensor.pad %7, %seven low [-6, 0] high [6, 0] interior [0, 0] : (tensor<13x5xf32, #swapped>, tensor<f32>) -> tensor<13x5xf32>
  return %1, %2, %3, %4, %5, %6, %8 : tensor<13x5xf32>, tensor<5x5xf32>, tensor<17x5xf32>, tensor<13x5xf32>, tensor<30x7xf32>, tensor<6x5xf32>, tensor<13x5xf32>
}
