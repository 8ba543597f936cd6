// Quantized types are the integers that they are stored as, and arithmetic in the type that they express. Expected numbers follow from the specification's formulas.
// RUN: mesh-run %s --function=parameters --verify | FileCheck %s --check-prefix=PARAMETERS
// RUN: mesh-run %s --function=sums --verify | FileCheck %s --check-prefix=SUMS
// RUN: mesh-run %s --function=bounds --verify | FileCheck %s --check-prefix=BOUNDS
// RUN: mesh-run %s --function=product --verify --private-memories | FileCheck %s --check-prefix=PRODUCT
// RUN: mesh-run %s --function=hybrid --verify | FileCheck %s --check-prefix=HYBRID
// RUN: mesh-run %s --function=windows --verify | FileCheck %s --check-prefix=WINDOWS
// RUN: mesh-run %s --function=moved --verify | FileCheck %s --check-prefix=MOVED
// RUN: mesh-run %s --function=ordered --verify | FileCheck %s --check-prefix=ORDERED
// RUN: mesh-run %s --function=reduced --verify | FileCheck %s --check-prefix=REDUCED
// RUN: mesh-run %s --function=control --verify | FileCheck %s --check-prefix=CONTROL
// RUN: mesh-run %s --function=devices --verify --private-memories | FileCheck %s --check-prefix=DEVICES
// RUN: mesh-opt %s --stablehlo-to-dtensor | FileCheck %s --check-prefix=IMPORT

!q = !quant.uniform<i8:f32, 0.5:10>
!r = !quant.uniform<i8:f32, 0.25:-4>
!u = !quant.uniform<u8<1:200>:f32, 0.1:100>
!n = !quant.uniform<i4:f32, 2.0>
!w = !quant.uniform<i32:f32, 0.125>
!axis = !quant.uniform<i8:f32:1, {0.5, 0.25}>
sdy.mesh @mesh = <["x"=2, "y"=2]>

// Of scale 0.5 and zero point 10: 4 / 0.5 + 10, half to even, and what does not fit is the nearest that does. 255 (u8) is above the largest number that the type stores.
// PARAMETERS: result 0 i8[6] [*] [18, 10, -2, 12, 127, -128]
// PARAMETERS-NEXT: result 1 f32[6] [*] [4, 0, -6, 1, 58.5, -69]
// PARAMETERS-NEXT: result 2 ui8[4] [*] [200, 1, 101, 100]
// PARAMETERS-NEXT: result 3 i8[4] [*] [7, -8, 2, 0]
// PARAMETERS-NEXT: result 4 i8[2, 2] [*, *] [4, 8, -2, -4]
// PARAMETERS-NEXT: result 5 f32[2, 2] [*, *] [2, 2, -1, -1]
// PARAMETERS-NEXT: result 6 i8[6] [*] [12, -4, -28, 0, 127, -128]
func.func public @parameters() -> (tensor<6x!q>, tensor<6xf32>, tensor<4x!u>, tensor<4x!n>, tensor<2x2x!axis>, tensor<2x2xf32>, tensor<6x!r>) {
  %x = stablehlo.constant dense<[4.0, 0.0, -6.0, 1.25, 1.0e9, -1.0e9]> : tensor<6xf32>
  %0 = stablehlo.uniform_quantize %x : (tensor<6xf32>) -> tensor<6x!q>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<6x!q>) -> tensor<6xf32>
  %y = stablehlo.constant dense<[1.0e3, -1.0e3, 0.1, 0.04]> : tensor<4xf32>
  %2 = stablehlo.uniform_quantize %y : (tensor<4xf32>) -> tensor<4x!u>
  %z = stablehlo.constant dense<[100.0, -100.0, 3.5, 1.0]> : tensor<4xf32>
  %3 = stablehlo.uniform_quantize %z : (tensor<4xf32>) -> tensor<4x!n>
  %v = stablehlo.constant dense<[[2.0, 2.0], [-1.0, -1.0]]> : tensor<2x2xf32>
  %4 = stablehlo.uniform_quantize %v : (tensor<2x2xf32>) -> tensor<2x2x!axis>
  %5 = stablehlo.uniform_dequantize %4 : (tensor<2x2x!axis>) -> tensor<2x2xf32>
  %6 = stablehlo.uniform_quantize %0 : (tensor<6x!q>) -> tensor<6x!r>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<6x!q>, tensor<6xf32>, tensor<4x!u>, tensor<4x!n>, tensor<2x2x!axis>, tensor<2x2xf32>, tensor<6x!r>
}

// Arguments are stored integers; the layouts of both sides and of the result agree.
// IMPORT-LABEL: func.func @layouts(
// IMPORT-SAME: tensor<4x4xi8, #layout_x_u>
// IMPORT: dtensor.convert {{.*}} -> tensor<4x4xf32>
// IMPORT: dtensor.add {{.*}} tensor<4x4xf32>
// IMPORT: dtensor.convert {{.*}} -> tensor<4x4xi8>
func.func public @layouts(%a: tensor<4x4x!q> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<4x4x!r>) -> tensor<4x4x!r> {
  %0 = stablehlo.add %a, %b : (tensor<4x4x!q>, tensor<4x4x!r>) -> tensor<4x4x!r>
  return %0 : tensor<4x4x!r>
}

// (20 - 10) / 2 + (4 + 4) / 4 = 7, and 7 * 4 - 4 = 24; -10 + 1; 58.5 + 32.75 is too large.
// SUMS: result 0 i8[3] [*] [24, -40, 127]
// SUMS-NEXT: result 1 i8[3] [*] [36, -44, 127]
// SUMS-NEXT: result 2 i1[3] [*] [true, false, true]
// SUMS-NEXT: result 3 i8[3] [*] [0, 30, -107]
// SUMS-NEXT: result 4 i8[4] [*] [10, 12, 14, 16]
func.func public @sums() -> (tensor<3x!r>, tensor<3x!r>, tensor<3xi1>, tensor<3x!q>, tensor<4x!q>) {
  %a = stablehlo.constant() {value = dense<[20, -10, 127]> : tensor<3xi8>} : () -> tensor<3x!q>
  %b = stablehlo.constant() {value = dense<[4, 0, 127]> : tensor<3xi8>} : () -> tensor<3x!r>
  %0 = stablehlo.add %a, %b : (tensor<3x!q>, tensor<3x!r>) -> tensor<3x!r>
  %1 = stablehlo.multiply %a, %b : (tensor<3x!q>, tensor<3x!r>) -> tensor<3x!r>
  %2 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<3x!q>, tensor<3x!r>) -> tensor<3xi1>
  %3 = stablehlo.negate %a : tensor<3x!q>
  %4 = stablehlo.iota dim = 0 : tensor<4x!q>
  return %0, %1, %2, %3, %4 : tensor<3x!r>, tensor<3x!r>, tensor<3xi1>, tensor<3x!q>, tensor<4x!q>
}

// Numbers of one type are compared as they are stored.
// BOUNDS: result 0 i8[3] [*] [20, 15, 127]
// BOUNDS-NEXT: result 1 i8[3] [*] [20, 12, 30]
// BOUNDS-NEXT: result 2 i1[3] [*] [true, false, true]
// IMPORT-LABEL: func.func @bounds(
// IMPORT-NOT: dtensor.convert
// IMPORT: return
func.func public @bounds() -> (tensor<3x!q>, tensor<3x!q>, tensor<3xi1>) {
  %a = stablehlo.constant() {value = dense<[20, -10, 127]> : tensor<3xi8>} : () -> tensor<3x!q>
  %b = stablehlo.constant() {value = dense<15> : tensor<3xi8>} : () -> tensor<3x!q>
  %low = stablehlo.constant() {value = dense<12> : tensor<i8>} : () -> tensor<!q>
  %high = stablehlo.constant() {value = dense<30> : tensor<i8>} : () -> tensor<!q>
  %0 = stablehlo.maximum %a, %b : tensor<3x!q>
  %1 = stablehlo.clamp %low, %a, %high : (tensor<!q>, tensor<3x!q>, tensor<!q>) -> tensor<3x!q>
  %2 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<3x!q>, tensor<3x!q>) -> tensor<3xi1>
  return %0, %1, %2 : tensor<3x!q>, tensor<3x!q>, tensor<3xi1>
}

// Rows (5, -10) and (1, 0); columns (1, 1) of scale 0.5 and (2, 0) of scale 0.25: 5 * 0.5 - 10 * 0.5 = -2.5 is -20 eighths.
// PRODUCT: result 0 i32[2, 2] [x, *] [-20, 20, 4, 4]
func.func public @product() -> (tensor<2x2x!w> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %a = stablehlo.constant() {value = dense<[[20, -10], [12, 10]]> : tensor<2x2xi8>} : () -> tensor<2x2x!q>
  %cut = sdy.sharding_constraint %a <@mesh, [{"x"}, {"y"}]> : tensor<2x2x!q>
  %b = stablehlo.constant() {value = dense<[[1, 2], [1, 0]]> : tensor<2x2xi8>} : () -> tensor<2x2x!axis>
  %0 = stablehlo.dot_general %cut, %b, contracting_dims = [1] x [0] : (tensor<2x2x!q>, tensor<2x2x!axis>) -> tensor<2x2x!w>
  return %0 : tensor<2x2x!w>
}

// HYBRID: result 0 f32[1, 2] {{.*}} [1.5, 0.5]
func.func public @hybrid() -> tensor<1x2xf32> {
  %a = stablehlo.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %b = stablehlo.constant() {value = dense<[[1, 2], [1, 0]]> : tensor<2x2xi8>} : () -> tensor<2x2x!axis>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<1x2xf32>, tensor<2x2x!axis>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}

// Padding is 0, which is stored as the zero point: 0 + 1 + 2, 1 + 2 + 3, 2 + 3 + 0.
// WINDOWS: result 0 i32[1, 3, 1] {{.*}} [24, 48, 40]
// WINDOWS-NEXT: result 1 i8[3] [*] [14, 16, 16]
func.func public @windows() -> (tensor<1x3x1x!w>, tensor<3x!q>) {
  %a = stablehlo.constant() {value = dense<[[[12], [14], [16]]]> : tensor<1x3x1xi8>} : () -> tensor<1x3x1x!q>
  %k = stablehlo.constant() {value = dense<1> : tensor<3x1x1xi8>} : () -> tensor<3x1x1x!quant.uniform<i8:f32, 1.0>>
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x1x!q>, tensor<3x1x1x!quant.uniform<i8:f32, 1.0>>) -> tensor<1x3x1x!w>
  %flat = stablehlo.reshape %a : (tensor<1x3x1x!q>) -> tensor<3x!q>
  %low = stablehlo.constant() {value = dense<-128> : tensor<i8>} : () -> tensor<!q>
  %1 = "stablehlo.reduce_window"(%flat, %low) ({
  ^bb0(%l: tensor<!q>, %r: tensor<!q>):
    %2 = stablehlo.maximum %l, %r : tensor<!q>
    stablehlo.return %2 : tensor<!q>
  }) {window_dimensions = array<i64: 3>, padding = dense<[[1, 1]]> : tensor<1x2xi64>} : (tensor<3x!q>, tensor<!q>) -> tensor<3x!q>
  return %0, %1 : tensor<1x3x1x!w>, tensor<3x!q>
}

// A dim that values are quantized along may get a different number; one slice may be repeated.
// MOVED: result 0 f32[2, 2] [*, *] [2, -1, 2, -1]
// MOVED-NEXT: result 1 i8[4] [*] [10, 20, -10, 10]
// MOVED-NEXT: result 2 i8[2, 2] [*, *] [20, -10, 20, -10]
// MOVED-NEXT: result 3 i8[2] [*] [-10, 20]
func.func public @moved() -> (tensor<2x2xf32>, tensor<4x!q>, tensor<2x2x!q>, tensor<2xi8>) {
  %v = stablehlo.constant() {value = dense<[[4, 8], [-2, -4]]> : tensor<2x2xi8>} : () -> tensor<2x2x!axis>
  %t = stablehlo.transpose %v, dims = [1, 0] : (tensor<2x2x!axis>) -> tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
  %0 = stablehlo.uniform_dequantize %t : (tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> tensor<2x2xf32>
  %a = stablehlo.constant() {value = dense<[20, -10]> : tensor<2xi8>} : () -> tensor<2x!q>
  %zero = stablehlo.constant() {value = dense<10> : tensor<i8>} : () -> tensor<!q>
  %1 = stablehlo.pad %a, %zero, low = [1], high = [1], interior = [0] : (tensor<2x!q>, tensor<!q>) -> tensor<4x!q>
  %2 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<2x!q>) -> tensor<2x2x!q>
  %r = stablehlo.reverse %a, dims = [0] : tensor<2x!q>
  %3 = stablehlo.bitcast_convert %r : (tensor<2x!q>) -> tensor<2xi8>
  return %0, %1, %2, %3 : tensor<2x2xf32>, tensor<4x!q>, tensor<2x2x!q>, tensor<2xi8>
}

// ORDERED: result 0 i8[3] [*] [-10, 20, 127]
// ORDERED-NEXT: result 1 i8[3] [*] [-10, 21, 127]
func.func public @ordered() -> (tensor<3x!q>, tensor<3x!q>) {
  %a = stablehlo.constant() {value = dense<[20, -10, 127]> : tensor<3xi8>} : () -> tensor<3x!q>
  %0 = "stablehlo.sort"(%a) ({
  ^bb0(%l: tensor<!q>, %r: tensor<!q>):
    %2 = stablehlo.compare LT, %l, %r, FLOAT : (tensor<!q>, tensor<!q>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<3x!q>) -> tensor<3x!q>
  %i = stablehlo.constant dense<[[1], [1]]> : tensor<2x1xi32>
  %u = stablehlo.constant() {value = dense<[21, 11]> : tensor<2xi8>} : () -> tensor<2x!q>
  %1 = "stablehlo.scatter"(%0, %i, %u) ({
  ^bb0(%l: tensor<!q>, %r: tensor<!q>):
    %2 = stablehlo.maximum %l, %r : tensor<!q>
    stablehlo.return %2 : tensor<!q>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<3x!q>, tensor<2x1xi32>, tensor<2x!q>) -> tensor<3x!q>
  return %0, %1 : tensor<3x!q>, tensor<3x!q>
}

// The sum is in a wider type than the numbers: (5 - 10 + 58.5) * 8. In their own type it stays within it.
// REDUCED: result 0 i32[] [] [428]
// REDUCED-NEXT: result 1 i8[] [] [117]
// REDUCED-NEXT: result 2 i8[] [] [127]
func.func public @reduced() -> (tensor<!w>, tensor<!q>, tensor<!q>) {
  %a = stablehlo.constant() {value = dense<[20, -10, 127]> : tensor<3xi8>} : () -> tensor<3x!q>
  %point = stablehlo.constant() {value = dense<10> : tensor<i8>} : () -> tensor<!q>
  %0 = stablehlo.reduce(%a init: %point) across dimensions = [0] : (tensor<3x!q>, tensor<!q>) -> tensor<!w>
    reducer(%l: tensor<!w>, %r: tensor<!w>) {
      %2 = stablehlo.add %l, %r : tensor<!w>
      stablehlo.return %2 : tensor<!w>
    }
  %1 = stablehlo.reduce(%a init: %point) applies stablehlo.add across dimensions = [0] : (tensor<3x!q>, tensor<!q>) -> tensor<!q>
  %low = stablehlo.constant() {value = dense<-128> : tensor<i8>} : () -> tensor<!q>
  %3 = stablehlo.reduce(%a init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<3x!q>, tensor<!q>) -> tensor<!q>
  return %0, %1, %3 : tensor<!w>, tensor<!q>, tensor<!q>
}

// CONTROL: result 0 i8[2] [*] [40, -50]
// CONTROL-NEXT: result 1 i8[2] [*] [20, -10]
func.func public @control() -> (tensor<2x!q>, tensor<2x!q>) {
  %a = stablehlo.constant() {value = dense<[20, -10]> : tensor<2xi8>} : () -> tensor<2x!q>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%n = %i, %x = %a) : tensor<i32>, tensor<2x!q>
    cond {
      %two = stablehlo.constant dense<2> : tensor<i32>
      %2 = stablehlo.compare LT, %n, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %n, %one : tensor<i32>
      %3 = func.call @plus(%x, %a) : (tensor<2x!q>, tensor<2x!q>) -> tensor<2x!q>
      stablehlo.return %2, %3 : tensor<i32>, tensor<2x!q>
    }
  %t = stablehlo.tuple %a, %i : tuple<tensor<2x!q>, tensor<i32>>
  %1 = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2x!q>, tensor<i32>>) -> tensor<2x!q>
  return %0#1, %1 : tensor<2x!q>, tensor<2x!q>
}
func.func private @plus(%x: tensor<2x!q>, %y: tensor<2x!q>) -> tensor<2x!q> {
  %0 = stablehlo.add %x, %y : tensor<2x!q>
  return %0 : tensor<2x!q>
}

// A sum over devices is one of numbers, each of which is stored again.
// DEVICES: result 0 i8[4] [x] [40, 30, 40, 30]
// DEVICES-NEXT: result 1 i8[8] [x] [20, 15, 30, 25, 20, 15, ... 2 more]
func.func public @devices() -> (tensor<4x!q>, tensor<8x!q>) {
  %a = stablehlo.constant() {value = dense<[20, 15, 30, 25]> : tensor<4xi8>} : () -> tensor<4x!q>
  %0:2 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>] manual_axes={"x"} (%s: tensor<2x!q>) {
    %1 = "stablehlo.all_reduce"(%s) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%l: tensor<!q>, %r: tensor<!q>):
      %3 = stablehlo.add %l, %r : tensor<!q>
      stablehlo.return %3 : tensor<!q>
    }) : (tensor<2x!q>) -> tensor<2x!q>
    %2 = "stablehlo.all_gather"(%s) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<2x!q>) -> tensor<4x!q>
    sdy.return %1, %2 : tensor<2x!q>, tensor<4x!q>
  } : (tensor<4x!q>) -> (tensor<4x!q>, tensor<8x!q>)
  return %0#0, %0#1 : tensor<4x!q>, tensor<8x!q>
}
