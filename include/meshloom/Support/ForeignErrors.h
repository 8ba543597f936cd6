// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors of the standard library become Meshloom's before they leave the API.
#pragma once

#include "meshloom/Core/Result.h"

#include <string>

namespace meshloom::detail {

/// body(). An exception that is not a meshloom::Error becomes the one that
/// Error::of gives, and its text begins with `context`, such as
/// "[restore] 'checkpoints/ckpt-3'".
template <typename F>
auto withDTensorErrors(const std::string &context, F &&body) {
  try {
    return body();
  } catch (const Error &) {
    throw;
  } catch (const std::exception &exception) {
    const Error error = Error::of(exception);
    error.withMessage(context + ": " + error.message()).raise();
  }
}

} // namespace meshloom::detail
