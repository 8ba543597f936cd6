// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The platform "pjrt": a plug-in's client, and clients of parts of its devices.
#include "meshloom/Runtime/Backends/PJRT/PJRTPlatform.h"

#include "PJRTClient.h"

#include "meshloom/Runtime/Backends/PJRT/AheadOfTime.h"
#include "meshloom/Runtime/PlatformProcesses.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>

namespace meshloom {
namespace {
using namespace pjrt;

/// The option of the CPU plug-in for the number of devices to create.
constexpr const char *deviceCountOption = "cpu_device_count";

class PJRTPlatform : public Platform {
public:
  PJRTPlatform(std::string name, const Plugin &plugin, Attributes options)
      : platformName(std::move(name)), library(plugin),
        options(std::move(options)) {}

  const std::string &name() const override { return platformName; }
  std::string_view target() const override { return "stablehlo"; }

  Status join(const std::shared_ptr<PlatformProcesses> &others) override {
    std::lock_guard lock(mutex);
    if (latest && !processes)
      return Error(fmt::format("the devices of {} were used before this "
                               "process joined the others: initialize comes "
                               "first",
                               platformName));
    processes = others;
    return Success();
  }

  Result<std::string> deviceType() override {
    std::lock_guard lock(mutex);
    auto current = session(0);
    if (!current)
      return current.error();
    // The type CPU is that of the virtual ones.
    const std::string type = typeOf(**current);
    return type == "CPU" ? "XLA_CPU" : type;
  }

  Result<std::vector<PlatformDevice>> devices() override {
    std::lock_guard lock(mutex);
    auto current = session(0);
    if (!current)
      return current.error();
    std::vector<PlatformDevice> found;
    std::map<int64_t, int64_t> counts; // by process
    auto add = [&](const PluginDevice &device, bool isHere) {
      DevicePlace place = placeOf(device.attributes, device.text);
      found.push_back({counts[device.process]++, device.kind,
                       std::move(place.coords), place.core, device.process,
                       isHere});
    };
    for (const PluginDevice &device : (*current)->plugin->devices())
      add(device, true);
    for (const PluginDevice &device : (*current)->plugin->otherDevices())
      add(device, false);
    std::ranges::stable_sort(found, {}, &PlatformDevice::process);
    return found;
  }

protected:
  Result<std::shared_ptr<Client>>
  clientOf(const std::vector<int64_t> &numbers,
           const std::shared_ptr<PlatformProcesses> &) override {
    if (numbers.empty() || std::ranges::min(numbers) < 0)
      return Error(fmt::format("a client of {} needs devices whose numbers are "
                               "0 or more",
                               platformName));
    std::lock_guard lock(mutex);
    std::weak_ptr<Client> &cached = clients[numbers];
    if (auto found = cached.lock())
      return found;
    const int64_t count = std::ranges::max(numbers) + 1;
    auto current = session(count);
    if (!current)
      return current.error();
    const int64_t available = int64_t((*current)->plugin->devices().size());
    const std::string type = typeOf(**current);
    if (count > available)
      return Error(fmt::format("there is no device {}:{}: {} has {} device{}, "
                               "{}:0 to {}:{}",
                               type, count - 1, platformName, available,
                               available == 1 ? "" : "s", type, type,
                               available - 1));
    std::shared_ptr<Client> created =
        std::make_shared<PJRTClient>(*current, type, numbers);
    cached = created;
    return created;
  }

private:
  static std::string typeOf(const Session &session) {
    std::string type = session.plugin->platformName();
    if (type == "cuda" || type == "rocm" || type == "sycl")
      return "GPU";
    for (char &letter : type)
      letter = char(std::toupper(letter));
    return type;
  }

  /// Fails where it has other processes than we do: each would go on alone.
  Status checkProcesses(const PluginClient &client) const {
    if (client.otherDevices().empty())
      return Success();
    const int64_t last = client.otherDevices().back().process;
    const int64_t count = 1 + std::max(last, client.process());
    if (!processes)
      return Error(fmt::format(
          "{} has devices of {} processes, and this is number {}, but this "
          "process has not joined the others: start the program with "
          "mesh-launch, or call initialize before anything uses devices",
          platformName, count, client.process()));
    if (count != processes->size() || client.process() != processes->rank())
      return Error(
          fmt::format("{} calls this process number {} of {}, but it is number "
                      "{} of {} that run the program: start equally many "
                      "processes, in the order of the plug-in",
                      platformName, client.process(), count, processes->rank(),
                      processes->size()));
    return Success();
  }

  /// The plug-in's client; a new one of more devices where they are virtual
  /// and too few. Clients of the old one go on.
  Result<std::shared_ptr<Session>> session(int64_t count) {
    auto make = [&](Attributes with) -> Status {
      std::shared_ptr<KeyValueStore> store;
      if (processes)
        store = processes->part(
            "pjrt/" +
            std::filesystem::path(library.path()).filename().string());
      if (processes && !library.findsProcesses()) {
        with.emplace("node_id", processes->rank());
        with.emplace("num_nodes", processes->size());
      }
      auto created = PluginClient::create(library, with, std::move(store));
      if (!created)
        return created.error();
      if (Status ok = checkProcesses(**created); !ok)
        return ok.error();
      if ((*created)->devices().empty())
        return Error(fmt::format("{} has no devices that this process can use",
                                 platformName));
      latest = std::make_shared<Session>(std::move(*created));
      return Success();
    };
    if (!latest)
      if (Status ok = make(options); !ok)
        return ok.error();
    if (int64_t(latest->plugin->devices().size()) < count &&
        latest->plugin->otherDevices().empty() &&
        latest->plugin->platformName() == "cpu") {
      Attributes more = options;
      more.insert_or_assign(deviceCountOption, count);
      if (Status ok = make(more); !ok)
        return ok.error();
    }
    return latest;
  }

  const std::string platformName;
  const Plugin &library;
  const Attributes options;
  std::mutex mutex;
  std::shared_ptr<PlatformProcesses> processes; ///< null: this one is alone
  std::shared_ptr<Session> latest;
  std::map<std::vector<int64_t>, std::weak_ptr<Client>> clients;
};
} // namespace

std::shared_ptr<Platform>
makePJRTPlatform(std::string name, const Plugin &plugin, Attributes options) {
  return std::make_shared<PJRTPlatform>(std::move(name), plugin,
                                        std::move(options));
}

Result<std::shared_ptr<Platform>> pjrtPlatform(const std::string &name,
                                               const std::string &argument) {
  Result<std::string> path = findPlugin(argument);
  if (!path)
    return path.error();
  Result<const Plugin *> plugin = Plugin::load(*path);
  if (!plugin)
    return plugin.error();
  Result<Attributes> options = clientOptions();
  if (!options)
    return options.error();
  return makePJRTPlatform(name, **plugin, std::move(*options));
}

} // namespace meshloom
