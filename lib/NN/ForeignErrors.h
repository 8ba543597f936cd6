// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors of the standard library become our own before they leave the API.
#pragma once

#include "meshloom/Core/Result.h"

#include <string>

namespace meshloom::detail {

/// body(); what it throws that is no meshloom::Error becomes one that begins
/// with `context`, such as "[from_config] a 'Dense'".
template <typename F> auto withOwnErrors(const std::string &context, F &&body) {
  try {
    return body();
  } catch (const Error &) {
    throw;
  } catch (const std::exception &error) {
    throw Error(context +
                " is not valid: an entry is missing, or a number is "
                "out of range (" +
                error.what() + ")");
  }
}

} // namespace meshloom::detail
