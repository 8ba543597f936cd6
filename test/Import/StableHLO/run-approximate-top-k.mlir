// Approximate top-k is exact here, as many elements as the type says: also candidates of a PartialReduce. It sorts no
// more than it has to, as little as the composite that stands for chlo.top_k in JAX's portable artifacts.
// RUN: mesh-run %s --verify | FileCheck %s
// RUN: mesh-opt %s --stablehlo-to-dtensor | FileCheck %s --check-prefix=OPS
// OPS-COUNT-4: dtensor.top_k
// OPS-NOT: dtensor.sort
module {
  // As JAX 0.10.2 writes it: neither private, nor does it end in func.return.
  func.func @greater(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }
  func.func private @largest(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    return %0 : tensor<i1>
  }
  func.func private @smallest(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    return %0 : tensor<i1>
  }
  func.func private @first(%x: tensor<5xf32>) -> (tensor<1xf32>, tensor<1xi32>) {
    %i = stablehlo.iota dim = 0 : tensor<5xi32>
    %0:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
      %3 = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    }) : (tensor<5xf32>, tensor<5xi32>) -> (tensor<5xf32>, tensor<5xi32>)
    %1 = stablehlo.slice %0#0 [0:1] : (tensor<5xf32>) -> tensor<1xf32>
    %2 = stablehlo.slice %0#1 [0:1] : (tensor<5xi32>) -> tensor<1xi32>
    return %1, %2 : tensor<1xf32>, tensor<1xi32>
  }
  // CHECK: result 0 {{.*}} [6, 5]
  // CHECK: result 1 {{.*}} [3, 1]
  // CHECK: result 2 {{.*}} [6, 5, 4]
  // CHECK: result 3 {{.*}} [3, 1, 0]
  // CHECK: result 5 {{.*}} [0.5, 1]
  // CHECK: result 6 {{.*}} [4, 2]
  // CHECK: result 7 {{.*}} [6]
  // CHECK: result 8 {{.*}} [3]
  func.func public @main() -> (tensor<2xf32>, tensor<2xi32>, tensor<3xf32>, tensor<3xi32>, tensor<5xf32>, tensor<2xf32>, tensor<2xi32>, tensor<1xf32>, tensor<1xi32>) {
    %x = stablehlo.constant dense<[4.0, 5.0, 1.0, 6.0, 0.5]> : tensor<5xf32>
    %i = stablehlo.iota dim = 0 : tensor<5xi32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<-1> : tensor<i32>
    %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %low, %none) {called_computations = [@largest], mhlo.backend_config = {aggregate_to_topk = true, recall_target = 0.949999988 : f32, reduction_dim = 0 : i64, reduction_input_size_override = -1 : i64, top_k = 2 : i64}} : (tensor<5xf32>, tensor<5xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
    %1:2 = stablehlo.custom_call @PartialReduce(%x, %i, %low, %none) {called_computations = [@greater], mhlo.backend_config = {log2_reduction = 1 : i64, reduction_dim = 0 : i64, to_apply_type = "comparator", top_k = 2 : i64, recall_target = 0.949999988 : f32}} : (tensor<5xf32>, tensor<5xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
    %2 = stablehlo.custom_call @InspectSharding(%x) {backend_config = "\10\05\8A\91", has_side_effect = true} : (tensor<5xf32>) -> tensor<5xf32>
    %3:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %low, %none) {called_computations = [@smallest], mhlo.backend_config = {aggregate_to_topk = true, recall_target = 0.949999988 : f32, reduction_dim = 0 : i64, reduction_input_size_override = -1 : i64, top_k = 2 : i64}} : (tensor<5xf32>, tensor<5xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
    %4:2 = stablehlo.composite "chlo.top_k" %x {composite_attributes = {k = 1 : i64}, decomposition = @first, version = 1 : i32} : (tensor<5xf32>) -> (tensor<1xf32>, tensor<1xi32>)
    return %0#0, %0#1, %1#0, %1#1, %2, %3#0, %3#1, %4#0, %4#1 : tensor<2xf32>, tensor<2xi32>, tensor<3xf32>, tensor<3xi32>, tensor<5xf32>, tensor<2xf32>, tensor<2xi32>, tensor<1xf32>, tensor<1xi32>
  }
}
