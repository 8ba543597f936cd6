// The gradient of a scan over sharded layers with uneven shards, by a loop that
// goes back over what the first one kept.
// RUN: %verify-gradient
#mesh = #dtensor.mesh<batch = 2, model = 4>
#w = #dtensor.layout<#mesh, [*, *, model]>
#x = #dtensor.layout<#mesh, [batch, *]>
func.func @main(%w: tensor<3x7x7xf32, #w>, %x: tensor<5x7xf32, #x>) -> tensor<f32> {
  %c = dtensor.constant dense<0> : tensor<i32>
  %0:2 = dtensor.while (%c, %x) : (tensor<i32>, tensor<5x7xf32, #x>) -> (tensor<i32>, tensor<5x7xf32>) cond {
  ^bb0(%i: tensor<i32>, %h: tensor<5x7xf32>):
    %n = dtensor.constant dense<3> : tensor<i32>
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %h: tensor<5x7xf32>):
    %z = dtensor.constant dense<0> : tensor<i32>
    %s = dtensor.dynamic_slice %w at %i, %z, %z sizes [1, 7, 7] : (tensor<3x7x7xf32, #w>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x7x7xf32>
    %l = dtensor.reshape %s : (tensor<1x7x7xf32>) -> tensor<7x7xf32>
    %d = dtensor.matmul %h, %l : (tensor<5x7xf32>, tensor<7x7xf32>) -> tensor<5x7xf32>
    %t = dtensor.tanh %d : tensor<5x7xf32>
    %one = dtensor.constant dense<1> : tensor<i32>
    %j = dtensor.add %i, %one : tensor<i32>
    dtensor.yield %j, %t : tensor<i32>, tensor<5x7xf32>
  }
  %loss = dtensor.reduce sum %0#1 dims [0, 1] : (tensor<5x7xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
