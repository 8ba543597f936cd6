// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops and branches for GradientTest: an expression each.
#pragma once

namespace meshloom::test {

/// A scan: the carried value goes through a layer of a stack each time.
inline constexpr const char *scanBody = R"(
  %c0 = dtensor.constant dense<0> : tensor<i32>
  %l:2 = dtensor.while (%c0, %a) : (tensor<i32>, tensor<2x3xf64>) -> (tensor<i32>, tensor<2x3xf64>) cond {
  ^bb0(%i: tensor<i32>, %h: tensor<2x3xf64>):
    %n = dtensor.constant dense<3> : tensor<i32>
    %q = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %q : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %h: tensor<2x3xf64>):
    %one = dtensor.constant dense<1> : tensor<i32>
    %j = dtensor.add %i, %one : tensor<i32>
    %s = dtensor.dynamic_slice %b at %i, %c0, %c0 sizes [1, 3, 3] : (tensor<3x3x3xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x3xf64>
    %w = dtensor.reshape %s : (tensor<1x3x3xf64>) -> tensor<3x3xf64>
    %m = dtensor.matmul %h, %w : (tensor<2x3xf64>, tensor<3x3xf64>) -> tensor<2x3xf64>
    %t = dtensor.tanh %m : tensor<2x3xf64>
    dtensor.yield %j, %t : tensor<i32>, tensor<2x3xf64>
  }
  %r = dtensor.add %l#1, %a : tensor<2x3xf64>)";

/// The counter goes down by two and is used; values swap, one is only summed,
/// one does not depend on anything, and one starts as what the loop captures.
inline constexpr const char *swapBody = R"(
  %c7 = dtensor.constant dense<7> : tensor<i64>
  %ones = dtensor.constant dense<1.0> : tensor<3xf64>
  %l:5 = dtensor.while (%c7, %a, %b, %a, %ones)
      : (tensor<i64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>)
     -> (tensor<i64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) cond {
  ^bb0(%i: tensor<i64>, %u: tensor<3xf64>, %v: tensor<3xf64>, %s: tensor<3xf64>, %o: tensor<3xf64>):
    %n = dtensor.constant dense<1> : tensor<i64>
    %q = dtensor.compare GE, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    dtensor.yield %q : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %u: tensor<3xf64>, %v: tensor<3xf64>, %s: tensor<3xf64>, %o: tensor<3xf64>):
    %two = dtensor.constant dense<2> : tensor<i64>
    %j = dtensor.subtract %i, %two : tensor<i64>
    %f = dtensor.convert %i : (tensor<i64>) -> tensor<f64>
    %g = dtensor.broadcast_in_dim %f dims [] : (tensor<f64>) -> tensor<3xf64>
    %m = dtensor.multiply %u, %g : tensor<3xf64>
    %k = dtensor.multiply %m, %b : tensor<3xf64>
    %x = dtensor.sine %k : tensor<3xf64>
    %y = dtensor.add %s, %x : tensor<3xf64>
    %p = dtensor.add %o, %o : tensor<3xf64>
    dtensor.yield %j, %v, %x, %y, %p : tensor<i64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>
  }
  %r0 = dtensor.multiply %l#3, %l#1 : tensor<3xf64>
  %r = dtensor.add %r0, %l#4 : tensor<3xf64>)";

/// A branch of three, one of which passes on what it captured.
inline constexpr const char *caseBody = R"(
  %z = dtensor.constant dense<0> : tensor<i32>
  %zero = dtensor.constant dense<0.0> : tensor<f64>
  %total = dtensor.reduce sum %a dims [0] : (tensor<3xf64>) -> tensor<f64>
  %big = dtensor.multiply %total, %zero : tensor<f64>
  %g = dtensor.compare GT, %total, %big : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %index = dtensor.convert %g : (tensor<i1>) -> tensor<i32>
  %k:2 = dtensor.case %index : (tensor<i32>) -> (tensor<3xf64>, tensor<3xf64>) {
    %e = dtensor.exp %a : tensor<3xf64>
    %m = dtensor.multiply %e, %b : tensor<3xf64>
    dtensor.yield %m, %a : tensor<3xf64>, tensor<3xf64>
  }, {
    %t = dtensor.tanh %b : tensor<3xf64>
    dtensor.yield %t, %b : tensor<3xf64>, tensor<3xf64>
  }, {
    dtensor.yield %a, %a : tensor<3xf64>, tensor<3xf64>
  }
  %r = dtensor.multiply %k#0, %k#1 : tensor<3xf64>)";

/// A loop in a branch in a loop; only the inner one counts by a constant that
/// the outer one could change.
inline constexpr const char *nestedBody = R"(
  %c0 = dtensor.constant dense<0> : tensor<i32>
  %c1 = dtensor.constant dense<1> : tensor<i32>
  %l:2 = dtensor.while (%c0, %a) : (tensor<i32>, tensor<3xf64>) -> (tensor<i32>, tensor<3xf64>) cond {
  ^bb0(%i: tensor<i32>, %h: tensor<3xf64>):
    %n = dtensor.constant dense<2> : tensor<i32>
    %q = dtensor.compare NE, %n, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %q : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %h: tensor<3xf64>):
    %j = dtensor.add %i, %c1 : tensor<i32>
    %k = dtensor.case %i : (tensor<i32>) -> tensor<3xf64> {
      %n:2 = dtensor.while (%c0, %h) : (tensor<i32>, tensor<3xf64>) -> (tensor<i32>, tensor<3xf64>) cond {
      ^bb0(%s: tensor<i32>, %v: tensor<3xf64>):
        %n = dtensor.constant dense<3> : tensor<i32>
        %q = dtensor.compare LT, %s, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        dtensor.yield %q : tensor<i1>
      } do {
      ^bb0(%s: tensor<i32>, %v: tensor<3xf64>):
        %t = dtensor.add %s, %c1 : tensor<i32>
        %m = dtensor.multiply %v, %b : tensor<3xf64>
        %e = dtensor.cosine %m : tensor<3xf64>
        dtensor.yield %t, %e : tensor<i32>, tensor<3xf64>
      }
      dtensor.yield %n#1 : tensor<3xf64>
    }, {
      %m = dtensor.multiply %h, %h : tensor<3xf64>
      dtensor.yield %m : tensor<3xf64>
    }
    dtensor.yield %j, %k : tensor<i32>, tensor<3xf64>
  }
  %r = dtensor.multiply %l#1, %a : tensor<3xf64>)";

/// A loop that does not go round.
inline constexpr const char *neverBody = R"(
  %c0 = dtensor.constant dense<0> : tensor<i32>
  %l:2 = dtensor.while (%c0, %a) : (tensor<i32>, tensor<3xf64>) -> (tensor<i32>, tensor<3xf64>) cond {
  ^bb0(%i: tensor<i32>, %h: tensor<3xf64>):
    %q = dtensor.compare LT, %i, %c0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %q : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %h: tensor<3xf64>):
    %one = dtensor.constant dense<1> : tensor<i32>
    %j = dtensor.add %i, %one : tensor<i32>
    %m = dtensor.multiply %h, %b : tensor<3xf64>
    dtensor.yield %j, %m : tensor<i32>, tensor<3xf64>
  }
  %s = dtensor.sine %l#1 : tensor<3xf64>
  %r = dtensor.multiply %s, %b : tensor<3xf64>)";

/// A complex carried value.
inline constexpr const char *complexBody = R"(
  %c0 = dtensor.constant dense<0> : tensor<i32>
  %z0 = dtensor.complex %a, %b : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xcomplex<f64>>
  %l:2 = dtensor.while (%c0, %z0) : (tensor<i32>, tensor<3xcomplex<f64>>) -> (tensor<i32>, tensor<3xcomplex<f64>>) cond {
  ^bb0(%i: tensor<i32>, %z: tensor<3xcomplex<f64>>):
    %n = dtensor.constant dense<3> : tensor<i32>
    %q = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %q : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %z: tensor<3xcomplex<f64>>):
    %one = dtensor.constant dense<1> : tensor<i32>
    %j = dtensor.add %i, %one : tensor<i32>
    %s = dtensor.sine %z : tensor<3xcomplex<f64>>
    %x = dtensor.multiply %s, %z0 : tensor<3xcomplex<f64>>
    dtensor.yield %j, %x : tensor<i32>, tensor<3xcomplex<f64>>
  }
  %re = dtensor.real %l#1 : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
  %im = dtensor.imag %l#1 : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
  %r = dtensor.subtract %re, %im : tensor<3xf64>)";

} // namespace meshloom::test
