// A future is the value that the op gives: also as an argument of a function, and beside calls that only order.
// RUN: mesh-run %s --function=gathered --verify && mesh-run %s --function=gathered --verify --private-memories
// RUN: mesh-run %s --function=argument | FileCheck %s --check-prefix=ARGUMENT
// RUN: mesh-opt %s --stablehlo-to-dtensor | FileCheck %s --implicit-check-not=future --implicit-check-not=async --implicit-check-not=control_dep
module {
  sdy.mesh @mesh = <["x"=2]>
  // CHECK: func.func @gathered
  func.func public @gathered(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<4xf32>) {
      %1 = "stablehlo.async_start"(%b) ({
      ^bb0(%c: tensor<4xf32>):
        %g = "stablehlo.all_gather"(%c) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
        stablehlo.return %g : tensor<8xf32>
      }) : (tensor<4xf32>) -> !stablehlo.future<tensor<8xf32>>
      %2 = stablehlo.tanh %b : tensor<4xf32>
      stablehlo.custom_call @control_dep(%1, %2) {api_version = 4 : i32, has_side_effect = true} : (!stablehlo.future<tensor<8xf32>>, tensor<4xf32>) -> ()
      %3 = "stablehlo.async_done"(%1) : (!stablehlo.future<tensor<8xf32>>) -> tensor<8xf32>
      %4 = stablehlo.slice %3 [2:6] : (tensor<8xf32>) -> tensor<4xf32>
      %5 = stablehlo.add %2, %4 : tensor<4xf32>
      sdy.return %5 : tensor<4xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
  // ARGUMENT: result 0 {{.*}} [2]
  func.func public @argument() -> tensor<1xf32> {
    %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %0 = "stablehlo.async_start"(%a) ({
    ^bb0(%b: tensor<2xf32>):
      %1 = stablehlo.slice %b [1:2] : (tensor<2xf32>) -> tensor<1xf32>
      stablehlo.return %1 : tensor<1xf32>
    }) : (tensor<2xf32>) -> !stablehlo.future<tensor<1xf32>>
    %3 = call @await(%0) : (!stablehlo.future<tensor<1xf32>>) -> tensor<1xf32>
    return %3 : tensor<1xf32>
  }
  func.func private @await(%f: !stablehlo.future<tensor<1xf32>>) -> tensor<1xf32> {
    %0 = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<1xf32>>) -> tensor<1xf32>
    return %0 : tensor<1xf32>
  }
}
