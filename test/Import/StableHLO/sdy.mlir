// Shardy's meshes, shardings, rules and ops, in every form.
// RUN: mesh-opt %s > %t.pretty
// RUN: mesh-opt %t.pretty | diff %t.pretty -
// RUN: mesh-opt --mlir-print-op-generic %s > %t.generic
// RUN: mesh-opt %t.generic | diff %t.pretty -
// RUN: FileCheck %s < %t.pretty

// CHECK: sdy.mesh @mesh = <["x"=2, "y"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 4 : i64}]}}
sdy.mesh @mesh = <["x"=2, "y"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 4 : i64}]}}
// CHECK: sdy.mesh @order = <["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>
sdy.mesh @order = <["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>
// CHECK: sdy.mesh @counting = <["x"=2, "y"=2]>
sdy.mesh @counting = <["x"=2, "y"=2], device_ids=[0, 1, 2, 3]>
// CHECK: sdy.mesh @turned = <["x"=2, "y"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
sdy.mesh @turned = <["x"=2, "y"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
// CHECK: sdy.mesh @one = <[], device_ids=[3]>
sdy.mesh @one = <[], device_ids=[3]>
// CHECK: sdy.mesh @none = <[]>
sdy.mesh @none = <[]>

// CHECK-LABEL: func.func @shardings(
// CHECK-SAME: {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}
// CHECK-SAME: {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1, {?}p0]>}
// CHECK-SAME: {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y":(2)2}], replicated={"x", "y":(1)2}>}
// CHECK-SAME: {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], replicated={"y"}, unreduced={"x"}>}
// CHECK-SAME: {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced=max{"y":(1)2}>}
// CHECK-SAME: {sdy.sharding = #sdy.sharding<mesh<["a"=2], device_ids=[1, 0]>, [{"a"}]>}
// CHECK-SAME: {sdy.sharding = #sdy.sharding<@mesh, []>}
func.func @shardings(
    %0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>},
    %1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1, {?}p0]>},
    %2: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y":(2)2}], replicated={"x", "y":(1)2}>},
    %3: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}, replicated={"y"}>},
    %4: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced=max{"y":(1)2}>},
    %5: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=2], device_ids=[1, 0]>, [{"a"}]>},
    %6: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>})
    -> (tensor<8x8xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  // CHECK: stablehlo.add {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
  %7 = stablehlo.add %0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
  // Each sharding may have its name.
  // CHECK: stablehlo.add {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : tensor<8x8xf32>
  %8 = stablehlo.add %0, %0 {sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@mesh, [{"y"}, {}]>]>} : tensor<8x8xf32>
  return %7 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @ops
func.func @ops(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) {
  // CHECK: sdy.sharding_constraint %{{.*}} <@mesh, [{"x"}, {?}]> : tensor<8x8xf32>
  %0 = sdy.sharding_constraint %x <@mesh, [{"x"}, {?}]> : tensor<8x8xf32>
  // CHECK: sdy.reshard %{{.*}} <@order, [{}, {"y"}]> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@order, [{}, {"y"}]> : tensor<8x8xf32>
  // CHECK: sdy.propagation_barrier %{{.*}} allowed_direction=BACKWARD : tensor<8x8xf32>
  %2 = sdy.propagation_barrier %1 allowed_direction=BACKWARD : tensor<8x8xf32>
  // CHECK: sdy.sharding_group %{{.*}} group_id=21 : tensor<8x8xf32>
  sdy.sharding_group %2 group_id=21 : tensor<8x8xf32>
  // CHECK: sdy.data_flow_edge %{{.*}} sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %c = stablehlo.constant dense<1.0> : tensor<8x8xf32>
  %3 = sdy.data_flow_edge %c sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %d = stablehlo.constant dense<1.0> : tensor<8x8xf32>
  %4 = sdy.data_flow_edge %d : tensor<8x8xf32>
  %5 = sdy.func_data_flow_edge %y : tensor<8x8xf32>
  %6 = sdy.constant dense<1.0> : tensor<8xf32>
  // CHECK: sdy.named_computation<"foo">(%{{.*}}) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] (%[[A:.*]]: tensor<8x8xf32>) {
  // CHECK-NEXT: sdy.return %[[A]] : tensor<8x8xf32>
  %7 = sdy.named_computation<"foo">(%x) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] (%a: tensor<8x8xf32>) {
    sdy.return %a : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %8 = sdy.named_computation<"bar">(%x) (%a: tensor<8x8xf32>) {
    sdy.return %a : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// CHECK-LABEL: func.func @manual
func.func @manual(%x: tensor<8x8xf32>) {
  // CHECK: sdy.manual_computation(%{{.*}}) in_shardings=[<@mesh, [{"x"}, {"y", ?}]>] out_shardings=[<@mesh, [{?}, {"x", ?}]>, <@mesh, []>] manual_axes={"x"} (%{{.*}}: tensor<4x8xf32>) {
  %0:2 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {"y", ?}]>] out_shardings=[<@mesh, [{?}, {"x", ?}]>, <@mesh, []>] manual_axes={"x"} (%a: tensor<4x8xf32>) {
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    sdy.return %a, %c : tensor<4x8xf32>, tensor<f32>
  } : (tensor<8x8xf32>) -> (tensor<4x16xf32>, tensor<f32>)
  // CHECK: sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
    sdy.return
  } : () -> ()
  return
}

// CHECK-LABEL: func.func @rules
func.func @rules(%a: tensor<8x4xf32>, %b: tensor<4x2xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j], [j, k])->([i, k]) {i=8, j=4, k=2} reduction={j} need_replication={k} permutation={i} blocked_propagation={k}, custom>
  %0 = stablehlo.custom_call @product(%a, %b) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [j, k])->([i, k]) {i=8, j=4, k=2} reduction={j} need_replication={k} permutation={i} blocked_propagation={k}, custom>} : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  // CHECK: #sdy.op_sharding_rule<([i, j])->([ij]) {i=8, j=4}>
  %1 = stablehlo.reshape %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([ij]) {i=8, j=4}>} : (tensor<8x4xf32>) -> tensor<32xf32>
  // CHECK: ([])->([])>
  %s = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.custom_call @scalars(%s) {sdy.sharding_rule = #sdy.op_sharding_rule<([])->([])>} : (tensor<f32>) -> tensor<f32>
  // Factors after the 18th.
  // CHECK: ([i, j])->([i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, z_1, z_2])
  %m = stablehlo.custom_call @many(%b) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, z_1, z_2]) {i=4, j=2, k=1, l=1, m=1, n=1, o=1, p=1, q=1, r=1, s=1, t=1, u=1, v=1, w=1, x=1, y=1, z=1, z_1=1, z_2=1}>} : (tensor<4x2xf32>) -> tensor<4x2x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>
  return
}

// CHECK-LABEL: func.func @collectives
func.func @collectives(
    %x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>},
    %y: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %z: tensor<16x8xf32>,
    %p: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}], unreduced=max{"y"}>}) {
  // CHECK: sdy.all_gather [{}, {"y":(2)2}] %{{.*}} out_sharding=<@mesh, [{}, {"x", "y":(1)2}]> : tensor<16x8xf32>
  %0 = sdy.all_gather [{}, {"y":(2)2}] %x out_sharding=<@mesh, [{}, {"x", "y":(1)2}]> : tensor<16x8xf32>
  // CHECK: sdy.all_slice [{"x"}, {}] %{{.*}} out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  %1 = sdy.all_slice [{"x"}, {}] %z out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  // CHECK: sdy.all_to_all [{"x"}: 0->1] %{{.*}} out_sharding=<@mesh, [{}, {"y", "x"}]> : tensor<16x8xf32>
  %2 = sdy.all_to_all [{"x"}: 0->1] %y out_sharding=<@mesh, [{}, {"y", "x"}]> : tensor<16x8xf32>
  // CHECK: sdy.all_reduce {"y"} %{{.*}} out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  %3 = sdy.all_reduce {"y"} %1 out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  // CHECK: sdy.all_reduce max {"y"} %{{.*}} out_sharding
  %4 = sdy.all_reduce max {"y"} %p out_sharding=<@mesh, [{}, {"x"}]> : tensor<16x8xf32>
  // CHECK: sdy.reduce_scatter [{"y"}, {}] %{{.*}} out_sharding
  %5 = sdy.reduce_scatter [{"y"}, {}] %z out_sharding=<@mesh, [{"y"}, {}]> : tensor<16x8xf32>
  // CHECK: sdy.collective_permute %{{.*}} out_sharding=<@turned, [{}, {"y", "x"}]>
  %6 = sdy.collective_permute %x out_sharding=<@turned, [{}, {"y", "x"}]> : tensor<16x8xf32>
  // CHECK: sdy.sharded_to_unreduced [{}, {"y"}] %{{.*}} out_sharding
  %7 = sdy.sharded_to_unreduced [{}, {"y"}] %x out_sharding=<@mesh, [{}, {"x"}], unreduced={"y"}> : tensor<16x8xf32>
  // CHECK: sdy.replicated_to_unreduced {"y"} %{{.*}} out_sharding
  %8 = sdy.replicated_to_unreduced {"y"} %1 out_sharding=<@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<16x8xf32>
  return
}
