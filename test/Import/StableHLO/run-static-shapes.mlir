// Shapes that are dynamic in form: what they are computed of folds, and types get the extents that follow.
// RUN: mesh-run %s --verify | FileCheck %s --check-prefix=POLYMORPHIC
// RUN: mesh-run %s --function=ops | FileCheck %s --check-prefix=OPS
// RUN: mesh-opt %s --stablehlo-to-dtensor | FileCheck %s --check-prefix=IR
// IR-LABEL: @main
// IR: dtensor.sine {{.*}} tensor<3x4xf32
// IR: dtensor.reshape {{.*}} -> tensor<9xf32>
module {
  sdy.mesh @mesh = <["x"=2]>
  // POLYMORPHIC: result 0 ('result') f32[3]
  // As JAX 0.10.2 writes the call of a program that was exported for any batch size.
  func.func public @main(%arg0: tensor<3x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<3x4xf32>) -> tensor<?x4xf32>
    %1 = call @"call_exported_<lambda>"(%0) : (tensor<?x4xf32>) -> tensor<?xf32>
    %2 = stablehlo.convert %1 : (tensor<?xf32>) -> tensor<3xf32>
    return %2 : tensor<3xf32>
  }
  func.func private @"call_exported_<lambda>"(%arg0: tensor<?x4xf32>) -> (tensor<?xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
    %1 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%1, %0) {api_version = 2 : i32, error_message = "Expected value >= 1 for dimension variable 'b', but it is {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %2 = call @_wrapped_jax_export_main(%0, %arg0) : (tensor<i32>, tensor<?x4xf32>) -> tensor<?xf32>
    return %2 : tensor<?xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<?x4xf32>) -> (tensor<?xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.sine %arg1 : tensor<?x4xf32>
    %1 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<?x4xf32>) -> tensor<4x?xf32>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<?x4xf32>, tensor<4x?xf32>) -> tensor<?x?xf32>
    %3 = stablehlo.multiply %arg0, %arg0 : tensor<i32>
    %4 = stablehlo.reshape %3 : (tensor<i32>) -> tensor<1xi32>
    %5 = stablehlo.dynamic_reshape %2, %4 : (tensor<?x?xf32>, tensor<1xi32>) -> tensor<?xf32>
    %6 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.multiply %arg0, %arg0 : tensor<i32>
    %8 = stablehlo.convert %7 : tensor<i32>
    %9 = stablehlo.add %8, %c : tensor<i32>
    %10 = stablehlo.reshape %9 : (tensor<i32>) -> tensor<1xi32>
    %11 = "stablehlo.dynamic_gather"(%5, %6, %10) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], start_index_map = [0]>, indices_are_sorted = true}> : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
    %12 = stablehlo.reduce(%11 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<?xf32>, tensor<f32>) -> tensor<f32>
    %13 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %14 = stablehlo.dynamic_broadcast_in_dim %cst, %13, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %15 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %16 = stablehlo.dynamic_broadcast_in_dim %12, %15, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %17 = stablehlo.add %16, %14 : tensor<?xf32>
    return %17 : tensor<?xf32>
  }
  // OPS: result 0 {{.*}} [0, 0, 1, 9, 2, 9, ... 3 more]
  // OPS: result 1 {{.*}} [1, 3]
  // OPS: result 2 {{.*}} [0, 1, 0, 1, 0, 1]
  // OPS: result 3 {{.*}} [1, 2]
  // OPS: result 4 {{.*}} [4]
  // OPS: result 5 {{.*}} [1, 2, 3, 4, 1, 2, ... 2 more]
  func.func public @ops() -> (tensor<?xi32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>, tensor<i32>, tensor<?xi32>) {
    %a = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
    %nine = stablehlo.constant dense<9> : tensor<i32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %n0 = stablehlo.constant dense<0> : tensor<1xi64>
    %n1 = stablehlo.constant dense<1> : tensor<1xi64>
    %n2 = stablehlo.constant dense<2> : tensor<1xi64>
    %n3 = stablehlo.add %n1, %n2 : tensor<1xi64>
    %n4 = stablehlo.maximum %n3, %n3 : tensor<1xi64>
    %pad = stablehlo.dynamic_pad %a, %nine, %n0, %n0, %n1 : (tensor<4xi32>, tensor<i32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xi32>
    %padded = stablehlo.dynamic_pad %pad, %zero, %n2, %n0, %n0 : (tensor<?xi32>, tensor<i32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xi32>
    %sliced = stablehlo.real_dynamic_slice %a, %n0, %n4, %n2 : (tensor<4xi32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xi32>
    %shape = stablehlo.concatenate %n3, %n2, dim = 0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
    %iota = stablehlo.dynamic_iota %shape, dim = 1 : (tensor<2xi64>) -> tensor<?x?xi32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %cut = stablehlo.set_dimension_size %a, %two, dim = 0 : (tensor<4xi32>, tensor<i32>) -> tensor<?xi32>
    %size = stablehlo.get_dimension_size %a, dim = 0 : (tensor<4xi32>) -> tensor<i32>
    %twice = stablehlo.concatenate %a, %a, dim = 0 : (tensor<4xi32>, tensor<4xi32>) -> tensor<?xi32>
    return %padded, %sliced, %iota, %cut, %size, %twice : tensor<?xi32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>, tensor<i32>, tensor<?xi32>
  }
}
