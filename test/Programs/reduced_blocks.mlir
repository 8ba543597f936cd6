// Reductions by a function along cut dims: even and uneven blocks, a block
// without elements, several axes in a dim, several dims; functions that are not
// commutative, whose init is no identity; and ones that are only read once.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2, y = 4>
#line = #dtensor.layout<#mesh, [{x, y}]>
#both = #dtensor.layout<#mesh, [x, y]>
#rows = #dtensor.layout<#mesh, [{x, y}, *]>
#cube = #dtensor.layout<#mesh, [x, *, y]>
#slabs = #dtensor.layout<#mesh, [x, *, *]>

func.func @main(%a: tensor<40x12xf32, #both>, %b: tensor<40x12xf32, #both>,
                %u: tensor<373x5xf32, #rows>, %w: tensor<9xf64, #line>,
                %c: tensor<6x5x16xf32, #cube>, %d: tensor<6x5x16xf32, #cube>,
                %i: tensor<100xi32, #line>,
                %first: tensor<8x37x53xi32, #slabs>, %second: tensor<8x37x53xi32, #slabs>)
    -> (tensor<12xf32>, tensor<12xf32>, tensor<40xf32>, tensor<40xf32>, tensor<f32>, tensor<f32>,
        tensor<5xf32>, tensor<f64>, tensor<5xf32>, tensor<5xf32>, tensor<i32>, tensor<f32>,
        tensor<8xi32>, tensor<8xi32>, tensor<8x53xi32>, tensor<8x36x18xi32>) {
  %half = dtensor.constant dense<0.5> : tensor<f32>
  %two = dtensor.constant dense<2.0> : tensor<f32>
  %one = dtensor.constant dense<1.0> : tensor<f32>
  %low = dtensor.constant dense<-1.0e30> : tensor<f32>
  %tenth = dtensor.constant dense<0.1> : tensor<40x12xf32>
  %ones = dtensor.constant dense<1.0> : tensor<40x12xf32>
  %t = dtensor.multiply %a, %tenth : (tensor<40x12xf32, #both>, tensor<40x12xf32>) -> tensor<40x12xf32>
  %s = dtensor.add %t, %ones : tensor<40x12xf32>
  // Maps v -> f v + g, one after the other.
  %0:2 = dtensor.generic_reduce %s, %b from %half, %two dims [0] {dtensor.associative}
      : (tensor<40x12xf32>, tensor<40x12xf32, #both>, tensor<f32>, tensor<f32>) -> (tensor<12xf32>, tensor<12xf32>) {
  ^bb0(%f: tensor<f32>, %g: tensor<f32>, %h: tensor<f32>, %k: tensor<f32>):
    %p = dtensor.multiply %f, %h : tensor<f32>
    %q = dtensor.multiply %g, %h : tensor<f32>
    %r = dtensor.add %q, %k : tensor<f32>
    dtensor.yield %p, %r : tensor<f32>, tensor<f32>
  }
  %1:2 = dtensor.generic_reduce %s, %b from %half, %two dims [1] {dtensor.associative}
      : (tensor<40x12xf32>, tensor<40x12xf32, #both>, tensor<f32>, tensor<f32>) -> (tensor<40xf32>, tensor<40xf32>) {
  ^bb0(%f: tensor<f32>, %g: tensor<f32>, %h: tensor<f32>, %k: tensor<f32>):
    %p = dtensor.multiply %f, %h : tensor<f32>
    %q = dtensor.multiply %g, %h : tensor<f32>
    %r = dtensor.add %q, %k : tensor<f32>
    dtensor.yield %p, %r : tensor<f32>, tensor<f32>
  }
  %2:2 = dtensor.generic_reduce %s, %b from %half, %two dims [0, 1] {dtensor.associative}
      : (tensor<40x12xf32>, tensor<40x12xf32, #both>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  ^bb0(%f: tensor<f32>, %g: tensor<f32>, %h: tensor<f32>, %k: tensor<f32>):
    %p = dtensor.multiply %f, %h : tensor<f32>
    %q = dtensor.multiply %g, %h : tensor<f32>
    %r = dtensor.add %q, %k : tensor<f32>
    dtensor.yield %p, %r : tensor<f32>, tensor<f32>
  }
  // log(exp(a) + exp(b)), over uneven blocks.
  %3 = dtensor.generic_reduce %u from %low dims [0] {dtensor.associative} : (tensor<373x5xf32, #rows>, tensor<f32>) -> tensor<5xf32> {
  ^bb0(%f: tensor<f32>, %g: tensor<f32>):
    %m = dtensor.maximum %f, %g : tensor<f32>
    %n = dtensor.minimum %f, %g : tensor<f32>
    %e = dtensor.subtract %n, %m : tensor<f32>
    %x = dtensor.exp %e : tensor<f32>
    %l = dtensor.log1p %x : tensor<f32>
    %r = dtensor.add %m, %l : tensor<f32>
    dtensor.yield %r : tensor<f32>
  }
  // The last one: of nine on eight devices, three of which have none.
  %none = dtensor.constant dense<7.0> : tensor<f64>
  %4 = dtensor.generic_reduce %w from %none dims [0] {dtensor.associative} : (tensor<9xf64, #line>, tensor<f64>) -> tensor<f64> {
  ^bb0(%f: tensor<f64>, %g: tensor<f64>):
    %zero = dtensor.constant dense<0.0> : tensor<f64>
    %z = dtensor.multiply %f, %zero : tensor<f64>
    %r = dtensor.add %g, %z : tensor<f64>
    dtensor.yield %r : tensor<f64>
  }
  // Two cut dims around one that stays.
  %cones = dtensor.constant dense<1.0> : tensor<6x5x16xf32>
  %c1 = dtensor.add %c, %cones : (tensor<6x5x16xf32, #cube>, tensor<6x5x16xf32>) -> tensor<6x5x16xf32>
  %5:2 = dtensor.generic_reduce %c1, %d from %one, %two dims [0, 2] {dtensor.associative}
      : (tensor<6x5x16xf32>, tensor<6x5x16xf32, #cube>, tensor<f32>, tensor<f32>) -> (tensor<5xf32>, tensor<5xf32>) {
  ^bb0(%f: tensor<f32>, %g: tensor<f32>, %h: tensor<f32>, %k: tensor<f32>):
    %p = dtensor.multiply %f, %h : tensor<f32>
    %q = dtensor.multiply %g, %h : tensor<f32>
    %r = dtensor.add %q, %k : tensor<f32>
    dtensor.yield %p, %r : tensor<f32>, tensor<f32>
  }
  // Not associative, but a sum of squares: the squares are made first.
  %start = dtensor.constant dense<3> : tensor<i32>
  %6 = dtensor.generic_reduce %i from %start dims [0] : (tensor<100xi32, #line>, tensor<i32>) -> tensor<i32> {
  ^bb0(%f: tensor<i32>, %g: tensor<i32>):
    %q = dtensor.multiply %g, %g : tensor<i32>
    %r = dtensor.add %q, %f : tensor<i32>
    dtensor.yield %r : tensor<i32>
  }
  // Neither: the dim is brought together.
  %7 = dtensor.generic_reduce %a from %one dims [0, 1] : (tensor<40x12xf32, #both>, tensor<f32>) -> tensor<f32> {
  ^bb0(%f: tensor<f32>, %g: tensor<f32>):
    %h = dtensor.constant dense<0.5> : tensor<f32>
    %p = dtensor.multiply %f, %h : tensor<f32>
    %r = dtensor.add %p, %g : tensor<f32>
    dtensor.yield %r : tensor<f32>
  }
  // Dims that every device has whole, in rounds: by a function that is not
  // commutative, and by one that is. Small windows with a function.
  %8:2 = dtensor.generic_reduce %first, %second from %start, %start dims [1, 2] {dtensor.associative}
      : (tensor<8x37x53xi32, #slabs>, tensor<8x37x53xi32, #slabs>, tensor<i32>, tensor<i32>) -> (tensor<8xi32>, tensor<8xi32>) {
  ^bb0(%f: tensor<i32>, %g: tensor<i32>, %h: tensor<i32>, %k: tensor<i32>):
    %p = dtensor.multiply %f, %h : tensor<i32>
    %q = dtensor.multiply %g, %h : tensor<i32>
    %r = dtensor.add %q, %k : tensor<i32>
    dtensor.yield %p, %r : tensor<i32>, tensor<i32>
  }
  %9 = dtensor.generic_reduce %first from %start dims [1] {dtensor.associative} : (tensor<8x37x53xi32, #slabs>, tensor<i32>) -> tensor<8x53xi32> {
  ^bb0(%f: tensor<i32>, %g: tensor<i32>):
    %r = dtensor.xor %f, %g : tensor<i32>
    dtensor.yield %r : tensor<i32>
  }
  %10 = dtensor.reduce_window %first init %start window [1, 3, 4] strides [1, 1, 3] padding [0, 0, 2, -1, 1, 1]
      : (tensor<8x37x53xi32, #slabs>, tensor<i32>) -> tensor<8x36x18xi32> {
  ^bb0(%f: tensor<i32>, %g: tensor<i32>):
    %p = dtensor.add %f, %f : tensor<i32>
    %r = dtensor.add %p, %g : tensor<i32>
    dtensor.yield %r : tensor<i32>
  }
  return %0#0, %0#1, %1#0, %1#1, %2#0, %2#1, %3, %4, %5#0, %5#1, %6, %7, %8#0, %8#1, %9, %10 : tensor<12xf32>, tensor<12xf32>, tensor<40xf32>,
      tensor<40xf32>, tensor<f32>, tensor<f32>, tensor<5xf32>, tensor<f64>, tensor<5xf32>, tensor<5xf32>, tensor<i32>, tensor<f32>,
      tensor<8xi32>, tensor<8xi32>, tensor<8x53xi32>, tensor<8x36x18xi32>
}
