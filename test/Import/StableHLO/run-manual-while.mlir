// Devices that go round a loop as often as their position says: nobody asks whether others are still running.
// RUN: mesh-run %s --verify --machine=ring && mesh-run %s --verify --private-memories
// RUN: mesh-opt %s --stablehlo-to-dtensor | FileCheck %s
// RUN: mesh-opt %s --stablehlo-to-dtensor --dtensor-partition=machine=ring | FileCheck %s --check-prefix=SENT
// CHECK: dtensor.while
// CHECK: %[[MINE:.*]] = dtensor.compare LT
// CHECK: dtensor.reduce or
// CHECK: %[[RUNS:.*]] = dtensor.compare LT
// CHECK: dtensor.constraint %[[RUNS]] : (tensor<4xi1>) -> tensor<4xi1, #{{.*}}>
// SENT-NOT: spmd.all
module {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%arg0: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%local: tensor<2x3xf32>) {
      %position = stablehlo.partition_id : tensor<ui32>
      %trips = stablehlo.convert %position : (tensor<ui32>) -> tensor<i32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %1:3 = stablehlo.while(%n = %trips, %i = %zero, %value = %local) : tensor<i32>, tensor<i32>, tensor<2x3xf32>
      cond {
        %2 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %2 : tensor<i1>
      } do {
        %one = stablehlo.constant dense<1> : tensor<i32>
        %2 = stablehlo.add %i, %one : tensor<i32>
        %3 = stablehlo.add %value, %value : tensor<2x3xf32>
        stablehlo.return %n, %2, %3 : tensor<i32>, tensor<i32>, tensor<2x3xf32>
      }
      sdy.return %1#2 : tensor<2x3xf32>
    } : (tensor<8x3xf32>) -> tensor<8x3xf32>
    return %0 : tensor<8x3xf32>
  }
}
