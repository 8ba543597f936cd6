// Which loops are compiled whole.
// RUN: mesh-opt %s --spmd-form-kernels --split-input-file | FileCheck %s

#mesh = #dtensor.mesh<x = 2>
#v = #spmd.shard<[4000], #dtensor.layout<#mesh, [*]>>
#o = #spmd.shard<[1], #dtensor.layout<#mesh, [*]>>
#s = #spmd.shard<[], #dtensor.layout<#mesh, []>>

// The loop is in a call; the carried array is updated in place in it, and its
// first value is overwritten where nothing else needs it. Splats come along.
// CHECK-LABEL: func.func @whole
// CHECK: %[[E:.*]] = spmd.kernel
// CHECK: spmd.library_call "loop" loops [held 4000] ins (%[[E]] at
// CHECK-SAME: in_place [-1, 0]
// CHECK: ^bb0(%[[A:.*]]: tensor<4000xf32, {{.*}}>):
// CHECK: %[[I:.*]] = dtensor.constant dense<1>
// CHECK: dtensor.while(%[[I]], %[[A]])
// CHECK: spmd.library_call "dynamic_slice"
// CHECK: spmd.library_call "dynamic_update_slice" {{.*}} in_place [0]
// CHECK: spmd.yield
func.func @whole(%v: tensor<4000xf32, #v>) -> tensor<4000xf32, #v> {
  %e = dtensor.exp %v : tensor<4000xf32, #v>
  %one = dtensor.constant dense<1> : tensor<i32> -> tensor<i32, #s>
  %n = dtensor.constant dense<4000> : tensor<i32> -> tensor<i32, #s>
  %r:2 = dtensor.while (%one, %e) : (tensor<i32, #s>, tensor<4000xf32, #v>) -> (tensor<i32, #s>, tensor<4000xf32, #v>) cond {
  ^bb0(%i: tensor<i32, #s>, %w: tensor<4000xf32, #v>):
    %c = dtensor.compare LT, %i, %n : (tensor<i32, #s>, tensor<i32, #s>) -> tensor<i1, #s>
    dtensor.yield %c : tensor<i1, #s>
  } do {
  ^bb0(%i: tensor<i32, #s>, %w: tensor<4000xf32, #v>):
    %a = dtensor.dynamic_slice %w at %i sizes [1] : (tensor<4000xf32, #v>, tensor<i32, #s>) -> tensor<1xf32, #o>
    %b = dtensor.add %a, %a : tensor<1xf32, #o>
    %u = dtensor.dynamic_update_slice %w with %b at %i : (tensor<4000xf32, #v>, tensor<1xf32, #o>, tensor<i32, #s>) -> tensor<4000xf32, #v>
    %k = dtensor.add %i, %one : tensor<i32, #s>
    dtensor.yield %k, %u : tensor<i32, #s>, tensor<4000xf32, #v>
  }
  %f = dtensor.negate %r#1 : tensor<4000xf32, #v>
  return %f : tensor<4000xf32, #v>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#x = #spmd.shard<[8], #dtensor.layout<#mesh, [x]>>
#s = #spmd.shard<[], #dtensor.layout<#mesh, []>>

// A device has a part only.
// CHECK-LABEL: func.func @cut
// CHECK-NOT: "loop"
// CHECK: dtensor.while
func.func @cut(%a: tensor<4xf32, #x>, %p: tensor<i1, #s>) -> tensor<4xf32, #x> {
  %0 = dtensor.while (%a) : (tensor<4xf32, #x>) -> tensor<4xf32, #x> cond {
  ^bb0(%u: tensor<4xf32, #x>):
    dtensor.yield %p : tensor<i1, #s>
  } do {
  ^bb0(%u: tensor<4xf32, #x>):
    %m = dtensor.multiply %u, %u : tensor<4xf32, #x>
    dtensor.yield %m : tensor<4xf32, #x>
  }
  return %0 : tensor<4xf32, #x>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#l = #spmd.shard<[1000, 1000], #dtensor.layout<#mesh, [*, *]>>
#s = #spmd.shard<[], #dtensor.layout<#mesh, []>>

// A turn does work for several cores.
// CHECK-LABEL: func.func @large
// CHECK-NOT: "loop"
// CHECK: dtensor.while
func.func @large(%a: tensor<1000x1000xf32, #l>, %p: tensor<i1, #s>) -> tensor<1000x1000xf32, #l> {
  %0 = dtensor.while (%a) : (tensor<1000x1000xf32, #l>) -> tensor<1000x1000xf32, #l> cond {
  ^bb0(%u: tensor<1000x1000xf32, #l>):
    dtensor.yield %p : tensor<i1, #s>
  } do {
  ^bb0(%u: tensor<1000x1000xf32, #l>):
    %m = dtensor.multiply %u, %u : tensor<1000x1000xf32, #l>
    dtensor.yield %m : tensor<1000x1000xf32, #l>
  }
  return %0 : tensor<1000x1000xf32, #l>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#l = #spmd.shard<[64, 64], #dtensor.layout<#mesh, [*, *]>>
#s = #spmd.shard<[], #dtensor.layout<#mesh, []>>

// A product is written out in the loop.
// CHECK-LABEL: func.func @product
// CHECK: spmd.library_call "loop"
// CHECK: dtensor.while
// CHECK: dtensor.dot_general
func.func @product(%a: tensor<64x64xf32, #l>, %w: tensor<64x64xf32, #l>, %p: tensor<i1, #s>) -> tensor<64x64xf32, #l> {
  %0 = dtensor.while (%a) : (tensor<64x64xf32, #l>) -> tensor<64x64xf32, #l> cond {
  ^bb0(%u: tensor<64x64xf32, #l>):
    dtensor.yield %p : tensor<i1, #s>
  } do {
  ^bb0(%u: tensor<64x64xf32, #l>):
    %m = dtensor.dot_general %u, %w contracting [1] x [0] : (tensor<64x64xf32, #l>, tensor<64x64xf32, #l>) -> tensor<64x64xf32, #l>
    dtensor.yield %m : tensor<64x64xf32, #l>
  }
  return %0 : tensor<64x64xf32, #l>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#six = #spmd.shard<[6, 6], #dtensor.layout<#mesh, [*, *]>>
#four = #spmd.shard<[4, 4], #dtensor.layout<#mesh, [*, *]>>
#s = #spmd.shard<[], #dtensor.layout<#mesh, []>>

// A small product is written out, too; a kernel computes one of four terms.
// CHECK-LABEL: func.func @small_products
// CHECK: spmd.library_call "loop"
// CHECK: dtensor.while
// CHECK: dtensor.dot_general {{.*}} tensor<6x6xf32
// CHECK-NOT: dtensor.dot_general
// CHECK: spmd.kernel
func.func @small_products(%a: tensor<6x6xf32, #six>, %b: tensor<4x4xf32, #four>, %p: tensor<i1, #s>) -> (tensor<6x6xf32, #six>, tensor<4x4xf32, #four>) {
  %0:2 = dtensor.while (%a, %b) : (tensor<6x6xf32, #six>, tensor<4x4xf32, #four>) -> (tensor<6x6xf32, #six>, tensor<4x4xf32, #four>) cond {
  ^bb0(%u: tensor<6x6xf32, #six>, %v: tensor<4x4xf32, #four>):
    dtensor.yield %p : tensor<i1, #s>
  } do {
  ^bb0(%u: tensor<6x6xf32, #six>, %v: tensor<4x4xf32, #four>):
    %m = dtensor.dot_general %u, %a contracting [1] x [0] : (tensor<6x6xf32, #six>, tensor<6x6xf32, #six>) -> tensor<6x6xf32, #six>
    %n = dtensor.dot_general %v, %b contracting [1] x [0] : (tensor<4x4xf32, #four>, tensor<4x4xf32, #four>) -> tensor<4x4xf32, #four>
    dtensor.yield %m, %n : tensor<6x6xf32, #six>, tensor<4x4xf32, #four>
  }
  return %0#0, %0#1 : tensor<6x6xf32, #six>, tensor<4x4xf32, #four>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#l = #spmd.shard<[128, 128], #dtensor.layout<#mesh, [*, *]>>
#s = #spmd.shard<[], #dtensor.layout<#mesh, []>>

// A product is work for several cores.
// CHECK-LABEL: func.func @large_product
// CHECK-NOT: "loop"
// CHECK: dtensor.while
func.func @large_product(%a: tensor<128x128xf32, #l>, %w: tensor<128x128xf32, #l>, %p: tensor<i1, #s>) -> tensor<128x128xf32, #l> {
  %0 = dtensor.while (%a) : (tensor<128x128xf32, #l>) -> tensor<128x128xf32, #l> cond {
  ^bb0(%u: tensor<128x128xf32, #l>):
    dtensor.yield %p : tensor<i1, #s>
  } do {
  ^bb0(%u: tensor<128x128xf32, #l>):
    %m = dtensor.dot_general %u, %w contracting [1] x [0] : (tensor<128x128xf32, #l>, tensor<128x128xf32, #l>) -> tensor<128x128xf32, #l>
    dtensor.yield %m : tensor<128x128xf32, #l>
  }
  return %0 : tensor<128x128xf32, #l>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#l = #spmd.shard<[64, 64], #dtensor.layout<#mesh, [*, *]>>
#s = #spmd.shard<[], #dtensor.layout<#mesh, []>>

// The library decides in which order a deterministic function adds terms.
// CHECK-LABEL: func.func @deterministic_product
// CHECK-NOT: "loop"
// CHECK: dtensor.while
func.func @deterministic_product(%a: tensor<64x64xf32, #l>, %w: tensor<64x64xf32, #l>, %p: tensor<i1, #s>) -> tensor<64x64xf32, #l> attributes {dtensor.deterministic} {
  %0 = dtensor.while (%a) : (tensor<64x64xf32, #l>) -> tensor<64x64xf32, #l> cond {
  ^bb0(%u: tensor<64x64xf32, #l>):
    dtensor.yield %p : tensor<i1, #s>
  } do {
  ^bb0(%u: tensor<64x64xf32, #l>):
    %m = dtensor.dot_general %u, %w contracting [1] x [0] : (tensor<64x64xf32, #l>, tensor<64x64xf32, #l>) -> tensor<64x64xf32, #l>
    dtensor.yield %m : tensor<64x64xf32, #l>
  }
  return %0 : tensor<64x64xf32, #l>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#v = #spmd.shard<[3000], #dtensor.layout<#mesh, [*]>>
#s = #spmd.shard<[], #dtensor.layout<#mesh, []>>

// Divisions by a constant are little work, divisions of long integers by
// numbers that differ are work for several cores.
// CHECK-LABEL: func.func @divisions
// CHECK: spmd.library_call "loop"
// CHECK: dtensor.while
// CHECK-NOT: "loop"
// CHECK: dtensor.while
func.func @divisions(%a: tensor<3000xi64, #v>, %d: tensor<3000xi64, #v>, %p: tensor<i1, #s>) -> (tensor<3000xi64, #v>, tensor<3000xi64, #v>) {
  %seven = dtensor.constant dense<7> : tensor<3000xi64> -> tensor<3000xi64, #v>
  %0 = dtensor.while (%a) : (tensor<3000xi64, #v>) -> tensor<3000xi64, #v> cond {
  ^bb0(%u: tensor<3000xi64, #v>):
    dtensor.yield %p : tensor<i1, #s>
  } do {
  ^bb0(%u: tensor<3000xi64, #v>):
    %m = dtensor.divide %u, %seven : tensor<3000xi64, #v>
    dtensor.yield %m : tensor<3000xi64, #v>
  }
  %1 = dtensor.while (%0) : (tensor<3000xi64, #v>) -> tensor<3000xi64, #v> cond {
  ^bb0(%u: tensor<3000xi64, #v>):
    dtensor.yield %p : tensor<i1, #s>
  } do {
  ^bb0(%u: tensor<3000xi64, #v>):
    %m = dtensor.divide %u, %d : tensor<3000xi64, #v>
    dtensor.yield %m : tensor<3000xi64, #v>
  }
  return %0, %1 : tensor<3000xi64, #v>, tensor<3000xi64, #v>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#l = #spmd.shard<[128, 128], #dtensor.layout<#mesh, [*, *]>>
#s = #spmd.shard<[], #dtensor.layout<#mesh, []>>

// Whatever is the same in every turn is computed once, in front of both loops;
// a value of more bytes than its operands have is computed where it is used.
// CHECK-LABEL: func.func @invariants
// CHECK-NEXT: spmd.kernel {{.*}}ops = "exp"
// CHECK: dtensor.dot_general
// CHECK: dtensor.while
// CHECK: dtensor.while
// CHECK: spmd.kernel {{.*}}ops = "log
// CHECK-NOT: "exp"
// CHECK: dtensor.dot_general
// CHECK-NOT: dtensor.dot_general
func.func @invariants(%a: tensor<128x128xf32, #l>, %w: tensor<128x128xf32, #l>, %n: tensor<f32, #s>, %p: tensor<i1, #s>) -> tensor<128x128xf32, #l> {
  %0 = dtensor.while (%a) : (tensor<128x128xf32, #l>) -> tensor<128x128xf32, #l> cond {
  ^bb0(%u: tensor<128x128xf32, #l>):
    dtensor.yield %p : tensor<i1, #s>
  } do {
  ^bb0(%u: tensor<128x128xf32, #l>):
    %1 = dtensor.while (%u) : (tensor<128x128xf32, #l>) -> tensor<128x128xf32, #l> cond {
    ^bb0(%v: tensor<128x128xf32, #l>):
      dtensor.yield %p : tensor<i1, #s>
    } do {
    ^bb0(%v: tensor<128x128xf32, #l>):
      %e = dtensor.exp %w : tensor<128x128xf32, #l>
      %g = dtensor.dot_general %e, %w contracting [1] x [0] : (tensor<128x128xf32, #l>, tensor<128x128xf32, #l>) -> tensor<128x128xf32, #l>
      %f = dtensor.broadcast_in_dim %n dims [] : (tensor<f32, #s>) -> tensor<128x128xf32, #l>
      %b = dtensor.log %f : tensor<128x128xf32, #l>
      %t = dtensor.multiply %v, %b : tensor<128x128xf32, #l>
      %m = dtensor.dot_general %t, %g contracting [1] x [0] : (tensor<128x128xf32, #l>, tensor<128x128xf32, #l>) -> tensor<128x128xf32, #l>
      dtensor.yield %m : tensor<128x128xf32, #l>
    }
    dtensor.yield %1 : tensor<128x128xf32, #l>
  }
  return %0 : tensor<128x128xf32, #l>
}
