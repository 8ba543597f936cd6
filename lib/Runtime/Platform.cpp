#include "meshloom/Runtime/Platform.h"

#include "meshloom/Runtime/PlatformRegistry.h"

#include <fmt/format.h>
#include <map>
#include <mutex>
#include <numeric>

namespace meshloom {

Result<std::shared_ptr<Client>> Platform::client(int64_t count) {
  std::vector<int64_t> numbers(size_t(std::max<int64_t>(count, 0)));
  std::iota(numbers.begin(), numbers.end(), 0);
  return client(numbers);
}

namespace {
using ClientFactory = std::function<Result<std::shared_ptr<Client>>(
    const std::vector<int64_t> &)>;

class VirtualPlatform : public Platform {
public:
  VirtualPlatform(std::string name, ClientFactory make)
      : platformName(std::move(name)), make(std::move(make)) {}
  const std::string &name() const override { return platformName; }
  std::string_view target() const override { return "cpu"; }
  Result<std::string> deviceType() override { return std::string("CPU"); }

  Result<std::shared_ptr<Client>>
  client(const std::vector<int64_t> &numbers) override {
    std::lock_guard lock(mutex);
    std::weak_ptr<Client> &known = clients[numbers];
    if (auto found = known.lock())
      return found;
    auto made = make(numbers);
    if (made)
      known = *made;
    return made;
  }

private:
  const std::string platformName;
  const ClientFactory make;
  std::mutex mutex;
  std::map<std::vector<int64_t>, std::weak_ptr<Client>> clients;
};
} // namespace

Result<std::shared_ptr<Platform>> virtualPlatform(const std::string &name,
                                                  const std::string &argument,
                                                  ClientFactory make) {
  if (!argument.empty())
    return Error(
        fmt::format("the platform {} takes nothing after its name, got '{}'",
                    name.substr(0, name.find(':')), argument));
  return std::shared_ptr<Platform>(
      std::make_shared<VirtualPlatform>(name, std::move(make)));
}

} // namespace meshloom
