// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the API throws: with the op, the user's line and the part of the model.
#pragma once

#include "meshloom/API/Errors.h"

#include <source_location>

namespace meshloom::detail {

/// Throws "[op] message (at file:line)".
[[noreturn]] void fail(std::string_view op, const std::string &message,
                       const std::source_location *where = nullptr);
/// The same for an error of another layer; its code decides the class.
[[noreturn]] void fail(std::string_view op, const Error &error,
                       const std::source_location *where = nullptr);
/// Unwraps; throws its error with the tag [op] unless it has a tag.
template <typename T> T check(Result<T> result, std::string_view op) {
  if (!result)
    fail(op, result.error());
  return std::move(*result);
}

} // namespace meshloom::detail
