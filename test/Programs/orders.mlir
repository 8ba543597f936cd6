// Sorting lines with their batch cut over devices, by elements, by keys as JAX
// makes them (0 is -0, all nans are alike and last), by a function; the largest
// of them; a reduction by a function; argsort with its payload.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2, y = 2>
#rows = #dtensor.layout<#mesh, [{x, y}, *]>
#x = #dtensor.layout<#mesh, [x, y]>

func.func @main(%a: tensor<7x33xf32, #rows>, %b: tensor<7x33xf32, #x>, %z: tensor<f32>)
    -> (tensor<7x33xf32, #rows>, tensor<7x33xf32>, tensor<7x33xi32>, tensor<7x33xf32>,
        tensor<7x5xf32, #rows>, tensor<7x5xi32>, tensor<7xf32>, tensor<7x33xf32>) {
  %0 = dtensor.sort %a dim 1 {is_stable} : (tensor<7x33xf32, #rows>) -> tensor<7x33xf32> {
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %zero = dtensor.constant dense<0.0> : tensor<f32>
    %nan = dtensor.constant dense<0x7FC00000> : tensor<f32>
    %l0 = dtensor.compare EQ, %l, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %l1 = dtensor.select %l0, %zero, %l : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %l2 = dtensor.compare NE, %l, %l : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %l3 = dtensor.select %l2, %nan, %l1 : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %r0 = dtensor.compare EQ, %r, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %r1 = dtensor.select %r0, %zero, %r : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %r2 = dtensor.compare NE, %r, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %r3 = dtensor.select %r2, %nan, %r1 : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %less = dtensor.compare LT, %l3, %r3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    dtensor.yield %less : tensor<i1>
  }
  %position = dtensor.iota dim 1 : tensor<7x33xi32>
  %1:2 = dtensor.sort %b, %position dim 1 {is_stable}
      : (tensor<7x33xf32, #x>, tensor<7x33xi32>) -> (tensor<7x33xf32>, tensor<7x33xi32>) {
  ^bb0(%l: tensor<f32>, %r: tensor<f32>, %p: tensor<i32>, %q: tensor<i32>):
    %more = dtensor.compare GT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    dtensor.yield %more : tensor<i1>
  }
  // By what both inputs say.
  %2:2 = dtensor.sort %a, %b dim 0
      : (tensor<7x33xf32, #rows>, tensor<7x33xf32, #x>) -> (tensor<7x33xf32>, tensor<7x33xf32>) {
  ^bb0(%l: tensor<f32>, %r: tensor<f32>, %p: tensor<f32>, %q: tensor<f32>):
    %s = dtensor.add %l, %p : tensor<f32>
    %t = dtensor.add %r, %q : tensor<f32>
    %less = dtensor.compare LT, %s, %t : (tensor<f32>, tensor<f32>) -> tensor<i1>
    dtensor.yield %less : tensor<i1>
  }
  %v, %i = dtensor.top_k %a k 5 : tensor<7x33xf32, #rows> -> tensor<7x5xf32>, tensor<7x5xi32>
  %3 = dtensor.generic_reduce %b from %z dims [1] : (tensor<7x33xf32, #x>, tensor<f32>) -> tensor<7xf32> {
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %p = dtensor.multiply %l, %r : tensor<f32>
    %s = dtensor.add %p, %r : tensor<f32>
    dtensor.yield %s : tensor<f32>
  }
  // An equal pair stays in order: the last key decides nothing.
  %c = dtensor.floor %a : (tensor<7x33xf32, #rows>) -> tensor<7x33xf32>
  %4:2 = dtensor.sort %c, %a dim 1 {is_stable} : (tensor<7x33xf32>, tensor<7x33xf32, #rows>) -> (tensor<7x33xf32>, tensor<7x33xf32>) {
  ^bb0(%l: tensor<f32>, %r: tensor<f32>, %p: tensor<f32>, %q: tensor<f32>):
    %less = dtensor.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    dtensor.yield %less : tensor<i1>
  }
  %r0 = dtensor.constraint %0 : (tensor<7x33xf32>) -> tensor<7x33xf32, #rows>
  %rv = dtensor.constraint %v : (tensor<7x5xf32>) -> tensor<7x5xf32, #rows>
  return %r0, %1#0, %1#1, %2#1, %rv, %i, %3, %4#1 : tensor<7x33xf32, #rows>, tensor<7x33xf32>,
      tensor<7x33xi32>, tensor<7x33xf32>, tensor<7x5xf32, #rows>, tensor<7x5xi32>, tensor<7xf32>, tensor<7x33xf32>
}
