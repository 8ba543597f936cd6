// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Special functions by name: by formulas that hold over the whole range of the
// type. So do those of their gradients: what a select leaves out is computed of
// a number where it is finite, as 0 times its slope would be nan otherwise.
#include "meshloom/Math/SpecialFunctions.h"

#include "meshloom/Math/FloatMath.h"

#include <cmath>
#include <numbers>

using namespace meshloom;

using Unary = Value (*)(FloatMath &, Value);
using Binary = Value (*)(FloatMath &, Value, Value);

static Value asin(FloatMath &m, Value x) {
  // 2 atan2(x, 1 + sqrt(1 - x^2)), with 1 - x^2 as a product.
  Value root = m.mul(m.sqrt(m.sub(1, x)), m.sqrt(m.add(x, 1)));
  return m.mul(m.atan2(x, m.add(root, 1)), 2);
}

static Value acos(FloatMath &m, Value x) {
  // Neither of the two vanishes where the other does, so that the slope is
  // -inf at both ends.
  return m.mul(m.atan2(m.sqrt(m.sub(1, x)), m.sqrt(m.add(x, 1))), 2);
}

/// Where squaring would overflow.
static constexpr double large = 1e9;

static Value asinh(FloatMath &m, Value x) {
  Value isNegative = m.lt(x, 0), size = m.select(isNegative, m.neg(x), x);
  Value isFar = m.gt(size, large), one = m.number(x, 1);
  Value low = m.select(isFar, one, size), square = m.mul(low, low);
  Value near =
      m.log1p(m.add(low, m.div(square, m.add(m.sqrt(m.add(square, 1)), 1))));
  Value far = m.add(m.log(m.select(isFar, size, one)), std::numbers::ln2);
  Value result = m.select(isFar, far, near);
  result = m.select(isNegative, m.neg(result), result);
  // -0 stays what it is.
  return m.select(m.eq(x, 0), x, result);
}

static Value acosh(FloatMath &m, Value x) {
  // log(x + sqrt((x - 1) (x + 1))) = log1p(t + sqrt(t) sqrt(t + 2)), t = x - 1.
  Value isFar = m.gt(x, large), one = m.number(x, 1);
  Value t = m.select(isFar, one, m.add(x, -1));
  Value near = m.log1p(m.add(t, m.mul(m.sqrt(t), m.sqrt(m.add(t, 2)))));
  Value far = m.add(m.log(m.select(isFar, x, one)), std::numbers::ln2);
  return m.select(m.lt(x, 1), NAN, m.select(isFar, far, near));
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
  static const auto &table = *new llvm::StringMap<Unary>{
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
  static const auto &table = *new llvm::StringMap<Binary>{
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

Value meshloom::emitSpecialFunction(dtensor::TensorBuilder &builder,
                                    StringRef name, ValueRange operands) {
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
  dtensor::TensorBuilder elements(builder.getContext(), loc);
  elements.restoreInsertionPoint(builder.saveInsertionPoint());
  Value result = emitSpecialFunction(elements, name, operands);
  builder.restoreInsertionPoint(elements.saveInsertionPoint());
  return result;
}
