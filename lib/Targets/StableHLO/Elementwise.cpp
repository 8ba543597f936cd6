// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise ops: StableHLO's of the same meaning on each device's elements,
// under the name that they say it has.
#include "Exporter.h"

namespace meshloom::exporting {

Emitted emitElementwise(Exporter &e, Operation *op,
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
    auto symbol = stablehlo::symbolizeComparisonDirection(direction.upper());
    if (!symbol)
      return std::nullopt;
    return Values{e.compare(*symbol, values[0], values[1])};
  }
  if (auto reduce = dyn_cast<dtensor::ReducePrecisionOp>(op)) {
    attrs.push_back(e.attr(
        "exponent_bits",
        Attribute(e.b.getI32IntegerAttr(int32_t(reduce.getExponentBits())))));
    attrs.push_back(e.attr(
        "mantissa_bits",
        Attribute(e.b.getI32IntegerAttr(int32_t(reduce.getMantissaBits())))));
  }
  StringRef name = cast<dtensor::ElementwiseOpInterface>(op).getStableHLOName();
  return Values{e.one(name, result.type(), values, attrs)};
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
  handlers["dtensor.bitcast_convert"] = emitBitcast;
}

} // namespace meshloom::exporting
