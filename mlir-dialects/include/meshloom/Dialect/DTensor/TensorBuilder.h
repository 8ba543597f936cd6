// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TensorBuilder: makes dtensor ops. Gradient rules, formulas, the importer, the
// rewrites of passes and the user API are written with it.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom::dtensor {

/// The dims of a tensor of `rank` dims that `dims` does not list.
SmallVector<int64_t> remainingDims(int64_t rank, ArrayRef<int64_t> dims);

/// Builds dtensor ops whose results have no layout yet, at one location.
///
/// The operands and results of an op may be different things in IR than to what
/// is written with a builder: values of the importer have more dims in the body
/// of a manual computation (lanes::LaneBuilder). So the methods go by `typeOf`,
/// and all ops that they make go through `emit`.
class TensorBuilder : public OpBuilder {
public:
  TensorBuilder(MLIRContext *context, Location location)
      : OpBuilder(context), here(location) {}
  /// Begins where `builder` is; neither moves the other.
  TensorBuilder(const OpBuilder &builder, Location location)
      : OpBuilder(builder), here(location) {}
  virtual ~TensorBuilder() = default;

  Location getLoc() const { return here; }
  void setLoc(Location loc) { here = loc; }

  //===--------------------------------------------------------------------===//
  // Types
  //===--------------------------------------------------------------------===//

  /// The shape and element type of a value, without its layout; of a variable
  /// those of its tensor.
  virtual RankedTensorType typeOf(Value value) const;
  Type elementOf(Value value) const { return typeOf(value).getElementType(); }
  SmallVector<int64_t> shapeOf(Value value) const {
    return SmallVector<int64_t>(typeOf(value).getShape());
  }
  int64_t rankOf(Value value) const { return typeOf(value).getRank(); }

  //===--------------------------------------------------------------------===//
  // Attributes
  //===--------------------------------------------------------------------===//

  NamedAttribute named(StringRef name, Attribute value) {
    return getNamedAttr(name, value);
  }
  NamedAttribute list(StringRef name, ArrayRef<int64_t> entries) {
    return named(name, getDenseI64ArrayAttr(entries));
  }
  NamedAttribute number(StringRef name, int64_t value) {
    return named(name, getI64IntegerAttr(value));
  }

  //===--------------------------------------------------------------------===//
  // Constants
  //===--------------------------------------------------------------------===//

  Value constant(mlir::ElementsAttr value);
  /// A splat; integers and floats of any type (complex: the real part).
  Value splat(RankedTensorType type, double value);
  Value splat(RankedTensorType type, const llvm::APInt &value);
  Value splat(RankedTensorType type, mlir::TypedAttr value);
  /// A splat of an integer.
  Value integers(ArrayRef<int64_t> shape, int64_t value, Type element);
  /// A splat of the type of `value`.
  Value like(Value value, double number) {
    return splat(typeOf(value), number);
  }
  Value zeros(RankedTensorType type) { return splat(type, 0.0); }
  /// Counts up from 0 along `dim`.
  Value iota(RankedTensorType type, int64_t dim);
  Value iota(ArrayRef<int64_t> shape, int64_t dim, Type element) {
    return iota(RankedTensorType::get(shape, element), dim);
  }

  //===--------------------------------------------------------------------===//
  // Elementwise ops
  //===--------------------------------------------------------------------===//

  /// The result has the type `type`. By default that is the first operand's,
  /// but for the parts of complex numbers and what is made of them.
  template <typename OpTy>
  Value apply(ValueRange operands, RankedTensorType type = {},
              ArrayRef<NamedAttribute> attributes = {}) {
    if (!type) {
      type = typeOf(operands[0]);
      type = type.clone(resultElement<OpTy>(type.getElementType()));
    }
    return emit(nameOf<OpTy>(), operands, type, attributes);
  }
  template <typename OpTy, std::convertible_to<Value>... Values>
  Value apply(Value first, Values... others) {
    return apply<OpTy>(ValueRange{first, Value(others)...});
  }
  Value apply(mlir::OperationName op, ValueRange operands,
              RankedTensorType type) {
    return emit(op, operands, type, {});
  }
  Value compare(ComparisonDirection direction, Value lhs, Value rhs);
  Value convert(Value value, Type elementType);
  /// The two types have the same width.
  Value bitcast(Value value, Type elementType);
  /// `predicate` may be a scalar.
  virtual Value select(Value predicate, Value onTrue, Value onFalse);
  /// `value` where `predicate` holds, else 0.
  Value keepIf(Value predicate, Value value) {
    return select(predicate, value, like(value, 0));
  }

  Value add(Value x, Value y) { return apply<AddOp>(x, y); }
  Value subtract(Value x, Value y) { return apply<SubtractOp>(x, y); }
  Value multiply(Value x, Value y) { return apply<MultiplyOp>(x, y); }
  Value divide(Value x, Value y) { return apply<DivideOp>(x, y); }
  Value negate(Value x) { return apply<NegateOp>(x); }
  Value multiply(Value x, double number) {
    return multiply(x, like(x, number));
  }
  Value add(Value x, double number) { return add(x, like(x, number)); }
  /// 1 / x.
  Value reciprocal(Value x) { return divide(like(x, 1), x); }
  /// The complex conjugate; of floats the value itself.
  Value conjugate(Value value);
  /// Combines two values of one shape.
  Value combine(ReduceKind kind, Value lhs, Value rhs);

  //===--------------------------------------------------------------------===//
  // Shapes
  //===--------------------------------------------------------------------===//

  /// Dim i of `value` is dim `dims[i]` of the result.
  Value broadcast(Value value, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims);
  /// A scalar as `shape`.
  Value broadcast(Value scalar, ArrayRef<int64_t> shape) {
    return broadcast(scalar, shape, {});
  }
  /// The inverse of dropping `dims`: repeats `value` along them, as `shape`, or
  /// `like`, has them.
  Value repeat(Value value, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
    return broadcast(value, shape, remainingDims(int64_t(shape.size()), dims));
  }
  Value repeat(Value value, Value like, ArrayRef<int64_t> dims) {
    return repeat(value, shapeOf(like), dims);
  }
  Value reshape(Value value, ArrayRef<int64_t> shape);
  Value transpose(Value value, ArrayRef<int64_t> permutation);
  /// Dim `from` moved to `to`, its place once it has gone.
  Value moveDim(Value value, int64_t from, int64_t to);
  /// `count` dims from `dim` on as one.
  Value mergeDims(Value value, int64_t dim, int64_t count = 2);
  /// Dim `dim` as several, major to minor.
  Value splitDim(Value value, int64_t dim, ArrayRef<int64_t> sizes);
  /// No strides: 1.
  Value slice(Value value, ArrayRef<int64_t> starts, ArrayRef<int64_t> limits,
              ArrayRef<int64_t> strides = {});
  /// Elements `from`, `from + stride`, ... below `to` of one dim.
  Value sliceDim(Value value, int64_t dim, int64_t from, int64_t to,
                 int64_t stride = 1);
  Value concatenate(ValueRange values, int64_t dim);
  Value take(Value value, int64_t dim, ArrayRef<int64_t> indices);
  /// `value` with zeros around and between its elements, by dim.
  Value pad(Value value, ArrayRef<int64_t> low, ArrayRef<int64_t> high,
            ArrayRef<int64_t> interior);
  /// Around and between its elements with `filler`, a scalar.
  Value padWith(Value filler, Value value, ArrayRef<int64_t> low,
                ArrayRef<int64_t> high, ArrayRef<int64_t> interior);
  /// `low` and `high` elements more along one dim; negative: fewer.
  Value padDim(Value filler, Value value, int64_t dim, int64_t low,
               int64_t high);
  /// Over `dims`, which are dropped. A sum or a maximum of booleans is an or,
  /// a product or a minimum of them an and.
  Value reduce(ReduceKind kind, Value value, ArrayRef<int64_t> dims);
  /// `value` itself where there are no `dims`.
  Value sum(Value value, ArrayRef<int64_t> dims) {
    return dims.empty() ? value : reduce(ReduceKind::Sum, value, dims);
  }

protected:
  template <typename OpTy> mlir::OperationName nameOf() {
    return mlir::OperationName(OpTy::getOperationName(), getContext());
  }
  /// Makes an op with one result. The last `scalars` operands are scalars that
  /// the op takes as such.
  virtual Value emit(mlir::OperationName op, ValueRange operands,
                     RankedTensorType type, ArrayRef<NamedAttribute> attributes,
                     unsigned scalars = 0);

private:
  /// The element type of an elementwise op's result, whose first operand has
  /// elements of type `element`.
  template <typename OpTy> static Type resultElement(Type element) {
    if constexpr (std::is_same_v<OpTy, ComplexOp>)
      return mlir::ComplexType::get(element);
    else if constexpr (std::is_same_v<OpTy, IsFiniteOp>)
      return mlir::IntegerType::get(element.getContext(), 1);
    else if constexpr (std::is_same_v<OpTy, AbsOp> ||
                       std::is_same_v<OpTy, RealOp> ||
                       std::is_same_v<OpTy, ImagOp>)
      if (auto complex = dyn_cast<mlir::ComplexType>(element))
        return complex.getElementType();
    return element;
  }

  Location here;
};

} // namespace meshloom::dtensor
