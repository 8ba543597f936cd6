// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The platform "cpu": clients of virtual CPUs. After the name come options:
// "cpu:workers=2,memory-limit=1000000,private-memories", or "cpu:processes=4"
// for devices in as many processes, which are threads of this one.
#include "meshloom/Runtime/Backends/CPU/ProcessThreads.h"
#include "meshloom/Runtime/PlatformProcesses.h"
#include "meshloom/Runtime/PlatformRegistry.h"

namespace meshloom {
namespace {

struct PlatformOptions {
  CPUOptions process;
  /// Threads that run the devices as processes would.
  int64_t threads = 1;
};

Result<PlatformOptions> parseOptions(std::string_view text) {
  PlatformOptions parsed;
  CPUOptions &options = parsed.process;
  Status read = readPlatformOptions(
      text,
      "the platform cpu takes workers=N, memory-limit=BYTES, processes=N and "
      "private-memories",
      [&](std::string_view name, std::optional<std::string_view> value) {
        if (name == "private-memories" && !value)
          return options.privateMemories = true;
        int64_t *number = name == "workers"        ? &options.workers
                          : name == "memory-limit" ? &options.memoryLimit
                          : name == "processes"    ? &parsed.threads
                                                   : nullptr;
        return number && readPlatformNumber(value, *number);
      });
  if (!read)
    return read.error();
  return parsed;
}

} // namespace

Result<std::shared_ptr<Platform>> cpuPlatform(const std::string &name,
                                              const std::string &argument) {
  Result<PlatformOptions> parsed = parseOptions(argument);
  if (!parsed)
    return parsed.error();
  auto makeClient = [parsed = *parsed](
                        const std::vector<int64_t> &numbers,
                        const std::shared_ptr<PlatformProcesses> &processes) {
    CPUOptions options = parsed.process;
    options.devices = int64_t(numbers.size());
    options.numbers = numbers;
    if (processes) {
      options.communicator = processes->communicator();
      if (options.workers == 0)
        options.workers = processes->workers();
    }
    return parsed.threads == 1 ? createCPUClient(options)
                               : createProcessThreads(parsed.threads, options);
  };
  return virtualPlatform(name, "",
                         {.type = "CPU",
                          .spansProcesses = parsed->threads == 1,
                          .makeClient = std::move(makeClient)});
}

} // namespace meshloom
