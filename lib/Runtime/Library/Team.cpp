// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meshloom/Runtime/Library/Team.h"

#include <utility>

using namespace meshloom;
using namespace meshloom::library;

namespace {
thread_local Team *team = nullptr; // null: a team of one
} // namespace

TeamScope::TeamScope(Team *current) : before(std::exchange(team, current)) {}
TeamScope::~TeamScope() {
  team = before;
}

Team &Team::current() {
  static Team one;
  return team ? *team : one;
}

void Team::run(int64_t parts, const std::function<void(int64_t)> &body) {
  for (int64_t part = 0; part < parts; ++part)
    body(part);
}

void Team::forEach(int64_t parts, const std::function<void(int64_t)> &body) {
  if (parts == 1)
    return body(0);
  run(parts, [&](int64_t part) {
    const TeamScope alone(nullptr);
    body(part);
  });
}

void Team::forEachRangeOf(int64_t parts, int64_t extent, int64_t grain,
                          const std::function<void(int64_t, int64_t)> &body) {
  auto bound = [&](int64_t part) {
    return part == parts ? extent : extent / grain * part / parts * grain;
  };
  forEach(parts, [&](int64_t part) { body(bound(part), bound(part + 1)); });
}
