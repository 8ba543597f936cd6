// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the API throws: with the op, the user's line and the part of the model.
#pragma once

#include "meshloom/API/Errors.h"
#include "meshloom/API/NameScope.h"

namespace meshloom::detail {

/// Unwraps; throws its error with the tag [op] unless it has a tag.
template <typename T> T check(Result<T> result, std::string_view op) {
  if (!result)
    fail(op, result.error());
  return std::move(*result);
}

} // namespace meshloom::detail
