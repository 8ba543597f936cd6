// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The format of safetensors files, see SafetensorsFormat.h.
#include "SafetensorsFormat.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace meshloom::data {

namespace {
struct TypeName {
  const char *name;
  DType type;
};
constexpr TypeName typeNames[] = {
    {"F64", DType::F64},   {"F32", DType::F32},  {"F16", DType::F16},
    {"BF16", DType::BF16}, {"I64", DType::I64},  {"I32", DType::I32},
    {"I16", DType::I16},   {"I8", DType::I8},    {"U64", DType::UI64},
    {"U32", DType::UI32},  {"U16", DType::UI16}, {"U8", DType::UI8},
    {"BOOL", DType::I1},
};
} // namespace

const char *safetensorsType(DType type) {
  const auto *row = std::ranges::find(typeNames, type, &TypeName::type);
  return row == std::end(typeNames) ? nullptr : row->name;
}

std::optional<DType> typeOfSafetensors(std::string_view name) {
  const auto *row = std::ranges::find_if(
      typeNames, [&](const TypeName &t) { return t.name == name; });
  if (row == std::end(typeNames))
    return std::nullopt;
  return row->type;
}

/// All numbers of a sign, an exponent and `fraction` bits. The largest exponent
/// is infinities and nans, or with `finite` the largest numbers but for a nan
/// that is all ones.
static std::array<float, 256> floatsOf(int fraction, bool finite) {
  std::array<float, 256> table{};
  const int exponents = 1 << (7 - fraction), bias = exponents / 2 - 1;
  for (int byte = 0; byte < 256; ++byte) {
    const int exponent = (byte & 127) >> fraction;
    const int mantissa = byte & ((1 << fraction) - 1);
    float magnitude = 0;
    if (finite ? (byte & 127) == 127 : exponent == exponents - 1)
      magnitude = finite || mantissa ? std::numeric_limits<float>::quiet_NaN()
                                     : std::numeric_limits<float>::infinity();
    else if (exponent == 0)
      magnitude = std::ldexp(float(mantissa), 1 - bias - fraction);
    else
      magnitude = std::ldexp(float(mantissa + (1 << fraction)),
                             exponent - bias - fraction);
    table[size_t(byte)] = byte & 128 ? -magnitude : magnitude;
  }
  return table;
}

const std::array<float, 256> *floatsOfF8(std::string_view name) {
  static const std::array<float, 256> e4m3 = floatsOf(3, true),
                                      e5m2 = floatsOf(2, false);
  return name == "F8_E4M3" ? &e4m3 : name == "F8_E5M2" ? &e5m2 : nullptr;
}

std::string safetensorsHead(const nlohmann::json &header) {
  static_assert(std::endian::native == std::endian::little);
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t length = text.size();
  std::string head(sizeof(length), '\0');
  std::memcpy(head.data(), &length, sizeof(length));
  return head + text;
}

} // namespace meshloom::data
