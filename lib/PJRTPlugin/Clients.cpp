// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clients: the virtual devices of this process, and the options that they are
// created with.
#include "FfiCalls.h"
#include "FunctionTable.h"
#include "PluginObjects.h"
#include "ProgramCompiler.h"

#include "meshloom/Core/Version.h"
#include "meshloom/Runtime/Backends/CPU/CPUClient.h"
#include "meshloom/Runtime/Backends/PJRT/Plugin.h"
#include "meshloom/Support/MachineModelFile.h"

#include <charconv>
#include <cstdlib>
#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::plugin;
using capi::Slot;

namespace {
/// JAX lowers for, and compares with, this name: a device of this process is a
/// CPU.
constexpr std::string_view platformName = "cpu";

std::string_view platformVersion() {
  static const std::string &text =
      *new std::string(fmt::format("Meshloom {}", version()));
  return text;
}

/// The options of a client, wherever they come from.
struct ClientOptions {
  CPUOptions cpu;
  ProgramOptions program;
};

Result<int64_t> integerOf(const std::string &name,
                          const pjrt::AttributeValue &value) {
  if (const auto *number = std::get_if<int64_t>(&value))
    return *number;
  if (const auto *text = std::get_if<std::string>(&value)) {
    int64_t number = 0;
    const char *end = text->data() + text->size();
    const auto read = std::from_chars(text->data(), end, number);
    if (read.ec == std::errc() && read.ptr == end)
      return number;
    return Error(
        fmt::format("the option {} must be an integer, not '{}'", name, *text));
  }
  return Error(fmt::format("the option {} must be an integer", name));
}

Result<std::string> textOf(const std::string &name,
                           const pjrt::AttributeValue &value) {
  if (const auto *text = std::get_if<std::string>(&value))
    return *text;
  return Error(fmt::format("the option {} must be a text", name));
}

Result<bool> boolOf(const std::string &name,
                    const pjrt::AttributeValue &value) {
  if (const auto *flag = std::get_if<bool>(&value))
    return *flag;
  if (const auto *text = std::get_if<std::string>(&value))
    if (*text == "true" || *text == "false")
      return *text == "true";
  return Error(fmt::format("the option {} must be true or false", name));
}

/// Puts an integer of [first, last] into `into`.
Status setNumber(int64_t &into, const std::string &name,
                 const pjrt::AttributeValue &value, int64_t first,
                 int64_t last) {
  auto number = integerOf(name, value);
  if (!number)
    return number.error();
  if (*number < first || *number > last)
    return Error(fmt::format("the option {} must be from {} to {}, not {}",
                             name, first, last, *number));
  into = *number;
  return Success();
}

constexpr int64_t mostDevices = 1 << 16, mostWorkers = 4096;

Status setOption(ClientOptions &options, const std::string &name,
                 const pjrt::AttributeValue &value) {
  // XLA's plug-in for CPUs knows the second name.
  if (name == "num_devices" || name == "cpu_device_count")
    return setNumber(options.cpu.devices, name, value, 1, mostDevices);
  if (name == "workers")
    return setNumber(options.cpu.workers, name, value, 0, mostWorkers);
  if (name == "callback_function" || name == "handler_function") {
    // These are functions of the Python package.
    auto address = integerOf(name, value);
    if (!address)
      return address.error();
    if (name == "callback_function")
      setCallbackCaller(reinterpret_cast<CallbackCaller>(*address));
    else
      setHandlerFinder(reinterpret_cast<HandlerFinder>(*address));
    return Success();
  }
  if (name == "private_memories") {
    auto flag = boolOf(name, value);
    if (flag)
      options.cpu.privateMemories = *flag;
    return flag ? Status(Success()) : flag.error();
  }
  if (name == "num_nodes" || name == "node_id") {
    auto number = integerOf(name, value);
    if (!number)
      return number.error();
    if (name == "num_nodes" && *number > 1)
      return Error(fmt::format("the plug-in has devices of one process, and "
                               "this program has {}",
                               *number),
                   ErrorCode::UNIMPLEMENTED);
    return Success();
  }
  auto text = std::holds_alternative<bool>(value)
                  ? std::string(std::get<bool>(value) ? "true" : "false")
                  : textOf(name, value);
  if (!text)
    return text.error();
  auto found = setProgramOption(options.program, name, *text);
  if (!found)
    return found.error();
  if (*found)
    return Success();
  return Error(fmt::format("there is no option '{}'; clients have num_devices, "
                           "workers, private_memories, and for programs {}",
                           name, programOptionNames));
}

/// From environment variables, which create options come before.
Status setFromEnvironment(ClientOptions &options) {
  struct Variable {
    const char *name;
    std::string option;
  };
  for (const Variable &variable :
       {Variable{"MESHLOOM_DEVICES", "num_devices"},
        Variable{"MESHLOOM_WORKERS", "workers"},
        Variable{"MESHLOOM_PRIVATE_MEMORIES", "private_memories"},
        Variable{"MESHLOOM_MACHINE", "machine"},
        Variable{"MESHLOOM_REFINE", "refine"},
        Variable{"MESHLOOM_DETERMINISTIC", "deterministic"},
        Variable{"MESHLOOM_EXPLAIN", "explain"}})
    if (const char *value = std::getenv(variable.name))
      if (Status set = setOption(options, variable.option, std::string(value));
          !set)
        return set.error().withMessage(
            fmt::format("{}: {}", variable.name, set.error().message()));
  return Success();
}

void addDevice(ClientObject &client) {
  auto device = std::make_unique<DeviceObject>();
  device->client = &client;
  device->id = int32_t(client.devices.size());
  device->text = fmt::format("MeshloomDevice(id={})", device->id);
  for (int32_t kind = 0; kind < int32_t(std::size(memoryKinds)); ++kind) {
    auto memory = std::make_unique<MemoryObject>();
    memory->device = device.get();
    memory->id = int32_t(client.memories.size());
    memory->kind = kind;
    memory->text = fmt::format("{}(device={})", memoryKinds[kind], device->id);
    device->memories.push_back(memory.get());
    client.memoryHandles.push_back(memory.get());
    client.memories.push_back(std::move(memory));
  }
  client.deviceHandles.push_back(device.get());
  client.devices.push_back(std::move(device));
}

Status create(const Arguments &args) {
  using Args = capi::Client_Create_Args;
  auto createOptions = pjrt::readNamedValues(
      "the call of PJRT_Client_Create", args.get<void *>(Args::create_options),
      args.get<size_t>(Args::num_options));
  if (!createOptions)
    return createOptions.error();
  ClientOptions options;
  if (Status set = setFromEnvironment(options); !set)
    return set;
  for (const auto &[name, value] : *createOptions)
    if (Status set = setOption(options, name, value); !set)
      return set;
  auto client = createCPUClient(options.cpu);
  if (!client)
    return client.error();
  auto object = std::make_unique<ClientObject>();
  object->client = std::move(*client);
  object->compiler = std::make_shared<ProgramCompiler>(
      object->client, std::move(options.program));
  for (int64_t i = 0; i < options.cpu.devices; ++i)
    addDevice(*object);
  args.give(Args::client, std::move(object));
  return Success();
}

Status destroy(const Arguments &args) {
  args.owned<ClientObject>(capi::Client_Destroy_Args::client);
  return Success();
}

Status clientName(const Arguments &args) {
  using Args = capi::Client_PlatformName_Args;
  args.setText(Args::platform_name, Args::platform_name_size, platformName);
  return Success();
}

Status clientVersion(const Arguments &args) {
  using Args = capi::Client_PlatformVersion_Args;
  args.setText(Args::platform_version, Args::platform_version_size,
               platformVersion());
  return Success();
}

Status processIndex(const Arguments &args) {
  args.set<int32_t>(capi::Client_ProcessIndex_Args::process_index, 0);
  return Success();
}

Status devices(const Arguments &args) {
  using Args = capi::Client_Devices_Args;
  const auto &client = args.object<ClientObject>(Args::client);
  args.set(Args::devices, client.deviceHandles.data());
  args.set(Args::num_devices, client.deviceHandles.size());
  return Success();
}

Status addressableDevices(const Arguments &args) {
  using Args = capi::Client_AddressableDevices_Args;
  const auto &client = args.object<ClientObject>(Args::client);
  args.set(Args::addressable_devices, client.deviceHandles.data());
  args.set(Args::num_addressable_devices, client.deviceHandles.size());
  return Success();
}

Status memories(const Arguments &args) {
  using Args = capi::Client_AddressableMemories_Args;
  const auto &client = args.object<ClientObject>(Args::client);
  args.set(Args::addressable_memories, client.memoryHandles.data());
  args.set(Args::num_addressable_memories, client.memoryHandles.size());
  return Success();
}

Status lookup(const Arguments &args) {
  using Args = capi::Client_LookupDevice_Args;
  auto device = args.object<ClientObject>(Args::client)
                    .device(args.get<int32_t>(Args::id));
  if (device)
    args.set(Args::device, *device);
  return device ? Status(Success()) : device.error();
}

Status lookupAddressable(const Arguments &args) {
  using Args = capi::Client_LookupAddressableDevice_Args;
  auto device = args.object<ClientObject>(Args::client)
                    .device(args.get<int32_t>(Args::local_hardware_id));
  if (device)
    args.set(Args::addressable_device, *device);
  return device ? Status(Success()) : device.error();
}

Status defaultAssignment(const Arguments &args) {
  using Args = capi::Client_DefaultDeviceAssignment_Args;
  const int64_t count = int64_t(args.get<int32_t>(Args::num_replicas)) *
                        args.get<int32_t>(Args::num_partitions);
  const auto &client = args.object<ClientObject>(Args::client);
  const auto room = args.get<size_t>(Args::default_assignment_size);
  if (count < 0 || count > int64_t(client.devices.size()) ||
      size_t(count) > room)
    return Error(fmt::format("a program of {} devices does not fit on {} "
                             "devices and in a list of {}",
                             count, client.devices.size(), room));
  auto *ids = args.elements<int32_t>(Args::default_assignment, size_t(count));
  for (int32_t i = 0; i < int32_t(count); ++i)
    ids[i] = i;
  return Success();
}

// A client's topology is the client itself.

Status topology(const Arguments &args) {
  using Args = capi::Client_TopologyDescription_Args;
  args.set(Args::topology, &args.object<ClientObject>(Args::client));
  return Success();
}

Status topologyName(const Arguments &args) {
  using Args = capi::TopologyDescription_PlatformName_Args;
  args.setText(Args::platform_name, Args::platform_name_size, platformName);
  return Success();
}

Status topologyVersion(const Arguments &args) {
  using Args = capi::TopologyDescription_PlatformVersion_Args;
  args.setText(Args::platform_version, Args::platform_version_size,
               platformVersion());
  return Success();
}

Status topologyDevices(const Arguments &args) {
  using Args = capi::TopologyDescription_GetDeviceDescriptions_Args;
  const auto &client = args.object<ClientObject>(Args::topology);
  args.set(Args::descriptions, client.deviceHandles.data());
  args.set(Args::num_descriptions, client.deviceHandles.size());
  return Success();
}

Status topologyAttributes(const Arguments &args) {
  using Args = capi::TopologyDescription_Attributes_Args;
  args.set<const void *>(Args::attributes, nullptr);
  args.set<size_t>(Args::num_attributes, 0);
  return Success();
}
} // namespace

Result<DeviceObject *> ClientObject::device(int64_t id) const {
  if (id >= 0 && id < int64_t(devices.size()))
    return devices[size_t(id)].get();
  return Error(fmt::format("there is no device {}; this client has {}: 0 to {}",
                           id, devices.size(), devices.size() - 1));
}

void plugin::addClients(FunctionTable &table) {
  table.set<create>(Slot::Client_Create);
  table.set<destroy>(Slot::Client_Destroy);
  table.set<clientName>(Slot::Client_PlatformName);
  table.set<clientVersion>(Slot::Client_PlatformVersion);
  table.set<processIndex>(Slot::Client_ProcessIndex);
  table.set<devices>(Slot::Client_Devices);
  table.set<addressableDevices>(Slot::Client_AddressableDevices);
  table.set<memories>(Slot::Client_AddressableMemories);
  table.set<lookup>(Slot::Client_LookupDevice);
  table.set<lookupAddressable>(Slot::Client_LookupAddressableDevice);
  table.set<defaultAssignment>(Slot::Client_DefaultDeviceAssignment);
  table.set<topology>(Slot::Client_TopologyDescription);
  table.set<topologyName>(Slot::TopologyDescription_PlatformName);
  table.set<topologyVersion>(Slot::TopologyDescription_PlatformVersion);
  table.set<topologyDevices>(Slot::TopologyDescription_GetDeviceDescriptions);
  table.set<topologyAttributes>(Slot::TopologyDescription_Attributes);
}
