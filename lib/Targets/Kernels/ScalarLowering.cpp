// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// StableHLO's elementwise semantics on scalars, in arith and math ops. No code
// here traps: divisors are made harmless before the division.
#include "meshloom/Targets/Kernels/ScalarLowering.h"

#include "ComplexLowering.h"

#include "meshloom/Dialect/SPMD/SPMD.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <limits>

using namespace meshloom;
namespace arith = mlir::arith;
namespace math = mlir::math;

namespace {
/// One op being lowered: its operands as scalars, f16 and bf16 widened to f32.
struct Scalars {
  Operation *op;
  OpBuilder &b;
  Location loc;
  /// Element types, with signedness and width, of operand 0 and the result.
  Type from, to;
  SmallVector<Value> x;

  bool isFloat() const { return isa<FloatType>(from); }
  bool isUnsigned() const {
    return from.isUnsignedInteger() || from.isInteger(1);
  }
  template <typename Op> Value make(Value a) { return b.create<Op>(loc, a); }
  template <typename Op> Value make(Value a, Value c) {
    return b.create<Op>(loc, a, c);
  }
  /// A constant of operand 0's scalar type.
  Value number(double value) {
    Type type = x[0].getType();
    mlir::TypedAttr attr = isa<FloatType>(type)
                               ? mlir::TypedAttr(b.getFloatAttr(type, value))
                               : b.getIntegerAttr(type, int64_t(value));
    return b.create<arith::ConstantOp>(loc, attr);
  }
  Value integer(llvm::APInt value) {
    return b.create<arith::ConstantOp>(loc,
                                       b.getIntegerAttr(x[0].getType(), value));
  }
  unsigned width() const { return x[0].getType().getIntOrFloatBitWidth(); }
  Value select(Value condition, Value yes, Value no) {
    return b.create<arith::SelectOp>(loc, condition, yes, no);
  }
  Value compare(arith::CmpFPredicate predicate, Value a, Value c) {
    return b.create<arith::CmpFOp>(loc, predicate, a, c);
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value c) {
    return b.create<arith::CmpIOp>(loc, predicate, a, c);
  }
};

using F = arith::CmpFPredicate;
using I = arith::CmpIPredicate;
using ScalarLowering = Value (*)(Scalars &);

/// By the op of MLIR's math dialect that the op names.
Value lowerByMath(Scalars &s) {
  OperationState state(
      s.loc, cast<dtensor::ElementwiseOpInterface>(s.op).getMathName(), s.x,
      s.x[0].getType());
  return s.b.create(state)->getResult(0);
}

template <typename FloatOp, typename SignedOp, typename UnsignedOp = SignedOp>
Value binary(Scalars &s) {
  if (s.isFloat())
    return s.make<FloatOp>(s.x[0], s.x[1]);
  if (s.isUnsigned())
    return s.make<UnsignedOp>(s.x[0], s.x[1]);
  return s.make<SignedOp>(s.x[0], s.x[1]);
}

/// The sum of i1 is `or`.
Value lowerAdd(Scalars &s) {
  if (s.from.isInteger(1))
    return s.make<arith::OrIOp>(s.x[0], s.x[1]);
  return binary<arith::AddFOp, arith::AddIOp>(s);
}

Value lowerAbs(Scalars &s) {
  if (s.isFloat())
    return s.make<math::AbsFOp>(s.x[0]);
  if (s.isUnsigned())
    return s.x[0];
  Value zero = s.number(0);
  return s.select(s.compare(I::slt, s.x[0], zero),
                  s.make<arith::SubIOp>(zero, s.x[0]), s.x[0]);
}

Value lowerNegate(Scalars &s) {
  if (s.isFloat())
    return s.make<arith::NegFOp>(s.x[0]);
  return s.make<arith::SubIOp>(s.number(0), s.x[0]);
}

Value lowerSign(Scalars &s) {
  Value zero = s.number(0), one = s.number(1);
  if (s.isFloat()) { // -0.0 and nan stay
    Value negative =
        s.select(s.compare(F::OLT, s.x[0], zero), s.number(-1), s.x[0]);
    return s.select(s.compare(F::OGT, s.x[0], zero), one, negative);
  }
  if (s.isUnsigned())
    return s.select(s.compare(I::eq, s.x[0], zero), zero, one);
  Value negative =
      s.select(s.compare(I::slt, s.x[0], zero), s.number(-1), zero);
  return s.select(s.compare(I::sgt, s.x[0], zero), one, negative);
}

Value lowerRsqrt(Scalars &s) {
  return s.make<arith::DivFOp>(s.number(1), s.make<math::SqrtOp>(s.x[0]));
}

/// With e = exp(-|x|): 1 / (1 + e), below 0 e / (1 + e). No overflow, and right
/// where exp(-x) would be infinite.
Value lowerLogistic(Scalars &s) {
  Value size = s.make<math::AbsFOp>(s.x[0]);
  Value e = s.make<math::ExpOp>(s.make<arith::NegFOp>(size));
  Value one = s.number(1);
  Value numerator = s.select(s.compare(F::OLT, s.x[0], s.number(0)), e, one);
  return s.make<arith::DivFOp>(numerator, s.make<arith::AddFOp>(one, e));
}

Value lowerNot(Scalars &s) {
  return s.make<arith::XOrIOp>(s.x[0],
                               s.integer(llvm::APInt::getAllOnes(s.width())));
}

Value lowerIsFinite(Scalars &s) {
  return s.compare(F::OLT, s.make<math::AbsFOp>(s.x[0]),
                   s.number(std::numeric_limits<double>::infinity()));
}

/// The divisor, or 1 where the division would trap.
Value safeDivisor(Scalars &s, Value isZero) {
  Value unsafe = isZero;
  if (!s.isUnsigned()) {
    Value lowest = s.integer(llvm::APInt::getSignedMinValue(s.width()));
    Value overflows =
        s.make<arith::AndIOp>(s.compare(I::eq, s.x[0], lowest),
                              s.compare(I::eq, s.x[1], s.number(-1)));
    unsafe = s.make<arith::OrIOp>(unsafe, overflows);
  }
  return s.select(unsafe, s.number(1), s.x[1]);
}

Value lowerDivide(Scalars &s) {
  if (s.isFloat())
    return s.make<arith::DivFOp>(s.x[0], s.x[1]);
  Value isZero = s.compare(I::eq, s.x[1], s.number(0));
  Value divisor = safeDivisor(s, isZero);
  Value quotient = s.isUnsigned() ? s.make<arith::DivUIOp>(s.x[0], divisor)
                                  : s.make<arith::DivSIOp>(s.x[0], divisor);
  return s.select(isZero, s.integer(llvm::APInt::getAllOnes(s.width())),
                  quotient);
}

Value lowerRemainder(Scalars &s) {
  if (s.isFloat())
    return s.make<arith::RemFOp>(s.x[0], s.x[1]);
  Value isZero = s.compare(I::eq, s.x[1], s.number(0));
  Value divisor = safeDivisor(s, isZero);
  Value remainder = s.isUnsigned() ? s.make<arith::RemUIOp>(s.x[0], divisor)
                                   : s.make<arith::RemSIOp>(s.x[0], divisor);
  return s.select(isZero, s.x[0], remainder);
}

/// The square root, with what a power of 0.5 is of -0.0 and of -inf.
Value powerOfHalf(Scalars &s) {
  const double infinity = std::numeric_limits<double>::infinity();
  Value root = s.make<math::AbsFOp>(s.make<math::SqrtOp>(s.x[0]));
  return s.select(s.compare(F::OEQ, s.x[0], s.number(-infinity)),
                  s.number(infinity), root);
}

/// The power of a constant exponent by products, quotients and roots, where
/// these are as exact; else null.
Value powerOfConstant(Scalars &s, double exponent) {
  auto inverse = [&](Value value) {
    return s.make<arith::DivFOp>(s.number(1), value);
  };
  auto times = [&](Value a, Value c) { return s.make<arith::MulFOp>(a, c); };
  if (exponent == 2)
    return times(s.x[0], s.x[0]);
  if (exponent == 3)
    return times(times(s.x[0], s.x[0]), s.x[0]);
  if (exponent == -1)
    return inverse(s.x[0]);
  if (exponent == 0.5)
    return powerOfHalf(s);
  if (exponent == -0.5)
    return inverse(powerOfHalf(s));
  if (exponent == 1.5)
    return times(s.make<math::AbsFOp>(s.x[0]), powerOfHalf(s));
  return nullptr;
}

/// The number that a scalar is wherever it is used, also one of f16 or bf16
/// that was widened.
std::optional<double> constantOf(Value value) {
  if (auto widened = value.getDefiningOp<arith::ExtFOp>())
    value = widened.getIn();
  llvm::APFloat number(0.0);
  if (!mlir::matchPattern(value, mlir::m_ConstantFloat(&number)))
    return std::nullopt;
  bool isInexact = false;
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &isInexact);
  return number.convertToDouble();
}

Value lowerPower(Scalars &s) {
  if (s.isFloat()) {
    if (auto exponent = constantOf(s.x[1]))
      if (Value power = powerOfConstant(s, *exponent))
        return power;
    return s.make<math::PowFOp>(s.x[0], s.x[1]);
  }
  // Square and multiply over the exponent's bits; they wrap around like any
  // product. Then what a negative exponent gives.
  Value one = s.number(1), zero = s.number(0);
  Value result = one, base = s.x[0], bits = s.x[1];
  for (unsigned bit = 0; bit < s.width(); ++bit) {
    Value odd = s.compare(I::ne, s.make<arith::AndIOp>(bits, one), zero);
    result = s.make<arith::MulIOp>(result, s.select(odd, base, one));
    base = s.make<arith::MulIOp>(base, base);
    bits = s.make<arith::ShRUIOp>(bits, one);
  }
  if (s.isUnsigned())
    return result;
  Value minusOne = s.number(-1);
  Value odd = s.compare(I::ne, s.make<arith::AndIOp>(s.x[1], one), zero);
  Value ofMinusOne = s.select(odd, minusOne, one);
  Value inverse =
      s.select(s.compare(I::eq, s.x[0], minusOne), ofMinusOne, zero);
  inverse = s.select(s.compare(I::eq, s.x[0], one), one, inverse);
  return s.select(s.compare(I::slt, s.x[1], zero), inverse, result);
}

/// Bits leave and come as an integer; a shift by the width or more, which has
/// no meaning in arith, is made one by less and its result replaced.
template <typename Shift> Value lowerShift(Scalars &s) {
  llvm::APInt amount;
  if (matchPattern(s.x[1], mlir::m_ConstantInt(&amount)) &&
      amount.ult(s.width()))
    return s.make<Shift>(s.x[0], s.x[1]);
  Value width = s.integer(llvm::APInt(s.width(), s.width()));
  Value least = s.integer(llvm::APInt(s.width(), s.width() - 1));
  Value tooFar = s.compare(I::uge, s.x[1], width);
  Value shifted = s.make<Shift>(s.x[0], s.select(tooFar, least, s.x[1]));
  bool copiesSign = std::is_same_v<Shift, arith::ShRSIOp>;
  return copiesSign ? shifted : s.select(tooFar, s.number(0), shifted);
}

Value lowerBitcast(Scalars &s) {
  Type scalar = spmd::KernelOp::scalarType(s.to);
  if (s.x[0].getType() == scalar)
    return s.x[0];
  return s.b.create<arith::BitcastOp>(s.loc, scalar, s.x[0]);
}

/// On the bits: the mantissa is rounded by adding just below half of what is
/// dropped, or half where the last kept bit is 1; a carry into the exponent is
/// right. Then exponents out of the smaller range become zero or infinite.
Value lowerReducePrecision(Scalars &s) {
  using llvm::APInt;
  auto op = cast<dtensor::ReducePrecisionOp>(s.op);
  auto type = cast<FloatType>(s.x[0].getType());
  unsigned width = type.getWidth(), mantissa = type.getFPMantissaWidth() - 1;
  unsigned exponent = width - 1 - mantissa;
  Value x = s.x[0];
  Value bits =
      s.b.create<arith::BitcastOp>(s.loc, s.b.getIntegerType(width), x);
  s.x = {bits};
  Value result = bits;
  if (int64_t(op.getMantissaBits()) < mantissa) {
    unsigned dropped = mantissa - unsigned(op.getMantissaBits());
    Value last = s.make<arith::AndIOp>(
        s.make<arith::ShRUIOp>(bits, s.integer(APInt(width, dropped))),
        s.number(1));
    Value almostHalf = s.integer(APInt::getLowBitsSet(width, dropped - 1));
    result =
        s.make<arith::AddIOp>(bits, s.make<arith::AddIOp>(almostHalf, last));
    result = s.make<arith::AndIOp>(
        result, s.integer(APInt::getHighBitsSet(width, width - dropped)));
  }
  Value sign =
      s.make<arith::AndIOp>(bits, s.integer(APInt::getSignMask(width)));
  if (int64_t(op.getExponentBits()) < exponent) {
    APInt field = APInt::getBitsSet(width, mantissa, width - 1);
    Value e = s.make<arith::AndIOp>(result, s.integer(field));
    int64_t bias = (int64_t(1) << (exponent - 1)) - 1;
    int64_t small = (int64_t(1) << (op.getExponentBits() - 1)) - 1;
    auto exponentBits = [&](int64_t value) {
      return s.integer(APInt(width, uint64_t(value)).shl(mantissa));
    };
    Value overflows = s.compare(I::ugt, e, exponentBits(bias + small));
    Value underflows = s.compare(I::ult, e, exponentBits(bias - small + 1));
    Value infinite = s.make<arith::OrIOp>(sign, s.integer(field));
    result = s.select(overflows, infinite, result);
    result = s.select(underflows, sign, result);
  }
  // A nan, told from infinity by its bits: no comparison of f16 or bf16.
  Value size =
      s.make<arith::AndIOp>(bits, s.integer(APInt::getSignedMaxValue(width)));
  Value most = s.integer(APInt::getBitsSet(width, mantissa, width - 1));
  result = s.select(s.compare(I::ugt, size, most), bits, result);
  return s.b.create<arith::BitcastOp>(s.loc, type, result);
}

Value lowerCompare(Scalars &s) {
  using Direction = dtensor::ComparisonDirection;
  Direction direction = cast<dtensor::CompareOp>(s.op).getDirection();
  if (s.isFloat()) {
    auto predicate = [&] {
      switch (direction) {
      case Direction::EQ:
        return F::OEQ;
      case Direction::NE:
        return F::UNE;
      case Direction::LT:
        return F::OLT;
      case Direction::LE:
        return F::OLE;
      case Direction::GT:
        return F::OGT;
      case Direction::GE:
        return F::OGE;
      }
      llvm_unreachable("covered");
    }();
    return s.compare(predicate, s.x[0], s.x[1]);
  }
  bool u = s.isUnsigned();
  auto predicate = [&] {
    switch (direction) {
    case Direction::EQ:
      return I::eq;
    case Direction::NE:
      return I::ne;
    case Direction::LT:
      return u ? I::ult : I::slt;
    case Direction::LE:
      return u ? I::ule : I::sle;
    case Direction::GT:
      return u ? I::ugt : I::sgt;
    case Direction::GE:
      return u ? I::uge : I::sge;
    }
    llvm_unreachable("covered");
  }();
  return s.compare(predicate, s.x[0], s.x[1]);
}

/// The part of a float; complex numbers go another way.
Value lowerPart(Scalars &s) {
  return isa<dtensor::ImagOp>(s.op) ? s.number(0) : s.x[0];
}

Value lowerSelect(Scalars &s) {
  return s.select(s.x[0], s.x[1], s.x[2]);
}

/// The larger or smaller one, nan where one is.
template <typename FloatOp, typename SignedOp, typename UnsignedOp>
Value lowerExtreme(Scalars &s) {
  Value extreme = binary<FloatOp, SignedOp, UnsignedOp>(s);
  if (!s.from.isF16())
    return extreme;
  // LLVM narrows it to f16 again, and its expansion there takes a nan beside a
  // zero for that zero.
  Value isNaN = s.compare(F::UNO, s.x[0], s.x[1]);
  return s.select(isNaN, s.b.create<arith::AddFOp>(s.loc, s.x[0], s.x[1]),
                  extreme);
}
Value lowerMaximum(Scalars &s) {
  return lowerExtreme<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>(s);
}
Value lowerMinimum(Scalars &s) {
  return lowerExtreme<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>(s);
}

Value lowerClamp(Scalars &s) {
  Value low = s.x[0], value = s.x[1], high = s.x[2];
  s.x = {value, low};
  Value above = lowerMaximum(s);
  s.x = {above, high};
  return lowerMinimum(s);
}

Value lowerConvert(Scalars &s) {
  return convertScalar(s.x[0], s.from, s.to, s.b, s.loc);
}

struct Row {
  ScalarLowering lower;
  /// The lowering takes and gives f16 and bf16 as they are.
  bool keepsHalf = false;
};

const llvm::StringMap<Row> &table() {
  using namespace dtensor;
  static const auto &rows = *new llvm::StringMap<Row>([] {
    llvm::StringMap<Row> t;
    auto name = [](auto *op) {
      return std::remove_pointer_t<decltype(op)>::getOperationName();
    };
#define ROW(Op, ...) t[name((Op *)nullptr)] = {__VA_ARGS__}
    ROW(AbsOp, lowerAbs);
    ROW(NegateOp, lowerNegate);
    ROW(SignOp, lowerSign);
    ROW(RsqrtOp, lowerRsqrt);
    ROW(LogisticOp, lowerLogistic);
    ROW(ReducePrecisionOp, lowerReducePrecision, true);
    ROW(RealOp, lowerPart, true);
    ROW(ImagOp, lowerPart, true);
    ROW(ComplexOp, lowerPart, true);
    ROW(NotOp, lowerNot);
    ROW(IsFiniteOp, lowerIsFinite);
    ROW(AddOp, lowerAdd);
    ROW(SubtractOp, binary<arith::SubFOp, arith::SubIOp>);
    ROW(MultiplyOp, binary<arith::MulFOp, arith::MulIOp>);
    ROW(DivideOp, lowerDivide);
    ROW(RemainderOp, lowerRemainder);
    ROW(PowerOp, lowerPower);
    ROW(Atan2Op, binary<math::Atan2Op, arith::OrIOp>);
    ROW(ShiftLeftOp, lowerShift<arith::ShLIOp>);
    ROW(ShiftRightArithmeticOp, lowerShift<arith::ShRSIOp>);
    ROW(ShiftRightLogicalOp, lowerShift<arith::ShRUIOp>);
    ROW(MaximumOp, lowerMaximum);
    ROW(MinimumOp, lowerMinimum);
    ROW(AndOp, binary<arith::AddFOp, arith::AndIOp>);
    ROW(OrOp, binary<arith::AddFOp, arith::OrIOp>);
    ROW(XorOp, binary<arith::AddFOp, arith::XOrIOp>);
    ROW(CompareOp, lowerCompare);
    ROW(SelectOp, lowerSelect, true);
    ROW(ClampOp, lowerClamp);
    ROW(ConvertOp, lowerConvert, true);
    ROW(BitcastConvertOp, lowerBitcast, true);
#undef ROW
    return t;
  }());
  return rows;
}

bool isHalf(Type type) {
  return type.isBF16() || type.isF16();
}

bool takesComplex(Operation *op) {
  auto isComplex = [](Value value) {
    return isa<mlir::ComplexType>(dtensor::elementTypeOf(value.getType()));
  };
  return llvm::any_of(op->getOperands(), isComplex) ||
         isComplex(op->getResult(0));
}
} // namespace

/// The row of ops of that name; those that name an op of math have none of
/// their own. Its function is null where there is neither.
static Row rowOf(mlir::OperationName name) {
  auto row = table().find(name.getStringRef());
  if (row != table().end())
    return row->second;
  auto *elementwise = name.getInterface<dtensor::ElementwiseOpInterface>();
  return {elementwise && !elementwise->getMathName().empty() ? lowerByMath
                                                             : nullptr};
}

bool meshloom::hasScalarLowering(mlir::OperationName name) {
  return rowOf(name).lower;
}

Value meshloom::lowerToScalar(Operation *op, ValueRange operands,
                              OpBuilder &b) {
  const auto [lower, keepsHalf] = rowOf(op->getName());
  assert(lower && "elementwise ops have a row or an op of math");
  Location loc = op->getLoc();
  if (takesComplex(op) && !isa<dtensor::ConvertOp>(op)) {
    Value result = lowerComplex(op, operands, b);
    assert(result && "an op that its verifier lets take complex numbers");
    return result;
  }
  Scalars s{op,
            b,
            loc,
            dtensor::elementTypeOf(op->getOperand(0).getType()),
            dtensor::elementTypeOf(op->getResult(0).getType()),
            {}};
  for (Value operand : operands)
    s.x.push_back(
        isHalf(operand.getType()) && !keepsHalf
            ? b.create<arith::ExtFOp>(loc, b.getF32Type(), operand).getResult()
            : operand);
  Value result = lower(s);
  if (isHalf(s.to) && !keepsHalf)
    result = b.create<arith::TruncFOp>(loc, s.to, result);
  return result;
}

/// The f32 next to an f64 towards 0, its last bit set where it is not exact.
static Value roundToOdd(Value wide, OpBuilder &b, Location loc) {
  Value nearest = b.create<arith::TruncFOp>(loc, b.getF32Type(), wide);
  Value back = b.create<arith::ExtFOp>(loc, b.getF64Type(), nearest);
  Value inexact = b.create<arith::CmpFOp>(loc, F::ONE, back, wide);
  Value tooFar =
      b.create<arith::CmpFOp>(loc, F::OGT, b.create<math::AbsFOp>(loc, back),
                              b.create<math::AbsFOp>(loc, wide));
  Type i32 = b.getI32Type();
  Value bits = b.create<arith::BitcastOp>(loc, i32, nearest);
  bits = b.create<arith::SubIOp>(loc, bits,
                                 b.create<arith::ExtUIOp>(loc, i32, tooFar));
  bits = b.create<arith::OrIOp>(loc, bits,
                                b.create<arith::ExtUIOp>(loc, i32, inexact));
  return b.create<arith::BitcastOp>(loc, b.getF32Type(), bits);
}

Value meshloom::convertScalar(Value value, Type from, Type to, OpBuilder &b,
                              Location loc) {
  if (from == to)
    return value;
  Type scalar = spmd::KernelOp::scalarType(to);
  if (auto complex = dyn_cast<mlir::ComplexType>(from)) {
    ComplexParts parts = partsOf(value, b, loc);
    auto part = [&](Value x, Type type) {
      return convertScalar(x, complex.getElementType(), type, b, loc);
    };
    if (auto target = dyn_cast<mlir::ComplexType>(to))
      return joinParts({part(parts.real, target.getElementType()),
                        part(parts.imaginary, target.getElementType())},
                       b, loc);
    return part(parts.real, to);
  }
  if (auto target = dyn_cast<mlir::ComplexType>(to)) {
    Type part = target.getElementType();
    Value zero = b.create<arith::ConstantOp>(loc, b.getFloatAttr(part, 0));
    return joinParts({convertScalar(value, from, part, b, loc), zero}, b, loc);
  }
  if (isHalf(from))
    return convertScalar(b.create<arith::ExtFOp>(loc, b.getF32Type(), value),
                         b.getF32Type(), to, b, loc);
  if (isHalf(to)) {
    // A number that does not fit in f32 is rounded once only: f64 to the f32
    // towards 0 with the last bit set where that is not exact, then to nearest
    // even.
    bool fits = from.isF32() || from.getIntOrFloatBitWidth() <= 16;
    Type wide = fits ? b.getF32Type() : b.getF64Type();
    Value exact = convertScalar(value, from, wide, b, loc);
    Value single = fits ? exact : roundToOdd(exact, b, loc);
    return b.create<arith::TruncFOp>(loc, to, single);
  }
  Scalars s{nullptr, b, loc, from, to, {value}};
  unsigned toWidth = to.getIntOrFloatBitWidth();
  bool fromUnsigned = s.isUnsigned();
  if (isa<FloatType>(to)) {
    if (isa<FloatType>(from)) {
      if (s.width() < toWidth)
        return b.create<arith::ExtFOp>(loc, to, value);
      return b.create<arith::TruncFOp>(loc, to, value);
    }
    if (fromUnsigned)
      return b.create<arith::UIToFPOp>(loc, to, value);
    return b.create<arith::SIToFPOp>(loc, to, value);
  }
  if (to.isInteger(1)) {
    if (isa<FloatType>(from))
      return s.compare(F::UNE, value, s.number(0));
    return s.compare(I::ne, value, s.number(0));
  }
  if (!isa<FloatType>(from)) {
    if (s.width() == toWidth)
      return value;
    if (s.width() > toWidth)
      return b.create<arith::TruncIOp>(loc, scalar, value);
    if (fromUnsigned)
      return b.create<arith::ExtUIOp>(loc, scalar, value);
    return b.create<arith::ExtSIOp>(loc, scalar, value);
  }
  // Float to integer: towards zero; what does not fit becomes the nearest
  // integer that does, nan 0. The bounds are powers of two, so they are exact.
  bool toUnsigned = to.isUnsignedInteger();
  Value whole = b.create<math::TruncOp>(loc, value);
  Value low = s.number(toUnsigned ? 0.0 : -std::ldexp(1.0, toWidth - 1));
  Value high = s.number(std::ldexp(1.0, toUnsigned ? toWidth : toWidth - 1));
  Value fitsBelow = s.compare(F::OLT, whole, high);
  Value fitsAbove = s.compare(F::OGE, whole, low);
  Value harmless =
      s.select(s.make<arith::AndIOp>(fitsBelow, fitsAbove), whole, s.number(0));
  Value converted =
      toUnsigned ? b.create<arith::FPToUIOp>(loc, scalar, harmless).getResult()
                 : b.create<arith::FPToSIOp>(loc, scalar, harmless).getResult();
  s.x = {converted};
  using llvm::APInt;
  Value lowest = s.integer(toUnsigned ? APInt::getMinValue(toWidth)
                                      : APInt::getSignedMinValue(toWidth));
  Value highest = s.integer(toUnsigned ? APInt::getMaxValue(toWidth)
                                       : APInt::getSignedMaxValue(toWidth));
  Value tooHigh = s.compare(F::OGE, whole, high);
  Value tooLow = s.compare(F::OLT, whole, low);
  return s.select(tooHigh, highest, s.select(tooLow, lowest, converted));
}

Value meshloom::philoxScalar(Value linear, Value key0, Value key1, OpBuilder &b,
                             Location loc) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  auto word = [&](uint32_t value) -> Value {
    return b.create<arith::ConstantOp>(loc,
                                       b.getI32IntegerAttr(int32_t(value)));
  };
  auto wide = [&](int64_t value) -> Value {
    return b.create<arith::ConstantIntOp>(loc, value, 64);
  };
  Value counter = b.create<arith::ShRUIOp>(loc, linear, wide(2));
  Value c[4] = {b.create<arith::TruncIOp>(loc, i32, counter),
                b.create<arith::TruncIOp>(
                    loc, i32, b.create<arith::ShRUIOp>(loc, counter, wide(32))),
                word(0), word(0)};
  Value k[2] = {key0, key1};
  auto multiply = [&](Value x, uint32_t factor) {
    Value product = b.create<arith::MulIOp>(
        loc, b.create<arith::ExtUIOp>(loc, i64, x), wide(factor));
    Value low = b.create<arith::TruncIOp>(loc, i32, product);
    Value high = b.create<arith::TruncIOp>(
        loc, i32, b.create<arith::ShRUIOp>(loc, product, wide(32)));
    return std::pair(high, low);
  };
  auto mix = [&](Value x, Value y, Value z) -> Value {
    return b.create<arith::XOrIOp>(loc, b.create<arith::XOrIOp>(loc, x, y), z);
  };
  for (int round = 0; round < 10; ++round) {
    auto [high0, low0] = multiply(c[0], 0xD2511F53);
    auto [high1, low1] = multiply(c[2], 0xCD9E8D57);
    Value next0 = mix(high1, c[1], k[0]), next2 = mix(high0, c[3], k[1]);
    c[0] = next0;
    c[1] = low1;
    c[2] = next2;
    c[3] = low0;
    k[0] = b.create<arith::AddIOp>(loc, k[0], word(0x9E3779B9));
    k[1] = b.create<arith::AddIOp>(loc, k[1], word(0xBB67AE85));
  }
  Value which = b.create<arith::AndIOp>(
      loc, b.create<arith::TruncIOp>(loc, i32, linear), word(3));
  Value result = c[3];
  for (int i = 2; i >= 0; --i) {
    Value here = b.create<arith::CmpIOp>(loc, I::eq, which, word(uint32_t(i)));
    result = b.create<arith::SelectOp>(loc, here, c[i], result);
  }
  return result;
}
