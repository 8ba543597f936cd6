// Two and four processes on simulated networks: one process's results, the same
// bits in every schedule, and a rank that dies is named.
// RUN: rm -rf %t && mkdir -p %t
// RUN: mesh-run %s --emit-program=%t/f.mlprog --compile-only
// RUN: mesh-sim %t/f.mlprog --processes=4 --schedules=200 | FileCheck %s
// RUN: mesh-sim %t/f.mlprog --processes=2 --schedules=20 --kill | FileCheck %s --check-prefix=KILL
// RUN: not mesh-sim %t/f.mlprog --processes=3 2>&1 | FileCheck %s --check-prefix=DIVISOR
// CHECK: 200 schedules of 4 processes, {{[0-9]+}} different orders, {{[0-9]+}} parts of messages: all the same bits
// KILL: 20 schedules of 2 processes
// DIVISOR: mesh-sim: error: a mesh of 4 devices cannot be over 3 processes: give --processes a divisor
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
