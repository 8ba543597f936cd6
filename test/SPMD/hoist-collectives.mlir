// What a loop sends each time though it need not.
// RUN: mesh-opt %s --spmd-hoist-collectives --split-input-file | FileCheck %s

#mesh = #dtensor.mesh<x = 2>
#rows = #spmd.shard<[8], #dtensor.layout<#mesh, [x]>>
#full = #spmd.shard<[8], #dtensor.layout<#mesh, [*]>>
#flag = #spmd.shard<[], #dtensor.layout<#mesh, []>>

// A gather of what does not change, with the op that makes it, leaves both
// loops; that of the carried value stays; nothing leaves a branch.
// CHECK-LABEL: func.func @invariant
// CHECK-NEXT: %[[E:.*]] = dtensor.exp %arg0
// CHECK-NEXT: %[[G:.*]] = spmd.all_gather over [x] %[[E]]
// CHECK-NEXT: dtensor.while
// CHECK: dtensor.while
// CHECK: spmd.all_gather over [x] %{{.*}}
// CHECK: dtensor.case
// CHECK-NEXT: spmd.all_gather over [x] %arg0
func.func @invariant(%a: tensor<4xf32, #rows>, %p: tensor<i1, #flag>, %k: tensor<i32, #flag>) -> tensor<4xf32, #rows> {
  %0 = dtensor.while (%a) : (tensor<4xf32, #rows>) -> tensor<4xf32, #rows> cond {
  ^bb0(%u: tensor<4xf32, #rows>):
    dtensor.yield %p : tensor<i1, #flag>
  } do {
  ^bb0(%u: tensor<4xf32, #rows>):
    %1 = dtensor.while (%u) : (tensor<4xf32, #rows>) -> tensor<4xf32, #rows> cond {
    ^bb0(%v: tensor<4xf32, #rows>):
      dtensor.yield %p : tensor<i1, #flag>
    } do {
    ^bb0(%v: tensor<4xf32, #rows>):
      %e = dtensor.exp %a : tensor<4xf32, #rows>
      %g = spmd.all_gather over [x] %e : (tensor<4xf32, #rows>) -> tensor<8xf32, #full>
      %h = spmd.all_gather over [x] %v : (tensor<4xf32, #rows>) -> tensor<8xf32, #full>
      %s = dtensor.add %g, %h : tensor<8xf32, #full>
      %c = dtensor.case %k : (tensor<i32, #flag>) -> tensor<8xf32, #full> {
        %i = spmd.all_gather over [x] %a : (tensor<4xf32, #rows>) -> tensor<8xf32, #full>
        dtensor.yield %i : tensor<8xf32, #full>
      }, {
        dtensor.yield %s : tensor<8xf32, #full>
      }
      %r = spmd.slice over [x] %c : (tensor<8xf32, #full>) -> tensor<4xf32, #rows>
      dtensor.yield %r : tensor<4xf32, #rows>
    }
    dtensor.yield %1 : tensor<4xf32, #rows>
  }
  return %0 : tensor<4xf32, #rows>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#sum = #spmd.shard<[8], #dtensor.layout<#mesh, [*] partial<x: sum>>>
#full = #spmd.shard<[8], #dtensor.layout<#mesh, [*]>>
#flag = #spmd.shard<[], #dtensor.layout<#mesh, []>>

// (88) A sum over iterations: partial in the loop, reduced once after it, then
// added to what it started from. One that is read in the loop stays.
// CHECK-LABEL: func.func @accumulate
// CHECK: %[[Z:.*]] = dtensor.constant dense<0.000000e+00> : tensor<8xf32> -> tensor<8xf32, #spmd.shard<[8], #layout_u_sum_x
// CHECK: %[[R:.*]]:3 = dtensor.while(%[[Z]], %arg0, %arg1)
// CHECK: do {
// CHECK: ^bb0(%[[U:.*]]: {{.*}}, %[[V:.*]]: {{.*}}, %[[W:.*]]: {{.*}}):
// CHECK: dtensor.add %[[U]], %[[W]] : tensor<8xf32, #spmd.shard<[8], #layout_u_sum_x
// CHECK: spmd.all_reduce sum over [x] %[[W]]
// CHECK: }
// CHECK: %[[S:.*]] = spmd.all_reduce sum over [x] %[[R]]#0 {{.*}}reason = "because; once, after the loop that sums it up"
// CHECK: %[[A:.*]] = dtensor.add %arg0, %[[S]]
// CHECK: return %[[A]], %[[R]]#1
func.func @accumulate(%a: tensor<8xf32, #full>, %g: tensor<8xf32, #sum>, %p: tensor<i1, #flag>)
    -> (tensor<8xf32, #full>, tensor<8xf32, #full>) {
  %0:3 = dtensor.while (%a, %a, %g)
      : (tensor<8xf32, #full>, tensor<8xf32, #full>, tensor<8xf32, #sum>)
     -> (tensor<8xf32, #full>, tensor<8xf32, #full>, tensor<8xf32, #sum>) cond {
  ^bb0(%u: tensor<8xf32, #full>, %v: tensor<8xf32, #full>, %w: tensor<8xf32, #sum>):
    dtensor.yield %p : tensor<i1, #flag>
  } do {
  ^bb0(%u: tensor<8xf32, #full>, %v: tensor<8xf32, #full>, %w: tensor<8xf32, #sum>):
    %e = dtensor.exp %v : tensor<8xf32, #full>
    %r = spmd.all_reduce sum over [x] %w {reason = "because"} : (tensor<8xf32, #sum>) -> tensor<8xf32, #full>
    %n = dtensor.add %u, %r : tensor<8xf32, #full>
    %s = spmd.all_reduce sum over [x] %w : (tensor<8xf32, #sum>) -> tensor<8xf32, #full>
    %m = dtensor.add %e, %s : tensor<8xf32, #full>
    %y = dtensor.negate %w : tensor<8xf32, #sum>
    dtensor.yield %n, %m, %y : tensor<8xf32, #full>, tensor<8xf32, #full>, tensor<8xf32, #sum>
  }
  return %0#0, %0#1 : tensor<8xf32, #full>, tensor<8xf32, #full>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#sum = #spmd.shard<[4, 8], #dtensor.layout<#mesh, [*, *] partial<x: sum>>>
#full = #spmd.shard<[4, 8], #dtensor.layout<#mesh, [*, *]>>
#turned = #spmd.shard<[8, 4], #dtensor.layout<#mesh, [*, *]>>
#flag = #spmd.shard<[], #dtensor.layout<#mesh, []>>

// (88) Through ops that are linear: a transpose, a product with a scale; not
// through a square.
// CHECK-LABEL: func.func @linear
// CHECK: %[[R:.*]]:3 = dtensor.while
// CHECK: do {
// CHECK: dtensor.transpose %{{.*}} -> tensor<8x4xf32, #spmd.shard<[8, 4], #layout_u_u_sum_x
// CHECK: dtensor.multiply %{{.*}} -> tensor<8x4xf32, #spmd.shard<[8, 4], #layout_u_u_sum_x
// CHECK: dtensor.add %{{.*}} : tensor<8x4xf32, #spmd.shard<[8, 4], #layout_u_u_sum_x
// CHECK: spmd.all_reduce
// CHECK: dtensor.multiply
// CHECK: }
// CHECK: spmd.all_reduce sum over [x] %[[R]]#0
// CHECK-NOT: spmd.all_reduce
func.func @linear(%a: tensor<8x4xf32, #turned>, %b: tensor<4x8xf32, #full>, %g: tensor<4x8xf32, #sum>,
                  %scale: tensor<8x4xf32, #turned>, %p: tensor<i1, #flag>)
    -> (tensor<8x4xf32, #turned>, tensor<4x8xf32, #full>) {
  %0:3 = dtensor.while (%a, %b, %g)
      : (tensor<8x4xf32, #turned>, tensor<4x8xf32, #full>, tensor<4x8xf32, #sum>)
     -> (tensor<8x4xf32, #turned>, tensor<4x8xf32, #full>, tensor<4x8xf32, #sum>) cond {
  ^bb0(%u: tensor<8x4xf32, #turned>, %v: tensor<4x8xf32, #full>, %w: tensor<4x8xf32, #sum>):
    dtensor.yield %p : tensor<i1, #flag>
  } do {
  ^bb0(%u: tensor<8x4xf32, #turned>, %v: tensor<4x8xf32, #full>, %w: tensor<4x8xf32, #sum>):
    %r = spmd.all_reduce sum over [x] %w : (tensor<4x8xf32, #sum>) -> tensor<4x8xf32, #full>
    %t = dtensor.transpose %r dims [1, 0] : (tensor<4x8xf32, #full>) -> tensor<8x4xf32, #turned>
    %m = dtensor.multiply %t, %scale : tensor<8x4xf32, #turned>
    %n = dtensor.add %u, %m : tensor<8x4xf32, #turned>
    %s = spmd.all_reduce sum over [x] %w : (tensor<4x8xf32, #sum>) -> tensor<4x8xf32, #full>
    %q = dtensor.multiply %s, %s : tensor<4x8xf32, #full>
    %o = dtensor.add %v, %q : tensor<4x8xf32, #full>
    %y = dtensor.negate %w : tensor<4x8xf32, #sum>
    dtensor.yield %n, %o, %y : tensor<8x4xf32, #turned>, tensor<4x8xf32, #full>, tensor<4x8xf32, #sum>
  }
  return %0#0, %0#1 : tensor<8x4xf32, #turned>, tensor<4x8xf32, #full>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#full = #spmd.shard<[8], #dtensor.layout<#mesh, [*]>>
#vec = #spmd.shard<[8], #dtensor.layout<#mesh, [x]>>
#rows = #spmd.shard<[8, 3], #dtensor.layout<#mesh, [x, *]>>
#flag = #spmd.shard<[], #dtensor.layout<#mesh, []>>
#any = #spmd.shard<[], #dtensor.layout<#mesh, [] partial<x: or>>>

// A device whose rows are done keeps them, so it asks nobody; what all devices
// know as well joins the rows. The count (%k) is not read afterwards.
// CHECK-LABEL: func.func @rows_by_themselves
// CHECK-NOT: spmd.all_reduce
// CHECK: %[[P:.*]] = dtensor.compare LT, %arg3, %arg4
// CHECK-NOT: dtensor.reduce
// CHECK: %[[K:.*]] = dtensor.compare LT, %arg6
// CHECK: %[[B:.*]] = dtensor.broadcast_in_dim %[[K]] dims []
// CHECK: %[[Q:.*]] = dtensor.and %[[P]], %[[B]]
// CHECK: %[[R:.*]] = dtensor.reduce or %[[Q]] dims [0] {{.*}}#layout_or_x
// CHECK-NEXT: dtensor.yield %[[R]]
// CHECK-NOT: spmd.all_reduce
func.func @rows_by_themselves(%i: tensor<4xi32, #vec>, %n: tensor<4xi32, #vec>, %a: tensor<4x3xf32, #rows>)
    -> tensor<4x3xf32, #rows> {
  %zero = dtensor.constant dense<0> : tensor<i32> -> tensor<i32, #flag>
  %0:4 = dtensor.while (%i, %n, %a, %zero)
      : (tensor<4xi32, #vec>, tensor<4xi32, #vec>, tensor<4x3xf32, #rows>, tensor<i32, #flag>)
     -> (tensor<4xi32, #vec>, tensor<4xi32, #vec>, tensor<4x3xf32, #rows>, tensor<i32, #flag>) cond {
  ^bb0(%u: tensor<4xi32, #vec>, %v: tensor<4xi32, #vec>, %w: tensor<4x3xf32, #rows>, %k: tensor<i32, #flag>):
    %p = dtensor.compare LT, %u, %v : (tensor<4xi32, #vec>, tensor<4xi32, #vec>) -> tensor<4xi1, #vec>
    %d = dtensor.reduce or %p dims [0] : (tensor<4xi1, #vec>) -> tensor<i1, #any>
    %r = spmd.all_reduce or over [x] %d : (tensor<i1, #any>) -> tensor<i1, #flag>
    %most = dtensor.constant dense<9> : tensor<i32> -> tensor<i32, #flag>
    %s = dtensor.compare LT, %k, %most : (tensor<i32, #flag>, tensor<i32, #flag>) -> tensor<i1, #flag>
    %t = dtensor.and %s, %r : tensor<i1, #flag>
    dtensor.yield %t : tensor<i1, #flag>
  } do {
  ^bb0(%u: tensor<4xi32, #vec>, %v: tensor<4xi32, #vec>, %w: tensor<4x3xf32, #rows>, %k: tensor<i32, #flag>):
    %p = dtensor.compare LT, %u, %v : (tensor<4xi32, #vec>, tensor<4xi32, #vec>) -> tensor<4xi1, #vec>
    %one = dtensor.constant dense<1> : tensor<i32> -> tensor<i32, #flag>
    %ones = dtensor.broadcast_in_dim %one dims [] : (tensor<i32, #flag>) -> tensor<4xi32, #vec>
    %more = dtensor.add %u, %ones : tensor<4xi32, #vec>
    %e = dtensor.exp %w : tensor<4x3xf32, #rows>
    %q = dtensor.broadcast_in_dim %p dims [0] : (tensor<4xi1, #vec>) -> tensor<4x3xi1, #rows>
    %x = dtensor.select %p, %more, %u : (tensor<4xi1, #vec>, tensor<4xi32, #vec>, tensor<4xi32, #vec>) -> tensor<4xi32, #vec>
    %y = dtensor.select %q, %e, %w : (tensor<4x3xi1, #rows>, tensor<4x3xf32, #rows>, tensor<4x3xf32, #rows>) -> tensor<4x3xf32, #rows>
    %z = dtensor.add %k, %one : tensor<i32, #flag>
    dtensor.yield %x, %v, %y, %z : tensor<4xi32, #vec>, tensor<4xi32, #vec>, tensor<4x3xf32, #rows>, tensor<i32, #flag>
  }
  return %0#2 : tensor<4x3xf32, #rows>
}

// All of these ask: what is read after the loop changes on devices that are
// done (the first), so does what the condition reads, which may become true
// again (the second), and the body communicates (the third).
// CHECK-LABEL: func.func @others_matter
// CHECK: dtensor.while
// CHECK: spmd.all_reduce or
// CHECK: dtensor.while
// CHECK: spmd.all_reduce or
// CHECK: dtensor.while
// CHECK: spmd.all_reduce or
func.func @others_matter(%i: tensor<4xi32, #vec>, %a: tensor<4xi32, #vec>)
    -> (tensor<4xi32, #vec>, tensor<4xi32, #vec>, tensor<4xi32, #vec>) {
  %0:2 = dtensor.while (%i, %a) : (tensor<4xi32, #vec>, tensor<4xi32, #vec>) -> (tensor<4xi32, #vec>, tensor<4xi32, #vec>) cond {
  ^bb0(%u: tensor<4xi32, #vec>, %v: tensor<4xi32, #vec>):
    %p = dtensor.compare LT, %u, %a : (tensor<4xi32, #vec>, tensor<4xi32, #vec>) -> tensor<4xi1, #vec>
    %d = dtensor.reduce or %p dims [0] : (tensor<4xi1, #vec>) -> tensor<i1, #any>
    %r = spmd.all_reduce or over [x] %d : (tensor<i1, #any>) -> tensor<i1, #flag>
    dtensor.yield %r : tensor<i1, #flag>
  } do {
  ^bb0(%u: tensor<4xi32, #vec>, %v: tensor<4xi32, #vec>):
    %p = dtensor.compare LT, %u, %a : (tensor<4xi32, #vec>, tensor<4xi32, #vec>) -> tensor<4xi1, #vec>
    %m = dtensor.add %u, %v : tensor<4xi32, #vec>
    %x = dtensor.select %p, %m, %u : (tensor<4xi1, #vec>, tensor<4xi32, #vec>, tensor<4xi32, #vec>) -> tensor<4xi32, #vec>
    %y = dtensor.negate %v : tensor<4xi32, #vec>
    dtensor.yield %x, %y : tensor<4xi32, #vec>, tensor<4xi32, #vec>
  }
  %1:2 = dtensor.while (%i, %a) : (tensor<4xi32, #vec>, tensor<4xi32, #vec>) -> (tensor<4xi32, #vec>, tensor<4xi32, #vec>) cond {
  ^bb0(%u: tensor<4xi32, #vec>, %v: tensor<4xi32, #vec>):
    %p = dtensor.compare LT, %u, %v : (tensor<4xi32, #vec>, tensor<4xi32, #vec>) -> tensor<4xi1, #vec>
    %d = dtensor.reduce or %p dims [0] : (tensor<4xi1, #vec>) -> tensor<i1, #any>
    %r = spmd.all_reduce or over [x] %d : (tensor<i1, #any>) -> tensor<i1, #flag>
    dtensor.yield %r : tensor<i1, #flag>
  } do {
  ^bb0(%u: tensor<4xi32, #vec>, %v: tensor<4xi32, #vec>):
    %p = dtensor.compare LT, %u, %v : (tensor<4xi32, #vec>, tensor<4xi32, #vec>) -> tensor<4xi1, #vec>
    %m = dtensor.add %u, %v : tensor<4xi32, #vec>
    %x = dtensor.select %p, %m, %u : (tensor<4xi1, #vec>, tensor<4xi32, #vec>, tensor<4xi32, #vec>) -> tensor<4xi32, #vec>
    %y = dtensor.negate %v : tensor<4xi32, #vec>
    dtensor.yield %x, %y : tensor<4xi32, #vec>, tensor<4xi32, #vec>
  }
  %2 = dtensor.while (%i) : (tensor<4xi32, #vec>) -> tensor<4xi32, #vec> cond {
  ^bb0(%u: tensor<4xi32, #vec>):
    %p = dtensor.compare LT, %u, %a : (tensor<4xi32, #vec>, tensor<4xi32, #vec>) -> tensor<4xi1, #vec>
    %d = dtensor.reduce or %p dims [0] : (tensor<4xi1, #vec>) -> tensor<i1, #any>
    %r = spmd.all_reduce or over [x] %d : (tensor<i1, #any>) -> tensor<i1, #flag>
    dtensor.yield %r : tensor<i1, #flag>
  } do {
  ^bb0(%u: tensor<4xi32, #vec>):
    %p = dtensor.compare LT, %u, %a : (tensor<4xi32, #vec>, tensor<4xi32, #vec>) -> tensor<4xi1, #vec>
    %g = spmd.all_gather over [x] %u : (tensor<4xi32, #vec>) -> tensor<8xi32, #full>
    %f = dtensor.reverse %g dims [0] : (tensor<8xi32, #full>) -> tensor<8xi32, #full>
    %m = spmd.slice over [x] %f : (tensor<8xi32, #full>) -> tensor<4xi32, #vec>
    %x = dtensor.select %p, %m, %u : (tensor<4xi1, #vec>, tensor<4xi32, #vec>, tensor<4xi32, #vec>) -> tensor<4xi32, #vec>
    dtensor.yield %x : tensor<4xi32, #vec>
  }
  return %0#1, %1#0, %2 : tensor<4xi32, #vec>, tensor<4xi32, #vec>, tensor<4xi32, #vec>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#vec = #spmd.shard<[8], #dtensor.layout<#mesh, [x]>>
#flag = #spmd.shard<[], #dtensor.layout<#mesh, []>>
#all = #spmd.shard<[], #dtensor.layout<#mesh, [] partial<x: and>>>

// Not all of what says who is done; elements that go on are counted.
// CHECK-LABEL: func.func @until_all_are_done
// CHECK-NOT: spmd.all_reduce
// CHECK: %[[N:.*]] = dtensor.not %arg
// CHECK-NEXT: %[[R:.*]] = dtensor.reduce or %[[N]] dims [0] {{.*}}#layout_or_x
// CHECK-NEXT: dtensor.yield %[[R]]
// CHECK-NOT: spmd.all_reduce
func.func @until_all_are_done(%a: tensor<4xf32, #vec>, %d: tensor<4xi1, #vec>, %n: tensor<4xi32, #vec>)
    -> (tensor<4xf32, #vec>, tensor<4xi32, #vec>) {
  %0:3 = dtensor.while (%a, %d, %n)
      : (tensor<4xf32, #vec>, tensor<4xi1, #vec>, tensor<4xi32, #vec>)
     -> (tensor<4xf32, #vec>, tensor<4xi1, #vec>, tensor<4xi32, #vec>) cond {
  ^bb0(%u: tensor<4xf32, #vec>, %v: tensor<4xi1, #vec>, %w: tensor<4xi32, #vec>):
    %s = dtensor.reduce and %v dims [0] : (tensor<4xi1, #vec>) -> tensor<i1, #all>
    %r = spmd.all_reduce and over [x] %s : (tensor<i1, #all>) -> tensor<i1, #flag>
    %q = dtensor.not %r : tensor<i1, #flag>
    dtensor.yield %q : tensor<i1, #flag>
  } do {
  ^bb0(%u: tensor<4xf32, #vec>, %v: tensor<4xi1, #vec>, %w: tensor<4xi32, #vec>):
    %e = dtensor.exp %u : tensor<4xf32, #vec>
    %f = dtensor.compare LT, %e, %u : (tensor<4xf32, #vec>, tensor<4xf32, #vec>) -> tensor<4xi1, #vec>
    %x = dtensor.select %v, %u, %e : (tensor<4xi1, #vec>, tensor<4xf32, #vec>, tensor<4xf32, #vec>) -> tensor<4xf32, #vec>
    %y = dtensor.or %v, %f : tensor<4xi1, #vec>
    %g = dtensor.not %v : tensor<4xi1, #vec>
    %c = dtensor.convert %g : (tensor<4xi1, #vec>) -> tensor<4xi32, #vec>
    %z = dtensor.add %w, %c : tensor<4xi32, #vec>
    dtensor.yield %x, %y, %z : tensor<4xf32, #vec>, tensor<4xi1, #vec>, tensor<4xi32, #vec>
  }
  return %0#0, %0#2 : tensor<4xf32, #vec>, tensor<4xi32, #vec>
}
