// RUN: mesh-opt --target=cuda %s | FileCheck %s
// RUN: mesh-opt --target=cuda %S/../../Programs/attention_step.mlir | FileCheck %s --check-prefix=STEP

// Queries, keys and values are parts of one array, and the gradients' weights
// are what an attention's are, however they are written.
// STEP: // attention batches 2 terms 4 columns 4 scale 0.5 hidden -100 query [[QKV:[0-9]+]]:0,2,1*4+4 key [[QKV]]:0,3,1*4+4@8 value [[QKV]]:0,3,1*4+5@16 scores {{[0-9]+}}:0,1,2,3 result {{[0-9]+}}:0,2,1*4+5 mask kernel_{{[0-9a-f]+}} loops 0,3 operands 1:0,3 gradient {{[0-9]+}}:0,2,1*4+5 query_gradient {{[0-9]+}}:0,1,2,4 key_gradient {{[0-9]+}}:0,1,3,4 value_gradient {{[0-9]+}}:0,1,5,3{{$}}

// Causal attention with a scale, of matrices whose heads are their third dim,
// is recognised across its products and kernels. Where somebody else needs the
// weights, the runtime sees that; a softmax along the queries is no attention.
// CHECK: // attention batches 2 terms 8 columns 8 scale 0.25 causal hidden -1000000000 query 0:0,2,1,4 key 1:0,3,1,4 value 2:0,3,1,5 scores {{[0-9]+}}:0,1,2,3 result {{[0-9]+}}:0,1,2,5{{$}}
// CHECK-NOT: // attention
func.func @f(%q: tensor<2x6x4x8xbf16>, %k: tensor<2x9x4x8xbf16>, %v: tensor<2x9x4x8xbf16>) -> (tensor<2x4x6x8xbf16>, tensor<2x4x6x8xbf16>) {
  %s = dtensor.dot_general %q, %k batching [0, 2] x [0, 2] contracting [3] x [3] : (tensor<2x6x4x8xbf16>, tensor<2x9x4x8xbf16>) -> tensor<2x4x6x9xbf16>
  %x = dtensor.convert %s : (tensor<2x4x6x9xbf16>) -> tensor<2x4x6x9xf32>
  %f = dtensor.constant dense<0.25> : tensor<2x4x6x9xf32>
  %sx = dtensor.multiply %x, %f : tensor<2x4x6x9xf32>
  %i = dtensor.iota dim 2 : tensor<2x4x6x9xi32>
  %j = dtensor.iota dim 3 : tensor<2x4x6x9xi32>
  %c = dtensor.compare GE, %i, %j : (tensor<2x4x6x9xi32>, tensor<2x4x6x9xi32>) -> tensor<2x4x6x9xi1>
  %h = dtensor.constant dense<-1.0e9> : tensor<2x4x6x9xf32>
  %m = dtensor.select %c, %sx, %h : (tensor<2x4x6x9xi1>, tensor<2x4x6x9xf32>, tensor<2x4x6x9xf32>) -> tensor<2x4x6x9xf32>
  %max = dtensor.reduce max %m dims [3] : (tensor<2x4x6x9xf32>) -> tensor<2x4x6xf32>
  %maxs = dtensor.broadcast_in_dim %max dims [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x9xf32>
  %d = dtensor.subtract %m, %maxs : tensor<2x4x6x9xf32>
  %e = dtensor.exp %d : tensor<2x4x6x9xf32>
  %sum = dtensor.reduce sum %e dims [3] : (tensor<2x4x6x9xf32>) -> tensor<2x4x6xf32>
  %sums = dtensor.broadcast_in_dim %sum dims [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x9xf32>
  %p = dtensor.divide %e, %sums : tensor<2x4x6x9xf32>
  %w = dtensor.convert %p : (tensor<2x4x6x9xf32>) -> tensor<2x4x6x9xbf16>
  %o = dtensor.dot_general %w, %v batching [0, 1] x [0, 2] contracting [3] x [1] : (tensor<2x4x6x9xbf16>, tensor<2x9x4x8xbf16>) -> tensor<2x4x6x8xbf16>
  %s2 = dtensor.dot_general %q, %k batching [0, 2] x [0, 2] contracting [3] x [3] : (tensor<2x6x4x8xbf16>, tensor<2x9x4x8xbf16>) -> tensor<2x4x6x9xbf16>
  %max2 = dtensor.reduce max %s2 dims [2] : (tensor<2x4x6x9xbf16>) -> tensor<2x4x9xbf16>
  %maxs2 = dtensor.broadcast_in_dim %max2 dims [0, 1, 3] : (tensor<2x4x9xbf16>) -> tensor<2x4x6x9xbf16>
  %d2 = dtensor.subtract %s2, %maxs2 : tensor<2x4x6x9xbf16>
  %e2 = dtensor.exp %d2 : tensor<2x4x6x9xbf16>
  %sum2 = dtensor.reduce sum %e2 dims [2] : (tensor<2x4x6x9xbf16>) -> tensor<2x4x9xbf16>
  %sums2 = dtensor.broadcast_in_dim %sum2 dims [0, 1, 3] : (tensor<2x4x9xbf16>) -> tensor<2x4x6x9xbf16>
  %p2 = dtensor.divide %e2, %sums2 : tensor<2x4x6x9xbf16>
  %o2 = dtensor.dot_general %p2, %v batching [0, 1] x [0, 2] contracting [3] x [1] : (tensor<2x4x6x9xbf16>, tensor<2x9x4x8xbf16>) -> tensor<2x4x6x8xbf16>
  return %o, %o2 : tensor<2x4x6x8xbf16>, tensor<2x4x6x8xbf16>
}
