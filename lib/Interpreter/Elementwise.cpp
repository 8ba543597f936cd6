// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference's elementwise ops: one line of arithmetic each, f64, pairs of
// f64 or exact integers that wrap to their type.
#include "ComplexOps.h"
#include "Ops.h"

#include "meshloom/Dialect/DTensor/DTensor.h"

#include <bit>
#include <cmath>
#include <limits>

namespace meshloom::interpreter {
namespace {

template <typename F> HostValue mapFloats(const Call &call, F function) {
  HostValue out = call.result();
  for (size_t i = 0; i < out.floats.size(); ++i)
    out.floats[i] = function(call[0].floats[i]);
  return out;
}

template <typename F> HostValue mapInts(const Call &call, F function) {
  HostValue out = call.result();
  for (size_t i = 0; i < out.ints.size(); ++i)
    out.ints[i] = wrapInteger(out.type, function(call[0].ints[i]));
  return out;
}

template <typename F> HostValue zipFloats(const Call &call, F function) {
  HostValue out = call.result();
  for (size_t i = 0; i < out.floats.size(); ++i)
    out.floats[i] = function(call[0].floats[i], call[1].floats[i]);
  return out;
}

template <typename F> HostValue zipInts(const Call &call, F function) {
  HostValue out = call.result();
  for (size_t i = 0; i < out.ints.size(); ++i)
    out.ints[i] =
        wrapInteger(out.type, function(call[0].ints[i], call[1].ints[i]));
  return out;
}

template <typename F> HostValue mapComplex(const Call &call, F function) {
  HostValue out = call.result();
  for (size_t i = 0; i < out.floats.size(); ++i)
    setComplex(out, i, function(complexAt(call[0], i)));
  return out;
}

template <typename F> HostValue zipComplex(const Call &call, F function) {
  HostValue out = call.result();
  for (size_t i = 0; i < out.floats.size(); ++i)
    setComplex(out, i, function(complexAt(call[0], i), complexAt(call[1], i)));
  return out;
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

using ComplexFunction = Complex (*)(Complex);

/// The functions that are also of complex numbers.
const llvm::StringMap<ComplexFunction> &complexFunctions() {
  static const auto &table = *new llvm::StringMap<ComplexFunction>{
      {"dtensor.exp", [](Complex z) { return std::exp(z); }},
      {"dtensor.expm1", complexExpm1},
      {"dtensor.log", [](Complex z) { return std::log(z); }},
      {"dtensor.log1p", complexLog1p},
      {"dtensor.sqrt", [](Complex z) { return std::sqrt(z); }},
      {"dtensor.rsqrt", complexRsqrt},
      {"dtensor.tanh", [](Complex z) { return std::tanh(z); }},
      {"dtensor.logistic", complexLogistic},
      {"dtensor.sine", [](Complex z) { return std::sin(z); }},
      {"dtensor.cosine", [](Complex z) { return std::cos(z); }},
      {"dtensor.tan", [](Complex z) { return std::tan(z); }}};
  return table;
}

Values abs(const Call &call) {
  if (call[0].isComplex()) {
    HostValue out = call.result();
    for (size_t i = 0; i < out.floats.size(); ++i)
      out.floats[i] = std::abs(complexAt(call[0], i));
    return {std::move(out)};
  }
  if (call[0].type == DType::UI64)
    return {call[0]};
  if (call[0].isFloating())
    return {mapFloats(call, [](double x) { return std::fabs(x); })};
  return {mapInts(call,
                  [](int64_t x) { return x < 0 ? int64_t(-uint64_t(x)) : x; })};
}

Values negate(const Call &call) {
  if (call[0].isComplex())
    return {mapComplex(call, [](Complex z) { return -z; })};
  if (call[0].isFloating())
    return {mapFloats(call, [](double x) { return -x; })};
  return {mapInts(call, [](int64_t x) { return int64_t(-uint64_t(x)); })};
}

Values sign(const Call &call) {
  if (call[0].isComplex())
    return {mapComplex(call, complexSign)};
  if (call[0].type == DType::UI64)
    return {mapInts(call, [](int64_t x) { return int64_t(x != 0); })};
  if (call[0].isFloating())
    return {mapFloats(call, [](double x) {
      return x > 0 ? 1.0 : x < 0 ? -1.0 : x; // keeps nan and -0
    })};
  return {mapInts(call, [](int64_t x) { return int64_t((x > 0) - (x < 0)); })};
}

Values logicalNot(const Call &call) {
  if (call[0].type == DType::I1)
    return {mapInts(call, [](int64_t x) { return int64_t(!x); })};
  return {mapInts(call, [](int64_t x) { return ~x; })};
}

Values isFinite(const Call &call) {
  HostValue out = call.result();
  for (size_t i = 0; i < out.ints.size(); ++i)
    out.ints[i] = std::isfinite(call[0].floats[i]);
  return {std::move(out)};
}

//===----------------------------------------------------------------------===//
// Binary. On booleans add, maximum and or are "or"; multiply, minimum and
// "and" are "and".
//===----------------------------------------------------------------------===//

Values add(const Call &call) {
  if (call[0].isComplex())
    return {zipComplex(call, [](Complex x, Complex y) { return x + y; })};
  if (call[0].isFloating())
    return {zipFloats(call, [](double x, double y) { return x + y; })};
  if (call[0].type == DType::I1)
    return {zipInts(call, [](int64_t x, int64_t y) { return x | y; })};
  return {zipInts(call, [](int64_t x, int64_t y) {
    return int64_t(uint64_t(x) + uint64_t(y));
  })};
}

Values subtract(const Call &call) {
  if (call[0].isComplex())
    return {zipComplex(call, [](Complex x, Complex y) { return x - y; })};
  if (call[0].isFloating())
    return {zipFloats(call, [](double x, double y) { return x - y; })};
  return {zipInts(call, [](int64_t x, int64_t y) {
    return int64_t(uint64_t(x) - uint64_t(y));
  })};
}

Values multiply(const Call &call) {
  if (call[0].isComplex())
    return {
        zipComplex(call, [](Complex x, Complex y) { return product(x, y); })};
  if (call[0].isFloating())
    return {zipFloats(call, [](double x, double y) { return x * y; })};
  return {zipInts(call, [](int64_t x, int64_t y) {
    return int64_t(uint64_t(x) * uint64_t(y));
  })};
}

Values divide(const Call &call) {
  if (call[0].isComplex())
    return {zipComplex(call, [](Complex x, Complex y) { return x / y; })};
  if (call[0].isFloating())
    return {zipFloats(call, [](double x, double y) { return x / y; })};
  if (call[0].type == DType::UI64)
    return {zipInts(call, [](int64_t x, int64_t y) {
      return y == 0 ? int64_t(-1) : int64_t(uint64_t(x) / uint64_t(y));
    })};
  return {zipInts(call, [](int64_t x, int64_t y) {
    if (y == 0)
      return int64_t(-1);
    return y == -1 ? int64_t(-uint64_t(x)) : x / y;
  })};
}

Values remainder(const Call &call) {
  if (call[0].isFloating())
    return {
        zipFloats(call, [](double x, double y) { return std::fmod(x, y); })};
  if (call[0].type == DType::UI64)
    return {zipInts(call, [](int64_t x, int64_t y) {
      return y == 0 ? x : int64_t(uint64_t(x) % uint64_t(y));
    })};
  return {zipInts(call, [](int64_t x, int64_t y) {
    if (y == 0)
      return x;
    return y == -1 ? int64_t(0) : x % y;
  })};
}

int64_t unsignedPower(int64_t base, int64_t exponent) {
  uint64_t result = 1, factor = uint64_t(base), bits = uint64_t(exponent);
  for (; bits; bits >>= 1, factor *= factor)
    if (bits & 1)
      result *= factor;
  return int64_t(result);
}
int64_t integerPower(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  return unsignedPower(base, exponent);
}

Values power(const Call &call) {
  if (call[0].isComplex())
    return {zipComplex(call, complexPower)};
  if (call[0].isFloating())
    return {zipFloats(call, [](double x, double y) { return std::pow(x, y); })};
  return {zipInts(call,
                  call[0].type == DType::UI64 ? unsignedPower : integerPower)};
}

/// nan where either is, and -0 below 0.
template <bool largest> double extreme(double x, double y) {
  if (std::isnan(x) || std::isnan(y))
    return std::numeric_limits<double>::quiet_NaN();
  if (x == y)
    return std::signbit(x) == largest ? y : x;
  return (x > y) == largest ? x : y;
}

Values maximum(const Call &call) {
  if (call[0].isFloating())
    return {zipFloats(call, extreme<true>)};
  return {zipInts(call, [&](int64_t x, int64_t y) {
    return isLess(call[0].type, x, y) ? y : x;
  })};
}

Values minimum(const Call &call) {
  if (call[0].isFloating())
    return {zipFloats(call, extreme<false>)};
  return {zipInts(call, [&](int64_t x, int64_t y) {
    return isLess(call[0].type, y, x) ? y : x;
  })};
}

Values atan2(const Call &call) {
  return {zipFloats(call, [](double y, double x) { return std::atan2(y, x); })};
}

Values complex(const Call &call) {
  HostValue out = call.result();
  out.floats = call[0].floats;
  out.imaginaries = call[1].floats;
  return {std::move(out)};
}

Values real(const Call &call) {
  HostValue out = call.result();
  out.floats = call[0].floats;
  return {std::move(out)};
}

Values imag(const Call &call) {
  HostValue out = call.result();
  if (call[0].isComplex())
    out.floats = call[0].imaginaries;
  return {std::move(out)};
}

Values bitAnd(const Call &call) {
  return {zipInts(call, [](int64_t x, int64_t y) { return x & y; })};
}
Values bitOr(const Call &call) {
  return {zipInts(call, [](int64_t x, int64_t y) { return x | y; })};
}
Values bitXor(const Call &call) {
  return {zipInts(call, [](int64_t x, int64_t y) { return x ^ y; })};
}

//===----------------------------------------------------------------------===//
// Comparison, choice, conversion
//===----------------------------------------------------------------------===//

template <typename T>
bool holds(dtensor::ComparisonDirection direction, T x, T y) {
  switch (direction) {
  case dtensor::ComparisonDirection::EQ:
    return x == y;
  case dtensor::ComparisonDirection::NE:
    return x != y;
  case dtensor::ComparisonDirection::LT:
    return x < y;
  case dtensor::ComparisonDirection::LE:
    return x <= y;
  case dtensor::ComparisonDirection::GT:
    return x > y;
  case dtensor::ComparisonDirection::GE:
    return x >= y;
  }
  return false;
}

Values compareValues(const Call &call) {
  HostValue out = call.result();
  auto direction = cast<dtensor::CompareOp>(call.op).getDirection();
  const HostValue &x = call[0], &y = call[1];
  for (size_t i = 0; i < out.ints.size(); ++i) {
    if (x.isComplex()) {
      bool equal =
          x.floats[i] == y.floats[i] && x.imaginaries[i] == y.imaginaries[i];
      out.ints[i] = holds(direction, int(equal), 1); // EQ or NE
    } else if (x.isFloating()) {
      out.ints[i] = holds(direction, x.floats[i], y.floats[i]);
    } else if (x.type == DType::UI64) {
      out.ints[i] = holds(direction, uint64_t(x.ints[i]), uint64_t(y.ints[i]));
    } else {
      out.ints[i] = holds(direction, x.ints[i], y.ints[i]);
    }
  }
  return {std::move(out)};
}

Values select(const Call &call) {
  HostValue out = call.result();
  bool scalar = call[0].shape.empty();
  for (int64_t i = 0; i < out.count(); ++i) {
    const HostValue &from = call[0].ints[scalar ? 0 : i] ? call[1] : call[2];
    Element(from, out).copy(i, i);
  }
  return {std::move(out)};
}

Values clamp(const Call &call) {
  HostValue out = call.result();
  bool low = call[0].shape.empty(), high = call[2].shape.empty();
  for (int64_t i = 0; i < out.count(); ++i) {
    int64_t l = low ? 0 : i, h = high ? 0 : i;
    if (!out.isFloating()) {
      int64_t x = call[1].ints[i], from = call[0].ints[l], to = call[2].ints[h];
      int64_t above = isLess(out.type, x, from) ? from : x;
      out.ints[i] = isLess(out.type, to, above) ? to : above;
      continue;
    }
    double x = call[1].floats[i], from = call[0].floats[l],
           to = call[2].floats[h];
    out.floats[i] = std::isnan(x) || std::isnan(from) || std::isnan(to)
                        ? std::numeric_limits<double>::quiet_NaN()
                        : std::min(std::max(x, from), to);
  }
  return {std::move(out)};
}

/// Smallest and largest value of an integer type.
std::pair<int64_t, int64_t> range(DType type) {
  unsigned bits = 8 * byteWidth(type);
  if (!isSigned(type))
    return {0, bits == 64 ? -1 : (int64_t(1) << bits) - 1};
  int64_t largest = int64_t((uint64_t(1) << (bits - 1)) - 1);
  return {-largest - 1, largest};
}

int64_t toInteger(DType type, double value) {
  if (type == DType::I1)
    return value != 0;
  if (std::isnan(value))
    return 0;
  auto [low, high] = range(type);
  double whole = std::trunc(value);
  if (type == DType::UI64)
    return whole <= 0 ? 0 : whole >= 0x1p64 ? -1 : int64_t(uint64_t(whole));
  return whole <= double(low)    ? low
         : whole >= double(high) ? high
                                 : int64_t(whole);
}

Values convert(const Call &call) {
  HostValue out = call.result();
  const HostValue &in = call[0];
  auto asDouble = [&](int64_t x) {
    return in.type == DType::UI64 ? double(uint64_t(x)) : double(x);
  };
  for (int64_t i = 0; i < out.count(); ++i) {
    if (in.isComplex() && out.isComplex())
      out.imaginaries[i] = roundToType(out.type, in.imaginaries[i]);
    if (out.isFloating())
      out.floats[i] = roundToType(
          out.type, in.isFloating() ? in.floats[i] : asDouble(in.ints[i]));
    else
      out.ints[i] = in.isFloating() ? toInteger(out.type, in.floats[i])
                                    : wrapInteger(out.type, in.ints[i]);
  }
  return {std::move(out)};
}

} // namespace

Values applyHostFunction(const Call &call) {
  if (call[0].isComplex())
    return {mapComplex(
        call, complexFunctions().at(call.op->getName().getStringRef()))};
  return {mapFloats(call, hostFunctionOf(call.op->getName()))};
}

void addElementwiseOps(OpTable &table) {
  table["dtensor.abs"] = abs;
  table["dtensor.negate"] = negate;
  table["dtensor.sign"] = sign;
  table["dtensor.real"] = real;
  table["dtensor.imag"] = imag;
  table["dtensor.not"] = logicalNot;
  table["dtensor.is_finite"] = isFinite;

  table["dtensor.add"] = add;
  table["dtensor.subtract"] = subtract;
  table["dtensor.multiply"] = multiply;
  table["dtensor.divide"] = divide;
  table["dtensor.remainder"] = remainder;
  table["dtensor.power"] = power;
  table["dtensor.maximum"] = maximum;
  table["dtensor.minimum"] = minimum;
  table["dtensor.atan2"] = atan2;
  table["dtensor.complex"] = complex;
  table["dtensor.and"] = bitAnd;
  table["dtensor.or"] = bitOr;
  table["dtensor.xor"] = bitXor;

  table["dtensor.compare"] = compareValues;
  table["dtensor.select"] = select;
  table["dtensor.clamp"] = clamp;
  table["dtensor.convert"] = convert;
}

} // namespace meshloom::interpreter
