// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which devices each strategy has.
#include "meshloom/Distribute/Strategies.h"
#include "StrategyState.h"

#include "meshloom/API/Logging.h"
#include "meshloom/API/Processes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace meshloom {
using namespace detail;
using StrategyKind = StrategyState::Kind;

namespace {

std::string listText(const std::vector<DeviceSpec> &devices) {
  std::vector<std::string> names;
  names.reserve(devices.size());
  for (const DeviceSpec &device : devices)
    names.push_back(device.to_string());
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Returns whether it is there; virtual CPUs are made as they are named.
bool isVisible(const DeviceSpec &device) {
  return device.type == "CPU" ||
         std::ranges::any_of(list_logical_devices(device.type),
                             [&](const DeviceSpec &existing) {
                               return existing.index == device.index &&
                                      (existing.process < 0 ||
                                       existing.process == client_id());
                             });
}

/// Returns the devices asked for that are there; all GPUs or CPUs where none is
/// asked for.
std::vector<DeviceSpec> chosen(const DeviceList &requested,
                               std::string_view op) {
  std::vector<DeviceSpec> devices, missing;
  if (requested.empty()) {
    devices = list_logical_devices("GPU");
    return devices.empty() ? list_logical_devices("CPU") : devices;
  }
  for (const DeviceSpec &device : requested.devices()) {
    if (device.process >= 0 && device.process != client_id())
      fail(op, fmt::format("expected devices of this process, got {}: "
                           "MultiWorkerMirroredStrategy is for those of "
                           "several",
                           device.to_string()));
    if (std::ranges::count(devices, device) > 0)
      fail(op, fmt::format("expected different devices, got {} twice",
                           device.to_string()));
    (isVisible(device) ? devices : missing).push_back(device);
  }
  if (devices.empty())
    fail(op, fmt::format("none of the devices {} is there: there are {}. "
                         "Others are connected with connect_platform",
                         listText(missing), listText(list_logical_devices())));
  if (!missing.empty())
    logOnce(LogLevel::WARNING,
            fmt::format("{}: the devices {} are not visible and are left out: "
                        "connect them first with connect_platform, or name "
                        "some of {}",
                        op, listText(missing),
                        listText(list_logical_devices())));
  return devices;
}

std::shared_ptr<StrategyState>
make(std::string name, StrategyKind kind,
     const std::vector<DeviceSpec> &devices,
     std::shared_ptr<const CrossDeviceOps> crossDeviceOps = nullptr,
     std::optional<TPUClusterResolver> resolver = std::nullopt) {
  auto state = std::make_shared<StrategyState>();
  state->name = std::move(name);
  state->kind = kind;
  state->mesh = create_mesh({{replicaAxis, int64_t(devices.size())}}, devices);
  state->crossDeviceOps = std::move(crossDeviceOps);
  state->resolver = std::move(resolver);
  std::vector<std::string> names;
  names.reserve(devices.size());
  for (const DeviceSpec &device : devices)
    names.push_back(fmt::format("'{}'", device.name()));
  logOnce(
      LogLevel::INFO,
      fmt::format("Using {} with devices ({}); its constructor takes others",
                  state->name, fmt::join(names, ", ")));
  return state;
}

std::vector<DeviceSpec> connectedTPUs() {
  std::vector<DeviceSpec> devices = list_logical_devices("TPU");
  if (devices.empty())
    fail("TPUStrategy",
         "there is no TPU: connect them with "
         "connect_to_cluster(TPUClusterResolver(\"local\")), or name virtual "
         "CPUs to try the program without: "
         "TPUStrategy({\"CPU:0\", \"CPU:1\"})");
  return devices;
}

/// Variables on one of the devices that compute, which is then the first, or on
/// another one of this process.
std::shared_ptr<const StrategyState>
makeCentral(const DeviceList &computing,
            const std::optional<DeviceSpec> &parameters) {
  constexpr std::string_view op = "CentralStorageStrategy";
  std::vector<DeviceSpec> devices = chosen(computing, op);
  if (!parameters)
    return make(std::string(op), StrategyKind::Central, devices);
  if (const auto found = std::ranges::find(devices, *parameters);
      found != devices.end()) {
    std::rotate(devices.begin(), found, found + 1);
    return make(std::string(op), StrategyKind::Central, devices);
  }
  const std::vector<DeviceSpec> apart = chosen({*parameters}, op);
  auto state = make(std::string(op), StrategyKind::Central, devices);
  state->parameterMesh = create_mesh({{"d", 1}}, apart);
  return state;
}

} // namespace

MirroredStrategy::MirroredStrategy(
    const DeviceList &devices,
    std::shared_ptr<const CrossDeviceOps> cross_device_ops, Where where)
    : Strategy(detail::atLine(where, [&] {
        return make("MirroredStrategy", StrategyKind::Mirrored,
                    chosen(devices, "MirroredStrategy"),
                    std::move(cross_device_ops));
      })) {}

CentralStorageStrategy::CentralStorageStrategy(
    const DeviceList &compute_devices,
    const std::optional<DeviceSpec> &parameter_device, Where where)
    : Strategy(detail::atLine(where, [&] {
        return makeCentral(compute_devices, parameter_device);
      })) {}

OneDeviceStrategy::OneDeviceStrategy(const DeviceSpec &device, Where where)
    : Strategy(detail::atLine(where, [&] {
        return make("OneDeviceStrategy", StrategyKind::OneDevice,
                    chosen({device}, "OneDeviceStrategy"));
      })) {}

TPUStrategy::TPUStrategy(Where where)
    : Strategy(detail::atLine(where, [] {
        return make("TPUStrategy", StrategyKind::TPU, connectedTPUs());
      })) {}

TPUStrategy TPUStrategy::ofResolver(const TPUClusterResolver &resolver,
                                    Where where) {
  connect_to_cluster(resolver, where);
  return detail::atLine(where, [&] {
    return TPUStrategy(make("TPUStrategy", StrategyKind::TPU, connectedTPUs(),
                            nullptr, resolver));
  });
}

TPUStrategy::TPUStrategy(const DeviceList &devices, Where where)
    : Strategy(detail::atLine(where, [&] {
        return make("TPUStrategy", StrategyKind::TPU,
                    devices.empty() ? connectedTPUs()
                                    : chosen(devices, "TPUStrategy"));
      })) {}

} // namespace meshloom
