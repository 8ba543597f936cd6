// Pending reductions that a program makes: constraints, reshards and Shardy's
// collectives to `unreduced`, results and arguments that are unreduced.
// RUN: mesh-opt --stablehlo-to-dtensor %s | FileCheck %s
// RUN: mesh-run --verify --function=main %s
// RUN: mesh-run --verify --function=manual %s
// RUN: mesh-run --verify --private-memories --function=main %s
// RUN: mesh-run --verify --private-memories --function=manual %s
// RUN: mesh-opt --stablehlo-to-dtensor --dtensor-partition --spmd-to-stablehlo %s | FileCheck %s --check-prefix=DEVICE

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func.func @main(
// DEVICE-LABEL: func.func {{.*}}@main(
// DEVICE-NOT: stablehlo.all_
// DEVICE: {{^}}    return
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

// Values that enter a manual computation unreduced along a manual axis, and
// that leave it so: the devices have addends.
// CHECK-LABEL: func.func @manual(
// CHECK: dtensor.select
// CHECK: dtensor.reduce sum %{{.*}} dims [1]
func.func @manual(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y"}>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y"}>}, tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}], unreduced=max{"x"}>}) {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<8x8xf32>
  %1:2 = sdy.manual_computation(%0, %b, %a) in_shardings=[<@mesh, [{"x"}, {}], unreduced={"y"}>, <@mesh, [{"x"}, {}], unreduced={"y"}>, <@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {}], unreduced={"y"}>, <@mesh, [{}, {"y"}], unreduced=max{"x"}>] manual_axes={"x", "y"} (%u: tensor<4x8xf32>, %v: tensor<4x8xf32>, %w: tensor<4x2xf32>) {
    %2 = stablehlo.add %u, %v : tensor<4x8xf32>
    %3 = stablehlo.concatenate %w, %w, dim = 0 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
    sdy.return %2, %3 : tensor<4x8xf32>, tensor<8x2xf32>
  } : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
  return %1#0, %1#1 : tensor<8x8xf32>, tensor<8x8xf32>
}
