// Sums of so many updates to a place that they are added in blocks: numbers,
// rows, columns and windows that overlap, of f64 and complex numbers; few
// updates of f32, many of which meet; long rows of f16. Some indices are out of
// bounds.
// RUN: %verify
func.func @main(%a0: tensor<41xf64>, %u0: tensor<2003xf64>,
                %a1: tensor<41x21xf64>, %u1: tensor<2003x21xf64>,
                %a2: tensor<21x41xf64>, %u2: tensor<21x2003xf64>,
                %a3: tensor<43xf64>, %u3: tensor<2003x3xf64>,
                %a4: tensor<41xcomplex<f64>>, %u4: tensor<2003xcomplex<f64>>,
                %u5: tensor<2003xf32>, %u6: tensor<2003xcomplex<f32>>,
                %a7: tensor<3x263xf16>, %u7: tensor<40x263xf16>)
    -> (tensor<41xf64>, tensor<41x21xf64>, tensor<21x41xf64>, tensor<43xf64>,
        tensor<41xcomplex<f64>>, tensor<9000xf32>, tensor<9000xcomplex<f32>>,
        tensor<3x263xf16>) {
  %positions = dtensor.iota dim 0 : tensor<2003xi32>
  %step = dtensor.constant dense<7919> : tensor<2003xi32>
  %places = dtensor.constant dense<43> : tensor<2003xi32>
  %steps = dtensor.multiply %positions, %step : tensor<2003xi32>
  %numbers = dtensor.remainder %steps, %places : tensor<2003xi32>
  %i = dtensor.reshape %numbers : (tensor<2003xi32>) -> tensor<2003x1xi32>
  %apart = dtensor.constant dense<211> : tensor<2003xi32>
  %far = dtensor.multiply %numbers, %apart : tensor<2003xi32>
  %j = dtensor.reshape %far : (tensor<2003xi32>) -> tensor<2003x1xi32>
  %0 = dtensor.scatter %a0 at %i with %u0 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<41xf64>, tensor<2003x1xi32>, tensor<2003xf64>) -> tensor<41xf64>
  %1 = dtensor.scatter %a1 at %i with %u1 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>, kind = #dtensor.kind<sum>}
      : (tensor<41x21xf64>, tensor<2003x1xi32>, tensor<2003x21xf64>) -> tensor<41x21xf64>
  %2 = dtensor.scatter %a2 at %i with %u2 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1>, update_window_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<21x41xf64>, tensor<2003x1xi32>, tensor<21x2003xf64>) -> tensor<21x41xf64>
  %3 = dtensor.scatter %a3 at %i with %u3 {index_vector_dim = 1 : i64, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>, kind = #dtensor.kind<sum>}
      : (tensor<43xf64>, tensor<2003x1xi32>, tensor<2003x3xf64>) -> tensor<43xf64>
  %4 = dtensor.scatter %a4 at %i with %u4 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<41xcomplex<f64>>, tensor<2003x1xi32>, tensor<2003xcomplex<f64>>) -> tensor<41xcomplex<f64>>
  %b5 = dtensor.constant dense<-0.0> : tensor<9000xf32>
  %5 = dtensor.scatter %b5 at %j with %u5 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<9000xf32>, tensor<2003x1xi32>, tensor<2003xf32>) -> tensor<9000xf32>
  %b6 = dtensor.constant dense<(1.0, -2.0)> : tensor<9000xcomplex<f32>>
  %6 = dtensor.scatter %b6 at %j with %u6 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<9000xcomplex<f32>>, tensor<2003x1xi32>, tensor<2003xcomplex<f32>>) -> tensor<9000xcomplex<f32>>
  %rows = dtensor.slice %i [0:40, 0:1] : (tensor<2003x1xi32>) -> tensor<40x1xi32>
  %7 = dtensor.scatter %a7 at %rows with %u7 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>, kind = #dtensor.kind<sum>}
      : (tensor<3x263xf16>, tensor<40x1xi32>, tensor<40x263xf16>) -> tensor<3x263xf16>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<41xf64>, tensor<41x21xf64>, tensor<21x41xf64>, tensor<43xf64>,
        tensor<41xcomplex<f64>>, tensor<9000xf32>, tensor<9000xcomplex<f32>>,
        tensor<3x263xf16>
}
