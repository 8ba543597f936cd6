// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meshloom/Core/AvailableCores.h"

#include <algorithm>
#include <sched.h>

int64_t meshloom::availableCores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return 1;
}
