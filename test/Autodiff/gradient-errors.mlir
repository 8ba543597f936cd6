// RUN: mesh-opt %s --dtensor-gradient='wrt=0,1' --split-input-file --verify-diagnostics

// expected-error @below {{no gradient path from result 0 to argument 1 ('y', tensor<4xi32>): only floats have gradients}}
func.func @main(%x: tensor<f32>, %y: tensor<4xi32> {dtensor.name = "y"}) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

// Through a comparison no gradient flows.
// expected-error @below {{no gradient path from result 0 to argument 1 (tensor<f32>): the result does not depend on it through differentiable ops}}
func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = dtensor.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %1 = dtensor.convert %0 : (tensor<i1>) -> tensor<f32>
  %2 = dtensor.multiply %1, %x : tensor<f32>
  return %2 : tensor<f32>
}

// -----

// expected-error @below {{the first result must be a float scalar (the loss) to take gradients of}}
func.func @main(%x: tensor<2xf32>, %y: tensor<f32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----

// expected-error @below {{wrt=1: the function has 1 arguments}}
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

// expected-error @below {{no function 'main' to differentiate}}
module {
  func.func @f(%x: tensor<f32>) -> tensor<f32> {
    return %x : tensor<f32>
  }
  func.func @g(%x: tensor<f32>) -> tensor<f32> {
    return %x : tensor<f32>
  }
}

// -----

// A region that is not made of elementwise ops.
// expected-error-re @below {{[gradient] 'dtensor.reduce_window' at {{.*}} has no gradient: its region is not made of elementwise ops on scalars}}
func.func @main(%x: tensor<8xf32>, %i: tensor<f32>) -> tensor<f32> {
  %0 = dtensor.reduce_window %x init %i window [8] : (tensor<8xf32>, tensor<f32>) -> tensor<1xf32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = dtensor.reduce sum %a dims [] : (tensor<f32>) -> tensor<f32>
    %s = dtensor.subtract %c, %b : tensor<f32>
    dtensor.yield %s : tensor<f32>
  }
  %1 = dtensor.reduce sum %0 dims [0] : (tensor<1xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// A region whose ops have no gradient: the reason is that of the op.
// expected-error-re @below {{[gradient] 'dtensor.generic_reduce' at {{.*}} has no gradient: to differentiate its results, 'dtensor.bitcast_convert' at {{.*}} has no gradient: the bits of a number do not change smoothly with it; dtensor.convert has a gradient}}
func.func @main(%x: tensor<8xf16>, %i: tensor<f16>) -> tensor<f32> {
  %0 = dtensor.generic_reduce %x from %i dims [0] : (tensor<8xf16>, tensor<f16>) -> tensor<f16> {
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    %c = dtensor.bitcast_convert %b : (tensor<f16>) -> tensor<bf16>
    %d = dtensor.convert %c : (tensor<bf16>) -> tensor<f16>
    %h = dtensor.multiply %a, %a : tensor<f16>
    %s = dtensor.multiply %h, %d : tensor<f16>
    dtensor.yield %s : tensor<f16>
  }
  %1 = dtensor.convert %0 : (tensor<f16>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// expected-error-re @below {{[gradient] 'dtensor.custom_call' at {{.*}} has no gradient: the formula of the function that it calls is not known; mark it with dtensor.stop_gradient}}
func.func @main(%x: tensor<8xf32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = dtensor.custom_call "total"(%x) : (tensor<8xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
