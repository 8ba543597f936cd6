// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference's ops on the bits of elements: shifts, counts, casts, and
// rounding to a float format of fewer bits.
#include "Ops.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace meshloom::interpreter {
namespace {

/// The bits of an integer of `type`, zeros above them.
uint64_t bitsOf(DType type, int64_t value) {
  unsigned width = 8 * byteWidth(type);
  return width == 64 ? uint64_t(value)
                     : uint64_t(value) & ((uint64_t(1) << width) - 1);
}

template <typename F> Values onBits(const Call &call, F function) {
  HostValue out = call.result();
  unsigned width = 8 * byteWidth(out.type);
  for (size_t i = 0; i < out.ints.size(); ++i) {
    uint64_t x = bitsOf(out.type, call[0].ints[i]);
    uint64_t y = call.size() > 1 ? bitsOf(out.type, call[1].ints[i]) : 0;
    out.ints[i] = wrapInteger(out.type, int64_t(function(x, y, width)));
  }
  return {std::move(out)};
}

Values shiftLeft(const Call &call) {
  return onBits(call, [](uint64_t x, uint64_t by, unsigned width) {
    return by < width ? x << by : 0;
  });
}

Values shiftRightLogical(const Call &call) {
  return onBits(call, [](uint64_t x, uint64_t by, unsigned width) {
    return by < width ? x >> by : 0;
  });
}

Values shiftRightArithmetic(const Call &call) {
  return onBits(call, [](uint64_t x, uint64_t by, unsigned width) {
    bool top = x >> (width - 1) & 1;
    for (uint64_t step = 0; step < by && step < width; ++step)
      x = x >> 1 | uint64_t(top) << (width - 1);
    return x;
  });
}

Values popcnt(const Call &call) {
  return onBits(call, [](uint64_t x, uint64_t, unsigned) {
    return uint64_t(std::popcount(x));
  });
}

Values countLeadingZeros(const Call &call) {
  return onBits(call, [](uint64_t x, uint64_t, unsigned width) {
    return uint64_t(std::countl_zero(x)) - (64 - width);
  });
}

/// Memory is the definition: little endian, the first part lowest.
Values bitcastConvert(const Call &call) {
  HostValue out = call.result();
  return {*HostValue::fromBytes(out.type, out.shape, call[0].toBytes())};
}

/// Bits of a float type's exponent and mantissa.
std::pair<int, int> formatOf(DType type) {
  switch (type) {
  case DType::F16:
    return {5, 10};
  case DType::BF16:
    return {8, 7};
  case DType::F32:
    return {8, 23};
  default:
    return {11, 52};
  }
}

double largestPower(int exponentBits) {
  return std::ldexp(1.0, (1 << (exponentBits - 1)) - 1);
}

Values reducePrecision(const Call &call) {
  HostValue out = call.result();
  auto [typeExponent, typeMantissa] = formatOf(out.type);
  int64_t exponent = call.integer("exponent_bits");
  int64_t mantissa = call.integer("mantissa_bits");
  // A format that the type has at least does not change it.
  bool rounds = mantissa < typeMantissa, limits = exponent < typeExponent;
  int lowest = 2 - (1 << (typeExponent - 1));
  for (size_t i = 0; i < out.floats.size(); ++i) {
    double x = call[0].floats[i];
    double &result = out.floats[i] = x;
    if (!std::isfinite(x) || x == 0)
      continue;
    if (rounds) {
      int power = std::max(std::ilogb(x), lowest) - int(mantissa);
      result = std::ldexp(std::nearbyint(std::ldexp(x, -power)), power);
    }
    if (std::fabs(result) >= 2 * largestPower(typeExponent) ||
        (limits && std::fabs(result) >= 2 * largestPower(int(exponent))))
      result = std::copysign(INFINITY, x);
    else if (limits && std::fabs(result) < 2 / largestPower(int(exponent)))
      result = std::copysign(0.0, x);
  }
  return {std::move(out)};
}

} // namespace

void addBitOps(OpTable &table) {
  table["dtensor.shift_left"] = shiftLeft;
  table["dtensor.shift_right_arithmetic"] = shiftRightArithmetic;
  table["dtensor.shift_right_logical"] = shiftRightLogical;
  table["dtensor.popcnt"] = popcnt;
  table["dtensor.count_leading_zeros"] = countLeadingZeros;
  table["dtensor.bitcast_convert"] = bitcastConvert;
  table["dtensor.reduce_precision"] = reducePrecision;
}

} // namespace meshloom::interpreter
