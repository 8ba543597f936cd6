// Forms that programs of peers have beside the usual ones.
// RUN: mesh-opt --stablehlo-to-dtensor %s | FileCheck %s
// RUN: mesh-run --verify --function=tuples %s
// RUN: mesh-run --verify --function=conv %s
// RUN: mesh-run --verify --function=captured %s
// RUN: mesh-run --verify --function=captured_elementwise %s
// RUN: mesh-run --verify --function=mixed %s
// RUN: mesh-run --verify --function=mixed_scatter %s
// RUN: mesh-run --verify --function=groups %s
// RUN: mesh-run --verify --function=pending_open %s
// RUN: mesh-run --verify --function=one_sized %s
// RUN: mesh-run --verify --function=edges %s
// RUN: mesh-run --verify --private-memories --function=collectives %s

sdy.mesh @mesh = <["x"=2, "one"=1, "y"=4]>

// Tuples are their elements, which are named by their place.
// CHECK-LABEL: func.func @tuples(
// CHECK-SAME: tensor<8xf32, #{{[^>]*}}> {dtensor.name = "pair.0"}, %{{.*}}: tensor<8xf32, #layout_u> {dtensor.name = "pair.1.0"})
// CHECK-SAME: -> (tensor<8xf32> {dtensor.name = "r.0"}, tensor<8xf32, #layout_u> {dtensor.name = "r.1"})
func.func @tuples(%t: tuple<tensor<8xf32>, tuple<tensor<8xf32>>> {mhlo.sharding = "{{devices=[8]<=[8]}, {replicated}}", jax.arg_info = "pair"}) -> (tuple<tensor<8xf32>, tensor<8xf32>> {jax.result_info = "r"}) {
  %0 = stablehlo.get_tuple_element %t[0] : (tuple<tensor<8xf32>, tuple<tensor<8xf32>>>) -> tensor<8xf32>
  %1 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<8xf32>, tuple<tensor<8xf32>>>) -> tuple<tensor<8xf32>>
  %2 = stablehlo.get_tuple_element %1[0] : (tuple<tensor<8xf32>>) -> tensor<8xf32>
  %3 = stablehlo.add %0, %2 : tensor<8xf32>
  %4 = stablehlo.tuple %3, %2 : tuple<tensor<8xf32>, tensor<8xf32>>
  return %4 : tuple<tensor<8xf32>, tensor<8xf32>>
}

// CHECK-LABEL: func.func @conv(
// CHECK: dtensor.convolution
func.func @conv(%a: tensor<1x8x8x3xf32>, %k: tensor<3x3x3x4xf32>) -> tensor<1x6x6x4xf32> {
  %0 = "stablehlo.convolution"(%a, %k) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}> : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x6x6x4xf32>
  return %0 : tensor<1x6x6x4xf32>
}

// A reducer may use constants from around it; they are made again inside.
// CHECK-LABEL: func.func @captured(
// CHECK: dtensor.generic_reduce
// CHECK: dtensor.constant dense<2.000000e+00>
func.func @captured(%a: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<f32>) {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %k = stablehlo.constant dense<2.0> : tensor<f32>
  %0 = "stablehlo.reduce"(%a, %c) <{dimensions = array<i64: 1>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %1 = stablehlo.maximum %p, %q : tensor<f32>
      %2 = stablehlo.minimum %1, %k : tensor<f32>
      stablehlo.return %2 : tensor<f32>
  }) : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0, %k : tensor<8xf32>, tensor<f32>
}
func.func @captured_elementwise(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %k = sdy.constant dense<3.0> : tensor<f32>
  %0 = "stablehlo.map"(%a) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%p: tensor<f32>):
      %1 = stablehlo.multiply %p, %k : tensor<f32>
      stablehlo.return %1 : tensor<f32>
  }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A reducer of wider elements than those that it reduces.
// CHECK-LABEL: func.func @mixed(
// CHECK: dtensor.convert %{{.*}} -> tensor<8x8xf32
// CHECK: dtensor.reduce sum
func.func @mixed(%a: tensor<8x8xf16>) -> (tensor<8xf32>, tensor<7x8xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<f16>
  %0 = "stablehlo.reduce"(%a, %c) <{dimensions = array<i64: 1>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %2 = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %2 : tensor<f32>
  }) : (tensor<8x8xf16>, tensor<f16>) -> tensor<8xf32>
  %1 = "stablehlo.reduce_window"(%a, %c) <{window_dimensions = array<i64: 2, 1>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %2 = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %2 : tensor<f32>
  }) : (tensor<8x8xf16>, tensor<f16>) -> tensor<7x8xf32>
  return %0, %1 : tensor<8xf32>, tensor<7x8xf32>
}
func.func @mixed_scatter(%a: tensor<8xf16>, %u: tensor<2xf16>) -> tensor<8xf32> {
  %i = stablehlo.constant dense<[[1], [5]]> : tensor<2x1xi32>
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %2 = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %2 : tensor<f32>
  }) : (tensor<8xf16>, tensor<2x1xi32>, tensor<2xf16>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A group with two closed layouts: the first holds, the other value is
// resharded.
// CHECK-LABEL: func.func @groups(
// CHECK: %[[B:.*]] = dtensor.constraint %arg1 : (tensor<8x8xf32, #layout_y{{.*}}>) -> tensor<8x8xf32, #layout_x_u>
// CHECK: dtensor.abs %[[B]]
func.func @groups(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  sdy.sharding_group %a group_id=1 : tensor<8x8xf32>
  sdy.sharding_group %b group_id=1 : tensor<8x8xf32>
  %0 = stablehlo.abs %a : tensor<8x8xf32>
  %1 = stablehlo.abs %b : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// The layout of a decided member is that of the others, also where it has no
// other use.
// CHECK-LABEL: func.func @unused_member(
// CHECK-SAME: tensor<8xf32, #[[Y:layout_y[^>]*]]>
// CHECK: %[[FIRST:.*]] = dtensor.iota
// CHECK: dtensor.constraint %[[FIRST]] : (tensor<8xi32>) -> tensor<8xi32, #[[Y]]>
// CHECK: %[[LAST:.*]] = dtensor.iota
// CHECK: dtensor.constraint %[[LAST]] : (tensor<8xi32>) -> tensor<8xi32, #[[Y]]>
func.func @unused_member(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<8xi32>, tensor<8xi32>) {
  %0 = stablehlo.iota dim = 0 : tensor<8xi32>
  sdy.sharding_group %0 group_id=1 : tensor<8xi32>
  sdy.sharding_group %a group_id=1 : tensor<8xf32>
  %1 = stablehlo.iota dim = 0 : tensor<8xi32>
  sdy.sharding_group %1 group_id=1 : tensor<8xi32>
  return %0, %1 : tensor<8xi32>, tensor<8xi32>
}

// Open dims beside `unreduced`, and with a priority alone.
func.func @pending_open(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}p1, {"y", ?}p2]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y", ?}], unreduced={"x"}>}) {
  %0 = sdy.sharding_constraint %a <@mesh, [{?}, {?}], unreduced={"x"}> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// An axis of one device, wherever axes are.
func.func @one_sized(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"one", "x"}, {"y"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"one"}, {}], replicated={"x"}>}) {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"one", "x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"one", "y"}]>] manual_axes={"x", "one", "y"} (%v: tensor<4x2xf32>) {
    sdy.return %v : tensor<4x2xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}, {}], unreduced={"one"}> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// Calls that were inlined, edges and barriers.
// CHECK-LABEL: func.func @edges(
// CHECK: dtensor.constraint %{{.*}} -> tensor<8x8xf32, #layout_u_y{{.*}}>
// CHECK: direction = "none"
func.func @edges(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %e = sdy.func_data_flow_edge %a : tensor<8x8xf32>
  %0 = sdy.named_computation<"f">(%e) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {"y"}]>] (%v: tensor<8x8xf32>) {
    %1 = stablehlo.abs %v : tensor<8x8xf32>
    sdy.return %1 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = sdy.data_flow_edge %0 sharding=<@mesh, [{}, {"y"}]> : tensor<8x8xf32>
  %3 = sdy.propagation_barrier %2 allowed_direction=NONE : tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}

// Shardy's own collectives, in a row.
// CHECK-LABEL: func.func @collectives(
// CHECK-COUNT-5: dtensor.relayout
func.func @collectives(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %1 = sdy.all_slice [{"y"}, {}] %a out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  %2 = sdy.all_to_all [{"y"}: 0->1] %1 out_sharding=<@mesh, [{}, {"y"}]> : tensor<8x8xf32>
  %3 = sdy.collective_permute %2 out_sharding=<@mesh, [{}, {"y":(2)2, "y":(1)2}]> : tensor<8x8xf32>
  %4 = sdy.all_gather [{}, {"y":(1)2}] %3 out_sharding=<@mesh, [{}, {"y":(2)2}]> : tensor<8x8xf32>
  %5 = sdy.replicated_to_unreduced {"x"} %4 out_sharding=<@mesh, [{}, {"y":(2)2}], unreduced={"x"}> : tensor<8x8xf32>
  %6 = sdy.reduce_scatter [{"x"}, {}] %5 out_sharding=<@mesh, [{"x"}, {"y":(2)2}]> : tensor<8x8xf32>
  %7 = sdy.sharded_to_unreduced [{}, {"y":(2)2}] %6 out_sharding=<@mesh, [{"x"}, {}], unreduced={"y":(2)2}> : tensor<8x8xf32>
  %8 = sdy.all_reduce {"y":(2)2} %7 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %8 : tensor<8x8xf32>
}

// Nobody calls this one: what it asks for is of no matter.
// CHECK-NOT: @nobody
func.func private @nobody(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
