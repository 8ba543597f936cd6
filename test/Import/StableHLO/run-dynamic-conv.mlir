// dynamic_conv whose padding folds is a convolution: all its attributes count, and the result's shape follows.
// RUN: mesh-run %s --verify | FileCheck %s
// RUN: mesh-opt %s --stablehlo-to-dtensor | FileCheck %s --check-prefix=IR
// IR: dtensor.convolution {{.*}} -> tensor<1x2x2x1xf32>
module {
  // CHECK: result 0 f32[1, 2, 2, 1] {{.*}} [21, 27, 32, 36]
  // CHECK: result 1 f32[1, 1, 1, 1] {{.*}} [24]
  func.func public @main() -> (tensor<1x?x2x1xf32>, tensor<1x1x1x1xf32>) {
    %one = stablehlo.constant dense<1> : tensor<i64>
    %two = stablehlo.add %one, %one : tensor<i64>
    %zeros = stablehlo.constant dense<0> : tensor<2x2xi64>
    %row = stablehlo.reshape %two : (tensor<i64>) -> tensor<1x1xi64>
    %zero = stablehlo.constant dense<0> : tensor<1x1xi64>
    %high = stablehlo.concatenate %zero, %row, dim = 1 : (tensor<1x1xi64>, tensor<1x1xi64>) -> tensor<1x2xi64>
    %none = stablehlo.constant dense<0> : tensor<1x2xi64>
    %padding = stablehlo.concatenate %high, %none, dim = 0 : (tensor<1x2xi64>, tensor<1x2xi64>) -> tensor<2x2xi64>
    %flat = stablehlo.iota dim = 0 : tensor<12xf32>
    %a = stablehlo.reshape %flat : (tensor<12xf32>) -> tensor<1x4x3x1xf32>
    %k = stablehlo.constant dense<1.0> : tensor<3x2x1x1xf32>
    %0 = "stablehlo.dynamic_conv"(%a, %k, %padding) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, window_strides = array<i64: 2, 1>}> : (tensor<1x4x3x1xf32>, tensor<3x2x1x1xf32>, tensor<2x2xi64>) -> tensor<1x?x2x1xf32>
    %1 = stablehlo.dynamic_conv(%a, %k, %zeros) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [4, 4], rhs_dilate = [1, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x1xf32>, tensor<3x2x1x1xf32>, tensor<2x2xi64>) -> tensor<1x1x1x1xf32>
    return %0, %1 : tensor<1x?x2x1xf32>, tensor<1x1x1x1xf32>
  }
}
