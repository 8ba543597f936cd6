// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clients: virtual devices, and the options that they are created with.
#include "ExecutableObjects.h"
#include "FfiCalls.h"
#include "FunctionTable.h"
#include "Inspections.h"
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
  int64_t process = 0, processes = 1;
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

constexpr int64_t mostDevices = 1 << 16, mostWorkers = 4096,
                  mostProcesses = 1 << 12;

/// Sets a function that the Python package gives by its address, or puts one
/// where the package looks for it. Returns false where there is no function of
/// that name.
bool setFunction(std::string_view name, int64_t address) {
  if (name == "callback_function")
    setCallbackCaller(reinterpret_cast<CallbackCaller>(address));
  else if (name == "handler_function")
    setHandlerFinder(reinterpret_cast<HandlerFinder>(address));
  else if (name == "inspection_function")
    setInspectionCaller(reinterpret_cast<InspectionCaller>(address));
  else if (name == "leave_function" && address != 0)
    *reinterpret_cast<void (**)()>(address) = leaveOtherProcesses;
  else
    return false;
  return true;
}

Status setOption(ClientOptions &options, const std::string &name,
                 const pjrt::AttributeValue &value) {
  // XLA's plug-in for CPUs knows the second name.
  if (name == "num_devices" || name == "cpu_device_count")
    return setNumber(options.cpu.devices, name, value, 1, mostDevices);
  if (name == "workers")
    return setNumber(options.cpu.workers, name, value, 0, mostWorkers);
  if (name.ends_with("_function")) {
    auto address = integerOf(name, value);
    if (!address)
      return address.error();
    if (setFunction(name, *address))
      return Success();
    return Error(fmt::format("the Python package has a '{}' that this library "
                             "does not call: the library is older than the "
                             "package. Build or install it again, and see "
                             "whether MESHLOOM_PJRT_PLUGIN names an old one",
                             name),
                 ErrorCode::FAILED_PRECONDITION);
  }
  if (name == "private_memories") {
    auto flag = boolOf(name, value);
    if (flag)
      options.cpu.privateMemories = *flag;
    return flag ? Status(Success()) : flag.error();
  }
  if (name == "num_nodes")
    return setNumber(options.processes, name, value, 1, mostProcesses);
  if (name == "node_id")
    return setNumber(options.process, name, value, 0, mostProcesses - 1);
  if (name == "partition_index") { // a group of processes, which JAX names
    auto number = integerOf(name, value);
    return number ? Status(Success()) : number.error();
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

void addMemories(ClientObject &client, DeviceObject &device) {
  for (int32_t kind = 0; kind < int32_t(std::size(memoryKinds)); ++kind) {
    auto memory = std::make_unique<MemoryObject>();
    memory->device = &device;
    memory->id = int32_t(client.memories.size());
    memory->kind = kind;
    memory->text = fmt::format("{}(device={})", memoryKinds[kind], device.id);
    device.memories.push_back(memory.get());
    client.memoryHandles.push_back(memory.get());
    client.memories.push_back(std::move(memory));
  }
}

/// Adds the devices of a process.
void addDevices(ClientObject &client, int32_t process) {
  for (int32_t i = 0; i < int32_t(client.devicesHere()); ++i) {
    auto device = std::make_unique<DeviceObject>();
    device->client = &client;
    device->id = int32_t(client.devices.size());
    device->process = process;
    device->localId = i;
    device->text = fmt::format("MeshloomDevice(id={})", device->id);
    if (process == client.process())
      addMemories(client, *device);
    client.deviceHandles.push_back(device.get());
    client.devices.push_back(std::move(device));
  }
}

Result<std::unique_ptr<ClientObject>> createClient(const Arguments &args,
                                                   ClientOptions &options) {
  auto object = std::make_unique<ClientObject>();
  if (options.process >= options.processes)
    return Error(
        fmt::format("the process node_id={} is not one of num_nodes={}",
                    options.process, options.processes));
  if (options.processes > 1) {
    auto processes = OtherProcesses::meet(args, options.process,
                                          options.processes, options.cpu);
    if (!processes)
      return processes.error();
    object->processes = std::move(*processes);
    options.cpu.workers = object->processes->workers();
  }
  auto client = createCPUClient(options.cpu);
  if (!client)
    return client.error();
  object->client = std::move(*client);
  object->compiler = std::make_shared<ProgramCompiler>(
      object->client, object->processes, options.program);
  for (int32_t process = 0; process < int32_t(options.processes); ++process)
    addDevices(*object, process);
  return object;
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
  auto client = createClient(args, options);
  if (!client)
    return client.error();
  args.give(Args::client, std::move(*client));
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
  using Args = capi::Client_ProcessIndex_Args;
  args.set(Args::process_index,
           args.object<ClientObject>(Args::client).process());
  return Success();
}

/// Learns of processes that the caller's coordination service has given up.
Status updateProcesses(const Arguments &args) {
  using Args = capi::Client_UpdateGlobalProcessInfo_Args;
  using Info = capi::ProcessInfo;
  const auto &client = args.object<ClientObject>(Args::client);
  const auto count = args.get<size_t>(Args::num_process_infos);
  const auto *infos = args.elements<char>(Args::process_infos, count);
  for (size_t i = 0; i < count; ++i) {
    const Arguments info(const_cast<char *>(infos + i * Info::stride));
    const auto process = info.get<int32_t>(Info::task_id);
    if (client.processes &&
        info.get<int32_t>(Info::state) == int32_t(capi::ProcessState::Error))
      client.processes->giveUp(
          process, std::string(info.text(Info::error_message,
                                         Info::error_message_size)));
  }
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
  const auto here = args.object<ClientObject>(Args::client).handlesHere();
  args.set(Args::addressable_devices, here.data());
  args.set(Args::num_addressable_devices, here.size());
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
  const auto here = args.object<ClientObject>(Args::client).handlesHere();
  const auto id = args.get<int32_t>(Args::local_hardware_id);
  if (id < 0 || id >= std::ssize(here))
    return Error(fmt::format("there is no device {} in this process, which has "
                             "{}: 0 to {}",
                             id, here.size(), here.size() - 1));
  args.set(Args::addressable_device, here[size_t(id)]);
  return Success();
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

/// Gives what a compiled program depends on, for the keys of JAX's cache.
Status serializeTopology(const Arguments &args) {
  using Args = capi::TopologyDescription_Serialize_Args;
  const auto &client = args.object<ClientObject>(Args::topology);
  std::string text = fmt::format("{}, devices of processes", platformVersion());
  for (const auto &device : client.devices)
    text += fmt::format(" {}", device->process);
  giveText(args, Args::serialized_topology, Args::serialized_topology_deleter,
           Args::serialized_bytes, Args::serialized_bytes_size,
           std::move(text));
  return Success();
}
} // namespace

Result<DeviceObject *> ClientObject::device(int64_t id) const {
  if (id >= 0 && id < int64_t(devices.size()))
    return devices[size_t(id)].get();
  return Error(fmt::format("there is no device {}; this client has {}: 0 to {}",
                           id, devices.size(), devices.size() - 1));
}

Status ClientObject::checkThreads() const {
  if (forks == ProcessEnd::forks())
    return Success();
  return Error("this process was forked off after Meshloom's devices were "
               "created, and has none of their threads: it may read values, "
               "but neither compile nor run programs. Start processes by "
               "'spawn' (multiprocessing.set_start_method), or fork before "
               "the first computation",
               ErrorCode::FAILED_PRECONDITION);
}

void plugin::addClients(FunctionTable &table) {
  table.set<create>(Slot::Client_Create);
  table.set<destroy>(Slot::Client_Destroy);
  table.set<clientName>(Slot::Client_PlatformName);
  table.set<clientVersion>(Slot::Client_PlatformVersion);
  table.set<processIndex>(Slot::Client_ProcessIndex);
  table.set<updateProcesses>(Slot::Client_UpdateGlobalProcessInfo);
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
  table.set<serializeTopology>(Slot::TopologyDescription_Serialize);
}
