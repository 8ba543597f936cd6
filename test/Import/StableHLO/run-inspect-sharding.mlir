// jax.debug.inspect_array_sharding: the layout that was decided is told, with the value and the line.
// RUN: mesh-run %s 2>&1 | FileCheck %s
// RUN: mesh-opt %s --stablehlo-to-dtensor --dtensor-partition=machine=ring 2>&1 | FileCheck %s
// RUN: mesh-run %s --function=manual 2>&1 | FileCheck %s --check-prefix=MANUAL
module {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  // CHECK-DAG: run-inspect-sharding.mlir:[[#@LINE + 5]]:{{.*}}remark: weights, of shape [4, 6], is laid out as [*, y] on the mesh <x=2, y=2>
  // CHECK-DAG: run-inspect-sharding.mlir:[[#@LINE + 8]]:{{.*}}remark: result of stablehlo.dot_general, of shape [8, 6], is laid out as [x, y]
  func.func public @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                         %w: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>} loc("weights")) -> tensor<8x6xf32> {
    // As JAX 0.10.2 writes it.
    %told = stablehlo.custom_call @InspectSharding(%w) {api_version = 1 : i32, backend_config = "7f", has_side_effect = true} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    // The value may have been used before.
    %1 = stablehlo.add %0, %0 : tensor<8x6xf32>
    stablehlo.custom_call @InspectSharding(%0) {has_side_effect = true} : (tensor<8x6xf32>) -> ()
    return %1 : tensor<8x6xf32>
  }
  // MANUAL: remark: {{.*}}, of shape [4, 2], is laid out as [*, *] on the mesh <x=2, y=2>, in shard_map over x
  func.func public @manual(%a: tensor<8x2xf32>) -> tensor<8x2xf32> {
    %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x", "y"} (%b: tensor<4x2xf32>) {
      %1 = stablehlo.negate %b : tensor<4x2xf32>
      stablehlo.custom_call @InspectSharding(%1) {has_side_effect = true} : (tensor<4x2xf32>) -> ()
      sdy.return %1 : tensor<4x2xf32>
    } : (tensor<8x2xf32>) -> tensor<8x2xf32>
    return %0 : tensor<8x2xf32>
  }
}
