#include "meshloom/Runtime/Platform.h"

#include "meshloom/Runtime/PlatformRegistry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
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

std::vector<std::string> platformNames() {
  std::vector<std::string> names;
  for (const PlatformEntry &entry : platformTable())
    names.emplace_back(entry.name);
  return names;
}

Result<std::shared_ptr<Platform>> platform(const std::string &name) {
  const size_t colon = std::min(name.find(':'), name.size());
  const std::string_view kind = std::string_view(name).substr(0, colon);
  for (const PlatformEntry &entry : platformTable()) {
    if (entry.name != kind)
      continue;
    // Never destroyed: arrays that outlive main keep clients alive.
    static std::mutex &mutex = *new std::mutex;
    static auto &known = *new std::map<std::string, std::shared_ptr<Platform>>;
    std::lock_guard lock(mutex);
    std::shared_ptr<Platform> &found = known[name];
    if (found)
      return found;
    auto made =
        entry.make(name, colon == name.size() ? "" : name.substr(colon + 1));
    if (made)
      found = *made;
    return made;
  }
  return Error(fmt::format("there is no platform '{}'; the platforms are {}",
                           name, fmt::join(platformNames(), ", ")));
}

} // namespace meshloom
