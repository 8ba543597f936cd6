// The platform "cpu": clients of virtual CPUs that share memory.
#include "meshloom/Runtime/Backends/CPU/CPUClient.h"
#include "meshloom/Runtime/PlatformRegistry.h"

namespace meshloom {

Result<std::shared_ptr<Platform>> cpuPlatform(const std::string &name,
                                              const std::string &argument) {
  return virtualPlatform(name, argument,
                         [](const std::vector<int64_t> &numbers) {
                           CPUOptions options;
                           options.devices = int64_t(numbers.size());
                           options.numbers = numbers;
                           return createCPUClient(options);
                         });
}

} // namespace meshloom
