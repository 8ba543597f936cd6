// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StandInDriver.h"

#include "StandInCalls.h"

#include <cstdlib>
#include <cstring>
#include <thread>

namespace meshloom::cuda {

namespace {

constexpr unsigned mostThreads = 1024;
/// Before anybody has written there, and when nobody may any more.
constexpr int newBytes = 0xcb, oldBytes = 0xdd;
/// Alignment of the driver's allocations.
constexpr uint64_t alignment = 256;

/// `bytes` are of a page-locked block, or are read and written at once.
DriverResult copyToHost(StandIn &driver, StreamObject &stream, void *to,
                        DevicePointer from, size_t bytes) {
  auto copy = [&driver, context = current, to, from, bytes] {
    if (DriverResult bad =
            driver.checkRange(context, from, bytes, "cuMemcpyDtoHAsync");
        bad != DriverResult::Success)
      return bad;
    std::memcpy(to, reinterpret_cast<void *>(from), bytes);
    return DriverResult::Success;
  };
  if (const void *block = driver.hostBlockOf(to, bytes)) {
    driver.enqueue(stream, {copy, {block}});
    return DriverResult::Success;
  }
  driver.enqueue(stream, {copy, {}});
  driver.wait(stream.last);
  return current->lost;
}

DriverResult copyFromHost(StandIn &driver, StreamObject &stream,
                          DevicePointer to, const void *from, size_t bytes) {
  const void *block = driver.hostBlockOf(from, bytes);
  std::vector<char> now;
  if (!block)
    now.assign(static_cast<const char *>(from),
               static_cast<const char *>(from) + bytes);
  std::set<const void *> used;
  if (block)
    used.insert(block);
  driver.enqueue(stream,
                 {[&driver, context = current, to, from, bytes, block, now] {
                    if (DriverResult bad = driver.checkRange(
                            context, to, bytes, "cuMemcpyHtoDAsync");
                        bad != DriverResult::Success)
                      return bad;
                    std::memcpy(reinterpret_cast<void *>(to),
                                block ? from : now.data(), bytes);
                    return DriverResult::Success;
                  },
                  std::move(used)});
  return DriverResult::Success;
}

} // namespace

std::unique_ptr<StandIn> &instance() {
  static std::unique_ptr<StandIn> driver;
  if (!driver) {
    const char *text = std::getenv("MESHLOOM_STANDIN");
    std::optional<StandInOptions> options = readOptions(text ? text : "");
    if (!options) {
      fmt::print(stderr, "stand-in driver: wrong options '{}'\n", text);
      std::abort();
    }
    driver = std::make_unique<StandIn>(std::move(*options));
  }
  return driver;
}

DriverResult makeLaunch(StandIn &driver, const KernelNode &node, Piece &piece) {
  const FunctionHandle function = node.function;
  if (!function || function->module->context != current)
    return DriverResult::InvalidHandle;
  // Our kernels have grids and blocks of one dim.
  if (node.gridY != 1 || node.gridZ != 1 || node.blockY != 1 ||
      node.blockZ != 1 || node.extra || node.sharedBytes != 0)
    return DriverResult::NotSupported;
  const ptx::Kernel &kernel = *function->kernel;
  if (node.gridX == 0 || node.gridX > 0x7fffffff || node.blockX == 0 ||
      node.blockX > std::min(mostThreads, kernel.mostThreads) ||
      (!node.parameters && kernel.parameters > 0))
    return DriverResult::InvalidValue;
  ptx::Launch launch{node.gridX, node.blockX, {}, unsigned(driver.random())};
  for (unsigned i = 0; i < kernel.parameters; ++i)
    std::memcpy(&launch.parameters.emplace_back(), node.parameters[i],
                sizeof(uint64_t));
  launch.setCondition = [&driver](uint64_t handle, uint32_t value) {
    const auto condition = driver.conditions.find(handle);
    if (condition == driver.conditions.end())
      return false;
    condition->second = value;
    return true;
  };
  piece.run = [&driver, context = current, function, launch] {
    ++driver.launches;
    Status ran = ptx::run(function->module->program, *function->kernel, launch,
                          context->memory);
    return ran ? DriverResult::Success
               : driver.lose(context, DriverResult::IllegalAddress,
                             ran.error().message());
  };
  return DriverResult::Success;
}

Piece makeHostCall(HostFunction function, void *data) {
  return {[function, data] {
            inHostFunction = true;
            function(data);
            inHostFunction = false;
            return DriverResult::Success;
          },
          {}};
}

extern "C" {

DriverResult cuInit(unsigned flags) {
  return entered("cuInit", Needs::Nothing, [&](StandIn &driver) {
    if (flags != 0)
      return DriverResult::InvalidValue;
    if (driver.contexts.empty())
      return DriverResult::NoDevice;
    driver.begun = true;
    return DriverResult::Success;
  });
}

DriverResult cuDriverGetVersion(int *version) {
  return entered("cuDriverGetVersion", Needs::Nothing, [&](StandIn &driver) {
    *version = driver.options.driver;
    return DriverResult::Success;
  });
}

DriverResult cuGetErrorName(DriverResult result, const char **name) {
  static const std::map<DriverResult, const char *> names = {
      {DriverResult::InvalidValue, "CUDA_ERROR_INVALID_VALUE"},
      {DriverResult::OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
      {DriverResult::NotInitialized, "CUDA_ERROR_NOT_INITIALIZED"},
      {DriverResult::NoDevice, "CUDA_ERROR_NO_DEVICE"},
      {DriverResult::InvalidDevice, "CUDA_ERROR_INVALID_DEVICE"},
      {DriverResult::InvalidContext, "CUDA_ERROR_INVALID_CONTEXT"},
      {DriverResult::NoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
      {DriverResult::InvalidPtx, "CUDA_ERROR_INVALID_PTX"},
      {DriverResult::UnsupportedPtxVersion,
       "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
      {DriverResult::InvalidHandle, "CUDA_ERROR_INVALID_HANDLE"},
      {DriverResult::NotFound, "CUDA_ERROR_NOT_FOUND"},
      {DriverResult::NotReady, "CUDA_ERROR_NOT_READY"},
      {DriverResult::IllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {DriverResult::LaunchFailed, "CUDA_ERROR_LAUNCH_FAILED"},
      {DriverResult::NotPermitted, "CUDA_ERROR_NOT_PERMITTED"},
      {DriverResult::NotSupported, "CUDA_ERROR_NOT_SUPPORTED"}};
  const auto found = names.find(result);
  *name = found == names.end() ? nullptr : found->second;
  return *name ? DriverResult::Success : DriverResult::InvalidValue;
}

DriverResult cuGetErrorString(DriverResult result, const char **text) {
  const char *name = nullptr;
  *text = nullptr;
  if (cuGetErrorName(result, &name) != DriverResult::Success)
    return DriverResult::InvalidValue;
  *text = "in the stand-in driver";
  return DriverResult::Success;
}

DriverResult cuDeviceGetCount(int *count) {
  return entered("cuDeviceGetCount", Needs::Begun, [&](StandIn &driver) {
    *count = int(driver.contexts.size());
    return DriverResult::Success;
  });
}

DriverResult cuDeviceGet(DeviceNumber *device, int number) {
  return entered("cuDeviceGet", Needs::Begun, [&](StandIn &driver) {
    if (number < 0 || number >= int(driver.contexts.size()))
      return DriverResult::InvalidDevice;
    *device = number;
    return DriverResult::Success;
  });
}

DriverResult cuDeviceGetName(char *name, int bytes, DeviceNumber) {
  return entered("cuDeviceGetName", Needs::Begun, [&](StandIn &) {
    if (bytes <= 0)
      return DriverResult::InvalidValue;
    std::strncpy(name, "stand-in", size_t(bytes));
    name[bytes - 1] = 0;
    return DriverResult::Success;
  });
}

DriverResult cuDeviceGetAttribute(int *value, DeviceAttribute attribute,
                                  DeviceNumber) {
  return entered("cuDeviceGetAttribute", Needs::Begun, [&](StandIn &driver) {
    switch (attribute) {
    case DeviceAttribute::Multiprocessors:
      *value = 2; // few, so that blocks go on with further results
      return DriverResult::Success;
    case DeviceAttribute::CapabilityMajor:
      *value = driver.options.capability / 10;
      return DriverResult::Success;
    case DeviceAttribute::CapabilityMinor:
      *value = driver.options.capability % 10;
      return DriverResult::Success;
    case DeviceAttribute::MemoryPools:
      *value = 1;
      return DriverResult::Success;
    }
    return DriverResult::InvalidValue;
  });
}

DriverResult cuDeviceTotalMem_v2(size_t *bytes, DeviceNumber) {
  return entered("cuDeviceTotalMem", Needs::Begun, [&](StandIn &driver) {
    *bytes = driver.options.memory;
    return DriverResult::Success;
  });
}

DriverResult cuDeviceGetDefaultMemPool(PoolHandle *pool, DeviceNumber device) {
  return entered(
      "cuDeviceGetDefaultMemPool", Needs::Begun, [&](StandIn &driver) {
        *pool =
            reinterpret_cast<PoolHandle>(driver.contexts[size_t(device)].get());
        return DriverResult::Success;
      });
}

DriverResult cuMemPoolSetAttribute(PoolHandle, PoolAttribute attribute,
                                   void *) {
  return entered("cuMemPoolSetAttribute", Needs::Begun, [&](StandIn &) {
    return attribute == PoolAttribute::ReleaseThreshold
               ? DriverResult::Success
               : DriverResult::InvalidValue;
  });
}

DriverResult cuDeviceCanAccessPeer(int *isPossible, DeviceNumber device,
                                   DeviceNumber peer) {
  return entered("cuDeviceCanAccessPeer", Needs::Begun, [&](StandIn &driver) {
    for (DeviceNumber number : {device, peer})
      if (number < 0 || size_t(number) >= driver.contexts.size())
        return DriverResult::InvalidDevice;
    *isPossible = device != peer && driver.options.peers;
    return DriverResult::Success;
  });
}

DriverResult cuMemPoolSetAccess(PoolHandle pool, const PoolAccess *access,
                                size_t count) {
  return entered("cuMemPoolSetAccess", Needs::Begun, [&](StandIn &driver) {
    auto *owner = reinterpret_cast<ContextObject *>(pool);
    if (!owner)
      return DriverResult::InvalidValue;
    for (size_t i = 0; i < count; ++i) {
      if (access[i].locationType != PoolAccess().locationType ||
          access[i].flags != PoolAccess().flags ||
          access[i].device == owner->number)
        return DriverResult::NotSupported;
      if (!driver.options.peers)
        return DriverResult::InvalidDevice;
      owner->admitted.insert(access[i].device);
    }
    return DriverResult::Success;
  });
}

DriverResult cuDevicePrimaryCtxRetain(ContextHandle *context,
                                      DeviceNumber device) {
  return entered("cuDevicePrimaryCtxRetain", Needs::Begun,
                 [&](StandIn &driver) {
                   *context = driver.contexts[size_t(device)].get();
                   ++(*context)->users;
                   return (*context)->lost;
                 });
}

DriverResult cuDevicePrimaryCtxRelease_v2(DeviceNumber device) {
  return entered("cuDevicePrimaryCtxRelease", Needs::Begun,
                 [&](StandIn &driver) {
                   ContextObject &context = *driver.contexts[size_t(device)];
                   if (context.users == 0)
                     return DriverResult::InvalidContext;
                   --context.users;
                   return DriverResult::Success;
                 });
}

DriverResult cuCtxSetCurrent(ContextHandle context) {
  return entered("cuCtxSetCurrent", Needs::Begun, [&](StandIn &) {
    current = context;
    return DriverResult::Success;
  });
}

DriverResult cuStreamCreate(StreamHandle *stream, unsigned) {
  return entered("cuStreamCreate", Needs::Context, [&](StandIn &driver) {
    auto created = std::make_unique<StreamObject>(StreamObject{current, {}});
    *stream = created.get();
    driver.streams.emplace(*stream, std::move(created));
    return DriverResult::Success;
  });
}

DriverResult cuStreamDestroy_v2(StreamHandle stream) {
  return entered("cuStreamDestroy", Needs::Context, [&](StandIn &driver) {
    return driver.streams.erase(stream) ? DriverResult::Success
                                        : DriverResult::InvalidHandle;
  });
}

DriverResult cuStreamSynchronize(StreamHandle stream) {
  return waiting("cuStreamSynchronize",
                 [&](StandIn &driver) -> std::optional<DriverResult> {
                   StreamObject *object = find(driver.streams, stream);
                   if (!object)
                     return DriverResult::InvalidHandle;
                   if (object->captured)
                     return DriverResult::StreamIsCaptured;
                   return driver.wait(object->last)
                              ? std::optional(current->lost)
                              : std::nullopt;
                 });
}

DriverResult cuEventSynchronize(EventHandle event) {
  return waiting("cuEventSynchronize",
                 [&](StandIn &driver) -> std::optional<DriverResult> {
                   EventObject *object = find(driver.events, event);
                   if (!object)
                     return DriverResult::InvalidHandle;
                   return driver.wait(object->task)
                              ? std::optional(current->lost)
                              : std::nullopt;
                 });
}

DriverResult cuStreamWaitEvent(StreamHandle stream, EventHandle event,
                               unsigned) {
  return entered("cuStreamWaitEvent", Needs::Context, [&](StandIn &driver) {
    StreamObject *object = find(driver.streams, stream);
    const auto found = driver.events.find(event); // of any GPU
    if (!object || found == driver.events.end())
      return DriverResult::InvalidHandle;
    const EventObject *awaited = found->second.get();
    if (!awaited->task || awaited->task->done)
      return DriverResult::Success;
    driver.enqueue(*object, {});
    object->last->after.push_back(awaited->task);
    return DriverResult::Success;
  });
}

DriverResult cuEventCreate(EventHandle *event, unsigned flags) {
  return entered("cuEventCreate", Needs::Context, [&](StandIn &driver) {
    auto created = std::make_unique<EventObject>(
        EventObject{current, flags == eventWithTiming, {}});
    *event = created.get();
    driver.events.emplace(*event, std::move(created));
    return DriverResult::Success;
  });
}

DriverResult cuEventDestroy_v2(EventHandle event) {
  return entered("cuEventDestroy", Needs::Context, [&](StandIn &driver) {
    return driver.events.erase(event) ? DriverResult::Success
                                      : DriverResult::InvalidHandle;
  });
}

DriverResult cuEventRecord(EventHandle event, StreamHandle stream) {
  return entered("cuEventRecord", Needs::Context, [&](StandIn &driver) {
    StreamObject *object = find(driver.streams, stream);
    EventObject *recorded = find(driver.events, event);
    if (!object || !recorded)
      return DriverResult::InvalidHandle;
    recorded->task = object->last;
    return DriverResult::Success;
  });
}

/// A piece of work takes a microsecond.
DriverResult cuEventElapsedTime(float *milliseconds, EventHandle begin,
                                EventHandle end) {
  return entered("cuEventElapsedTime", Needs::Context, [&](StandIn &driver) {
    EventObject *first = find(driver.events, begin),
                *last = find(driver.events, end);
    if (!first || !last || !first->hasTime || !last->hasTime)
      return DriverResult::InvalidHandle;
    int64_t pieces = 0;
    for (auto [event, sign] : {std::pair(first, -1), std::pair(last, 1)}) {
      if (event->task && !event->task->done)
        return DriverResult::NotReady;
      pieces += sign * (event->task ? event->task->number : 0);
    }
    *milliseconds = float(pieces) / 1000;
    return DriverResult::Success;
  });
}

DriverResult cuEventQuery(EventHandle event) {
  return entered("cuEventQuery", Needs::Context, [&](StandIn &driver) {
    EventObject *object = find(driver.events, event);
    if (!object)
      return DriverResult::InvalidHandle;
    // Who asks again and again gets there.
    if (object->task && !object->task->done && !isHeld)
      (void)driver.runOne();
    return !object->task || object->task->done ? DriverResult::Success
                                               : DriverResult::NotReady;
  });
}

DriverResult cuMemGetInfo_v2(size_t *free, size_t *total) {
  return entered("cuMemGetInfo", Needs::Context, [&](StandIn &driver) {
    *total = driver.options.memory;
    *free = *total - current->used;
    return DriverResult::Success;
  });
}

DriverResult cuMemAllocAsync(DevicePointer *address, size_t bytes,
                             StreamHandle stream) {
  return entered("cuMemAllocAsync", Needs::Context, [&](StandIn &driver) {
    StreamObject *object = find(driver.streams, stream);
    if (!object)
      return DriverResult::InvalidHandle;
    if (bytes == 0)
      return DriverResult::InvalidValue;
    if (bytes > driver.options.memory - current->used)
      return DriverResult::OutOfMemory;
    auto storage = std::make_unique<char[]>(bytes + alignment);
    char *begin = reinterpret_cast<char *>(
        (reinterpret_cast<uint64_t>(storage.get()) + alignment - 1) /
        alignment * alignment);
    std::memset(begin, newBytes, bytes);
    *address = reinterpret_cast<DevicePointer>(begin);
    current->allocations[*address] = {bytes, false, std::move(storage)};
    current->used += bytes;
    driver.enqueue(*object, {[context = current, begin, bytes] {
                               context->memory.add(begin, bytes);
                               return DriverResult::Success;
                             },
                             {}});
    return DriverResult::Success;
  });
}

DriverResult cuMemFreeAsync(DevicePointer address, StreamHandle stream) {
  return entered("cuMemFreeAsync", Needs::Context, [&](StandIn &driver) {
    StreamObject *object = find(driver.streams, stream);
    auto found = current->allocations.find(address);
    if (!object || found == current->allocations.end() || found->second.isFreed)
      return DriverResult::InvalidValue;
    found->second.isFreed = true;
    current->used -= found->second.bytes;
    driver.enqueue(*object,
                   {[&driver, context = current, address] {
                      auto &allocation = context->allocations[address];
                      auto *begin = reinterpret_cast<char *>(address);
                      std::memset(begin, oldBytes, allocation.bytes);
                      context->memory.remove(begin);
                      constexpr size_t mostPast = 64;
                      driver.past.push_back(std::move(allocation.storage));
                      if (driver.past.size() > mostPast)
                        driver.past.pop_front();
                      context->allocations.erase(address);
                      return DriverResult::Success;
                    },
                    {}});
    return DriverResult::Success;
  });
}

DriverResult cuMemHostAlloc(void **address, size_t bytes, unsigned) {
  return entered("cuMemHostAlloc", Needs::Context, [&](StandIn &driver) {
    if (bytes == 0)
      return DriverResult::InvalidValue;
    std::vector<char> block(bytes, char(newBytes));
    *address = block.data();
    driver.hostBlocks.emplace(*address, std::move(block));
    return DriverResult::Success;
  });
}

DriverResult cuMemFreeHost(void *address) {
  return entered("cuMemFreeHost", Needs::Context, [&](StandIn &driver) {
    if (!driver.hostBlocks.contains(address))
      return DriverResult::InvalidValue;
    for (const auto &task : driver.pending)
      if (task->piece.hostBlocks.contains(address))
        return driver.lose(current, DriverResult::IllegalAddress,
                           "memory of the host is freed that a copy still "
                           "uses");
    driver.hostBlocks.erase(address);
    return DriverResult::Success;
  });
}

DriverResult cuMemcpyHtoDAsync_v2(DevicePointer to, const void *from,
                                  size_t bytes, StreamHandle stream) {
  return entered("cuMemcpyHtoDAsync", Needs::Context, [&](StandIn &driver) {
    StreamObject *object = find(driver.streams, stream);
    return object ? copyFromHost(driver, *object, to, from, bytes)
                  : DriverResult::InvalidHandle;
  });
}

DriverResult cuMemcpyDtoHAsync_v2(void *to, DevicePointer from, size_t bytes,
                                  StreamHandle stream) {
  return entered("cuMemcpyDtoHAsync", Needs::Context, [&](StandIn &driver) {
    StreamObject *object = find(driver.streams, stream);
    return object ? copyToHost(driver, *object, to, from, bytes)
                  : DriverResult::InvalidHandle;
  });
}

DriverResult cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from,
                                  size_t bytes, StreamHandle stream) {
  return entered("cuMemcpyDtoDAsync", Needs::Context, [&](StandIn &driver) {
    StreamObject *object = find(driver.streams, stream);
    if (!object)
      return DriverResult::InvalidHandle;
    driver.enqueue(*object,
                   {[&driver, context = current, to, from, bytes] {
                      for (DevicePointer address : {to, from})
                        if (DriverResult bad = driver.checkRange(
                                context, address, bytes, "cuMemcpyDtoDAsync");
                            bad != DriverResult::Success)
                          return bad;
                      std::memmove(reinterpret_cast<void *>(to),
                                   reinterpret_cast<void *>(from), bytes);
                      return DriverResult::Success;
                    },
                    {}});
    return DriverResult::Success;
  });
}

DriverResult cuMemcpyPeerAsync(DevicePointer to, ContextHandle toContext,
                               DevicePointer from, ContextHandle fromContext,
                               size_t bytes, StreamHandle stream) {
  return entered("cuMemcpyPeerAsync", Needs::Context, [&](StandIn &driver) {
    StreamObject *object = find(driver.streams, stream);
    if (!object)
      return DriverResult::InvalidHandle;
    // A GPU copies from its peers: we have no use for others.
    if (toContext != current || fromContext == current)
      return DriverResult::NotSupported;
    if (!fromContext->admitted.contains(current->number))
      return driver.lose(current, DriverResult::IllegalAddress,
                         "a copy from a GPU that has not admitted this one");
    driver.enqueue(
        *object,
        {[&driver, toContext, fromContext, to, from, bytes] {
           for (auto [context, address] :
                {std::pair(toContext, to), std::pair(fromContext, from)})
             if (DriverResult bad = driver.checkRange(context, address, bytes,
                                                      "cuMemcpyPeerAsync");
                 bad != DriverResult::Success)
               return bad;
           std::memcpy(reinterpret_cast<void *>(to),
                       reinterpret_cast<void *>(from), bytes);
           return DriverResult::Success;
         },
         {}});
    return DriverResult::Success;
  });
}

DriverResult cuMemcpy3DAsync_v2(const CopyNode *copy, StreamHandle stream) {
  return entered("cuMemcpy3DAsync", Needs::Context, [&](StandIn &driver) {
    StreamObject *object = find(driver.streams, stream);
    if (!object)
      return DriverResult::InvalidHandle;
    Piece piece;
    const DriverResult result = makeCopy(driver, *copy, piece);
    if (result == DriverResult::Success)
      driver.enqueue(*object, std::move(piece));
    return result;
  });
}

DriverResult cuModuleLoadDataEx(ModuleHandle *module, const void *image,
                                unsigned count, LoadOption *options,
                                void **values) {
  return entered("cuModuleLoadDataEx", Needs::Context, [&](StandIn &driver) {
    auto parsed = ptx::parse(static_cast<const char *>(image));
    if (parsed && parsed->setsConditions && !hasConditions(driver))
      return DriverResult::InvalidPtx;
    if (!parsed) {
      for (unsigned i = 0; i + 1 < count; ++i)
        if (options[i] == LoadOption::ErrorLog &&
            options[i + 1] == LoadOption::ErrorLogBytes)
          std::strncpy(static_cast<char *>(values[i]),
                       parsed.error().message().c_str(),
                       reinterpret_cast<size_t>(values[i + 1]));
      return DriverResult::InvalidPtx;
    }
    auto loaded = std::make_unique<ModuleObject>(
        ModuleObject{current, std::move(*parsed), {}});
    *module = loaded.get();
    driver.modules.emplace(*module, std::move(loaded));
    return DriverResult::Success;
  });
}

DriverResult cuModuleUnload(ModuleHandle module) {
  return entered("cuModuleUnload", Needs::Context, [&](StandIn &driver) {
    return driver.modules.erase(module) ? DriverResult::Success
                                        : DriverResult::InvalidHandle;
  });
}

DriverResult cuModuleGetFunction(FunctionHandle *function, ModuleHandle module,
                                 const char *name) {
  return entered("cuModuleGetFunction", Needs::Context, [&](StandIn &driver) {
    ModuleObject *object = find(driver.modules, module);
    if (!object)
      return DriverResult::InvalidHandle;
    const ptx::Kernel *kernel = object->program.find(name);
    if (!kernel)
      return DriverResult::NotFound;
    std::unique_ptr<FunctionObject> &entry = object->functions[name];
    if (!entry)
      entry = std::make_unique<FunctionObject>(FunctionObject{object, kernel});
    *function = entry.get();
    return DriverResult::Success;
  });
}

DriverResult cuLaunchKernel(FunctionHandle function, unsigned gridX,
                            unsigned gridY, unsigned gridZ, unsigned blockX,
                            unsigned blockY, unsigned blockZ,
                            unsigned sharedBytes, StreamHandle stream,
                            void **parameters, void **extra) {
  return entered("cuLaunchKernel", Needs::Context, [&](StandIn &driver) {
    StreamObject *object = find(driver.streams, stream);
    if (!object)
      return DriverResult::InvalidHandle;
    Piece piece;
    const DriverResult result =
        makeLaunch(driver,
                   {function, gridX, gridY, gridZ, blockX, blockY, blockZ,
                    sharedBytes, parameters, extra},
                   piece);
    if (result == DriverResult::Success)
      driver.enqueue(*object, std::move(piece));
    return result;
  });
}

DriverResult cuLaunchHostFunc(StreamHandle stream, HostFunction function,
                              void *data) {
  return entered("cuLaunchHostFunc", Needs::Context, [&](StandIn &driver) {
    StreamObject *object = find(driver.streams, stream);
    if (!object || !function)
      return DriverResult::InvalidHandle;
    driver.enqueue(*object, makeHostCall(function, data));
    return DriverResult::Success;
  });
}

} // extern "C"
} // namespace meshloom::cuda
