// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "XlaOptions.h"

#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

using namespace meshloom;
using namespace meshloom::plugin;

namespace {
enum class OptionType { Bool, Int32, Int64, Float, String, Enum, Message };
struct XlaOption {
  OptionType type;
  std::string_view name;
};
/// Sorted by name.
constexpr XlaOption xlaOptions[] = {
#define XLA_OPTION(type, name) {OptionType::type, #name},
#include "XlaOptions.inc"
#undef XLA_OPTION
};
static_assert(std::ranges::is_sorted(xlaOptions, {}, &XlaOption::name));

std::string_view nameOf(OptionType type) {
  constexpr std::string_view names[] = {"bool",   "int32", "int64",  "float",
                                        "string", "enum",  "message"};
  return names[size_t(type)];
}

template <typename Integer> bool isInteger(const OptionValue &value) {
  if (const auto *number = std::get_if<int64_t>(&value))
    return *number >= std::numeric_limits<Integer>::min() &&
           *number <= std::numeric_limits<Integer>::max();
  const auto *text = std::get_if<std::string>(&value);
  Integer read;
  return text && llvm::to_integer(*text, read, 10);
}

bool isFloat(const OptionValue &value) {
  const auto *text = std::get_if<std::string>(&value);
  double read;
  return std::holds_alternative<double>(value) ||
         (text && !text->empty() && llvm::to_float(*text, read));
}

bool fits(OptionType type, const OptionValue &value) {
  const auto *text = std::get_if<std::string>(&value);
  switch (type) {
  case OptionType::Bool:
    return std::holds_alternative<bool>(value) ||
           (text && (*text == "True" || *text == "False"));
  case OptionType::Int32:
    return isInteger<int32_t>(value);
  case OptionType::Int64:
    return isInteger<int64_t>(value);
  case OptionType::Float:
    return isFloat(value);
  case OptionType::Enum: // its texts are names, or a list of names
    return text || std::holds_alternative<int64_t>(value);
  case OptionType::String:
  case OptionType::Message:
    return text != nullptr;
  }
  return false;
}
} // namespace

std::string plugin::textOf(const OptionValue &value) {
  if (const auto *text = std::get_if<std::string>(&value))
    return *text;
  if (const auto *flag = std::get_if<bool>(&value))
    return *flag ? "True" : "False";
  if (const auto *number = std::get_if<int64_t>(&value))
    return std::to_string(*number);
  return fmt::format("{}", std::get<double>(value));
}

Status plugin::checkXlaOption(std::string_view name, const OptionValue &value) {
  const auto *option =
      std::ranges::lower_bound(xlaOptions, name, {}, &XlaOption::name);
  if (option == std::end(xlaOptions) || option->name != name ||
      fits(option->type, value))
    return Success();
  return Error(
      fmt::format("While setting option {}, '{}' is not a valid {} value.",
                  name, textOf(value), nameOf(option->type)));
}
