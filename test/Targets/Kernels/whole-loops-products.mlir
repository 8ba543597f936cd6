// Products of matrices in loops that are compiled whole: how the operands lie, in
// which dims, and of which type. In each turn the left operand has changed; the right
// one is captured in one product, and has changed in the other one.
// RUN: mesh-opt %s --target=cpu --function=rows | FileCheck %s --check-prefix=WHOLE
// RUN: mesh-opt %s --target=cpu --function=bfloats_into_floats | FileCheck %s --check-prefix=WHOLE
// RUN: mesh-run %s --function rows --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function terms --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function few_terms --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function left_transposed --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function both_transposed --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function vector --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function transposed_vector --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function row --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function row_transposed --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function batch --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function inner_batch --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function split_rows --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function two_sums --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function doubles --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function double_terms --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function bfloats --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function bfloats_into_floats --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function bfloat_terms --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function halves --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function half_terms --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function integers --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function integer_terms --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function slice --verify | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function batch --verify --private-memories | FileCheck %s --check-prefix=RUNS
// RUN: mesh-run %s --function rows --verify --deterministic | FileCheck %s --check-prefix=RUNS
// WHOLE: spmd.library_call "loop"
// WHOLE: dtensor.dot_general
// RUNS: result 0

// Vectors go along rows of the right operand; neither rows nor columns fill tiles.
func.func @rows(%a: tensor<33x37xf32>, %b: tensor<37x29xf32>) -> (tensor<33x29xf32>, tensor<33x29xf32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<3> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<33x29xf32>
  %r:5 = dtensor.while (%zero, %a, %b, %none, %none) : (tensor<i32>, tensor<33x37xf32>, tensor<37x29xf32>, tensor<33x29xf32>, tensor<33x29xf32>) -> (tensor<i32>, tensor<33x37xf32>, tensor<37x29xf32>, tensor<33x29xf32>, tensor<33x29xf32>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<33x37xf32>, %v: tensor<37x29xf32>, %s: tensor<33x29xf32>, %t: tensor<33x29xf32>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<33x37xf32>, %v: tensor<37x29xf32>, %s: tensor<33x29xf32>, %t: tensor<33x29xf32>):
    %k = dtensor.add %i, %one : tensor<i32>
    %x = dtensor.dot_general %u, %b contracting [1] x [0] : (tensor<33x37xf32>, tensor<37x29xf32>) -> tensor<33x29xf32>
    %y = dtensor.dot_general %u, %v contracting [1] x [0] : (tensor<33x37xf32>, tensor<37x29xf32>) -> tensor<33x29xf32>
    %s1 = dtensor.add %s, %x : tensor<33x29xf32>
    %t1 = dtensor.subtract %y, %t : tensor<33x29xf32>
    %u1 = dtensor.negate %u : tensor<33x37xf32>
    %v1 = dtensor.add %v, %v : tensor<37x29xf32>
    dtensor.yield %k, %u1, %v1, %s1, %t1 : tensor<i32>, tensor<33x37xf32>, tensor<37x29xf32>, tensor<33x29xf32>, tensor<33x29xf32>
  }
  return %r#3, %r#4 : tensor<33x29xf32>, tensor<33x29xf32>
}

// Both operands are contiguous along the terms.
func.func @terms(%a: tensor<17x50xf32>, %b: tensor<23x50xf32>) -> (tensor<17x23xf32>, tensor<17x23xf32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<3> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<17x23xf32>
  %r:5 = dtensor.while (%zero, %a, %b, %none, %none) : (tensor<i32>, tensor<17x50xf32>, tensor<23x50xf32>, tensor<17x23xf32>, tensor<17x23xf32>) -> (tensor<i32>, tensor<17x50xf32>, tensor<23x50xf32>, tensor<17x23xf32>, tensor<17x23xf32>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<17x50xf32>, %v: tensor<23x50xf32>, %s: tensor<17x23xf32>, %t: tensor<17x23xf32>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<17x50xf32>, %v: tensor<23x50xf32>, %s: tensor<17x23xf32>, %t: tensor<17x23xf32>):
    %k = dtensor.add %i, %one : tensor<i32>
    %x = dtensor.dot_general %u, %b contracting [1] x [1] : (tensor<17x50xf32>, tensor<23x50xf32>) -> tensor<17x23xf32>
    %y = dtensor.dot_general %u, %v contracting [1] x [1] : (tensor<17x50xf32>, tensor<23x50xf32>) -> tensor<17x23xf32>
    %s1 = dtensor.add %s, %x : tensor<17x23xf32>
    %t1 = dtensor.subtract %y, %t : tensor<17x23xf32>
    %u1 = dtensor.negate %u : tensor<17x50xf32>
    %v1 = dtensor.add %v, %v : tensor<23x50xf32>
    dtensor.yield %k, %u1, %v1, %s1, %t1 : tensor<i32>, tensor<17x50xf32>, tensor<23x50xf32>, tensor<17x23xf32>, tensor<17x23xf32>
  }
  return %r#3, %r#4 : tensor<17x23xf32>, tensor<17x23xf32>
}

// The same with few terms: the right operand is transposed first.
func.func @few_terms(%a: tensor<31x9xf32>, %b: tensor<67x9xf32>) -> (tensor<31x67xf32>, tensor<31x67xf32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<3> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<31x67xf32>
  %r:5 = dtensor.while (%zero, %a, %b, %none, %none) : (tensor<i32>, tensor<31x9xf32>, tensor<67x9xf32>, tensor<31x67xf32>, tensor<31x67xf32>) -> (tensor<i32>, tensor<31x9xf32>, tensor<67x9xf32>, tensor<31x67xf32>, tensor<31x67xf32>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<31x9xf32>, %v: tensor<67x9xf32>, %s: tensor<31x67xf32>, %t: tensor<31x67xf32>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<31x9xf32>, %v: tensor<67x9xf32>, %s: tensor<31x67xf32>, %t: tensor<31x67xf32>):
    %k = dtensor.add %i, %one : tensor<i32>
    %x = dtensor.dot_general %u, %b contracting [1] x [1] : (tensor<31x9xf32>, tensor<67x9xf32>) -> tensor<31x67xf32>
    %y = dtensor.dot_general %u, %v contracting [1] x [1] : (tensor<31x9xf32>, tensor<67x9xf32>) -> tensor<31x67xf32>
    %s1 = dtensor.add %s, %x : tensor<31x67xf32>
    %t1 = dtensor.subtract %y, %t : tensor<31x67xf32>
    %u1 = dtensor.negate %u : tensor<31x9xf32>
    %v1 = dtensor.add %v, %v : tensor<67x9xf32>
    dtensor.yield %k, %u1, %v1, %s1, %t1 : tensor<i32>, tensor<31x9xf32>, tensor<67x9xf32>, tensor<31x67xf32>, tensor<31x67xf32>
  }
  return %r#3, %r#4 : tensor<31x67xf32>, tensor<31x67xf32>
}

// Terms are the rows of both operands.
func.func @left_transposed(%a: tensor<50x17xf32>, %b: tensor<50x23xf32>) -> (tensor<17x23xf32>, tensor<17x23xf32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<3> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<17x23xf32>
  %r:5 = dtensor.while (%zero, %a, %b, %none, %none) : (tensor<i32>, tensor<50x17xf32>, tensor<50x23xf32>, tensor<17x23xf32>, tensor<17x23xf32>) -> (tensor<i32>, tensor<50x17xf32>, tensor<50x23xf32>, tensor<17x23xf32>, tensor<17x23xf32>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<50x17xf32>, %v: tensor<50x23xf32>, %s: tensor<17x23xf32>, %t: tensor<17x23xf32>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<50x17xf32>, %v: tensor<50x23xf32>, %s: tensor<17x23xf32>, %t: tensor<17x23xf32>):
    %k = dtensor.add %i, %one : tensor<i32>
    %x = dtensor.dot_general %u, %b contracting [0] x [0] : (tensor<50x17xf32>, tensor<50x23xf32>) -> tensor<17x23xf32>
    %y = dtensor.dot_general %u, %v contracting [0] x [0] : (tensor<50x17xf32>, tensor<50x23xf32>) -> tensor<17x23xf32>
    %s1 = dtensor.add %s, %x : tensor<17x23xf32>
    %t1 = dtensor.subtract %y, %t : tensor<17x23xf32>
    %u1 = dtensor.negate %u : tensor<50x17xf32>
    %v1 = dtensor.add %v, %v : tensor<50x23xf32>
    dtensor.yield %k, %u1, %v1, %s1, %t1 : tensor<i32>, tensor<50x17xf32>, tensor<50x23xf32>, tensor<17x23xf32>, tensor<17x23xf32>
  }
  return %r#3, %r#4 : tensor<17x23xf32>, tensor<17x23xf32>
}

// Neither operand can be read as it is.
func.func @both_transposed(%a: tensor<50x17xf32>, %b: tensor<23x50xf32>) -> (tensor<17x23xf32>, tensor<17x23xf32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<3> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<17x23xf32>
  %r:5 = dtensor.while (%zero, %a, %b, %none, %none) : (tensor<i32>, tensor<50x17xf32>, tensor<23x50xf32>, tensor<17x23xf32>, tensor<17x23xf32>) -> (tensor<i32>, tensor<50x17xf32>, tensor<23x50xf32>, tensor<17x23xf32>, tensor<17x23xf32>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<50x17xf32>, %v: tensor<23x50xf32>, %s: tensor<17x23xf32>, %t: tensor<17x23xf32>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<50x17xf32>, %v: tensor<23x50xf32>, %s: tensor<17x23xf32>, %t: tensor<17x23xf32>):
    %k = dtensor.add %i, %one : tensor<i32>
    %x = dtensor.dot_general %u, %b contracting [0] x [1] : (tensor<50x17xf32>, tensor<23x50xf32>) -> tensor<17x23xf32>
    %y = dtensor.dot_general %u, %v contracting [0] x [1] : (tensor<50x17xf32>, tensor<23x50xf32>) -> tensor<17x23xf32>
    %s1 = dtensor.add %s, %x : tensor<17x23xf32>
    %t1 = dtensor.subtract %y, %t : tensor<17x23xf32>
    %u1 = dtensor.negate %u : tensor<50x17xf32>
    %v1 = dtensor.add %v, %v : tensor<23x50xf32>
    dtensor.yield %k, %u1, %v1, %s1, %t1 : tensor<i32>, tensor<50x17xf32>, tensor<23x50xf32>, tensor<17x23xf32>, tensor<17x23xf32>
  }
  return %r#3, %r#4 : tensor<17x23xf32>, tensor<17x23xf32>
}

// A matrix by a vector.
func.func @vector(%a: tensor<150x130xf32>, %b: tensor<130xf32>) -> (tensor<150xf32>, tensor<150xf32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<3> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<150xf32>
  %r:5 = dtensor.while (%zero, %a, %b, %none, %none) : (tensor<i32>, tensor<150x130xf32>, tensor<130xf32>, tensor<150xf32>, tensor<150xf32>) -> (tensor<i32>, tensor<150x130xf32>, tensor<130xf32>, tensor<150xf32>, tensor<150xf32>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<150x130xf32>, %v: tensor<130xf32>, %s: tensor<150xf32>, %t: tensor<150xf32>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<150x130xf32>, %v: tensor<130xf32>, %s: tensor<150xf32>, %t: tensor<150xf32>):
    %k = dtensor.add %i, %one : tensor<i32>
    %x = dtensor.dot_general %u, %b contracting [1] x [0] : (tensor<150x130xf32>, tensor<130xf32>) -> tensor<150xf32>
    %y = dtensor.dot_general %u, %v contracting [1] x [0] : (tensor<150x130xf32>, tensor<130xf32>) -> tensor<150xf32>
    %s1 = dtensor.add %s, %x : tensor<150xf32>
    %t1 = dtensor.subtract %y, %t : tensor<150xf32>
    %u1 = dtensor.negate %u : tensor<150x130xf32>
    %v1 = dtensor.add %v, %v : tensor<130xf32>
    dtensor.yield %k, %u1, %v1, %s1, %t1 : tensor<i32>, tensor<150x130xf32>, tensor<130xf32>, tensor<150xf32>, tensor<150xf32>
  }
  return %r#3, %r#4 : tensor<150xf32>, tensor<150xf32>
}

// The transpose of a matrix by a vector.
func.func @transposed_vector(%a: tensor<130x150xf32>, %b: tensor<130xf32>) -> (tensor<150xf32>, tensor<150xf32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<3> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<150xf32>
  %r:5 = dtensor.while (%zero, %a, %b, %none, %none) : (tensor<i32>, tensor<130x150xf32>, tensor<130xf32>, tensor<150xf32>, tensor<150xf32>) -> (tensor<i32>, tensor<130x150xf32>, tensor<130xf32>, tensor<150xf32>, tensor<150xf32>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<130x150xf32>, %v: tensor<130xf32>, %s: tensor<150xf32>, %t: tensor<150xf32>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<130x150xf32>, %v: tensor<130xf32>, %s: tensor<150xf32>, %t: tensor<150xf32>):
    %k = dtensor.add %i, %one : tensor<i32>
    %x = dtensor.dot_general %u, %b contracting [0] x [0] : (tensor<130x150xf32>, tensor<130xf32>) -> tensor<150xf32>
    %y = dtensor.dot_general %u, %v contracting [0] x [0] : (tensor<130x150xf32>, tensor<130xf32>) -> tensor<150xf32>
    %s1 = dtensor.add %s, %x : tensor<150xf32>
    %t1 = dtensor.subtract %y, %t : tensor<150xf32>
    %u1 = dtensor.negate %u : tensor<130x150xf32>
    %v1 = dtensor.add %v, %v : tensor<130xf32>
    dtensor.yield %k, %u1, %v1, %s1, %t1 : tensor<i32>, tensor<130x150xf32>, tensor<130xf32>, tensor<150xf32>, tensor<150xf32>
  }
  return %r#3, %r#4 : tensor<150xf32>, tensor<150xf32>
}

// A vector by a matrix.
func.func @row(%a: tensor<130xf32>, %b: tensor<130x150xf32>) -> (tensor<150xf32>, tensor<150xf32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<3> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<150xf32>
  %r:5 = dtensor.while (%zero, %a, %b, %none, %none) : (tensor<i32>, tensor<130xf32>, tensor<130x150xf32>, tensor<150xf32>, tensor<150xf32>) -> (tensor<i32>, tensor<130xf32>, tensor<130x150xf32>, tensor<150xf32>, tensor<150xf32>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<130xf32>, %v: tensor<130x150xf32>, %s: tensor<150xf32>, %t: tensor<150xf32>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<130xf32>, %v: tensor<130x150xf32>, %s: tensor<150xf32>, %t: tensor<150xf32>):
    %k = dtensor.add %i, %one : tensor<i32>
    %x = dtensor.dot_general %u, %b contracting [0] x [0] : (tensor<130xf32>, tensor<130x150xf32>) -> tensor<150xf32>
    %y = dtensor.dot_general %u, %v contracting [0] x [0] : (tensor<130xf32>, tensor<130x150xf32>) -> tensor<150xf32>
    %s1 = dtensor.add %s, %x : tensor<150xf32>
    %t1 = dtensor.subtract %y, %t : tensor<150xf32>
    %u1 = dtensor.negate %u : tensor<130xf32>
    %v1 = dtensor.add %v, %v : tensor<130x150xf32>
    dtensor.yield %k, %u1, %v1, %s1, %t1 : tensor<i32>, tensor<130xf32>, tensor<130x150xf32>, tensor<150xf32>, tensor<150xf32>
  }
  return %r#3, %r#4 : tensor<150xf32>, tensor<150xf32>
}

// A vector by the transpose of a matrix.
func.func @row_transposed(%a: tensor<130xf32>, %b: tensor<150x130xf32>) -> (tensor<150xf32>, tensor<150xf32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<3> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<150xf32>
  %r:5 = dtensor.while (%zero, %a, %b, %none, %none) : (tensor<i32>, tensor<130xf32>, tensor<150x130xf32>, tensor<150xf32>, tensor<150xf32>) -> (tensor<i32>, tensor<130xf32>, tensor<150x130xf32>, tensor<150xf32>, tensor<150xf32>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<130xf32>, %v: tensor<150x130xf32>, %s: tensor<150xf32>, %t: tensor<150xf32>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<130xf32>, %v: tensor<150x130xf32>, %s: tensor<150xf32>, %t: tensor<150xf32>):
    %k = dtensor.add %i, %one : tensor<i32>
    %x = dtensor.dot_general %u, %b contracting [0] x [1] : (tensor<130xf32>, tensor<150x130xf32>) -> tensor<150xf32>
    %y = dtensor.dot_general %u, %v contracting [0] x [1] : (tensor<130xf32>, tensor<150x130xf32>) -> tensor<150xf32>
    %s1 = dtensor.add %s, %x : tensor<150xf32>
    %t1 = dtensor.subtract %y, %t : tensor<150xf32>
    %u1 = dtensor.negate %u : tensor<130xf32>
    %v1 = dtensor.add %v, %v : tensor<150x130xf32>
    dtensor.yield %k, %u1, %v1, %s1, %t1 : tensor<i32>, tensor<130xf32>, tensor<150x130xf32>, tensor<150xf32>, tensor<150xf32>
  }
  return %r#3, %r#4 : tensor<150xf32>, tensor<150xf32>
}

// A batch of products.
func.func @batch(%a: tensor<5x11x20xf32>, %b: tensor<5x20x19xf32>) -> (tensor<5x11x19xf32>, tensor<5x11x19xf32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<3> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<5x11x19xf32>
  %r:5 = dtensor.while (%zero, %a, %b, %none, %none) : (tensor<i32>, tensor<5x11x20xf32>, tensor<5x20x19xf32>, tensor<5x11x19xf32>, tensor<5x11x19xf32>) -> (tensor<i32>, tensor<5x11x20xf32>, tensor<5x20x19xf32>, tensor<5x11x19xf32>, tensor<5x11x19xf32>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<5x11x20xf32>, %v: tensor<5x20x19xf32>, %s: tensor<5x11x19xf32>, %t: tensor<5x11x19xf32>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<5x11x20xf32>, %v: tensor<5x20x19xf32>, %s: tensor<5x11x19xf32>, %t: tensor<5x11x19xf32>):
    %k = dtensor.add %i, %one : tensor<i32>
    %x = dtensor.dot_general %u, %b batching [0] x [0] contracting [2] x [1] : (tensor<5x11x20xf32>, tensor<5x20x19xf32>) -> tensor<5x11x19xf32>
    %y = dtensor.dot_general %u, %v batching [0] x [0] contracting [2] x [1] : (tensor<5x11x20xf32>, tensor<5x20x19xf32>) -> tensor<5x11x19xf32>
    %s1 = dtensor.add %s, %x : tensor<5x11x19xf32>
    %t1 = dtensor.subtract %y, %t : tensor<5x11x19xf32>
    %u1 = dtensor.negate %u : tensor<5x11x20xf32>
    %v1 = dtensor.add %v, %v : tensor<5x20x19xf32>
    dtensor.yield %k, %u1, %v1, %s1, %t1 : tensor<i32>, tensor<5x11x20xf32>, tensor<5x20x19xf32>, tensor<5x11x19xf32>, tensor<5x11x19xf32>
  }
  return %r#3, %r#4 : tensor<5x11x19xf32>, tensor<5x11x19xf32>
}

// Batch dims that are not the first ones.
func.func @inner_batch(%a: tensor<11x5x20xf32>, %b: tensor<20x19x5xf32>) -> (tensor<5x11x19xf32>, tensor<5x11x19xf32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<3> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<5x11x19xf32>
  %r:5 = dtensor.while (%zero, %a, %b, %none, %none) : (tensor<i32>, tensor<11x5x20xf32>, tensor<20x19x5xf32>, tensor<5x11x19xf32>, tensor<5x11x19xf32>) -> (tensor<i32>, tensor<11x5x20xf32>, tensor<20x19x5xf32>, tensor<5x11x19xf32>, tensor<5x11x19xf32>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<11x5x20xf32>, %v: tensor<20x19x5xf32>, %s: tensor<5x11x19xf32>, %t: tensor<5x11x19xf32>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<11x5x20xf32>, %v: tensor<20x19x5xf32>, %s: tensor<5x11x19xf32>, %t: tensor<5x11x19xf32>):
    %k = dtensor.add %i, %one : tensor<i32>
    %x = dtensor.dot_general %u, %b batching [1] x [2] contracting [2] x [0] : (tensor<11x5x20xf32>, tensor<20x19x5xf32>) -> tensor<5x11x19xf32>
    %y = dtensor.dot_general %u, %v batching [1] x [2] contracting [2] x [0] : (tensor<11x5x20xf32>, tensor<20x19x5xf32>) -> tensor<5x11x19xf32>
    %s1 = dtensor.add %s, %x : tensor<5x11x19xf32>
    %t1 = dtensor.subtract %y, %t : tensor<5x11x19xf32>
    %u1 = dtensor.negate %u : tensor<11x5x20xf32>
    %v1 = dtensor.add %v, %v : tensor<20x19x5xf32>
    dtensor.yield %k, %u1, %v1, %s1, %t1 : tensor<i32>, tensor<11x5x20xf32>, tensor<20x19x5xf32>, tensor<5x11x19xf32>, tensor<5x11x19xf32>
  }
  return %r#3, %r#4 : tensor<5x11x19xf32>, tensor<5x11x19xf32>
}

// Rows that are two dims with the terms between them.
func.func @split_rows(%a: tensor<7x20x9xf32>, %b: tensor<20x15xf32>) -> (tensor<7x9x15xf32>, tensor<7x9x15xf32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<3> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<7x9x15xf32>
  %r:5 = dtensor.while (%zero, %a, %b, %none, %none) : (tensor<i32>, tensor<7x20x9xf32>, tensor<20x15xf32>, tensor<7x9x15xf32>, tensor<7x9x15xf32>) -> (tensor<i32>, tensor<7x20x9xf32>, tensor<20x15xf32>, tensor<7x9x15xf32>, tensor<7x9x15xf32>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<7x20x9xf32>, %v: tensor<20x15xf32>, %s: tensor<7x9x15xf32>, %t: tensor<7x9x15xf32>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<7x20x9xf32>, %v: tensor<20x15xf32>, %s: tensor<7x9x15xf32>, %t: tensor<7x9x15xf32>):
    %k = dtensor.add %i, %one : tensor<i32>
    %x = dtensor.dot_general %u, %b contracting [1] x [0] : (tensor<7x20x9xf32>, tensor<20x15xf32>) -> tensor<7x9x15xf32>
    %y = dtensor.dot_general %u, %v contracting [1] x [0] : (tensor<7x20x9xf32>, tensor<20x15xf32>) -> tensor<7x9x15xf32>
    %s1 = dtensor.add %s, %x : tensor<7x9x15xf32>
    %t1 = dtensor.subtract %y, %t : tensor<7x9x15xf32>
    %u1 = dtensor.negate %u : tensor<7x20x9xf32>
    %v1 = dtensor.add %v, %v : tensor<20x15xf32>
    dtensor.yield %k, %u1, %v1, %s1, %t1 : tensor<i32>, tensor<7x20x9xf32>, tensor<20x15xf32>, tensor<7x9x15xf32>, tensor<7x9x15xf32>
  }
  return %r#3, %r#4 : tensor<7x9x15xf32>, tensor<7x9x15xf32>
}

// Terms that are two dims, in a different order.
func.func @two_sums(%a: tensor<12x5x6x10xf32>, %b: tensor<10x5x31xf32>) -> (tensor<12x6x31xf32>, tensor<12x6x31xf32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<3> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<12x6x31xf32>
  %r:5 = dtensor.while (%zero, %a, %b, %none, %none) : (tensor<i32>, tensor<12x5x6x10xf32>, tensor<10x5x31xf32>, tensor<12x6x31xf32>, tensor<12x6x31xf32>) -> (tensor<i32>, tensor<12x5x6x10xf32>, tensor<10x5x31xf32>, tensor<12x6x31xf32>, tensor<12x6x31xf32>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<12x5x6x10xf32>, %v: tensor<10x5x31xf32>, %s: tensor<12x6x31xf32>, %t: tensor<12x6x31xf32>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<12x5x6x10xf32>, %v: tensor<10x5x31xf32>, %s: tensor<12x6x31xf32>, %t: tensor<12x6x31xf32>):
    %k = dtensor.add %i, %one : tensor<i32>
    %x = dtensor.dot_general %u, %b contracting [3, 1] x [0, 1] : (tensor<12x5x6x10xf32>, tensor<10x5x31xf32>) -> tensor<12x6x31xf32>
    %y = dtensor.dot_general %u, %v contracting [3, 1] x [0, 1] : (tensor<12x5x6x10xf32>, tensor<10x5x31xf32>) -> tensor<12x6x31xf32>
    %s1 = dtensor.add %s, %x : tensor<12x6x31xf32>
    %t1 = dtensor.subtract %y, %t : tensor<12x6x31xf32>
    %u1 = dtensor.negate %u : tensor<12x5x6x10xf32>
    %v1 = dtensor.add %v, %v : tensor<10x5x31xf32>
    dtensor.yield %k, %u1, %v1, %s1, %t1 : tensor<i32>, tensor<12x5x6x10xf32>, tensor<10x5x31xf32>, tensor<12x6x31xf32>, tensor<12x6x31xf32>
  }
  return %r#3, %r#4 : tensor<12x6x31xf32>, tensor<12x6x31xf32>
}

func.func @doubles(%a: tensor<33x37xf64>, %b: tensor<37x29xf64>) -> (tensor<33x29xf64>, tensor<33x29xf64>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<3> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<33x29xf64>
  %r:5 = dtensor.while (%zero, %a, %b, %none, %none) : (tensor<i32>, tensor<33x37xf64>, tensor<37x29xf64>, tensor<33x29xf64>, tensor<33x29xf64>) -> (tensor<i32>, tensor<33x37xf64>, tensor<37x29xf64>, tensor<33x29xf64>, tensor<33x29xf64>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<33x37xf64>, %v: tensor<37x29xf64>, %s: tensor<33x29xf64>, %t: tensor<33x29xf64>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<33x37xf64>, %v: tensor<37x29xf64>, %s: tensor<33x29xf64>, %t: tensor<33x29xf64>):
    %k = dtensor.add %i, %one : tensor<i32>
    %x = dtensor.dot_general %u, %b contracting [1] x [0] : (tensor<33x37xf64>, tensor<37x29xf64>) -> tensor<33x29xf64>
    %y = dtensor.dot_general %u, %v contracting [1] x [0] : (tensor<33x37xf64>, tensor<37x29xf64>) -> tensor<33x29xf64>
    %s1 = dtensor.add %s, %x : tensor<33x29xf64>
    %t1 = dtensor.subtract %y, %t : tensor<33x29xf64>
    %u1 = dtensor.negate %u : tensor<33x37xf64>
    %v1 = dtensor.add %v, %v : tensor<37x29xf64>
    dtensor.yield %k, %u1, %v1, %s1, %t1 : tensor<i32>, tensor<33x37xf64>, tensor<37x29xf64>, tensor<33x29xf64>, tensor<33x29xf64>
  }
  return %r#3, %r#4 : tensor<33x29xf64>, tensor<33x29xf64>
}

func.func @double_terms(%a: tensor<17x50xf64>, %b: tensor<23x50xf64>) -> (tensor<17x23xf64>, tensor<17x23xf64>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<3> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<17x23xf64>
  %r:5 = dtensor.while (%zero, %a, %b, %none, %none) : (tensor<i32>, tensor<17x50xf64>, tensor<23x50xf64>, tensor<17x23xf64>, tensor<17x23xf64>) -> (tensor<i32>, tensor<17x50xf64>, tensor<23x50xf64>, tensor<17x23xf64>, tensor<17x23xf64>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<17x50xf64>, %v: tensor<23x50xf64>, %s: tensor<17x23xf64>, %t: tensor<17x23xf64>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<17x50xf64>, %v: tensor<23x50xf64>, %s: tensor<17x23xf64>, %t: tensor<17x23xf64>):
    %k = dtensor.add %i, %one : tensor<i32>
    %x = dtensor.dot_general %u, %b contracting [1] x [1] : (tensor<17x50xf64>, tensor<23x50xf64>) -> tensor<17x23xf64>
    %y = dtensor.dot_general %u, %v contracting [1] x [1] : (tensor<17x50xf64>, tensor<23x50xf64>) -> tensor<17x23xf64>
    %s1 = dtensor.add %s, %x : tensor<17x23xf64>
    %t1 = dtensor.subtract %y, %t : tensor<17x23xf64>
    %u1 = dtensor.negate %u : tensor<17x50xf64>
    %v1 = dtensor.add %v, %v : tensor<23x50xf64>
    dtensor.yield %k, %u1, %v1, %s1, %t1 : tensor<i32>, tensor<17x50xf64>, tensor<23x50xf64>, tensor<17x23xf64>, tensor<17x23xf64>
  }
  return %r#3, %r#4 : tensor<17x23xf64>, tensor<17x23xf64>
}

func.func @bfloats(%a: tensor<33x37xbf16>, %b: tensor<37x29xbf16>) -> (tensor<33x29xbf16>, tensor<33x29xbf16>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<3> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<33x29xbf16>
  %r:5 = dtensor.while (%zero, %a, %b, %none, %none) : (tensor<i32>, tensor<33x37xbf16>, tensor<37x29xbf16>, tensor<33x29xbf16>, tensor<33x29xbf16>) -> (tensor<i32>, tensor<33x37xbf16>, tensor<37x29xbf16>, tensor<33x29xbf16>, tensor<33x29xbf16>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<33x37xbf16>, %v: tensor<37x29xbf16>, %s: tensor<33x29xbf16>, %t: tensor<33x29xbf16>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<33x37xbf16>, %v: tensor<37x29xbf16>, %s: tensor<33x29xbf16>, %t: tensor<33x29xbf16>):
    %k = dtensor.add %i, %one : tensor<i32>
    %x = dtensor.dot_general %u, %b contracting [1] x [0] : (tensor<33x37xbf16>, tensor<37x29xbf16>) -> tensor<33x29xbf16>
    %y = dtensor.dot_general %u, %v contracting [1] x [0] : (tensor<33x37xbf16>, tensor<37x29xbf16>) -> tensor<33x29xbf16>
    %s1 = dtensor.add %s, %x : tensor<33x29xbf16>
    %t1 = dtensor.subtract %y, %t : tensor<33x29xbf16>
    %u1 = dtensor.negate %u : tensor<33x37xbf16>
    %v1 = dtensor.add %v, %v : tensor<37x29xbf16>
    dtensor.yield %k, %u1, %v1, %s1, %t1 : tensor<i32>, tensor<33x37xbf16>, tensor<37x29xbf16>, tensor<33x29xbf16>, tensor<33x29xbf16>
  }
  return %r#3, %r#4 : tensor<33x29xbf16>, tensor<33x29xbf16>
}

// The operands are converted.
func.func @bfloats_into_floats(%a: tensor<33x37xbf16>, %b: tensor<37x29xbf16>) -> (tensor<33x29xf32>, tensor<33x29xf32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<3> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<33x29xf32>
  %r:5 = dtensor.while (%zero, %a, %b, %none, %none) : (tensor<i32>, tensor<33x37xbf16>, tensor<37x29xbf16>, tensor<33x29xf32>, tensor<33x29xf32>) -> (tensor<i32>, tensor<33x37xbf16>, tensor<37x29xbf16>, tensor<33x29xf32>, tensor<33x29xf32>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<33x37xbf16>, %v: tensor<37x29xbf16>, %s: tensor<33x29xf32>, %t: tensor<33x29xf32>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<33x37xbf16>, %v: tensor<37x29xbf16>, %s: tensor<33x29xf32>, %t: tensor<33x29xf32>):
    %k = dtensor.add %i, %one : tensor<i32>
    %x = dtensor.dot_general %u, %b contracting [1] x [0] : (tensor<33x37xbf16>, tensor<37x29xbf16>) -> tensor<33x29xf32>
    %y = dtensor.dot_general %u, %v contracting [1] x [0] : (tensor<33x37xbf16>, tensor<37x29xbf16>) -> tensor<33x29xf32>
    %s1 = dtensor.add %s, %x : tensor<33x29xf32>
    %t1 = dtensor.subtract %y, %t : tensor<33x29xf32>
    %u1 = dtensor.negate %u : tensor<33x37xbf16>
    %v1 = dtensor.add %v, %v : tensor<37x29xbf16>
    dtensor.yield %k, %u1, %v1, %s1, %t1 : tensor<i32>, tensor<33x37xbf16>, tensor<37x29xbf16>, tensor<33x29xf32>, tensor<33x29xf32>
  }
  return %r#3, %r#4 : tensor<33x29xf32>, tensor<33x29xf32>
}

func.func @bfloat_terms(%a: tensor<17x50xbf16>, %b: tensor<23x50xbf16>) -> (tensor<17x23xbf16>, tensor<17x23xbf16>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<3> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<17x23xbf16>
  %r:5 = dtensor.while (%zero, %a, %b, %none, %none) : (tensor<i32>, tensor<17x50xbf16>, tensor<23x50xbf16>, tensor<17x23xbf16>, tensor<17x23xbf16>) -> (tensor<i32>, tensor<17x50xbf16>, tensor<23x50xbf16>, tensor<17x23xbf16>, tensor<17x23xbf16>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<17x50xbf16>, %v: tensor<23x50xbf16>, %s: tensor<17x23xbf16>, %t: tensor<17x23xbf16>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<17x50xbf16>, %v: tensor<23x50xbf16>, %s: tensor<17x23xbf16>, %t: tensor<17x23xbf16>):
    %k = dtensor.add %i, %one : tensor<i32>
    %x = dtensor.dot_general %u, %b contracting [1] x [1] : (tensor<17x50xbf16>, tensor<23x50xbf16>) -> tensor<17x23xbf16>
    %y = dtensor.dot_general %u, %v contracting [1] x [1] : (tensor<17x50xbf16>, tensor<23x50xbf16>) -> tensor<17x23xbf16>
    %s1 = dtensor.add %s, %x : tensor<17x23xbf16>
    %t1 = dtensor.subtract %y, %t : tensor<17x23xbf16>
    %u1 = dtensor.negate %u : tensor<17x50xbf16>
    %v1 = dtensor.add %v, %v : tensor<23x50xbf16>
    dtensor.yield %k, %u1, %v1, %s1, %t1 : tensor<i32>, tensor<17x50xbf16>, tensor<23x50xbf16>, tensor<17x23xbf16>, tensor<17x23xbf16>
  }
  return %r#3, %r#4 : tensor<17x23xbf16>, tensor<17x23xbf16>
}

func.func @halves(%a: tensor<33x37xf16>, %b: tensor<37x29xf16>) -> (tensor<33x29xf16>, tensor<33x29xf16>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<3> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<33x29xf16>
  %r:5 = dtensor.while (%zero, %a, %b, %none, %none) : (tensor<i32>, tensor<33x37xf16>, tensor<37x29xf16>, tensor<33x29xf16>, tensor<33x29xf16>) -> (tensor<i32>, tensor<33x37xf16>, tensor<37x29xf16>, tensor<33x29xf16>, tensor<33x29xf16>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<33x37xf16>, %v: tensor<37x29xf16>, %s: tensor<33x29xf16>, %t: tensor<33x29xf16>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<33x37xf16>, %v: tensor<37x29xf16>, %s: tensor<33x29xf16>, %t: tensor<33x29xf16>):
    %k = dtensor.add %i, %one : tensor<i32>
    %x = dtensor.dot_general %u, %b contracting [1] x [0] : (tensor<33x37xf16>, tensor<37x29xf16>) -> tensor<33x29xf16>
    %y = dtensor.dot_general %u, %v contracting [1] x [0] : (tensor<33x37xf16>, tensor<37x29xf16>) -> tensor<33x29xf16>
    %s1 = dtensor.add %s, %x : tensor<33x29xf16>
    %t1 = dtensor.subtract %y, %t : tensor<33x29xf16>
    %u1 = dtensor.negate %u : tensor<33x37xf16>
    %v1 = dtensor.add %v, %v : tensor<37x29xf16>
    dtensor.yield %k, %u1, %v1, %s1, %t1 : tensor<i32>, tensor<33x37xf16>, tensor<37x29xf16>, tensor<33x29xf16>, tensor<33x29xf16>
  }
  return %r#3, %r#4 : tensor<33x29xf16>, tensor<33x29xf16>
}

func.func @half_terms(%a: tensor<17x50xf16>, %b: tensor<23x50xf16>) -> (tensor<17x23xf16>, tensor<17x23xf16>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<3> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<17x23xf16>
  %r:5 = dtensor.while (%zero, %a, %b, %none, %none) : (tensor<i32>, tensor<17x50xf16>, tensor<23x50xf16>, tensor<17x23xf16>, tensor<17x23xf16>) -> (tensor<i32>, tensor<17x50xf16>, tensor<23x50xf16>, tensor<17x23xf16>, tensor<17x23xf16>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<17x50xf16>, %v: tensor<23x50xf16>, %s: tensor<17x23xf16>, %t: tensor<17x23xf16>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<17x50xf16>, %v: tensor<23x50xf16>, %s: tensor<17x23xf16>, %t: tensor<17x23xf16>):
    %k = dtensor.add %i, %one : tensor<i32>
    %x = dtensor.dot_general %u, %b contracting [1] x [1] : (tensor<17x50xf16>, tensor<23x50xf16>) -> tensor<17x23xf16>
    %y = dtensor.dot_general %u, %v contracting [1] x [1] : (tensor<17x50xf16>, tensor<23x50xf16>) -> tensor<17x23xf16>
    %s1 = dtensor.add %s, %x : tensor<17x23xf16>
    %t1 = dtensor.subtract %y, %t : tensor<17x23xf16>
    %u1 = dtensor.negate %u : tensor<17x50xf16>
    %v1 = dtensor.add %v, %v : tensor<23x50xf16>
    dtensor.yield %k, %u1, %v1, %s1, %t1 : tensor<i32>, tensor<17x50xf16>, tensor<23x50xf16>, tensor<17x23xf16>, tensor<17x23xf16>
  }
  return %r#3, %r#4 : tensor<17x23xf16>, tensor<17x23xf16>
}

func.func @integers(%a: tensor<33x37xi32>, %b: tensor<37x29xi32>) -> (tensor<33x29xi32>, tensor<33x29xi32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<3> : tensor<i32>
  %none = dtensor.constant dense<0> : tensor<33x29xi32>
  %r:5 = dtensor.while (%zero, %a, %b, %none, %none) : (tensor<i32>, tensor<33x37xi32>, tensor<37x29xi32>, tensor<33x29xi32>, tensor<33x29xi32>) -> (tensor<i32>, tensor<33x37xi32>, tensor<37x29xi32>, tensor<33x29xi32>, tensor<33x29xi32>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<33x37xi32>, %v: tensor<37x29xi32>, %s: tensor<33x29xi32>, %t: tensor<33x29xi32>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<33x37xi32>, %v: tensor<37x29xi32>, %s: tensor<33x29xi32>, %t: tensor<33x29xi32>):
    %k = dtensor.add %i, %one : tensor<i32>
    %x = dtensor.dot_general %u, %b contracting [1] x [0] : (tensor<33x37xi32>, tensor<37x29xi32>) -> tensor<33x29xi32>
    %y = dtensor.dot_general %u, %v contracting [1] x [0] : (tensor<33x37xi32>, tensor<37x29xi32>) -> tensor<33x29xi32>
    %s1 = dtensor.add %s, %x : tensor<33x29xi32>
    %t1 = dtensor.subtract %y, %t : tensor<33x29xi32>
    %u1 = dtensor.negate %u : tensor<33x37xi32>
    %v1 = dtensor.add %v, %v : tensor<37x29xi32>
    dtensor.yield %k, %u1, %v1, %s1, %t1 : tensor<i32>, tensor<33x37xi32>, tensor<37x29xi32>, tensor<33x29xi32>, tensor<33x29xi32>
  }
  return %r#3, %r#4 : tensor<33x29xi32>, tensor<33x29xi32>
}

func.func @integer_terms(%a: tensor<17x50xui32>, %b: tensor<23x50xui32>) -> (tensor<17x23xui32>, tensor<17x23xui32>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<3> : tensor<i32>
  %none = dtensor.constant dense<0> : tensor<17x23xui32>
  %r:5 = dtensor.while (%zero, %a, %b, %none, %none) : (tensor<i32>, tensor<17x50xui32>, tensor<23x50xui32>, tensor<17x23xui32>, tensor<17x23xui32>) -> (tensor<i32>, tensor<17x50xui32>, tensor<23x50xui32>, tensor<17x23xui32>, tensor<17x23xui32>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<17x50xui32>, %v: tensor<23x50xui32>, %s: tensor<17x23xui32>, %t: tensor<17x23xui32>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<17x50xui32>, %v: tensor<23x50xui32>, %s: tensor<17x23xui32>, %t: tensor<17x23xui32>):
    %k = dtensor.add %i, %one : tensor<i32>
    %x = dtensor.dot_general %u, %b contracting [1] x [1] : (tensor<17x50xui32>, tensor<23x50xui32>) -> tensor<17x23xui32>
    %y = dtensor.dot_general %u, %v contracting [1] x [1] : (tensor<17x50xui32>, tensor<23x50xui32>) -> tensor<17x23xui32>
    %s1 = dtensor.add %s, %x : tensor<17x23xui32>
    %t1 = dtensor.subtract %y, %t : tensor<17x23xui32>
    %u1 = dtensor.add %u, %u : tensor<17x50xui32>
    %v1 = dtensor.add %v, %v : tensor<23x50xui32>
    dtensor.yield %k, %u1, %v1, %s1, %t1 : tensor<i32>, tensor<17x50xui32>, tensor<23x50xui32>, tensor<17x23xui32>, tensor<17x23xui32>
  }
  return %r#3, %r#4 : tensor<17x23xui32>, tensor<17x23xui32>
}

// Rows of a slice are as far apart as those of the array.
func.func @slice(%a: tensor<4x40x37xf32>, %b: tensor<37x29xf32>) -> tensor<2x10x29xf32> {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %n = dtensor.constant dense<3> : tensor<i32>
  %none = dtensor.constant dense<0.0> : tensor<2x10x29xf32>
  %r:2 = dtensor.while (%zero, %none) : (tensor<i32>, tensor<2x10x29xf32>) -> (tensor<i32>, tensor<2x10x29xf32>) cond {
  ^bb0(%i: tensor<i32>, %s: tensor<2x10x29xf32>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<2x10x29xf32>):
    %k = dtensor.add %i, %one : tensor<i32>
    %u = dtensor.dynamic_slice %a at %i, %k, %zero sizes [2, 10, 37] : (tensor<4x40x37xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x10x37xf32>
    %x = dtensor.dot_general %u, %b contracting [2] x [0] : (tensor<2x10x37xf32>, tensor<37x29xf32>) -> tensor<2x10x29xf32>
    %s1 = dtensor.add %s, %x : tensor<2x10x29xf32>
    dtensor.yield %k, %s1 : tensor<i32>, tensor<2x10x29xf32>
  }
  return %r#1 : tensor<2x10x29xf32>
}
