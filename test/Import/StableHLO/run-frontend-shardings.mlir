// REQUIRES: mesh-run
// Annotations of Shardy as text: programs that JAX exported in 2025 (quotes
// escaped twice, shardings of shard_map at the call) and those of torch_xla.
// RUN: split-file %s %t
// RUN: mesh-opt --stablehlo-to-dtensor %t/torch-xla.mlir | FileCheck %s --check-prefix=TORCH
// RUN: mesh-run --verify %t/torch-xla.mlir | FileCheck %s --check-prefix=LAYOUT
// RUN: mesh-opt --stablehlo-to-dtensor %t/export.mlir | FileCheck %s --check-prefix=EXPORT
// RUN: mesh-run --verify --machine=ring --private-memories %t/export.mlir
// RUN: mesh-run --verify --machine=ring %t/nested.mlir | FileCheck %s --check-prefix=NESTED
// RUN: mesh-opt --stablehlo-to-dtensor %t/calls.mlir | FileCheck %s --check-prefix=CALLS
// RUN: mesh-run --verify --machine=ring %t/calls.mlir | FileCheck %s --check-prefix=GROUP
// RUN: not mesh-opt --stablehlo-to-dtensor %t/group.mlir 2>&1 | FileCheck %s --check-prefix=NO-GROUP
// RUN: not mesh-opt --stablehlo-to-dtensor %t/direction.mlir 2>&1 | FileCheck %s --check-prefix=DIRECTION
// RUN: not mesh-opt --stablehlo-to-dtensor %t/unreadable.mlir 2>&1 | FileCheck %s --check-prefix=UNREADABLE
// RUN: not mesh-opt --stablehlo-to-dtensor %t/recursive.mlir 2>&1 | FileCheck %s --check-prefix=RECURSIVE
// RUN: not mesh-opt --stablehlo-to-dtensor %t/unsaid.mlir 2>&1 | FileCheck %s --check-prefix=UNSAID

// TORCH: func.func @main(%arg0: tensor<8x16xf32, #layout_u__axis_0_>) -> tensor<8x16xf32, #layout__axis_0_u>
// TORCH: %[[SINE:.*]] = dtensor.sine
// TORCH: dtensor.constraint %[[SINE]] : {{.*}} -> tensor<8x16xf32, #layout_u_u>
// LAYOUT: result 0 f32[8, 16] [_axis_0, *]

// EXPORT: dtensor.mesh<a = 2>
// EXPORT: func.func @main
// EXPORT-NOT: func.func
// EXPORT: #layout_a_u

// Results of both are cut by the outer axis, then the inner one.
// NESTED: result 0 f32[8, 4] [{x, y}, *]

// What a barrier lets pass, and two values of one group.
// CALLS: dtensor.constraint %arg0 {dtensor.wish = {direction = "forward"
// CALLS-COUNT-2: dtensor.wish = {group = 21 : i64
// GROUP: result 0 f32[8, 8] [x, *]
// GROUP: result 1 f32[8, 8] [x, *]

// NO-GROUP: error: expected one operand, and a number as xla.sdy.sharding_group_id in mhlo.frontend_attributes
// DIRECTION: error: expected an xla.sdy.allowed_direction of 0 to 3 and a result like the operand

// UNREADABLE: unreadable.mlir:2:{{.*}}: error: cannot read '#sdy.sharding<@mesh, [{"x"', which is xla.sdy.sharding
// RECURSIVE: error: 'body' calls itself
// UNSAID: error: expected xla.sdy.in_shardings, xla.sdy.out_shardings and xla.sdy.manual_axes

//--- torch-xla.mlir
module @SyncTensorsGraph.5 attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22_axis_0\22=2]>}"}, mhlo.is_dynamic = false} {
  func.func @main(%a: tensor<8x16xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{}, {\22_axis_0\22}]>"}, mhlo.sharding = "{devices=[1,2]<=[2]}"}) -> (tensor<8x16xf32> {mhlo.sharding = "{replicated}"}) {
    %0 = stablehlo.sine %a : tensor<8x16xf32>
    %1 = stablehlo.custom_call @Sharding(%0) {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{}, {}]>]>"}, mhlo.sharding = "{replicated}"} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %2 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%1) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22_axis_0\22}, {}]>]>"}} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %2 : tensor<8x16xf32>
  }
}

//--- export.mlir
module @jit_func attributes {jax.uses_shape_polymorphism = false, mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\\\22a\\\22=2]>}"}, mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x4xf32>) -> (tensor<2x4xf32> {jax.result_info = ""}) {
    %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\\\22a\\\22}, {}]>]>"}, mhlo.sharding = "{devices=[2,1]<=[2]}"} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %1 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%0) : (tensor<2x4xf32>) -> tensor<1x4xf32>
    %2 = call @xla.sdy.manual_computation_body(%1) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\\\22a\\\22}, {}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\\\22a\\\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\\\22a\\\22}, {}]>]>"}} : (tensor<1x4xf32>) -> tensor<1x4xf32>
    %3 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%2) : (tensor<1x4xf32>) -> tensor<2x4xf32>
    return %3 : tensor<2x4xf32>
  }
  func.func @xla.sdy.manual_computation_body(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
    %0 = "stablehlo.collective_permute"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<1x4xf32>) -> tensor<1x4xf32>
    return %0 : tensor<1x4xf32>
  }
}

//--- nested.mlir
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22x\22=2, \22y\22=2]>}"}, mhlo.num_partitions = 4 : i32} {
  func.func public @main(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%a) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22, \22y\22}, {}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>"}} : (tensor<8x4xf32>) -> tensor<4x4xf32>
    %1 = call @outer(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%1) {mhlo.frontend_attributes = {xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22, \22y\22}, {}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>"}} : (tensor<4x4xf32>) -> tensor<8x4xf32>
    %3 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%2) {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22x\22, \22y\22}, {}]>]>"}} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %3 : tensor<8x4xf32>
  }
  func.func private @outer(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%a) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22y\22}, {}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22y\22}>"}} : (tensor<4x4xf32>) -> tensor<2x4xf32>
    %1 = call @inner(%0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %2 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%1) {mhlo.frontend_attributes = {xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22y\22}, {}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22y\22}>"}} : (tensor<2x4xf32>) -> tensor<4x4xf32>
    return %2 : tensor<4x4xf32>
  }
  func.func private @inner(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %0 = stablehlo.reverse %a, dims = [0] : tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
}

//--- calls.mlir
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22x\22=2]>}"}} {
  func.func @main(%a: tensor<8x8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\22x\22}, {}]>"}}, %b: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
    %0 = stablehlo.custom_call @xla.sdy.PropagationBarrier(%a) {mhlo.frontend_attributes = {xla.sdy.allowed_direction = "1 : i32"}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = stablehlo.sine %0 : tensor<8x8xf32>
    %2 = stablehlo.cosine %b : tensor<8x8xf32>
    stablehlo.custom_call @xla.sdy.ShardingGroup(%1) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding_group_id = "21 : i64"}} : (tensor<8x8xf32>) -> ()
    %3 = stablehlo.custom_call @xla.sdy.ShardingGroup(%2) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding_group_id = "21 : ui64"}} : (tensor<8x8xf32>) -> tuple<>
    return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
  }
}

//--- group.mlir
func.func @main(%a: tensor<8x2xf32>) -> tensor<8x2xf32> {
  stablehlo.custom_call @xla.sdy.ShardingGroup(%a) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.group = "1 : i64"}} : (tensor<8x2xf32>) -> ()
  return %a : tensor<8x2xf32>
}

//--- direction.mlir
func.func @main(%a: tensor<8x2xf32>) -> tensor<8x2xf32> {
  %0 = stablehlo.custom_call @xla.sdy.PropagationBarrier(%a) {mhlo.frontend_attributes = {xla.sdy.allowed_direction = "4294967297 : ui64"}} : (tensor<8x2xf32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

//--- unreadable.mlir
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22x\22=2]>}"}} {
  func.func @main(%a: tensor<8x16xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\22x\22"}}) -> tensor<8x16xf32> {
    return %a : tensor<8x16xf32>
  }
}

//--- recursive.mlir
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22x\22=1]>}"}} {
  func.func @body(%a: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%a) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{}]>]>"}} : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @body(%0) : (tensor<8xf32>) -> tensor<8xf32>
    %2 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%1) {mhlo.frontend_attributes = {xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>"}} : (tensor<8xf32>) -> tensor<8xf32>
    return %2 : tensor<8xf32>
  }
}

//--- unsaid.mlir
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22x\22=1]>}"}} {
  func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @body(%0) : (tensor<8xf32>) -> tensor<8xf32>
    %2 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%1) : (tensor<8xf32>) -> tensor<8xf32>
    return %2 : tensor<8xf32>
  }
  func.func private @body(%a: tensor<8xf32>) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
}
