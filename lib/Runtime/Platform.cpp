// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meshloom/Runtime/Platform.h"

#include "meshloom/Runtime/PlatformProcesses.h"
#include "meshloom/Runtime/PlatformRegistry.h"

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
