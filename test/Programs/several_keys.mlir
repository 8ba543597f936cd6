// Sorts by several integer keys, each of which decides where all before it are
// equal: up and down, of all the bits of a key, stably, along lines that are
// merged and lines that are sorted by digits, and with keys of both inputs.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x, *]>
func.func @main(%ishort: tensor<4x40xi32, #rows>, %lshort: tensor<4x40xi64, #rows>, %ushort: tensor<4x40xui8, #rows>, %ilong: tensor<4x700xi32, #rows>, %llong: tensor<4x700xi64, #rows>, %ulong: tensor<4x700xui8, #rows>)
    -> (tensor<4x40xi32>, tensor<4x40xi64>, tensor<4x40xui8>, tensor<4x40xi32>, tensor<4x40xi32>, tensor<4x40xi32>, tensor<4x700xi32>, tensor<4x700xi64>, tensor<4x700xui8>, tensor<4x700xi32>, tensor<4x700xi32>, tensor<4x700xi32>) {
  %position_short = dtensor.iota dim 1 : tensor<4x40xi32>
  %big_short = dtensor.constant dense<4611686018427387904> : tensor<4x40xi64>
  %far_short = dtensor.multiply %lshort, %big_short : (tensor<4x40xi64, #rows>, tensor<4x40xi64>) -> tensor<4x40xi64>
  %three_short = dtensor.constant dense<3> : tensor<4x40xi32>
  %few_short = dtensor.remainder %ishort, %three_short : (tensor<4x40xi32, #rows>, tensor<4x40xi32>) -> tensor<4x40xi32>
  %short:4 = dtensor.sort %few_short, %far_short, %ushort, %position_short dim 1 {is_stable}
      : (tensor<4x40xi32>, tensor<4x40xi64>, tensor<4x40xui8, #rows>, tensor<4x40xi32>) -> (tensor<4x40xi32>, tensor<4x40xi64>, tensor<4x40xui8>, tensor<4x40xi32>) {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i64>, %d: tensor<i64>, %e: tensor<ui8>, %f: tensor<ui8>, %p: tensor<i32>, %q: tensor<i32>):
    %c1 = dtensor.compare LT, %e, %f : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
    %c2 = dtensor.compare GT, %c, %d : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c3 = dtensor.compare EQ, %c, %d : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c4 = dtensor.and %c3, %c1 : tensor<i1>
    %c5 = dtensor.or %c2, %c4 : tensor<i1>
    %c6 = dtensor.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c7 = dtensor.compare EQ, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c8 = dtensor.and %c7, %c5 : tensor<i1>
    %c9 = dtensor.or %c6, %c8 : tensor<i1>
    dtensor.yield %c9 : tensor<i1>
  }
  // A key of both inputs, then one that is made of one.
  %both_short:2 = dtensor.sort %few_short, %position_short dim 1 {is_stable} : (tensor<4x40xi32>, tensor<4x40xi32>) -> (tensor<4x40xi32>, tensor<4x40xi32>) {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %p: tensor<i32>, %q: tensor<i32>):
    %five = dtensor.constant dense<5> : tensor<i32>
    %pr = dtensor.remainder %p, %five : tensor<i32>
    %qr = dtensor.remainder %q, %five : tensor<i32>
    %s = dtensor.add %a, %pr : tensor<i32>
    %t = dtensor.add %b, %qr : tensor<i32>
    %c1 = dtensor.compare LT, %qr, %pr : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c2 = dtensor.compare LT, %s, %t : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c3 = dtensor.compare EQ, %s, %t : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c4 = dtensor.select %c3, %c1, %c2 : (tensor<i1>, tensor<i1>, tensor<i1>) -> tensor<i1>
    dtensor.yield %c4 : tensor<i1>
  }
  %position_long = dtensor.iota dim 1 : tensor<4x700xi32>
  %big_long = dtensor.constant dense<4611686018427387904> : tensor<4x700xi64>
  %far_long = dtensor.multiply %llong, %big_long : (tensor<4x700xi64, #rows>, tensor<4x700xi64>) -> tensor<4x700xi64>
  %three_long = dtensor.constant dense<3> : tensor<4x700xi32>
  %few_long = dtensor.remainder %ilong, %three_long : (tensor<4x700xi32, #rows>, tensor<4x700xi32>) -> tensor<4x700xi32>
  %long:4 = dtensor.sort %few_long, %far_long, %ulong, %position_long dim 1 {is_stable}
      : (tensor<4x700xi32>, tensor<4x700xi64>, tensor<4x700xui8, #rows>, tensor<4x700xi32>) -> (tensor<4x700xi32>, tensor<4x700xi64>, tensor<4x700xui8>, tensor<4x700xi32>) {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i64>, %d: tensor<i64>, %e: tensor<ui8>, %f: tensor<ui8>, %p: tensor<i32>, %q: tensor<i32>):
    %c1 = dtensor.compare LT, %e, %f : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
    %c2 = dtensor.compare GT, %c, %d : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c3 = dtensor.compare EQ, %c, %d : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c4 = dtensor.and %c3, %c1 : tensor<i1>
    %c5 = dtensor.or %c2, %c4 : tensor<i1>
    %c6 = dtensor.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c7 = dtensor.compare EQ, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c8 = dtensor.and %c7, %c5 : tensor<i1>
    %c9 = dtensor.or %c6, %c8 : tensor<i1>
    dtensor.yield %c9 : tensor<i1>
  }
  // A key of both inputs, then one that is made of one.
  %both_long:2 = dtensor.sort %few_long, %position_long dim 1 {is_stable} : (tensor<4x700xi32>, tensor<4x700xi32>) -> (tensor<4x700xi32>, tensor<4x700xi32>) {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %p: tensor<i32>, %q: tensor<i32>):
    %five = dtensor.constant dense<5> : tensor<i32>
    %pr = dtensor.remainder %p, %five : tensor<i32>
    %qr = dtensor.remainder %q, %five : tensor<i32>
    %s = dtensor.add %a, %pr : tensor<i32>
    %t = dtensor.add %b, %qr : tensor<i32>
    %c1 = dtensor.compare LT, %qr, %pr : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c2 = dtensor.compare LT, %s, %t : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c3 = dtensor.compare EQ, %s, %t : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c4 = dtensor.select %c3, %c1, %c2 : (tensor<i1>, tensor<i1>, tensor<i1>) -> tensor<i1>
    dtensor.yield %c4 : tensor<i1>
  }
  return %short#0, %short#1, %short#2, %short#3, %both_short#0, %both_short#1, %long#0, %long#1, %long#2, %long#3, %both_long#0, %both_long#1
      : tensor<4x40xi32>, tensor<4x40xi64>, tensor<4x40xui8>, tensor<4x40xi32>, tensor<4x40xi32>, tensor<4x40xi32>, tensor<4x700xi32>, tensor<4x700xi64>, tensor<4x700xui8>, tensor<4x700xi32>, tensor<4x700xi32>, tensor<4x700xi32>
}
