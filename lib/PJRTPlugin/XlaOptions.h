// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options of XLA's own compiler, which mean nothing to this one. Their values
// are checked as XLA checks them.
#pragma once

#include "meshloom/Core/Result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace meshloom::plugin {

/// The value of a compile option, as the caller gives it.
using OptionValue = std::variant<std::string, bool, int64_t, double>;
/// Returns the value as Python prints it.
std::string textOf(const OptionValue &value);

/// Returns whether a compile option is one of XLA's compiler.
inline bool isXlaOption(std::string_view name) {
  return name.starts_with("xla_");
}
/// Fails where the value is not of the option's type. An option that is not in
/// the list may be one of a later XLA, or of another device: it has any value.
Status checkXlaOption(std::string_view name, const OptionValue &value);

} // namespace meshloom::plugin
