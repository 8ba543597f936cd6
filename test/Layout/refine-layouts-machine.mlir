// A machine that does not exist is an error that lists those that do.
// RUN: not mesh-opt %s --dtensor-refine-layouts=machine=torus 2>&1 | FileCheck %s
// CHECK: error: 'torus' is no machine model: it is none of shared-memory, ring, ring-latency, no tpu:TOPOLOGY, and as a JSON file: cannot read 'torus'

#rows = #dtensor.layout<#dtensor.mesh<x = 2>, [x]>
func.func @f(%x: tensor<4xf32, #rows>) -> tensor<4xf32, #rows> {
  return %x : tensor<4xf32, #rows>
}
