// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DTensorElementwiseOps.td - Ops on one element at a time -----------===//
//
// Unary, binary and the few ternary ops. Their rules differ only in which
// pending reductions pass through; their constraints are two traits.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_DTENSOR_ELEMENTWISE_OPS
#define MESHLOOM_DIALECT_DTENSOR_ELEMENTWISE_OPS

include "meshloom/Dialect/DTensor/DTensorAttrs.td"

/// The text about pending reductions in the documentation of an op.
class flowText<string flow, string kind> {
  string text = !cond(
    !eq(flow, "LinearJoint"): "; a pending " # kind
        # " passes where all operands carry it.",
    !eq(flow, "LinearEach"): "; a pending " # kind # " passes from one operand.",
    true: "; operands are never partial.");
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

/// The operand and the result have the same shape and element type.
/// `host`: the function of a double `v` in C++. Constants are folded by it, the
/// reference computes floats by it, and random programs have the op where it is
/// smooth. Empty where there is no such function: C++ has a folder.
/// `math`: the op of MLIR's math dialect that computes a scalar; empty where
/// ScalarLowering.cpp has a row.
class DTensor_UnaryOp<string mnemonic, int elementFlops, string summaryText,
                      string details = "", Type type = DTensor_FloatTensor,
                      string partialFlow = "None", string host = "",
                      string math = "", string target = mnemonic>
    : DTensor_ElementwiseOp<
          mnemonic, elementFlops, [DTensor_Elementwise, DTensor_SameElements],
          target,
          !listconcat(!if(!empty(host), []<string>, ["getHostFunction"]),
                      !if(!empty(math), []<string>, ["getMathName"]))> {
  let rule = "... -> ...";
  let flow = partialFlow;
  let definitions = !if(!empty(host), "", [{
    ::meshloom::dtensor::HostFunction $cppClass::getHostFunction() {
      return [](double v) -> double { return }] # host # [{; };
    }
    ::mlir::OpFoldResult $cppClass::fold(FoldAdaptor adaptor) {
      return ::meshloom::dtensor::foldReal(getResult(), adaptor.getOperand(),
                                           getHostFunction());
    }
  }]) # !if(!empty(math), "", [{
    ::llvm::StringRef $cppClass::getMathName() {
      return "math.}] # math # [{";
    }
  }]);
  let summary = summaryText;
  let description = "\n    " # details # [{

    Sharding rule: `... -> ...`}] # flowText<partialFlow, "sum">.text # [{

    Constraints:
    * (C1) The operand and the result have the same global shape.
    * (C2) The operand and the result have the same element type.

    Example:
    ```mlir
    %r = dtensor.}] # mnemonic # [{ %x : tensor<8x4xf32>
    ```
  }];
  let arguments = (ins type:$operand);
  let results = (outs type:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand), [{
    build($_builder, $_state, undecided(operand.getType()), operand);
  }]>];
  let assemblyFormat = [{
    $operand attr-dict `:` custom<SameTypes>(type($operand), type($result))
  }];
  let hasFolder = 1;
}

def DTensor_AbsOp
    : DTensor_ElementwiseOp<"abs", 1, [DTensor_Elementwise]> {
  let rule = "... -> ...";
  let summary = "`|x|`";
  let description = [{
    The absolute value. The smallest signed integer stays as it is. Of a complex
    number the distance from 0, a float.

    Sharding rule: `... -> ...`; operands are never partial.

    Constraints:
    * (C1) The operand and the result have the same global shape.
    * (C2) The result has the operand's element type; of complex<f32> and
      complex<f64>, f32 and f64.

    Example:
    ```mlir
    %r = dtensor.abs %x : tensor<8x4xf32>
    %s = dtensor.abs %z : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins DTensor_NumberTensor:$operand);
  let results = (outs DTensor_RealTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand), [{
    build($_builder, $_state,
          undecided(operand.getType(), partTypeOf(operand.getType())), operand);
  }]>];
  let assemblyFormat = [{
    $operand attr-dict `:` custom<SameTypes>(type($operand), type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def DTensor_NegateOp : DTensor_UnaryOp<"negate", 1, "`-x`",
    "Changes the sign, of zero and nan too. Integers wrap around.",
    DTensor_NumberTensor, "LinearJoint">;

def DTensor_SignOp : DTensor_UnaryOp<"sign", 3, "-1, 0 or 1",
    "-1, 0 or 1 with the sign of x; -0.0 and nan stay as they are. Of a "
    "complex number `x / |x|`, 0 at 0.",
    DTensor_NumberTensor>;

def DTensor_ExpOp : DTensor_UnaryOp<"exp", 15, "e to the power of x",
    "e to the power of x.",
    DTensor_FloatOrComplexTensor,
    host = "std::exp(v)", math = "exp", target = "exponential">;

def DTensor_Expm1Op : DTensor_UnaryOp<"expm1", 17, "`exp(x) - 1`",
    "exp(x) - 1, precise near 0.",
    DTensor_FloatOrComplexTensor,
    host = "std::expm1(v)", math = "expm1", target = "exponential_minus_one">;

def DTensor_LogOp : DTensor_UnaryOp<"log", 25, "The natural logarithm",
    "nan below 0, -inf at 0. Of a complex number the principal value: its "
    "imaginary part is in [-pi, pi].",
    DTensor_FloatOrComplexTensor,
    host = "std::log(v)", math = "log">;

def DTensor_Log1pOp : DTensor_UnaryOp<"log1p", 35, "`log(1 + x)`",
    "log(1 + x), precise near 0.",
    DTensor_FloatOrComplexTensor,
    host = "std::log1p(v)", math = "log1p", target = "log_plus_one">;

def DTensor_SqrtOp : DTensor_UnaryOp<"sqrt", 6, "The square root",
    "nan below 0; -0.0 at -0.0. Of a complex number the root whose real part "
    "is not negative.",
    DTensor_FloatOrComplexTensor,
    host = "std::sqrt(v)", math = "sqrt">;

def DTensor_RsqrtOp : DTensor_UnaryOp<"rsqrt", 12, "`1 / sqrt(x)`",
    "inf at 0, nan below.",
    DTensor_FloatOrComplexTensor,
    host = "1 / std::sqrt(v)">;

def DTensor_CbrtOp : DTensor_UnaryOp<"cbrt", 40, "The cube root",
    "The real cube root, negative below 0.",
    host = "std::cbrt(v)", math = "cbrt">;

def DTensor_TanhOp : DTensor_UnaryOp<"tanh", 25, "The hyperbolic tangent",
    "The hyperbolic tangent.",
    DTensor_FloatOrComplexTensor,
    host = "std::tanh(v)", math = "tanh">;

def DTensor_LogisticOp : DTensor_UnaryOp<"logistic", 22, "`1 / (1 + exp(-x))`",
    "The logistic function, also called sigmoid.",
    DTensor_FloatOrComplexTensor,
    host = "1 / (1 + std::exp(-v))">;

def DTensor_SineOp : DTensor_UnaryOp<"sine", 35, "The sine of x in radians",
    "The sine of x in radians.",
    DTensor_FloatOrComplexTensor,
    host = "std::sin(v)", math = "sin">;

def DTensor_CosineOp : DTensor_UnaryOp<"cosine", 35, "The cosine of x in radians",
    "The cosine of x in radians.",
    DTensor_FloatOrComplexTensor,
    host = "std::cos(v)", math = "cos">;

def DTensor_TanOp : DTensor_UnaryOp<"tan", 45, "The tangent of x in radians",
    "The tangent of x in radians.",
    DTensor_FloatOrComplexTensor,
    host = "std::tan(v)", math = "tan">;

def DTensor_ErfOp : DTensor_UnaryOp<"erf", 20, "The Gauss error function",
    "The Gauss error function.",
    host = "std::erf(v)", math = "erf", target = "chlo.erf">;

def DTensor_FloorOp : DTensor_UnaryOp<"floor", 1, "The largest integer not above x",
    "The largest integer not above x.",
    host = "std::floor(v)", math = "floor">;

def DTensor_CeilOp : DTensor_UnaryOp<"ceil", 1, "The smallest integer not below x",
    "The smallest integer not below x.",
    host = "std::ceil(v)", math = "ceil">;

def DTensor_RoundOp : DTensor_UnaryOp<"round", 1, "The nearest integer, halves to even",
    "Rounds to the nearest integer; halfway cases go to the even one "
    "(StableHLO: `round_nearest_even`).",
    host = "std::nearbyint(v)", math = "roundeven", target = "round_nearest_even">;

def DTensor_RoundNearestAfzOp : DTensor_UnaryOp<"round_nearest_afz", 2,
    "The nearest integer, halves away from zero",
    "Rounds to the nearest integer; halfway cases go to the one that is further "
    "from zero.",
    host = "std::round(v)", math = "round">;

def DTensor_PopcntOp : DTensor_UnaryOp<"popcnt", 2, "How many bits are set",
    "The number of bits that are 1.", DTensor_IntTensor, math = "ctpop">;

def DTensor_CountLeadingZerosOp : DTensor_UnaryOp<"count_leading_zeros", 2,
    "How many bits are 0 from the top",
    "The number of zero bits above the highest bit that is 1; the type's width "
    "for 0.", DTensor_IntTensor, math = "ctlz">;

def DTensor_NotOp : DTensor_UnaryOp<"not", 1, "Bitwise complement",
    "The complement of each bit; of i1, the logical one.",
    DTensor_IntOrBoolTensor>;

def DTensor_IsFiniteOp
    : DTensor_ElementwiseOp<"is_finite", 2, [DTensor_Elementwise]> {
  let rule = "... -> ...";
  let summary = "Whether x is neither infinite nor nan";
  let description = [{
    Sharding rule: `... -> ...`; operands are never partial.

    Constraints:
    * (C1) The operand and the result have the same global shape.

    Example:
    ```mlir
    %r = dtensor.is_finite %x : (tensor<8x4xf32>) -> tensor<8x4xi1>
    ```
  }];
  let arguments = (ins DTensor_FloatTensor:$operand);
  let results = (outs DTensor_BoolTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand), [{
    build($_builder, $_state,
          undecided(operand.getType(), $_builder.getI1Type()), operand);
  }]>];
  let assemblyFormat = [{
    $operand attr-dict `:` functional-type($operand, $result)
  }];
  let hasFolder = 1;
}

def DTensor_ReducePrecisionOp
    : DTensor_ElementwiseOp<"reduce_precision", 8,
                            [DTensor_Elementwise, DTensor_SameElements]> {
  let rule = "... -> ...";
  let summary = "Rounds to a float format of fewer bits, and back";
  let description = [{
    What is left of x after rounding to nearest even to a float of
    `exponent_bits` and `mantissa_bits` (without the leading 1). What is too
    large for it becomes infinite, what is too small (denormal in it) a zero of
    x's sign; nan stays nan.

    Sharding rule: `... -> ...`; operands are never partial.

    Constraints:
    * (C1) The operand and the result have the same global shape.
    * (C2) The operand and the result have the same element type.
    * (C3) `exponent_bits` is at least 1, `mantissa_bits` at least 0.

    Example:
    ```mlir
    %r = dtensor.reduce_precision %x exponent 5 mantissa 10 : tensor<8x4xf32>
    ```
  }];
  let arguments = (ins DTensor_FloatTensor:$operand, I64Attr:$exponent_bits,
                       I64Attr:$mantissa_bits);
  let results = (outs DTensor_FloatTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand,
                                 "int64_t":$exponentBits,
                                 "int64_t":$mantissaBits), [{
    build($_builder, $_state, undecided(operand.getType()), operand,
          exponentBits, mantissaBits);
  }]>];
  let assemblyFormat = [{
    $operand `exponent` $exponent_bits `mantissa` $mantissa_bits attr-dict `:`
    custom<SameTypes>(type($operand), type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

/// A part of complex numbers.
class DTensor_PartOp<string mnemonic, string summaryText, string ofFloat>
    : DTensor_ElementwiseOp<mnemonic, 1, [DTensor_Elementwise]> {
  let rule = "... -> ...";
  let flow = "LinearJoint";
  let summary = summaryText;
  let description = "\n    " # summaryText # ofFloat # [{

    Sharding rule: `... -> ...`; a pending sum passes.

    Constraints:
    * (C1) The operand and the result have the same global shape.
    * (C2) The result has the operand's element type; of complex<f32> and
      complex<f64>, f32 and f64.

    Example:
    ```mlir
    %r = dtensor.}] # mnemonic # [{ %z : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins DTensor_FloatOrComplexTensor:$operand);
  let results = (outs DTensor_FloatTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand), [{
    build($_builder, $_state,
          undecided(operand.getType(), partTypeOf(operand.getType())), operand);
  }]>];
  let assemblyFormat = [{
    $operand attr-dict `:` functional-type($operand, $result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def DTensor_RealOp : DTensor_PartOp<"real", "The real part",
    ", which of a float is the float itself.">;
def DTensor_ImagOp : DTensor_PartOp<"imag", "The imaginary part",
    ", which of a float is 0.">;

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

/// Operands and result have the same shape and element type; there is no
/// implicit broadcasting.
class DTensor_BinaryOp<string mnemonic, int elementFlops, string summaryText,
                       string details, Type type = DTensor_NumberTensor,
                       string partialFlow = "None", string pendingKind = "Sum",
                       list<Trait> traits = [],
                       string pending = flowText<partialFlow, !tolower(pendingKind)>.text>
    : DTensor_ElementwiseOp<mnemonic, elementFlops,
                            !listconcat([DTensor_Elementwise, DTensor_SameElements], traits)> {
  let rule = "..., ... -> ...";
  let flow = partialFlow;
  let kind = pendingKind;
  let summary = summaryText;
  let description = "\n    " # details # [{

    Sharding rule: `..., ... -> ...`}]
      # pending # [{

    Constraints:
    * (C1) The operands and the result have the same global shape.
    * (C2) The operands and the result have the same element type.

    Example:
    ```mlir
    %r = dtensor.}] # mnemonic # [{ %a, %b : tensor<8x4x}]
      # !if(!eq(type, DTensor_IntOrBoolTensor), "i32", "f32") # [{>
    ```
  }];
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs), [{
    build($_builder, $_state, undecided(lhs.getType()), lhs, rhs);
  }]>];
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:`
    custom<SameTypes>(type($lhs), type($rhs), type($result))
  }];
  let hasFolder = 1;
}

def DTensor_AddOp : DTensor_BinaryOp<"add", 1, "`a + b`",
    "The sum. Integers wrap around; of i1 it is the or.",
    DTensor_Tensor, "LinearJoint", "Sum", [Commutative]>;

def DTensor_SubtractOp : DTensor_BinaryOp<"subtract", 1, "`a - b`",
    "The difference. Integers wrap around.",
    DTensor_NumberTensor, "LinearJoint">;

def DTensor_MultiplyOp : DTensor_BinaryOp<"multiply", 1, "`a * b`",
    "The product. Integers wrap around; of i1 it is the and.",
    DTensor_Tensor, "LinearEach", "Sum", [Commutative]>;

def DTensor_DivideOp : DTensor_BinaryOp<"divide", 6, "`a / b`",
    "The quotient; of integers, rounded towards zero. An integer divided by "
    "zero gives all bits set; the smallest signed integer divided by -1 stays "
    "as it is.",
    DTensor_NumberTensor, "None", "Sum", [],
    "; a pending sum of floats or complex numbers passes from the numerator."> {
  // C++ says it: rounding makes integer division not linear.
  let rule = "";
}

def DTensor_RemainderOp : DTensor_BinaryOp<"remainder", 20, "What a / b leaves",
    "The remainder of the division rounded towards zero, with the sign of a "
    "(C's fmod). An integer's remainder by zero is a.",
    DTensor_RealTensor>;

def DTensor_PowerOp : DTensor_BinaryOp<"power", 60, "a to the power of b",
    "a to the power of b, as C's pow. Integers: by repeated multiplication "
    "that wraps around; a negative exponent gives 1 for a = 1, 1 or -1 for a "
    "= -1, else 0.">;

def DTensor_Atan2Op : DTensor_BinaryOp<"atan2", 30, "The angle of the point (b, a)",
    "The angle in [-pi, pi] between the first axis and the point (b, a), as C's "
    "atan2: that of `a / b` in the quadrant of the signs.",
    DTensor_FloatTensor>;

def DTensor_MaximumOp : DTensor_BinaryOp<"maximum", 1, "The larger of a and b",
    "The larger one; nan if either is nan, and -0.0 is below 0.0. Of i1 it is "
    "the or.",
    DTensor_RealOrBoolTensor, "LinearJoint", "Max", [Commutative]>;

def DTensor_MinimumOp : DTensor_BinaryOp<"minimum", 1, "The smaller of a and b",
    "The smaller one; nan if either is nan, and -0.0 is below 0.0. Of i1 it is "
    "the and.",
    DTensor_RealOrBoolTensor, "LinearJoint", "Min", [Commutative]>;

def DTensor_AndOp : DTensor_BinaryOp<"and", 1, "Bitwise and", "The and of each bit.",
    DTensor_IntOrBoolTensor, "LinearJoint", "And", [Commutative]>;

def DTensor_OrOp : DTensor_BinaryOp<"or", 1, "Bitwise or", "The or of each bit.",
    DTensor_IntOrBoolTensor, "LinearJoint", "Or", [Commutative]>;

def DTensor_XorOp : DTensor_BinaryOp<"xor", 1, "Bitwise exclusive or",
    "The exclusive or of each bit.", DTensor_IntOrBoolTensor, "None", "Sum",
    [Commutative]>;

def DTensor_ShiftLeftOp : DTensor_BinaryOp<"shift_left", 3, "`a << b`",
    "The bits of a moved up by b, zeros behind them. b is taken as unsigned; 0 "
    "where it is the width or more.",
    DTensor_IntTensor>;

def DTensor_ShiftRightArithmeticOp
    : DTensor_BinaryOp<"shift_right_arithmetic", 2, "`a >> b`, copying the top bit",
    "The bits of a moved down by b, copies of the top bit behind them, of "
    "unsigned types too. b is taken as unsigned; only the copies are left where "
    "it is the width or more.",
    DTensor_IntTensor>;

def DTensor_ShiftRightLogicalOp
    : DTensor_BinaryOp<"shift_right_logical", 3, "`a >> b`, zeros from the top",
    "The bits of a moved down by b, zeros behind them. b is taken as unsigned; 0 "
    "where it is the width or more.",
    DTensor_IntTensor>;

def DTensor_ComplexOp
    : DTensor_ElementwiseOp<"complex", 1, [DTensor_Elementwise]> {
  let rule = "..., ... -> ...";
  let flow = "LinearJoint";
  let summary = "Complex numbers from their parts";
  let description = [{
    Complex numbers from their real and imaginary parts.

    Sharding rule: `..., ... -> ...`; a pending sum passes where both parts
    carry it.

    Constraints:
    * (C1) The operands and the result have the same global shape.
    * (C2) The operands have the element type of the result's parts.

    Example:
    ```mlir
    %z = dtensor.complex %re, %im : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xcomplex<f32>>
    ```
  }];
  let arguments = (ins DTensor_PartTensor:$lhs, DTensor_PartTensor:$rhs);
  let results = (outs DTensor_ComplexTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs), [{
    build($_builder, $_state,
          undecided(lhs.getType(),
                    ::mlir::ComplexType::get(elementTypeOf(lhs.getType()))),
          lhs, rhs);
  }]>];
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` functional-type(operands, $result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

def DTensor_CompareOp
    : DTensor_ElementwiseOp<"compare", 1, [DTensor_Elementwise]> {
  let rule = "..., ... -> ...";
  let summary = "Whether a and b compare as asked";
  let description = [{
    Compares elements: EQ, NE, LT, LE, GT or GE. With a nan, NE is true and all
    others are false. i1: false is below true. Complex numbers are only EQ (both
    parts are) or NE.

    Sharding rule: `..., ... -> ...`; operands are never partial.

    Constraints:
    * (C1) The operands and the result have the same global shape.
    * (C2) The operands have the same element type.
    * (C3) Complex numbers are compared by EQ or NE.

    Example:
    ```mlir
    %r = dtensor.compare LT, %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    ```
  }];
  let arguments = (ins DTensor_ComparisonDirectionAttr:$direction,
                       DTensor_Tensor:$lhs, DTensor_Tensor:$rhs);
  let results = (outs DTensor_BoolTensor:$result);
  let builders = [OpBuilder<(ins
      "::meshloom::dtensor::ComparisonDirection":$direction,
      "::mlir::Value":$lhs, "::mlir::Value":$rhs), [{
    build($_builder, $_state,
          undecided(lhs.getType(), $_builder.getI1Type()), direction, lhs, rhs);
  }]>];
  let assemblyFormat = [{
    custom<EnumKeyword>($direction) `,` $lhs `,` $rhs attr-dict `:`
    functional-type(operands, $result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def DTensor_SelectOp : DTensor_ElementwiseOp<"select", 1> {
  let summary = "`pred ? on_true : on_false`";
  let description = [{
    Takes each element from `on_true` where `pred` is true, else from
    `on_false`. A scalar `pred` decides for all elements.

    Sharding rule: `..., ..., ... -> ...`, or `[], ..., ... -> ...` for a scalar
    `pred`; any pending reduction passes where both values carry it.

    Constraints:
    * (C1) `on_true`, `on_false` and the result have the same global shape.
    * (C2) `on_true`, `on_false` and the result have the same element type.
    * (C3) `pred` is a scalar or has the same global shape as the result.

    Example:
    ```mlir
    %r = dtensor.select %p, %a, %b : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins DTensor_BoolTensor:$pred, DTensor_Tensor:$on_true,
                       DTensor_Tensor:$on_false);
  let results = (outs DTensor_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$pred, "::mlir::Value":$onTrue,
                                 "::mlir::Value":$onFalse), [{
    build($_builder, $_state, undecided(onTrue.getType()), pred, onTrue,
          onFalse);
  }]>];
  let assemblyFormat = [{
    operands attr-dict `:` functional-type(operands, $result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def DTensor_ClampOp : DTensor_ElementwiseOp<"clamp", 2> {
  let summary = "`minimum(maximum(operand, min), max)`";
  let description = [{
    Limits the operand to what `min` and `max` say. nan stays nan. Where `min`
    is above `max`, the result is `max`.

    Sharding rule: `..., ..., ... -> ...`, with `[]` for scalar limits; operands are
    never partial.

    Constraints:
    * (C1) The operand and the result have the same global shape.
    * (C2) All operands and the result have the same element type.
    * (C3) `min` and `max` are each a scalar or of the operand's global shape.

    Example:
    ```mlir
    %r = dtensor.clamp %lo, %x, %hi : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins DTensor_RealTensor:$min, DTensor_RealTensor:$operand,
                       DTensor_RealTensor:$max);
  let results = (outs DTensor_RealTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$min, "::mlir::Value":$operand,
                                 "::mlir::Value":$max), [{
    build($_builder, $_state, undecided(operand.getType()), min, operand, max);
  }]>];
  let assemblyFormat = [{
    operands attr-dict `:` functional-type(operands, $result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def DTensor_ConvertOp
    : DTensor_ElementwiseOp<"convert", 1, [DTensor_Elementwise]> {
  let summary = "Converts to another element type";
  let description = [{
    Float to float rounds to nearest even. Integer to float rounds to nearest
    even. Float to integer rounds towards zero; what does not fit becomes the
    nearest representable integer, nan becomes 0. Integer to integer drops the
    upper bits or extends by the operand's signedness. To i1: whether x is not
    0. i1 counts as 0 or 1. A complex number's parts are converted one by one;
    converted to another type it loses its imaginary part, and what becomes a
    complex number has the imaginary part 0.

    Sharding rule: `... -> ...`; a pending sum passes through a widening of floats
    or complex numbers.

    Constraints:
    * (C1) The operand and the result have the same global shape.

    Example:
    ```mlir
    %r = dtensor.convert %x : (tensor<4xi32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins DTensor_Tensor:$operand);
  let results = (outs DTensor_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand,
                                 "::mlir::Type":$elementType), [{
    build($_builder, $_state, undecided(operand.getType(), elementType),
          operand);
  }]>];
  let assemblyFormat = [{
    $operand attr-dict `:` functional-type($operand, $result)
  }];
  let hasFolder = 1;
}

def DTensor_BitcastConvertOp : DTensor_ElementwiseOp<"bitcast_convert", 1> {
  let summary = "The same bits as another element type";
  let description = [{
    Reads the bits of elements as elements of another type. Where that is `k`
    times narrower, the result has one more dim at the end, of extent `k`; where
    it is `k` times wider, the operand's last dim has the extent `k` and is
    gone. The first of the `k` holds the lowest bits; a complex number's are
    those of its real part, then those of its imaginary part.

    Sharding rule: `... -> ...`, `... -> ... k!` or `... k! -> ...`; operands are
    never partial.

    Constraints:
    * (C1) Neither type is i1, and the wider one is a whole multiple of the
      other, as all are.
    * (C2) The result's global shape is the operand's, with the dim of extent
      `k` that the widths ask for added or gone.

    Example:
    ```mlir
    %r = dtensor.bitcast_convert %x : (tensor<4xf32>) -> tensor<4xui32>
    %b = dtensor.bitcast_convert %x : (tensor<4xf32>) -> tensor<4x4xui8>
    ```
  }];
  let arguments = (ins DTensor_Tensor:$operand);
  let results = (outs DTensor_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand,
                                 "::mlir::Type":$elementType)>];
  let assemblyFormat = [{
    $operand attr-dict `:` functional-type($operand, $result)
  }];
  let extraClassDeclaration = [{
    /// Between real types of one width.
    bool isPerElement();
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

#endif // MESHLOOM_DIALECT_DTENSOR_ELEMENTWISE_OPS
