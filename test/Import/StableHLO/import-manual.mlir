// shard_map: a value of each device is a value with one more dim, and
// collectives are ops along it.
// RUN: mesh-opt %s --stablehlo-to-dtensor --canonicalize --split-input-file | FileCheck %s

// CHECK-DAG: #[[XUU:.*]] = #dtensor.layout<#{{.*}}, [x, *, *]>
// CHECK-LABEL: @ring
// CHECK: %[[R:.*]] = dtensor.reshape %arg0 {{.*}} -> tensor<8x8x16xf32>
// CHECK: %[[IN:.*]] = dtensor.constraint %[[R]] : {{.*}} -> tensor<8x8x16xf32, #[[XUU]]>
// CHECK: %[[TAKEN:.*]] = dtensor.take %{{.*}} dim 0 at [7, 0, 1, 2, 3, 4, 5, -1]
// What a collective gives is as the program has it, to begin with.
// CHECK: dtensor.constraint %[[TAKEN]] {dtensor.wish = {layout = #[[XUU]], open = array<i1: true, true, true>, released}}
// CHECK: dtensor.reduce sum %{{.*}} dims [0] : (tensor<8x8x16xf32>) -> tensor<8x16xf32>
sdy.mesh @mesh = <["x"=8]>
func.func @ring(%a: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%v: tensor<8x16xf32>) {
    %1 = "stablehlo.collective_permute"(%v) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [7, 0]]> : tensor<7x2xi64>}> : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %2 = "stablehlo.all_reduce"(%v) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %4 = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %3 = stablehlo.add %1, %2 : tensor<8x16xf32>
    sdy.return %3 : tensor<8x16xf32>
  } : (tensor<64x16xf32>) -> tensor<64x16xf32>
  return %0 : tensor<64x16xf32>
}

// -----

// Groups along one of two axes; what is the same along an axis has no dim for it.
// CHECK-LABEL: @one_axis
// CHECK: dtensor.reduce sum %{{.*}} dims [1] : (tensor<2x4x4x4xf32>) -> tensor<2x4x4xf32>
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @one_axis(%a: tensor<8x16xf32>) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x", "y"} (%v: tensor<4x4xf32>) {
    %1 = "stablehlo.all_reduce"(%v) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %2 = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    sdy.return %1 : tensor<4x4xf32>
  } : (tensor<8x16xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// Where a device is, along one axis: the same along the others.
// CHECK-LABEL: @index
// CHECK: dtensor.iota dim 0 : tensor<4xui32>
// CHECK-NOT: tensor<2x4xui32>
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @index() -> tensor<4xui32> {
  %0 = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"y"}]>] manual_axes={"x", "y"} () {
    %1 = stablehlo.partition_id : tensor<ui32>
    %2 = stablehlo.constant dense<4> : tensor<ui32>
    %3 = stablehlo.remainder %1, %2 : tensor<ui32>
    %4 = stablehlo.reshape %3 : (tensor<ui32>) -> tensor<1xui32>
    sdy.return %4 : tensor<1xui32>
  } : () -> tensor<4xui32>
  return %0 : tensor<4xui32>
}

// -----

// GSPMD marks where values become one per device.
// CHECK-LABEL: @marked
// CHECK: dtensor.reduce sum %{{.*}} dims [1]
func.func @marked(%a: tensor<8x16xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = "{devices=[2,4]<=[8]}"} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8x16xf32>) -> tensor<4x4xf32>
  %2 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %5 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %5 : tensor<f32>
  }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = stablehlo.custom_call @Sharding(%2) {mhlo.sharding = "{manual}"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"} : (tensor<4x4xf32>) -> tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}

// -----

// Devices that stop at different times run until the last one is done.
// CHECK-LABEL: @own_trip_counts
// CHECK: dtensor.while
// CHECK: %[[P:.*]] = dtensor.compare LT, {{.*}} -> tensor<8xi1>
// CHECK: dtensor.reduce or %{{.*}} dims [0] : (tensor<8xi1>) -> tensor<i1>
// CHECK: } do {
// CHECK: dtensor.select {{.*}}tensor<8x4xf32>
sdy.mesh @mesh = <["x"=8]>
func.func @own_trip_counts(%a: tensor<32xf32>, %n: tensor<8xf32>) -> tensor<32xf32> {
  %0 = sdy.manual_computation(%a, %n) in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%v: tensor<4xf32>, %m: tensor<1xf32>) {
    %limit = stablehlo.reshape %m : (tensor<1xf32>) -> tensor<f32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %1:2 = stablehlo.while(%i = %zero, %w = %v) : tensor<f32>, tensor<4xf32>
     cond {
      %2 = stablehlo.compare LT, %i, %limit, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2 = stablehlo.add %i, %one : tensor<f32>
      %3 = stablehlo.add %w, %w : tensor<4xf32>
      stablehlo.return %2, %3 : tensor<f32>, tensor<4xf32>
    }
    sdy.return %1#1 : tensor<4xf32>
  } : (tensor<32xf32>, tensor<8xf32>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}
