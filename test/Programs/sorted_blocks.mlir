// Sorts along cut dims, block by block (under the ring; in shared memory the dim
// is brought together): columns and networks, one axis and two, zeros of both
// signs and equal keys, whose order shows in bits, places and what goes along.
// RUN: %verify
// RUN: mesh-opt %s --dtensor-distribute-ops=machine=ring | FileCheck %s
#mesh = #dtensor.mesh<x = 2, y = 4>
#line = #dtensor.layout<#mesh, [{x, y}]>
#last = #dtensor.layout<#mesh, [*, {y, x}]>
#cube = #dtensor.layout<#mesh, [*, {x, y}, *]>

// No sort of a whole dim is left.
// CHECK-LABEL: func.func @main
// CHECK-NOT: dtensor.sort {{.*}} dim 0
// CHECK-NOT: dtensor.sort {{.*}} : (tensor<2x832x
// CHECK: return
func.func @main(%i: tensor<1024xi32, #line>, %f: tensor<1024xf32, #line>,
                %m: tensor<128xi8, #line>, %k: tensor<2x832xf64, #last>,
                %v: tensor<2x832xi32, #last>, %c: tensor<2x832x2xi32, #cube>)
    -> (tensor<1024xi32, #line>, tensor<1024xi32, #line>, tensor<1024xi32, #line>, tensor<128xi8, #line>,
        tensor<2x832xf64, #last>, tensor<2x832xi32, #last>, tensor<2x832x2xi32, #cube>, tensor<1024xi32, #line>) {
  %many = dtensor.constant dense<37> : tensor<1024xi32>
  %few = dtensor.remainder %i, %many : (tensor<1024xi32, #line>, tensor<1024xi32>) -> tensor<1024xi32>
  %0 = dtensor.sort %few dim 0 : (tensor<1024xi32>) -> tensor<1024xi32> {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %r = dtensor.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %r : tensor<i1>
  }
  // As JAX compares floats: -0 is 0, all nans are alike and behind.
  %three = dtensor.constant dense<3.0> : tensor<1024xf32>
  %scaled = dtensor.multiply %f, %three : (tensor<1024xf32, #line>, tensor<1024xf32>) -> tensor<1024xf32>
  %round = dtensor.round %scaled : tensor<1024xf32>
  %1 = dtensor.sort %round dim 0 {is_stable} : (tensor<1024xf32>) -> tensor<1024xf32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %zero = dtensor.constant dense<0.0> : tensor<f32>
    %az = dtensor.compare EQ, %a, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %bz = dtensor.compare EQ, %b, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %a0 = dtensor.select %az, %zero, %a : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %b0 = dtensor.select %bz, %zero, %b : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %w = dtensor.constant dense<31> : tensor<i32>
    %most = dtensor.constant dense<2147483647> : tensor<i32>
    %ai = dtensor.bitcast_convert %a0 : (tensor<f32>) -> tensor<i32>
    %as = dtensor.shift_right_arithmetic %ai, %w : tensor<i32>
    %am = dtensor.and %as, %most : tensor<i32>
    %ak = dtensor.xor %ai, %am : tensor<i32>
    %bi = dtensor.bitcast_convert %b0 : (tensor<f32>) -> tensor<i32>
    %bs = dtensor.shift_right_arithmetic %bi, %w : tensor<i32>
    %bm = dtensor.and %bs, %most : tensor<i32>
    %bk = dtensor.xor %bi, %bm : tensor<i32>
    %r = dtensor.compare LT, %ak, %bk : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %r : tensor<i1>
  }
  %bits = dtensor.bitcast_convert %1 : (tensor<1024xf32>) -> tensor<1024xi32>
  // Argsort: the places decide.
  %place = dtensor.iota dim 0 : tensor<1024xi32>
  %2:2 = dtensor.sort %few, %place dim 0 {is_stable} : (tensor<1024xi32>, tensor<1024xi32>) -> (tensor<1024xi32>, tensor<1024xi32>) {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %p: tensor<i32>, %q: tensor<i32>):
    %r = dtensor.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %r : tensor<i1>
  }
  // Blocks of 16: a network.
  %3 = dtensor.sort %m dim 0 : (tensor<128xi8, #line>) -> tensor<128xi8> {
  ^bb0(%a: tensor<i8>, %b: tensor<i8>):
    %r = dtensor.compare LT, %a, %b : (tensor<i8>, tensor<i8>) -> tensor<i1>
    dtensor.yield %r : tensor<i1>
  }
  // A float key with nans behind, as the C++ API writes it, and a payload.
  %ten = dtensor.constant dense<10.0> : tensor<2x832xf64>
  %k10 = dtensor.multiply %k, %ten : (tensor<2x832xf64, #last>, tensor<2x832xf64>) -> tensor<2x832xf64>
  %key = dtensor.floor %k10 : (tensor<2x832xf64>) -> tensor<2x832xf64>
  %4:2 = dtensor.sort %key, %v dim 1 : (tensor<2x832xf64>, tensor<2x832xi32, #last>) -> (tensor<2x832xf64>, tensor<2x832xi32>) {
  ^bb0(%a: tensor<f64>, %b: tensor<f64>, %p: tensor<i32>, %q: tensor<i32>):
    %g = dtensor.compare GT, %a, %b : (tensor<f64>, tensor<f64>) -> tensor<i1>
    %n = dtensor.compare EQ, %a, %a : (tensor<f64>, tensor<f64>) -> tensor<i1>
    %o = dtensor.compare NE, %b, %b : (tensor<f64>, tensor<f64>) -> tensor<i1>
    %l = dtensor.and %n, %o : tensor<i1>
    %r = dtensor.or %g, %l : tensor<i1>
    dtensor.yield %r : tensor<i1>
  }
  // A dim in the middle.
  %5 = dtensor.sort %c dim 1 : (tensor<2x832x2xi32, #cube>) -> tensor<2x832x2xi32> {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %r = dtensor.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %r : tensor<i1>
  }
  %r0 = dtensor.constraint %0 : (tensor<1024xi32>) -> tensor<1024xi32, #line>
  %r1 = dtensor.constraint %bits : (tensor<1024xi32>) -> tensor<1024xi32, #line>
  %r2 = dtensor.constraint %2#1 : (tensor<1024xi32>) -> tensor<1024xi32, #line>
  %r3 = dtensor.constraint %3 : (tensor<128xi8>) -> tensor<128xi8, #line>
  %r4 = dtensor.constraint %4#0 : (tensor<2x832xf64>) -> tensor<2x832xf64, #last>
  %r5 = dtensor.constraint %4#1 : (tensor<2x832xi32>) -> tensor<2x832xi32, #last>
  %r6 = dtensor.constraint %5 : (tensor<2x832x2xi32>) -> tensor<2x832x2xi32, #cube>
  %r7 = dtensor.constraint %2#0 : (tensor<1024xi32>) -> tensor<1024xi32, #line>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7 : tensor<1024xi32, #line>, tensor<1024xi32, #line>, tensor<1024xi32, #line>,
      tensor<128xi8, #line>, tensor<2x832xf64, #last>, tensor<2x832xi32, #last>, tensor<2x832x2xi32, #cube>, tensor<1024xi32, #line>
}
