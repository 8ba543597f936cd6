//===- StableHLOElementwiseOps.td - Elementwise ops of stablehlo ----------===//
//
// Ops that compute each element of their result from the elements at the same
// place of their operands.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_STABLEHLO_ELEMENTWISE_OPS
#define MESHLOOM_DIALECT_STABLEHLO_ELEMENTWISE_OPS

include "meshloom/Dialect/StableHLO/StableHLOAttrs.td"

class StableHLO_UnaryOp<string mnemonic> : StableHLO_Op<mnemonic> {
  let arguments = (ins StableHLO_Tensor:$operand);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<SameType>(type($operand), type($result))
  }];
}

/// A function that is approximated: the program may say how well.
class StableHLO_FunctionOp<string mnemonic> : StableHLO_UnaryOp<mnemonic> {
  let arguments = (ins
    StableHLO_Tensor:$operand,
    OptionalAttr<StableHLO_ResultAccuracyAttr>:$result_accuracy);
}

class StableHLO_BinaryOp<string mnemonic> : StableHLO_Op<mnemonic> {
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict
    `:` custom<SameType>(type($lhs), type($rhs), type($result))
  }];
}

def StableHLO_AbsOp : StableHLO_UnaryOp<"abs">;
def StableHLO_CeilOp : StableHLO_UnaryOp<"ceil">;
def StableHLO_ConvertOp : StableHLO_UnaryOp<"convert">;
def StableHLO_ClzOp : StableHLO_UnaryOp<"count_leading_zeros">;
def StableHLO_FloorOp : StableHLO_UnaryOp<"floor">;
def StableHLO_ImagOp : StableHLO_UnaryOp<"imag">;
def StableHLO_IsFiniteOp : StableHLO_UnaryOp<"is_finite">;
def StableHLO_NotOp : StableHLO_UnaryOp<"not">;
def StableHLO_NegOp : StableHLO_UnaryOp<"negate">;
def StableHLO_PopulationCountOp : StableHLO_UnaryOp<"popcnt">;
def StableHLO_RealOp : StableHLO_UnaryOp<"real">;
def StableHLO_RoundOp : StableHLO_UnaryOp<"round_nearest_afz">;
def StableHLO_RoundNearestEvenOp : StableHLO_UnaryOp<"round_nearest_even">;
def StableHLO_SignOp : StableHLO_UnaryOp<"sign">;
def StableHLO_UniformDequantizeOp : StableHLO_UnaryOp<"uniform_dequantize">;
def StableHLO_UniformQuantizeOp : StableHLO_UnaryOp<"uniform_quantize">;

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

def StableHLO_AddOp : StableHLO_BinaryOp<"add">;
def StableHLO_AndOp : StableHLO_BinaryOp<"and">;
def StableHLO_Atan2Op : StableHLO_BinaryOp<"atan2">;
def StableHLO_DivOp : StableHLO_BinaryOp<"divide">;
def StableHLO_MaxOp : StableHLO_BinaryOp<"maximum">;
def StableHLO_MinOp : StableHLO_BinaryOp<"minimum">;
def StableHLO_MulOp : StableHLO_BinaryOp<"multiply">;
def StableHLO_OrOp : StableHLO_BinaryOp<"or">;
def StableHLO_PowOp : StableHLO_BinaryOp<"power">;
def StableHLO_RemOp : StableHLO_BinaryOp<"remainder">;
def StableHLO_ShiftLeftOp : StableHLO_BinaryOp<"shift_left">;
def StableHLO_ShiftRightArithmeticOp
    : StableHLO_BinaryOp<"shift_right_arithmetic">;
def StableHLO_ShiftRightLogicalOp : StableHLO_BinaryOp<"shift_right_logical">;
def StableHLO_SubtractOp : StableHLO_BinaryOp<"subtract">;
def StableHLO_XorOp : StableHLO_BinaryOp<"xor">;

def StableHLO_ComplexOp : StableHLO_Op<"complex"> {
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict
    `:` custom<ComplexType>(type($lhs), type($rhs), type($result))
  }];
}

def StableHLO_CompareOp : StableHLO_Op<"compare"> {
  let arguments = (ins
    StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs,
    StableHLO_ComparisonDirectionAttr:$comparison_direction,
    OptionalAttr<StableHLO_ComparisonTypeAttr>:$compare_type);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $comparison_direction `,` $lhs `,` $rhs (`,` $compare_type^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def StableHLO_SelectOp : StableHLO_Op<"select"> {
  let arguments = (ins StableHLO_Tensor:$pred, StableHLO_Tensor:$on_true,
                       StableHLO_Tensor:$on_false);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    operands attr-dict `:` custom<SelectType>(
      type($pred), type($on_true), type($on_false), type($result))
  }];
}

def StableHLO_ClampOp : StableHLO_Op<"clamp"> {
  let arguments = (ins StableHLO_Tensor:$min, StableHLO_Tensor:$operand,
                       StableHLO_Tensor:$max);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $min `,` $operand `,` $max attr-dict `:` custom<SameType>(
      type($min), type($operand), type($max), type($result))
  }];
}

def StableHLO_ReducePrecisionOp : StableHLO_Op<"reduce_precision"> {
  let arguments = (ins StableHLO_Tensor:$operand, I32Attr:$exponent_bits,
                       I32Attr:$mantissa_bits);
  let results = (outs StableHLO_Tensor:$output);
  let assemblyFormat = [{
    $operand `,` `format` `=`
    custom<FloatFormat>($exponent_bits, $mantissa_bits) attr-dict
    `:` custom<SameType>(type($operand), type($output))
  }];
}

def StableHLO_BitcastConvertOp : StableHLO_Op<"bitcast_convert"> {
  let arguments = (ins StableHLO_Tensor:$operand);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_ConstantOp : StableHLO_Op<"constant"> {
  let arguments = (ins ElementsAttr:$value);
  let results = (outs StableHLO_Tensor:$output);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_IotaOp : StableHLO_Op<"iota"> {
  let arguments = (ins I64Attr:$iota_dimension);
  let results = (outs StableHLO_Tensor:$output);
  let assemblyFormat = "`dim` `=` $iota_dimension attr-dict `:` type($output)";
}

#endif // MESHLOOM_DIALECT_STABLEHLO_ELEMENTWISE_OPS
