// chlo's functions: the special ones by name (lib/Math), the others on the
// spot.
#include "Importer.h"

#include "meshloom/Math/FloatMath.h"
#include "meshloom/Math/SpecialFunctions.h"

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

/// A special function of real floats.
template <typename OpTy>
static void addReal(Handlers &handlers, StringRef name) {
  handlers.add<OpTy>([name](Importer &im, OpTy op) -> FailureOr<Value> {
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
  if (auto number = dyn_cast<FloatAttr>(value))
    return b.constant(DenseElementsAttr::get(type, number.getValue()));
  if (auto number = dyn_cast<IntegerAttr>(value))
    return b.constant(DenseElementsAttr::get(type, number.getValue()));
  return im.error("constant_like takes a number, not ") << value;
}

void importer::addSpecialFunctions(Handlers &handlers) {
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
  handlers.add<chlo::ConstantOp>([](Importer &im, chlo::ConstantOp op) {
    return im.b.constant(op.getValue());
  });
}
