// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The options that the builder of an op gets beside its operands, as a part of
// the key by which the compiled op is found: so a builder can depend on nothing
// that the key does not say.
#pragma once

#include "meshloom/Engine/OpCache.h"

#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>

namespace meshloom::detail {

template <typename T> constexpr bool isOptional = false;
template <typename T> constexpr bool isOptional<std::optional<T>> = true;

/// Adds the value of an option to a key. A struct of options has a function
/// visitFields(options, visit) in its namespace, which calls visit with each
/// field. It lies beside the op that takes the struct, and names the fields by
/// a structured binding, which does not compile where one is missing. The bytes
/// that are added begin with the number of elements wherever that varies, so
/// that different options of one type never give the same bytes.
template <typename T> void addOption(CacheKey &key, const T &value) {
  if constexpr (std::is_same_v<T, Layout>) {
    key.layouts.push_back(value);
  } else if constexpr (isOptional<T>) {
    addOption(key, value.has_value());
    if (value)
      addOption(key, *value);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    key.text.append(reinterpret_cast<const char *>(&value), sizeof(value));
  } else if constexpr (std::is_convertible_v<T, std::string_view>) {
    const std::string_view text = value;
    key.add(int64_t(text.size()));
    key.text += text;
  } else if constexpr (std::ranges::sized_range<T>) {
    key.add(int64_t(std::ranges::size(value)));
    for (const auto &element : value)
      addOption(key, element);
  } else {
    visitFields(value, [&](const auto &field) { addOption(key, field); });
  }
}

/// How a builder's options are stored until it runs: texts by value.
template <typename T>
using StoredOption =
    std::conditional_t<std::is_convertible_v<T, std::string_view>, std::string,
                       T>;

/// The address of this variable is different for each builder.
template <typename Builder> inline constexpr char builderIdentity = 0;

} // namespace meshloom::detail
