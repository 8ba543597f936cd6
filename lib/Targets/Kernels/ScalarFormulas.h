// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of kernel bodies as the scalars of formulas (Formulas.h).
#pragma once

#include "meshloom/Targets/Kernels/MathFunctions.h"
#include "meshloom/Targets/Kernels/NarrowFormulas.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace meshloom::formulas {
namespace arith = mlir::arith;
namespace math = mlir::math;

/// Arithmetic on scalars, so that formulas read as formulas. Constants take the
/// type of the other operand.
struct Scalar {
  OpBuilder *b;
  Location loc;
  Value v;

  Scalar with(Value value) const { return {b, loc, value}; }
  Scalar f(double value) const { // a float of this type
    return with(
        b->create<arith::ConstantOp>(loc, b->getFloatAttr(v.getType(), value)));
  }
  Scalar i(int64_t value) const { // an integer of this type
    return with(b->create<arith::ConstantOp>(
        loc, b->getIntegerAttr(v.getType(), value)));
  }
  Scalar bits() const { // as an integer of the same width
    return with(b->create<arith::BitcastOp>(
        loc, b->getIntegerType(v.getType().getIntOrFloatBitWidth()), v));
  }
  Scalar asFloat() const { // an integer's bits as a float of the same width
    Type type = v.getType().getIntOrFloatBitWidth() == 64 ? b->getF64Type()
                                                          : b->getF32Type();
    return with(b->create<arith::BitcastOp>(loc, type, v));
  }
  Scalar toF32() const { // from i32 or f64
    if (isa<FloatType>(v.getType()))
      return with(b->create<arith::TruncFOp>(loc, b->getF32Type(), v));
    return with(b->create<arith::SIToFPOp>(loc, b->getF32Type(), v));
  }
  Scalar toF64() const { // from i64 or f32
    if (isa<FloatType>(v.getType()))
      return with(b->create<arith::ExtFOp>(loc, b->getF64Type(), v));
    return with(b->create<arith::SIToFPOp>(loc, b->getF64Type(), v));
  }
  Scalar toI32() const { // the low bits of an i64
    return with(b->create<arith::TruncIOp>(loc, b->getI32Type(), v));
  }
  Scalar less(Scalar y) const {
    return with(
        b->create<arith::CmpFOp>(loc, arith::CmpFPredicate::OLT, v, y.v));
  }
  Scalar equals(Scalar y) const {
    return with(
        b->create<arith::CmpFOp>(loc, arith::CmpFPredicate::OEQ, v, y.v));
  }
  Scalar isZero() const { // of an integer
    return with(
        b->create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, v, i(0).v));
  }
  Scalar isNegative() const { // of an integer
    return with(
        b->create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, v, i(0).v));
  }
  /// This condition's choice.
  Scalar select(Scalar yes, Scalar no) const {
    return with(b->create<arith::SelectOp>(loc, v, yes.v, no.v));
  }
  /// Limited to [low, high]; nan stays.
  Scalar clamp(double low, double high) const {
    Scalar above = less(f(low)).select(f(low), *this);
    return f(high).less(above).select(f(high), above);
  }
  Scalar abs() const { return with(b->create<math::AbsFOp>(loc, v)); }
  Scalar floor() const { return with(b->create<math::FloorOp>(loc, v)); }
  Scalar withSignOf(Scalar y) const {
    return with(b->create<math::CopySignOp>(loc, v, y.v));
  }
  /// Returns the product with `factor`, plus `addend`, rounded once.
  Scalar multiplyAdd(Scalar factor, Scalar addend) const {
    return with(b->create<math::FmaOp>(loc, v, factor.v, addend.v));
  }
  Scalar operator-() const { return with(b->create<arith::NegFOp>(loc, v)); }
};
template <typename FloatOp, typename IntOp>
inline Scalar floatOrInt(Scalar x, Scalar y) {
  if (isa<FloatType>(x.v.getType()))
    return x.with(x.b->create<FloatOp>(x.loc, x.v, y.v));
  return x.with(x.b->create<IntOp>(x.loc, x.v, y.v));
}
inline Scalar operator+(Scalar x, Scalar y) {
  return floatOrInt<arith::AddFOp, arith::AddIOp>(x, y);
}
inline Scalar operator-(Scalar x, Scalar y) {
  return floatOrInt<arith::SubFOp, arith::SubIOp>(x, y);
}
inline Scalar operator*(Scalar x, Scalar y) {
  return floatOrInt<arith::MulFOp, arith::MulIOp>(x, y);
}
inline Scalar operator/(Scalar x, Scalar y) {
  return floatOrInt<arith::DivFOp, arith::DivSIOp>(x, y);
}
inline Scalar operator+(Scalar x, double y) {
  return x + x.f(y);
}
inline Scalar operator-(Scalar x, double y) {
  return x - x.f(y);
}
inline Scalar operator*(Scalar x, double y) {
  return x * x.f(y);
}
inline Scalar operator&(Scalar x, int64_t y) {
  return x.with(x.b->create<arith::AndIOp>(x.loc, x.v, x.i(y).v));
}
inline Scalar operator|(Scalar x, Scalar y) {
  return x.with(x.b->create<arith::OrIOp>(x.loc, x.v, y.v));
}
inline Scalar operator^(Scalar x, Scalar y) {
  return x.with(x.b->create<arith::XOrIOp>(x.loc, x.v, y.v));
}
inline Scalar shiftLeft(Scalar x, int64_t by) {
  return x.with(x.b->create<arith::ShLIOp>(x.loc, x.v, x.i(by).v));
}
inline Scalar shiftRight(Scalar x, int64_t by) { // of a signed integer
  return x.with(x.b->create<arith::ShRSIOp>(x.loc, x.v, x.i(by).v));
}

inline Scalar unsignedThird(Scalar x) {
  return x.with(x.b->create<arith::DivUIOp>(x.loc, x.v, x.i(3).v));
}
inline Scalar both(Scalar x, Scalar y) { // conditions
  return x.with(x.b->create<arith::AndIOp>(x.loc, x.v, y.v));
}

} // namespace meshloom::formulas
