// Groups of different sizes, and collectives that leave devices out.
// RUN: mesh-run %s --function=sums --verify | FileCheck %s --check-prefix=SUMS
// RUN: mesh-run %s --function=broadcast --verify --private-memories | FileCheck %s --check-prefix=BROADCAST
// RUN: mesh-run %s --function=broadcast_two --verify | FileCheck %s --check-prefix=TWO
// RUN: mesh-run %s --function=reduce --verify --machine=ring | FileCheck %s --check-prefix=REDUCE
module {
  sdy.mesh @mesh = <["x"=4]>
  // Devices 0, 1 and 3 together, 2 alone.
  // SUMS: result 0 {{.*}} [7, 7, 3, 7]
  // SUMS: result 1 {{.*}} [8, 8, 3, 8]
  func.func public @sums() -> (tensor<4xi32>, tensor<4xi32>) {
    %a = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
    %0:2 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>] manual_axes={"x"} (%x: tensor<1xi32>) {
      %1 = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 3], [2, -1, -1]]> : tensor<2x3xi64>, use_global_device_ids}> ({
      ^bb0(%b: tensor<i32>, %c: tensor<i32>):
        %2 = stablehlo.add %b, %c : tensor<i32>
        stablehlo.return %2 : tensor<i32>
      }) : (tensor<1xi32>) -> tensor<1xi32>
      %3 = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 3], [2, -1, -1]]> : tensor<2x3xi64>, use_global_device_ids}> ({
      ^bb0(%b: tensor<i32>, %c: tensor<i32>):
        %2 = stablehlo.multiply %b, %c : tensor<i32>
        stablehlo.return %2 : tensor<i32>
      }) : (tensor<1xi32>) -> tensor<1xi32>
      sdy.return %1, %3 : tensor<1xi32>, tensor<1xi32>
    } : (tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)
    return %0#0, %0#1 : tensor<4xi32>, tensor<4xi32>
  }
  // Device 2 to 0; 1 and 3 get nothing.
  // BROADCAST: result 0 {{.*}} [3, 0, 3, 0]
  func.func public @broadcast() -> tensor<4xi32> {
    %a = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
    %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%x: tensor<1xi32>) {
      %1 = "stablehlo.collective_broadcast"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[2, 0]]> : tensor<1x2xi64>}> : (tensor<1xi32>) -> tensor<1xi32>
      sdy.return %1 : tensor<1xi32>
    } : (tensor<4xi32>) -> tensor<4xi32>
    return %0 : tensor<4xi32>
  }
  // Two values at once.
  // TWO: result 0 {{.*}} [3, 0, 3, 0]
  // TWO: result 1 {{.*}} [30, 0, 30, 0]
  func.func public @broadcast_two() -> (tensor<4xi32>, tensor<4xi64>) {
    %a = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
    %b = stablehlo.constant dense<[10, 20, 30, 40]> : tensor<4xi64>
    %0:2 = sdy.manual_computation(%a, %b) in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>] manual_axes={"x"} (%x: tensor<1xi32>, %y: tensor<1xi64>) {
      %1:2 = "stablehlo.collective_broadcast"(%x, %y) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[2, 0]]> : tensor<1x2xi64>}> : (tensor<1xi32>, tensor<1xi64>) -> (tensor<1xi32>, tensor<1xi64>)
      sdy.return %1#0, %1#1 : tensor<1xi32>, tensor<1xi64>
    } : (tensor<4xi32>, tensor<4xi64>) -> (tensor<4xi32>, tensor<4xi64>)
    return %0#0, %0#1 : tensor<4xi32>, tensor<4xi64>
  }
  // REDUCE: result 0 {{.*}} [3, 0, 7, 0]
  // REDUCE: result 1 {{.*}} [0, 3, 0, 7]
  func.func public @reduce() -> (tensor<4xi32>, tensor<4xi32>) {
    %a = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
    %0:2 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>] manual_axes={"x"} (%x: tensor<1xi32>) {
      %1 = "stablehlo.collective_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%b: tensor<i32>, %c: tensor<i32>):
        %2 = stablehlo.add %b, %c : tensor<i32>
        stablehlo.return %2 : tensor<i32>
      }) : (tensor<1xi32>) -> tensor<1xi32>
      %second = stablehlo.constant dense<1> : tensor<1xi32>
      %3 = "stablehlo.collective_reduce"(%x, %second) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids, has_dynamic_root}> ({
      ^bb0(%b: tensor<i32>, %c: tensor<i32>):
        %2 = stablehlo.add %b, %c : tensor<i32>
        stablehlo.return %2 : tensor<i32>
      }) : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
      sdy.return %1, %3 : tensor<1xi32>, tensor<1xi32>
    } : (tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)
    return %0#0, %0#1 : tensor<4xi32>, tensor<4xi32>
  }
}
