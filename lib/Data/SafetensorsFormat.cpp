// The format of safetensors files, see SafetensorsFormat.h.
#include "SafetensorsFormat.h"

#include <algorithm>
#include <bit>
#include <cstring>

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
  const auto *known = std::ranges::find(typeNames, type, &TypeName::type);
  return known == std::end(typeNames) ? nullptr : known->name;
}

std::optional<DType> typeOfSafetensors(std::string_view name) {
  const auto *known = std::ranges::find_if(
      typeNames, [&](const TypeName &t) { return t.name == name; });
  if (known == std::end(typeNames))
    return std::nullopt;
  return known->type;
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
