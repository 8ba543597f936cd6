// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices, their descriptions, and their memories. A device's description is
// the device itself.
#include "FunctionTable.h"
#include "PluginObjects.h"

#include "meshloom/Runtime/Plan/PlanClient.h"

#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::plugin;
using capi::Slot;

namespace {
Status id(const Arguments &args) {
  using Args = capi::DeviceDescription_Id_Args;
  args.set(Args::id, args.object<DeviceObject>(Args::device_description).id);
  return Success();
}

Status processIndex(const Arguments &args) {
  using Args = capi::DeviceDescription_ProcessIndex_Args;
  args.set(Args::process_index,
           args.object<DeviceObject>(Args::device_description).process);
  return Success();
}

Status descriptionAttributes(const Arguments &args) {
  using Args = capi::DeviceDescription_Attributes_Args;
  args.set<const void *>(Args::attributes, nullptr);
  args.set<size_t>(Args::num_attributes, 0);
  return Success();
}

Status kind(const Arguments &args) {
  using Args = capi::DeviceDescription_Kind_Args;
  args.setText(Args::device_kind, Args::device_kind_size, "cpu");
  return Success();
}

Status debugText(const Arguments &args) {
  using Args = capi::DeviceDescription_DebugString_Args;
  args.setText(Args::debug_string, Args::debug_string_size,
               args.object<DeviceObject>(Args::device_description).text);
  return Success();
}

Status text(const Arguments &args) {
  using Args = capi::DeviceDescription_ToString_Args;
  args.setText(Args::to_string, Args::to_string_size,
               args.object<DeviceObject>(Args::device_description).text);
  return Success();
}

Status description(const Arguments &args) {
  using Args = capi::Device_GetDescription_Args;
  args.set(Args::device_description, &args.object<DeviceObject>(Args::device));
  return Success();
}

Status isAddressable(const Arguments &args) {
  using Args = capi::Device_IsAddressable_Args;
  args.set(Args::is_addressable,
           !args.object<DeviceObject>(Args::device).memories.empty());
  return Success();
}

Status localId(const Arguments &args) {
  using Args = capi::Device_LocalHardwareId_Args;
  args.set(Args::local_hardware_id,
           args.object<DeviceObject>(Args::device).localId);
  return Success();
}

Status deviceMemories(const Arguments &args) {
  using Args = capi::Device_AddressableMemories_Args;
  const auto &device = args.object<DeviceObject>(Args::device);
  args.set(Args::memories, device.memories.data());
  args.set(Args::num_memories, device.memories.size());
  return Success();
}

Status defaultMemory(const Arguments &args) {
  using Args = capi::Device_DefaultMemory_Args;
  args.set(Args::memory,
           &args.object<DeviceObject>(Args::device).defaultMemory());
  return Success();
}

Status memoryStatistics(const Arguments &args) {
  using Args = capi::Device_MemoryStats_Args;
  const ClientObject &client = *args.object<DeviceObject>(Args::device).client;
  // Devices share memory: each is told an equal part.
  const int64_t devices = client.devicesHere();
  args.set(Args::bytes_in_use, client.client->bytesInUse() / devices);
  const int64_t limit =
      dynamic_cast<const plan::PlanClient &>(*client.client).memoryLimit();
  args.set(Args::bytes_limit, limit / devices);
  args.set(Args::bytes_limit_is_set, true);
  args.set(Args::bytes_reservable_limit, limit / devices);
  args.set(Args::bytes_reservable_limit_is_set, true);
  for (auto isSet :
       {Args::peak_bytes_in_use_is_set, Args::num_allocs_is_set,
        Args::largest_alloc_size_is_set, Args::bytes_reserved_is_set,
        Args::peak_bytes_reserved_is_set, Args::largest_free_block_bytes_is_set,
        Args::pool_bytes_is_set, Args::peak_pool_bytes_is_set})
    args.set(isSet, false);
  return Success();
}

Status deviceAttributes(const Arguments &args) {
  using Args = capi::Device_GetAttributes_Args;
  args.set<const void *>(Args::attributes, nullptr);
  args.set<size_t>(Args::num_attributes, 0);
  args.set<const void *>(Args::device_attributes, nullptr);
  args.set<void (*)(void *)>(Args::attributes_deleter, [](void *) {});
  return Success();
}

Status memoryId(const Arguments &args) {
  using Args = capi::Memory_Id_Args;
  args.set(Args::id, args.object<MemoryObject>(Args::memory).id);
  return Success();
}

Status memoryKind(const Arguments &args) {
  using Args = capi::Memory_Kind_Args;
  args.setText(Args::kind, Args::kind_size,
               memoryKinds[args.object<MemoryObject>(Args::memory).kind]);
  return Success();
}

Status memoryKindId(const Arguments &args) {
  using Args = capi::Memory_Kind_Id_Args;
  args.set(Args::kind_id, args.object<MemoryObject>(Args::memory).kind);
  return Success();
}

Status memoryDebugText(const Arguments &args) {
  using Args = capi::Memory_DebugString_Args;
  args.setText(Args::debug_string, Args::debug_string_size,
               args.object<MemoryObject>(Args::memory).text);
  return Success();
}

Status memoryText(const Arguments &args) {
  using Args = capi::Memory_ToString_Args;
  args.setText(Args::to_string, Args::to_string_size,
               args.object<MemoryObject>(Args::memory).text);
  return Success();
}

Status memoryDevices(const Arguments &args) {
  using Args = capi::Memory_AddressableByDevices_Args;
  args.set(Args::devices, &args.object<MemoryObject>(Args::memory).device);
  args.set<size_t>(Args::num_devices, 1);
  return Success();
}
} // namespace

MemoryObject &DeviceObject::memory(int32_t kind) const {
  if (memories.empty())
    Error(fmt::format("device {} is one of process {}, whose memory process {} "
                      "cannot use",
                      id, process, client->process()))
        .raise();
  return *static_cast<MemoryObject *>(memories[size_t(kind)]);
}

void plugin::addDevices(FunctionTable &table) {
  table.set<id>(Slot::DeviceDescription_Id);
  table.set<processIndex>(Slot::DeviceDescription_ProcessIndex);
  table.set<descriptionAttributes>(Slot::DeviceDescription_Attributes);
  table.set<kind>(Slot::DeviceDescription_Kind);
  table.set<debugText>(Slot::DeviceDescription_DebugString);
  table.set<text>(Slot::DeviceDescription_ToString);
  table.set<description>(Slot::Device_GetDescription);
  table.set<isAddressable>(Slot::Device_IsAddressable);
  table.set<localId>(Slot::Device_LocalHardwareId);
  table.set<deviceMemories>(Slot::Device_AddressableMemories);
  table.set<defaultMemory>(Slot::Device_DefaultMemory);
  table.set<memoryStatistics>(Slot::Device_MemoryStats);
  table.set<deviceAttributes>(Slot::Device_GetAttributes);
  table.set<memoryId>(Slot::Memory_Id);
  table.set<memoryKind>(Slot::Memory_Kind);
  table.set<memoryKindId>(Slot::Memory_Kind_Id);
  table.set<memoryDebugText>(Slot::Memory_DebugString);
  table.set<memoryText>(Slot::Memory_ToString);
  table.set<memoryDevices>(Slot::Memory_AddressableByDevices);
}
