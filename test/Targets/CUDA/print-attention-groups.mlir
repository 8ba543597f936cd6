// RUN: mesh-opt --target=cuda %s | FileCheck %s

// Two groups of three heads share keys and values, as in JAX and our layers:
// loop 2 counts the heads of a group, which keys and values do not have.
// CHECK: // attention batches 3 terms 8 columns 8 scale 1 hidden 0 query 0:0,3,1,2,5 key 1:0,4,1,5 value 2:0,4,1,6 scores {{[0-9]+}}:0,1,3,2,4 result {{[0-9]+}}:0,1,3,2,6{{$}}
func.func @f(%q: tensor<2x6x2x3x8xf32>, %k: tensor<2x9x2x8xf32>, %v: tensor<2x9x2x8xf32>) -> tensor<2x2x6x3x8xf32> {
  %s = dtensor.dot_general %q, %k batching [0, 2] x [0, 2] contracting [4] x [3] : (tensor<2x6x2x3x8xf32>, tensor<2x9x2x8xf32>) -> tensor<2x2x6x3x9xf32>
  %max = dtensor.reduce max %s dims [4] : (tensor<2x2x6x3x9xf32>) -> tensor<2x2x6x3xf32>
  %maxs = dtensor.broadcast_in_dim %max dims [0, 1, 2, 3] : (tensor<2x2x6x3xf32>) -> tensor<2x2x6x3x9xf32>
  %d = dtensor.subtract %s, %maxs : tensor<2x2x6x3x9xf32>
  %e = dtensor.exp %d : tensor<2x2x6x3x9xf32>
  %sum = dtensor.reduce sum %e dims [4] : (tensor<2x2x6x3x9xf32>) -> tensor<2x2x6x3xf32>
  %sums = dtensor.broadcast_in_dim %sum dims [0, 1, 2, 3] : (tensor<2x2x6x3xf32>) -> tensor<2x2x6x3x9xf32>
  %p = dtensor.divide %e, %sums : tensor<2x2x6x3x9xf32>
  %o = dtensor.dot_general %p, %v batching [0, 1] x [0, 2] contracting [4] x [1] : (tensor<2x2x6x3x9xf32>, tensor<2x9x2x8xf32>) -> tensor<2x2x6x3x8xf32>
  return %o : tensor<2x2x6x3x8xf32>
}
