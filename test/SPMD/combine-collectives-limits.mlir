// (89) Combined collectives have at most so many values, or so many bytes.
// RUN: mesh-opt %s --spmd-combine-collectives=most-values=2 --split-input-file | FileCheck %s
// RUN: mesh-opt %s --spmd-combine-collectives=most-bytes=64 --split-input-file | FileCheck %s
// RUN: mesh-opt %s --spmd-combine-collectives --split-input-file | FileCheck %s --check-prefix=ALL

#mesh = #dtensor.mesh<x = 2>
#full = #spmd.shard<[8], #dtensor.layout<#mesh, [*]>>
#sum = #spmd.shard<[8], #dtensor.layout<#mesh, [*] partial<x: sum>>>

// CHECK-LABEL: func.func @two
// CHECK-NEXT: :2 = spmd.all_reduce sum over [x] %arg0, %arg1
// CHECK-NEXT: return
func.func @two(%a: tensor<8xf32, #sum>, %b: tensor<8xf32, #sum>) -> (tensor<8xf32, #full>, tensor<8xf32, #full>) {
  %0 = spmd.all_reduce sum over [x] %a : (tensor<8xf32, #sum>) -> tensor<8xf32, #full>
  %1 = spmd.all_reduce sum over [x] %b : (tensor<8xf32, #sum>) -> tensor<8xf32, #full>
  return %0, %1 : tensor<8xf32, #full>, tensor<8xf32, #full>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#full = #spmd.shard<[8], #dtensor.layout<#mesh, [*]>>
#sum = #spmd.shard<[8], #dtensor.layout<#mesh, [*] partial<x: sum>>>

// CHECK-LABEL: func.func @three
// CHECK-NEXT: :2 = spmd.all_reduce sum over [x] %arg0, %arg1
// CHECK-NEXT: spmd.all_reduce sum over [x] %arg2
// CHECK-NEXT: return
// ALL-LABEL: func.func @three
// ALL-NEXT: :3 = spmd.all_reduce sum over [x] %arg0, %arg1, %arg2
// ALL-NEXT: return
func.func @three(%a: tensor<8xf32, #sum>, %b: tensor<8xf32, #sum>, %c: tensor<8xf32, #sum>) -> (tensor<8xf32, #full>, tensor<8xf32, #full>, tensor<8xf32, #full>) {
  %0 = spmd.all_reduce sum over [x] %a : (tensor<8xf32, #sum>) -> tensor<8xf32, #full>
  %1 = spmd.all_reduce sum over [x] %b : (tensor<8xf32, #sum>) -> tensor<8xf32, #full>
  %2 = spmd.all_reduce sum over [x] %c : (tensor<8xf32, #sum>) -> tensor<8xf32, #full>
  return %0, %1, %2 : tensor<8xf32, #full>, tensor<8xf32, #full>, tensor<8xf32, #full>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#full = #spmd.shard<[8], #dtensor.layout<#mesh, [*]>>
#sum = #spmd.shard<[8], #dtensor.layout<#mesh, [*] partial<x: sum>>>

// CHECK-LABEL: func.func @four
// CHECK-NEXT: :2 = spmd.all_reduce sum over [x] %arg0, %arg1
// CHECK-NEXT: :2 = spmd.all_reduce sum over [x] %arg2, %arg3
// CHECK-NEXT: return
func.func @four(%a: tensor<8xf32, #sum>, %b: tensor<8xf32, #sum>, %c: tensor<8xf32, #sum>, %d: tensor<8xf32, #sum>)
    -> (tensor<8xf32, #full>, tensor<8xf32, #full>, tensor<8xf32, #full>, tensor<8xf32, #full>) {
  %0 = spmd.all_reduce sum over [x] %a : (tensor<8xf32, #sum>) -> tensor<8xf32, #full>
  %1 = spmd.all_reduce sum over [x] %b : (tensor<8xf32, #sum>) -> tensor<8xf32, #full>
  %2 = spmd.all_reduce sum over [x] %c : (tensor<8xf32, #sum>) -> tensor<8xf32, #full>
  %3 = spmd.all_reduce sum over [x] %d : (tensor<8xf32, #sum>) -> tensor<8xf32, #full>
  return %0, %1, %2, %3 : tensor<8xf32, #full>, tensor<8xf32, #full>, tensor<8xf32, #full>, tensor<8xf32, #full>
}
