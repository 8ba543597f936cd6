// Programs of Shardy's dialect mpmd: the parts run on one mesh, and are scopes.
// RUN: mesh-opt %s --stablehlo-to-dtensor --split-input-file --mlir-print-debuginfo | FileCheck %s

// A fragment has the scope of its stage, its mesh and its computations. What it
// gives has the sharding of its type.
// CHECK-LABEL: func.func @fragments
// CHECK-SAME: %arg0: tensor<4x8xf32, #[[ROWS:layout[a-z_0-9]*]]>
// CHECK: dtensor.add %arg0, %arg0 {{.*}} loc(#[[FIRST:loc[0-9]*]])
// CHECK: dtensor.constraint
// CHECK: dtensor.multiply {{.*}} loc(#[[SECOND:loc[0-9]*]])
// CHECK-DAG: #[[FIRST]] = loc(fused<"m1/f">
// CHECK-DAG: #[[SECOND]] = loc(fused<"stage1/m2/g+transpose(f)">
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>
!first = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>
!first_columns = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{}, {"x"}]>>
!second = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>, sharding=<@mesh, [{}, {"x"}]>>
func.func @fragments(%x: !first) -> !second attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%x) (%a: tensor<4x8xf32>) {
    %sum = stablehlo.add %a, %a : tensor<4x8xf32>
    mpmd.return %sum : tensor<4x8xf32>
  } : (!first) -> !first_columns
  %1 = mpmd.transfer %0 : (!first_columns) -> !second
  %2 = mpmd.fragment<mesh="m2", origin=["g", "f"(1)], stage=1, in_shardings=[<@mesh, [{}, {"x"}]>]> (%1) {call_counter = 0 : ui32} (%a: tensor<4x8xf32>) {
    %product = stablehlo.multiply %a, %a : tensor<4x8xf32>
    mpmd.return %product : tensor<4x8xf32>
  } : (!second) -> !second
  return %2 : !second
}

// -----

// Computations before they are assigned to meshes, what Shardy's passes note
// about them, tensors of several meshes, and calls. No value is sharded: the
// mesh is that of the topology.
// CHECK: #mesh = #dtensor.mesh<x = 2>
// CHECK-LABEL: func.func @computations
// CHECK: dtensor.exp %arg0 {{.*}} loc(#[[F:loc[0-9]*]])
// CHECK: dtensor.add
// CHECK: dtensor.add
// CHECK: dtensor.tanh {{.*}} loc(#[[G:loc[0-9]*]])
// CHECK-DAG: #[[F]] = loc(fused<"f">
// CHECK-DAG: #[[G]] = loc(fused<"transpose(g)">
func.func @computations(%x: tensor<8xf32>) -> tensor<8xf32>
    attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>>} {
  %0 = mpmd.named_computation<"f"> (%x) {mpmd.use_set = #mpmd.meshes_with_origins<"m1"["f"]>} (%a: tensor<8xf32>) {
    %e = stablehlo.exponential %a : tensor<8xf32>
    mpmd.return %e : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %1 = mpmd.broadcast %0 : tensor<8xf32>
  %2 = mpmd.named_tensor %x name="input" : tensor<8xf32>
  %3 = mpmd.reduce<add> %1, %2, %x : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %4 = mpmd.assign %3 : (tensor<8xf32>) -> !mpmd.mesh_tensor<"m1", tensor<8xf32>>
  %5 = mpmd.unassign %4 : (!mpmd.mesh_tensor<"m1", tensor<8xf32>>) -> tensor<8xf32>
  %6 = mpmd.call @backward(%5) {call_counter = 0 : ui32} : (tensor<8xf32>) -> tensor<8xf32>
  return %6 : tensor<8xf32>
}
func.func private @backward(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = mpmd.named_computation<"g"(1)> (%x) (%a: tensor<8xf32>) {
    %t = stablehlo.tanh %a : tensor<8xf32>
    mpmd.return %t : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A loop is written out, with the number of each turn.
// CHECK-LABEL: func.func @loop
// CHECK: %[[ZERO:.*]] = dtensor.constant dense<0> : tensor<ui32>
// CHECK: dtensor.add
// CHECK: %[[ONE:.*]] = dtensor.constant dense<1> : tensor<ui32>
// CHECK: dtensor.add
// CHECK-NOT: dtensor.add
// CHECK: return
func.func @loop(%x: tensor<ui32>) -> tensor<ui32> {
  %0 = mpmd.for (%x) {iterations = 2 : ui32, unroll_factor = 2 : ui32} (%sum: tensor<ui32>, %index: tensor<ui32>) {
    %next = stablehlo.add %sum, %index : tensor<ui32>
    mpmd.return %next : tensor<ui32>
  } : tensor<ui32>
  return %0 : tensor<ui32>
}

// -----

// The meshes of a topology may have different axes over as many devices.
// CHECK-LABEL: func.func @two_meshes
// CHECK-SAME: %arg0: tensor<4x8xf32, #layout_[[ROWS:[a-z_0-9]*]]>
// CHECK-SAME: -> (tensor<4x8xf32, #layout_[[ROWS]]> {dtensor.written = #layout_y_u})
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["y"=2]>>>
!first = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>
!second = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>, sharding=<@mesh, [{"y"}, {}]>>
func.func @two_meshes(%x: !first) -> !second attributes {topology = #topology} {
  %0 = mpmd.transfer %x : (!first) -> !second
  return %0 : !second
}
