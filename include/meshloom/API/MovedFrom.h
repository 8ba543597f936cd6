// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Handles that were moved from: an error at each use.
#pragma once

#include "meshloom/Core/Result.h"

#include <string>
#include <string_view>

namespace meshloom::detail {

/// Throws meshloom::Error if `state`, what an object of the class holds, has
/// been moved to another object.
template <typename Pointer>
void expectNotMovedFrom(const Pointer &state, std::string_view className) {
  if (!state)
    Error("[" + std::string(className) +
              "] this one was moved from: use the one that it was moved to",
          ErrorCode::FAILED_PRECONDITION)
        .raise();
}

} // namespace meshloom::detail
