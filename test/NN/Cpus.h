// The virtual CPUs that strategies in tests have replicas on.
#pragma once

#include "meshloom/Meshloom.h"

namespace meshloom {

inline std::vector<DeviceName> cpus(int64_t count) {
  std::vector<DeviceName> names;
  for (const DeviceSpec &device : virtual_cpus(count))
    names.emplace_back(device);
  return names;
}

} // namespace meshloom
