// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A walk over steps.
#include "meshloom/Core/UserCalls.h"

#include <algorithm>

using namespace meshloom;

static bool anyCallsUsers(const std::vector<Step> &steps) {
  return std::ranges::any_of(steps, [](const Step &step) {
    if (const auto *kernel = std::get_if<KernelStep>(&step))
      return kernel->library == "custom_call" || kernel->library == "callback";
    return std::ranges::any_of(
        nestedLists(step),
        [](const std::vector<Step> *list) { return anyCallsUsers(*list); });
  });
}

bool meshloom::callsUserFunctions(const Program &program) {
  return anyCallsUsers(program.steps);
}
