// ragged_dot in its three modes and ragged_all_to_all, as JAX 0.10.2 writes it: groups of sizes known at run time only.
// RUN: mesh-run %s --function=rows | FileCheck %s --check-prefix=ROWS
// RUN: mesh-run %s --function=sums | FileCheck %s --check-prefix=SUMS
// RUN: mesh-run %s --function=batches --verify
// RUN: mesh-run %s --function=sharded --verify --private-memories
// RUN: mesh-run %s --function=exchange --verify | FileCheck %s --check-prefix=EXCHANGE
module {
  sdy.mesh @mesh = <["x"=2]>
  // Two rows of the first group, none of the second, one of the third, one of nobody.
  // ROWS: result 0 {{.*}} [1, 2, 9, 0]
  func.func public @rows() -> tensor<4x1xf32> {
    %lhs = stablehlo.constant dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf32>
    %rhs = stablehlo.constant dense<[[[1.0]], [[2.0]], [[3.0]]]> : tensor<3x1x1xf32>
    %sizes = stablehlo.constant dense<[2, 0, 1]> : tensor<3xi32>
    %0 = "chlo.ragged_dot"(%lhs, %rhs, %sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x1xf32>, tensor<3x1x1xf32>, tensor<3xi32>) -> tensor<4x1xf32>
    return %0 : tensor<4x1xf32>
  }
  // SUMS: result 0 {{.*}} [3, 12]
  func.func public @sums() -> tensor<2x1x1xf32> {
    %lhs = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0]]> : tensor<1x4xf32>
    %rhs = stablehlo.constant dense<[[1.0], [1.0], [4.0], [5.0]]> : tensor<4x1xf32>
    %sizes = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
    %0 = "chlo.ragged_dot"(%lhs, %rhs, %sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [1]>}> : (tensor<1x4xf32>, tensor<4x1xf32>, tensor<2xi32>) -> tensor<2x1x1xf32>
    return %0 : tensor<2x1x1xf32>
  }
  func.func public @batches(%lhs: tensor<5x2x3xf32>, %rhs: tensor<5x3x4xf32>) -> tensor<5x2x4xf32> {
    %sizes = stablehlo.constant dense<[3, 2]> : tensor<2xi32>
    %0 = "chlo.ragged_dot"(%lhs, %rhs, %sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]>}> : (tensor<5x2x3xf32>, tensor<5x3x4xf32>, tensor<2xi32>) -> tensor<5x2x4xf32>
    return %0 : tensor<5x2x4xf32>
  }
  func.func public @sharded(%lhs: tensor<4x8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %rhs: tensor<4x3x6x5xf32>) -> tensor<4x8x5xf32> {
    %sizes = stablehlo.constant dense<[[2, 3, 3], [8, 0, 0], [0, 0, 1], [1, 1, 1]]> : tensor<4x3xi32>
    %0 = "chlo.ragged_dot"(%lhs, %rhs, %sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>}> : (tensor<4x8x6xf32>, tensor<4x3x6x5xf32>, tensor<4x3xi32>) -> tensor<4x8x5xf32>
    return %0 : tensor<4x8x5xf32>
  }
  // Device 0 keeps its first row and sends two to device 1; that sends its first to device 0, and its other two stay.
  // EXCHANGE: result 0 {{.*}} [1, 4, -1, 2, 3, -1]
  func.func public @exchange() -> tensor<6xf32> {
    %operand = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
    %output = stablehlo.constant dense<-1.0> : tensor<6xf32>
    %input_offsets = stablehlo.constant dense<[0, 1, 0, 1]> : tensor<4xi32>
    %send_sizes = stablehlo.constant dense<[1, 2, 1, 0]> : tensor<4xi32>
    %output_offsets = stablehlo.constant dense<[0, 0, 1, 2]> : tensor<4xi32>
    %recv_sizes = stablehlo.constant dense<[1, 1, 2, 0]> : tensor<4xi32>
    %0 = sdy.manual_computation(%operand, %output, %input_offsets, %send_sizes, %output_offsets, %recv_sizes) in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%a: tensor<3xf32>, %b: tensor<3xf32>, %c: tensor<2xi32>, %d: tensor<2xi32>, %e: tensor<2xi32>, %f: tensor<2xi32>) {
      %1 = stablehlo.custom_call @ragged_all_to_all(%a, %b, %c, %d, %e, %f) {api_version = 4 : i32, backend_config = {channel_id = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}} : (tensor<3xf32>, tensor<3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3xf32>
      sdy.return %1 : tensor<3xf32>
    } : (tensor<6xf32>, tensor<6xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
}
