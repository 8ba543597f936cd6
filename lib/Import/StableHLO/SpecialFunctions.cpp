// chlo's functions: by formulas that hold over the whole range of the type.
#include "meshloom/Import/StableHLO/SpecialFunctions.h"

#include "FloatMath.h"
#include "Importer.h"

#include <cmath>
#include <numbers>

using namespace meshloom;
using namespace meshloom::importer;

using Unary = Value (*)(FloatMath &, Value);
using Binary = Value (*)(FloatMath &, Value, Value);

static Value asin(FloatMath &m, Value x) {
  // 2 atan2(x, 1 + sqrt(1 - x^2)), with 1 - x^2 as a product.
  Value root = m.sqrt(m.mul(m.sub(1, x), m.add(x, 1)));
  return m.mul(m.atan2(x, m.add(root, 1)), 2);
}

static Value acos(FloatMath &m, Value x) {
  Value root = m.sqrt(m.mul(m.sub(1, x), m.add(x, 1)));
  // At -1, where the point would be the origin, pi.
  return m.select(m.eq(x, -1), std::numbers::pi,
                  m.mul(m.atan2(root, m.add(x, 1)), 2));
}

/// Where squaring would overflow.
static constexpr double large = 1e9;

static Value asinh(FloatMath &m, Value x) {
  Value size = m.abs(x), square = m.mul(size, size);
  Value near =
      m.log1p(m.add(size, m.div(square, m.add(m.sqrt(m.add(square, 1)), 1))));
  Value far = m.add(m.log(size), std::numbers::ln2);
  return m.mul(m.select(m.gt(size, large), far, near), m.sign(x));
}

static Value acosh(FloatMath &m, Value x) {
  // log(x + sqrt((x - 1) (x + 1))) = log1p(t + sqrt(t (t + 2))), t = x - 1.
  Value t = m.add(x, -1);
  Value near = m.log1p(m.add(t, m.sqrt(m.mul(t, m.add(t, 2)))));
  Value far = m.add(m.log(x), std::numbers::ln2);
  return m.select(m.lt(x, 1), NAN, m.select(m.gt(x, large), far, near));
}

static Value atanh(FloatMath &m, Value x) {
  return m.mul(m.sub(m.log1p(x), m.log1p(m.neg(x))), 0.5);
}

static Value cosh(FloatMath &m, Value x) {
  double half = std::log(0.5);
  return m.add(m.exp(m.add(x, half)), m.exp(m.add(m.neg(x), half)));
}

static Value atan(FloatMath &m, Value x) {
  return m.atan2(x, m.number(x, 1));
}

static const llvm::StringMap<Unary> &unaryFunctions() {
  static const llvm::StringMap<Unary> table = {
      {"acos", acos},
      {"acosh", acosh},
      {"asin", asin},
      {"asinh", asinh},
      {"atan", atan},
      {"atanh", atanh},
      {"bessel_i1e", [](FloatMath &m, Value x) { return m.besselI1e(x); }},
      {"cosh", cosh},
      {"digamma", [](FloatMath &m, Value x) { return m.digamma(x); }},
      {"erf_inv", [](FloatMath &m, Value x) { return m.erfInv(x); }},
      {"erfc", [](FloatMath &m, Value x) { return m.erfc(x); }},
      {"lgamma", [](FloatMath &m, Value x) { return m.lgamma(x); }},
      {"sinh", [](FloatMath &m, Value x) { return m.sinh(x); }}};
  return table;
}

static const llvm::StringMap<Binary> &binaryFunctions() {
  static const llvm::StringMap<Binary> table = {
      {"next_after",
       [](FloatMath &m, Value x, Value y) { return m.nextAfter(x, y); }},
      {"polygamma",
       [](FloatMath &m, Value n, Value x) { return m.polygamma(n, x); }},
      {"zeta", [](FloatMath &m, Value x, Value q) { return m.zeta(x, q); }}};
  return table;
}

static Value apply(FloatMath &m, Unary formula, Value x, Type type) {
  return m.finish(formula(m, m.compute(x)), type);
}

/// Neighbours in f32 are not neighbours in bf16: no wider type for them.
static Value apply(FloatMath &m, StringRef name, Value x, Value y, Type type) {
  Binary formula = binaryFunctions().at(name);
  if (name == "next_after")
    return formula(m, x, y);
  return m.finish(formula(m, m.compute(x), m.compute(y)), type);
}

bool meshloom::isSpecialFunction(StringRef name, size_t operands) {
  return operands == 1 ? unaryFunctions().contains(name)
                       : operands == 2 && binaryFunctions().contains(name);
}

Value meshloom::emitSpecialFunction(OpBuilder &builder, Location loc,
                                    StringRef name, ValueRange operands) {
  LaneBuilder lanes(builder.getContext(), {});
  lanes.setLoc(loc);
  lanes.restoreInsertionPoint(builder.saveInsertionPoint());
  FloatMath m(lanes);
  Type type = lanes.elementOf(operands[0]);
  Value result = operands.size() == 1
                     ? apply(m, unaryFunctions().at(name), operands[0], type)
                     : apply(m, name, operands[0], operands[1], type);
  builder.restoreInsertionPoint(lanes.saveInsertionPoint());
  return result;
}

/// A function of real floats.
template <typename OpTy>
static void addReal(Handlers &handlers, Unary formula) {
  handlers.add<OpTy>([formula](Importer &im, OpTy op) -> FailureOr<Value> {
    Value x = im.get(op.getOperand());
    if (!isa<FloatType>(im.b.elementOf(x)))
      return im.error("'") << op->getName() << "' of " << im.b.elementOf(x)
                           << " is not supported";
    FloatMath m(im.b);
    return apply(m, formula, x,
                 Importer::typeOf(op.getResult()).getElementType());
  });
}

template <typename OpTy>
static void addReal(Handlers &handlers, StringRef name) {
  addReal<OpTy>(handlers, unaryFunctions().at(name));
}

template <typename OpTy>
static void addReal2(Handlers &handlers, StringRef name) {
  handlers.add<OpTy>([name](Importer &im, OpTy op) -> FailureOr<Value> {
    SmallVector<Value> operands = im.get(op->getOperands());
    if (!isa<FloatType>(im.b.elementOf(operands[0])))
      return im.error("'") << op->getName() << "' of "
                           << im.b.elementOf(operands[0])
                           << " is not supported";
    FloatMath m(im.b);
    return apply(m, name, operands[0], operands[1],
                 Importer::typeOf(op->getResult(0)).getElementType());
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
  addReal<chlo::IsInfOp>(handlers, isInfinite);
  addReal<chlo::IsPosInfOp>(
      handlers, [](FloatMath &m, Value x) { return m.eq(x, HUGE_VAL); });
  addReal<chlo::IsNegInfOp>(
      handlers, [](FloatMath &m, Value x) { return m.eq(x, -HUGE_VAL); });
  addReal2<chlo::NextAfterOp>(handlers, "next_after");
  addReal2<chlo::PolygammaOp>(handlers, "polygamma");
  addReal2<chlo::ZetaOp>(handlers, "zeta");
  handlers.add<chlo::ErfOp>([](Importer &im, chlo::ErfOp op) {
    return im.b.apply<dtensor::ErfOp>(im.get(op.getOperand()));
  });
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
