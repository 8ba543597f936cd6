// The platform "cpu": clients of virtual CPUs. After the name come options:
// "cpu:workers=2,memory-limit=1000000,private-memories".
#include "meshloom/Runtime/Backends/CPU/CPUClient.h"
#include "meshloom/Runtime/PlatformRegistry.h"

#include <fmt/format.h>

#include <charconv>

namespace meshloom {
namespace {

Result<CPUOptions> parseOptions(std::string_view text) {
  CPUOptions options;
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
                                               : nullptr;
    if (number) {
      auto [end, error] =
          std::from_chars(value.data(), value.data() + value.size(), *number);
      if (error == std::errc() && end == value.data() + value.size() &&
          *number >= 0)
        continue;
    }
    return Error(fmt::format("the platform cpu takes workers=N, "
                             "memory-limit=BYTES and private-memories after "
                             "its name, separated by commas, got '{}'",
                             option));
  }
  return options;
}

} // namespace

Result<std::shared_ptr<Platform>> cpuPlatform(const std::string &name,
                                              const std::string &argument) {
  Result<CPUOptions> parsed = parseOptions(argument);
  if (!parsed)
    return parsed.error();
  return virtualPlatform(
      name, "", [given = *parsed](const std::vector<int64_t> &numbers) {
        CPUOptions options = given;
        options.devices = int64_t(numbers.size());
        options.numbers = numbers;
        return createCPUClient(options);
      });
}

} // namespace meshloom
