// The reference's elementwise ops: one line of arithmetic each, f64 or exact
// integers that wrap to their type.
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

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

/// An op on floats only, given by its function on f64.
template <double (*function)(double)> Values onFloats(const Call &call) {
  return {mapFloats(call, function)};
}

double logistic(double x) {
  return 1 / (1 + std::exp(-x));
}
double rsqrt(double x) {
  return 1 / std::sqrt(x);
}
double roundEven(double x) {
  if (!std::isfinite(x))
    return x;
  double nearest = std::round(x); // halves away from zero
  if (std::fabs(x - std::trunc(x)) == 0.5)
    nearest = 2 * std::round(x / 2);
  return std::copysign(nearest, x);
}

Values abs(const Call &call) {
  if (call[0].isFloating())
    return {mapFloats(call, [](double x) { return std::fabs(x); })};
  return {mapInts(call,
                  [](int64_t x) { return x < 0 ? int64_t(-uint64_t(x)) : x; })};
}

Values negate(const Call &call) {
  if (call[0].isFloating())
    return {mapFloats(call, [](double x) { return -x; })};
  return {mapInts(call, [](int64_t x) { return int64_t(-uint64_t(x)); })};
}

Values sign(const Call &call) {
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
  if (call[0].isFloating())
    return {zipFloats(call, [](double x, double y) { return x + y; })};
  if (call[0].type == DType::I1)
    return {zipInts(call, [](int64_t x, int64_t y) { return x | y; })};
  return {zipInts(call, [](int64_t x, int64_t y) {
    return int64_t(uint64_t(x) + uint64_t(y));
  })};
}

Values subtract(const Call &call) {
  if (call[0].isFloating())
    return {zipFloats(call, [](double x, double y) { return x - y; })};
  return {zipInts(call, [](int64_t x, int64_t y) {
    return int64_t(uint64_t(x) - uint64_t(y));
  })};
}

Values multiply(const Call &call) {
  if (call[0].isFloating())
    return {zipFloats(call, [](double x, double y) { return x * y; })};
  return {zipInts(call, [](int64_t x, int64_t y) {
    return int64_t(uint64_t(x) * uint64_t(y));
  })};
}

Values divide(const Call &call) {
  if (call[0].isFloating())
    return {zipFloats(call, [](double x, double y) { return x / y; })};
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
  return {zipInts(call, [](int64_t x, int64_t y) {
    if (y == 0)
      return x;
    return y == -1 ? int64_t(0) : x % y;
  })};
}

int64_t integerPower(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  uint64_t result = 1, factor = uint64_t(base);
  for (; exponent; exponent >>= 1, factor *= factor)
    if (exponent & 1)
      result *= factor;
  return int64_t(result);
}

Values power(const Call &call) {
  if (call[0].isFloating())
    return {zipFloats(call, [](double x, double y) { return std::pow(x, y); })};
  return {zipInts(call, integerPower)};
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
  return {zipInts(call, [](int64_t x, int64_t y) { return std::max(x, y); })};
}

Values minimum(const Call &call) {
  if (call[0].isFloating())
    return {zipFloats(call, extreme<false>)};
  return {zipInts(call, [](int64_t x, int64_t y) { return std::min(x, y); })};
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
  for (size_t i = 0; i < out.ints.size(); ++i)
    out.ints[i] = call[0].isFloating()
                      ? holds(direction, call[0].floats[i], call[1].floats[i])
                      : holds(direction, call[0].ints[i], call[1].ints[i]);
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
      out.ints[i] =
          std::min(std::max(call[1].ints[i], call[0].ints[l]), call[2].ints[h]);
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
    return {0, (int64_t(1) << bits) - 1}; // at most 32 bits
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
  return whole <= double(low)    ? low
         : whole >= double(high) ? high
                                 : int64_t(whole);
}

Values convert(const Call &call) {
  HostValue out = call.result();
  const HostValue &in = call[0];
  for (int64_t i = 0; i < out.count(); ++i) {
    if (out.isFloating())
      out.floats[i] = roundToType(
          out.type, in.isFloating() ? in.floats[i] : double(in.ints[i]));
    else
      out.ints[i] = in.isFloating() ? toInteger(out.type, in.floats[i])
                                    : wrapInteger(out.type, in.ints[i]);
  }
  return {std::move(out)};
}

} // namespace

void addElementwiseOps(OpTable &table) {
  table["dtensor.abs"] = abs;
  table["dtensor.negate"] = negate;
  table["dtensor.sign"] = sign;
  table["dtensor.exp"] = onFloats<std::exp>;
  table["dtensor.expm1"] = onFloats<std::expm1>;
  table["dtensor.log"] = onFloats<std::log>;
  table["dtensor.log1p"] = onFloats<std::log1p>;
  table["dtensor.sqrt"] = onFloats<std::sqrt>;
  table["dtensor.rsqrt"] = onFloats<rsqrt>;
  table["dtensor.cbrt"] = onFloats<std::cbrt>;
  table["dtensor.tanh"] = onFloats<std::tanh>;
  table["dtensor.logistic"] = onFloats<logistic>;
  table["dtensor.sine"] = onFloats<std::sin>;
  table["dtensor.cosine"] = onFloats<std::cos>;
  table["dtensor.erf"] = onFloats<std::erf>;
  table["dtensor.floor"] = onFloats<std::floor>;
  table["dtensor.ceil"] = onFloats<std::ceil>;
  table["dtensor.round"] = onFloats<roundEven>;
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
  table["dtensor.and"] = bitAnd;
  table["dtensor.or"] = bitOr;
  table["dtensor.xor"] = bitXor;

  table["dtensor.compare"] = compareValues;
  table["dtensor.select"] = select;
  table["dtensor.clamp"] = clamp;
  table["dtensor.convert"] = convert;
}

} // namespace meshloom::interpreter
