// The platform "cpu": clients of virtual CPUs that share memory.
#include "meshloom/Runtime/Backends/CPU/CPUClient.h"
#include "meshloom/Runtime/PlatformRegistry.h"

#include <map>
#include <mutex>

namespace meshloom {
namespace {

class CPUPlatform : public Platform {
public:
  const std::string &name() const override { return platformName; }
  std::string_view target() const override { return "cpu"; }
  Result<std::string> deviceType() override { return std::string("CPU"); }

  Result<std::shared_ptr<Client>>
  client(const std::vector<int64_t> &numbers) override {
    std::lock_guard lock(mutex);
    std::weak_ptr<Client> &known = clients[numbers];
    if (auto found = known.lock())
      return found;
    CPUOptions options;
    options.devices = int64_t(numbers.size());
    options.numbers = numbers;
    auto made = createCPUClient(options);
    if (made)
      known = *made;
    return made;
  }

private:
  const std::string platformName = "cpu";
  std::mutex mutex;
  std::map<std::vector<int64_t>, std::weak_ptr<Client>> clients;
};

} // namespace

Result<std::shared_ptr<Platform>> cpuPlatform(const std::string &,
                                              const std::string &argument) {
  if (!argument.empty())
    return Error("the platform cpu takes nothing after its name, got '" +
                 argument + "'");
  return std::shared_ptr<Platform>(std::make_shared<CPUPlatform>());
}

} // namespace meshloom
