// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What gradient rules are written with: arithmetic on Values as short calls,
// and the gradients that flow into and out of one op.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"
#include "meshloom/Support/LLVM.h"

namespace meshloom {

/// Builds dtensor ops whose results have no layout yet, at one location.
class GradientBuilder {
public:
  GradientBuilder(OpBuilder &builder, Location location)
      : builder(builder), location(location) {}

  /// The tensor type of `value` without its layout.
  static RankedTensorType typeOf(Value value);
  /// `type`'s dims and element type without its layout.
  static RankedTensorType bare(RankedTensorType type);

  /// A tensor of `like`'s type full of `number`.
  Value constant(Value like, double number);
  Value zeros(RankedTensorType type);

  /// An elementwise op whose result has the type of the first operand.
  template <typename Op> Value make(Value first) {
    return builder.create<Op>(location, first);
  }
  template <typename Op> Value make(Value first, Value second) {
    return builder.create<Op>(location, first, second);
  }
  Value add(Value x, Value y) { return make<dtensor::AddOp>(x, y); }
  Value subtract(Value x, Value y) { return make<dtensor::SubtractOp>(x, y); }
  Value multiply(Value x, Value y) { return make<dtensor::MultiplyOp>(x, y); }
  Value divide(Value x, Value y) { return make<dtensor::DivideOp>(x, y); }
  Value negate(Value x) { return make<dtensor::NegateOp>(x); }
  Value multiply(Value x, double number) {
    return multiply(x, constant(x, number));
  }
  Value add(Value x, double number) { return add(x, constant(x, number)); }
  /// 1 / x.
  Value reciprocal(Value x) { return divide(constant(x, 1), x); }

  Value compare(dtensor::ComparisonDirection direction, Value x, Value y);
  Value select(Value predicate, Value onTrue, Value onFalse);
  /// `value` where `predicate` holds, else 0.
  Value keepIf(Value predicate, Value value) {
    return select(predicate, value, constant(value, 0));
  }
  Value convert(Value value, Type elementType);
  /// The complex conjugate; of floats the value itself.
  Value conjugate(Value value);

  /// Sum over `dims`, which are dropped. `value` itself where there are none.
  Value sum(Value value, ArrayRef<int64_t> dims);
  Value reduce(Value value, ArrayRef<int64_t> dims, ReduceKind kind);
  Value broadcast(Value value, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims);
  /// Inverse of dropping `dims`: repeats `value` along them, as `like`.
  Value repeat(Value value, Value like, ArrayRef<int64_t> dims);
  Value reshape(Value value, ArrayRef<int64_t> shape);
  Value transpose(Value value, ArrayRef<int64_t> permutation);
  Value slice(Value value, ArrayRef<int64_t> starts, ArrayRef<int64_t> limits);
  Value concatenate(ValueRange parts, int64_t dim);
  /// `value` with zeros around and between its elements, by dim.
  Value pad(Value value, ArrayRef<int64_t> low, ArrayRef<int64_t> high,
            ArrayRef<int64_t> interior);

  OpBuilder &builder;
  Location location;
};

/// The gradients around one op, as its rule sees them.
class OpGradient : public GradientBuilder {
public:
  /// `reaches(value, past)`: whether `value` takes gradients, and none of
  /// `past` is asked for.
  using Reaches = llvm::function_ref<bool(Value, ArrayRef<Value>)>;

  OpGradient(OpBuilder &builder, Operation *op, SmallVector<Value> results,
             SmallVector<bool> wanted, Reaches reaches)
      : GradientBuilder(builder, op->getLoc()), results(std::move(results)),
        wanted(std::move(wanted)), operands(op->getNumOperands()),
        reaches(reaches) {}

  /// The gradient of result `i`; null where nothing depends on it.
  Value of(unsigned i = 0) const { return results[i]; }
  /// Whether the gradient of operand `i` is used.
  bool wants(unsigned i) const { return wanted[i]; }
  void give(unsigned i, Value gradient) { operands[i] = gradient; }
  Value given(unsigned i) const { return operands[i]; }
  /// Gives to a value that the operands are computed from, instead of to the
  /// ones on the way, `past`; where that may be.
  void giveTo(Value value, Value gradient) { further = {value, gradient}; }
  bool mayGiveTo(Value value, ArrayRef<Value> past) const {
    return reaches(value, past);
  }
  std::pair<Value, Value> givenFurther() const { return further; }
  /// The op has no gradient as it stands, and why: "a product over ...".
  void refuse(std::string why) { reason = std::move(why); }
  const std::string &refusal() const { return reason; }
  /// Conjugates the gradients of the results before, or of the operands after,
  /// a rule that multiplies by f' as real functions do: for a holomorphic f it
  /// is the conjugate of f' that the gradient is multiplied by.
  void conjugateResults();
  void conjugateOperands();

private:
  SmallVector<Value> results;
  SmallVector<bool> wanted;
  SmallVector<Value> operands;
  std::pair<Value, Value> further;
  Reaches reaches;
  std::string reason;
};

} // namespace meshloom

#include "meshloom/Autodiff/DifferentiableOpInterface.h.inc"
