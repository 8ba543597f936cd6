// A reshape whose major part takes a part of the axis, the minor one the rest: right under both machines and memories.
// RUN: mesh-run %s --verify --machine=ring && mesh-run %s --verify --machine=ring --private-memories
// RUN: mesh-run %s --verify && mesh-run %s --verify --private-memories
// RUN: mesh-opt %s --stablehlo-to-dtensor | FileCheck %s
// CHECK: #dtensor.mesh<model:(1)4 = 4, model:(4)2 = 2>
// Only one pair of devices exchanges anything: the rows of 16 are cut behind the 4.
// RUN: mesh-opt %s --stablehlo-to-dtensor --dtensor-partition=machine=ring | FileCheck %s --check-prefix=SENT
// SENT: spmd.all_to_all over ["model:(4)2"]
// SENT-NOT: spmd.all
module @jit_reshape_needs_sub_axes attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["model"=8]> {stablehlo.mesh = {axes = [{name = "model", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<64x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> (tensor<16x48xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}) {
    %0 = stablehlo.reshape %arg0 : (tensor<64x12xf32>) -> tensor<4x16x12xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x16x12xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<4x16x12xf32>
    %3 = stablehlo.transpose %2, dims = [1, 0, 2] : (tensor<4x16x12xf32>) -> tensor<16x4x12xf32>
    %4 = stablehlo.reshape %3 : (tensor<16x4x12xf32>) -> tensor<16x48xf32>
    return %4 : tensor<16x48xf32>
  }
}
