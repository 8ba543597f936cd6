// Sorts along a cut dim work on its blocks, where that sends less and equal
// elements are known to be the same, or can be told apart.
// RUN: mesh-opt %s --dtensor-distribute-ops=machine=ring --split-input-file | FileCheck %s
// RUN: mesh-opt %s --dtensor-partition=machine=ring --split-input-file | FileCheck %s --check-prefix=SPMD
// RUN: mesh-opt %s --dtensor-distribute-ops --split-input-file | FileCheck %s --check-prefix=SHARED

#mesh = #dtensor.mesh<x = 8>
#cut = #dtensor.layout<#mesh, [x]>

// Columns: sort, deal, sort, give back, sort, neighbours' halves, sort. In
// shared memory looking at another block costs less than that.
// CHECK-LABEL: func.func @columns
// CHECK: dtensor.reshape %arg0 {{.*}} -> tensor<8x128xi32>
// CHECK: dtensor.sort {{.*}} dim 1
// CHECK: dtensor.transpose {{.*}} dims [2, 0, 1] : (tensor<8x16x8xi32>) -> tensor<8x8x16xi32>
// CHECK: dtensor.sort {{.*}} dim 1
// CHECK: dtensor.transpose {{.*}} dims [1, 0, 2]
// CHECK: dtensor.sort {{.*}} dim 1
// CHECK: dtensor.pad {{.*}} low [1, 0] high [-1, 0]
// CHECK: dtensor.pad {{.*}} low [-1, 0] high [1, 0]
// CHECK: dtensor.concatenate {{.*}} dim 1 : (tensor<8x64xi32>, tensor<8x64xi32>)
// CHECK: dtensor.sort {{.*}} dim 1
// CHECK-NOT: dtensor.sort
// SPMD-LABEL: func.func @columns
// SPMD-COUNT-2: spmd.all_to_all over [x]
// SPMD-COUNT-2: spmd.halo_exchange over [x]
// SPMD-NOT: spmd.{{all_|reduce_|permute|halo}}
// SPMD: return
// SHARED-LABEL: func.func @columns
// SHARED-NEXT: dtensor.sort %arg0 dim 0
func.func @columns(%x: tensor<1024xi32, #cut>) -> tensor<1024xi32, #cut> {
  %0 = dtensor.sort %x dim 0 : (tensor<1024xi32, #cut>) -> tensor<1024xi32, #cut> {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %r = dtensor.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %r : tensor<i1>
  }
  return %0 : tensor<1024xi32, #cut>
}

// -----

#mesh = #dtensor.mesh<x = 8>
#cut = #dtensor.layout<#mesh, [x]>

// Blocks of 64 are too few for 8 columns: six rounds of merges.
// CHECK-LABEL: func.func @network
// CHECK: dtensor.sort {{.*}} dim 1
// CHECK: dtensor.take {{.*}} dim 0 at [4, 5, 6, 7, 0, 1, 2, 3]
// CHECK: dtensor.reverse {{.*}} dims [1]
// CHECK: dtensor.compare LT
// CHECK: dtensor.sort {{.*}} dim 1 {is_stable} : (tensor<8x64xi32>)
// CHECK: dtensor.take {{.*}} dim 0 at [2, 3, 0, 1, 6, 7, 4, 5]
// CHECK: dtensor.take {{.*}} dim 0 at [0, 1, 4, 5, 2, 3, 6, 7]
// CHECK: dtensor.take {{.*}} dim 0 at [1, 0, 3, 2, 5, 4, 7, 6]
// CHECK: dtensor.take {{.*}} dim 0 at [0, 4, 2, 6, 1, 5, 3, 7]
// CHECK: dtensor.take {{.*}} dim 0 at [0, 2, 1, 4, 3, 6, 5, 7]
// CHECK-NOT: dtensor.take
// SPMD-LABEL: func.func @network
// SPMD-COUNT-6: spmd.halo_exchange over [x]
// SPMD-NOT: spmd.{{all_|reduce_|permute|halo}}
// SPMD: return
func.func @network(%x: tensor<512xi32, #cut>) -> tensor<512xi32, #cut> {
  %0 = dtensor.sort %x dim 0 : (tensor<512xi32, #cut>) -> tensor<512xi32, #cut> {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %r = dtensor.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %r : tensor<i1>
  }
  return %0 : tensor<512xi32, #cut>
}

// -----

#mesh = #dtensor.mesh<x = 8>
#cut = #dtensor.layout<#mesh, [x]>

// An argsort: its places decide between equal keys, and are sent as 16 bits.
// CHECK-LABEL: func.func @argsort
// CHECK: dtensor.convert {{.*}} : (tensor<1024xi32>) -> tensor<1024xui16>
// CHECK: dtensor.sort {{.*}} -> (tensor<8x128xi32>, tensor<8x128xui16>) {
// CHECK: dtensor.yield
// CHECK: dtensor.sort {{.*}} -> (tensor<8x128xi32>, tensor<8x128xui16>) {
// CHECK: ^bb0(%[[A:.*]]: tensor<i32>, %[[B:.*]]: tensor<i32>, %{{.*}}: tensor<ui16>, %{{.*}}: tensor<ui16>):
// CHECK-NEXT: dtensor.compare LT, %[[A]], %[[B]]
// CHECK-NEXT: dtensor.yield
// CHECK: dtensor.sort {{.*}} -> (tensor<8x128xi32>, tensor<8x128xui16>) {
// CHECK: ^bb0(%[[A:.*]]: tensor<i32>, %[[B:.*]]: tensor<i32>, %[[P:.*]]: tensor<ui16>, %[[Q:.*]]: tensor<ui16>):
// CHECK-NEXT: %[[BEFORE:.*]] = dtensor.compare LT, %[[A]], %[[B]]
// CHECK-NEXT: %[[AFTER:.*]] = dtensor.compare LT, %[[B]], %[[A]]
// CHECK-NEXT: %[[FIRST:.*]] = dtensor.compare LT, %[[P]], %[[Q]]
// CHECK-NEXT: %[[NOT:.*]] = dtensor.not %[[AFTER]]
// CHECK-NEXT: %[[TIED:.*]] = dtensor.and %[[NOT]], %[[FIRST]]
// CHECK-NEXT: dtensor.or %[[BEFORE]], %[[TIED]]
// CHECK: dtensor.convert {{.*}} : (tensor<1024xui16>) -> tensor<1024xi32>
func.func @argsort(%x: tensor<1024xi32, #cut>) -> tensor<1024xi32, #cut> {
  %i = dtensor.iota dim 0 : tensor<1024xi32>
  %0:2 = dtensor.sort %x, %i dim 0 {is_stable} : (tensor<1024xi32, #cut>, tensor<1024xi32>) -> (tensor<1024xi32>, tensor<1024xi32, #cut>) {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %p: tensor<i32>, %q: tensor<i32>):
    %r = dtensor.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %r : tensor<i1>
  }
  return %0#1 : tensor<1024xi32, #cut>
}

// -----

#mesh = #dtensor.mesh<x = 8>
#cut = #dtensor.layout<#mesh, [x]>

// As the C++ API sorts floats: -0 and 0 are equal, and so are all nans. Places
// are added after the first exchange.
// CHECK-LABEL: func.func @floats
// CHECK: dtensor.sort %{{[0-9]+}} dim 1
// CHECK: dtensor.sort %{{[0-9]+}}, %{{[0-9]+}} dim 1 {{.*}} -> (tensor<8x128xf32>, tensor<8x128xui16>)
// SPMD-LABEL: func.func @floats
// SPMD: spmd.all_to_all over [x] {{.*}} -> tensor<1x8x16xf32
// SPMD-NEXT: dtensor.reshape
// SPMD-NOT: spmd.all_gather
// SPMD: return
func.func @floats(%x: tensor<1024xf32, #cut>) -> tensor<1024xf32, #cut> {
  %0 = dtensor.sort %x dim 0 : (tensor<1024xf32, #cut>) -> tensor<1024xf32, #cut> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %l = dtensor.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %o = dtensor.compare NE, %b, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %n = dtensor.compare EQ, %a, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %m = dtensor.and %n, %o : tensor<i1>
    %r = dtensor.or %l, %m : tensor<i1>
    dtensor.yield %r : tensor<i1>
  }
  return %0 : tensor<1024xf32, #cut>
}

// -----

#mesh = #dtensor.mesh<x = 8>
#cut = #dtensor.layout<#mesh, [x]>

// Two keys, which say all there is of both operands: nothing is added.
// CHECK-LABEL: func.func @two_keys
// CHECK: dtensor.sort %{{[0-9]+}}, %{{[0-9]+}} dim 1
// CHECK-NOT: ui16
// CHECK: return
func.func @two_keys(%x: tensor<1024xi32, #cut>, %y: tensor<1024xi8, #cut>) -> (tensor<1024xi32, #cut>, tensor<1024xi8, #cut>) {
  %0:2 = dtensor.sort %x, %y dim 0 : (tensor<1024xi32, #cut>, tensor<1024xi8, #cut>) -> (tensor<1024xi32, #cut>, tensor<1024xi8, #cut>) {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i8>, %d: tensor<i8>):
    %e = dtensor.compare EQ, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %f = dtensor.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %g = dtensor.compare GT, %c, %d : (tensor<i8>, tensor<i8>) -> tensor<i1>
    %h = dtensor.and %e, %g : tensor<i1>
    %r = dtensor.or %f, %h : tensor<i1>
    dtensor.yield %r : tensor<i1>
  }
  return %0#0, %0#1 : tensor<1024xi32, #cut>, tensor<1024xi8, #cut>
}

// -----

#mesh = #dtensor.mesh<x = 8>
#cut = #dtensor.layout<#mesh, [x]>

// No order: a nan is neither before nor behind anything.
// CHECK-LABEL: func.func @no_order
// CHECK-NEXT: dtensor.sort %arg0 dim 0
func.func @no_order(%x: tensor<1024xf32, #cut>) -> tensor<1024xf32, #cut> {
  %0 = dtensor.sort %x dim 0 : (tensor<1024xf32, #cut>) -> tensor<1024xf32, #cut> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = dtensor.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    dtensor.yield %r : tensor<i1>
  }
  return %0 : tensor<1024xf32, #cut>
}

// -----

#mesh = #dtensor.mesh<x = 8>
#cut = #dtensor.layout<#mesh, [x]>

// Uneven blocks, and those whose places would be sent as well, are brought
// together.
// CHECK-LABEL: func.func @uneven
// CHECK-NEXT: dtensor.sort %arg0 dim 0
// CHECK: dtensor.sort %arg1 dim 0
func.func @uneven(%x: tensor<1023xi32, #cut>, %y: tensor<64xi32, #cut>) -> (tensor<1023xi32, #cut>, tensor<64xi32, #cut>) {
  %0 = dtensor.sort %x dim 0 : (tensor<1023xi32, #cut>) -> tensor<1023xi32, #cut> {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %r = dtensor.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %r : tensor<i1>
  }
  %1 = dtensor.sort %y dim 0 : (tensor<64xi32, #cut>) -> tensor<64xi32, #cut> {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = dtensor.constant dense<3> : tensor<i32>
    %p = dtensor.and %a, %c : tensor<i32>
    %q = dtensor.and %b, %c : tensor<i32>
    %r = dtensor.compare LT, %p, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %r : tensor<i1>
  }
  return %0, %1 : tensor<1023xi32, #cut>, tensor<64xi32, #cut>
}

// -----

#mesh = #dtensor.mesh<x = 8>
#columns = #dtensor.layout<#mesh, [*, x]>
#full = #dtensor.layout<#mesh, [*, *]>

// Rows can be cut instead, there and back for less; and who needs the result
// whole has it gathered anyway.
// CHECK-LABEL: func.func @relayouts
// CHECK-NEXT: dtensor.sort %arg0 dim 1
// CHECK: dtensor.sort %arg1 dim 1
func.func @relayouts(%x: tensor<16x1024xi32, #columns>, %y: tensor<1x1024xi32, #columns>) -> (tensor<16x1024xi32, #columns>, tensor<1x1024xi32, #full>) {
  %0 = dtensor.sort %x dim 1 : (tensor<16x1024xi32, #columns>) -> tensor<16x1024xi32, #columns> {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %r = dtensor.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %r : tensor<i1>
  }
  %1 = dtensor.sort %y dim 1 : (tensor<1x1024xi32, #columns>) -> tensor<1x1024xi32, #full> {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %r = dtensor.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %r : tensor<i1>
  }
  return %0, %1 : tensor<16x1024xi32, #columns>, tensor<1x1024xi32, #full>
}
