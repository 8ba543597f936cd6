// The whole pipeline, from variables to combined collectives.
// RUN: mesh-opt %s --dtensor-partition='machine=ring refine=false' --split-input-file | FileCheck %s

#mesh = #dtensor.mesh<batch = 4>
#rows = #dtensor.layout<#mesh, [batch, *]>
#matrix = #dtensor.layout<#mesh, [*, *]>

// A step of gradient descent on |x w|^2: the loss and the gradient travel
// together, and the variable is updated where it is whole.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[W:.*]]: tensor<6x5xf32, {{.*}}> {dtensor.alias = 1 : i64, dtensor.name = "w"}
// CHECK-SAME: %[[X:.*]]: tensor<2x6xf32, #spmd.shard<[8, 6], #layout_batch_u>>
// CHECK: %[[Y:.*]] = dtensor.dot_general %[[X]], %[[W]]
// CHECK: %[[R:.*]]:2 = spmd.all_reduce sum over [batch] {{.*}} {bytes = 124 : i64
// CHECK-SAME: reason = "[*, *] partial<batch: sum> -> [*, *] for operand #1 of subtract; 'batch' from argument 'x' [batch, *] | [] partial<batch: sum> -> [] for result #0; 'batch' from argument 'x' [batch, *]"
// CHECK: %[[NEW:.*]] = dtensor.subtract %[[W]], %[[R]]#0
// CHECK: return %[[R]]#1, %[[NEW]]
func.func @step(%w: !dtensor.variable<tensor<6x5xf32, #matrix>> {dtensor.name = "w"},
                %x: tensor<8x6xf32, #rows> {dtensor.name = "x"}) -> tensor<f32> {
  %0 = dtensor.read_variable %w : (!dtensor.variable<tensor<6x5xf32, #matrix>>) -> tensor<6x5xf32>
  %1 = dtensor.matmul %x, %0 : (tensor<8x6xf32, #rows>, tensor<6x5xf32>) -> tensor<8x5xf32>
  %2 = dtensor.multiply %1, %1 : tensor<8x5xf32>
  %3 = dtensor.reduce sum %2 dims [0, 1] : (tensor<8x5xf32>) -> tensor<f32>
  %4 = dtensor.dot_general %x, %1 contracting [0] x [0] : (tensor<8x6xf32, #rows>, tensor<8x5xf32>) -> tensor<6x5xf32>
  %rate = dtensor.constant dense<0.02> : tensor<6x5xf32>
  %5 = dtensor.multiply %rate, %4 : tensor<6x5xf32>
  %6 = dtensor.subtract %0, %5 : tensor<6x5xf32>
  dtensor.assign_variable %w, %6 : !dtensor.variable<tensor<6x5xf32, #matrix>>, tensor<6x5xf32>
  return %3 : tensor<f32>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#ux = #dtensor.layout<#mesh, [*, x]>
#xu = #dtensor.layout<#mesh, [x, *]>
#partial = #dtensor.layout<#mesh, [*, *] partial<x: sum>>

// A result is partial where the user wrote so, and only there.
// CHECK-LABEL: func.func @partial_result
// CHECK-NEXT: %[[P:.*]] = dtensor.dot_general
// CHECK-NEXT: %[[R:.*]] = spmd.all_reduce sum over [x] %[[P]]
// CHECK-NEXT: return %[[P]], %[[R]]
func.func @partial_result(%a: tensor<8x8xf32, #ux>, %b: tensor<8x8xf32, #xu>) -> (tensor<8x8xf32, #partial>, tensor<8x8xf32>) {
  %0 = dtensor.matmul %a, %b : (tensor<8x8xf32, #ux>, tensor<8x8xf32, #xu>) -> tensor<8x8xf32>
  %1 = dtensor.constraint %0 : (tensor<8x8xf32>) -> tensor<8x8xf32, #partial>
  return %1, %0 : tensor<8x8xf32, #partial>, tensor<8x8xf32>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
#xu = #dtensor.layout<#mesh, [x, *]>
#uy = #dtensor.layout<#mesh, [*, y]>

// Functions are partitioned one by one; a declaration stays.
// CHECK: func.func private @declared
// CHECK-LABEL: func.func @one(%arg0: tensor<4x8xf32
// CHECK-LABEL: func.func @two(%arg0: tensor<8x2xf32
func.func private @declared(tensor<8x8xf32>) -> tensor<8x8xf32>
func.func @one(%a: tensor<8x8xf32, #xu>) -> tensor<8x8xf32> {
  %0 = dtensor.exp %a : (tensor<8x8xf32, #xu>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
func.func @two(%a: tensor<8x8xf32, #uy>) -> tensor<8x8xf32> {
  %0 = dtensor.exp %a : (tensor<8x8xf32, #uy>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
