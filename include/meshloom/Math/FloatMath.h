// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// FloatMath: formulas on tensors of floats, for decompositions.
#pragma once

#include "meshloom/Dialect/DTensor/TensorBuilder.h"

namespace meshloom {

/// A value and the arithmetic on it. f16 and bf16 are computed in f32: use
/// `compute` on the way in and `finish` on the way out.
class FloatMath {
public:
  explicit FloatMath(dtensor::TensorBuilder &b) : b(b) {}

  Value compute(Value value) {
    Type type = b.elementOf(value);
    return type.isF16() || type.isBF16() ? b.convert(value, b.getF32Type())
                                         : value;
  }
  Value finish(Value value, Type elementType) {
    return b.convert(value, elementType);
  }

  Value number(Value like, double value) { return b.like(like, value); }
  Value add(Value x, Value y) { return b.apply<dtensor::AddOp>({x, y}); }
  Value add(Value x, double y) { return add(x, number(x, y)); }
  Value sub(Value x, Value y) { return b.apply<dtensor::SubtractOp>({x, y}); }
  Value sub(double x, Value y) { return sub(number(y, x), y); }
  Value mul(Value x, Value y) { return b.apply<dtensor::MultiplyOp>({x, y}); }
  Value mul(Value x, double y) { return mul(x, number(x, y)); }
  Value div(Value x, Value y) { return b.apply<dtensor::DivideOp>({x, y}); }
  Value div(double x, Value y) { return div(number(y, x), y); }
  Value pow(Value x, Value y) { return b.apply<dtensor::PowerOp>({x, y}); }
  Value neg(Value x) { return b.apply<dtensor::NegateOp>(x); }
  Value abs(Value x) {
    return b.apply<dtensor::AbsOp>(
        x, b.typeOf(x).clone(dtensor::partTypeOf(x.getType())));
  }
  Value sign(Value x) { return b.apply<dtensor::SignOp>(x); }
  Value sqrt(Value x) { return b.apply<dtensor::SqrtOp>(x); }
  Value exp(Value x) { return b.apply<dtensor::ExpOp>(x); }
  Value expm1(Value x) { return b.apply<dtensor::Expm1Op>(x); }
  Value log(Value x) { return b.apply<dtensor::LogOp>(x); }
  Value log1p(Value x) { return b.apply<dtensor::Log1pOp>(x); }
  Value sin(Value x) { return b.apply<dtensor::SineOp>(x); }
  Value cos(Value x) { return b.apply<dtensor::CosineOp>(x); }
  Value floor(Value x) { return b.apply<dtensor::FloorOp>(x); }
  Value atan2(Value x, Value y) { return b.apply<dtensor::Atan2Op>({x, y}); }
  Value max(Value x, Value y) { return b.apply<dtensor::MaximumOp>({x, y}); }
  Value min(Value x, Value y) { return b.apply<dtensor::MinimumOp>({x, y}); }

  Value lt(Value x, double y) { return test(Direction::LT, x, number(x, y)); }
  Value le(Value x, double y) { return test(Direction::LE, x, number(x, y)); }
  Value gt(Value x, double y) { return test(Direction::GT, x, number(x, y)); }
  Value eq(Value x, double y) { return test(Direction::EQ, x, number(x, y)); }
  Value eq(Value x, Value y) { return test(Direction::EQ, x, y); }
  Value ne(Value x, Value y) { return test(Direction::NE, x, y); }
  Value lt(Value x, Value y) { return test(Direction::LT, x, y); }
  Value both(Value x, Value y) { return b.apply<dtensor::AndOp>({x, y}); }
  Value either(Value x, Value y) { return b.apply<dtensor::OrOp>({x, y}); }
  Value select(Value pred, Value x, Value y) {
    return b.apply<dtensor::SelectOp>({pred, x, y}, b.typeOf(x));
  }
  Value select(Value pred, Value x, double y) {
    return select(pred, x, number(x, y));
  }
  Value select(Value pred, double x, Value y) {
    return select(pred, number(y, x), y);
  }

  /// coefficients[0] x^n + ... + coefficients[n].
  Value polynomial(Value x, ArrayRef<double> coefficients);
  /// The sum of Chebyshev polynomials T_i(x / 2), highest first, the last one
  /// halved (Clenshaw's recurrence).
  Value chebyshev(Value x, ArrayRef<double> coefficients);

  // Special functions of f32 and f64 values.
  Value erfc(Value x);
  Value erfInv(Value x);
  Value lgamma(Value x);
  Value digamma(Value x);
  Value zeta(Value x, Value q);
  Value polygamma(Value n, Value x);
  Value besselI1e(Value x);
  Value sinh(Value x);
  Value nextAfter(Value x, Value y);

private:
  using Direction = dtensor::ComparisonDirection;
  Value test(Direction direction, Value x, Value y) {
    return b.compare(direction, x, y);
  }
  bool isF64(Value x) const { return b.elementOf(x).isF64(); }

  dtensor::TensorBuilder &b;
};

} // namespace meshloom
