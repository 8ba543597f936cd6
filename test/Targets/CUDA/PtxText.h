// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The words of a line of PTX: separators, prefixes, numbers and types.
#pragma once

#include "PtxProgram.h"

#include <charconv>
#include <optional>

namespace meshloom::ptx {

inline std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
    text.remove_suffix(1);
  return text;
}

inline std::vector<std::string_view> split(std::string_view text,
                                           char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(trim(text.substr(0, end)));
    if (end == std::string_view::npos)
      return parts;
    text.remove_prefix(end + 1);
  }
}

/// Takes `prefix` off the front of `text`, where it is there.
inline bool take(std::string_view &text, std::string_view prefix) {
  if (!text.starts_with(prefix))
    return false;
  text.remove_prefix(prefix.size());
  return true;
}

template <typename T>
std::optional<T> parseNumber(std::string_view text, int base = 10) {
  T value{};
  auto [end, problem] =
      std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (problem != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

inline std::optional<Type> parseType(std::string_view name) {
  if (name == "pred")
    return Type{TypeKind::Predicate, 1};
  if (name.size() < 2)
    return std::nullopt;
  TypeKind kind = TypeKind::Bits;
  switch (name.front()) {
  case 'b':
    break;
  case 'u':
    kind = TypeKind::Unsigned;
    break;
  case 's':
    kind = TypeKind::Signed;
    break;
  case 'f':
    kind = TypeKind::Float;
    break;
  default:
    return std::nullopt;
  }
  auto bits = parseNumber<unsigned>(name.substr(1));
  if (!bits || (*bits != 8 && *bits != 16 && *bits != 32 && *bits != 64) ||
      (kind == TypeKind::Float && *bits == 8))
    return std::nullopt;
  return Type{kind, uint8_t(*bits)};
}

} // namespace meshloom::ptx
