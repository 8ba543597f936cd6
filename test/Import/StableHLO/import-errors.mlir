// Everything that has no meaning here is an error where it stands.
// RUN: mesh-opt %s --stablehlo-to-dtensor --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{there is no axis 'z' in mesh @mesh <x=2, y=4>}}
func.func @unknown_axis(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}]>}) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{the sharding uses axis 'x' twice: for dim 0 and for dim 1}}
func.func @twice(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"x"}]>}) -> tensor<8x8xf32> {
  return %a : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=6]>
func.func @sub_axes(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}]>}) -> tensor<8xf32> {
  // expected-error @+1 {{'x:(1)3' of mesh @mesh <x=6> and 'x:(1)2' of mesh @mesh <x=6> cannot coexist}}
  %0 = sdy.sharding_constraint %a <@mesh, [{"x":(1)3}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
// expected-error @+1 {{the sharding has 1 dim, but the value has rank 2}}
func.func @rank(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8x8xf32> {
  return %a : tensor<8x8xf32>
}

// -----

// expected-error @+1 {{there is no mesh @nowhere}}
func.func @no_mesh(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@nowhere, [{"x"}]>}) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}

// -----

// expected-error @+1 {{cannot read the sharding '{devices=[2,4]<=[7]}': it has 7 devices for 8 tiles}}
func.func @gspmd(%a: tensor<8x8xf32> {mhlo.sharding = "{devices=[2,4]<=[7]}"}) -> tensor<8x8xf32> {
  return %a : tensor<8x8xf32>
}

// -----

// expected-error @+1 {{cannot read the sharding '{devices=[2,2]0,1,1,2}': the devices of 4 tiles are the numbers 0 to 3, each once}}
func.func @gspmd_device_twice(%a: tensor<8x8xf32> {mhlo.sharding = "{devices=[2,2]0,1,1,2}"}) -> tensor<8x8xf32> {
  return %a : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
// expected-error @+1 {{mesh <q=4> has 4 devices, but mesh @mesh <x=2> has 2}}
func.func @mesh_in_place(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["q"=4]>, [{"q"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}

// -----

// expected-error @+1 {{cannot read the sharding '{unknown shard_as}': the number of the group of 'shard_as' or 'shard_like' is missing}}
func.func @gspmd_group(%a: tensor<8x8xf32> {mhlo.sharding = "{unknown shard_as}"}) -> tensor<8x8xf32> {
  return %a : tensor<8x8xf32>
}

// -----

func.func @target(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{custom call 'nobody_knows' is not known}}
  %0 = stablehlo.custom_call @nobody_knows(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @dynamic(%a: tensor<8xf32>, %n: tensor<1xi32>) {
  // expected-error @+1 {{operand #1 of 'stablehlo.dynamic_reshape' does not fold to a constant: it depends on argument #1; dynamic shapes are not supported, export the program with fixed shapes}}
  %0 = stablehlo.dynamic_reshape %a, %n : (tensor<8xf32>, tensor<1xi32>) -> tensor<?xf32>
  return
}

// -----

func.func @dynamic_conv(%a: tensor<1x8x8x2xf32>, %b: tensor<3x3x2x4xf32>, %p: tensor<2x2xi64>) -> tensor<1x8x8x4xf32> {
  // expected-error @+1 {{operand #2 of 'stablehlo.dynamic_conv' does not fold to a constant: it depends on argument #2}}
  %0 = "stablehlo.dynamic_conv"(%a, %b, %p) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64}> : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>, tensor<2x2xi64>) -> tensor<1x8x8x4xf32>
  return %0 : tensor<1x8x8x4xf32>
}

// -----

func.func @infeed() -> tensor<2xf32> {
  %0 = stablehlo.create_token : !stablehlo.token
  // expected-error @+1 {{'stablehlo.infeed' is not supported}}
  %1:2 = "stablehlo.infeed"(%0) : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return %1#0 : tensor<2xf32>
}

// -----

func.func @assertion(%a: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %size = stablehlo.get_dimension_size %a, dim = 0 : (tensor<3x4xf32>) -> tensor<i32>
  %even = stablehlo.constant dense<2> : tensor<i32>
  %rest = stablehlo.remainder %size, %even : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %holds = stablehlo.compare EQ, %rest, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  // expected-error @+1 {{b must be even, but is 3}}
  stablehlo.custom_call @shape_assertion(%holds, %size) {api_version = 2 : i32, error_message = "b must be even, but is {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  return %a : tensor<3x4xf32>
}

// -----

func.func @einsum(%a: tensor<3x4xf32>, %b: tensor<5x2xf32>) -> tensor<3x2xf32> {
  // expected-error @+1 {{the einsum 'ij,jk->ik' gives 'j' the extents 4 and 5}}
  %0 = stablehlo.einsum %a, %b, config = "ij,jk->ik" : (tensor<3x4xf32>, tensor<5x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// -----

func.func @ragged(%a: tensor<3x4xf32>, %b: tensor<2x4x5xf32>, %sizes: tensor<7x2xi32>) -> tensor<3x5xf32> {
  // expected-error @+1 {{violates constraint C15: group_sizes must be [2], but is a 'tensor<7x2xi32>'}}
  %0 = "chlo.ragged_dot"(%a, %b, %sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<3x4xf32>, tensor<2x4x5xf32>, tensor<7x2xi32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

// expected-error @+1 {{integers of 3 bits are not supported}}
func.func @narrow(%a: tensor<8xi3>) -> tensor<8xi3> {
  %0 = stablehlo.add %a, %a : tensor<8xi3>
  return %0 : tensor<8xi3>
}

// -----

func.func @shape(%a: tensor<8xf32>) -> tensor<9xf32> {
  // expected-error @+1 {{violates constraint}}
  %0 = "stablehlo.reshape"(%a) : (tensor<8xf32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// -----

func.func @recursive(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'recursive' calls itself}}
  %0 = call @recursive(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.negate %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=8]>
func.func @uneven(%a: tensor<12xf32>) -> tensor<12xf32> {
  // expected-error @+1 {{dim 0 of size 12 is cut over manual axes into 8 parts, which are not equal}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%v: tensor<2xf32>) {
    sdy.return %v : tensor<2xf32>
  } : (tensor<12xf32>) -> tensor<12xf32>
  return %0 : tensor<12xf32>
}

// -----

// expected-error @+1 {{the program is for 8 replicas}}
module attributes {mhlo.num_replicas = 8 : i32} {
  func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.negate %a : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @manual_twice(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note @+1 {{the computation around}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", ?}]>] out_shardings=[<@mesh, [{"x", ?}]>] manual_axes={"x"} (%v: tensor<4xf32>) {
    // expected-error @+1 {{axis 'x' is manual here and in a manual computation around this one}}
    %1 = sdy.manual_computation(%v) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%w: tensor<2xf32>) {
      sdy.return %w : tensor<2xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=8]>
func.func @groups(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%v: tensor<1xf32>) {
    // expected-error @+1 {{violates constraint C4: replica_groups has 8, expected 0 <= replica_groups < 8}}
    %1 = "stablehlo.all_gather"(%v) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 8]]> : tensor<1x8xi64>, use_global_device_ids}> : (tensor<1xf32>) -> tensor<8xf32>
    %2 = stablehlo.slice %1 [0:1] : (tensor<8xf32>) -> tensor<1xf32>
    sdy.return %2 : tensor<1xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A collective without a channel is between replicas.
func.func @between_replicas(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{replica groups name replica 1, but there is one only; between devices, the collective needs a channel_handle}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Nothing but calls.
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @round(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @round(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'round' calls itself}}
  %0 = call @round(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @permute_without_channel(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{source_target_pairs name replica 1, but there is one only; between devices, collective_permute needs a channel_handle}}
  %0 = "stablehlo.collective_permute"(%a) {source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func private @greater(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func @approx_top_k(%a: tensor<8xf32>, %i: tensor<8xi32>, %s: tensor<f32>, %n: tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>) {
  // expected-error @+1 {{custom call 'ApproxTopK' cannot take a 'tensor<2xf32>' along dim -1 of a 'tensor<8xf32>'}}
  %0:2 = stablehlo.custom_call @ApproxTopK(%a, %i, %s, %n) {called_computations = [@greater], mhlo.backend_config = {reduction_dim = -1 : i64, top_k = 2 : i64}} : (tensor<8xf32>, tensor<8xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xi32>
}

// -----

func.func @too_large(%a: tensor<i8>) -> tensor<i8> {
  // expected-error @+1 {{tensors of more than 2^53 bytes are not supported ('tensor<9223372036854775807x2xf32>')}}
  %0 = stablehlo.iota dim = 0 : tensor<9223372036854775807x2xf32>
  return %a : tensor<i8>
}

// -----

func.func @outside(%a: tensor<4x8xf32>, %s: tensor<f32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %c) across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
   reducer(%x: tensor<f32>, %y: tensor<f32>) {
    %1 = stablehlo.add %x, %y : tensor<f32>
    // expected-error @+1 {{uses a value from outside of its region, which is a function of its arguments and of constants only}}
    %2 = stablehlo.multiply %1, %s : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @outside_added(%a: tensor<4x8xf32>, %s: tensor<f32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %c) across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
   reducer(%x: tensor<f32>, %y: tensor<f32>) {
    // expected-error @+1 {{uses a value from outside of its region, which is a function of its arguments and of constants only}}
    %1 = stablehlo.add %x, %s : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @outside_returned(%a: tensor<4x8xf32>, %s: tensor<f32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %c) across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
   reducer(%x: tensor<f32>, %y: tensor<f32>) {
    // expected-error @+1 {{uses a value from outside of its region, which is a function of its arguments and of constants only}}
    stablehlo.return %s : tensor<f32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @outside_mapped(%a: tensor<8xf32>, %s: tensor<f32>) -> tensor<8xf32> {
  %0 = "stablehlo.map"(%a) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f32>):
    // expected-error @+1 {{uses a value from outside of its region, which is a function of its arguments and of constants only}}
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @group_inside(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note @+1 {{the other one}}
  sdy.sharding_group %b group_id=1 : tensor<8xf32>
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"x"} (%v: tensor<8xf32>) {
    // expected-error @+1 {{the value is in sharding group 1 with another one in or outside of another manual computation}}
    sdy.sharding_group %v group_id=1 : tensor<8xf32>
    sdy.return %v : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @group_shapes(%a: tensor<8xf32>, %b: tensor<4xf32>) {
  // expected-note @+1 {{the other one}}
  sdy.sharding_group %a group_id=1 : tensor<8xf32>
  // expected-error @+1 {{the value is in sharding group 1 with another one of another shape}}
  sdy.sharding_group %b group_id=1 : tensor<4xf32>
  return
}

// -----

func.func @raw_conv(%a: tensor<1x8x8x3xf32>, %k: tensor<3x3x3x4xf32>) {
  // expected-error @+1 {{the dims of the kernel are not numbered from 0, each once}}
  %0 = "stablehlo.convolution"(%a, %k) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 2, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}> : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Meshes of several devices are over the same ones.
sdy.mesh @four = <["x"=4]>
// expected-error @+1 {{mesh @two <y=2> has 2 devices, but mesh @four <x=4> has 4; all meshes of a program are over the same devices, but for those of one device}}
sdy.mesh @two = <["y"=2]>
func.func @counts(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@four, [{"x"}]>},
                  %b: tensor<4xf32> {sdy.sharding = #sdy.sharding<@two, [{"y"}]>}) {
  return
}

// -----

// expected-error @+1 {{function 'wrong_end' must end in func.return}}
func.func @wrong_end(%a: tensor<i32>) {
  "stablehlo.return"(%a) : (tensor<i32>) -> ()
}

// -----

func.func @resource() -> tensor<4xf32> {
  // expected-error @+1 {{there is no data for dense_resource<a>: dialect_resources, at the end of the file, does not have it}}
  %0 = "stablehlo.constant"() {value = dense_resource<a> : tensor<4xf32>} : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @elided() -> tensor<4xf32> {
  // expected-error @+1 {{there is no data for dense_resource<__elided__>: the program was printed without its large constants; print it with them}}
  %0 = stablehlo.constant dense_resource<__elided__> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @short_resource() -> tensor<4xf32> {
  // expected-error @+1 {{dense_resource<b> has 12 bytes; a constant of type 'tensor<4xf32>' has 16}}
  %0 = stablehlo.constant dense_resource<b> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

{-# dialect_resources: { builtin: { b: "0x040000000000803F0000004000004040" } } #-}

// -----

func.func @packed_resource() -> tensor<4xi4> {
  // expected-error @+1 {{the value of a constant of type 'tensor<4xi4>' must be written out (dense<...>)}}
  %0 = stablehlo.constant dense_resource<c> : tensor<4xi4>
  return %0 : tensor<4xi4>
}

{-# dialect_resources: { builtin: { c: "0x0400000000010203" } } #-}

// -----

func.func @future_of_a_different_type(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'stablehlo.async_start' op has a region that does not return one value of the type of its future}}
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%y: tensor<4xf32>):
    stablehlo.return %y : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<2xf32>>
  %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<2xf32>>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @result_of_a_different_type(%f: !stablehlo.future<tensor<2xf32>>) -> tensor<4xf32> {
  // expected-error @+1 {{'stablehlo.async_done' op has a result that is not of the type of its future}}
  %0 = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<2xf32>>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
