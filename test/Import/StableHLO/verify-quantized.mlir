// What StableHLO demands of quantized types and of ops on them.
// RUN: mesh-opt %s --stablehlo-to-dtensor --split-input-file --verify-diagnostics

func.func @result_is_float(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{violates constraint I1: expected a quantized type}}
  %0 = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @expressed_type(%x: tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f16, 0.5>> {
  // expected-error @+1 {{violates constraint C2: the element types of 'f32' and 'f16' differ}}
  %0 = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f16, 0.5>>
  return %0 : tensor<2x!quant.uniform<i8:f16, 0.5>>
}

// -----

func.func @dequantized(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf64> {
  // expected-error @+1 {{violates constraint C2: the element types of 'f32' and 'f64' differ}}
  %0 = stablehlo.uniform_dequantize %x : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf64>
  return %0 : tensor<2xf64>
}

// -----

func.func @storage(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>, %y: tensor<2x!quant.uniform<i16:f32, 0.5>>) {
  // expected-error @+1 {{violates constraint C1: the types}}
  %0 = stablehlo.add %x, %y : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i16:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @moved_to_other_scale(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{violates constraint C1: the element types of}}
  %0 = stablehlo.reshape %x : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x2x!quant.uniform<i8:f32, 0.25>>
  return
}

// -----

func.func @transposed(%x: tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) {
  // expected-error @+1 {{violates constraint C4: the operand is quantized along dim 0, which is not dim 0 of the result}}
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> tensor<3x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
  return
}

// -----

func.func @reshaped(%x: tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) {
  // expected-error @+1 {{violates constraint C3: the operand is quantized along dim 0, which is not dim 1 of the result}}
  %0 = stablehlo.reshape %x : (tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>
  return
}

// -----

func.func @repeated(%x: tensor<1x!quant.uniform<i8:f32:0, {0.5}>>) {
  // expected-error @+1 {{violates constraint C1: the quantizations of}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<1x!quant.uniform<i8:f32:0, {0.5}>>) -> tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
  return
}

// -----

func.func @zero_point_of_rhs(%x: tensor<2x2x!quant.uniform<i8:f32, 0.5>>, %y: tensor<2x2x!quant.uniform<i8:f32, 0.5:1>>) {
  // expected-error @+1 {{violates constraint C15: the zero points of rhs must be 0}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>, tensor<2x2x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<2x2x!quant.uniform<i32:f32, 0.5>>
  return
}

// -----

func.func @contracted_slices(%x: tensor<2x2x!quant.uniform<i8:f32, 0.5>>, %y: tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) {
  // expected-error @+1 {{violates constraint C16: rhs is quantized along a dim that is contracted}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>, tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> tensor<2x2x!quant.uniform<i32:f32, 0.5>>
  return
}

// -----

func.func @half_quantized(%x: tensor<2x2x!quant.uniform<i8:f32, 0.5>>, %y: tensor<2x2xf32>) {
  // expected-error @+1 {{violates constraint C14: a quantized product has a quantized rhs}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>, tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<i32:f32, 0.5>>
  return
}

// -----

func.func @features(%x: tensor<1x3x2x!quant.uniform<i8:f32, 0.5>>, %k: tensor<1x2x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>) {
  // expected-error @+1 {{violates constraint C29: a quantization must go along the output features}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x2x!quant.uniform<i8:f32, 0.5>>, tensor<1x2x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>) -> tensor<1x3x2x!quant.uniform<i32:f32, 0.5>>
  return
}

// -----

func.func @branches(%p: tensor<i1>, %x: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{a branch returns}}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<2x!quant.uniform<i8:f32, 0.5>>
  }, {
    stablehlo.return %x : tensor<2x!quant.uniform<i8:f32, 0.5>>
  }) : (tensor<i1>) -> tensor<2x!quant.uniform<i8:f32, 0.25>>
  return
}

// -----

func.func @zero_point(%x: tensor<2x!quant.uniform<i8:f32, 0.5:300>>) {
  // expected-error @+1 {{whose zero point 300 is not between -128 and 127}}
  %0 = stablehlo.negate %x : tensor<2x!quant.uniform<i8:f32, 0.5:300>>
  return
}

// -----

func.func @no_dim(%x: tensor<2x!quant.uniform<i8:f32:2, {0.5}>>) {
  // expected-error @+1 {{which has no dim 2 to be quantized along}}
  %0 = stablehlo.negate %x : tensor<2x!quant.uniform<i8:f32:2, {0.5}>>
  return
}

// -----

func.func @scales(%x: tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25, 0.125}>>) {
  // expected-error @+1 {{which has 3 scales for a dim of 2 elements}}
  %0 = stablehlo.negate %x : tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25, 0.125}>>
  return
}

// -----

func.func @sliced(%x: tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) {
  // expected-error @+1 {{StableHLO has 'stablehlo.reverse' on values quantized as a whole only}}
  %0 = stablehlo.reverse %x, dims = [0] : tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
  return
}

// -----

func.func @converted(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf32> {
  // expected-error @+1 {{convert takes no quantized types; uniform_quantize and uniform_dequantize convert from and to them}}
  %0 = stablehlo.convert %x : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @constant() {
  // expected-error @+1 {{violates constraint C1: the value and the result differ in type}}
  %0 = stablehlo.constant() {value = dense<1> : tensor<2xi16>} : () -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

// expected-error @+1 {{quantized types are not supported}}
func.func @any(%x: tensor<2x!quant.any<i8:f32>>) -> tensor<2x!quant.any<i8:f32>> {
  %0 = stablehlo.negate %x : tensor<2x!quant.any<i8:f32>>
  return %0 : tensor<2x!quant.any<i8:f32>>
}
