// Running reductions, reductions by a function and sorts of short lines in
// loops that are compiled whole; arrays without elements come along.
// RUN: mesh-opt %s --target=cpu | FileCheck %s --check-prefix=WHOLE
// RUN: mesh-run %s --verify | FileCheck %s --check-prefix=RUNS
// WHOLE: spmd.library_call "loop"
// WHOLE-COUNT-3: spmd.library_call "cumulative"
// WHOLE: spmd.library_call "generic_reduce"
// WHOLE-COUNT-2: spmd.library_call "sort"
// WHOLE-COUNT-2: spmd.library_call "top_k"
// RUNS: result 0

func.func @main(%x: tensor<5x9xf32>, %h: tensor<70xbf16>, %k: tensor<4x6xi32>, %e: tensor<5x0xf32>) -> (tensor<5x9xf32>, tensor<70xbf16>, tensor<4x6xi32>, tensor<6xf32>, tensor<6xi32>, tensor<5x0xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %f = stablehlo.constant dense<0.0> : tensor<6xf32>
  %z = stablehlo.constant dense<0> : tensor<6xi32>
  %r:7 = stablehlo.while(%i = %zero, %a = %x, %b = %h, %c = %k, %d = %f, %g = %z, %w = %e) : tensor<i32>, tensor<5x9xf32>, tensor<70xbf16>, tensor<4x6xi32>, tensor<6xf32>, tensor<6xi32>, tensor<5x0xf32> cond {
    %goes = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %goes : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %sums = func.call @sums(%a) : (tensor<5x9xf32>) -> tensor<5x9xf32>
    %tamed = stablehlo.tanh %sums : tensor<5x9xf32>
    %small = func.call @small(%b) : (tensor<70xbf16>) -> tensor<70xbf16>
    %least = func.call @least(%c) : (tensor<4x6xi32>) -> tensor<4x6xi32>
    // The greatest element of each column and its row, the last of equal ones.
    %rows = stablehlo.iota dim = 0 : tensor<4x6xi32>
    %lowest = stablehlo.constant dense<-2147483648> : tensor<i32>
    %best:2 = stablehlo.reduce(%least init: %lowest), (%rows init: %zero) across dimensions = [0] : (tensor<4x6xi32>, tensor<4x6xi32>, tensor<i32>, tensor<i32>) -> (tensor<6xi32>, tensor<6xi32>)
     reducer(%l: tensor<i32>, %m: tensor<i32>) (%p: tensor<i32>, %q: tensor<i32>) {
      %isGreater = stablehlo.compare GE, %m, %l : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %value = stablehlo.select %isGreater, %m, %l : tensor<i1>, tensor<i32>
      %row = stablehlo.select %isGreater, %q, %p : tensor<i1>, tensor<i32>
      stablehlo.return %value, %row : tensor<i32>, tensor<i32>
    }
    %column = stablehlo.slice %tamed [1:2, 0:6] : (tensor<5x9xf32>) -> tensor<1x6xf32>
    %line = stablehlo.reshape %column : (tensor<1x6xf32>) -> tensor<6xf32>
    %sorted:2 = "stablehlo.sort"(%line, %best#1) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%s: tensor<f32>, %t: tensor<f32>, %u: tensor<i32>, %v: tensor<i32>):
      %isFirst = stablehlo.compare GT, %s, %t, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %isFirst : tensor<i1>
    }) : (tensor<6xf32>, tensor<6xi32>) -> (tensor<6xf32>, tensor<6xi32>)
    %ordered = "stablehlo.sort"(%least) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%s: tensor<i32>, %t: tensor<i32>):
      %isFirst = stablehlo.compare LT, %s, %t : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %isFirst : tensor<i1>
    }) : (tensor<4x6xi32>) -> tensor<4x6xi32>
    // More of a line than it has before the last of them, and few of many.
    %first, %places = chlo.top_k(%sorted#0, k = 6) : tensor<6xf32> -> (tensor<6xf32>, tensor<6xi32>)
    %halves, %others = chlo.top_k(%small, k = 6) : tensor<70xbf16> -> (tensor<6xbf16>, tensor<6xi32>)
    %wide = stablehlo.convert %halves : (tensor<6xbf16>) -> tensor<6xf32>
    %offsets = stablehlo.add %places, %others : tensor<6xi32>
    %shift = stablehlo.convert %offsets : (tensor<6xi32>) -> tensor<6xf32>
    %both = stablehlo.add %first, %wide : tensor<6xf32>
    %firsts = stablehlo.add %both, %shift : tensor<6xf32>
    stablehlo.return %next, %tamed, %small, %ordered, %firsts, %sorted#1, %w : tensor<i32>, tensor<5x9xf32>, tensor<70xbf16>, tensor<4x6xi32>, tensor<6xf32>, tensor<6xi32>, tensor<5x0xf32>
  }
  return %r#1, %r#2, %r#3, %r#4, %r#5, %r#6 : tensor<5x9xf32>, tensor<70xbf16>, tensor<4x6xi32>, tensor<6xf32>, tensor<6xi32>, tensor<5x0xf32>
}

// From the end to the beginning.
func.func private @sums(%x: tensor<5x9xf32>) -> tensor<5x9xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 1, 9>, padding = dense<[[0, 0], [0, 8]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<5x9xf32>, tensor<f32>) -> tensor<5x9xf32>
  return %r : tensor<5x9xf32>
}
func.func private @small(%x: tensor<70xbf16>) -> tensor<70xbf16> {
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %r = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 70>, padding = dense<[[69, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %s = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %s : tensor<bf16>
  }) : (tensor<70xbf16>, tensor<bf16>) -> tensor<70xbf16>
  return %r : tensor<70xbf16>
}
func.func private @least(%x: tensor<4x6xi32>) -> tensor<4x6xi32> {
  %most = stablehlo.constant dense<2147483647> : tensor<i32>
  %r = "stablehlo.reduce_window"(%x, %most) <{window_dimensions = array<i64: 4, 1>, padding = dense<[[3, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.minimum %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<4x6xi32>, tensor<i32>) -> tensor<4x6xi32>
  return %r : tensor<4x6xi32>
}
