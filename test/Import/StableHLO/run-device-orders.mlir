// Meshes may number the devices in orders that have no common refinement: values are laid out in the order of the first one, and --explain says so. In a manual
// computation devices have the numbers that its own mesh gives them: partition_id, groups of ids and pairs of ids are about those.
// RUN: mesh-run %s --function=ids | FileCheck %s --check-prefix=IDS
// RUN: mesh-run %s --function=groups | FileCheck %s --check-prefix=GROUPS
// RUN: mesh-run %s --function=permute | FileCheck %s --check-prefix=PERMUTE
// RUN: mesh-run %s --function=both --verify && mesh-run %s --function=both --verify --private-memories
// RUN: mesh-run %s --function=both --explain 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// EXPLAIN: mesh @b has its devices in the order [0, 2, 3, 1], which has no common refinement with that of mesh @a
module {
  sdy.mesh @a = <["x"=4]>
  sdy.mesh @b = <["p"=4], device_ids=[0, 2, 3, 1]>
  // IDS: result 0 {{.*}} [0, 2, 3, 1]
  // IDS: result 1 {{.*}} [0, 1, 2, 3]
  func.func public @ids() -> (tensor<4xui32>, tensor<4xui32>) {
    %0 = sdy.manual_computation() in_shardings=[] out_shardings=[<@b, [{"p"}]>] manual_axes={"p"} () {
      %1 = stablehlo.partition_id : tensor<ui32>
      %2 = stablehlo.reshape %1 : (tensor<ui32>) -> tensor<1xui32>
      sdy.return %2 : tensor<1xui32>
    } : () -> tensor<4xui32>
    %3 = sdy.manual_computation() in_shardings=[] out_shardings=[<@a, [{"x"}]>] manual_axes={"x"} () {
      %1 = stablehlo.partition_id : tensor<ui32>
      %2 = stablehlo.reshape %1 : (tensor<ui32>) -> tensor<1xui32>
      sdy.return %2 : tensor<1xui32>
    } : () -> tensor<4xui32>
    return %0, %3 : tensor<4xui32>, tensor<4xui32>
  }
  // Of positions 0 to 3, which hold 1, 2, 4 and 8: devices 0 and 1 are positions 0 and 3.
  // GROUPS: result 0 {{.*}} [9, 6, 6, 9]
  // GROUPS: result 1 {{.*}} [15, 15, 15, 15]
  func.func public @groups() -> (tensor<4xi32>, tensor<4xi32>) {
    %x = stablehlo.constant dense<[1, 2, 4, 8]> : tensor<4xi32>
    %a = sdy.sharding_constraint %x <@a, [{"x"}]> : tensor<4xi32>
    %0:2 = sdy.manual_computation(%a) in_shardings=[<@b, [{"p"}]>] out_shardings=[<@b, [{"p"}]>, <@b, [{"p"}]>] manual_axes={"p"} (%s: tensor<1xi32>) {
      %1 = "stablehlo.all_reduce"(%s) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%l: tensor<i32>, %r: tensor<i32>):
        %2 = stablehlo.add %l, %r : tensor<i32>
        stablehlo.return %2 : tensor<i32>
      }) : (tensor<1xi32>) -> tensor<1xi32>
      %3 = "stablehlo.all_reduce"(%s) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @b, axes = [#stablehlo.axis_ref<name = "p">]>, use_global_device_ids}> ({
      ^bb0(%l: tensor<i32>, %r: tensor<i32>):
        %2 = stablehlo.add %l, %r : tensor<i32>
        stablehlo.return %2 : tensor<i32>
      }) : (tensor<1xi32>) -> tensor<1xi32>
      sdy.return %1, %3 : tensor<1xi32>, tensor<1xi32>
    } : (tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)
    return %0#0, %0#1 : tensor<4xi32>, tensor<4xi32>
  }
  // From device 1 (position 3) to device 2 (position 1), and from 3 (position 2) to 0.
  // PERMUTE: result 0 {{.*}} [4, 8, 0, 0]
  func.func public @permute() -> tensor<4xi32> {
    %x = stablehlo.constant dense<[1, 2, 4, 8]> : tensor<4xi32>
    %a = sdy.sharding_constraint %x <@a, [{"x"}]> : tensor<4xi32>
    %0 = sdy.manual_computation(%a) in_shardings=[<@b, [{"p"}]>] out_shardings=[<@b, [{"p"}]>] manual_axes={"p"} (%s: tensor<1xi32>) {
      %1 = "stablehlo.collective_permute"(%s) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[1, 2], [3, 0]]> : tensor<2x2xi64>}> : (tensor<1xi32>) -> tensor<1xi32>
      sdy.return %1 : tensor<1xi32>
    } : (tensor<4xi32>) -> tensor<4xi32>
    return %0 : tensor<4xi32>
  }
  func.func public @both(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@b, [{}, {"p"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@b, [{"p"}, {}]>}) {
    %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}
