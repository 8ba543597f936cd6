// Scatters of many updates to few places: workers combine parts of the updates.
// Results that begin with one number are filled; large ones that few updates
// change are cut, and each worker takes the updates of its part. Some indices
// are out of bounds.
// RUN: %verify
func.func @main(%a0: tensor<37xf32>, %u0: tensor<20011xf32>, 
                %a1: tensor<37xf64>, %u1: tensor<20011xf64>, 
                %a2: tensor<37xf32>, %u2: tensor<20011xf32>, 
                %a3: tensor<37xbf16>, %u3: tensor<20011xbf16>, 
                %a4: tensor<37xi32>, %u4: tensor<20011xi32>, 
                %a5: tensor<37xi32>, %u5: tensor<20011xi32>, 
                %a6: tensor<37xui8>, %u6: tensor<20011xui8>, 
                %a7: tensor<37xcomplex<f32>>, %u7: tensor<20011xcomplex<f32>>, 
                %a8: tensor<37xi1>, %u8: tensor<20011xi1>, 
                %a9: tensor<37xf32>, %u9: tensor<20011xf32>, 
                %u20: tensor<20011x21xf32>, 
                %u21: tensor<20011x21xf64>, 
                %u22: tensor<20011x21xi32>, 
                %u30: tensor<501xf32>, 
                %u31: tensor<501xf64>, 
                %u32: tensor<501xbf16>, 
                %u33: tensor<501xi1>)
    -> (tensor<37xf32>, tensor<37xf64>, tensor<37xf32>, tensor<37xbf16>,
        tensor<37xi32>, tensor<37xi32>, tensor<37xui8>, tensor<37xcomplex<f32>>,
        tensor<37xi1>, tensor<37xf32>, tensor<41x21xf32>, tensor<41x21xf64>,
        tensor<41x21xi32>, tensor<9000xf32>, tensor<9000xf64>, tensor<9000xbf16>,
        tensor<9000xi1>) {
  %positions = dtensor.iota dim 0 : tensor<20011xi32>
  %step = dtensor.constant dense<7919> : tensor<20011xi32>
  %places = dtensor.constant dense<40> : tensor<20011xi32>
  %steps = dtensor.multiply %positions, %step : tensor<20011xi32>
  %number = dtensor.remainder %steps, %places : tensor<20011xi32>
  %vector = dtensor.broadcast_in_dim %number dims [0] : (tensor<20011xi32>) -> tensor<20011x1xi32>
  %few_steps = dtensor.slice %steps [0:501] : (tensor<20011xi32>) -> tensor<501xi32>
  %most = dtensor.constant dense<9007> : tensor<501xi32>
  %few_numbers = dtensor.remainder %few_steps, %most : tensor<501xi32>
  %few = dtensor.reshape %few_numbers : (tensor<501xi32>) -> tensor<501x1xi32>
  %0 = dtensor.scatter %a0 at %number with %u0 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<37xf32>, tensor<20011xi32>, tensor<20011xf32>) -> tensor<37xf32>
  %1 = dtensor.scatter %a1 at %number with %u1 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<37xf64>, tensor<20011xi32>, tensor<20011xf64>) -> tensor<37xf64>
  %2 = dtensor.scatter %a2 at %number with %u2 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<max>}
      : (tensor<37xf32>, tensor<20011xi32>, tensor<20011xf32>) -> tensor<37xf32>
  %3 = dtensor.scatter %a3 at %number with %u3 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<37xbf16>, tensor<20011xi32>, tensor<20011xbf16>) -> tensor<37xbf16>
  %4 = dtensor.scatter %a4 at %number with %u4 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<37xi32>, tensor<20011xi32>, tensor<20011xi32>) -> tensor<37xi32>
  %5 = dtensor.scatter %a5 at %number with %u5 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<prod>}
      : (tensor<37xi32>, tensor<20011xi32>, tensor<20011xi32>) -> tensor<37xi32>
  %6 = dtensor.scatter %a6 at %number with %u6 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<min>}
      : (tensor<37xui8>, tensor<20011xi32>, tensor<20011xui8>) -> tensor<37xui8>
  %7 = dtensor.scatter %a7 at %number with %u7 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<37xcomplex<f32>>, tensor<20011xi32>, tensor<20011xcomplex<f32>>) -> tensor<37xcomplex<f32>>
  %8 = dtensor.scatter %a8 at %number with %u8 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<or>}
      : (tensor<37xi1>, tensor<20011xi32>, tensor<20011xi1>) -> tensor<37xi1>
  %9 = dtensor.scatter %a9 at %number with %u9 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<prod>}
      : (tensor<37xf32>, tensor<20011xi32>, tensor<20011xf32>) -> tensor<37xf32>
  %b20 = dtensor.constant dense<-0.0> : tensor<41x21xf32>
  %20 = dtensor.scatter %b20 at %vector with %u20 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>, kind = #dtensor.kind<sum>}
      : (tensor<41x21xf32>, tensor<20011x1xi32>, tensor<20011x21xf32>) -> tensor<41x21xf32>
  %b21 = dtensor.constant dense<1.5> : tensor<41x21xf64>
  %21 = dtensor.scatter %b21 at %vector with %u21 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>, kind = #dtensor.kind<max>}
      : (tensor<41x21xf64>, tensor<20011x1xi32>, tensor<20011x21xf64>) -> tensor<41x21xf64>
  %b22 = dtensor.constant dense<7> : tensor<41x21xi32>
  %22 = dtensor.scatter %b22 at %vector with %u22 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>, kind = #dtensor.kind<sum>}
      : (tensor<41x21xi32>, tensor<20011x1xi32>, tensor<20011x21xi32>) -> tensor<41x21xi32>
  %b30 = dtensor.constant dense<0.0> : tensor<9000xf32>
  %30 = dtensor.scatter %b30 at %few with %u30 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<9000xf32>, tensor<501x1xi32>, tensor<501xf32>) -> tensor<9000xf32>
  %b31 = dtensor.constant dense<1.5> : tensor<9000xf64>
  %31 = dtensor.scatter %b31 at %few with %u31 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>}
      : (tensor<9000xf64>, tensor<501x1xi32>, tensor<501xf64>) -> tensor<9000xf64>
  %b32 = dtensor.constant dense<3.0> : tensor<9000xbf16>
  %32 = dtensor.scatter %b32 at %few with %u32 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<min>}
      : (tensor<9000xbf16>, tensor<501x1xi32>, tensor<501xbf16>) -> tensor<9000xbf16>
  %b33 = dtensor.constant dense<true> : tensor<9000xi1>
  %33 = dtensor.scatter %b33 at %few with %u33 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>}
      : (tensor<9000xi1>, tensor<501x1xi32>, tensor<501xi1>) -> tensor<9000xi1>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %20, %21, %22, %30, %31, %32, %33 : tensor<37xf32>, tensor<37xf64>, tensor<37xf32>, tensor<37xbf16>,
        tensor<37xi32>, tensor<37xi32>, tensor<37xui8>, tensor<37xcomplex<f32>>,
        tensor<37xi1>, tensor<37xf32>, tensor<41x21xf32>, tensor<41x21xf64>,
        tensor<41x21xi32>, tensor<9000xf32>, tensor<9000xf64>, tensor<9000xbf16>,
        tensor<9000xi1>
}
