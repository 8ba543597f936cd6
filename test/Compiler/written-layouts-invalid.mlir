// What a function says of the meshes that it was written on is checked.
// RUN: split-file %s %t
// RUN: not mesh-run %t/kind.mlir 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not mesh-run %t/parts.mlir 2>&1 | FileCheck %s --check-prefix=PARTS
// RUN: not mesh-run %t/devices.mlir 2>&1 | FileCheck %s --check-prefix=DEVICES

// KIND: kind.mlir:1:17: error: argument #0 has dtensor.written = 3 : i64, which does not cut it as [*] on <d=1> does
// PARTS: parts.mlir:2:17: error: argument #0 has dtensor.written = #dtensor.layout<#dtensor.mesh<x = 4>, [x]>, which does not cut it as [x] on <x=2> does
// DEVICES: devices.mlir:1:1: error: dtensor.devices = array<i64: 7>: its order of devices does not name each of them once

//--- kind.mlir
func.func @main(%x: tensor<4xf32> {dtensor.written = 3}) {
  return
}
//--- parts.mlir
#x = #dtensor.layout<#dtensor.mesh<x=2>, [x]>
func.func @main(%x: tensor<4xf32, #x> {dtensor.written = #dtensor.layout<#dtensor.mesh<x=4>, [x]>}) {
  return
}
//--- devices.mlir
func.func @main(%x: tensor<4xf32>) attributes {dtensor.devices = array<i64: 7>} {
  return
}
