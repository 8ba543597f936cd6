// What nothing is made of is not computed by the reference either, however large it is.
// RUN: mesh-run %s --verify | FileCheck %s
// RUN: mesh-run %s --verify --function=looped | FileCheck %s
// RUN: mesh-run %s --verify --function=chosen | FileCheck %s

// CHECK: verify result 0 f32[8]: error {{.*}}: ok
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %huge = dtensor.broadcast_in_dim %x dims [0] : (tensor<8xf32>) -> tensor<8x4194304x1048576xf32>
  %tanh = dtensor.tanh %huge : tensor<8x4194304x1048576xf32>
  %sum = dtensor.reduce sum %tanh dims [0, 1, 2] : (tensor<8x4194304x1048576xf32>) -> tensor<f32>
  %y = dtensor.add %x, %x : tensor<8xf32>
  return %y : tensor<8xf32>
}

func.func @looped(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %three = dtensor.constant dense<3> : tensor<i32>
  %0:2 = dtensor.while (%zero, %x) : (tensor<i32>, tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>) cond {
  ^bb0(%n: tensor<i32>, %v: tensor<8xf32>):
    %p = dtensor.compare LT, %n, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%n: tensor<i32>, %v: tensor<8xf32>):
    %huge = dtensor.broadcast_in_dim %v dims [0] : (tensor<8xf32>) -> tensor<8x4194304x1048576xf32>
    %tanh = dtensor.tanh %huge : tensor<8x4194304x1048576xf32>
    %w = dtensor.add %v, %v : tensor<8xf32>
    %m = dtensor.add %n, %one : tensor<i32>
    dtensor.yield %m, %w : tensor<i32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}

// %x is used behind the branch, too.
func.func @chosen(%x: tensor<8xf32>, %i: tensor<i32>) -> tensor<8xf32> {
  %0 = dtensor.case %i : (tensor<i32>) -> tensor<8xf32> {
    %huge = dtensor.broadcast_in_dim %x dims [0] : (tensor<8xf32>) -> tensor<8x4194304x1048576xf32>
    %y = dtensor.tanh %x : tensor<8xf32>
    dtensor.yield %y : tensor<8xf32>
  }, {
    %y = dtensor.cosine %x : tensor<8xf32>
    dtensor.yield %y : tensor<8xf32>
  }
  %z = dtensor.add %0, %x : tensor<8xf32>
  return %z : tensor<8xf32>
}
