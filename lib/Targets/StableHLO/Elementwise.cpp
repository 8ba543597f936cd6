// Elementwise ops: StableHLO's of the same meaning on each device's elements.
#include "Exporter.h"

namespace meshloom::exporting {

/// StableHLO's names where they are not dtensor's.
static StringRef targetName(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Case("exp", "exponential")
      .Case("expm1", "exponential_minus_one")
      .Case("log1p", "log_plus_one")
      .Case("round", "round_nearest_even")
      .Case("erf", "chlo.erf")
      .Default(name);
}

static Emitted emitElementwise(Exporter &e, Operation *op,
                               MutableArrayRef<Operand> operands,
                               ArrayRef<Held> results) {
  const Held &result = results.front();
  Values values;
  for (Operand &operand : operands) {
    // Scalars of select and clamp apply to all elements.
    if (operand.held.rank() == result.rank() && !e.fitAll(operand, result))
      return std::nullopt;
    values.push_back(operand.value);
  }
  SmallVector<NamedAttribute> attrs;
  if (auto compare = dyn_cast<dtensor::CompareOp>(op)) {
    StringRef direction = dtensor::stringifyEnum(compare.getDirection());
    auto known = stablehlo::symbolizeComparisonDirection(direction.upper());
    if (!known)
      return std::nullopt;
    return Values{e.compare(*known, values[0], values[1])};
  }
  if (auto reduce = dyn_cast<dtensor::ReducePrecisionOp>(op)) {
    attrs.push_back(e.attr(
        "exponent_bits",
        Attribute(e.b.getI32IntegerAttr(int32_t(reduce.getExponentBits())))));
    attrs.push_back(e.attr(
        "mantissa_bits",
        Attribute(e.b.getI32IntegerAttr(int32_t(reduce.getMantissaBits())))));
  }
  return Values{e.one(targetName(op->getName().stripDialect()), result.type(),
                      values, attrs)};
}

/// The first dims are as in the other type, the last one is whole.
static Emitted emitBitcast(Exporter &e, Operation *,
                           MutableArrayRef<Operand> operands,
                           ArrayRef<Held> results) {
  Operand &operand = operands[0];
  const Held &result = results[0];
  // StableHLO reads no bits of complex numbers.
  if (operand.held.element != result.element &&
      (isa<mlir::ComplexType>(operand.held.element) ||
       isa<mlir::ComplexType>(result.element)))
    return std::nullopt;
  unsigned rank = std::min(operand.held.rank(), result.rank());
  for (unsigned dim = 0; dim < rank; ++dim)
    if (!e.fit(operand, dim, result, dim))
      return std::nullopt;
  if ((operand.held.rank() > rank && !operand.held.isWhole(rank)) ||
      (result.rank() > rank && !result.isWhole(rank)))
    return std::nullopt;
  return Values{e.one("bitcast_convert", result.type(), operand.value)};
}

void addElementwise(Handlers &handlers) {
  for (StringRef name : {"abs",
                         "negate",
                         "sign",
                         "exp",
                         "expm1",
                         "log",
                         "log1p",
                         "sqrt",
                         "rsqrt",
                         "cbrt",
                         "tanh",
                         "logistic",
                         "sine",
                         "cosine",
                         "tan",
                         "erf",
                         "floor",
                         "ceil",
                         "round",
                         "round_nearest_afz",
                         "popcnt",
                         "count_leading_zeros",
                         "not",
                         "is_finite",
                         "reduce_precision",
                         "real",
                         "imag",
                         "add",
                         "subtract",
                         "multiply",
                         "divide",
                         "remainder",
                         "power",
                         "atan2",
                         "maximum",
                         "minimum",
                         "and",
                         "or",
                         "xor",
                         "shift_left",
                         "shift_right_arithmetic",
                         "shift_right_logical",
                         "complex",
                         "compare",
                         "select",
                         "clamp",
                         "convert"})
    handlers[("dtensor." + name).str()] = emitElementwise;
  handlers["dtensor.bitcast_convert"] = emitBitcast;
}

} // namespace meshloom::exporting
