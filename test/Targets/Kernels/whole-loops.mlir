// Loops over little data, compiled whole, give what the interpreter gives: rows
// and single elements updated in place, indices out of bounds, values that swap
// places, nested loops, branches, small products and sums, narrow and unsigned
// types, angles that formulas lose.
// RUN: mesh-run %s --function recurrence --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function swap --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function indexed --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function nested --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function cell --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function types --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function overlap --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function angles --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function invariants --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function recurrence --verify --private-memories | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function cell --verify --deterministic | FileCheck %s --check-prefix=RUNS
// RUNS: result 0

// v[i] += v[i-1] / 2, and the initial array is still needed.
func.func @recurrence(%v: tensor<40xf32>) -> (tensor<40xf32>, tensor<40xf32>) {
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<40> : tensor<i32>
  %half = dtensor.constant dense<0.5> : tensor<1xf32>
  %r:2 = dtensor.while (%one, %v) : (tensor<i32>, tensor<40xf32>) -> (tensor<i32>, tensor<40xf32>) cond {
  ^bb0(%i: tensor<i32>, %w: tensor<40xf32>):
    %c = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %c : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %w: tensor<40xf32>):
    %j = dtensor.subtract %i, %one : tensor<i32>
    %a = dtensor.dynamic_slice %w at %i sizes [1] : (tensor<40xf32>, tensor<i32>) -> tensor<1xf32>
    %b = dtensor.dynamic_slice %w at %j sizes [1] : (tensor<40xf32>, tensor<i32>) -> tensor<1xf32>
    %h = dtensor.multiply %b, %half : tensor<1xf32>
    %s = dtensor.add %a, %h : tensor<1xf32>
    %u = dtensor.dynamic_update_slice %w with %s at %i : (tensor<40xf32>, tensor<1xf32>, tensor<i32>) -> tensor<40xf32>
    %k = dtensor.add %i, %one : tensor<i32>
    dtensor.yield %k, %u : tensor<i32>, tensor<40xf32>
  }
  return %r#1, %v : tensor<40xf32>, tensor<40xf32>
}

// Three arrays change places in each turn; one of them grows.
func.func @swap(%x: tensor<3x5xf32>, %y: tensor<3x5xf32>, %z: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<7> : tensor<i32>
  %r:4 = dtensor.while (%zero, %x, %y, %z) : (tensor<i32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>) -> (tensor<i32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>) cond {
  ^bb0(%i: tensor<i32>, %a: tensor<3x5xf32>, %b: tensor<3x5xf32>, %c: tensor<3x5xf32>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %a: tensor<3x5xf32>, %b: tensor<3x5xf32>, %c: tensor<3x5xf32>):
    %k = dtensor.add %i, %one : tensor<i32>
    %s = dtensor.add %a, %c : tensor<3x5xf32>
    dtensor.yield %k, %b, %s, %a : tensor<i32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>
  }
  return %r#1, %r#2, %r#3 : tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>
}

// Gathered rows are clamped, scattered ones out of bounds left out, slices
// clamped at both ends.
func.func @indexed(%t: tensor<6x4xf32>, %u: tensor<3x4xf32>) -> (tensor<6x4xf32>, tensor<3x4xf32>, tensor<2x3xf32>) {
  %first = dtensor.constant dense<-3> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<9> : tensor<i32>
  %steps = dtensor.constant dense<[[0], [2], [1]]> : tensor<3x1xi32>
  %zeros = dtensor.constant dense<0.0> : tensor<2x3xf32>
  %half = dtensor.constant dense<0.5> : tensor<3x4xf32>
  %r:4 = dtensor.while (%first, %t, %u, %zeros) : (tensor<i32>, tensor<6x4xf32>, tensor<3x4xf32>, tensor<2x3xf32>) -> (tensor<i32>, tensor<6x4xf32>, tensor<3x4xf32>, tensor<2x3xf32>) cond {
  ^bb0(%i: tensor<i32>, %a: tensor<6x4xf32>, %b: tensor<3x4xf32>, %c: tensor<2x3xf32>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %a: tensor<6x4xf32>, %b: tensor<3x4xf32>, %c: tensor<2x3xf32>):
    %k = dtensor.add %i, %one : tensor<i32>
    %spread = dtensor.broadcast_in_dim %i dims [] : (tensor<i32>) -> tensor<3x1xi32>
    %at = dtensor.add %spread, %steps : tensor<3x1xi32>
    %rows = dtensor.gather %a, %at {collapsed_slice_dims = array<i64: 0>, index_vector_dim = 1 : i64, offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 4>, start_index_map = array<i64: 0>} : (tensor<6x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
    %less = dtensor.multiply %rows, %half : tensor<3x4xf32>
    %d = dtensor.scatter %a at %at with %less {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<sum>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>} : (tensor<6x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<6x4xf32>
    %e = dtensor.scatter %b at %at with %rows {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>} : (tensor<3x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %f = dtensor.dynamic_slice %d at %i, %i sizes [2, 3] : (tensor<6x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    %g = dtensor.add %c, %f : tensor<2x3xf32>
    dtensor.yield %k, %d, %e, %g : tensor<i32>, tensor<6x4xf32>, tensor<3x4xf32>, tensor<2x3xf32>
  }
  return %r#1, %r#2, %r#3 : tensor<6x4xf32>, tensor<3x4xf32>, tensor<2x3xf32>
}

// A loop in a loop that updates an array of the outer one, and a branch.
func.func @nested(%x: tensor<5x6xf32>) -> (tensor<5x6xf32>, tensor<f32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %two = dtensor.constant dense<2> : tensor<i32>
  %rows = dtensor.constant dense<5> : tensor<i32>
  %columns = dtensor.constant dense<6> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<f32>
  %r:3 = dtensor.while (%zero, %x, %none) : (tensor<i32>, tensor<5x6xf32>, tensor<f32>) -> (tensor<i32>, tensor<5x6xf32>, tensor<f32>) cond {
  ^bb0(%i: tensor<i32>, %a: tensor<5x6xf32>, %s: tensor<f32>):
    %p = dtensor.compare LT, %i, %rows : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %a: tensor<5x6xf32>, %s: tensor<f32>):
    %in:3 = dtensor.while (%zero, %a, %none) : (tensor<i32>, tensor<5x6xf32>, tensor<f32>) -> (tensor<i32>, tensor<5x6xf32>, tensor<f32>) cond {
    ^bb0(%j: tensor<i32>, %b: tensor<5x6xf32>, %l: tensor<f32>):
      %p = dtensor.compare LT, %j, %columns : (tensor<i32>, tensor<i32>) -> tensor<i1>
      dtensor.yield %p : tensor<i1>
    } do {
    ^bb0(%j: tensor<i32>, %b: tensor<5x6xf32>, %l: tensor<f32>):
      %e = dtensor.dynamic_slice %b at %i, %j sizes [1, 1] : (tensor<5x6xf32>, tensor<i32>, tensor<i32>) -> tensor<1x1xf32>
      %v = dtensor.reshape %e : (tensor<1x1xf32>) -> tensor<f32>
      %m = dtensor.remainder %j, %two : tensor<i32>
      %t = dtensor.case %m : (tensor<i32>) -> tensor<f32> {
        %n = dtensor.add %v, %l : tensor<f32>
        dtensor.yield %n : tensor<f32>
      }, {
        dtensor.yield %v : tensor<f32>
      }
      %u = dtensor.reshape %t : (tensor<f32>) -> tensor<1x1xf32>
      %c = dtensor.dynamic_update_slice %b with %u at %i, %j : (tensor<5x6xf32>, tensor<1x1xf32>, tensor<i32>, tensor<i32>) -> tensor<5x6xf32>
      %k = dtensor.add %j, %one : tensor<i32>
      dtensor.yield %k, %c, %t : tensor<i32>, tensor<5x6xf32>, tensor<f32>
    }
    %k = dtensor.add %i, %one : tensor<i32>
    %q = dtensor.add %s, %in#2 : tensor<f32>
    dtensor.yield %k, %in#1, %q : tensor<i32>, tensor<5x6xf32>, tensor<f32>
  }
  return %r#1, %r#2 : tensor<5x6xf32>, tensor<f32>
}

// A recurrent cell whose states are stacked, and a sum of each.
func.func @cell(%h: tensor<8x16xf32>, %xs: tensor<9x8x16xf32>, %w: tensor<16x16xf32>) -> (tensor<8x16xf32>, tensor<9x8x16xf32>, tensor<16xf32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<9> : tensor<i32>
  %stack = dtensor.constant dense<0.0> : tensor<9x8x16xf32>
  %sums = dtensor.constant dense<0.0> : tensor<16xf32>
  %r:4 = dtensor.while (%zero, %h, %stack, %sums) : (tensor<i32>, tensor<8x16xf32>, tensor<9x8x16xf32>, tensor<16xf32>) -> (tensor<i32>, tensor<8x16xf32>, tensor<9x8x16xf32>, tensor<16xf32>) cond {
  ^bb0(%i: tensor<i32>, %a: tensor<8x16xf32>, %b: tensor<9x8x16xf32>, %s: tensor<16xf32>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %a: tensor<8x16xf32>, %b: tensor<9x8x16xf32>, %s: tensor<16xf32>):
    %row = dtensor.dynamic_slice %xs at %i, %zero, %zero sizes [1, 8, 16] : (tensor<9x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x16xf32>
    %x = dtensor.reshape %row : (tensor<1x8x16xf32>) -> tensor<8x16xf32>
    %m = dtensor.matmul %a, %w : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %t = dtensor.add %m, %x : tensor<8x16xf32>
    %o = dtensor.tanh %t : tensor<8x16xf32>
    %u = dtensor.reshape %o : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
    %c = dtensor.dynamic_update_slice %b with %u at %i, %zero, %zero : (tensor<9x8x16xf32>, tensor<1x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<9x8x16xf32>
    %q = dtensor.reduce sum %o dims [0] : (tensor<8x16xf32>) -> tensor<16xf32>
    %v = dtensor.add %s, %q : tensor<16xf32>
    %k = dtensor.add %i, %one : tensor<i32>
    dtensor.yield %k, %o, %c, %v : tensor<i32>, tensor<8x16xf32>, tensor<9x8x16xf32>, tensor<16xf32>
  }
  return %r#1, %r#2, %r#3 : tensor<8x16xf32>, tensor<9x8x16xf32>, tensor<16xf32>
}

// Narrow, unsigned, complex and truth values.
func.func @types(%b: tensor<7xbf16>, %u: tensor<5xui8>, %c: tensor<3xcomplex<f32>>, %p: tensor<6xi1>, %d: tensor<4xf64>) -> (tensor<7xbf16>, tensor<5xui8>, tensor<3xcomplex<f32>>, tensor<6xi1>, tensor<4xf64>) {
  %zero = dtensor.constant dense<0> : tensor<ui32>
  %one = dtensor.constant dense<1> : tensor<ui32>
  %n = dtensor.constant dense<5> : tensor<ui32>
  %r:6 = dtensor.while (%zero, %b, %u, %c, %p, %d) : (tensor<ui32>, tensor<7xbf16>, tensor<5xui8>, tensor<3xcomplex<f32>>, tensor<6xi1>, tensor<4xf64>) -> (tensor<ui32>, tensor<7xbf16>, tensor<5xui8>, tensor<3xcomplex<f32>>, tensor<6xi1>, tensor<4xf64>) cond {
  ^bb0(%i: tensor<ui32>, %a0: tensor<7xbf16>, %a1: tensor<5xui8>, %a2: tensor<3xcomplex<f32>>, %a3: tensor<6xi1>, %a4: tensor<4xf64>):
    %q = dtensor.compare LT, %i, %n : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    dtensor.yield %q : tensor<i1>
  } do {
  ^bb0(%i: tensor<ui32>, %a0: tensor<7xbf16>, %a1: tensor<5xui8>, %a2: tensor<3xcomplex<f32>>, %a3: tensor<6xi1>, %a4: tensor<4xf64>):
    %k = dtensor.add %i, %one : tensor<ui32>
    %e0 = dtensor.dynamic_slice %a0 at %i sizes [3] : (tensor<7xbf16>, tensor<ui32>) -> tensor<3xbf16>
    %f0 = dtensor.add %e0, %e0 : tensor<3xbf16>
    %b0 = dtensor.dynamic_update_slice %a0 with %f0 at %i : (tensor<7xbf16>, tensor<3xbf16>, tensor<ui32>) -> tensor<7xbf16>
    %b1 = dtensor.multiply %a1, %a1 : tensor<5xui8>
    %e2 = dtensor.dynamic_slice %a2 at %i sizes [1] : (tensor<3xcomplex<f32>>, tensor<ui32>) -> tensor<1xcomplex<f32>>
    %f2 = dtensor.multiply %e2, %e2 : tensor<1xcomplex<f32>>
    %b2 = dtensor.dynamic_update_slice %a2 with %f2 at %i : (tensor<3xcomplex<f32>>, tensor<1xcomplex<f32>>, tensor<ui32>) -> tensor<3xcomplex<f32>>
    %e3 = dtensor.dynamic_slice %a3 at %i sizes [2] : (tensor<6xi1>, tensor<ui32>) -> tensor<2xi1>
    %f3 = dtensor.not %e3 : tensor<2xi1>
    %b3 = dtensor.dynamic_update_slice %a3 with %f3 at %i : (tensor<6xi1>, tensor<2xi1>, tensor<ui32>) -> tensor<6xi1>
    %b4 = dtensor.multiply %a4, %a4 : tensor<4xf64>
    dtensor.yield %k, %b0, %b1, %b2, %b3, %b4 : tensor<ui32>, tensor<7xbf16>, tensor<5xui8>, tensor<3xcomplex<f32>>, tensor<6xi1>, tensor<4xf64>
  }
  return %r#1, %r#2, %r#3, %r#4, %r#5 : tensor<7xbf16>, tensor<5xui8>, tensor<3xcomplex<f32>>, tensor<6xi1>, tensor<4xf64>
}

// A slice of an array that is updated while the slice is still needed, and an
// update by a slice of the same array.
func.func @overlap(%x: tensor<8x5xf32>) -> (tensor<8x5xf32>, tensor<1x5xf32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<7> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<1x5xf32>
  %r:3 = dtensor.while (%zero, %x, %none) : (tensor<i32>, tensor<8x5xf32>, tensor<1x5xf32>) -> (tensor<i32>, tensor<8x5xf32>, tensor<1x5xf32>) cond {
  ^bb0(%i: tensor<i32>, %a: tensor<8x5xf32>, %s: tensor<1x5xf32>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %a: tensor<8x5xf32>, %s: tensor<1x5xf32>):
    %k = dtensor.add %i, %one : tensor<i32>
    %old = dtensor.dynamic_slice %a at %i, %zero sizes [1, 5] : (tensor<8x5xf32>, tensor<i32>, tensor<i32>) -> tensor<1x5xf32>
    %next = dtensor.dynamic_slice %a at %k, %zero sizes [1, 5] : (tensor<8x5xf32>, tensor<i32>, tensor<i32>) -> tensor<1x5xf32>
    %b = dtensor.dynamic_update_slice %a with %next at %i, %zero : (tensor<8x5xf32>, tensor<1x5xf32>, tensor<i32>, tensor<i32>) -> tensor<8x5xf32>
    %c = dtensor.dynamic_update_slice %b with %old at %k, %zero : (tensor<8x5xf32>, tensor<1x5xf32>, tensor<i32>, tensor<i32>) -> tensor<8x5xf32>
    %t = dtensor.add %s, %old : tensor<1x5xf32>
    dtensor.yield %k, %c, %t : tensor<i32>, tensor<8x5xf32>, tensor<1x5xf32>
  }
  return %r#1, %r#2 : tensor<8x5xf32>, tensor<1x5xf32>
}

// Some angles are so large that they are computed another way.
func.func @angles(%x: tensor<20xf32>) -> tensor<20xf32> {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<3> : tensor<i32>
  %large = dtensor.constant dense<1.0e+16> : tensor<20xf32>
  %r:2 = dtensor.while (%zero, %x) : (tensor<i32>, tensor<20xf32>) -> (tensor<i32>, tensor<20xf32>) cond {
  ^bb0(%i: tensor<i32>, %a: tensor<20xf32>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %a: tensor<20xf32>):
    %k = dtensor.add %i, %one : tensor<i32>
    %s = dtensor.sign %a : tensor<20xf32>
    %m = dtensor.multiply %s, %large : tensor<20xf32>
    %b = dtensor.sine %m : tensor<20xf32>
    dtensor.yield %k, %b : tensor<i32>, tensor<20xf32>
  }
  return %r#1 : tensor<20xf32>
}

// The exponentials are the same in every turn, and no turn overwrites them.
func.func @invariants(%x: tensor<100x100xf32>, %w: tensor<100x100xf32>) -> tensor<100x100xf32> {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<3> : tensor<i32>
  %scale = dtensor.constant dense<0.01> : tensor<100x100xf32>
  %r:2 = dtensor.while (%zero, %x) : (tensor<i32>, tensor<100x100xf32>) -> (tensor<i32>, tensor<100x100xf32>) cond {
  ^bb0(%i: tensor<i32>, %v: tensor<100x100xf32>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %v: tensor<100x100xf32>):
    %k = dtensor.add %i, %one : tensor<i32>
    %e = dtensor.exp %w : tensor<100x100xf32>
    %m = dtensor.matmul %e, %v : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<100x100xf32>
    %s = dtensor.multiply %m, %scale : tensor<100x100xf32>
    dtensor.yield %k, %s : tensor<i32>, tensor<100x100xf32>
  }
  return %r#1 : tensor<100x100xf32>
}
