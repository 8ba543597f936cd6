// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ExecuteContext: what a caller gives along with an execution.
#pragma once

#include "Arguments.h"

#include <map>
#include <mutex>

namespace meshloom::plugin {

/// User data by the number of its type. JAX adds the functions of Python that a
/// program calls.
struct ExecuteContextObject : HandleObject<ExecuteContextObject> {
  static constexpr std::string_view kindName = "an execute context";
  std::mutex mutex;
  std::map<int64_t, void *> data;
};

} // namespace meshloom::plugin
