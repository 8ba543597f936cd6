// RUN: mesh-opt --target=cuda %s | FileCheck %s

// The updates of an embedding's gradient are sorted, combined and searched by
// kernels: a host node would have none.
// CHECK-COUNT-6: // kernel kernel_
// CHECK: .version
func.func @f(%table: tensor<64x32xf32>, %ids: tensor<16x1xi32>, %rows: tensor<16x32xf32>) -> tensor<64x32xf32> {
  %0 = dtensor.scatter %table at %ids with %rows {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>,
      kind = #dtensor.kind<sum>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
      : (tensor<64x32xf32>, tensor<16x1xi32>, tensor<16x32xf32>) -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}
