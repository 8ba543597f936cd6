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
  case DType::I64:
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
  case DType::I32:
    return int32_t(value);
  case DType::UI32:
    return uint32_t(value);
  default:
    return value;
  }
}

double roundToType(DType type, double value) {
  switch (type) {
  case DType::F32:
    return float(value);
  case DType::BF16:
    return fromBf16(toBf16(value));
  default:
    return value;
  }
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
  for (size_t i = 0; i < got.floats.size(); ++i) {
    double a = got.floats[i], e = expected.floats[i];
    // Only the range of the type counts, not its precision.
    if (std::isinf(roundToType(got.type, e)))
      e = std::copysign(std::numeric_limits<double>::infinity(), e);
    bool same = std::isnan(e)   ? std::isnan(a)
                : std::isinf(e) ? a == e
                                : std::isfinite(a);
    if (!same) {
      result.mismatch = fmt::format("element {}: expected {}, got {}", i, e, a);
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
  switch (type) {
  case DType::F32:
    return 2e-5 * std::sqrt(std::max(1.0, double(contraction) / 128));
  case DType::BF16:
    return 2e-2;
  case DType::F64:
    return 1e-12;
  default:
    return 0;
  }
}

} // namespace meshloom
