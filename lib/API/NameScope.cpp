// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The names of parts, joined; see NameScope.h.
#include "meshloom/API/NameScope.h"

#include "meshloom/Engine/Nodes.h"

#include "meshloom/Runtime/Profiler.h"

namespace meshloom {
using namespace detail;

NameScope::NameScope(std::string_view name) {
  std::vector<std::string> &scopes = threadState().scopes;
  scopes.push_back(scopes.empty() ? std::string(name)
                                  : scopes.back() + "/" + std::string(name));
  if (Profiler::current())
    range = std::make_shared<HostRange>([&] { return scopes.back(); });
}
NameScope::~NameScope() {
  threadState().scopes.pop_back();
}

std::string current_name_scope() {
  const std::vector<std::string> &scopes = threadState().scopes;
  return scopes.empty() ? "" : scopes.back();
}

} // namespace meshloom
