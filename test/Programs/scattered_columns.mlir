// Few windows whose numbers lie apart in memory, as columns do: they are
// combined line by line, in pieces of a block. The windows of the last scatter
// and of the gather have short runs, and one window overlaps the other.
// RUN: %verify
func.func @main(%x: tensor<1201x9xf32>, %u: tensor<2x1201xf32>,
                %y: tensor<1201x9xbf16>, %v: tensor<2x1201xbf16>,
                %z: tensor<1201x9xi32>, %w: tensor<2x1201xi32>,
                %t: tensor<2x1201x3xf32>)
    -> (tensor<1201x9xf32>, tensor<1201x9xf32>, tensor<1201x9xbf16>,
        tensor<1201x9xi32>, tensor<1201x9xf32>, tensor<2x1201x3xf32>) {
  %position = dtensor.iota dim 0 : tensor<2xi32>
  %three = dtensor.constant dense<3> : tensor<2xi32>
  %one = dtensor.constant dense<1> : tensor<2xi32>
  %steps = dtensor.multiply %position, %three : tensor<2xi32>
  %columns = dtensor.add %steps, %one : tensor<2xi32>
  %near = dtensor.add %position, %one : tensor<2xi32>
  %0 = dtensor.scatter %x at %columns with %u {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1>, update_window_dims = array<i64: 1>}
      : (tensor<1201x9xf32>, tensor<2xi32>, tensor<2x1201xf32>) -> tensor<1201x9xf32>
  %1 = dtensor.scatter %x at %columns with %u {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1>, update_window_dims = array<i64: 1>, kind = #dtensor.kind<sum>}
      : (tensor<1201x9xf32>, tensor<2xi32>, tensor<2x1201xf32>) -> tensor<1201x9xf32>
  %2 = dtensor.scatter %y at %columns with %v {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1>, update_window_dims = array<i64: 1>, kind = #dtensor.kind<sum>}
      : (tensor<1201x9xbf16>, tensor<2xi32>, tensor<2x1201xbf16>) -> tensor<1201x9xbf16>
  %3 = dtensor.scatter %z at %columns with %w {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1>, update_window_dims = array<i64: 1>, kind = #dtensor.kind<max>}
      : (tensor<1201x9xi32>, tensor<2xi32>, tensor<2x1201xi32>) -> tensor<1201x9xi32>
  %4 = dtensor.scatter %x at %near with %t {index_vector_dim = 1 : i64, scatter_dims_to_operand_dims = array<i64: 1>, update_window_dims = array<i64: 1, 2>, kind = #dtensor.kind<sum>}
      : (tensor<1201x9xf32>, tensor<2xi32>, tensor<2x1201x3xf32>) -> tensor<1201x9xf32>
  %5 = dtensor.gather %x, %near {index_vector_dim = 1 : i64, offset_dims = array<i64: 1, 2>, slice_sizes = array<i64: 1201, 3>, start_index_map = array<i64: 1>}
      : (tensor<1201x9xf32>, tensor<2xi32>) -> tensor<2x1201x3xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<1201x9xf32>, tensor<1201x9xf32>, tensor<1201x9xbf16>,
      tensor<1201x9xi32>, tensor<1201x9xf32>, tensor<2x1201x3xf32>
}
