// Control flow, calls, tuples, communication, and what the import refuses.
// RUN: mesh-opt %s > %t.pretty
// RUN: mesh-opt %t.pretty | diff %t.pretty -
// RUN: mesh-opt --mlir-print-op-generic %s > %t.generic
// RUN: mesh-opt %t.generic | diff %t.pretty -
// RUN: FileCheck %s < %t.pretty

// CHECK-LABEL: func.func @loops
func.func @loops(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  // CHECK: %{{.*}}:2 = stablehlo.while(%[[I:.*]] = %{{.*}}, %[[A:.*]] = %{{.*}}) : tensor<i32>, tensor<4xf32> attributes {mhlo.frontend_attributes = {}} cond {
  // CHECK: stablehlo.compare LT, %[[I]]
  // CHECK: } do {
  // CHECK: stablehlo.add %[[A]], %[[A]]
  %0:2 = stablehlo.while(%iterArg = %n, %iterArg_0 = %x) : tensor<i32>, tensor<4xf32> attributes {mhlo.frontend_attributes = {}}
   cond {
    %c = stablehlo.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare  LT, %iterArg, %c,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %iterArg_0, %iterArg_0 : tensor<4xf32>
    %2 = stablehlo.add %iterArg, %n : tensor<i32>
    stablehlo.return %2, %1 : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @branches
func.func @branches(%x: tensor<4xf32>, %k: tensor<i32>, %p: tensor<i1>) {
  %0 = "stablehlo.case"(%k) ({
    %2 = stablehlo.negate %x : tensor<4xf32>
    stablehlo.return %2 : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  "stablehlo.if"(%p) ({
    stablehlo.return
  }, {
    "stablehlo.return"() : () -> ()
  }) : (tensor<i1>) -> ()
  return
}

// CHECK-LABEL: func.func @calls
func.func @calls(%x: tensor<4xf32>) {
  // CHECK: stablehlo.tuple %{{.*}}, %{{.*}} : tuple<tensor<4xf32>, tensor<4xf32>>
  %0 = stablehlo.tuple %x, %x : tuple<tensor<4xf32>, tensor<4xf32>>
  // CHECK: stablehlo.get_tuple_element %{{.*}}[1] : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  // CHECK: stablehlo.optimization_barrier %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %2:2 = stablehlo.optimization_barrier %x, %1 : tensor<4xf32>, tensor<4xf32>
  stablehlo.optimization_barrier ()
  // CHECK: stablehlo.composite "my.scale" %{{.*}} {composite_attributes = {k = 2.000000e+00 : f32}, decomposition = @callee, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = stablehlo.composite "my.scale" %x {composite_attributes = {k = 2.0 : f32}, decomposition = @callee, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: stablehlo.custom_call @Sharding(%{{.*}}) {backend_config = "", mhlo.sharding = "{devices=[2,4]<=[8]}"} : (tensor<4xf32>) -> tensor<4xf32>
  %4 = stablehlo.custom_call @Sharding(%x) {backend_config = "", mhlo.sharding = "{devices=[2,4]<=[8]}"} : (tensor<4xf32>) -> tensor<4xf32>
  %5:2 = stablehlo.custom_call @"odd name"(%x) {api_version = 4 : i32, mhlo.backend_config = {uplo = 76 : ui8}, operand_layouts = [dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>]} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  stablehlo.custom_call @effect() {has_side_effect = true, called_computations = [@callee]} : () -> ()
  return
}
func.func private @callee(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// CHECK-LABEL: func.func @collectives
func.func @collectives(%x: tensor<4x8xf32>) {
  %0 = stablehlo.partition_id : tensor<ui32>
  %1 = stablehlo.replica_id : tensor<ui32>
  // CHECK: channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>
  %2 = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %8 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %8 : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %4 = "stablehlo.all_to_all"(%x) <{concat_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4x8xf32>) -> tensor<2x16xf32>
  %5 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">, #stablehlo.axis_ref<name = "y", sub_axis_info = (1)2>]>
  %6 = "stablehlo.reduce_scatter"(%x) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">, #stablehlo.axis_ref<name = "y", sub_axis_info = (1)2>]>, scatter_dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %8 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %8 : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x4xf32>
  %7 = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// Read, so that the import can name them.
// CHECK-LABEL: func.func @refused
func.func @refused(%x: tensor<?x4xf32, #stablehlo.bounds<8, ?>>, %f: tensor<4xf8E4M3FN>, %q: tensor<4x!quant.uniform<i8:f32, 0.5>>, %d: tensor<2xi64>) {
  %0 = stablehlo.create_token : !stablehlo.token
  %1 = stablehlo.after_all %0, %0 : !stablehlo.token
  %2:2 = "stablehlo.infeed"(%1) <{infeed_config = ""}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  %3 = "stablehlo.outfeed"(%2#0, %2#1) <{outfeed_config = ""}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  %4 = "stablehlo.send"(%2#0, %3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  %5:2 = "stablehlo.recv"(%4) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  %6 = stablehlo.dynamic_reshape %x, %d : (tensor<?x4xf32, #stablehlo.bounds<8, ?>>, tensor<2xi64>) -> tensor<?x?xf32>
  %7 = stablehlo.dynamic_broadcast_in_dim %6, %d, dims = [0, 1] : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %8 = stablehlo.get_dimension_size %6, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
  %9 = stablehlo.set_dimension_size %6, %8, dim = 1 : (tensor<?x?xf32>, tensor<i32>) -> tensor<?x?xf32>
  %10 = stablehlo.dynamic_iota %d, dim = 0 : (tensor<2xi64>) -> tensor<?x?xi32>
  %11 = stablehlo.uniform_dequantize %q : (tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4xf32>
  return
}
