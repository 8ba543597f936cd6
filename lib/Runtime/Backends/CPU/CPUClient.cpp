// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Making a client of virtual CPUs, and loading programs on it.
#include "CPUExecutable.h"

#include "meshloom/Runtime/Library/HostCode.h"

#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::cpu;

Result<std::shared_ptr<Client>>
meshloom::createCPUClient(const CPUOptions &options) {
  if (options.devices < 1)
    return Error(fmt::format("there must be at least one virtual CPU, not {}",
                             options.devices));
  if (!options.numbers.empty() &&
      int64_t(options.numbers.size()) != options.devices)
    return Error(fmt::format("{} numbers are given for {} virtual CPUs",
                             options.numbers.size(), options.devices));
  if (options.workers < 0 || options.workers > 4096)
    return Error(fmt::format("the number of workers must be from 1 to 4096 (or "
                             "0: one per core), not {}",
                             options.workers));
  if (options.chunks < 0 || options.memoryLimit < 0)
    return Error("chunks and memory limit of a CPU client cannot be negative");
  if (options.communicator && options.privateMemories)
    return Error("virtual CPUs with private memories are those of one process, "
                 "and this program has several: leave private_memories out, or "
                 "run it in one process");
  if (options.clocks && (options.privateMemories || options.communicator))
    return Error("clocks of workers are for virtual CPUs that share the memory "
                 "of one process");
  return std::shared_ptr<Client>(std::make_shared<CPUClient>(options));
}

CPUClient::CPUClient(const CPUOptions &requested)
    : PlanClient(workersFor(requested.workers), requested.launchFrom),
      options(requested),
      pool(std::make_shared<MemoryPool>(requested.memoryLimit
                                            ? requested.memoryLimit
                                            : plan::machineMemory())),
      workers(requested.workers) {
  for (int64_t i = 0; i < options.devices; ++i) {
    const int64_t number =
        options.numbers.empty() ? i : options.numbers[size_t(i)];
    deviceList.push_back({number, fmt::format("CPU:{}", number)});
  }
}

Result<std::shared_ptr<Executable>>
CPUClient::loadOn(Compiled compiled, const DeviceAssignment &assignment,
                  const LoadOptions &loadOptions) {
  auto kernels = library::loadCode(compiled, platform());
  if (!kernels)
    return kernels.error();
  auto self = std::static_pointer_cast<CPUClient>(shared_from_this());
  const CPULoad load{self, std::move(*kernels), loadOptions};
  return plan::loadProgram(self, {std::move(compiled), assignment}, loadOptions,
                           [&](plan::BoundProgram straight) {
                             return options.privateMemories
                                        ? loadPrivate(load, std::move(straight))
                                        : loadShared(load, std::move(straight));
                           });
}
