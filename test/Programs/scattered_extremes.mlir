// Maxima and minima of rows of narrow floats, whose order is found without
// making them wide: of all kinds of bits (nan, infinities, zeros and denormals
// of both signs), in rows of one vector, of a few and of numbers that are left.
// RUN: %verify
func.func @main(%i: tensor<60x1xi32>)
    -> (tensor<19x7xf16>, tensor<19x7xf16>, tensor<19x7xbf16>, tensor<19x7xbf16>,
        tensor<19x8xf16>, tensor<19x8xf16>, tensor<19x8xbf16>, tensor<19x8xbf16>,
        tensor<19x23xf16>, tensor<19x23xf16>, tensor<19x23xbf16>, tensor<19x23xbf16>) {
  %n7 = dtensor.iota dim 0 : tensor<420xi32>
  %p7 = dtensor.constant dense<40503> : tensor<420xi32>
  %m7 = dtensor.multiply %n7, %p7 : tensor<420xi32>
  %c7 = dtensor.convert %m7 : (tensor<420xi32>) -> tensor<420xi16>
  %r7 = dtensor.reshape %c7 : (tensor<420xi16>) -> tensor<60x7xi16>
  %u_f16_7 = dtensor.bitcast_convert %r7 : (tensor<60x7xi16>) -> tensor<60x7xf16>
  %max_of_f16_7 = dtensor.constant dense<0xFC00> : tensor<19x7xf16>
  %max_f16_7 = dtensor.scatter %max_of_f16_7 at %i with %u_f16_7 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<max>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
    : (tensor<19x7xf16>, tensor<60x1xi32>, tensor<60x7xf16>) -> tensor<19x7xf16>
  %min_of_f16_7 = dtensor.constant dense<0x7C00> : tensor<19x7xf16>
  %min_f16_7 = dtensor.scatter %min_of_f16_7 at %i with %u_f16_7 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<min>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
    : (tensor<19x7xf16>, tensor<60x1xi32>, tensor<60x7xf16>) -> tensor<19x7xf16>
  %u_bf16_7 = dtensor.bitcast_convert %r7 : (tensor<60x7xi16>) -> tensor<60x7xbf16>
  %max_of_bf16_7 = dtensor.constant dense<0xFF80> : tensor<19x7xbf16>
  %max_bf16_7 = dtensor.scatter %max_of_bf16_7 at %i with %u_bf16_7 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<max>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
    : (tensor<19x7xbf16>, tensor<60x1xi32>, tensor<60x7xbf16>) -> tensor<19x7xbf16>
  %min_of_bf16_7 = dtensor.constant dense<0x7F80> : tensor<19x7xbf16>
  %min_bf16_7 = dtensor.scatter %min_of_bf16_7 at %i with %u_bf16_7 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<min>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
    : (tensor<19x7xbf16>, tensor<60x1xi32>, tensor<60x7xbf16>) -> tensor<19x7xbf16>
  %n8 = dtensor.iota dim 0 : tensor<480xi32>
  %p8 = dtensor.constant dense<40503> : tensor<480xi32>
  %m8 = dtensor.multiply %n8, %p8 : tensor<480xi32>
  %c8 = dtensor.convert %m8 : (tensor<480xi32>) -> tensor<480xi16>
  %r8 = dtensor.reshape %c8 : (tensor<480xi16>) -> tensor<60x8xi16>
  %u_f16_8 = dtensor.bitcast_convert %r8 : (tensor<60x8xi16>) -> tensor<60x8xf16>
  %max_of_f16_8 = dtensor.constant dense<0xFC00> : tensor<19x8xf16>
  %max_f16_8 = dtensor.scatter %max_of_f16_8 at %i with %u_f16_8 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<max>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
    : (tensor<19x8xf16>, tensor<60x1xi32>, tensor<60x8xf16>) -> tensor<19x8xf16>
  %min_of_f16_8 = dtensor.constant dense<0x7C00> : tensor<19x8xf16>
  %min_f16_8 = dtensor.scatter %min_of_f16_8 at %i with %u_f16_8 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<min>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
    : (tensor<19x8xf16>, tensor<60x1xi32>, tensor<60x8xf16>) -> tensor<19x8xf16>
  %u_bf16_8 = dtensor.bitcast_convert %r8 : (tensor<60x8xi16>) -> tensor<60x8xbf16>
  %max_of_bf16_8 = dtensor.constant dense<0xFF80> : tensor<19x8xbf16>
  %max_bf16_8 = dtensor.scatter %max_of_bf16_8 at %i with %u_bf16_8 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<max>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
    : (tensor<19x8xbf16>, tensor<60x1xi32>, tensor<60x8xbf16>) -> tensor<19x8xbf16>
  %min_of_bf16_8 = dtensor.constant dense<0x7F80> : tensor<19x8xbf16>
  %min_bf16_8 = dtensor.scatter %min_of_bf16_8 at %i with %u_bf16_8 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<min>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
    : (tensor<19x8xbf16>, tensor<60x1xi32>, tensor<60x8xbf16>) -> tensor<19x8xbf16>
  %n23 = dtensor.iota dim 0 : tensor<1380xi32>
  %p23 = dtensor.constant dense<40503> : tensor<1380xi32>
  %m23 = dtensor.multiply %n23, %p23 : tensor<1380xi32>
  %c23 = dtensor.convert %m23 : (tensor<1380xi32>) -> tensor<1380xi16>
  %r23 = dtensor.reshape %c23 : (tensor<1380xi16>) -> tensor<60x23xi16>
  %u_f16_23 = dtensor.bitcast_convert %r23 : (tensor<60x23xi16>) -> tensor<60x23xf16>
  %max_of_f16_23 = dtensor.constant dense<0xFC00> : tensor<19x23xf16>
  %max_f16_23 = dtensor.scatter %max_of_f16_23 at %i with %u_f16_23 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<max>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
    : (tensor<19x23xf16>, tensor<60x1xi32>, tensor<60x23xf16>) -> tensor<19x23xf16>
  %min_of_f16_23 = dtensor.constant dense<0x7C00> : tensor<19x23xf16>
  %min_f16_23 = dtensor.scatter %min_of_f16_23 at %i with %u_f16_23 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<min>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
    : (tensor<19x23xf16>, tensor<60x1xi32>, tensor<60x23xf16>) -> tensor<19x23xf16>
  %u_bf16_23 = dtensor.bitcast_convert %r23 : (tensor<60x23xi16>) -> tensor<60x23xbf16>
  %max_of_bf16_23 = dtensor.constant dense<0xFF80> : tensor<19x23xbf16>
  %max_bf16_23 = dtensor.scatter %max_of_bf16_23 at %i with %u_bf16_23 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<max>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
    : (tensor<19x23xbf16>, tensor<60x1xi32>, tensor<60x23xbf16>) -> tensor<19x23xbf16>
  %min_of_bf16_23 = dtensor.constant dense<0x7F80> : tensor<19x23xbf16>
  %min_bf16_23 = dtensor.scatter %min_of_bf16_23 at %i with %u_bf16_23 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<min>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
    : (tensor<19x23xbf16>, tensor<60x1xi32>, tensor<60x23xbf16>) -> tensor<19x23xbf16>
  return %max_f16_7, %min_f16_7, %max_bf16_7, %min_bf16_7,
      %max_f16_8, %min_f16_8, %max_bf16_8, %min_bf16_8,
      %max_f16_23, %min_f16_23, %max_bf16_23, %min_bf16_23
    : tensor<19x7xf16>, tensor<19x7xf16>, tensor<19x7xbf16>, tensor<19x7xbf16>,
      tensor<19x8xf16>, tensor<19x8xf16>, tensor<19x8xbf16>, tensor<19x8xbf16>,
      tensor<19x23xf16>, tensor<19x23xf16>, tensor<19x23xbf16>, tensor<19x23xbf16>
}
