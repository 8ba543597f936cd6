// --predict: memory and time on a machine that need not be there.
// RUN: mesh-opt %s --predict --machine=gpu:h100 | FileCheck %s
// RUN: mesh-opt %s --predict --machine=gpu:h100 -o %t.json && FileCheck %s --check-prefix=JSON < %t.json
// RUN: mesh-opt %s --predict --machine=gpu:h100 -o %t.svg && FileCheck %s --check-prefix=SVG < %t.svg
// RUN: mesh-opt %s --what-if=devices=4..16 --machine=gpu:h100 -o %t.scale.svg | FileCheck %s --check-prefix=RANGE
// RUN: FileCheck %s --check-prefix=CURVES < %t.scale.svg
// RUN: mesh-opt %s --what-if=x=4..8 --machine=gpu:h100 | FileCheck %s --check-prefix=AXIS
// RUN: not mesh-opt %s --predict --machine=gpu:none 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: echo '{"preset": "gpu:h100", "launch_ps": -1}' > %t.wrong.json
// RUN: not mesh-opt %s --predict --machine=%t.wrong.json 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: echo '{"preset": "gpu:h100", ' > %t.damaged.json
// RUN: not mesh-opt %s --predict --machine=%t.damaged.json 2>&1 | FileCheck %s --check-prefix=DAMAGED
// RUN: not mesh-opt %s --predict --machine=tpu:v5e:2x4 2>&1 | FileCheck %s --check-prefix=DEVICES
// RUN: not mesh-opt %s --what-if=devices=3..64 2>&1 | FileCheck %s --check-prefix=MULTIPLE
// RUN: not mesh-opt %s --what-if=z=4..64 2>&1 | FileCheck %s --check-prefix=NOAXIS
// RUN: not mesh-opt %s --what-if=devices=64..4 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not mesh-opt %s --what-if=devices=many 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not mesh-opt %s --predict --what-if=x=4..8 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not mesh-opt %s --predict --target=cpu 2>&1 | FileCheck %s --check-prefix=TARGET

// The argument has 16 * 1000 * 4 bytes on each device, the partial sums and the
// result 1000 * 4. Temporaries begin at multiples of 64 bytes.
// CHECK: @main on 4 devices of gpu:h100, <x=2, y=2>
// CHECK-NEXT: memory of each device: 72.0 kB of 80.0 GB
// CHECK-NEXT: 64.0 kB arguments
// CHECK-NEXT: 0 bytes constants
// CHECK-NEXT: 4.0 kB results
// CHECK-NEXT: 4.0 kB temporaries
// CHECK-NEXT: 32 bytes fragmentation
// CHECK: time of a step: {{.*}} in 1 collective
// CHECK: all_reduce
// JSON: "machine": "gpu:h100"
// JSON: "fits": true
// JSON: "peak_bytes": 72032
// JSON: "at_peak": [
// JSON: "name": "argument 0"
// JSON: "profile": [
// JSON: "steps": [
// JSON: "kind": "all_reduce"
// SVG: <svg xmlns="http://www.w3.org/2000/svg"
// SVG: <title>Memory of each of 4 devices of gpu:h100 over the steps of main: 72.0 kB at the peak, in step {{[0-9]+}}</title>
// SVG: </svg>
// RANGE: @main on gpu:h100
// RANGE-NEXT: devices mesh step time speed-up collectives memory sent
// RANGE-NEXT: 4 <x=2, y=2>
// RANGE-NEXT: 8 <x=4, y=2>
// RANGE-NEXT: 16 <x=8, y=2>
// CURVES: step time
// CURVES: memory of a device
// CURVES: sent by a device
// AXIS: 8 <x=4, y=2>
// AXIS-NEXT: 16 <x=8, y=2>
// NONE: unknown machine model 'gpu:none': there are figures for gpu:h100, gpu:h200, gpu:a100, cpu:tcp
// WRONG: launch_ps is -1, expected at least 0
// DAMAGED: machine model '{{.*}}damaged.json':
// DEVICES: the program's mesh <x=2, y=2> has 4 devices, and the machine tpu:v5e:2x4 has 8
// MULTIPLE: 3 devices cannot be had from the mesh <x=2, y=2> by another size of one axis: expected a multiple of 2
// NOAXIS: the program's mesh <x=2, y=2> has no axis 'z'; 'devices' stands for its first axis
// ORDER: expected an axis and its smallest and largest size
// BOTH: --what-if predicts for several meshes and --predict for the program's own: give one of them
// TARGET: --predict and --what-if compile for --machine: name no --target beside them

#mesh = #dtensor.mesh<x = 2, y = 2>
#rows = #dtensor.layout<#mesh, [{x, y}, *]>
#vector = #dtensor.layout<#mesh, [*]>
func.func @main(%a: tensor<64x1000xf32, #rows>) -> tensor<1000xf32, #vector> {
  %0 = dtensor.reduce sum %a dims [0] : (tensor<64x1000xf32, #rows>) -> tensor<1000xf32>
  %1 = dtensor.constraint %0 : (tensor<1000xf32>) -> tensor<1000xf32, #vector>
  return %1 : tensor<1000xf32, #vector>
}
