// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many threads there are.
#include "Workers.h"

#include <algorithm>
#include <sched.h>

using namespace meshloom::cpu;

namespace {
/// Cores that this process may use.
int64_t availableCores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return 1;
}
} // namespace

int64_t meshloom::cpu::workersFor(int64_t wanted) {
  return wanted ? wanted : availableCores();
}

Workers::Workers(int64_t wanted)
    : number(workersFor(wanted)), arena(int(number)) {
  if (number > availableCores())
    moreThreads.emplace(tbb::global_control::max_allowed_parallelism,
                        size_t(number));
}
