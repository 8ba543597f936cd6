// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StableHLOElementwiseOps.td - Elementwise ops of stablehlo ----------===//
//
// Ops that compute each element of their result from the elements at the same
// place of their operands.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_STABLEHLO_ELEMENTWISE_OPS
#define MESHLOOM_DIALECT_STABLEHLO_ELEMENTWISE_OPS

include "meshloom/Dialect/StableHLO/StableHLOAttrs.td"

/// An op whose operands and result have one type (C1).
class StableHLO_SameTypeOp<string mnemonic> : StableHLO_Op<mnemonic> {
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verify() {
      return ::meshloom::verifySameTypes(*this, "C1");
    }
  }];
}

class StableHLO_UnaryOp<string mnemonic, Type type>
    : StableHLO_SameTypeOp<mnemonic> {
  let arguments = (ins type:$operand);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<SameType>(type($operand), type($result))
  }];
}

/// A function that is approximated: the program may say how well.
class StableHLO_FunctionOp<string mnemonic>
    : StableHLO_UnaryOp<mnemonic, StableHLO_FloatOrComplexTensor> {
  let arguments = (ins
    StableHLO_FloatOrComplexTensor:$operand,
    OptionalAttr<StableHLO_ResultAccuracyAttr>:$result_accuracy);
}

class StableHLO_BinaryOp<string mnemonic, Type type>
    : StableHLO_SameTypeOp<mnemonic> {
  let arguments = (ins type:$lhs, type:$rhs);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict
    `:` custom<SameType>(type($lhs), type($rhs), type($result))
  }];
}

/// A unary op whose result has another element type.
class StableHLO_ConversionOp<string mnemonic, Type from, Type to>
    : StableHLO_Op<mnemonic> {
  let arguments = (ins from:$operand);
  let results = (outs to:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<SameType>(type($operand), type($result))
  }];
  let hasVerifier = 1;
}

def StableHLO_CeilOp : StableHLO_UnaryOp<"ceil", StableHLO_FloatTensor>;
def StableHLO_ClzOp
    : StableHLO_UnaryOp<"count_leading_zeros", StableHLO_IntegerTensor>;
def StableHLO_FloorOp : StableHLO_UnaryOp<"floor", StableHLO_FloatTensor>;
def StableHLO_NotOp : StableHLO_UnaryOp<"not", StableHLO_BitsTensor>;
def StableHLO_NegOp : StableHLO_UnaryOp<"negate", StableHLO_NumberTensor>;
def StableHLO_PopulationCountOp
    : StableHLO_UnaryOp<"popcnt", StableHLO_IntegerTensor>;
def StableHLO_RoundOp
    : StableHLO_UnaryOp<"round_nearest_afz", StableHLO_FloatTensor>;
def StableHLO_RoundNearestEvenOp
    : StableHLO_UnaryOp<"round_nearest_even", StableHLO_FloatTensor>;
def StableHLO_SignOp : StableHLO_UnaryOp<"sign", StableHLO_SignedTensor>;

def StableHLO_AbsOp
    : StableHLO_ConversionOp<"abs", StableHLO_SignedTensor, StableHLO_Tensor>;
def StableHLO_ConvertOp
    : StableHLO_ConversionOp<"convert", StableHLO_Tensor, StableHLO_Tensor>;
def StableHLO_ImagOp
    : StableHLO_ConversionOp<"imag", StableHLO_FloatOrComplexTensor,
                             StableHLO_FloatTensor>;
def StableHLO_IsFiniteOp
    : StableHLO_ConversionOp<"is_finite", StableHLO_FloatTensor,
                             StableHLO_BoolTensor>;
def StableHLO_RealOp
    : StableHLO_ConversionOp<"real", StableHLO_FloatOrComplexTensor,
                             StableHLO_FloatTensor>;
def StableHLO_UniformDequantizeOp
    : StableHLO_ConversionOp<"uniform_dequantize", StableHLO_Tensor,
                             StableHLO_Tensor>;
def StableHLO_UniformQuantizeOp
    : StableHLO_ConversionOp<"uniform_quantize", StableHLO_Tensor,
                             StableHLO_Tensor>;

def StableHLO_CbrtOp : StableHLO_FunctionOp<"cbrt">;
def StableHLO_CosineOp : StableHLO_FunctionOp<"cosine">;
def StableHLO_ExpOp : StableHLO_FunctionOp<"exponential">;
def StableHLO_Expm1Op : StableHLO_FunctionOp<"exponential_minus_one">;
def StableHLO_LogOp : StableHLO_FunctionOp<"log">;
def StableHLO_Log1pOp : StableHLO_FunctionOp<"log_plus_one">;
def StableHLO_LogisticOp : StableHLO_FunctionOp<"logistic">;
def StableHLO_RsqrtOp : StableHLO_FunctionOp<"rsqrt">;
def StableHLO_SineOp : StableHLO_FunctionOp<"sine">;
def StableHLO_SqrtOp : StableHLO_FunctionOp<"sqrt">;
def StableHLO_TanOp : StableHLO_FunctionOp<"tan">;
def StableHLO_TanhOp : StableHLO_FunctionOp<"tanh">;

def StableHLO_AndOp : StableHLO_BinaryOp<"and", StableHLO_BitsTensor>;
def StableHLO_Atan2Op
    : StableHLO_BinaryOp<"atan2", StableHLO_FloatOrComplexTensor>;
def StableHLO_DivOp : StableHLO_BinaryOp<"divide", StableHLO_NumberTensor>;
def StableHLO_OrOp : StableHLO_BinaryOp<"or", StableHLO_BitsTensor>;
def StableHLO_PowOp : StableHLO_BinaryOp<"power", StableHLO_NumberTensor>;
def StableHLO_RemOp : StableHLO_BinaryOp<"remainder", StableHLO_NumberTensor>;
def StableHLO_ShiftLeftOp
    : StableHLO_BinaryOp<"shift_left", StableHLO_IntegerTensor>;
def StableHLO_ShiftRightArithmeticOp
    : StableHLO_BinaryOp<"shift_right_arithmetic", StableHLO_IntegerTensor>;
def StableHLO_ShiftRightLogicalOp
    : StableHLO_BinaryOp<"shift_right_logical", StableHLO_IntegerTensor>;
def StableHLO_SubtractOp
    : StableHLO_BinaryOp<"subtract", StableHLO_NumberTensor>;
def StableHLO_XorOp : StableHLO_BinaryOp<"xor", StableHLO_BitsTensor>;
// Sums, products and bounds of booleans are those of their bits.
def StableHLO_AddOp : StableHLO_BinaryOp<"add", StableHLO_Tensor>;
def StableHLO_MaxOp : StableHLO_BinaryOp<"maximum", StableHLO_Tensor>;
def StableHLO_MinOp : StableHLO_BinaryOp<"minimum", StableHLO_Tensor>;
def StableHLO_MulOp : StableHLO_BinaryOp<"multiply", StableHLO_Tensor>;

def StableHLO_ComplexOp : StableHLO_Op<"complex"> {
  let arguments = (ins StableHLO_FloatTensor:$lhs,
                       StableHLO_FloatTensor:$rhs);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict
    `:` custom<ComplexType>(type($lhs), type($rhs), type($result))
  }];
  let hasVerifier = 1;
}

def StableHLO_CompareOp : StableHLO_Op<"compare"> {
  let arguments = (ins
    StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs,
    StableHLO_ComparisonDirectionAttr:$comparison_direction,
    OptionalAttr<StableHLO_ComparisonTypeAttr>:$compare_type);
  let results = (outs StableHLO_BoolTensor:$result);
  let assemblyFormat = [{
    $comparison_direction `,` $lhs `,` $rhs (`,` $compare_type^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_SelectOp : StableHLO_Op<"select"> {
  let arguments = (ins StableHLO_BoolTensor:$pred, StableHLO_Tensor:$on_true,
                       StableHLO_Tensor:$on_false);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    operands attr-dict `:` custom<SelectType>(
      type($pred), type($on_true), type($on_false), type($result))
  }];
  let hasVerifier = 1;
}

def StableHLO_ClampOp : StableHLO_Op<"clamp"> {
  let arguments = (ins StableHLO_Tensor:$min, StableHLO_Tensor:$operand,
                       StableHLO_Tensor:$max);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $min `,` $operand `,` $max attr-dict `:` custom<SameType>(
      type($min), type($operand), type($max), type($result))
  }];
  let hasVerifier = 1;
}

def StableHLO_ReducePrecisionOp : StableHLO_Op<"reduce_precision"> {
  let arguments = (ins StableHLO_FloatTensor:$operand, I32Attr:$exponent_bits,
                       I32Attr:$mantissa_bits);
  let results = (outs StableHLO_Tensor:$output);
  let assemblyFormat = [{
    $operand `,` `format` `=`
    custom<FloatFormat>($exponent_bits, $mantissa_bits) attr-dict
    `:` custom<SameType>(type($operand), type($output))
  }];
  let hasVerifier = 1;
}

def StableHLO_BitcastConvertOp : StableHLO_Op<"bitcast_convert"> {
  let arguments = (ins StableHLO_Tensor:$operand);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_ConstantOp : StableHLO_Op<"constant"> {
  let arguments = (ins ElementsAttr:$value);
  let results = (outs StableHLO_Tensor:$output);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def StableHLO_IotaOp : StableHLO_Op<"iota"> {
  let arguments = (ins I64Attr:$iota_dimension);
  let results = (outs StableHLO_Tensor:$output);
  let assemblyFormat = "`dim` `=` $iota_dimension attr-dict `:` type($output)";
  let hasVerifier = 1;
}

#endif // MESHLOOM_DIALECT_STABLEHLO_ELEMENTWISE_OPS
