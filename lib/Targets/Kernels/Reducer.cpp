// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reducers of spmd.kernel on scalars.
#include "meshloom/Targets/Kernels/Reducer.h"

#include "mlir/Dialect/Complex/IR/Complex.h"

#include <limits>

using namespace meshloom;
using spmd::Reducer;
namespace arith = mlir::arith;

namespace {
Value constant(OpBuilder &b, Location loc, Type type, double value) {
  return b.create<arith::ConstantOp>(loc, b.getFloatAttr(type, value));
}
Value constant(OpBuilder &b, Location loc, Type type, llvm::APInt value) {
  return b.create<arith::ConstantOp>(loc, b.getIntegerAttr(type, value));
}

/// Products of f32 are multiplied in f64: in f32 those of some of the factors
/// may be infinite where that of all is not, and times 0 they are nan.
Type stateOf(Reducer kind, Type yielded) {
  return kind == Reducer::Prod && yielded.isF32()
             ? FloatType::getF64(yielded.getContext())
             : yielded;
}

/// A float as one of `type`, by way of f32 where one of f64 becomes narrower.
Value toType(OpBuilder &b, Location loc, Value value, Type type) {
  if (value.getType().isF64() && type.getIntOrFloatBitWidth() < 32)
    value = b.create<arith::TruncFOp>(loc, b.getF32Type(), value);
  const unsigned from = value.getType().getIntOrFloatBitWidth(),
                 to = type.getIntOrFloatBitWidth();
  if (from < to)
    return b.create<arith::ExtFOp>(loc, type, value);
  if (from > to)
    return b.create<arith::TruncFOp>(loc, type, value);
  return value;
}

/// sum, prod, min, max, and, or: one scalar.
class Combiner : public ScalarReducer {
public:
  Combiner(Reducer kind, Type state, Type stored, bool isUnsigned,
           arith::FastMathFlags order)
      : kind(kind), state(state), stored(stored), isUnsigned(isUnsigned),
        order(order) {}

  SmallVector<Type> stateTypes() const override { return {state}; }
  bool isFloatSum() const override {
    return kind == Reducer::Sum && isa<FloatType>(state);
  }

  SmallVector<Value> identity(OpBuilder &b, Location loc,
                              ArrayRef<Value>) const override {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (isa<FloatType>(state)) {
      double value = kind == Reducer::Sum    ? 0.0
                     : kind == Reducer::Prod ? 1.0
                     : kind == Reducer::Min  ? infinity
                                             : -infinity;
      return {constant(b, loc, state, value)};
    }
    unsigned width = state.getIntOrFloatBitWidth();
    using llvm::APInt;
    APInt value(width, 0);
    if (kind == Reducer::Prod)
      value = APInt(width, 1);
    else if (kind == Reducer::And)
      value = APInt::getAllOnes(width);
    else if (kind == Reducer::Min)
      value = isUnsigned ? APInt::getMaxValue(width)
                         : APInt::getSignedMaxValue(width);
    else if (kind == Reducer::Max && !isUnsigned)
      value = APInt::getSignedMinValue(width);
    return {constant(b, loc, state, value)};
  }

  SmallVector<Value> combine(OpBuilder &b, Location loc, ValueRange states,
                             Value value, Value) const override {
    if (isa<FloatType>(state))
      value = toType(b, loc, value, state);
    return merge(b, loc, states, value);
  }

  SmallVector<Value> merge(OpBuilder &b, Location loc, ValueRange states,
                           ValueRange other) const override {
    return {
        combineScalars(b, loc, kind, isUnsigned, states[0], other[0], order)};
  }

  Value result(OpBuilder &b, Location loc, ValueRange states) const override {
    return state == stored ? states[0] : toType(b, loc, states[0], stored);
  }

private:
  Reducer kind;
  Type state, stored;
  bool isUnsigned;
  arith::FastMathFlags order;
};

/// sum and prod of complex numbers: the parts.
class ComplexCombiner : public ScalarReducer {
public:
  ComplexCombiner(Reducer kind, Type part, Type stored,
                  arith::FastMathFlags order)
      : kind(kind), part(part), stored(stored), order(order) {}

  SmallVector<Type> stateTypes() const override { return {part, part}; }
  bool isFloatSum() const override { return kind == Reducer::Sum; }

  SmallVector<Value> identity(OpBuilder &b, Location loc,
                              ArrayRef<Value>) const override {
    return {constant(b, loc, part, kind == Reducer::Prod ? 1.0 : 0.0),
            constant(b, loc, part, 0.0)};
  }

  SmallVector<Value> combine(OpBuilder &b, Location loc, ValueRange state,
                             Value value, Value) const override {
    Value real =
        toType(b, loc, b.createOrFold<mlir::complex::ReOp>(loc, value), part);
    Value imaginary =
        toType(b, loc, b.createOrFold<mlir::complex::ImOp>(loc, value), part);
    return merge(b, loc, state, {real, imaginary});
  }

  SmallVector<Value> merge(OpBuilder &b, Location loc, ValueRange state,
                           ValueRange other) const override {
    const Value real = other[0], imaginary = other[1];
    auto add = [&](Value x, Value y) -> Value {
      return b.create<arith::AddFOp>(loc, x, y, order);
    };
    auto multiply = [&](Value x, Value y) -> Value {
      return b.create<arith::MulFOp>(loc, x, y);
    };
    if (kind == Reducer::Sum)
      return {add(state[0], real), add(state[1], imaginary)};
    Value square = multiply(state[1], imaginary);
    return {b.create<arith::SubFOp>(loc, multiply(state[0], real), square),
            add(multiply(state[0], imaginary), multiply(state[1], real))};
  }

  Value result(OpBuilder &b, Location loc, ValueRange state) const override {
    return b.create<mlir::complex::CreateOp>(
        loc, mlir::ComplexType::get(stored), toType(b, loc, state[0], stored),
        toType(b, loc, state[1], stored));
  }

private:
  Reducer kind;
  Type part, stored; ///< as states and in the result
  arith::FastMathFlags order;
};

/// argmax and argmin: the best value so far and its index. The first of equal
/// values wins, the first nan over all numbers.
class ArgCombiner : public ScalarReducer {
public:
  ArgCombiner(Reducer kind, Type value, Type stored, unsigned loop)
      : kind(kind), value(value), stored(stored), loop(loop) {}

  SmallVector<Type> stateTypes() const override {
    return {value, IntegerType::get(value.getContext(), 64)};
  }
  bool usesIndex() const override { return true; }

  SmallVector<Value> identity(OpBuilder &b, Location loc,
                              ArrayRef<Value> origins) const override {
    bool max = kind == Reducer::ArgMax;
    Value worst;
    if (isa<FloatType>(value)) {
      double infinity = std::numeric_limits<double>::infinity();
      worst = constant(b, loc, value, max ? -infinity : infinity);
    } else {
      worst = constant(b, loc, value,
                       max ? llvm::APInt::getSignedMinValue(64)
                           : llvm::APInt::getSignedMaxValue(64));
    }
    return {worst, origins[loop]};
  }

  SmallVector<Value> combine(OpBuilder &b, Location loc, ValueRange state,
                             Value next, Value index) const override {
    bool max = kind == Reducer::ArgMax;
    Value better;
    if (isa<FloatType>(value)) {
      Value beats = b.create<arith::CmpFOp>(
          loc, max ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT,
          next, state[0]);
      Value nan =
          b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::UNO, next, next);
      Value number = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::ORD,
                                             state[0], state[0]);
      Value firstNan = b.create<arith::AndIOp>(loc, nan, number);
      better = b.create<arith::OrIOp>(loc, beats, firstNan);
    } else {
      better = b.create<arith::CmpIOp>(
          loc, max ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt,
          next, state[0]);
    }
    return {b.create<arith::SelectOp>(loc, better, next, state[0]),
            b.create<arith::SelectOp>(loc, better, index, state[1])};
  }

  SmallVector<Value> merge(OpBuilder &b, Location loc, ValueRange state,
                           ValueRange other) const override {
    // Equal values, and two nans, give the one with the lower index.
    Value first = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt,
                                          other[1], state[1]);
    Value equal;
    if (isa<FloatType>(value)) {
      auto isNan = [&](Value x) -> Value {
        return b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::UNO, x, x);
      };
      equal = b.create<arith::OrIOp>(
          loc,
          b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OEQ, other[0],
                                  state[0]),
          b.create<arith::AndIOp>(loc, isNan(other[0]), isNan(state[0])));
    } else {
      equal = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, other[0],
                                      state[0]);
    }
    SmallVector<Value> best = combine(b, loc, state, other[0], other[1]);
    Value takes = b.create<arith::AndIOp>(loc, equal, first);
    return {b.create<arith::SelectOp>(loc, takes, other[0], best[0]),
            b.create<arith::SelectOp>(loc, takes, other[1], best[1])};
  }

  Value result(OpBuilder &b, Location loc, ValueRange state) const override {
    if (stored.isInteger(64))
      return state[1];
    return b.create<arith::TruncIOp>(loc, stored, state[1]);
  }

private:
  Reducer kind;
  Type value, stored;
  unsigned loop;
};
} // namespace

Value meshloom::combineScalars(OpBuilder &b, Location loc, Reducer kind,
                               bool isUnsigned, Value x, Value y,
                               arith::FastMathFlags order) {
  bool isFloat = isa<FloatType>(x.getType());
  // Which of two zeros is the larger one takes a processor four instructions.
  const auto extremum = order == arith::FastMathFlags::none
                            ? arith::FastMathFlags::none
                            : arith::FastMathFlags::nsz;
  switch (kind) {
  case Reducer::Sum:
    if (isFloat)
      return b.create<arith::AddFOp>(loc, x, y, order);
    return b.create<arith::AddIOp>(loc, x, y);
  case Reducer::Prod:
    if (isFloat)
      return b.create<arith::MulFOp>(loc, x, y, order);
    return b.create<arith::MulIOp>(loc, x, y);
  case Reducer::Min:
    if (isFloat)
      return b.create<arith::MinimumFOp>(loc, x, y, extremum);
    if (isUnsigned)
      return b.create<arith::MinUIOp>(loc, x, y);
    return b.create<arith::MinSIOp>(loc, x, y);
  case Reducer::Max:
    if (isFloat)
      return b.create<arith::MaximumFOp>(loc, x, y, extremum);
    if (isUnsigned)
      return b.create<arith::MaxUIOp>(loc, x, y);
    return b.create<arith::MaxSIOp>(loc, x, y);
  case Reducer::And:
    return b.create<arith::AndIOp>(loc, x, y);
  default:
    return b.create<arith::OrIOp>(loc, x, y);
  }
}

std::unique_ptr<ScalarReducer>
meshloom::makeReducer(spmd::KernelOp kernel, unsigned output, bool anyOrder) {
  // Where the order is free several accumulators may run side by side in vector
  // lanes.
  const auto order =
      anyOrder ? arith::FastMathFlags::reassoc : arith::FastMathFlags::none;
  Reducer kind = kernel.getReducer(output);
  if (kind == Reducer::None)
    return nullptr;
  Type element = cast<RankedTensorType>(kernel.getOutputs()[output].getType())
                     .getElementType();
  Type stored = spmd::KernelOp::scalarType(element);
  Type yielded =
      kernel.getBlock()->getTerminator()->getOperand(output).getType();
  if (kind == Reducer::ArgMax || kind == Reducer::ArgMin) {
    unsigned loop = llvm::find(kernel.getReductions(), true) -
                    kernel.getReductions().begin();
    return std::make_unique<ArgCombiner>(kind, yielded, stored, loop);
  }
  if (auto complex = dyn_cast<mlir::ComplexType>(stored))
    return std::make_unique<ComplexCombiner>(
        kind, stateOf(kind, complex.getElementType()), complex.getElementType(),
        order);
  return std::make_unique<Combiner>(kind, stateOf(kind, yielded), stored,
                                    element.isUnsignedInteger(), order);
}
