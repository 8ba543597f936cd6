// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An environment for tests.
#pragma once

#include "meshloom/Cluster/ClusterResolver.h"

namespace meshloom::test {

inline Environment variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](
             const char *name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

template <typename Function> std::string messageOf(const Function &function) {
  try {
    (void)function();
  } catch (const Error &error) {
    return error.message();
  }
  return "";
}

} // namespace meshloom::test
