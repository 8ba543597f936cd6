// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CHLOOps.td - Ops of the chlo dialect -------------------------------===//
//
// Special functions, top_k and the other ops that JAX leaves to its compiler to
// lower, and the binary ops that broadcast implicitly.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_CHLO_OPS
#define MESHLOOM_DIALECT_CHLO_OPS

include "meshloom/Dialect/StableHLO/StableHLOAttrs.td"

class CHLO_Op<string mnemonic, list<Trait> traits = []>
    : Op<CHLO_Dialect, mnemonic, traits>;

/// An op whose operands and result have one type (C1).
class CHLO_SameTypeOp<string mnemonic> : CHLO_Op<mnemonic> {
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verify() {
      return ::meshloom::verifySameTypes(*this, "C1");
    }
  }];
}

class CHLO_UnaryOp<string mnemonic, Type type = StableHLO_FloatOrComplexTensor>
    : CHLO_SameTypeOp<mnemonic> {
  let arguments = (ins type:$operand);
  let assemblyFormat = [{
    $operand attr-dict `:` type($operand) `->` type($result)
  }];
}

/// Tests for each float whether it is of a kind.
class CHLO_TestOp<string mnemonic> : CHLO_Op<mnemonic> {
  let arguments = (ins StableHLO_FloatTensor:$operand);
  let results = (outs StableHLO_BoolTensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` type($operand) `->` type($result)
  }];
  let hasVerifier = 1;
}

class CHLO_BinaryOp<string mnemonic, string first, string second,
                    Type type = StableHLO_FloatTensor>
    : CHLO_SameTypeOp<mnemonic> {
  let arguments = !dag(ins, [type, type], [first, second]);
  let assemblyFormat = "$" # first # " `,` $" # second
      # " attr-dict `:` type($" # first # ") `,` type($" # second
      # ") `->` type($result)";
}

/// The operands are broadcast to one shape: numpy's rules, or those of
/// `broadcast_dimensions`.
class CHLO_BroadcastOp<string mnemonic> : CHLO_Op<mnemonic> {
  let arguments = (ins
    StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs,
    OptionalAttr<DenseI64ArrayAttr>:$broadcast_dimensions);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict
    `:` `(` type($lhs) `,` type($rhs) `)` `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verify() {
      return ::meshloom::verifyBroadcast(*this, getBroadcastDimensions());
    }
  }];
}

def CHLO_AcosOp : CHLO_UnaryOp<"acos">;
def CHLO_AcoshOp : CHLO_UnaryOp<"acosh">;
def CHLO_AsinAcosKernelOp : CHLO_UnaryOp<"_asin_acos_kernel">;
def CHLO_AsinOp : CHLO_UnaryOp<"asin">;
def CHLO_AsinhOp : CHLO_UnaryOp<"asinh">;
def CHLO_AtanOp : CHLO_UnaryOp<"atan">;
def CHLO_AtanhOp : CHLO_UnaryOp<"atanh">;
def CHLO_BesselI1eOp : CHLO_UnaryOp<"bessel_i1e", StableHLO_FloatTensor>;
def CHLO_ConjOp : CHLO_UnaryOp<"conj", StableHLO_Tensor>;
def CHLO_CoshOp : CHLO_UnaryOp<"cosh">;
def CHLO_DigammaOp : CHLO_UnaryOp<"digamma", StableHLO_FloatTensor>;
def CHLO_ErfOp : CHLO_UnaryOp<"erf", StableHLO_FloatTensor>;
def CHLO_ErfInvOp : CHLO_UnaryOp<"erf_inv", StableHLO_FloatTensor>;
def CHLO_ErfcOp : CHLO_UnaryOp<"erfc", StableHLO_FloatTensor>;
def CHLO_IsInfOp : CHLO_TestOp<"is_inf">;
def CHLO_IsNegInfOp : CHLO_TestOp<"is_neg_inf">;
def CHLO_IsPosInfOp : CHLO_TestOp<"is_pos_inf">;
def CHLO_LgammaOp : CHLO_UnaryOp<"lgamma", StableHLO_FloatTensor>;
def CHLO_SinhOp : CHLO_UnaryOp<"sinh">;
def CHLO_SquareOp : CHLO_UnaryOp<"square", StableHLO_Tensor>;
def CHLO_TanOp : CHLO_UnaryOp<"tan">;

def CHLO_NextAfterOp : CHLO_BinaryOp<"next_after", "x", "y">;
def CHLO_PolygammaOp : CHLO_BinaryOp<"polygamma", "n", "x">;
def CHLO_ZetaOp : CHLO_BinaryOp<"zeta", "x", "q">;
def CHLO_MulhiOp
    : CHLO_BinaryOp<"mulhi", "lhs", "rhs", StableHLO_IntegerTensor>;

def CHLO_BroadcastAddOp : CHLO_BroadcastOp<"broadcast_add">;
def CHLO_BroadcastAndOp : CHLO_BroadcastOp<"broadcast_and">;
def CHLO_BroadcastAtan2Op : CHLO_BroadcastOp<"broadcast_atan2">;
def CHLO_BroadcastComplexOp : CHLO_BroadcastOp<"broadcast_complex">;
def CHLO_BroadcastDivOp : CHLO_BroadcastOp<"broadcast_divide">;
def CHLO_BroadcastMaxOp : CHLO_BroadcastOp<"broadcast_maximum">;
def CHLO_BroadcastMinOp : CHLO_BroadcastOp<"broadcast_minimum">;
def CHLO_BroadcastMulOp : CHLO_BroadcastOp<"broadcast_multiply">;
def CHLO_BroadcastNextAfterOp : CHLO_BroadcastOp<"broadcast_next_after">;
def CHLO_BroadcastOrOp : CHLO_BroadcastOp<"broadcast_or">;
def CHLO_BroadcastPolygammaOp : CHLO_BroadcastOp<"broadcast_polygamma">;
def CHLO_BroadcastPowOp : CHLO_BroadcastOp<"broadcast_power">;
def CHLO_BroadcastRemOp : CHLO_BroadcastOp<"broadcast_remainder">;
def CHLO_BroadcastShiftLeftOp : CHLO_BroadcastOp<"broadcast_shift_left">;
def CHLO_BroadcastShiftRightArithmeticOp
    : CHLO_BroadcastOp<"broadcast_shift_right_arithmetic">;
def CHLO_BroadcastShiftRightLogicalOp
    : CHLO_BroadcastOp<"broadcast_shift_right_logical">;
def CHLO_BroadcastSubOp : CHLO_BroadcastOp<"broadcast_subtract">;
def CHLO_BroadcastXorOp : CHLO_BroadcastOp<"broadcast_xor">;
def CHLO_BroadcastZetaOp : CHLO_BroadcastOp<"broadcast_zeta">;

def CHLO_BroadcastCompareOp : CHLO_Op<"broadcast_compare"> {
  let arguments = (ins
    StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs,
    OptionalAttr<DenseI64ArrayAttr>:$broadcast_dimensions,
    CHLO_ComparisonDirectionAttr:$comparison_direction,
    OptionalAttr<CHLO_ComparisonTypeAttr>:$compare_type);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict
    `:` `(` type($lhs) `,` type($rhs) `)` `->` type($result)
  }];
  let hasVerifier = 1;
}

def CHLO_BroadcastSelectOp : CHLO_Op<"broadcast_select"> {
  let arguments = (ins StableHLO_Tensor:$pred, StableHLO_Tensor:$on_true,
                       StableHLO_Tensor:$on_false);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $pred `,` $on_true `,` $on_false attr-dict `:` `(` type($pred) `,`
    type($on_true) `,` type($on_false) `)` `->` type($result)
  }];
  let hasVerifier = 1;
}

def CHLO_ConstantOp : CHLO_Op<"constant"> {
  let arguments = (ins ElementsAttr:$value);
  let results = (outs StableHLO_Tensor:$output);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def CHLO_ConstantLikeOp : CHLO_Op<"constant_like"> {
  let arguments = (ins TypedAttrInterface:$value, StableHLO_Tensor:$operand);
  let results = (outs StableHLO_Tensor:$output);
  let hasVerifier = 1;
}

def CHLO_RaggedDotOp : CHLO_Op<"ragged_dot"> {
  let arguments = (ins
    StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs, StableHLO_Tensor:$group_sizes,
    CHLO_RaggedDotDimensionNumbersAttr:$ragged_dot_dimension_numbers,
    OptionalAttr<ArrayAttr>:$precision_config);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
}

def CHLO_TopKOp : CHLO_Op<"top_k"> {
  let summary = "The k largest elements along the last dim, and where they are";
  let arguments = (ins StableHLO_Tensor:$operand, I64Attr:$k,
                       OptionalAttr<BoolAttr>:$is_stable);
  let results = (outs StableHLO_Tensor:$values, StableHLO_Tensor:$indices);
  let assemblyFormat = [{
    `(` $operand `,` `k` `=` $k (`,` `is_stable` `=` $is_stable^)? `)` attr-dict
    `:` type($operand) `->` `(` type($values) `,` type($indices) `)`
  }];
  let hasVerifier = 1;
}

def CHLO_ScanOp : CHLO_Op<"scan", [AttrSizedOperandSegments,
                                   AttrSizedResultSegments]> {
  let summary = "Runs a body along a dim, carrying values from step to step";
  let arguments = (ins
    Variadic<StableHLO_Tensor>:$inputs, Variadic<StableHLO_Tensor>:$inits,
    I64Attr:$dimension, OptionalAttr<I64Attr>:$scan_dim_size,
    OptionalAttr<BoolAttr>:$is_reverse, OptionalAttr<BoolAttr>:$is_associative);
  let results = (outs Variadic<StableHLO_Tensor>:$outputs,
                      Variadic<StableHLO_Tensor>:$carries);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // MESHLOOM_DIALECT_CHLO_OPS
