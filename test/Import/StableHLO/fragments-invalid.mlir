// Programs of Shardy's dialect mpmd that mean nothing on one mesh.
// RUN: mesh-opt %s --stablehlo-to-dtensor --split-input-file --verify-diagnostics

// expected-error @below {{the topology has the mesh "m1" with 2 devices and the mesh "m2" with 4; expected as many in each, so that all parts can run on the devices of one mesh}}
func.func @different(%x: tensor<8xf32>) -> tensor<8xf32>
    attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["y"=4]>>>} {
  %0 = mpmd.broadcast %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @long(%x: tensor<ui32>) -> tensor<ui32> {
  // expected-error @below {{the loop has 4000000000 turns of 2 ops; at most 1048576 ops can be written out}}
  %0 = mpmd.for (%x) {iterations = 4000000000 : ui32} (%sum: tensor<ui32>, %index: tensor<ui32>) {
    %next = stablehlo.add %sum, %index : tensor<ui32>
    mpmd.return %next : tensor<ui32>
  } : tensor<ui32>
  return %0 : tensor<ui32>
}

// -----

func.func @reduction(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{expected tensors to combine by add, max, min, mul, or, and, or equal ones with none}}
  %0 = mpmd.reduce<xor> %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// expected-error @below {{expected sharding=... or memory_kind="..."}}
func.func @type(%x: !mpmd.mesh_tensor<"m1", tensor<8xf32>, color=3>) {
  return
}
