// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The platform "cpu": clients of virtual CPUs. After the name come options:
// "cpu:workers=2,memory-limit=1000000,private-memories", or "cpu:processes=4"
// for devices in as many processes, which are threads of this one.
#include "meshloom/Runtime/Backends/CPU/ProcessThreads.h"
#include "meshloom/Runtime/PlatformProcesses.h"
#include "meshloom/Runtime/PlatformRegistry.h"

#include <fmt/format.h>

#include <charconv>

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
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view option = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (option == "private-memories") {
      options.privateMemories = true;
      continue;
    }
    const size_t equals = std::min(option.find('='), option.size());
    const std::string_view name = option.substr(0, equals);
    const std::string_view value =
        option.substr(std::min(equals + 1, option.size()));
    int64_t *number = name == "workers"        ? &options.workers
                      : name == "memory-limit" ? &options.memoryLimit
                      : name == "processes"    ? &parsed.threads
                                               : nullptr;
    if (number) {
      auto [end, error] =
          std::from_chars(value.data(), value.data() + value.size(), *number);
      if (error == std::errc() && end == value.data() + value.size() &&
          *number >= 0)
        continue;
    }
    return Error(fmt::format(
        "the platform cpu takes workers=N, "
        "memory-limit=BYTES, processes=N and "
        "private-memories after its name, separated by commas, got '{}'",
        option));
  }
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
