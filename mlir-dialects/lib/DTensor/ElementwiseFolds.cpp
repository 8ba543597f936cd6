// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folders of the elementwise ops: constants that are the same everywhere, and
// identities that hold for every value, nan and -0.0 included. An operand
// replaces a result only where the types, layouts included, are the same.

#include "SplatMath.h"

#include <cmath>

namespace meshloom::dtensor {

using mlir::OpFoldResult;

/// `value` where it may stand for `result`, else nothing.
static OpFoldResult sameValue(Value value, Value result) {
  return value.getType() == result.getType() ? value : OpFoldResult();
}

/// Zero in the type of `result`, where a constant can have it.
static OpFoldResult zero(Value result) {
  return Splat::number(elementTypeOf(result.getType()), 0)
      .attribute(result.getType());
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

static OpFoldResult foldUnary(Value result, Attribute operand,
                              function_ref<Splat(const Splat &)> compute) {
  std::optional<Splat> x = Splat::get(operand);
  return x ? compute(*x).attribute(result.getType()) : OpFoldResult();
}

// Only floats are folded: the lowering's results for complex numbers are not
// known to agree with the host's functions at branch cuts and infinities.
OpFoldResult foldReal(Value result, Attribute operand,
                      function_ref<double(double)> function) {
  if (!isa<FloatType>(elementTypeOf(result.getType())))
    return {};
  return foldUnary(result, operand,
                   [&](const Splat &x) { return mapReal(x, function); });
}

OpFoldResult AbsOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getDefiningOp<AbsOp>())
    return sameValue(getOperand(), getResult());
  return foldUnary(getResult(), adaptor.getOperand(), absolute);
}

OpFoldResult NegateOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getOperand().getDefiningOp<NegateOp>())
    return sameValue(inner.getOperand(), getResult());
  return foldUnary(getResult(), adaptor.getOperand(), negated);
}

OpFoldResult SignOp::fold(FoldAdaptor adaptor) {
  return foldUnary(getResult(), adaptor.getOperand(), sign);
}

OpFoldResult NotOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getOperand().getDefiningOp<NotOp>())
    return sameValue(inner.getOperand(), getResult());
  return foldUnary(getResult(), adaptor.getOperand(), [](const Splat &x) {
    return Splat::of(cast<IntegerType>(x.type), ~llvm::APInt(x.integer));
  });
}

OpFoldResult PopcntOp::fold(FoldAdaptor adaptor) {
  return foldUnary(getResult(), adaptor.getOperand(), [](const Splat &x) {
    return Splat::number(x.type, x.integer.popcount());
  });
}

OpFoldResult CountLeadingZerosOp::fold(FoldAdaptor adaptor) {
  return foldUnary(getResult(), adaptor.getOperand(), [](const Splat &x) {
    return Splat::number(x.type, x.integer.countl_zero());
  });
}

OpFoldResult ReducePrecisionOp::fold(FoldAdaptor adaptor) {
  return foldUnary(getResult(), adaptor.getOperand(), [&](const Splat &x) {
    return reducePrecision(x, getExponentBits(), getMantissaBits());
  });
}

/// The real or imaginary part of a constant.
static Splat part(const Splat &x, bool imaginary) {
  if (auto complex = dyn_cast<mlir::ComplexType>(x.type))
    return Splat::of(cast<FloatType>(complex.getElementType()),
                     imaginary ? x.imaginary : x.real);
  return imaginary ? Splat::number(x.type, 0) : x;
}

OpFoldResult RealOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  if (auto complex = getOperand().getDefiningOp<ComplexOp>())
    if (OpFoldResult same = sameValue(complex.getLhs(), getResult()))
      return same;
  return foldUnary(getResult(), adaptor.getOperand(),
                   [](const Splat &x) { return part(x, false); });
}

OpFoldResult ImagOp::fold(FoldAdaptor adaptor) {
  if (isa<FloatType>(elementTypeOf(getOperand().getType())))
    return zero(getResult());
  if (auto complex = getOperand().getDefiningOp<ComplexOp>())
    if (OpFoldResult same = sameValue(complex.getRhs(), getResult()))
      return same;
  return foldUnary(getResult(), adaptor.getOperand(),
                   [](const Splat &x) { return part(x, true); });
}

OpFoldResult IsFiniteOp::fold(FoldAdaptor adaptor) {
  return foldUnary(getResult(), adaptor.getOperand(), [&](const Splat &x) {
    return Splat::ofBool(getContext(), x.real.isFinite());
  });
}

OpFoldResult ConvertOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  return foldUnary(getResult(), adaptor.getOperand(), [&](const Splat &x) {
    return convert(x, getType().getElementType());
  });
}

//===----------------------------------------------------------------------===//
// Binary. The folder of commutative ops puts a constant on the right first.
//===----------------------------------------------------------------------===//

static OpFoldResult foldBinary(Value result, Attribute lhs, Attribute rhs,
                               Splat (*compute)(const Splat &, const Splat &)) {
  std::optional<Splat> a = Splat::get(lhs), b = Splat::get(rhs);
  return a && b ? compute(*a, *b).attribute(result.getType()) : OpFoldResult();
}

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  // x + 0.0 is not x for x = -0.0, but x + -0.0 is.
  if (auto b = Splat::get(adaptor.getRhs()))
    if (b->isNegativeZero() || (b->isInteger() && b->isZero()))
      if (OpFoldResult same = sameValue(getLhs(), getResult()))
        return same;
  return foldBinary(getResult(), adaptor.getLhs(), adaptor.getRhs(), add);
}

OpFoldResult SubtractOp::fold(FoldAdaptor adaptor) {
  if (auto b = Splat::get(adaptor.getRhs()); b && b->isPositiveZero())
    if (OpFoldResult same = sameValue(getLhs(), getResult()))
      return same;
  if (getLhs() == getRhs() && isa<IntegerType>(getType().getElementType()))
    return zero(getResult());
  return foldBinary(getResult(), adaptor.getLhs(), adaptor.getRhs(), subtract);
}

OpFoldResult MultiplyOp::fold(FoldAdaptor adaptor) {
  if (auto b = Splat::get(adaptor.getRhs())) {
    if (b->isOne())
      if (OpFoldResult same = sameValue(getLhs(), getResult()))
        return same;
    if (b->isInteger() && b->isZero())
      return zero(getResult());
  }
  return foldBinary(getResult(), adaptor.getLhs(), adaptor.getRhs(), multiply);
}

OpFoldResult DivideOp::fold(FoldAdaptor adaptor) {
  if (auto b = Splat::get(adaptor.getRhs()); b && b->isOne())
    if (OpFoldResult same = sameValue(getLhs(), getResult()))
      return same;
  return foldBinary(getResult(), adaptor.getLhs(), adaptor.getRhs(), divide);
}

OpFoldResult RemainderOp::fold(FoldAdaptor adaptor) {
  return foldBinary(getResult(), adaptor.getLhs(), adaptor.getRhs(), remainder);
}

OpFoldResult PowerOp::fold(FoldAdaptor adaptor) {
  if (auto b = Splat::get(adaptor.getRhs()); b && b->isOne())
    if (OpFoldResult same = sameValue(getLhs(), getResult()))
      return same;
  return foldBinary(getResult(), adaptor.getLhs(), adaptor.getRhs(), power);
}

OpFoldResult MaximumOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs())
    return sameValue(getLhs(), getResult());
  return foldBinary(getResult(), adaptor.getLhs(), adaptor.getRhs(), maximum);
}

OpFoldResult MinimumOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs())
    return sameValue(getLhs(), getResult());
  return foldBinary(getResult(), adaptor.getLhs(), adaptor.getRhs(), minimum);
}

OpFoldResult Atan2Op::fold(FoldAdaptor adaptor) {
  return foldBinary(getResult(), adaptor.getLhs(), adaptor.getRhs(), atan2);
}

OpFoldResult ShiftLeftOp::fold(FoldAdaptor adaptor) {
  return foldBinary(getResult(), adaptor.getLhs(), adaptor.getRhs(), shiftLeft);
}

OpFoldResult ShiftRightArithmeticOp::fold(FoldAdaptor adaptor) {
  return foldBinary(getResult(), adaptor.getLhs(), adaptor.getRhs(),
                    shiftRightArithmetic);
}

OpFoldResult ShiftRightLogicalOp::fold(FoldAdaptor adaptor) {
  return foldBinary(getResult(), adaptor.getLhs(), adaptor.getRhs(),
                    shiftRightLogical);
}

OpFoldResult ComplexOp::fold(FoldAdaptor adaptor) {
  auto real = getLhs().getDefiningOp<RealOp>();
  auto imag = getRhs().getDefiningOp<ImagOp>();
  if (real && imag && real.getOperand() == imag.getOperand())
    if (OpFoldResult same = sameValue(real.getOperand(), getResult()))
      return same;
  std::optional<Splat> a = Splat::get(adaptor.getLhs()),
                       b = Splat::get(adaptor.getRhs());
  if (!a || !b)
    return {};
  auto type = cast<mlir::ComplexType>(getType().getElementType());
  return Splat::of(type, a->real, b->real).attribute(getType());
}

static Splat bits(const Splat &like, llvm::APInt value) {
  return Splat::of(cast<IntegerType>(like.type), std::move(value));
}

OpFoldResult AndOp::fold(FoldAdaptor adaptor) {
  auto b = Splat::get(adaptor.getRhs());
  if (getLhs() == getRhs() || (b && b->isAllOnes()))
    if (OpFoldResult same = sameValue(getLhs(), getResult()))
      return same;
  if (b && b->isZero())
    return zero(getResult());
  return foldBinary(getResult(), adaptor.getLhs(), adaptor.getRhs(),
                    [](const Splat &a, const Splat &b) {
                      return bits(a, llvm::APInt(a.integer) & b.integer);
                    });
}

OpFoldResult OrOp::fold(FoldAdaptor adaptor) {
  auto b = Splat::get(adaptor.getRhs());
  if (getLhs() == getRhs() || (b && b->isZero()))
    if (OpFoldResult same = sameValue(getLhs(), getResult()))
      return same;
  if (b && b->isAllOnes())
    return b->attribute(getType());
  return foldBinary(getResult(), adaptor.getLhs(), adaptor.getRhs(),
                    [](const Splat &a, const Splat &b) {
                      return bits(a, llvm::APInt(a.integer) | b.integer);
                    });
}

OpFoldResult XorOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs())
    return zero(getResult());
  if (auto b = Splat::get(adaptor.getRhs()); b && b->isZero())
    if (OpFoldResult same = sameValue(getLhs(), getResult()))
      return same;
  return foldBinary(getResult(), adaptor.getLhs(), adaptor.getRhs(),
                    [](const Splat &a, const Splat &b) {
                      return bits(a, llvm::APInt(a.integer) ^ b.integer);
                    });
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

OpFoldResult CompareOp::fold(FoldAdaptor adaptor) {
  std::optional<Splat> a = Splat::get(adaptor.getLhs()),
                       b = Splat::get(adaptor.getRhs());
  if (!a || !b)
    return {};
  return Splat::ofBool(getContext(), compare(getDirection(), *a, *b))
      .attribute(getType());
}

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getOnTrue() == getOnFalse())
    return sameValue(getOnTrue(), getResult());
  if (auto pred = Splat::get(adaptor.getPred()))
    return sameValue(pred->isZero() ? getOnFalse() : getOnTrue(), getResult());
  return {};
}

OpFoldResult ClampOp::fold(FoldAdaptor adaptor) {
  std::optional<Splat> low = Splat::get(adaptor.getMin()),
                       x = Splat::get(adaptor.getOperand()),
                       high = Splat::get(adaptor.getMax());
  if (!low || !x || !high)
    return {};
  return minimum(maximum(*x, *low), *high).attribute(getType());
}

} // namespace meshloom::dtensor
