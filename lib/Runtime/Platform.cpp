// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meshloom/Runtime/Platform.h"

#include "meshloom/Runtime/PlatformProcesses.h"
#include "meshloom/Runtime/PlatformRegistry.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <numeric>

namespace meshloom {

Result<std::shared_ptr<Client>>
Platform::client(const std::vector<int64_t> &numbers,
                 const std::shared_ptr<PlatformProcesses> &processes) {
  if (processes && !spansProcesses())
    return Error(
        fmt::format("a program on devices of the platform {} runs in one "
                    "process, not in {}",
                    name(), processes->size()),
        ErrorCode::UNIMPLEMENTED);
  return clientOf(numbers, processes);
}

Result<std::shared_ptr<Client>>
Platform::client(int64_t count,
                 const std::shared_ptr<PlatformProcesses> &processes) {
  std::vector<int64_t> numbers(size_t(std::max<int64_t>(count, 0)));
  std::iota(numbers.begin(), numbers.end(), 0);
  return client(numbers, processes);
}

Status Platform::configure(int64_t, const std::vector<int64_t> &) {
  return Error(fmt::format("a device of the platform {} is always one", name()),
               ErrorCode::UNIMPLEMENTED);
}

namespace {
class VirtualPlatform : public Platform {
public:
  VirtualPlatform(std::string name, VirtualDevices devices)
      : platformName(std::move(name)), virtualDevices(std::move(devices)) {}
  const std::string &name() const override { return platformName; }
  std::string_view target() const override { return virtualDevices.target; }
  Result<std::string> deviceType() override { return virtualDevices.type; }
  Result<std::vector<PlatformDevice>> devices() override {
    return virtualDevices.listed ? virtualDevices.listed()
                                 : Platform::devices();
  }
  Status configure(int64_t physical,
                   const std::vector<int64_t> &memoryLimits) override {
    return virtualDevices.configure
               ? virtualDevices.configure(physical, memoryLimits)
               : Platform::configure(physical, memoryLimits);
  }
  bool spansProcesses() const override { return virtualDevices.spansProcesses; }

protected:
  Result<std::shared_ptr<Client>>
  clientOf(const std::vector<int64_t> &numbers,
           const std::shared_ptr<PlatformProcesses> &processes) override {
    if (processes)
      return virtualDevices.makeClient(numbers, processes);
    std::lock_guard lock(mutex);
    std::weak_ptr<Client> &cached = clients[numbers];
    if (auto client = cached.lock())
      return client;
    auto client = virtualDevices.makeClient(numbers, nullptr);
    if (client)
      cached = *client;
    return client;
  }

private:
  const std::string platformName;
  const VirtualDevices virtualDevices;
  std::mutex mutex;
  std::map<std::vector<int64_t>, std::weak_ptr<Client>> clients;
};
} // namespace

Status readPlatformOptions(
    std::string_view argument, std::string_view expected,
    const std::function<bool(std::string_view name,
                             std::optional<std::string_view> value)> &take) {
  while (!argument.empty()) {
    const size_t comma = std::min(argument.find(','), argument.size());
    const std::string_view option = argument.substr(0, comma);
    argument.remove_prefix(std::min(comma + 1, argument.size()));
    const size_t equals = option.find('=');
    std::optional<std::string_view> value;
    if (equals != std::string_view::npos)
      value = option.substr(equals + 1);
    if (!take(option.substr(0, equals), value))
      return Error(
          fmt::format("{} after its name, separated by commas, got '{}'",
                      expected, option));
  }
  return Success();
}

bool readPlatformNumber(std::optional<std::string_view> value,
                        int64_t &number) {
  if (!value)
    return false;
  const char *last = value->data() + value->size();
  auto [end, error] = std::from_chars(value->data(), last, number);
  return error == std::errc() && end == last && number >= 0;
}

Result<std::shared_ptr<Platform>> virtualPlatform(const std::string &name,
                                                  const std::string &argument,
                                                  VirtualDevices devices) {
  if (!argument.empty())
    return Error(
        fmt::format("the platform {} takes nothing after its name, got '{}'",
                    name.substr(0, name.find(':')), argument));
  return std::shared_ptr<Platform>(
      std::make_shared<VirtualPlatform>(name, std::move(devices)));
}

} // namespace meshloom
