// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The virtual CPUs that strategies in tests have replicas on.
#pragma once

#include "meshloom/Meshloom.h"

namespace meshloom {

inline std::vector<DeviceSpec> cpus(int64_t count) {
  return virtual_cpus(count);
}

} // namespace meshloom
