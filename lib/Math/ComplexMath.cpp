// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inverse functions of complex numbers by T. Hull, T. Fairgrieve and P. Tang,
// "Implementing the complex arcsine and arccosine functions using exception
// handling" (1997), and by W. Kahan, "Branch cuts for complex elementary
// functions" (1987). All are straight-line formulas on real parts: what must
// not be computed is selected away.
#include "meshloom/Math/ComplexMath.h"

#include "meshloom/Math/FloatMath.h"

#include <cmath>
#include <numbers>

using namespace meshloom;

namespace {
/// Real and imaginary part, both f64.
struct Parts {
  Value re, im;
};

/// Formulas on parts; `m` does the arithmetic.
class ComplexMath {
public:
  explicit ComplexMath(dtensor::TensorBuilder &b) : b(b), m(b) {}

  Parts partsOf(Value z) {
    RankedTensorType type = b.typeOf(z).clone(dtensor::partTypeOf(z.getType()));
    auto wide = [&](Value part) { return b.convert(part, b.getF64Type()); };
    return {wide(b.apply<dtensor::RealOp>(z, type)),
            wide(b.apply<dtensor::ImagOp>(z, type))};
  }
  Value join(Parts z, Type complex) {
    Type part = cast<mlir::ComplexType>(complex).getElementType();
    return b.apply<dtensor::ComplexOp>(
        {b.convert(z.re, part), b.convert(z.im, part)},
        b.typeOf(z.re).clone(complex));
  }
  Value widen(Value z) {
    return b.convert(z, mlir::ComplexType::get(b.getF64Type()));
  }

  /// acos and asin together share most of their work: the real parts of both,
  /// and the size of the imaginary part, of |re| + i |im|.
  struct Inverses {
    Value acos, asin, imaginary;
  };
  Inverses inverses(Parts z) {
    Value x = m.abs(z.re), y = m.abs(z.im);
    Value up = m.add(x, 1), down = m.add(x, -1);
    Value r = hypot(up, y), s = hypot(down, y);
    Value a = m.mul(m.add(r, s), 0.5), ratio = m.div(x, a);
    Value square = m.mul(y, y), sum = m.add(a, x);
    Value inside = m.le(x, 1);
    // (a^2 - x^2) in two forms that do not cancel, one on each side of x = 1.
    Value right = m.div(square, m.add(r, up));
    Value inner = m.sqrt(m.mul(m.mul(sum, m.add(right, m.sub(s, down))), 0.5));
    Value outer = m.mul(y, m.sqrt(m.mul(m.add(m.div(sum, m.add(r, up)),
                                              m.div(sum, m.add(s, down))),
                                        0.5)));
    Value leg = m.select(inside, inner, outer);
    Value steep = m.gt(ratio, 0.6417);
    Value safe = m.select(steep, 0.0, ratio);
    Value root = m.sqrt(m.mul(m.sub(1, safe), m.add(safe, 1)));
    Value acos = m.select(steep, m.atan2(leg, x), m.atan2(root, safe));
    Value asin = m.select(steep, m.atan2(x, leg), m.atan2(safe, root));
    // log(a + sqrt(a^2 - 1)), by log1p where a is near 1.
    Value excess =
        m.mul(m.add(right, m.select(m.lt(x, 1), m.div(square, m.sub(s, down)),
                                    m.add(s, down))),
              0.5);
    Value near = m.log1p(m.add(excess, m.sqrt(m.mul(excess, m.add(a, 1)))));
    Value far = m.log(m.add(a, m.sqrt(m.mul(m.add(a, -1), m.add(a, 1)))));
    Value imaginary = m.select(m.lt(a, 1.5), near, far);
    // Too near to the real axis for y^2: its first term alone.
    Value tiny = m.both(m.lt(x, 1), m.lt(y, m.mul(m.sub(1, x), 0x1p-53)));
    imaginary =
        m.select(tiny, m.div(y, m.sqrt(m.mul(m.sub(1, x), up))), imaginary);
    // Squares would overflow: z itself is the root of z^2 - 1.
    Value huge = m.either(m.gt(x, 0x1p500), m.gt(y, 0x1p500));
    acos = m.select(huge, m.atan2(y, x), acos);
    asin = m.select(huge, m.atan2(x, y), asin);
    imaginary = m.select(huge,
                         m.add(m.log(hypot(m.mul(x, 0.5), m.mul(y, 0.5))),
                               2 * std::numbers::ln2),
                         imaginary);
    return {acos, asin, imaginary};
  }

  Parts acos(Parts z) {
    Inverses of = inverses(z);
    Value isLeft = isNegative(z.re);
    return {m.select(isLeft, m.sub(std::numbers::pi, of.acos), of.acos),
            withSign(of.imaginary, m.neg(z.im))};
  }
  Parts asin(Parts z) {
    Inverses of = inverses(z);
    return {withSign(of.asin, z.re), withSign(of.imaginary, z.im)};
  }
  /// -i asin(i z)
  Parts asinh(Parts z) {
    Parts turned = asin({m.neg(z.im), z.re});
    return {turned.im, m.neg(turned.re)};
  }
  /// The acos turned so that its real part is not negative.
  Parts acosh(Parts z) {
    Parts turned = acos(z);
    return {m.abs(turned.im), withSign(turned.re, z.im)};
  }
  Parts atanh(Parts z) {
    Value x = m.abs(z.re), y = m.abs(z.im);
    Value away = m.sub(1, x);
    Value re = m.mul(
        m.log1p(m.div(m.mul(x, 4), m.add(m.mul(away, away), m.mul(y, y)))),
        0.25);
    // Straight above 1, where only y is left below: log(sqrt(4 + y^2) / y) / 2.
    Value above =
        m.mul(m.sub(m.mul(m.log(m.add(m.mul(y, y), 4)), 0.5), m.log(y)), 0.5);
    re = m.select(m.both(m.eq(x, 1), m.lt(y, 1)), above, re);
    Value im = m.mul(
        m.atan2(m.mul(y, 2), m.sub(m.mul(away, m.add(x, 1)), m.mul(y, y))),
        0.5);
    // Far from 0 it is 1 / z + i pi / 2.
    Value huge = m.either(m.gt(x, 0x1p500), m.gt(y, 0x1p500));
    Value size = hypot(x, y);
    Value inverse = m.div(m.div(x, size), size);
    inverse = m.select(m.eq(size, HUGE_VAL), 0.0, inverse);
    re = m.select(huge, inverse, re);
    im = m.select(huge, std::numbers::pi / 2, im);
    return {withSign(re, z.re), withSign(im, z.im)};
  }
  /// -i atanh(i z)
  Parts atan(Parts z) {
    Parts turned = atanh({m.neg(z.im), z.re});
    return {turned.im, m.neg(turned.re)};
  }
  /// -i sin(i z); of a real number a real one, be it infinite.
  Parts sinh(Parts z, Type wide) {
    Parts turned =
        partsOf(b.apply<dtensor::SineOp>(join({m.neg(z.im), z.re}, wide)));
    return {turned.im, m.select(m.eq(z.im, 0), z.im, m.neg(turned.re))};
  }
  Parts cosh(Parts z, Type wide) {
    Parts turned =
        partsOf(b.apply<dtensor::CosineOp>(join({m.neg(z.im), z.re}, wide)));
    return {turned.re,
            m.select(m.eq(z.im, 0), m.mul(z.im, m.sign(z.re)), turned.im)};
  }
  /// -i log((x + i y) / sqrt(x^2 + y^2))
  Value atan2(Value y, Value x) {
    Parts p = partsOf(y);
    Value turned = join({m.neg(p.im), p.re}, b.elementOf(y));
    Value size = m.sqrt(m.add(m.mul(x, x), m.mul(y, y)));
    Parts angle = partsOf(m.log(m.div(m.add(x, turned), size)));
    return join({angle.im, m.neg(angle.re)}, b.elementOf(y));
  }
  /// By real parts, then by imaginary parts.
  Value larger(Value x, Value y, bool isMaximum) {
    using Direction = dtensor::ComparisonDirection;
    Parts p = partsOf(x), q = partsOf(y);
    Direction better = isMaximum ? Direction::GT : Direction::LT;
    Value first = b.compare(better, p.re, q.re);
    Value second = m.both(m.eq(p.re, q.re), b.compare(better, p.im, q.im));
    return m.select(m.either(first, second), x, y);
  }

private:
  Value hypot(Value x, Value y) {
    Type wide = mlir::ComplexType::get(b.getF64Type());
    return m.abs(b.apply<dtensor::ComplexOp>({x, y}, b.typeOf(x).clone(wide)));
  }
  /// Returns whether the sign bit is set: of -0 too.
  Value isNegative(Value x) { return m.lt(b.bitcast(x, b.getI64Type()), 0); }
  /// `size`, which is not negative, with the sign of `sign`.
  Value withSign(Value size, Value sign) {
    return m.select(isNegative(sign), m.neg(size), size);
  }

  dtensor::TensorBuilder &b;
  FloatMath m;
};

using Unary = Parts (*)(ComplexMath &, Parts, Type);
} // namespace

static const llvm::StringMap<Unary> &unaryFunctions() {
  static const auto &table = *new llvm::StringMap<Unary>{
      {"acos", [](ComplexMath &m, Parts z, Type) { return m.acos(z); }},
      {"acosh", [](ComplexMath &m, Parts z, Type) { return m.acosh(z); }},
      {"asin", [](ComplexMath &m, Parts z, Type) { return m.asin(z); }},
      {"asinh", [](ComplexMath &m, Parts z, Type) { return m.asinh(z); }},
      {"atan", [](ComplexMath &m, Parts z, Type) { return m.atan(z); }},
      {"atanh", [](ComplexMath &m, Parts z, Type) { return m.atanh(z); }},
      {"cosh", [](ComplexMath &m, Parts z, Type t) { return m.cosh(z, t); }},
      {"sinh", [](ComplexMath &m, Parts z, Type t) { return m.sinh(z, t); }}};
  return table;
}

bool meshloom::isComplexFunction(StringRef name, size_t operands) {
  if (operands == 1)
    return name == "cbrt" || unaryFunctions().contains(name);
  return operands == 2 &&
         (name == "atan2" || name == "maximum" || name == "minimum");
}

Value meshloom::emitComplexFunction(dtensor::TensorBuilder &builder,
                                    StringRef name, ValueRange operands) {
  ComplexMath m(builder);
  Type type = builder.elementOf(operands[0]);
  if (name == "maximum" || name == "minimum")
    return m.larger(operands[0], operands[1], name == "maximum");
  Value z = m.widen(operands[0]);
  if (name == "atan2")
    return builder.convert(m.atan2(z, m.widen(operands[1])), type);
  if (name == "cbrt") {
    FloatMath f(builder);
    return builder.convert(f.pow(z, f.number(z, 1.0 / 3)), type);
  }
  Type wide = builder.elementOf(z);
  return m.join(unaryFunctions().at(name)(m, m.partsOf(z), wide), type);
}
