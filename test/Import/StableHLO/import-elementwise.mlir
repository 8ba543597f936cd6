// Elementwise ops become dtensor ops of the same meaning.
// RUN: mesh-opt %s --stablehlo-to-dtensor --split-input-file | FileCheck %s

// CHECK-LABEL: @unary
// CHECK: dtensor.exp
// CHECK: dtensor.round %
// CHECK: dtensor.round_nearest_afz
// CHECK: dtensor.logistic
func.func @unary(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.exponential %x : tensor<4xf32>
  %1 = stablehlo.round_nearest_even %0 : tensor<4xf32>
  %2 = stablehlo.round_nearest_afz %1 : tensor<4xf32>
  %3 = stablehlo.logistic %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// CHECK-LABEL: @mixed
// CHECK: dtensor.compare LT
// CHECK: dtensor.select
// CHECK: dtensor.clamp
// CHECK: dtensor.convert {{.*}} -> tensor<4xi32>
// CHECK: dtensor.bitcast_convert {{.*}} -> tensor<4xf32>
func.func @mixed(%x: tensor<4xf32>, %y: tensor<4xf32>, %s: tensor<f32>) -> tensor<4xf32> {
  %0 = stablehlo.compare LT, %x, %y, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %1 = stablehlo.select %0, %x, %y : tensor<4xi1>, tensor<4xf32>
  %2 = "stablehlo.clamp"(%s, %1, %s) : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = stablehlo.convert %2 : (tensor<4xf32>) -> tensor<4xi32>
  %4 = stablehlo.bitcast_convert %3 : (tensor<4xi32>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}

// -----

// The total order of floats is an order of integers.
// CHECK-LABEL: @total_order
// CHECK-COUNT-2: dtensor.xor
// CHECK: dtensor.compare LT, {{.*}} : (tensor<4xi32>, tensor<4xi32>)
func.func @total_order(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  %0 = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

// A function of scalars is applied to tensors.
// CHECK-LABEL: @map
// CHECK: %[[P:.*]] = dtensor.multiply %arg0, %arg1 : tensor<4xf32>
// CHECK: dtensor.add %[[P]], {{.*}} : tensor<4xf32>
func.func @map(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.map"(%x, %y) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %p = stablehlo.multiply %a, %b : tensor<f32>
    %s = stablehlo.add %p, %one : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
