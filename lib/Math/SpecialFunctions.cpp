// Special functions by name: by formulas that hold over the whole range of the
// type.
#include "meshloom/Math/SpecialFunctions.h"

#include "meshloom/Math/FloatMath.h"

#include <cmath>
#include <numbers>

using namespace meshloom;

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

bool meshloom::isSpecialFunction(StringRef name, size_t operands) {
  return operands == 1 ? unaryFunctions().contains(name)
                       : operands == 2 && binaryFunctions().contains(name);
}

Value meshloom::emitSpecialFunction(ElementwiseBuilder &builder, StringRef name,
                                    ValueRange operands) {
  FloatMath m(builder);
  Type type = builder.elementOf(operands[0]);
  if (operands.size() == 1) {
    Unary formula = unaryFunctions().at(name);
    return m.finish(formula(m, m.compute(operands[0])), type);
  }
  Binary formula = binaryFunctions().at(name);
  // Neighbours in f32 are not neighbours in bf16: no wider type for them.
  if (name == "next_after")
    return formula(m, operands[0], operands[1]);
  return m.finish(formula(m, m.compute(operands[0]), m.compute(operands[1])),
                  type);
}

Value meshloom::emitSpecialFunction(OpBuilder &builder, Location loc,
                                    StringRef name, ValueRange operands) {
  ElementwiseBuilder elements(builder.getContext(), loc);
  elements.restoreInsertionPoint(builder.saveInsertionPoint());
  Value result = emitSpecialFunction(elements, name, operands);
  builder.restoreInsertionPoint(elements.saveInsertionPoint());
  return result;
}
