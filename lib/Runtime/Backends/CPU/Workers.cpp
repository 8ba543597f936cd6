// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many threads there are.
#include "Workers.h"

#include "meshloom/Core/AvailableCores.h"

using namespace meshloom;
using namespace meshloom::cpu;

int64_t meshloom::cpu::workersFor(int64_t wanted) {
  return wanted ? wanted : availableCores();
}

Workers::Workers(int64_t wanted)
    : number(workersFor(wanted)), arena(int(number)) {
  if (number > availableCores())
    moreThreads.emplace(tbb::global_control::max_allowed_parallelism,
                        size_t(number));
}
