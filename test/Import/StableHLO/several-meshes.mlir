// Meshes over the same devices, written in one program, stay the user's: in
// attributes of arguments and results, and in what mesh-run prints.
// RUN: mesh-opt %s --stablehlo-to-dtensor --split-input-file | FileCheck %s

sdy.mesh @a = <["x"=2, "y"=4]>
sdy.mesh @b = <["p"=4, "q"=2]>
// CHECK-DAG: #[[BOTH:.+]] = #dtensor.mesh<x = 2, y:(1)2 = 2, y:(2)2 = 2>
// CHECK-DAG: #[[A:.+]] = #dtensor.mesh<x = 2, y = 4>
// CHECK-DAG: #[[B:.+]] = #dtensor.mesh<p = 4, q = 2>
// CHECK-LABEL: func.func @two
// CHECK-SAME: tensor<8x4xf32, #{{[^>]+}}> {dtensor.written = #dtensor.layout<#[[A]], [y, *]>}
// CHECK-SAME: tensor<8x4xf32, #{{[^>]+}}> {dtensor.written = #dtensor.layout<#[[B]], [q, p]>}
// CHECK-SAME: dtensor.meshes = [#[[A]], #[[B]]]
func.func @two(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@a, [{"y"}, {}]>},
               %y: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@b, [{"q"}, {"p"}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.add %x, %y : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// An axis that is named in parts is listed in them; one that only others cut is
// whole for who wrote it so. Axes of size 1 stay.
sdy.mesh @m = <["x"=8, "one"=1]>
// CHECK-DAG: #[[WHOLE:.+]] = #dtensor.mesh<x = 8, one = 1>
// CHECK-LABEL: func.func @parts
// CHECK-SAME: {dtensor.written = #dtensor.layout<#[[WHOLE]], [x, one]>}
// CHECK-SAME: {dtensor.written = #dtensor.layout<#dtensor.mesh<x:(1)2 = 2, x:(2)4 = 4, one = 1>, [x:(2)4, *]>}
// CHECK-SAME: tensor<10x8xf32, #{{[^>]+}}>)
// CHECK-SAME: dtensor.notes = ["argument #2 is cut as [x, *] on mesh <x:(1)2=2, x:(2)4=4>, not as [x, *] on mesh <x=8, one=1>
func.func @parts(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"one"}]>},
                 %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x":(2)4}, {}]>},
                 %z: tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) {
  return
}

// -----

// Devices in an order of their own are an order of the program's; digits of
// another order are other axes.
sdy.mesh @m = <["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>
sdy.mesh @n = <["p"=2, "q"=2]>
// CHECK-LABEL: func.func @order
// CHECK-SAME: (%{{.+}}: tensor<4xf32, #layout_x>, %{{.+}}: tensor<4xf32, #layout_y>)
// CHECK-SAME: attributes {dtensor.devices = array<i64: 0, 2, 1, 3>}
func.func @order(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>},
                 %y: tensor<4xf32> {sdy.sharding = #sdy.sharding<@n, [{"p"}]>}) {
  return
}

// -----

// A value whose mesh has no layout on the first one has its blocks on other
// devices.
sdy.mesh @m = <["x"=4], device_ids=[0, 3, 1, 2]>
sdy.mesh @n = <["p"=2, "q"=2]>
// CHECK-LABEL: func.func @blocks_on_other_devices
// CHECK-SAME: (%{{.+}}: tensor<4xf32, #layout_{{[^>]+}}>
// CHECK-SAME: {dtensor.devices = array<i64: 0, 1, 2, 3>, dtensor.written = #layout_p}
// CHECK-SAME: dtensor.devices = array<i64: 0, 3, 1, 2>
func.func @blocks_on_other_devices(
    %x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>})
    -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@n, [{"p"}]>}) {
  return %x : tensor<4xf32>
}

// -----

// No digits: one order is taken, whatever it is.
// CHECK-LABEL: func.func @any_order
// CHECK-SAME: dtensor.devices = array<i64: 3, 0, 2, 1>
func.func @any_order(%x: tensor<4xf32> {mhlo.sharding = "{devices=[4]3,0,2,1}"},
                     %y: tensor<4x4xf32> {mhlo.sharding = "{devices=[2,2]3,0,2,1}"}) {
  return
}

// -----

// One device of several: the value is there for all, and that is said.
sdy.mesh @m = <["x"=4]>
sdy.mesh @one = <[], device_ids=[3]>
sdy.mesh @single = <["z"=1]>
// CHECK-LABEL: func.func @maximal
// CHECK-SAME: (%{{.+}}: tensor<4xf32, #layout_x>, %{{.+}}: tensor<4xf32>, %{{.+}}: tensor<4xf32>)
// CHECK-SAME: dtensor.notes = ["a value at {{.+}} is to be on device 3 alone; it is laid out as if nothing was said", "a value at {{.+}} is to be on device 0 alone
func.func @maximal(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>},
                   %y: tensor<4xf32> {sdy.sharding = #sdy.sharding<@one, []>},
                   %z: tensor<4xf32> {sdy.sharding = #sdy.sharding<@single, [{"z"}]>}) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  // CHECK-NOT: constraint
  %1 = sdy.sharding_constraint %0 <@one, []> : tensor<4xf32>
  %2 = stablehlo.add %1, %z : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// GSPMD's, of which a tuple has one for all its parts.
// CHECK-LABEL: func.func @gspmd_maximal
// CHECK-SAME: dtensor.notes = ["a value at {{.+}} is to be on device 1 alone
func.func @gspmd_maximal(%x: tensor<4xf32> {mhlo.sharding = "{devices=[4]<=[4]}"},
                         %i: tensor<4xi32> {mhlo.sharding = "{maximal device=1}"}) -> (tensor<4xf32>, tensor<4xi32>) {
  %0:2 = "stablehlo.sort"(%x, %i) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) {dimension = 0 : i64, mhlo.sharding = "{maximal device=1}"} : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi32>
}

// -----

// A program's only mesh may have one device, or no axes.
sdy.mesh @one = <[], device_ids=[2]>
// CHECK: module attributes {dtensor.mesh = #{{.+}}}
// CHECK-LABEL: func.func @alone(%{{.+}}: tensor<4xf32, #layout_u>)
// CHECK-NOT: dtensor.notes
func.func @alone(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@one, []>}) {
  return
}

// -----

sdy.mesh @empty_mesh = <[]>
// CHECK-LABEL: func.func @empty(%{{.+}}: tensor<4xf32, #layout_u>)
func.func @empty(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>}) {
  return
}

// -----

// On one device JAX leaves shard_map out; its device is number 0 everywhere.
sdy.mesh @mesh = <["x"=1, "y"=1]>
// CHECK-LABEL: func.func @one_device
// CHECK-SAME: {dtensor.written = #dtensor.layout<{{.+}}, [x, y]>}
func.func @one_device(%x: tensor<4x4xui32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<4x4xui32> {
  // CHECK: dtensor.constant dense<0> : tensor<ui32>
  %c = stablehlo.constant dense<1> : tensor<ui32>
  %0 = stablehlo.partition_id : tensor<ui32>
  %1 = stablehlo.divide %0, %c : tensor<ui32>
  %2 = stablehlo.remainder %1, %c : tensor<ui32>
  %3 = stablehlo.add %0, %2 : tensor<ui32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<ui32>) -> tensor<4x4xui32>
  %5 = stablehlo.add %x, %4 : tensor<4x4xui32>
  return %5 : tensor<4x4xui32>
}

// -----

// A program without a mesh has one device, which is manual over no axis.
// CHECK-LABEL: func.func @manual
// CHECK: dtensor.negate
func.func @manual(%x: tensor<4xf32> {mhlo.sharding = "{manual}"}) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
