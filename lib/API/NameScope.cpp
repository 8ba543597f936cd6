// The names of parts, joined; see NameScope.h.
#include "meshloom/API/NameScope.h"

#include "Node.h"

namespace meshloom {
using namespace detail;

NameScope::NameScope(std::string_view name) {
  std::vector<std::string> &scopes = threadState().scopes;
  scopes.push_back(scopes.empty() ? std::string(name)
                                  : scopes.back() + "/" + std::string(name));
}
NameScope::~NameScope() {
  threadState().scopes.pop_back();
}

std::string current_name_scope() {
  const std::vector<std::string> &scopes = threadState().scopes;
  return scopes.empty() ? "" : scopes.back();
}

} // namespace meshloom
