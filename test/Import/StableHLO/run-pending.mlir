// Pending reductions that a program makes: constraints, reshards and Shardy's
// collectives to `unreduced`, results and arguments that are unreduced.
// RUN: mesh-opt --stablehlo-to-dtensor %s | FileCheck %s
// RUN: mesh-run --verify %s
// RUN: mesh-run --verify --private-memories %s
// RUN: mesh-opt --stablehlo-to-dtensor --dtensor-partition --spmd-to-stablehlo %s | FileCheck %s --check-prefix=DEVICE

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func.func @main(
// DEVICE-LABEL: func.func {{.*}}@main(
// DEVICE-NOT: stablehlo.all_
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>},
        tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y"}>},
        tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y"}>},
        tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>},
        tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y"}>}) {
  // CHECK: dtensor.relayout {{.*}} -> tensor<8x8xf32, #layout_u_u_sum_x>
  %0 = sdy.sharded_to_unreduced [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<8x8xf32>
  // CHECK: dtensor.relayout {{.*}} -> tensor<8x8xf32, #layout_x_u_sum_y>
  %1 = sdy.sharded_to_unreduced [{"y"}, {}] %b out_sharding=<@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<8x8xf32>
  // CHECK: dtensor.relayout {{.*}} -> tensor<8x8xf32, #layout_x_u_sum_y>
  %2 = sdy.replicated_to_unreduced {"y"} %a out_sharding=<@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<8x8xf32>
  // CHECK: dtensor.relayout {{.*}} -> tensor<8x8xf32, #layout_u_u_sum_x>
  %3 = sdy.reshard %a <@mesh, [{}, {}], unreduced={"x"}> : tensor<8x8xf32>
  // CHECK: dtensor.constraint {{.*}} -> tensor<8x8xf32, #layout_x_u_sum_y>
  %4 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<8x8xf32>
  return %0, %1, %2, %3, %4 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
