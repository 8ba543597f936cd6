// Most of a small program moves at once. One all_to_all takes the dim that is
// reversed and split to all devices, so that all ops after it keep to their
// own; over parts of the axis, from which no few moves lead on, each of the
// reductions would be sent (480 bytes).
// RUN: mesh-run %s --machine=ring --compile-only --explain | FileCheck %s

// CHECK: 2 collectives, 4080 bytes sent by each device
// CHECK-NEXT: all_to_all over [x]: 4608 bytes, 4032 sent
// CHECK: permute over [x]: 48 bytes, 48 sent
// CHECK-NOT: bytes, {{[0-9]+}} sent
module @jit_forward attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<24x16x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %arg1: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<24x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<24x8x4x24xf32>, tensor<24x4x4x24xf32>) {
    %0 = call @_flip(%arg0) : (tensor<24x16x24xf32>) -> tensor<24x16x24xf32>
    %1 = stablehlo.reshape %0 : (tensor<24x16x24xf32>) -> tensor<24x4x4x24xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.maximum across dimensions = [1, 3] : (tensor<24x4x4x24xf32>, tensor<f32>) -> tensor<24x4xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<24x4xf32>
    %4 = stablehlo.maximum %3, %2 : tensor<24x4xf32>
    %5 = stablehlo.is_finite %4 : (tensor<24x4xf32>) -> tensor<24x4xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<24x4xf32>
    %7 = stablehlo.select %5, %4, %6 : tensor<24x4xi1>, tensor<24x4xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 2] : (tensor<24x4xf32>) -> tensor<24x1x4x1xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<24x1x4x1xf32>) -> tensor<24x4x4x24xf32>
    %10 = stablehlo.subtract %1, %9 : tensor<24x4x4x24xf32>
    %11 = stablehlo.exponential %10 : tensor<24x4x4x24xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst_2) applies stablehlo.add across dimensions = [1, 3] : (tensor<24x4x4x24xf32>, tensor<f32>) -> tensor<24x4xf32>
    %13 = stablehlo.sign %12 : tensor<24x4xf32>
    %14 = stablehlo.abs %12 : tensor<24x4xf32>
    %15 = stablehlo.log %14 : tensor<24x4xf32>
    %16 = stablehlo.add %15, %7 : tensor<24x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %17 = call @_pad(%0, %c) : (tensor<24x16x24xf32>, tensor<i32>) -> tensor<24x32x24xf32>
    %18 = stablehlo.reshape %17 : (tensor<24x32x24xf32>) -> tensor<24x8x4x24xf32>
    return %16, %18, %1 : tensor<24x4xf32>, tensor<24x8x4x24xf32>, tensor<24x4x4x24xf32>
  }
  func.func private @_flip(%arg0: tensor<24x16x24xf32>) -> tensor<24x16x24xf32> {
    %0 = stablehlo.reverse %arg0, dims = [1] : tensor<24x16x24xf32>
    return %0 : tensor<24x16x24xf32>
  }
  func.func private @_pad(%arg0: tensor<24x16x24xf32>, %arg1: tensor<i32>) -> tensor<24x32x24xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.pad %arg0, %0, low = [0, 8, 0], high = [0, 8, 0], interior = [0, 0, 0] : (tensor<24x16x24xf32>, tensor<f32>) -> tensor<24x32x24xf32>
    return %1 : tensor<24x32x24xf32>
  }
}
