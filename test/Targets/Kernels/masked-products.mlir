// Products know what a mask hides of their results.
// RUN: mesh-opt %s --spmd-form-kernels --split-input-file | FileCheck %s

#mesh = #dtensor.mesh<x = 2>
#whole = #dtensor.layout<#mesh, [*, *]>
#rows = #dtensor.layout<#mesh, [x, *]>
#q = #spmd.shard<[8, 4], #rows>
#k = #spmd.shard<[10, 4], #whole>
#s = #spmd.shard<[8, 10], #rows>

// A row sees columns up to its own place and two more; what is hidden is not
// read. As JAX writes it: a mask that is selected, scores that are scaled.
// CHECK-DAG: #[[SEEN:.*]] = affine_set<(d0, d1) : (d0 - d1 + 2 >= 0)>
// CHECK-LABEL: func.func @causal
// CHECK: dtensor.dot_general {{.*}}{spmd.read_where = #[[SEEN]]}
func.func @causal(%q: tensor<4x4xf32, #q>, %k: tensor<10x4xf32, #k>) -> tensor<4x10xf32, #s> {
  %s = dtensor.dot_general %q, %k contracting [1] x [1] : (tensor<4x4xf32, #q>, tensor<10x4xf32, #k>) -> tensor<4x10xf32, #s>
  %r = dtensor.iota dim 0 : tensor<4x10xi32, #s>
  %two = dtensor.constant dense<2> : tensor<8x10xi32> -> tensor<4x10xi32, #s>
  %shifted = dtensor.add %r, %two : tensor<4x10xi32, #s>
  %c = dtensor.iota dim 1 : tensor<4x10xi32, #s>
  %sees = dtensor.compare GE, %shifted, %c : (tensor<4x10xi32, #s>, tensor<4x10xi32, #s>) -> tensor<4x10xi1, #s>
  %yes = dtensor.constant dense<true> : tensor<8x10xi1> -> tensor<4x10xi1, #s>
  %no = dtensor.constant dense<false> : tensor<8x10xi1> -> tensor<4x10xi1, #s>
  %mask = dtensor.select %sees, %yes, %no : (tensor<4x10xi1, #s>, tensor<4x10xi1, #s>, tensor<4x10xi1, #s>) -> tensor<4x10xi1, #s>
  %scale = dtensor.constant dense<2.0> : tensor<8x10xf32> -> tensor<4x10xf32, #s>
  %scaled = dtensor.divide %s, %scale : tensor<4x10xf32, #s>
  %low = dtensor.constant dense<-1.0e30> : tensor<8x10xf32> -> tensor<4x10xf32, #s>
  %y = dtensor.select %mask, %scaled, %low : (tensor<4x10xi1, #s>, tensor<4x10xf32, #s>, tensor<4x10xf32, #s>) -> tensor<4x10xf32, #s>
  return %y : tensor<4x10xf32, #s>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#whole = #dtensor.layout<#mesh, [*, *]>
#rows = #dtensor.layout<#mesh, [x, *]>
#q = #spmd.shard<[8, 4], #rows>
#k = #spmd.shard<[10, 4], #whole>
#s = #spmd.shard<[8, 10], #rows>

// Beside a mask that is data, and where the condition chooses the other value.
// CHECK-DAG: #[[SEEN:.*]] = affine_set<(d0, d1) : (d0 - d1 >= 0)>
// CHECK-LABEL: func.func @beside_data
// CHECK: dtensor.dot_general {{.*}}{spmd.read_where = #[[SEEN]]}
func.func @beside_data(%q: tensor<4x4xf32, #q>, %k: tensor<10x4xf32, #k>, %m: tensor<4x10xi1, #s>) -> tensor<4x10xf32, #s> {
  %s = dtensor.dot_general %q, %k contracting [1] x [1] : (tensor<4x4xf32, #q>, tensor<10x4xf32, #k>) -> tensor<4x10xf32, #s>
  %r = dtensor.iota dim 0 : tensor<4x10xi32, #s>
  %c = dtensor.iota dim 1 : tensor<4x10xi32, #s>
  %later = dtensor.compare LT, %r, %c : (tensor<4x10xi32, #s>, tensor<4x10xi32, #s>) -> tensor<4x10xi1, #s>
  %hidden = dtensor.or %m, %later : tensor<4x10xi1, #s>
  %low = dtensor.constant dense<-1.0e30> : tensor<8x10xf32> -> tensor<4x10xf32, #s>
  %y = dtensor.select %hidden, %low, %s : (tensor<4x10xi1, #s>, tensor<4x10xf32, #s>, tensor<4x10xf32, #s>) -> tensor<4x10xf32, #s>
  return %y : tensor<4x10xf32, #s>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#whole = #dtensor.layout<#mesh, [*, *]>
#rows = #dtensor.layout<#mesh, [x, *]>
#q = #spmd.shard<[8, 4], #rows>
#k = #spmd.shard<[10, 4], #whole>
#s = #spmd.shard<[8, 10], #rows>

// What another kernel reads, too, is needed; so is what a mask of data, or an
// equality of indices, may show.
// CHECK-LABEL: func.func @others
// CHECK-NOT: spmd.read_where
func.func @others(%q: tensor<4x4xf32, #q>, %k: tensor<10x4xf32, #k>, %m: tensor<4x10xi1, #s>)
    -> (tensor<4x10xf32, #s>, tensor<4x10xf32, #s>, tensor<4x10xf32, #s>, tensor<4x10xf32, #s>) {
  %s0 = dtensor.dot_general %q, %k contracting [1] x [1] : (tensor<4x4xf32, #q>, tensor<10x4xf32, #k>) -> tensor<4x10xf32, #s>
  %k1 = dtensor.tanh %k : tensor<10x4xf32, #k>
  %s1 = dtensor.dot_general %q, %k1 contracting [1] x [1] : (tensor<4x4xf32, #q>, tensor<10x4xf32, #k>) -> tensor<4x10xf32, #s>
  %k2 = dtensor.tanh %k1 : tensor<10x4xf32, #k>
  %s2 = dtensor.dot_general %q, %k2 contracting [1] x [1] : (tensor<4x4xf32, #q>, tensor<10x4xf32, #k>) -> tensor<4x10xf32, #s>
  %r = dtensor.iota dim 0 : tensor<4x10xi32, #s>
  %c = dtensor.iota dim 1 : tensor<4x10xi32, #s>
  %sees = dtensor.compare GE, %r, %c : (tensor<4x10xi32, #s>, tensor<4x10xi32, #s>) -> tensor<4x10xi1, #s>
  %same = dtensor.compare EQ, %r, %c : (tensor<4x10xi32, #s>, tensor<4x10xi32, #s>) -> tensor<4x10xi1, #s>
  %low = dtensor.constant dense<-1.0e30> : tensor<8x10xf32> -> tensor<4x10xf32, #s>
  %y0 = dtensor.select %sees, %s0, %low : (tensor<4x10xi1, #s>, tensor<4x10xf32, #s>, tensor<4x10xf32, #s>) -> tensor<4x10xf32, #s>
  %z0 = dtensor.tanh %s0 : tensor<4x10xf32, #s>
  %y1 = dtensor.select %m, %s1, %low : (tensor<4x10xi1, #s>, tensor<4x10xf32, #s>, tensor<4x10xf32, #s>) -> tensor<4x10xf32, #s>
  %y2 = dtensor.select %same, %s2, %low : (tensor<4x10xi1, #s>, tensor<4x10xf32, #s>, tensor<4x10xf32, #s>) -> tensor<4x10xf32, #s>
  return %y0, %z0, %y1, %y2 : tensor<4x10xf32, #s>, tensor<4x10xf32, #s>, tensor<4x10xf32, #s>, tensor<4x10xf32, #s>
}
