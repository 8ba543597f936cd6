// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ElementTypes.h"

#include "meshloom/Dialect/StableHLO/StableHLO.h"
#include "meshloom/Runtime/Backends/PJRT/PluginClient.h"

#include <algorithm>

using namespace meshloom;
using namespace meshloom::plugin;

namespace {
struct StoredAsByte {
  int32_t code;
  std::string_view name;
  DType storage = DType::UI8;
  unsigned unusedBits = 0;
};
constexpr StoredAsByte storedAsBytes[] = {{16, "f8E5M2"},
                                          {17, "f8E4M3FN"},
                                          {18, "f8E4M3B11FNUZ"},
                                          {19, "f8E5M2FNUZ"},
                                          {20, "f8E4M3FNUZ"},
                                          {21, "i4", DType::I8, 4},
                                          {22, "ui4", DType::UI8, 4},
                                          {24, "i2", DType::I8, 6},
                                          {25, "ui2", DType::UI8, 6},
                                          {26, "f8E4M3"},
                                          {27, "f8E3M4"},
                                          {28, "f8E8M0FNU"},
                                          {29, "f4E2M1FN", DType::UI8, 4}};
constexpr int32_t tokenCode = 23;

ElementType ofBytes(const StoredAsByte &type) {
  return {type.code, type.storage, std::string(type.name), false,
          type.unusedBits};
}
ElementType ofStorage(DType type) {
  return {pjrt::elementTypeCode(type), type, std::string(name(type))};
}
} // namespace

ElementType plugin::tokenType() {
  return {tokenCode, DType::UI8, "token", true};
}

std::string plugin::elementNameOf(Type element) {
  if (auto minifloat = dyn_cast<stablehlo::MinifloatType>(element))
    return stringifyMinifloatFormat(minifloat.getFormat()).str();
  std::string name;
  llvm::raw_string_ostream(name) << element;
  return name;
}

std::optional<ElementType> plugin::elementTypeOf(Type element) {
  const std::string name = elementNameOf(element);
  const auto *narrow =
      std::ranges::find(storedAsBytes, name, &StoredAsByte::name);
  if (narrow != std::end(storedAsBytes))
    return ofBytes(*narrow);
  const std::optional<DType> stored = parseDType(name);
  return stored ? std::optional(ofStorage(*stored)) : std::nullopt;
}

std::optional<ElementType> plugin::elementTypeOf(int32_t code) {
  if (code == tokenCode)
    return tokenType();
  const auto *narrow =
      std::ranges::find(storedAsBytes, code, &StoredAsByte::code);
  if (narrow != std::end(storedAsBytes))
    return ofBytes(*narrow);
  for (uint8_t type = 0; type <= uint8_t(lastDType); ++type)
    if (pjrt::elementTypeCode(DType(type)) == code)
      return ofStorage(DType(type));
  return std::nullopt;
}
