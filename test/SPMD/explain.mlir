// --explain: for each collective where it comes from, the op, layouts, bytes,
// predicted time, the user's annotation, and what was rejected.
// RUN: mesh-opt %s --dtensor-partition=machine=ring --explain --split-input-file -o /dev/null 2>&1 | FileCheck %s
// RUN: mesh-opt %s --dtensor-partition='machine=ring refine=false' --explain --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=PLAIN
// RUN: mesh-opt %s --dtensor-partition --explain --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=SHARED

#mesh = #dtensor.mesh<batch = 8>
#rows = #dtensor.layout<#mesh, [batch, *]>
#full = #dtensor.layout<#mesh, [*, *]>

// 43,904 + 313,600 + 1,920,800 bytes instead of 3,841,600.
// CHECK: @step on ring: 3 collectives, 2278304 bytes sent by each device, 227.8 us
// CHECK-NEXT: 1. all_to_all over [batch]: 50176 bytes, 43904 sent, 4.4 us
// CHECK-NEXT:   tensor<128x784xf32> at {{.*}}:8 for dtensor.dot_general
// CHECK-NEXT:     [batch, *] -> [*, batch], 50176 bytes
// CHECK-NEXT:     why: [batch, *] -> [*, batch] for operand #0 of dot_general; 'batch' from argument 'x' [batch, *]
// CHECK-NEXT:     rejected: [*, *] partial<batch: sum>: all_reduce over [batch] of 2195200 bytes; {{.*}} us against {{.*}} us, 156.3 us more
// CHECK-NEXT: 2. all_gather over [batch]: 358400 bytes, 313600 sent, 31.4 us
// CHECK: 3. all_gather over [batch]: 2195200 bytes, 1920800 sent, 192.1 us
// CHECK: refinement: predicted {{.*}} us -> {{.*}} us
// CHECK-NEXT: dtensor.dot_general at {{.*}}:8: [*, *] partial<batch: sum> -> [batch, *], not [*, *] partial<batch: sum>: all_reduce over [batch] of 2195200 bytes

// PLAIN: @step on ring: 1 collective, 3841600 bytes sent by each device, 384.2 us
// PLAIN-NEXT: 1. all_reduce sum over [batch]: 2195200 bytes, 3841600 sent, 384.2 us
// PLAIN-NEXT:   tensor<784x700xf32> at {{.*}}:8 for dtensor.dot_general
// PLAIN-NEXT:     [*, *] partial<batch: sum> -> [*, *], 2195200 bytes
// PLAIN-NEXT:     why: [*, *] partial<batch: sum> -> [*, *] for operand #0 of multiply; 'batch' from argument 'x' [batch, *]
// PLAIN-NEXT:     rejected: not looked for (refine=false)
// PLAIN-NOT: refinement

// In shared memory results at the end are views.
// SHARED: @step on shared-memory: 3 collectives
// SHARED: all_to_all over [batch]: 50176 bytes
// SHARED: all_gather over [batch]: 358400 bytes
// SHARED: 3. all_gather over [batch]: 4390400 bytes, 3841600 sent, 0 ps, combines 2 values
// SHARED: why: [batch, *] -> [*, *] for result #0
// SHARED: refinement: predicted
// SHARED-NEXT: dtensor.dot_general at
// SHARED-NEXT: dtensor.subtract at {{.*}} and 2 more: [*, *] -> [batch, *], not [*, *]: all_gather over [batch] of 2195200 bytes
func.func @step(%x: tensor<128x784xf32, #rows> {dtensor.name = "x"}, %y: tensor<128x700xf32, #rows>, %w: tensor<784x700xf32, #full>, %m: tensor<784x700xf32, #full>) -> (tensor<784x700xf32, #full>, tensor<784x700xf32, #full>) {
  %dh = dtensor.negate %y : (tensor<128x700xf32, #rows>) -> tensor<128x700xf32>
  %0 = dtensor.dot_general %x, %dh contracting [0] x [0] : (tensor<128x784xf32, #rows>, tensor<128x700xf32>) -> tensor<784x700xf32>
  %1 = dtensor.multiply %0, %0 : tensor<784x700xf32>
  %2 = dtensor.add %m, %1 : (tensor<784x700xf32, #full>, tensor<784x700xf32>) -> tensor<784x700xf32>
  %3 = dtensor.subtract %w, %2 : (tensor<784x700xf32, #full>, tensor<784x700xf32>) -> tensor<784x700xf32>
  %4 = dtensor.constraint %2 : (tensor<784x700xf32>) -> tensor<784x700xf32, #full>
  %5 = dtensor.constraint %3 : (tensor<784x700xf32>) -> tensor<784x700xf32, #full>
  return %4, %5 : tensor<784x700xf32, #full>, tensor<784x700xf32, #full>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>
#vector = #dtensor.layout<#mesh, [*]>

// A combined collective tells every one of its values.
// PLAIN: @combined on ring: 1 collective, 96 bytes sent by each device, 9.6 ns
// PLAIN-NEXT: 1. all_reduce sum over [x]: 64 bytes, 96 sent, 9.6 ns, combines 2 values
// PLAIN-NEXT:   tensor<8xf32> at {{.*}}:8 for dtensor.reduce
// PLAIN-NEXT:     [*] partial<x: sum> -> [*], 32 bytes
// PLAIN-NEXT:     why: [*] partial<x: sum> -> [*] for result 'first'; 'x' from argument #0 [x, *]
// PLAIN-NEXT:     rejected:
// PLAIN-NEXT:   tensor<8xf32> at {{.*}}:8 for dtensor.reduce
// PLAIN-NEXT:     [*] partial<x: sum> -> [*], 32 bytes
// PLAIN-NEXT:     why: [*] partial<x: sum> -> [*] for result 'second'; 'x' from argument #1 [x, *]
func.func @combined(%a: tensor<8x8xf32, #rows>, %b: tensor<8x8xf32, #rows>) -> (tensor<8xf32, #vector> {dtensor.name = "first"}, tensor<8xf32, #vector> {dtensor.name = "second"}) {
  %0 = dtensor.reduce sum %a dims [0] : (tensor<8x8xf32, #rows>) -> tensor<8xf32>
  %1 = dtensor.reduce sum %b dims [0] : (tensor<8x8xf32, #rows>) -> tensor<8xf32>
  %2 = dtensor.constraint %0 : (tensor<8xf32>) -> tensor<8xf32, #vector>
  %3 = dtensor.constraint %1 : (tensor<8xf32>) -> tensor<8xf32, #vector>
  return %2, %3 : tensor<8xf32, #vector>, tensor<8xf32, #vector>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>

// Nothing to explain.
// CHECK: @local on ring: 0 collectives, 0 bytes sent by each device, 0 ps
func.func @local(%a: tensor<8x8xf32, #rows>) -> tensor<8x8xf32> {
  %0 = dtensor.exp %a : (tensor<8x8xf32, #rows>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
