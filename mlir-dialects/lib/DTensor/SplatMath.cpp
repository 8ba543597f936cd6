// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

static APFloat rounded(Type type, APFloat value) {
  bool lost;
  value.convert(cast<FloatType>(type).getFloatSemantics(), nearestEven, &lost);
  return value;
}

Splat Splat::of(mlir::ComplexType type, APFloat real, APFloat imaginary) {
  Splat splat(type);
  splat.real = rounded(type.getElementType(), std::move(real));
  splat.imaginary = rounded(type.getElementType(), std::move(imaginary));
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
  if (auto complex = dyn_cast<mlir::ComplexType>(type)) {
    auto value = dense.getSplatValue<std::complex<APFloat>>();
    return of(complex, value.real(), value.imag());
  }
  return of(cast<IntegerType>(type), dense.getSplatValue<APInt>());
}

Splat Splat::number(Type type, double value) {
  if (auto real = dyn_cast<FloatType>(type))
    return of(real, APFloat(value));
  if (auto complex = dyn_cast<mlir::ComplexType>(type))
    return of(complex, APFloat(value), APFloat(0.0));
  auto integer = cast<IntegerType>(type);
  return of(integer, APInt(integer.getWidth(), uint64_t(int64_t(value)), true));
}

Attribute Splat::attribute(Type type) const {
  if (LayoutAttr layout = layoutAttrOf(type))
    if (!layout.getPartial().empty())
      return {};
  RankedTensorType global = undecided(type);
  if (isComplex())
    return DenseElementsAttr::get(
        global, ArrayRef<std::complex<APFloat>>{{real, imaginary}});
  return isFloat() ? DenseElementsAttr::get(global, real)
                   : DenseElementsAttr::get(global, APInt(integer));
}

bool Splat::isZero() const {
  return isComplex() ? real.isZero() && imaginary.isZero()
         : isFloat() ? real.isZero()
                     : integer.isZero();
}

bool Splat::isOne() const {
  // Times 1 + 0i is not the identity: it turns inf and -0.0 into others.
  if (isComplex())
    return false;
  return isFloat() ? real.isExactlyValue(1.0) : integer.isOne();
}

static Splat like(const Splat &x, APFloat value) {
  return Splat::of(cast<FloatType>(x.type), std::move(value));
}
static Splat like(const Splat &x, APInt value) {
  return Splat::of(cast<IntegerType>(x.type), std::move(value));
}

static double asDouble(APFloat value) {
  bool lost;
  value.convert(APFloat::IEEEdouble(), nearestEven, &lost);
  return value.convertToDouble();
}
static double asDouble(const Splat &x) {
  return asDouble(x.real);
}
Complex asComplex(const Splat &x) {
  return {asDouble(x.real), asDouble(x.imaginary)};
}
static Splat like(const Splat &x, Complex value) {
  return Splat::of(cast<mlir::ComplexType>(x.type), APFloat(value.real()),
                   APFloat(value.imag()));
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

Splat mapReal(const Splat &x, function_ref<double(double)> function) {
  return like(x, APFloat(function(asDouble(x))));
}

Splat mapComplex(const Splat &x, function_ref<Complex(Complex)> function) {
  return like(x, function(asComplex(x)));
}

Splat absolute(const Splat &x) {
  if (x.isComplex())
    return Splat::of(
        cast<FloatType>(cast<mlir::ComplexType>(x.type).getElementType()),
        APFloat(std::abs(asComplex(x))));
  return x.isFloat()              ? like(x, llvm::abs(x.real))
         : x.integer.isNegative() ? like(x, -APInt(x.integer))
                                  : x;
}

Splat negated(const Splat &x) {
  if (x.isComplex())
    return like(x, -asComplex(x));
  return x.isFloat() ? like(x, llvm::neg(x.real)) : like(x, -APInt(x.integer));
}

Splat sign(const Splat &x) {
  if (x.isComplex())
    return mapComplex(x, [](Complex z) {
      double size = std::abs(z);
      return size == 0 ? Complex(0) : Complex(z.real() / size, z.imag() / size);
    });
  if (x.isZero() || (x.isFloat() && x.real.isNaN()))
    return x;
  bool negative = x.isFloat() ? x.real.isNegative() : x.integer.isNegative();
  return Splat::number(x.type, negative ? -1 : 1);
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

Splat add(const Splat &a, const Splat &b) {
  if (a.isComplex())
    return like(a, asComplex(a) + asComplex(b));
  if (a.type.isInteger(1))
    return like(a, APInt(a.integer) | b.integer);
  return a.isFloat() ? like(a, a.real + b.real)
                     : like(a, APInt(a.integer) + b.integer);
}

Splat subtract(const Splat &a, const Splat &b) {
  if (a.isComplex())
    return like(a, asComplex(a) - asComplex(b));
  return a.isFloat() ? like(a, a.real - b.real)
                     : like(a, APInt(a.integer) - b.integer);
}

Splat multiply(const Splat &a, const Splat &b) {
  if (a.isComplex())
    return like(a, asComplex(a) * asComplex(b));
  return a.isFloat() ? like(a, a.real * b.real)
                     : like(a, APInt(a.integer) * b.integer);
}

Splat divide(const Splat &a, const Splat &b) {
  if (a.isComplex())
    return like(a, asComplex(a) / asComplex(b));
  if (a.isFloat())
    return like(a, a.real / b.real);
  if (b.integer.isZero())
    return like(a, APInt::getAllOnes(a.integer.getBitWidth()));
  return like(a, a.integer.isUnsigned() ? a.integer.udiv(b.integer)
                                        : a.integer.sdiv(b.integer));
}

Splat remainder(const Splat &a, const Splat &b) {
  if (a.isFloat()) {
    APFloat remainder = a.real;
    remainder.mod(b.real);
    return like(a, remainder);
  }
  if (b.integer.isZero())
    return a;
  return like(a, a.integer.isUnsigned() ? a.integer.urem(b.integer)
                                        : a.integer.srem(b.integer));
}

Splat power(const Splat &a, const Splat &b) {
  if (a.isComplex()) {
    Complex base = asComplex(a), exponent = asComplex(b);
    if (exponent == Complex(0))
      return like(a, Complex(1));
    return like(a, base == Complex(0) ? Complex(0) : std::pow(base, exponent));
  }
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

Splat atan2(const Splat &a, const Splat &b) {
  return like(a, APFloat(std::atan2(asDouble(a), asDouble(b))));
}

/// By how much, or nothing where that is the width or more.
static std::optional<unsigned> shiftAmount(const Splat &by) {
  unsigned width = by.integer.getBitWidth();
  if (by.integer.uge(width))
    return std::nullopt;
  return unsigned(by.integer.getZExtValue());
}

Splat shiftLeft(const Splat &a, const Splat &b) {
  auto by = shiftAmount(b);
  return like(a, by ? APInt(a.integer).shl(*by)
                    : APInt::getZero(a.integer.getBitWidth()));
}

Splat shiftRightArithmetic(const Splat &a, const Splat &b) {
  auto by = shiftAmount(b);
  return like(a,
              APInt(a.integer).ashr(by.value_or(a.integer.getBitWidth() - 1)));
}

Splat shiftRightLogical(const Splat &a, const Splat &b) {
  auto by = shiftAmount(b);
  return like(a, by ? APInt(a.integer).lshr(*by)
                    : APInt::getZero(a.integer.getBitWidth()));
}

Splat reducePrecision(const Splat &x, int64_t exponentBits,
                      int64_t mantissaBits) {
  const llvm::fltSemantics &semantics = x.real.getSemantics();
  if (!x.real.isFinite() || x.real.isZero())
    return x;
  APInt bits = x.real.bitcastToAPInt();
  unsigned width = bits.getBitWidth();
  int64_t mantissa = APFloat::semanticsPrecision(semantics) - 1;
  int64_t exponent = width - 1 - mantissa;
  if (mantissaBits < mantissa) {
    // To nearest even; a carry into the exponent is right.
    int64_t dropped = mantissa - mantissaBits;
    APInt half = APInt::getOneBitSet(width, dropped - 1) - 1;
    half += bits.extractBits(1, dropped).zext(width);
    bits = (bits + half) & APInt::getHighBitsSet(width, width - dropped);
  }
  APFloat value(semantics, bits);
  if (exponentBits < exponent && value.isFinite()) {
    int64_t bias = (int64_t(1) << (exponentBits - 1)) - 1;
    bool denormal = value.isDenormal();
    int64_t power = denormal ? 0 : ilogb(value);
    if (!denormal && power > bias)
      value = APFloat::getInf(semantics, value.isNegative());
    else if (denormal || power < 1 - bias)
      value = APFloat::getZero(semantics, value.isNegative());
  }
  return like(x, value);
}

bool compare(ComparisonDirection direction, const Splat &a, const Splat &b) {
  if (a.isComplex())
    return (asComplex(a) == asComplex(b)) ==
           (direction == ComparisonDirection::EQ);
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
  if (auto complex = dyn_cast<mlir::ComplexType>(to)) {
    if (x.isComplex())
      return Splat::of(complex, x.real, x.imaginary);
    return Splat::of(complex, convert(x, complex.getElementType()).real,
                     APFloat(0.0));
  }
  if (x.isComplex()) {
    Splat real(cast<mlir::ComplexType>(x.type).getElementType());
    real.real = x.real;
    if (to.isInteger(1))
      return Splat::ofBool(to.getContext(), !x.isZero());
    return convert(real, to);
  }
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
