// The largest and the smallest of f8 numbers are found as bytes in the numbers' order: no wider type is sent, a nan stays one, and each kind has its order.
// RUN: mesh-run %s --function=max --machine=ring --explain --verify | FileCheck %s --check-prefix=MAX
// RUN: mesh-run %s --function=min --machine=ring --private-memories --verify | FileCheck %s --check-prefix=MIN
// RUN: mesh-run %s --function=kinds --verify | FileCheck %s --check-prefix=KINDS
// RUN: mesh-run %s --function=windows --verify | FileCheck %s --check-prefix=WINDOWS
// RUN: mesh-run %s --function=devices --machine=ring --verify | FileCheck %s --check-prefix=DEVICES
// RUN: mesh-run %s --function=halves --machine=ring --explain --verify | FileCheck %s --check-prefix=HALVES
// MAX: @max on ring: {{.*}}, 3 bytes sent by each device
// MAX: result 0 f32[6] {{\[.\]}} [8, 3, nan, -0.5, 448, 0]
// MIN: result 0 f32[6] {{\[.\]}} [-8, -3, nan, -4, -448, 0]
// KINDS: result 0 f32[3] {{\[.\]}} [inf, 3, -2]
// KINDS: result 1 f32[3] {{\[.\]}} [1, -3, -inf]
// KINDS: result 2 f32[3] {{\[.\]}} [57344, nan, -2]
// KINDS: result 3 f32[3] {{\[.\]}} [1, nan, -57344]
// KINDS: result 4 f32[3] {{\[.\]}} [240, nan, -2]
// KINDS: result 5 f32[3] {{\[.\]}} [1, nan, -240]
// WINDOWS: result 0 f32[3] {{\[.\]}} [2, 5, 5]
// WINDOWS: result 1 f32[3] {{\[.\]}} [1, 2, -7]
// DEVICES: result 0 f32[4] {{.*}} [3, 4, 3, 4]
// HALVES: @halves on ring: {{.*}}, 12 bytes sent by each device
module {
  sdy.mesh @mesh = <["a"=2]>
  func.func public @max() -> tensor<6xf32> {
    %x = stablehlo.constant dense<[[8.0, -3.0, 0x7F, -0.5, 448.0, -0.0], [1.0, 3.0, 2.0, -4.0, -448.0, 0.0]]> : tensor<2x6xf8E4M3FN>
    %cut = sdy.sharding_constraint %x <@mesh, [{"a"}, {}]> : tensor<2x6xf8E4M3FN>
    %low = stablehlo.constant dense<-448.0> : tensor<f8E4M3FN>
    %0 = stablehlo.reduce(%cut init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<2x6xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<6xf8E4M3FN>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}]> : tensor<6xf8E4M3FN>
    %2 = stablehlo.convert %1 : (tensor<6xf8E4M3FN>) -> tensor<6xf32>
    return %2 : tensor<6xf32>
  }
  func.func public @min() -> tensor<6xf32> {
    %x = stablehlo.constant dense<[[8.0, -3.0, 0xFF, -0.5, 448.0, 0.0], [-8.0, 3.0, 2.0, -4.0, -448.0, 0.0]]> : tensor<2x6xf8E4M3FN>
    %cut = sdy.sharding_constraint %x <@mesh, [{"a"}, {}]> : tensor<2x6xf8E4M3FN>
    %high = stablehlo.constant dense<448.0> : tensor<f8E4M3FN>
    %0 = stablehlo.reduce(%cut init: %high) applies stablehlo.minimum across dimensions = [0] : (tensor<2x6xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<6xf8E4M3FN>
    %1 = stablehlo.convert %0 : (tensor<6xf8E4M3FN>) -> tensor<6xf32>
    return %1 : tensor<6xf32>
  }
  func.func public @kinds() -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
    %a = stablehlo.constant dense<[[0x7F800000, 3.0, -2.0], [1.0, -3.0, 0xFF800000]]> : tensor<2x3xf32>
    %b = stablehlo.constant dense<[[57344.0, 0x7FC00000, -2.0], [1.0, -3.0, -57344.0]]> : tensor<2x3xf32>
    %c = stablehlo.constant dense<[[240.0, 3.0, -2.0], [1.0, 0x7FC00000, -240.0]]> : tensor<2x3xf32>
    %0 = stablehlo.convert %a : (tensor<2x3xf32>) -> tensor<2x3xf8E5M2>
    %1 = stablehlo.convert %b : (tensor<2x3xf32>) -> tensor<2x3xf8E5M2FNUZ>
    %2 = stablehlo.convert %c : (tensor<2x3xf32>) -> tensor<2x3xf8E4M3FNUZ>
    %i0 = stablehlo.constant dense<-57344.0> : tensor<f8E5M2>
    %i1 = stablehlo.constant dense<57344.0> : tensor<f8E5M2>
    %i2 = stablehlo.constant dense<-57344.0> : tensor<f8E5M2FNUZ>
    %i3 = stablehlo.constant dense<57344.0> : tensor<f8E5M2FNUZ>
    %i4 = stablehlo.constant dense<-240.0> : tensor<f8E4M3FNUZ>
    %i5 = stablehlo.constant dense<240.0> : tensor<f8E4M3FNUZ>
    %3 = stablehlo.reduce(%0 init: %i0) applies stablehlo.maximum across dimensions = [0] : (tensor<2x3xf8E5M2>, tensor<f8E5M2>) -> tensor<3xf8E5M2>
    %4 = stablehlo.reduce(%0 init: %i1) applies stablehlo.minimum across dimensions = [0] : (tensor<2x3xf8E5M2>, tensor<f8E5M2>) -> tensor<3xf8E5M2>
    %5 = stablehlo.reduce(%1 init: %i2) applies stablehlo.maximum across dimensions = [0] : (tensor<2x3xf8E5M2FNUZ>, tensor<f8E5M2FNUZ>) -> tensor<3xf8E5M2FNUZ>
    %6 = stablehlo.reduce(%1 init: %i3) applies stablehlo.minimum across dimensions = [0] : (tensor<2x3xf8E5M2FNUZ>, tensor<f8E5M2FNUZ>) -> tensor<3xf8E5M2FNUZ>
    %7 = stablehlo.reduce(%2 init: %i4) applies stablehlo.maximum across dimensions = [0] : (tensor<2x3xf8E4M3FNUZ>, tensor<f8E4M3FNUZ>) -> tensor<3xf8E4M3FNUZ>
    %8 = stablehlo.reduce(%2 init: %i5) applies stablehlo.minimum across dimensions = [0] : (tensor<2x3xf8E4M3FNUZ>, tensor<f8E4M3FNUZ>) -> tensor<3xf8E4M3FNUZ>
    %9 = stablehlo.convert %3 : (tensor<3xf8E5M2>) -> tensor<3xf32>
    %10 = stablehlo.convert %4 : (tensor<3xf8E5M2>) -> tensor<3xf32>
    %11 = stablehlo.convert %5 : (tensor<3xf8E5M2FNUZ>) -> tensor<3xf32>
    %12 = stablehlo.convert %6 : (tensor<3xf8E5M2FNUZ>) -> tensor<3xf32>
    %13 = stablehlo.convert %7 : (tensor<3xf8E4M3FNUZ>) -> tensor<3xf32>
    %14 = stablehlo.convert %8 : (tensor<3xf8E4M3FNUZ>) -> tensor<3xf32>
    return %9, %10, %11, %12, %13, %14 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  }
  func.func public @windows() -> (tensor<3xf32>, tensor<3xf32>) {
    %x = stablehlo.constant dense<[1.0, 2.0, 5.0, -7.0]> : tensor<4xf8E4M3FN>
    %low = stablehlo.constant dense<-448.0> : tensor<f8E4M3FN>
    %high = stablehlo.constant dense<448.0> : tensor<f8E4M3FN>
    %0 = "stablehlo.reduce_window"(%x, %low) <{window_dimensions = array<i64: 2>}> ({
    ^bb0(%a: tensor<f8E4M3FN>, %b: tensor<f8E4M3FN>):
      %m = stablehlo.maximum %a, %b : tensor<f8E4M3FN>
      stablehlo.return %m : tensor<f8E4M3FN>
    }) : (tensor<4xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<3xf8E4M3FN>
    %1 = "stablehlo.reduce_window"(%x, %high) <{window_dimensions = array<i64: 2>}> ({
    ^bb0(%a: tensor<f8E4M3FN>, %b: tensor<f8E4M3FN>):
      %m = stablehlo.minimum %a, %b : tensor<f8E4M3FN>
      stablehlo.return %m : tensor<f8E4M3FN>
    }) : (tensor<4xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<3xf8E4M3FN>
    %2 = stablehlo.convert %0 : (tensor<3xf8E4M3FN>) -> tensor<3xf32>
    %3 = stablehlo.convert %1 : (tensor<3xf8E4M3FN>) -> tensor<3xf32>
    return %2, %3 : tensor<3xf32>, tensor<3xf32>
  }
  func.func public @devices() -> tensor<4xf32> {
    %x = stablehlo.constant dense<[1.0, 4.0, 3.0, -7.0]> : tensor<4xf8E4M3FN>
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%block: tensor<2xf8E4M3FN>) {
      %1 = "stablehlo.all_reduce"(%block) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
      ^bb0(%a: tensor<f8E4M3FN>, %b: tensor<f8E4M3FN>):
        %m = stablehlo.maximum %a, %b : tensor<f8E4M3FN>
        stablehlo.return %m : tensor<f8E4M3FN>
      }) : (tensor<2xf8E4M3FN>) -> tensor<2xf8E4M3FN>
      sdy.return %1 : tensor<2xf8E4M3FN>
    } : (tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
    %2 = stablehlo.convert %0 : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
    return %2 : tensor<4xf32>
  }
  // Of bf16 too, where the reducer is one of f32.
  func.func public @halves(%x: tensor<8x6xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> (tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    %low = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %0 = "stablehlo.reduce"(%x, %low) <{dimensions = array<i64: 0>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) : (tensor<8x6xbf16>, tensor<bf16>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
}
