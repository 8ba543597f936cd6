// What StableHLO has no word for is named, with its layouts.
// RUN: mesh-opt %s --split-input-file --verify-diagnostics --spmd-to-stablehlo

#mesh = #dtensor.mesh<x = 2>
#whole = #dtensor.layout<#mesh, [*, *]>

func.func @users(%x: tensor<4x4xf32, #spmd.shard<[4, 4], #whole>>) -> tensor<4x4xf32, #spmd.shard<[4, 4], #whole>> {
  // expected-error @below {{cannot be exported to StableHLO: dtensor.custom_call on}}
  %0 = dtensor.custom_call "mine"(%x) : (tensor<4x4xf32, #spmd.shard<[4, 4], #whole>>) -> tensor<4x4xf32, #spmd.shard<[4, 4], #whole>>
  return %0 : tensor<4x4xf32, #spmd.shard<[4, 4], #whole>>
}

// -----

// expected-error @below {{argument #0 is not a shard: run --dtensor-partition first}}
func.func @global(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x, *, *]>
#values = #dtensor.layout<#mesh, [x, *]>
func.func @no_such_op(%a: tensor<2x5x5xf32, #spmd.shard<[4, 5, 5], #rows>>) -> tensor<2x5xf32, #spmd.shard<[4, 5], #values>> {
  // expected-error @below {{StableHLO has no such op, and XLA's compilers expand no call of it; Meshloom's own devices (--platform=cpu) run it}}
  %u, %s, %vh = dtensor.svd %a : (tensor<2x5x5xf32, #spmd.shard<[4, 5, 5], #rows>>) -> (tensor<2x5x5xf32, #spmd.shard<[4, 5, 5], #rows>>, tensor<2x5xf32, #spmd.shard<[4, 5], #values>>, tensor<2x5x5xf32, #spmd.shard<[4, 5, 5], #rows>>)
  return %s : tensor<2x5xf32, #spmd.shard<[4, 5], #values>>
}
