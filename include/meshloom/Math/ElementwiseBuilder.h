// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ElementwiseBuilder: makes elementwise dtensor ops and constants, for formulas
// that are written once and used by the importer and the user API.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom {

/// Builds elementwise ops whose results have no layout yet, at one location.
/// What an op's operands and results are to a formula may differ from what they
/// are in IR: the importer's values have dims more in the body of a manual
/// computation (LaneBuilder). All that is made goes through `emit`.
class ElementwiseBuilder : public OpBuilder {
public:
  ElementwiseBuilder(MLIRContext *context, Location location)
      : OpBuilder(context), here(location) {}
  virtual ~ElementwiseBuilder() = default;

  Location getLoc() const { return here; }
  void setLoc(Location loc) { here = loc; }

  /// What a formula sees of a value: shape and element type, no layout.
  virtual RankedTensorType typeOf(Value value) const;
  Type elementOf(Value value) const { return typeOf(value).getElementType(); }

  /// The result has the type `type`, by default the first operand's.
  template <typename OpTy>
  Value apply(ValueRange operands, RankedTensorType type = {},
              ArrayRef<NamedAttribute> attributes = {}) {
    return emit(OpTy::getOperationName(), operands,
                type ? type : typeOf(operands[0]), attributes);
  }
  Value apply(mlir::OperationName op, ValueRange operands,
              RankedTensorType type) {
    return emit(op.getStringRef(), operands, type, {});
  }
  NamedAttribute named(StringRef name, Attribute value) {
    return getNamedAttr(name, value);
  }
  Value compare(dtensor::ComparisonDirection direction, Value lhs, Value rhs);
  Value convert(Value value, Type elementType);
  /// Of the same width.
  Value bitcast(Value value, Type elementType);

  Value constant(mlir::ElementsAttr value);
  /// A splat; integers and floats of any type (complex: the real part).
  Value splat(RankedTensorType type, double value);
  Value splat(RankedTensorType type, const llvm::APInt &value);
  /// A splat of the type of `value`.
  Value like(Value value, double number) {
    return splat(typeOf(value), number);
  }

protected:
  /// Makes an elementwise op, or a constant.
  virtual Value emit(StringRef op, ValueRange operands, RankedTensorType type,
                     ArrayRef<NamedAttribute> attributes);

private:
  Location here;
};

} // namespace meshloom
