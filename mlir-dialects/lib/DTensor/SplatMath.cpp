// Arithmetic on one element at compile time.

#include "SplatMath.h"

#include <cmath>

namespace meshloom::dtensor {

using llvm::APFloat, llvm::APInt, llvm::APSInt;
constexpr auto nearestEven = APFloat::rmNearestTiesToEven;

//===----------------------------------------------------------------------===//
// Splat
//===----------------------------------------------------------------------===//

/// i1 and the ui types are unsigned, the signless ones signed.
static bool isUnsigned(IntegerType type) {
  return type.isUnsigned() || type.getWidth() == 1;
}

Splat Splat::of(FloatType type, APFloat value) {
  Splat splat(type);
  bool lost;
  value.convert(type.getFloatSemantics(), nearestEven, &lost);
  splat.real = value;
  return splat;
}

Splat Splat::of(IntegerType type, APInt value) {
  Splat splat(type);
  splat.integer = APSInt(std::move(value), isUnsigned(type));
  return splat;
}

Splat Splat::ofBool(MLIRContext *context, bool value) {
  return of(IntegerType::get(context, 1), APInt(1, value));
}

std::optional<Splat> Splat::get(Attribute attr) {
  auto dense = mlir::dyn_cast_or_null<DenseElementsAttr>(attr);
  if (!dense || !dense.isSplat())
    return std::nullopt;
  Type type = dense.getElementType();
  if (auto real = dyn_cast<FloatType>(type))
    return of(real, dense.getSplatValue<APFloat>());
  return of(cast<IntegerType>(type), dense.getSplatValue<APInt>());
}

Splat Splat::number(Type type, double value) {
  if (auto real = dyn_cast<FloatType>(type))
    return of(real, APFloat(value));
  auto integer = cast<IntegerType>(type);
  return of(integer, APInt(integer.getWidth(), uint64_t(int64_t(value)), true));
}

Attribute Splat::attribute(Type type) const {
  if (LayoutAttr layout = layoutAttrOf(type))
    if (!layout.getPartial().empty())
      return {};
  RankedTensorType global = undecided(type);
  return isFloat() ? DenseElementsAttr::get(global, real)
                   : DenseElementsAttr::get(global, APInt(integer));
}

bool Splat::isOne() const {
  return isFloat() ? real.isExactlyValue(1.0) : integer.isOne();
}

static Splat like(const Splat &x, APFloat value) {
  return Splat::of(cast<FloatType>(x.type), std::move(value));
}
static Splat like(const Splat &x, APInt value) {
  return Splat::of(cast<IntegerType>(x.type), std::move(value));
}

static double asDouble(const Splat &x) {
  APFloat value = x.real;
  bool lost;
  value.convert(APFloat::IEEEdouble(), nearestEven, &lost);
  return value.convertToDouble();
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

Splat mapReal(const Splat &x, double (*function)(double)) {
  return like(x, APFloat(function(asDouble(x))));
}

Splat absolute(const Splat &x) {
  return x.isFloat()              ? like(x, llvm::abs(x.real))
         : x.integer.isNegative() ? like(x, -APInt(x.integer))
                                  : x;
}

Splat negated(const Splat &x) {
  return x.isFloat() ? like(x, llvm::neg(x.real)) : like(x, -APInt(x.integer));
}

Splat sign(const Splat &x) {
  if (x.isZero() || (x.isFloat() && x.real.isNaN()))
    return x;
  bool negative = x.isFloat() ? x.real.isNegative() : x.integer.isNegative();
  return Splat::number(x.type, negative ? -1 : 1);
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

Splat add(const Splat &a, const Splat &b) {
  return a.isFloat() ? like(a, a.real + b.real)
                     : like(a, APInt(a.integer) + b.integer);
}

Splat subtract(const Splat &a, const Splat &b) {
  return a.isFloat() ? like(a, a.real - b.real)
                     : like(a, APInt(a.integer) - b.integer);
}

Splat multiply(const Splat &a, const Splat &b) {
  return a.isFloat() ? like(a, a.real * b.real)
                     : like(a, APInt(a.integer) * b.integer);
}

Splat divide(const Splat &a, const Splat &b) {
  if (a.isFloat())
    return like(a, a.real / b.real);
  if (b.integer.isZero())
    return like(a, APInt::getAllOnes(a.integer.getBitWidth()));
  return like(a, a.integer.isUnsigned() ? a.integer.udiv(b.integer)
                                        : a.integer.sdiv(b.integer));
}

Splat remainder(const Splat &a, const Splat &b) {
  if (a.isFloat()) {
    APFloat rest = a.real;
    rest.mod(b.real);
    return like(a, rest);
  }
  if (b.integer.isZero())
    return a;
  return like(a, a.integer.isUnsigned() ? a.integer.urem(b.integer)
                                        : a.integer.srem(b.integer));
}

Splat power(const Splat &a, const Splat &b) {
  if (a.isFloat())
    return like(a, APFloat(std::pow(asDouble(a), asDouble(b))));
  APInt base = a.integer, exponent = b.integer;
  APInt result(base.getBitWidth(), 1);
  if (b.integer.isNegative()) {
    if (base.isAllOnes())
      return like(a, exponent[0] ? base : result);
    return base.isOne() ? a : like(a, APInt::getZero(base.getBitWidth()));
  }
  for (; !exponent.isZero(); exponent.lshrInPlace(1)) {
    if (exponent[0])
      result *= base;
    base *= base;
  }
  return like(a, result);
}

Splat maximum(const Splat &a, const Splat &b) {
  if (a.isFloat())
    return like(a, llvm::maximum(a.real, b.real));
  return a.integer < b.integer ? b : a;
}

Splat minimum(const Splat &a, const Splat &b) {
  if (a.isFloat())
    return like(a, llvm::minimum(a.real, b.real));
  return b.integer < a.integer ? b : a;
}

bool compare(ComparisonDirection direction, const Splat &a, const Splat &b) {
  bool unordered = a.isFloat() && (a.real.isNaN() || b.real.isNaN());
  bool less =
      !unordered && (a.isFloat() ? a.real < b.real : a.integer < b.integer);
  bool equal =
      !unordered && (a.isFloat() ? a.real == b.real : a.integer == b.integer);
  switch (direction) {
  case ComparisonDirection::EQ:
    return equal;
  case ComparisonDirection::NE:
    return !equal;
  case ComparisonDirection::LT:
    return less;
  case ComparisonDirection::LE:
    return less || equal;
  case ComparisonDirection::GT:
    return !less && !equal && !unordered;
  case ComparisonDirection::GE:
    return !less && !unordered;
  }
  llvm_unreachable("covered switch");
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

Splat convert(const Splat &x, Type to) {
  if (auto real = dyn_cast<FloatType>(to)) {
    if (x.isFloat())
      return Splat::of(real, x.real);
    // Straight to the target: rounding to double first would round twice.
    APFloat value(real.getFloatSemantics());
    value.convertFromAPInt(x.integer, x.integer.isSigned(), nearestEven);
    return Splat::of(real, value);
  }
  auto integer = cast<IntegerType>(to);
  if (integer.getWidth() == 1)
    return Splat::of(integer, APInt(1, !x.isZero()));
  if (!x.isFloat())
    return Splat::of(integer, x.integer.extOrTrunc(integer.getWidth()));
  APSInt value(integer.getWidth(), isUnsigned(integer));
  bool exact;
  x.real.convertToInteger(value, APFloat::rmTowardZero, &exact);
  return Splat::of(integer, value);
}

} // namespace meshloom::dtensor
