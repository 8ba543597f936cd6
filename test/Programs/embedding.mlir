// Rows of a table whose vocabulary is cut over devices, and the gradient of
// such a lookup; then the same in tables of uneven and empty shards.
// RUN: %verify
#mesh = #dtensor.mesh<batch = 2, model = 4>
#vocabulary = #dtensor.layout<#mesh, [model, *]>
#both = #dtensor.layout<#mesh, [{batch, model}, *]>
#batch = #dtensor.layout<#mesh, [batch, *]>
#batch3 = #dtensor.layout<#mesh, [batch, *, *]>

func.func @main(%table: tensor<30x6xf32, #vocabulary>, %ids: tensor<4x5xi32, #batch>,
                %g: tensor<4x5x6xf32, #batch3>, %small: tensor<3x6xf32, #both>,
                %words: tensor<8x4xbf16, #vocabulary>)
    -> (tensor<4x5x6xf32, #batch3>, tensor<30x6xf32, #vocabulary>, tensor<4x5x6xf32>,
        tensor<3x6xf32, #both>, tensor<4x5x4xbf16>) {
  %i = dtensor.reshape %ids : (tensor<4x5xi32, #batch>) -> tensor<4x5x1xi32>
  %0 = dtensor.gather %table, %i {collapsed_slice_dims = array<i64: 0>,
      index_vector_dim = 2 : i64, offset_dims = array<i64: 2>,
      slice_sizes = array<i64: 1, 6>, start_index_map = array<i64: 0>}
      : (tensor<30x6xf32, #vocabulary>, tensor<4x5x1xi32>) -> tensor<4x5x6xf32>
  %zeros = dtensor.constant dense<0.0> : tensor<30x6xf32>
  %1 = dtensor.scatter %zeros at %i with %g {index_vector_dim = 2 : i64,
      inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<sum>,
      scatter_dims_to_operand_dims = array<i64: 0>,
      update_window_dims = array<i64: 2>}
      : (tensor<30x6xf32>, tensor<4x5x1xi32>, tensor<4x5x6xf32, #batch3>) -> tensor<30x6xf32>
  // Ids beyond the table are clamped to its last row; added there they are dropped.
  %2 = dtensor.gather %small, %i {collapsed_slice_dims = array<i64: 0>,
      index_vector_dim = 2 : i64, offset_dims = array<i64: 2>,
      slice_sizes = array<i64: 1, 6>, start_index_map = array<i64: 0>}
      : (tensor<3x6xf32, #both>, tensor<4x5x1xi32>) -> tensor<4x5x6xf32>
  %3 = dtensor.scatter %small at %i with %g {index_vector_dim = 2 : i64,
      inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<max>,
      scatter_dims_to_operand_dims = array<i64: 0>,
      update_window_dims = array<i64: 2>}
      : (tensor<3x6xf32, #both>, tensor<4x5x1xi32>, tensor<4x5x6xf32, #batch3>) -> tensor<3x6xf32>
  %4 = dtensor.gather %words, %i {collapsed_slice_dims = array<i64: 0>,
      index_vector_dim = 2 : i64, offset_dims = array<i64: 2>,
      slice_sizes = array<i64: 1, 4>, start_index_map = array<i64: 0>}
      : (tensor<8x4xbf16, #vocabulary>, tensor<4x5x1xi32>) -> tensor<4x5x4xbf16>
  %r0 = dtensor.constraint %0 : (tensor<4x5x6xf32>) -> tensor<4x5x6xf32, #batch3>
  %r1 = dtensor.constraint %1 : (tensor<30x6xf32>) -> tensor<30x6xf32, #vocabulary>
  %r3 = dtensor.constraint %3 : (tensor<3x6xf32>) -> tensor<3x6xf32, #both>
  return %r0, %r1, %2, %r3, %4 : tensor<4x5x6xf32, #batch3>, tensor<30x6xf32, #vocabulary>,
      tensor<4x5x6xf32>, tensor<3x6xf32, #both>, tensor<4x5x4xbf16>
}
