// Two and four processes on simulated networks: one process's results, the same
// bits in every schedule, seeds that play the same schedules again, a rank that
// dies is named, and two collectives in another order are found. Times of a step
// by the number of cores.
// RUN: rm -rf %t && mkdir -p %t
// RUN: mesh-run %s --emit-program=%t/f.mlprog --compile-only
// RUN: mesh-sim %t/f.mlprog --processes=4 --schedules=200 | FileCheck %s
// RUN: mesh-sim %t/f.mlprog --processes=2 --schedules=20 --kill | FileCheck %s --check-prefix=KILL
// RUN: mesh-sim %t/f.mlprog --processes=4 --schedules=8 --seed=3 > %t/once
// RUN: mesh-sim %t/f.mlprog --processes=4 --schedules=8 --seed=3 > %t/again
// RUN: diff %t/once %t/again
// RUN: mesh-sim %t/f.mlprog --processes=4 --schedules=20 --plant-reordering | FileCheck %s --check-prefix=PLANTED
// RUN: not mesh-sim %t/f.mlprog --processes=1 --plant-reordering 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not mesh-sim %t/f.mlprog --processes=3 2>&1 | FileCheck %s --check-prefix=DIVISOR
// RUN: mesh-sim %t/f.mlprog --workers=1,64 | FileCheck %s --check-prefix=CORES
// RUN: not mesh-sim %t/f.mlprog --workers=0 2>&1 | FileCheck %s --check-prefix=NONE
// CHECK: 200 schedules of 4 processes, {{[0-9]+}} different orders (digest {{[0-9a-f]+}}), {{[0-9]+}} parts of messages: all the same bits
// PLANTED: two collectives of a rank in another order: all found ({{[0-9]+}} by ranks that wait for each other, {{[0-9]+}} by sizes, {{[0-9]+}} by results)
// ONE: no rank runs two collectives: --plant-reordering needs two that can change places
// KILL: 20 schedules of 2 processes
// DIVISOR: mesh-sim: error: a mesh of 4 devices cannot be over 3 processes: give --processes a divisor
// CORES: workers    step, ms  speed-up  busy, %  alone, ms   waits, ms  phases
// CORES-NEXT: {{^}} 1 {{[0-9.]+}} 1.00 100 {{[0-9.]+}} 0.000 0
// CORES-NEXT: {{^}} 64 {{[0-9.]+}} {{[0-9.]+}} {{[0-9]+}} {{[0-9.]+}} {{[0-9.]+}} {{[0-9]+$}}
// NONE: --workers: Value 0 not in range 1 to 4096
#mesh = #dtensor.mesh<x = 2, y = 2>
#rows = #dtensor.layout<#mesh, [x, *]>
#columns = #dtensor.layout<#mesh, [*, y]>
#replicated = #dtensor.layout<#mesh, [*, *]>

func.func @main(%x: tensor<8x6xf32, #rows>, %w: tensor<6x10xf32, #columns>) -> tensor<6x10xf32, #replicated> {
  %0 = dtensor.matmul %x, %w : (tensor<8x6xf32, #rows>, tensor<6x10xf32, #columns>) -> tensor<8x10xf32>
  %1 = dtensor.tanh %0 : tensor<8x10xf32>
  %2 = dtensor.transpose %x dims [1, 0] : (tensor<8x6xf32, #rows>) -> tensor<6x8xf32>
  %3 = dtensor.matmul %2, %1 : (tensor<6x8xf32>, tensor<8x10xf32>) -> tensor<6x10xf32>
  %4 = dtensor.relayout %3 : (tensor<6x10xf32>) -> tensor<6x10xf32, #replicated>
  return %4 : tensor<6x10xf32, #replicated>
}
