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

// expected-error @below {{[gradient] 'dtensor.reduce_window' at}}
func.func @main(%x: tensor<8xf32>, %i: tensor<f32>) -> tensor<f32> {
  %0 = dtensor.reduce_window %x init %i window [8] : (tensor<8xf32>, tensor<f32>) -> tensor<1xf32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = dtensor.subtract %a, %b : tensor<f32>
    dtensor.yield %s : tensor<f32>
  }
  %1 = dtensor.reduce sum %0 dims [0] : (tensor<1xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}
