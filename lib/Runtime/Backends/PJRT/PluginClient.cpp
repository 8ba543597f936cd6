// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clients and devices of a plug-in; data to and from their buffers; events.
#include "meshloom/Runtime/Backends/PJRT/PluginClient.h"

#include <algorithm>
#include <fmt/format.h>
#include <thread>

using namespace meshloom;
using namespace meshloom::pjrt;
using capi::Block;
using capi::Handle;
using capi::Slot;

namespace {
/// Whether this thread runs a callback, and so may be one of a plug-in's.
thread_local int callbacks = 0;

// The first field of all structures of such functions is that one thing.
static_assert(capi::Client_Destroy_Args::client == Plugin::SUBJECT &&
              capi::Event_Destroy_Args::event == Plugin::SUBJECT &&
              capi::Buffer_Destroy_Args::buffer == Plugin::SUBJECT &&
              capi::LoadedExecutable_Destroy_Args::executable ==
                  Plugin::SUBJECT &&
              capi::Executable_Destroy_Args::executable == Plugin::SUBJECT &&
              capi::DeviceDescription_Id_Args::device_description ==
                  Plugin::SUBJECT &&
              capi::Device_GetDescription_Args::device == Plugin::SUBJECT);

std::string textAt(const Block &block, capi::Field<capi::Pointer> data,
                   capi::Field<size_t> size) {
  return {block.get<const char *>(data), block.get<size_t>(size)};
}
} // namespace

//===----------------------------------------------------------------------===//
// Ownership
//===----------------------------------------------------------------------===//

Owned::Owned(Owned &&other) noexcept
    : owner(std::move(other.owner)), raw(std::exchange(other.raw, nullptr)),
      destroyer(other.destroyer) {}

Owned &Owned::operator=(Owned &&other) noexcept {
  if (this != &other) {
    reset();
    owner = std::move(other.owner);
    raw = std::exchange(other.raw, nullptr);
    destroyer = other.destroyer;
  }
  return *this;
}

const Plugin &Owned::plugin() const {
  return owner->plugin();
}

void Owned::reset() {
  if (raw) {
    Block arguments;
    // Nobody could repair an object that cannot be destroyed.
    (void)bool(plugin().call(destroyer, arguments, raw, "free memory"));
  }
  raw = nullptr;
  owner.reset();
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

bool PluginEvent::isReady() const {
  if (!raw)
    return true;
  Block arguments;
  Status asked = plugin().call(Slot::Event_IsReady, arguments, raw, "ask");
  return !asked || arguments.get<bool>(capi::Event_IsReady_Args::is_ready);
}

Status PluginEvent::wait(std::string_view action) const {
  if (!raw)
    return Success();
  Block arguments;
  return plugin().call(Slot::Event_Await, arguments, raw, action);
}

namespace {
struct Callback {
  PluginEvent event;
  std::string action;
  std::function<void(Status)> done;

  static void run(Handle error, void *argument) {
    std::unique_ptr<Callback> self(static_cast<Callback *>(argument));
    ++callbacks;
    self->done(error ? self->event.client()->plugin().take(error, self->action)
                     : Status(Success()));
    self.reset();
    --callbacks;
  }
};
} // namespace

void PluginEvent::then(std::string action,
                       std::function<void(Status)> done) && {
  using Args = capi::Event_OnReady_Args;
  if (!raw)
    return done(Success());
  auto *callback =
      new Callback{std::move(*this), std::move(action), std::move(done)};
  // Running it may delete it before the call returns.
  const Plugin &plugin = callback->event.plugin();
  Block arguments;
  arguments.set(Args::event, callback->event.handle())
      .set(Args::callback, &Callback::run)
      .set(Args::user_arg, static_cast<void *>(callback));
  Status asked = plugin.call(Slot::Event_OnReady, arguments, "wait");
  if (asked)
    return;
  std::unique_ptr<Callback> owned(callback);
  owned->done(std::move(asked));
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Result<PluginEvent> PluginBuffer::ready() const {
  Block arguments;
  if (Status ok = plugin().call(Slot::Buffer_ReadyEvent, arguments, raw,
                                "wait for an array");
      !ok)
    return ok.error();
  return PluginEvent(
      owner, arguments.get<Handle>(capi::Buffer_ReadyEvent_Args::event));
}

bool PluginBuffer::isDeleted() const {
  Block asked;
  return plugin().has(Slot::Buffer_IsDeleted) &&
         plugin().call(Slot::Buffer_IsDeleted, asked, raw, "inspect memory") &&
         asked.get<bool>(capi::Buffer_IsDeleted_Args::is_deleted);
}

Result<PluginEvent> PluginBuffer::copyTo(std::span<char> bytes,
                                         size_t rank) const {
  using Args = capi::Buffer_ToHostBuffer_Args;
  using Layout = capi::Buffer_MemoryLayout;
  using Tiled = capi::Buffer_MemoryLayout_Tiled;
  // Devices may keep another order of dims; the host's is row-major.
  std::vector<int64_t> minorToMajor;
  for (size_t dim = rank; dim-- > 0;)
    minorToMajor.push_back(int64_t(dim));
  Block layout;
  layout.set(Layout::tiled + Tiled::struct_size, Tiled::structSize)
      .set(Layout::tiled + Tiled::minor_to_major, minorToMajor.data())
      .set(Layout::tiled + Tiled::minor_to_major_size, rank);
  // A null target asks for the size.
  static char nowhere;
  Block arguments;
  arguments.set(Args::host_layout, layout.data())
      .set(Args::dst, bytes.empty() ? &nowhere : bytes.data())
      .set(Args::dst_size, bytes.size());
  if (Status ok = plugin().call(Slot::Buffer_ToHostBuffer, arguments, raw,
                                "read an array");
      !ok)
    return ok.error();
  return PluginEvent(owner, arguments.get<Handle>(Args::event));
}

int32_t pjrt::elementTypeCode(DType type) {
  switch (type) {
  case DType::I1:
    return 1;
  case DType::I8:
    return 2;
  case DType::I16:
    return 3;
  case DType::I32:
    return 4;
  case DType::I64:
    return 5;
  case DType::UI8:
    return 6;
  case DType::UI16:
    return 7;
  case DType::UI32:
    return 8;
  case DType::UI64:
    return 9;
  case DType::F16:
    return 10;
  case DType::F32:
    return 11;
  case DType::F64:
    return 12;
  case DType::BF16:
    return 13;
  case DType::C64:
    return 14;
  case DType::C128:
    return 15;
  }
  return 0;
}

Result<PluginBuffer> PluginClient::toDevice(const PluginDevice &device,
                                            DType type, const Shape &shape,
                                            std::span<const char> data) const {
  using Args = capi::Client_BufferFromHostBuffer_Args;
  Block arguments;
  arguments.set(Args::client, raw)
      .set(Args::data, data.data())
      .set(Args::type, elementTypeCode(type))
      .set(Args::dims, shape.data())
      .set(Args::num_dims, shape.size())
      .set(Args::host_buffer_semantics,
           capi::HostBufferSemantics::OnlyDuringCall)
      .set(Args::device, device.handle);
  if (Status ok = library.call(
          Slot::Client_BufferFromHostBuffer, arguments,
          fmt::format("put {} bytes on device {}", data.size(), device.text));
      !ok)
    return ok.error();
  const ClientPtr self = shared_from_this();
  // The data was read: who waits for the buffer waits for the rest.
  PluginEvent copied(self, arguments.get<Handle>(Args::done_with_host_buffer));
  return PluginBuffer(self, arguments.get<Handle>(Args::buffer));
}

//===----------------------------------------------------------------------===//
// Clients and devices
//===----------------------------------------------------------------------===//

Result<std::shared_ptr<PluginClient>>
PluginClient::create(const Plugin &plugin, const Attributes &options,
                     std::shared_ptr<KeyValueStore> store) {
  using Args = capi::Client_Create_Args;
  NamedValues values(options);
  Block arguments;
  arguments.set(Args::create_options, values.data())
      .set(Args::num_options, values.size());
  std::unique_ptr<KeyValueCallbacks> exchange;
  if (store) {
    exchange = std::make_unique<KeyValueCallbacks>(std::move(store));
    exchange->giveTo(arguments);
  }
  if (Status ok = plugin.call(Slot::Client_Create, arguments, "make a client");
      !ok)
    return ok.error();
  std::shared_ptr<PluginClient> client(
      new PluginClient(plugin, arguments.get<Handle>(Args::client)));
  client->exchange = std::move(exchange);
  if (Status ok = client->readPlatform(); !ok)
    return ok.error();
  if (Status ok = client->readDevices(); !ok)
    return ok.error();
  if (Status ok = client->readOtherDevices(); !ok)
    return ok.error();
  return client;
}

PluginClient::~PluginClient() {
  auto destroy = [&plugin = library, raw = raw,
                  callable = std::move(exchange)] {
    Block arguments;
    (void)bool(plugin.call(Slot::Client_Destroy, arguments, raw, "close"));
  };
  if (callbacks)
    std::thread(std::move(destroy)).detach();
  else
    destroy();
}

Status PluginClient::readPlatform() {
  constexpr std::string_view action = "list devices";
  {
    using Args = capi::Client_PlatformName_Args;
    Block arguments;
    if (Status ok =
            library.call(Slot::Client_PlatformName, arguments, raw, action);
        !ok)
      return ok;
    name = textAt(arguments, Args::platform_name, Args::platform_name_size);
  }
  {
    using Args = capi::Client_PlatformVersion_Args;
    Block arguments;
    if (Status ok =
            library.call(Slot::Client_PlatformVersion, arguments, raw, action);
        !ok)
      return ok;
    version =
        textAt(arguments, Args::platform_version, Args::platform_version_size);
  }
  Block index;
  if (Status ok = library.call(Slot::Client_ProcessIndex, index, raw, action);
      !ok)
    return ok;
  processIndex =
      index.get<int32_t>(capi::Client_ProcessIndex_Args::process_index);
  return Success();
}

namespace {
Status describe(const Plugin &plugin, Handle handle, PluginDevice &device) {
  device.handle = handle;
  Block description;
  if (Status ok = plugin.call(Slot::Device_GetDescription, description, handle,
                              "list devices");
      !ok)
    return ok;
  return describeDevice(
      plugin,
      description.get<Handle>(
          capi::Device_GetDescription_Args::device_description),
      device);
}
} // namespace

Status PluginClient::readDevices() {
  constexpr std::string_view action = "list devices";
  Block list;
  using List = capi::Client_AddressableDevices_Args;
  if (Status ok =
          library.call(Slot::Client_AddressableDevices, list, raw, action);
      !ok)
    return ok;
  const auto *handles = list.get<const Handle *>(List::addressable_devices);
  for (size_t i = 0; i < list.get<size_t>(List::num_addressable_devices); ++i) {
    PluginDevice device;
    if (Status ok = describe(library, handles[i], device); !ok)
      return ok;
    Block hardware;
    if (Status ok = library.call(Slot::Device_LocalHardwareId, hardware,
                                 device.handle, action);
        !ok)
      return ok;
    device.hardwareId = hardware.get<int32_t>(
        capi::Device_LocalHardwareId_Args::local_hardware_id);
    deviceList.push_back(std::move(device));
  }
  return Success();
}

Status PluginClient::readOtherDevices() {
  using List = capi::Client_Devices_Args;
  Block list;
  if (Status ok = library.call(Slot::Client_Devices, list, raw, "list devices");
      !ok)
    return ok;
  const auto *handles = list.get<const Handle *>(List::devices);
  for (size_t i = 0; i < list.get<size_t>(List::num_devices); ++i) {
    PluginDevice device{};
    device.hardwareId = -1;
    if (Status ok = describe(library, handles[i], device); !ok)
      return ok;
    if (std::ranges::find(deviceList, device.id, &PluginDevice::id) ==
        deviceList.end())
      others.push_back(std::move(device));
  }
  if (others.empty())
    return Success();
  // All processes number devices alike.
  std::ranges::sort(deviceList, {}, &PluginDevice::id);
  std::ranges::sort(others, {}, [](const PluginDevice &device) {
    return std::pair(device.process, device.id);
  });
  return Success();
}

Status pjrt::describeDevice(const Plugin &plugin, Handle description,
                            PluginDevice &device) {
  constexpr std::string_view action = "describe a device";
  Block id, process, kind, text, attributes;
  for (auto [slot, block] :
       {std::pair{Slot::DeviceDescription_Id, &id},
        std::pair{Slot::DeviceDescription_ProcessIndex, &process},
        std::pair{Slot::DeviceDescription_Kind, &kind},
        std::pair{Slot::DeviceDescription_ToString, &text},
        std::pair{Slot::DeviceDescription_Attributes, &attributes}})
    if (Status ok = plugin.call(slot, *block, description, action); !ok)
      return ok;
  device.id = id.get<int32_t>(capi::DeviceDescription_Id_Args::id);
  device.process = process.get<int32_t>(
      capi::DeviceDescription_ProcessIndex_Args::process_index);
  device.kind = textAt(kind, capi::DeviceDescription_Kind_Args::device_kind,
                       capi::DeviceDescription_Kind_Args::device_kind_size);
  device.text = textAt(text, capi::DeviceDescription_ToString_Args::to_string,
                       capi::DeviceDescription_ToString_Args::to_string_size);
  using Args = capi::DeviceDescription_Attributes_Args;
  Result<Attributes> read =
      readNamedValues(plugin, attributes.get<const void *>(Args::attributes),
                      attributes.get<size_t>(Args::num_attributes));
  if (!read)
    return read.error();
  device.attributes = std::move(*read);
  return Success();
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

Result<PluginExecutable>
PluginClient::compile(std::string_view text,
                      const CompileOptions &options) const {
  using Args = capi::Client_Compile_Args;
  constexpr std::string_view action = "compile a program";
  Block program = capi::stablehloProgram(text);
  const std::string encoded = options.encode();
  Block arguments;
  arguments.set(Args::client, raw)
      .set(Args::program, program.data())
      .set(Args::compile_options, encoded.data())
      .set(Args::compile_options_size, encoded.size());
  if (Status ok = library.call(Slot::Client_Compile, arguments, action); !ok)
    return ok.error();
  PluginExecutable executable(shared_from_this(),
                              arguments.get<Handle>(Args::executable));
  if (Status ok = executable.readInterface(); !ok)
    return ok.error();
  if (executable.replicas() != options.replicas)
    return Error(fmt::format(
        "the PJRT plug-in '{}' compiled a program for {} devices, not {}",
        library.path(), executable.replicas(), options.replicas));
  return executable;
}

void PluginExecutable::readTemporaryBytes(Handle executable) {
  using Args = capi::Executable_GetCompiledMemoryStats_Args;
  constexpr Slot slot = Slot::Executable_GetCompiledMemoryStats;
  Block sizes;
  // Not every plug-in knows.
  if (plugin().has(slot) &&
      plugin().call(slot, sizes, executable, "inspect a compiled program"))
    scratch = sizes.get<int64_t>(Args::temp_size_in_bytes);
}

Status PluginExecutable::readInterface() {
  constexpr std::string_view action = "inspect a compiled program";
  Block got, count;
  if (Status ok =
          plugin().call(Slot::LoadedExecutable_GetExecutable, got, raw, action);
      !ok)
    return ok;
  const auto inner =
      got.get<Handle>(capi::LoadedExecutable_GetExecutable_Args::executable);
  Status counted =
      plugin().call(Slot::Executable_NumOutputs, count, inner, action);
  readTemporaryBytes(inner);
  Block destroy;
  Status destroyed =
      plugin().call(Slot::Executable_Destroy, destroy, inner, action);
  if (!counted || !destroyed)
    return counted ? destroyed : counted;
  outputs =
      int64_t(count.get<size_t>(capi::Executable_NumOutputs_Args::num_outputs));

  using Args = capi::LoadedExecutable_AddressableDevices_Args;
  Block list;
  if (Status ok = plugin().call(Slot::LoadedExecutable_AddressableDevices, list,
                                raw, action);
      !ok)
    return ok;
  const auto *handles = list.get<const Handle *>(Args::addressable_devices);
  replicaCount = int64_t(list.get<size_t>(Args::num_addressable_devices));
  for (int64_t i = 0; i < replicaCount; ++i)
    for (const PluginDevice &device : owner->devices())
      if (device.handle == handles[i])
        deviceIds.push_back(device.id);
  if (int64_t(deviceIds.size()) != replicaCount)
    return Error(fmt::format("the PJRT plug-in '{}' compiled a program for "
                             "devices that its client does not have",
                             plugin().path()));
  return Success();
}

Result<Execution> PluginExecutable::execute(std::span<const Handle> arguments,
                                            const Options &options) const {
  using Args = capi::LoadedExecutable_Execute_Args;
  const size_t perReplica = arguments.size() / size_t(replicaCount);
  std::vector<const Handle *> argumentLists;
  std::vector<Handle> outputHandles(size_t(replicaCount * outputs), nullptr);
  std::vector<Handle *> outputLists;
  argumentLists.reserve(size_t(replicaCount));
  outputLists.reserve(size_t(replicaCount));
  std::vector<Handle> events(size_t(replicaCount), nullptr);
  for (int64_t replica = 0; replica < replicaCount; ++replica) {
    argumentLists.push_back(arguments.data() + replica * perReplica);
    outputLists.push_back(outputHandles.data() + replica * outputs);
  }
  Block run;
  run.set(capi::ExecuteOptions::launch_id, options.launch)
      .set(capi::ExecuteOptions::non_donatable_input_indices,
           options.preserved.data())
      .set(capi::ExecuteOptions::num_non_donatable_input_indices,
           options.preserved.size());
  Block block;
  block.set(Args::executable, raw)
      .set(Args::options, run.data())
      .set(Args::argument_lists, argumentLists.data())
      .set(Args::num_devices, size_t(replicaCount))
      .set(Args::num_args, perReplica)
      .set(Args::output_lists, outputLists.data())
      .set(Args::device_complete_events, events.data());
  if (Status ok =
          plugin().call(Slot::LoadedExecutable_Execute, block, "run a program");
      !ok)
    return ok.error();
  Execution execution;
  execution.outputs.reserve(outputHandles.size());
  execution.done.reserve(events.size());
  for (Handle buffer : outputHandles)
    execution.outputs.emplace_back(owner, buffer);
  for (Handle event : events)
    execution.done.emplace_back(owner, event);
  return execution;
}
