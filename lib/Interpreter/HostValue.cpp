// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversion of HostValues from and to bytes, and their comparison.
#include "meshloom/Interpreter/HostValue.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace meshloom {
namespace {

std::string describe(DType type, const Shape &shape) {
  return fmt::format("{}[{}]", name(type), fmt::join(shape, ", "));
}

float fromBf16(uint16_t bits) {
  return std::bit_cast<float>(uint32_t(bits) << 16);
}

/// Rounds once from double to eight bits of mantissa: going through float would
/// round twice.
uint16_t toBf16(double value) {
  if (std::isnan(value))
    return 0x7FC0;
  float nearest = float(value);
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (std::isinf(nearest))
    return uint16_t(bits >> 16);
  // The truncated candidate and the next larger magnitude around `value`.
  if (std::fabs(double(nearest)) > std::fabs(value) && (bits & 0xFFFF) == 0)
    --bits;
  uint32_t low = bits & 0xFFFF0000u, high = low + 0x10000u;
  double lowValue = std::bit_cast<float>(low);
  double highValue = std::bit_cast<float>(high);
  if (std::isinf(highValue))
    highValue = std::copysign(std::ldexp(1.0, 128), value);
  double below = std::fabs(value - lowValue),
         above = std::fabs(highValue - value);
  bool up = above < below || (above == below && (low & 0x10000u));
  return uint16_t((up ? high : low) >> 16);
}

/// The bits of the nearest f16, halves to even, straight from double.
uint16_t toF16(double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double size = std::fabs(value);
  if (std::isnan(value))
    return 0x7E00;
  // In units of the last place; those of the smallest normal number go on
  // below it, and 2^16 is infinite.
  int exponent =
      size == 0 || std::isinf(size) ? -14 : std::max(std::ilogb(size), -14);
  double units = std::nearbyint(std::ldexp(size, 10 - exponent));
  if (std::isinf(size) || std::ldexp(units, exponent - 10) >= 65536)
    return sign | 0x7C00;
  return uint16_t(sign | (int(units) + ((exponent + 14) << 10)));
}

double fromF16(uint16_t bits) {
  int exponent = bits >> 10 & 31, mantissa = bits & 0x3FF;
  double size = exponent == 31  ? (mantissa ? NAN : INFINITY)
                : exponent == 0 ? std::ldexp(mantissa, -24)
                                : std::ldexp(mantissa + 1024, exponent - 25);
  return bits & 0x8000 ? -size : size;
}

template <typename T>
void writeComplex(std::vector<char> &bytes, const HostValue &value) {
  bytes.resize(value.floats.size() * 2 * sizeof(T));
  for (size_t i = 0; i < value.floats.size(); ++i) {
    T parts[2] = {T(value.floats[i]), T(value.imaginaries[i])};
    std::memcpy(bytes.data() + i * sizeof(parts), parts, sizeof(parts));
  }
}

template <typename T>
void readComplex(std::span<const char> bytes, HostValue &value) {
  for (size_t i = 0; i < value.floats.size(); ++i) {
    T parts[2];
    std::memcpy(parts, bytes.data() + i * sizeof(parts), sizeof(parts));
    value.floats[i] = parts[0];
    value.imaginaries[i] = parts[1];
  }
}

template <typename T, typename Source>
void write(std::vector<char> &bytes, const std::vector<Source> &values) {
  bytes.resize(values.size() * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    T value = T(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
}

template <typename T, typename Target>
void read(std::span<const char> bytes, std::vector<Target> &values) {
  for (size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = Target(value);
  }
}

} // namespace

HostValue::HostValue(DType type, Shape shape)
    : type(type), shape(std::move(shape)) {
  if (isFloating())
    floats.resize(count());
  else
    ints.resize(count());
  if (isComplex())
    imaginaries.resize(count());
}

Result<HostValue> HostValue::fromBytes(DType type, Shape shape,
                                       std::span<const char> bytes) {
  HostValue value(type, std::move(shape));
  size_t wanted = size_t(value.count()) * byteWidth(type);
  if (bytes.size() != wanted)
    return Error(fmt::format("{} takes {} bytes, got {}",
                             describe(type, value.shape), wanted,
                             bytes.size()));
  switch (type) {
  case DType::F32:
    read<float>(bytes, value.floats);
    break;
  case DType::F64:
    read<double>(bytes, value.floats);
    break;
  case DType::BF16:
    for (size_t i = 0; i < value.floats.size(); ++i) {
      uint16_t bits;
      std::memcpy(&bits, bytes.data() + 2 * i, 2);
      value.floats[i] = fromBf16(bits);
    }
    break;
  case DType::F16:
    for (size_t i = 0; i < value.floats.size(); ++i) {
      uint16_t bits;
      std::memcpy(&bits, bytes.data() + 2 * i, 2);
      value.floats[i] = fromF16(bits);
    }
    break;
  case DType::C64:
    readComplex<float>(bytes, value);
    break;
  case DType::C128:
    readComplex<double>(bytes, value);
    break;
  case DType::I1:
    for (size_t i = 0; i < value.ints.size(); ++i)
      value.ints[i] = bytes[i] != 0;
    break;
  case DType::I8:
    read<int8_t>(bytes, value.ints);
    break;
  case DType::I32:
    read<int32_t>(bytes, value.ints);
    break;
  case DType::I16:
    read<int16_t>(bytes, value.ints);
    break;
  case DType::UI16:
    read<uint16_t>(bytes, value.ints);
    break;
  case DType::I64:
  case DType::UI64:
    read<int64_t>(bytes, value.ints);
    break;
  case DType::UI8:
    read<uint8_t>(bytes, value.ints);
    break;
  case DType::UI32:
    read<uint32_t>(bytes, value.ints);
    break;
  }
  return value;
}

std::vector<char> HostValue::toBytes() const {
  std::vector<char> bytes;
  switch (type) {
  case DType::F32:
    write<float>(bytes, floats);
    break;
  case DType::F64:
    write<double>(bytes, floats);
    break;
  case DType::BF16:
    bytes.resize(floats.size() * 2);
    for (size_t i = 0; i < floats.size(); ++i) {
      uint16_t bits = toBf16(floats[i]);
      std::memcpy(bytes.data() + 2 * i, &bits, 2);
    }
    break;
  case DType::F16:
    bytes.resize(floats.size() * 2);
    for (size_t i = 0; i < floats.size(); ++i) {
      uint16_t bits = toF16(floats[i]);
      std::memcpy(bytes.data() + 2 * i, &bits, 2);
    }
    break;
  case DType::C64:
    writeComplex<float>(bytes, *this);
    break;
  case DType::C128:
    writeComplex<double>(bytes, *this);
    break;
  case DType::I16:
  case DType::UI16:
    write<uint16_t>(bytes, ints);
    break;
  case DType::I1:
  case DType::I8:
  case DType::UI8:
    write<uint8_t>(bytes, ints);
    break;
  case DType::I32:
  case DType::UI32:
    write<uint32_t>(bytes, ints);
    break;
  case DType::I64:
  case DType::UI64:
    write<int64_t>(bytes, ints);
    break;
  }
  return bytes;
}

int64_t wrapInteger(DType type, int64_t value) {
  switch (type) {
  case DType::I1:
    return value != 0;
  case DType::I8:
    return int8_t(value);
  case DType::UI8:
    return uint8_t(value);
  case DType::I16:
    return int16_t(value);
  case DType::UI16:
    return uint16_t(value);
  case DType::I32:
    return int32_t(value);
  case DType::UI32:
    return uint32_t(value);
  default:
    return value;
  }
}

bool isLess(DType type, int64_t x, int64_t y) {
  return type == DType::UI64 ? uint64_t(x) < uint64_t(y) : x < y;
}

double roundToType(DType type, double value) {
  switch (partOf(type)) {
  case DType::F16:
    return fromF16(toF16(value));
  case DType::F32:
    return float(value);
  case DType::BF16:
    return fromBf16(toBf16(value));
  default:
    return value;
  }
}

/// The sign of a nan means nothing.
static double withoutSignOfNan(double value) {
  return std::isnan(value) ? std::fabs(value) : value;
}

Comparison compare(const HostValue &got, const HostValue &expected) {
  Comparison result;
  if (got.type != expected.type || got.shape != expected.shape) {
    result.mismatch = fmt::format("expected {}, got {}",
                                  describe(expected.type, expected.shape),
                                  describe(got.type, got.shape));
    return result;
  }
  if (!got.isFloating()) {
    result.error = got.ints == expected.ints ? 0 : 1;
    return result;
  }
  double scale = 0, difference = 0;
  size_t count = got.floats.size(), parts = got.isComplex() ? 2 * count : count;
  for (size_t part = 0; part < parts; ++part) {
    size_t i = part % count;
    bool real = part < count;
    double a = real ? got.floats[i] : got.imaginaries[i];
    double e = real ? expected.floats[i] : expected.imaginaries[i];
    // Only the range of the type counts, not its precision.
    if (std::isinf(roundToType(got.type, e)))
      e = std::copysign(std::numeric_limits<double>::infinity(), e);
    bool same = std::isnan(e)   ? std::isnan(a)
                : std::isinf(e) ? a == e
                                : std::isfinite(a);
    if (!same) {
      result.mismatch =
          fmt::format("element {}{}: expected {}, got {}", i,
                      got.isComplex() ? real ? " (real)" : " (imaginary)" : "",
                      withoutSignOfNan(e), withoutSignOfNan(a));
      return result;
    }
    if (!std::isfinite(e))
      continue;
    scale = std::max(scale, std::fabs(e));
    difference = std::max(difference, std::fabs(a - e));
  }
  // Where all is 0 (or next to it), differences count absolutely.
  result.error = difference / std::max(scale, 1e-20);
  return result;
}

double verifyTolerance(DType type, int64_t contraction) {
  // Half a unit in the last place of 1, and how many of them.
  const double terms = double(std::max<int64_t>(contraction, 1));
  constexpr double ops = 256, narrowOps = 8, wideOps = 4096;
  switch (partOf(type)) {
  case DType::F16:
    return 0x1p-11 * narrowOps;
  case DType::BF16:
    return 0x1p-9 * narrowOps;
  case DType::F32:
    return 0x1p-24 * (ops + std::log2(terms));
  case DType::F64:
    return 0x1p-53 * (wideOps + terms);
  default:
    return 0;
  }
}

} // namespace meshloom
