// Shardings become layouts of arguments, constraints and wishes, over one mesh.
// RUN: mesh-opt %s --stablehlo-to-dtensor --split-input-file | FileCheck %s

// CHECK-DAG: #[[MESH:.*]] = #dtensor.mesh<x = 2, y = 4>
// CHECK-DAG: #[[XY:.*]] = #dtensor.layout<#[[MESH]], [x, y]>
// CHECK-DAG: #[[BOTH:.*]] = #dtensor.layout<#[[MESH]], [{y, x}, *]>
// CHECK-LABEL: @closed
// CHECK-SAME: tensor<8x16xf32, #[[XY]]> {dtensor.name = "weight"}
// CHECK: dtensor.constraint %{{.*}} -> tensor<8x16xf32, #[[BOTH]]>
// CHECK: dtensor.relayout %{{.*}} -> tensor<8x16xf32, #[[XY]]>
// CHECK: %[[R:.*]] = dtensor.constraint
// CHECK: return %[[R]] : tensor<8x16xf32, #[[BOTH]]>
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @closed(%a: tensor<8x16xf32> {jax.arg_info = "weight", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}, {}]>}) {
  %0 = stablehlo.negate %a : tensor<8x16xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"y", "x"}, {}]> : tensor<8x16xf32>
  %2 = sdy.reshard %1 <@mesh, [{"x"}, {"y"}]> : tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}

// -----

// What is open is left to propagation.
// CHECK-DAG: #[[XU:.*]] = #dtensor.layout<#{{.*}}, [x, *]>
// CHECK-LABEL: @open
// CHECK-SAME: (%[[A:.*]]: tensor<8x16xf32>) -> tensor<8x16xf32>
// CHECK: dtensor.constraint %[[A]] {dtensor.wish = {layout = #[[XU]], open = array<i1: true, false>, priorities = array<i64: 1, 0>}}
// CHECK: dtensor.constraint {{.*}} {dtensor.wish = {direction = "forward"
// CHECK: dtensor.constraint {{.*}} {dtensor.wish = {group = 3 : i64
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @open(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1, {}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}]>}) {
  %0 = sdy.propagation_barrier %a allowed_direction=FORWARD : tensor<8x16xf32>
  sdy.sharding_group %0 group_id=3 : tensor<8x16xf32>
  %1 = stablehlo.negate %0 : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}

// -----

// Partial values.
// CHECK-DAG: #[[P:.*]] = #dtensor.layout<#{{.*}}, [x, *] partial<y: sum>>
// CHECK-LABEL: @unreduced
// CHECK-SAME: tensor<8x16xf32, #[[P]]>
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @unreduced(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y"}>}) -> tensor<8x16xf32> {
  %0 = stablehlo.negate %a : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// -----

// Sub-axes cut their axis; layouts on all parts print as the axis.
// CHECK-DAG: #[[MESH:.*]] = #dtensor.mesh<x:(1)2 = 2, x:(2)4 = 4>
// CHECK-DAG: #[[PARTS:.*]] = #dtensor.layout<#[[MESH]], [x:(2)4, x:(1)2]>
// CHECK-DAG: #[[WHOLE:.*]] = #dtensor.layout<#[[MESH]], [x, *]>
// CHECK-LABEL: @sub_axes
// CHECK-SAME: tensor<8x16xf32, #[[PARTS]]>
// CHECK: dtensor.constraint {{.*}} -> tensor<8x16xf32, #[[WHOLE]]>
sdy.mesh @mesh = <["x"=8]>
func.func @sub_axes(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(2)4}, {"x":(1)2}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.negate %a : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// -----

// Meshes over the same devices, in another order.
// CHECK-DAG: #[[MESH:.*]] = #dtensor.mesh<x = 2, y = 4>
// CHECK-DAG: #[[ALL:.*]] = #dtensor.layout<#[[MESH]], [{y, x}]>
// CHECK-DAG: #[[U:.*]] = #dtensor.layout<#[[MESH]], [y]>
// CHECK-LABEL: @meshes
// CHECK-SAME: %{{.*}}: tensor<16xf32, #{{.*}}>, %{{.*}}: tensor<16xf32, #[[ALL]]>, %{{.*}}: tensor<16xf32, #[[U]]>
sdy.mesh @a = <["x"=2, "y"=4]>
sdy.mesh @b = <["all"=8], device_ids=[0, 4, 1, 5, 2, 6, 3, 7]>
sdy.mesh @c = <["u"=4, "v"=2], device_ids=[0, 4, 1, 5, 2, 6, 3, 7]>
func.func @meshes(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}]>}, %y: tensor<16xf32> {sdy.sharding = #sdy.sharding<@b, [{"all"}]>}, %z: tensor<16xf32> {sdy.sharding = #sdy.sharding<@c, [{"u"}]>}) -> tensor<16xf32> {
  %0 = stablehlo.add %x, %y : tensor<16xf32>
  %1 = stablehlo.add %0, %z : tensor<16xf32>
  return %1 : tensor<16xf32>
}

// -----

// GSPMD's strings.
// CHECK-DAG: #[[MESH:.*]] = #dtensor.mesh<devices:(1)2 = 2, devices:(2)4 = 4>
// CHECK-DAG: #[[A:.*]] = #dtensor.layout<#[[MESH]], [devices:(1)2, devices:(2)4]>
// CHECK-DAG: #[[B:.*]] = #dtensor.layout<#[[MESH]], [*, devices:(2)4]>
// CHECK-DAG: #[[C:.*]] = #dtensor.layout<#[[MESH]], [*, *]>
// CHECK-LABEL: @gspmd
// CHECK-SAME: tensor<8x16xf32, #[[A]]>
// CHECK: dtensor.constraint {{.*}} -> tensor<8x16xf32, #[[B]]>
// CHECK: dtensor.constraint {{.*}} -> tensor<8x16xf32, #[[C]]>
func.func @gspmd(%a: tensor<8x16xf32> {mhlo.sharding = "{devices=[2,4]<=[8]}"}) -> (tensor<8x16xf32> {mhlo.sharding = "{replicated}"}) {
  %0 = stablehlo.negate %a : tensor<8x16xf32>
  %1 = stablehlo.custom_call @Sharding(%0) {mhlo.sharding = "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}

// -----

// jax.experimental.shard_alike without Shardy: values of one group are laid
// out alike, and `unknown` says nothing else about them.
// CHECK-LABEL: func.func @alike(
// CHECK-SAME: %arg0: tensor<8x16xf32, #[[L:[^>]*]]>, %arg1: tensor<8x16xf32>)
// CHECK: %[[A:.*]] = dtensor.constraint %arg0 {dtensor.wish = {group = 3 : i64, {{.*}}open = array<i1: true, true>
// CHECK: %[[B:.*]] = dtensor.constraint %{{.*}} : (tensor<8x16xf32>) -> tensor<8x16xf32, #[[L]]>
// CHECK: dtensor.multiply %[[A]], %[[B]]
func.func @alike(%a: tensor<8x16xf32> {mhlo.sharding = "{devices=[2,4]<=[8]}"}, %b: tensor<8x16xf32> {mhlo.sharding = "{unknown}"}) -> tensor<8x16xf32> {
  %0 = stablehlo.sine %b : tensor<8x16xf32>
  %1 = stablehlo.custom_call @Sharding(%a) {backend_config = "", has_side_effect = true, mhlo.sharding = "{unknown shard_as 3}"} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = stablehlo.custom_call @Sharding(%0) {backend_config = "", mhlo.sharding = "{unknown shard_like 3 metadata={op_name=\22f\22}}"} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %3 = stablehlo.multiply %1, %2 : tensor<8x16xf32>
  return %3 : tensor<8x16xf32>
}
