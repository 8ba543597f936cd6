// RUN: mesh-opt --target=cuda %s | FileCheck %s

// The query is scaled before the product, so that it lies in the result of a
// kernel. The causal mask is a number that is not zero, as Flax writes it, and
// compares the distance of the key, as our layers do.
// CHECK: // attention batches 1 terms 8 columns 8 scale 1 causal hidden -1000000000 query {{[3-9]}}:0,1,3 key 1:0,2,3 value 2:0,2,4 scores {{[0-9]+}}:0,1,2 result {{[0-9]+}}:0,1,4{{$}}
func.func @f(%q: tensor<4x6x8xf32>, %k: tensor<4x9x8xf32>, %v: tensor<4x9x8xf32>) -> tensor<4x6x8xf32> {
  %f = dtensor.constant dense<0.25> : tensor<4x6x8xf32>
  %qs = dtensor.multiply %q, %f : tensor<4x6x8xf32>
  %s = dtensor.dot_general %qs, %k batching [0] x [0] contracting [2] x [2] : (tensor<4x6x8xf32>, tensor<4x9x8xf32>) -> tensor<4x6x9xf32>
  %i = dtensor.iota dim 1 : tensor<4x6x9xi32>
  %j = dtensor.iota dim 2 : tensor<4x6x9xi32>
  %t = dtensor.subtract %j, %i : tensor<4x6x9xi32>
  %o0 = dtensor.constant dense<0> : tensor<4x6x9xi32>
  %c = dtensor.compare LE, %t, %o0 : (tensor<4x6x9xi32>, tensor<4x6x9xi32>) -> tensor<4x6x9xi1>
  %n = dtensor.convert %c : (tensor<4x6x9xi1>) -> tensor<4x6x9xf32>
  %z = dtensor.constant dense<0.0> : tensor<4x6x9xf32>
  %seen = dtensor.compare NE, %n, %z : (tensor<4x6x9xf32>, tensor<4x6x9xf32>) -> tensor<4x6x9xi1>
  %h = dtensor.constant dense<-1.0e9> : tensor<4x6x9xf32>
  %m = dtensor.select %seen, %s, %h : (tensor<4x6x9xi1>, tensor<4x6x9xf32>, tensor<4x6x9xf32>) -> tensor<4x6x9xf32>
  %max = dtensor.reduce max %m dims [2] : (tensor<4x6x9xf32>) -> tensor<4x6xf32>
  %maxs = dtensor.broadcast_in_dim %max dims [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x9xf32>
  %d = dtensor.subtract %m, %maxs : tensor<4x6x9xf32>
  %e = dtensor.exp %d : tensor<4x6x9xf32>
  %sum = dtensor.reduce sum %e dims [2] : (tensor<4x6x9xf32>) -> tensor<4x6xf32>
  %sums = dtensor.broadcast_in_dim %sum dims [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x9xf32>
  %p = dtensor.divide %e, %sums : tensor<4x6x9xf32>
  %o = dtensor.dot_general %p, %v batching [0] x [0] contracting [2] x [1] : (tensor<4x6x9xf32>, tensor<4x9x8xf32>) -> tensor<4x6x8xf32>
  return %o : tensor<4x6x8xf32>
}
