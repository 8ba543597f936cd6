// Factorizations and triangular systems in loops that are compiled whole.
// RUN: mesh-opt %s --target=cpu --function=pivots | FileCheck %s --check-prefix=WHOLE
// RUN: mesh-run %s --function pivots --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function systems --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function roots --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-opt %s --target=cpu --function=reflections | FileCheck %s --check-prefix=REFLECTIONS
// RUN: mesh-run %s --function reflections --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function huge | FileCheck %s --check-prefix=HUGE
// RUN: mesh-run %s --function systems --verify --deterministic | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function same_as_library | FileCheck %s --check-prefix=SAME
// WHOLE: spmd.library_call "loop"
// WHOLE: spmd.library_call "lu"
// REFLECTIONS: spmd.library_call "loop"
// REFLECTIONS: spmd.library_call "geqrf"
// REFLECTIONS: spmd.library_call "householder_product"
// RUNS: result 0
// HUGE: result 0 {{.*}}[-5e+200,
// SAME: result 0 {{.*}} [0]

// A batch of matrices that are not square; one of them is singular.
func.func @pivots(%a: tensor<2x5x3xf64>) -> (tensor<2x5x3xf64>, tensor<2x3xi32>, tensor<2x5xi32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<2> : tensor<i32>
  %factors = dtensor.constant dense<0.0> : tensor<2x5x3xf64>
  %pivots = dtensor.constant dense<0> : tensor<2x3xi32>
  %order = dtensor.constant dense<0> : tensor<2x5xi32>
  %mask = dtensor.constant dense<[[1.0, 1.0, 1.0], [1.0, 0.0, 1.0]]> : tensor<2x3xf64>
  %columns = dtensor.broadcast_in_dim %mask dims [0, 2] : (tensor<2x3xf64>) -> tensor<2x5x3xf64>
  %r:5 = dtensor.while (%zero, %a, %factors, %pivots, %order) : (tensor<i32>, tensor<2x5x3xf64>, tensor<2x5x3xf64>, tensor<2x3xi32>, tensor<2x5xi32>) -> (tensor<i32>, tensor<2x5x3xf64>, tensor<2x5x3xf64>, tensor<2x3xi32>, tensor<2x5xi32>) cond {
  ^bb0(%i: tensor<i32>, %x: tensor<2x5x3xf64>, %f: tensor<2x5x3xf64>, %p: tensor<2x3xi32>, %o: tensor<2x5xi32>):
    %goes = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %goes : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %x: tensor<2x5x3xf64>, %f: tensor<2x5x3xf64>, %p: tensor<2x3xi32>, %o: tensor<2x5xi32>):
    %k = dtensor.add %i, %one : tensor<i32>
    %m = dtensor.multiply %x, %columns : tensor<2x5x3xf64>
    %lu, %q, %s = dtensor.lu %m : (tensor<2x5x3xf64>) -> (tensor<2x5x3xf64>, tensor<2x3xi32>, tensor<2x5xi32>)
    %next = dtensor.subtract %x, %lu : tensor<2x5x3xf64>
    dtensor.yield %k, %next, %lu, %q, %s : tensor<i32>, tensor<2x5x3xf64>, tensor<2x5x3xf64>, tensor<2x3xi32>, tensor<2x5xi32>
  }
  return %r#2, %r#3, %r#4 : tensor<2x5x3xf64>, tensor<2x3xi32>, tensor<2x5xi32>
}

// Triangular matrices on either side, transposed or with a diagonal of ones.
func.func @systems(%a: tensor<4x4xf32>, %b: tensor<4x6xf32>, %c: tensor<6x4xf32>) -> (tensor<4x6xf32>, tensor<6x4xf32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<2> : tensor<i32>
  %shift = dtensor.constant dense<3.0> : tensor<4x4xf32>
  %m = dtensor.add %a, %shift : tensor<4x4xf32>
  %r:3 = dtensor.while (%zero, %b, %c) : (tensor<i32>, tensor<4x6xf32>, tensor<6x4xf32>) -> (tensor<i32>, tensor<4x6xf32>, tensor<6x4xf32>) cond {
  ^bb0(%i: tensor<i32>, %x: tensor<4x6xf32>, %y: tensor<6x4xf32>):
    %goes = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %goes : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %x: tensor<4x6xf32>, %y: tensor<6x4xf32>):
    %k = dtensor.add %i, %one : tensor<i32>
    %x1 = dtensor.triangular_solve %m, %x {left_side, lower, unit_diagonal} : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %x2 = dtensor.triangular_solve %m, %x1 {left_side, lower, transpose_a = "TRANSPOSE"} : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %y1 = dtensor.triangular_solve %m, %y {lower} : (tensor<4x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
    %y2 = dtensor.triangular_solve %m, %y1 {unit_diagonal, transpose_a = "ADJOINT"} : (tensor<4x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
    dtensor.yield %k, %x2, %y2 : tensor<i32>, tensor<4x6xf32>, tensor<6x4xf32>
  }
  return %r#1, %r#2 : tensor<4x6xf32>, tensor<6x4xf32>
}

// Both triangles; one matrix of each batch is not positive definite.
func.func @roots(%a: tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2x3x3xf32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<2> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<2x3x3xf32>
  %base = dtensor.constant dense<[[[4.0, 1.0, 0.5], [1.0, 5.0, 2.0], [0.5, 2.0, 6.0]], [[4.0, 1.0, 9.0], [1.0, 5.0, 2.0], [9.0, 2.0, 6.0]]]> : tensor<2x3x3xf32>
  %half = dtensor.constant dense<0.25> : tensor<2x3x3xf32>
  %r:4 = dtensor.while (%zero, %a, %none, %none) : (tensor<i32>, tensor<2x3x3xf32>, tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> (tensor<i32>, tensor<2x3x3xf32>, tensor<2x3x3xf32>, tensor<2x3x3xf32>) cond {
  ^bb0(%i: tensor<i32>, %x: tensor<2x3x3xf32>, %l: tensor<2x3x3xf32>, %u: tensor<2x3x3xf32>):
    %goes = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %goes : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %x: tensor<2x3x3xf32>, %l: tensor<2x3x3xf32>, %u: tensor<2x3x3xf32>):
    %k = dtensor.add %i, %one : tensor<i32>
    %next = dtensor.multiply %x, %half : tensor<2x3x3xf32>
    %m = dtensor.add %base, %next : tensor<2x3x3xf32>
    %lower = dtensor.cholesky %m {lower} : tensor<2x3x3xf32>
    %upper = dtensor.cholesky %m : tensor<2x3x3xf32>
    dtensor.yield %k, %next, %lower, %upper : tensor<i32>, tensor<2x3x3xf32>, tensor<2x3x3xf32>, tensor<2x3x3xf32>
  }
  return %r#2, %r#3 : tensor<2x3x3xf32>, tensor<2x3x3xf32>
}

// A batch of matrices: one whose first column is on the axis, one with zeros
// alone, one with a number that is not finite, and a wide one; and a product
// with fewer reflections than columns.
func.func @reflections(%a: tensor<3x5x3xf32>, %b: tensor<3x4xf64>) -> (tensor<3x5x3xf32>, tensor<3x3xf32>, tensor<3x5x3xf32>, tensor<3x4xf64>, tensor<3xf64>, tensor<3x3xf64>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<2> : tensor<i32>
  %no_factors = dtensor.constant dense<0.0> : tensor<3x5x3xf32>
  %no_taus = dtensor.constant dense<0.0> : tensor<3x3xf32>
  %no_wide = dtensor.constant dense<0.0> : tensor<3x4xf64>
  %no_wide_taus = dtensor.constant dense<0.0> : tensor<3xf64>
  %no_square = dtensor.constant dense<0.0> : tensor<3x3xf64>
  %factor = dtensor.constant dense<[[[1.0, 1.0, 1.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0]], [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 0x7F800000, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]]> : tensor<3x5x3xf32>
  %half = dtensor.constant dense<0.5> : tensor<3x5x3xf32>
  %half_wide = dtensor.constant dense<0.5> : tensor<3x4xf64>
  %r:9 = dtensor.while (%zero, %a, %b, %no_factors, %no_taus, %no_factors, %no_wide, %no_wide_taus, %no_square) : (tensor<i32>, tensor<3x5x3xf32>, tensor<3x4xf64>, tensor<3x5x3xf32>, tensor<3x3xf32>, tensor<3x5x3xf32>, tensor<3x4xf64>, tensor<3xf64>, tensor<3x3xf64>) -> (tensor<i32>, tensor<3x5x3xf32>, tensor<3x4xf64>, tensor<3x5x3xf32>, tensor<3x3xf32>, tensor<3x5x3xf32>, tensor<3x4xf64>, tensor<3xf64>, tensor<3x3xf64>) cond {
  ^bb0(%i: tensor<i32>, %x: tensor<3x5x3xf32>, %y: tensor<3x4xf64>, %f: tensor<3x5x3xf32>, %t: tensor<3x3xf32>, %q: tensor<3x5x3xf32>, %w: tensor<3x4xf64>, %u: tensor<3xf64>, %s: tensor<3x3xf64>):
    %goes = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %goes : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %x: tensor<3x5x3xf32>, %y: tensor<3x4xf64>, %f: tensor<3x5x3xf32>, %t: tensor<3x3xf32>, %q: tensor<3x5x3xf32>, %w: tensor<3x4xf64>, %u: tensor<3xf64>, %s: tensor<3x3xf64>):
    %k = dtensor.add %i, %one : tensor<i32>
    %next = dtensor.multiply %x, %half : tensor<3x5x3xf32>
    %next_wide = dtensor.multiply %y, %half_wide : tensor<3x4xf64>
    %m = dtensor.multiply %next, %factor : tensor<3x5x3xf32>
    %factors, %taus = dtensor.geqrf %m : (tensor<3x5x3xf32>) -> (tensor<3x5x3xf32>, tensor<3x3xf32>)
    %product = dtensor.householder_product %factors, %taus : (tensor<3x5x3xf32>, tensor<3x3xf32>) -> tensor<3x5x3xf32>
    %wide, %wide_taus = dtensor.geqrf %next_wide : (tensor<3x4xf64>) -> (tensor<3x4xf64>, tensor<3xf64>)
    %vectors = dtensor.slice %wide [0:3, 0:3] : (tensor<3x4xf64>) -> tensor<3x3xf64>
    %first_taus = dtensor.slice %wide_taus [0:2] : (tensor<3xf64>) -> tensor<2xf64>
    %square = dtensor.householder_product %vectors, %first_taus : (tensor<3x3xf64>, tensor<2xf64>) -> tensor<3x3xf64>
    dtensor.yield %k, %next, %next_wide, %factors, %taus, %product, %wide, %wide_taus, %square : tensor<i32>, tensor<3x5x3xf32>, tensor<3x4xf64>, tensor<3x5x3xf32>, tensor<3x3xf32>, tensor<3x5x3xf32>, tensor<3x4xf64>, tensor<3xf64>, tensor<3x3xf64>
  }
  return %r#3, %r#4, %r#5, %r#6, %r#7, %r#8 : tensor<3x5x3xf32>, tensor<3x3xf32>, tensor<3x5x3xf32>, tensor<3x4xf64>, tensor<3xf64>, tensor<3x3xf64>
}

// Squares of these numbers overflow.
func.func @huge() -> tensor<2x1xf64> {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<2> : tensor<i32>
  %half = dtensor.constant dense<0.5> : tensor<2x1xf64>
  %numbers = dtensor.constant dense<[[12.0e+200], [16.0e+200]]> : tensor<2x1xf64>
  %none = dtensor.constant dense<0.0> : tensor<2x1xf64>
  %r:3 = dtensor.while (%zero, %numbers, %none) : (tensor<i32>, tensor<2x1xf64>, tensor<2x1xf64>) -> (tensor<i32>, tensor<2x1xf64>, tensor<2x1xf64>) cond {
  ^bb0(%i: tensor<i32>, %x: tensor<2x1xf64>, %f: tensor<2x1xf64>):
    %goes = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %goes : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %x: tensor<2x1xf64>, %f: tensor<2x1xf64>):
    %k = dtensor.add %i, %one : tensor<i32>
    %next = dtensor.multiply %x, %half : tensor<2x1xf64>
    %factors, %taus = dtensor.geqrf %next : (tensor<2x1xf64>) -> (tensor<2x1xf64>, tensor<1xf64>)
    dtensor.yield %k, %next, %factors : tensor<i32>, tensor<2x1xf64>, tensor<2x1xf64>
  }
  return %r#2 : tensor<2x1xf64>
}

// Factors of f32 are rounded once, at the end, as the library rounds them.
func.func @same_as_library() -> tensor<f32> {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<2> : tensor<i32>
  %half = dtensor.constant dense<0.5> : tensor<4x6x5xf32>
  %none = dtensor.constant dense<0.0> : tensor<4x6x5xf32>
  %places = dtensor.iota dim 0 : tensor<120xf32>
  %squares = dtensor.multiply %places, %places : tensor<120xf32>
  %waves = dtensor.sine %squares : tensor<120xf32>
  %a = dtensor.reshape %waves : (tensor<120xf32>) -> tensor<4x6x5xf32>
  %r:3 = dtensor.while (%zero, %a, %none) : (tensor<i32>, tensor<4x6x5xf32>, tensor<4x6x5xf32>) -> (tensor<i32>, tensor<4x6x5xf32>, tensor<4x6x5xf32>) cond {
  ^bb0(%i: tensor<i32>, %x: tensor<4x6x5xf32>, %f: tensor<4x6x5xf32>):
    %goes = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %goes : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %x: tensor<4x6x5xf32>, %f: tensor<4x6x5xf32>):
    %k = dtensor.add %i, %one : tensor<i32>
    %next = dtensor.multiply %x, %half : tensor<4x6x5xf32>
    %factors, %taus = dtensor.geqrf %next : (tensor<4x6x5xf32>) -> (tensor<4x6x5xf32>, tensor<4x5xf32>)
    dtensor.yield %k, %next, %factors : tensor<i32>, tensor<4x6x5xf32>, tensor<4x6x5xf32>
  }
  %by_library, %taus = dtensor.geqrf %r#1 : (tensor<4x6x5xf32>) -> (tensor<4x6x5xf32>, tensor<4x5xf32>)
  %difference = dtensor.subtract %r#2, %by_library : tensor<4x6x5xf32>
  %sizes = dtensor.abs %difference : tensor<4x6x5xf32>
  %largest = dtensor.reduce max %sizes dims [0, 1, 2] : (tensor<4x6x5xf32>) -> tensor<f32>
  return %largest : tensor<f32>
}
