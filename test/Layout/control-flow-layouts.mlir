// Layouts inside loops and branches, and the relayouts between.
// RUN: mesh-opt %s --dtensor-propagate-layouts --dtensor-insert-relayouts --split-input-file | FileCheck %s

// (85) Branches that agree on different dims: the result is cut over both.
#mesh = #dtensor.mesh<x = 2, y = 2>
#uy = #dtensor.layout<#mesh, [*, y]>
#xu = #dtensor.layout<#mesh, [x, *]>
// CHECK-LABEL: func.func @branches
// CHECK: %[[R:.*]] = dtensor.case %{{.*}} -> tensor<8x8xf32, #layout_x_y> {
// CHECK-NEXT: %[[A:.*]] = dtensor.relayout %arg1 {{.*}}result #0 of case{{.*}} -> tensor<8x8xf32, #layout_x_y>
// CHECK-NEXT: dtensor.yield %[[A]]
// CHECK: }, {
// CHECK-NEXT: %[[B:.*]] = dtensor.relayout %arg2
// CHECK-NEXT: dtensor.yield %[[B]]
func.func @branches(%i: tensor<i32>, %a: tensor<8x8xf32, #uy>, %b: tensor<8x8xf32, #xu>) -> tensor<8x8xf32> {
  %0 = dtensor.case %i : (tensor<i32>) -> tensor<8x8xf32> {
    dtensor.yield %a : tensor<8x8xf32, #uy>
  }, {
    dtensor.yield %b : tensor<8x8xf32, #xu>
  }
  return %0 : tensor<8x8xf32>
}

// -----

// (85) One dim, two axes: the first branch's stays.
#mesh = #dtensor.mesh<x = 2, y = 2>
#uy = #dtensor.layout<#mesh, [*, y]>
#ux = #dtensor.layout<#mesh, [*, x]>
// CHECK-LABEL: func.func @one_dim
// CHECK: dtensor.case %{{.*}} -> tensor<8x8xf32, #layout_u_y> {
// CHECK-NEXT: dtensor.yield %arg1
// CHECK: dtensor.relayout %arg2
func.func @one_dim(%i: tensor<i32>, %a: tensor<8x8xf32, #uy>, %b: tensor<8x8xf32, #ux>) -> tensor<8x8xf32> {
  %0 = dtensor.case %i : (tensor<i32>) -> tensor<8x8xf32> {
    dtensor.yield %a : tensor<8x8xf32, #uy>
  }, {
    dtensor.yield %b : tensor<8x8xf32, #ux>
  }
  return %0 : tensor<8x8xf32>
}

// -----

// (85) One axis, two dims.
#mesh = #dtensor.mesh<x = 2, y = 2>
#uy = #dtensor.layout<#mesh, [*, y]>
#yu = #dtensor.layout<#mesh, [y, *]>
// CHECK-LABEL: func.func @one_axis
// CHECK: dtensor.case %{{.*}} -> tensor<8x8xf32, #layout_u_y> {
// CHECK: dtensor.relayout %arg2
func.func @one_axis(%i: tensor<i32>, %a: tensor<8x8xf32, #uy>, %b: tensor<8x8xf32, #yu>) -> tensor<8x8xf32> {
  %0 = dtensor.case %i : (tensor<i32>) -> tensor<8x8xf32> {
    dtensor.yield %a : tensor<8x8xf32, #uy>
  }, {
    dtensor.yield %b : tensor<8x8xf32, #yu>
  }
  return %0 : tensor<8x8xf32>
}

// -----

// (86) Relayouts where the loop needs them: the init's before it, the next
// value's in it.
#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x, *]>
#cols = #dtensor.layout<#mesh, [*, x]>
// CHECK-LABEL: func.func @two
// CHECK-NEXT: %[[I:.*]] = dtensor.relayout %arg0 {{.*}}carried value #0 of while, at its start
// CHECK-NEXT: dtensor.while(%[[I]])
// CHECK: do {
// CHECK: dtensor.exp %{{.*}} : tensor<4x4xf32, #layout_x_u>
// CHECK: %[[N:.*]] = dtensor.relayout %{{.*}}carried value #0 of while, for the next time
// CHECK-NEXT: dtensor.yield %[[N]]
func.func @two(%a: tensor<4x4xf32, #rows>, %p: tensor<i1>) -> tensor<4x4xf32, #cols> {
  %0 = dtensor.while (%a) : (tensor<4x4xf32, #rows>) -> tensor<4x4xf32, #cols> cond {
  ^bb0(%u: tensor<4x4xf32>):
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%u: tensor<4x4xf32>):
    %c = dtensor.constraint %u : (tensor<4x4xf32>) -> tensor<4x4xf32, #rows>
    %e = dtensor.exp %c : (tensor<4x4xf32, #rows>) -> tensor<4x4xf32>
    %d = dtensor.constraint %e : (tensor<4x4xf32>) -> tensor<4x4xf32, #rows>
    dtensor.yield %d : tensor<4x4xf32, #rows>
  }
  return %0 : tensor<4x4xf32, #cols>
}

// (86) ... and none where it needs none: the carried value is laid out as the
// init, and so is what the body makes of it and of zeros.
// CHECK-LABEL: func.func @none
// CHECK-NOT: relayout
// CHECK: return %{{.*}} : tensor<4x4xf32, #layout_x_u>
func.func @none(%a: tensor<4x4xf32, #rows>, %p: tensor<i1>) -> tensor<4x4xf32> {
  %z = dtensor.constant dense<0.0> : tensor<4x4xf32>
  %0:2 = dtensor.while (%z, %a) : (tensor<4x4xf32>, tensor<4x4xf32, #rows>) -> (tensor<4x4xf32>, tensor<4x4xf32>) cond {
  ^bb0(%s: tensor<4x4xf32>, %u: tensor<4x4xf32>):
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%s: tensor<4x4xf32>, %u: tensor<4x4xf32>):
    %e = dtensor.exp %u : tensor<4x4xf32>
    %t = dtensor.add %s, %e : tensor<4x4xf32>
    dtensor.yield %t, %u : tensor<4x4xf32>, tensor<4x4xf32>
  }
  return %0#0 : tensor<4x4xf32>
}

// -----

// (87) A product whose layout would go back and forth settles.
#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x, *]>
#cols = #dtensor.layout<#mesh, [*, x]>
// CHECK-LABEL: func.func @oscillating
// CHECK: dtensor.while
// CHECK: dtensor.matmul
func.func @oscillating(%a: tensor<4x4xf32, #rows>, %w: tensor<4x4xf32, #cols>, %p: tensor<i1>) -> tensor<4x4xf32> {
  %0 = dtensor.while (%a) : (tensor<4x4xf32, #rows>) -> tensor<4x4xf32> cond {
  ^bb0(%u: tensor<4x4xf32>):
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%u: tensor<4x4xf32>):
    %m = dtensor.matmul %w, %u : (tensor<4x4xf32, #cols>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %t = dtensor.transpose %m dims [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    dtensor.yield %t : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}

// -----

// What a loop captures in another layout is brought over once, in front of the
// outermost loop; a branch does that itself, if it runs.
#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x, *]>
#cols = #dtensor.layout<#mesh, [*, x]>
// CHECK-LABEL: func.func @captured
// CHECK-NEXT: %[[C:.*]] = dtensor.relayout %arg1 {{.*}} -> tensor<4x4xf32, #layout_x_u>
// CHECK-NEXT: dtensor.while
// CHECK: dtensor.while
// CHECK: dtensor.add %{{.*}}, %[[C]]
// CHECK: dtensor.case
// CHECK-NEXT: %[[D:.*]] = dtensor.relayout %arg2
// CHECK-NEXT: dtensor.multiply %{{.*}}, %[[D]]
func.func @captured(%a: tensor<4x4xf32, #rows>, %b: tensor<4x4xf32, #cols>, %c: tensor<4x4xf32, #cols>,
                    %p: tensor<i1>, %i: tensor<i32>) -> tensor<4x4xf32, #rows> {
  %0 = dtensor.while (%a) : (tensor<4x4xf32, #rows>) -> tensor<4x4xf32, #rows> cond {
  ^bb0(%u: tensor<4x4xf32>):
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%u: tensor<4x4xf32>):
    %1 = dtensor.while (%u) : (tensor<4x4xf32>) -> tensor<4x4xf32, #rows> cond {
    ^bb0(%v: tensor<4x4xf32>):
      dtensor.yield %p : tensor<i1>
    } do {
    ^bb0(%v: tensor<4x4xf32>):
      %s = dtensor.add %v, %b : (tensor<4x4xf32>, tensor<4x4xf32, #cols>) -> tensor<4x4xf32>
      %t = dtensor.case %i : (tensor<i32>) -> tensor<4x4xf32> {
        %m = dtensor.multiply %s, %c : (tensor<4x4xf32>, tensor<4x4xf32, #cols>) -> tensor<4x4xf32>
        dtensor.yield %m : tensor<4x4xf32>
      }, {
        dtensor.yield %s : tensor<4x4xf32>
      }
      dtensor.yield %t : tensor<4x4xf32>
    }
    dtensor.yield %1 : tensor<4x4xf32, #rows>
  }
  return %0 : tensor<4x4xf32, #rows>
}

// -----

// A carried value is partial only where the user wrote so; what decides is
// replicated.
#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x, *]>
#sum = #dtensor.layout<#mesh, [*] partial<x: sum>>
// CHECK-LABEL: func.func @partial
// CHECK: %[[R:.*]]:2 = dtensor.while({{.*}}) -> (tensor<4xf32, #layout_u>, tensor<4xf32, #layout_u_sum_x>) cond {
// CHECK: dtensor.relayout %{{.*}}the condition of while{{.*}}tensor<i1
// CHECK: do {
// CHECK: %[[S:.*]] = dtensor.reduce sum {{.*}}#layout_u_sum_x
// CHECK: %[[F:.*]] = dtensor.relayout %[[S]]
// CHECK: dtensor.yield %[[F]], %[[S]]
func.func @partial(%a: tensor<4x4xf32, #rows>, %z: tensor<4xf32>, %s: tensor<4xf32, #sum>) -> (tensor<4xf32>, tensor<4xf32, #sum>) {
  %0:2 = dtensor.while (%z, %s) : (tensor<4xf32>, tensor<4xf32, #sum>) -> (tensor<4xf32>, tensor<4xf32, #sum>) cond {
  ^bb0(%u: tensor<4xf32>, %v: tensor<4xf32>):
    %zero = dtensor.constant dense<0.0> : tensor<4x4xf32>
    %c = dtensor.compare LT, %a, %zero : (tensor<4x4xf32, #rows>, tensor<4x4xf32>) -> tensor<4x4xi1>
    %p = dtensor.reduce and %c dims [0, 1] : (tensor<4x4xi1>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%u: tensor<4xf32>, %v: tensor<4xf32>):
    %r = dtensor.reduce sum %a dims [0] : (tensor<4x4xf32, #rows>) -> tensor<4xf32>
    dtensor.yield %r, %r : tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32, #sum>
}
