// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// chlo's functions: the special ones by name (lib/Math), the others on the
// spot.
#include "ScalarMath.h"

#include "meshloom/Math/FloatMath.h"
#include "meshloom/Math/SpecialFunctions.h"

#include "mlir/Dialect/Complex/IR/Complex.h"

#include <cmath>

using namespace meshloom;
using namespace meshloom::importer;

/// The operands, if they are real floats.
template <typename OpTy>
static FailureOr<SmallVector<Value>> realOperands(Importer &im, OpTy op) {
  SmallVector<Value> operands = im.get(op->getOperands());
  if (!isa<FloatType>(im.b.elementOf(operands[0])))
    return im.error("'") << op->getName() << "' of "
                         << im.b.elementOf(operands[0]) << " is not supported";
  return operands;
}

/// Returns whether `operands` are complex numbers that there is a function
/// `name` of.
static bool takesComplex(Importer &im, StringRef name, ValueRange operands) {
  return llvm::all_of(operands,
                      [&](Value value) {
                        return isa<mlir::ComplexType>(im.b.elementOf(value));
                      }) &&
         isComplexFunction(name, operands.size());
}

/// A special function of real floats, and of complex numbers where there is
/// one of that name.
template <typename OpTy>
static void addReal(Handlers &handlers, StringRef name) {
  handlers.add<OpTy>([name](Importer &im, OpTy op) -> FailureOr<Value> {
    if (SmallVector<Value> values = im.get(op->getOperands());
        takesComplex(im, name, values))
      return emitComplexFunction(im.b, name, values);
    FailureOr<SmallVector<Value>> operands = realOperands(im, op);
    if (failed(operands))
      return failure();
    return emitSpecialFunction(im.b, name, *operands);
  });
}

/// A question about real floats.
template <typename OpTy>
static void addTest(Handlers &handlers, Value (*test)(FloatMath &, Value)) {
  handlers.add<OpTy>([test](Importer &im, OpTy op) -> FailureOr<Value> {
    FailureOr<SmallVector<Value>> operands = realOperands(im, op);
    if (failed(operands))
      return failure();
    FloatMath m(im.b);
    return test(m, m.compute(operands->front()));
  });
}

static Value isInfinite(FloatMath &m, Value x) {
  return m.eq(m.abs(x), HUGE_VAL);
}

/// The upper half of a product of integers.
static FailureOr<Value> importMulhi(Importer &im, chlo::MulhiOp op) {
  LaneBuilder &b = im.b;
  Value lhs = im.get(op.getLhs()), rhs = im.get(op.getRhs());
  Type element = b.elementOf(lhs);
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer || integer.getWidth() == 1)
    return im.error("mulhi of ") << element << " is not supported";
  unsigned width = integer.getWidth();
  bool isUnsigned = integer.isUnsigned();
  FloatMath m(b);
  auto right = [&](Value x, unsigned bits, bool logical) {
    return logical
               ? b.apply<dtensor::ShiftRightLogicalOp>({x, b.like(x, bits)})
               : b.apply<dtensor::ShiftRightArithmeticOp>({x, b.like(x, bits)});
  };
  if (width < 64) {
    Type wide = b.getIntegerType(64, !isUnsigned);
    wide = isUnsigned ? wide : b.getI64Type();
    Value product = m.mul(b.convert(lhs, wide), b.convert(rhs, wide));
    return b.convert(right(product, width, isUnsigned), element);
  }
  // By halves of 32 bits, unsigned; a negative factor takes the other one off.
  Type word = b.getIntegerType(64, false);
  Value x = b.bitcast(lhs, word), y = b.bitcast(rhs, word);
  auto low = [&](Value v) {
    return b.apply<dtensor::AndOp>(
        {v, b.splat(b.typeOf(v), llvm::APInt(64, 0xFFFFFFFF))});
  };
  auto high = [&](Value v) { return right(v, 32, true); };
  Value middle = m.add(m.mul(high(x), low(y)), high(m.mul(low(x), low(y))));
  Value other = m.add(m.mul(low(x), high(y)), low(middle));
  Value result =
      m.add(m.add(m.mul(high(x), high(y)), high(middle)), high(other));
  if (!isUnsigned) {
    Value zero = b.like(result, 0);
    auto fix = [&](Value factor, Value by) {
      Value negative = b.compare(dtensor::ComparisonDirection::LT, factor,
                                 b.like(factor, 0));
      result = m.sub(result, m.select(negative, by, zero));
    };
    fix(lhs, y);
    fix(rhs, x);
  }
  return b.bitcast(result, element);
}

static FailureOr<Value> importConstantLike(Importer &im,
                                           chlo::ConstantLikeOp op) {
  LaneBuilder &b = im.b;
  RankedTensorType type = Importer::typeOf(op.getOutput());
  Attribute value = op.getValue();
  if (auto number = dyn_cast<mlir::complex::NumberAttr>(value))
    return b.constant(DenseElementsAttr::get(
        type, std::complex<llvm::APFloat>(number.getReal(), number.getImag())));
  if (auto number = dyn_cast<FloatAttr>(value))
    return b.constant(DenseElementsAttr::get(type, number.getValue()));
  if (auto number = dyn_cast<IntegerAttr>(value))
    return b.constant(DenseElementsAttr::get(type, number.getValue()));
  return im.error("constant_like takes a number, not ") << value;
}

/// An elementwise op of dtensor that takes no complex numbers.
template <typename OpTy, typename ToOp>
static void addComplex(Handlers &handlers, StringRef name) {
  handlers.add<OpTy>([name](Importer &im, OpTy op) -> FailureOr<Value> {
    return applyElementwise<ToOp>(im, name, im.get(op->getOperands()));
  });
}

/// Booleans have one bit: N of them, the lowest bit first, are a number of N
/// bits. Numbers are cast by the op of dtensor.
static FailureOr<Value> importBitcast(Importer &im,
                                      stablehlo::BitcastConvertOp op) {
  LaneBuilder &b = im.b;
  Value value = im.get(op.getOperand());
  RankedTensorType from = b.typeOf(value),
                   to = Importer::typeOf(op.getResult());
  bool isBool = from.getElementType().isInteger(1),
       toBool = to.getElementType().isInteger(1);
  if (isBool && toBool)
    return value;
  if (!isBool && !toBool)
    return b.apply<dtensor::BitcastConvertOp>(value, to);
  RankedTensorType bits = isBool ? from : to, number = isBool ? to : from;
  int64_t width = isa<mlir::ComplexType>(number.getElementType())
                      ? 0
                      : int64_t(number.getElementTypeBitWidth());
  if (bits.getRank() != number.getRank() + 1 ||
      bits.getShape().drop_back() != number.getShape() ||
      bits.getShape().back() != width)
    return im.error("bitcast_convert of a ")
           << from << " to a " << to << ": a number is as many i1 as it has "
           << "bits, in a dim more";
  Type word = b.getIntegerType(unsigned(width), /*isSigned=*/false);
  int64_t last = bits.getRank() - 1;
  RankedTensorType words = bits.clone(word);
  Value place = b.iota(words, last);
  if (isBool) {
    Value shifted =
        b.apply<dtensor::ShiftLeftOp>({b.convert(value, word), place});
    return b.bitcast(b.reduce(ReduceKind::Sum, shifted, last),
                     to.getElementType());
  }
  SmallVector<int64_t> dims =
      llvm::to_vector(llvm::seq<int64_t>(0, number.getRank()));
  Value spread = b.broadcast(b.bitcast(value, word), bits.getShape(), dims);
  Value bit = b.apply<dtensor::AndOp>(
      {b.apply<dtensor::ShiftRightLogicalOp>({spread, place}),
       b.like(place, 1)});
  return b.convert(bit, b.getI1Type());
}

void importer::addSpecialFunctions(Handlers &handlers) {
  handlers.add<stablehlo::BitcastConvertOp>(importBitcast);
  addComplex<stablehlo::Atan2Op, dtensor::Atan2Op>(handlers, "atan2");
  addComplex<stablehlo::CbrtOp, dtensor::CbrtOp>(handlers, "cbrt");
  addComplex<stablehlo::MaxOp, dtensor::MaximumOp>(handlers, "maximum");
  addComplex<stablehlo::MinOp, dtensor::MinimumOp>(handlers, "minimum");
  addReal<chlo::AcosOp>(handlers, "acos");
  addReal<chlo::AcoshOp>(handlers, "acosh");
  addReal<chlo::AsinOp>(handlers, "asin");
  addReal<chlo::AsinhOp>(handlers, "asinh");
  addReal<chlo::AtanOp>(handlers, "atan");
  addReal<chlo::AtanhOp>(handlers, "atanh");
  addReal<chlo::BesselI1eOp>(handlers, "bessel_i1e");
  addReal<chlo::CoshOp>(handlers, "cosh");
  addReal<chlo::DigammaOp>(handlers, "digamma");
  addReal<chlo::ErfcOp>(handlers, "erfc");
  addReal<chlo::ErfInvOp>(handlers, "erf_inv");
  addReal<chlo::LgammaOp>(handlers, "lgamma");
  addReal<chlo::SinhOp>(handlers, "sinh");
  addTest<chlo::IsInfOp>(handlers, isInfinite);
  addTest<chlo::IsPosInfOp>(
      handlers, [](FloatMath &m, Value x) { return m.eq(x, HUGE_VAL); });
  addTest<chlo::IsNegInfOp>(
      handlers, [](FloatMath &m, Value x) { return m.eq(x, -HUGE_VAL); });
  addReal<chlo::NextAfterOp>(handlers, "next_after");
  addReal<chlo::PolygammaOp>(handlers, "polygamma");
  addReal<chlo::ZetaOp>(handlers, "zeta");
  handlers.add<chlo::TanOp>([](Importer &im, chlo::TanOp op) {
    return im.b.apply<dtensor::TanOp>(im.get(op.getOperand()));
  });
  handlers.add<chlo::SquareOp>([](Importer &im, chlo::SquareOp op) {
    Value x = im.get(op.getOperand());
    return FloatMath(im.b).mul(x, x);
  });
  handlers.add<chlo::ConjOp>([](Importer &im, chlo::ConjOp op) {
    Value z = im.get(op.getOperand());
    auto complex = dyn_cast<mlir::ComplexType>(im.b.elementOf(z));
    if (!complex)
      return z;
    RankedTensorType part = im.b.typeOf(z).clone(complex.getElementType());
    Value real = im.b.apply<dtensor::RealOp>(z, part),
          imaginary = im.b.apply<dtensor::ImagOp>(z, part);
    return im.b.apply<dtensor::ComplexOp>(
        {real, FloatMath(im.b).neg(imaginary)}, im.b.typeOf(z));
  });
  handlers.add<chlo::MulhiOp>(importMulhi);
  handlers.add<chlo::ConstantLikeOp>(importConstantLike);
}
