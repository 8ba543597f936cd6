// The client of virtual CPUs: arrays in shared or private memory.
#include "CPUExecutable.h"
#include "SubProgram.h"

#include "meshloom/Runtime/BoxCopy.h"
#include "meshloom/Runtime/Combine.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::cpu;

namespace {
const CPUBuffer &asCPU(const Buffer &buffer) {
  return static_cast<const CPUBuffer &>(buffer);
}
} // namespace

Result<std::shared_ptr<Client>>
meshloom::createCPUClient(const CPUOptions &options) {
  if (options.devices < 1)
    return Error(fmt::format("there must be at least one virtual CPU, not {}",
                             options.devices));
  if (!options.numbers.empty() &&
      int64_t(options.numbers.size()) != options.devices)
    return Error(fmt::format("{} numbers are given for {} virtual CPUs",
                             options.numbers.size(), options.devices));
  if (options.workers < 0 || options.workers > 4096)
    return Error(fmt::format("the number of workers must be from 1 to 4096 (or "
                             "0: one per core), not {}",
                             options.workers));
  if (options.chunks < 0 || options.memoryLimit < 0)
    return Error("chunks and memory limit of a CPU client cannot be negative");
  return std::shared_ptr<Client>(std::make_shared<CPUClient>(options));
}

CPUClient::CPUClient(const CPUOptions &given)
    : options(given),
      pool(std::make_shared<MemoryPool>(given.memoryLimit ? given.memoryLimit
                                                          : physicalMemory())),
      workers(given.workers) {
  for (int64_t i = 0; i < options.devices; ++i) {
    const int64_t number =
        options.numbers.empty() ? i : options.numbers[size_t(i)];
    deviceList.push_back({number, fmt::format("CPU:{}", number)});
  }
}

Result<std::shared_ptr<Executable>>
CPUClient::loadOn(Compiled compiled, const DeviceAssignment &assignment,
                  const LoadOptions &loadOptions) {
  if (!compiled.coded())
    return Error(fmt::format("program '{}' is StableHLO, which virtual CPUs do "
                             "not run: compile it for the target cpu",
                             compiled.signature().name));
  if (Status ok = compiled.program().verify(); !ok)
    return ok.error();
  const Code &code = compiled.code();
  if (!code.format.empty() && code.format != elfCode)
    return Error(fmt::format("the code of program '{}' is {}, but virtual CPUs "
                             "run {}: compile it for the target cpu",
                             compiled.signature().name, code.format, elfCode));
  if (Status ok = checkCPUFeatures(code.requirements); !ok)
    return ok.error();
  std::shared_ptr<const CodeSymbols> kernels = code.symbols;
  if (!kernels && !code.bytes.empty()) {
    auto object = loadSharedObject(code.bytes);
    if (!object)
      return object.error();
    kernels = *object;
  }
  auto self = std::static_pointer_cast<CPUClient>(shared_from_this());
  auto load = std::ranges::any_of(compiled.program().steps, isControl)
                  ? loadControl
              : options.privateMemories ? loadPrivate
                                        : loadShared;
  try {
    return load(self, {std::move(compiled), assignment, std::move(kernels)},
                loadOptions);
  } catch (const std::bad_alloc &) {
    return Error("out of memory while loading a program");
  }
}

int64_t CPUClient::memoryBytes(const ArrayType &type) const {
  if (options.privateMemories)
    return elementCount(type.layout.local_shape(type.shape)) *
           byteWidth(type.dtype);
  return copyCount(type.layout) * elementCount(type.shape) *
         byteWidth(type.dtype);
}

Result<std::shared_ptr<CPUBuffer>> CPUClient::allocate(const ArrayType &type) {
  const int64_t each = memoryBytes(type);
  const int64_t count = options.privateMemories ? type.layout.mesh().size() : 1;
  std::vector<Block> memories;
  for (int64_t i = 0; i < count; ++i) {
    Result<Block> block = pool->allocate(each);
    if (!block)
      return Error(
          fmt::format("{}: {}", type.to_string(), block.error().message()));
    memories.push_back(std::move(*block));
  }
  return std::make_shared<CPUBuffer>(shared_from_this(), std::move(memories),
                                     each * count);
}

Result<std::shared_ptr<Buffer>>
CPUClient::fromHost(const ArrayType &type, std::span<const char> data) {
  Result<std::shared_ptr<CPUBuffer>> buffer = allocate(type);
  if (!buffer)
    return buffer.error();
  const std::vector<Block> &memories = (*buffer)->memories;
  const Layout &layout = type.layout;
  const unsigned width = byteWidth(type.dtype);
  const int64_t bytes = int64_t(data.size());
  // The identities of nested partial axes of different kinds: whatever the
  // order, an addend that is not the first is combined away by the innermost
  // axis on which its coordinate is not 0.
  auto identity = [&](char *into, int64_t copy, int64_t count) {
    std::span<const Partial> partial = layout.partial();
    for (size_t p = partial.size(); p-- > 0;) {
      const int64_t size = layout.mesh().axis_size(partial[p].axis);
      if (copy % size) {
        fillIdentity(partial[p].kind, type.dtype, into, count);
        return;
      }
      copy /= size;
    }
  };
  if (!options.privateMemories) {
    const int64_t copies = copyCount(layout);
    for (int64_t copy = 0; copy < copies; ++copy) {
      char *into = memories[0].get() + copy * bytes;
      if (copy == 0 && bytes)
        std::memcpy(into, data.data(), size_t(bytes));
      else
        identity(into, copy, bytes / width);
    }
    return std::shared_ptr<Buffer>(std::move(*buffer));
  }
  const ArrayView from{const_cast<char *>(data.data()), Box::whole(type.shape)};
  const Shape local = layout.local_shape(type.shape);
  for (int64_t device = 0; device < layout.mesh().size(); ++device) {
    const int64_t copy = copyIndex(layout, layout.mesh().coords(device));
    if (copy != 0) {
      identity(memories[device].get(), copy, elementCount(local));
      continue;
    }
    const Box box = layout.shard(type.shape, device);
    copyBox({memories[device].get(), {box.offset, local}}, from, box, width);
  }
  return std::shared_ptr<Buffer>(std::move(*buffer));
}

Result<std::shared_ptr<Buffer>>
CPUClient::fromComponents(const ArrayType &type,
                          std::span<const Component> components) {
  Result<std::shared_ptr<CPUBuffer>> buffer = allocate(type);
  if (!buffer)
    return buffer.error();
  const std::vector<Block> &memories = (*buffer)->memories;
  const Layout &layout = type.layout;
  const unsigned width = byteWidth(type.dtype);
  const int64_t copyBytes = elementCount(type.shape) * width;
  const Shape local = layout.local_shape(type.shape);
  for (int64_t device = 0; device < layout.mesh().size(); ++device) {
    const Box box = layout.shard(type.shape, device);
    const ArrayView from{
        const_cast<char *>(components[size_t(device)].bytes.data()), box};
    ArrayView to{nullptr, {box.offset, local}};
    if (options.privateMemories) {
      to.data = memories[device].get();
    } else {
      // Copies of each other are stored once.
      const std::vector<int64_t> coords = layout.mesh().coords(device);
      bool first = true;
      for (unsigned axis = 0; axis < coords.size(); ++axis)
        first &= coords[axis] == 0 || layout.uses_axis(axis);
      if (!first)
        continue;
      to = {memories[0].get() + copyIndex(layout, coords) * copyBytes,
            Box::whole(type.shape)};
    }
    copyBox(to, from, box, width);
  }
  return std::shared_ptr<Buffer>(std::move(*buffer));
}

namespace {
/// Combines addends that lie one after the other in row-major order of the
/// partial axes; axes of one kind at a time, minor ones first. The addends are
/// overwritten; the value is left in the first.
void combineAddends(const Layout &layout, DType type,
                    std::vector<char *> addends, int64_t count) {
  std::span<const Partial> partial = layout.partial();
  for (size_t p = partial.size(); p-- > 0;) {
    const size_t size = size_t(layout.mesh().axis_size(partial[p].axis));
    std::vector<char *> combined;
    for (size_t first = 0; first < addends.size(); first += size) {
      std::vector<const void *> sources(addends.begin() + long(first),
                                        addends.begin() + long(first + size));
      combine(partial[p].kind, type, addends[first], sources, count);
      combined.push_back(addends[first]);
    }
    addends = std::move(combined);
  }
}
} // namespace

Result<HostBytes> CPUClient::toHost(const ArrayType &type,
                                    const Buffer &buffer) {
  const std::vector<Block> &memories = asCPU(buffer).memories;
  const Layout &layout = type.layout;
  const unsigned width = byteWidth(type.dtype);
  const int64_t count = elementCount(type.shape), bytes = count * width;
  HostBytes host(static_cast<size_t>(bytes));
  const int64_t copies = copyCount(layout);
  if (!options.privateMemories) {
    if (copies == 1) {
      if (bytes)
        std::memcpy(host.data(), memories[0].get(), size_t(bytes));
      return host;
    }
    HostBytes scratch(memories[0].get(), memories[0].get() + copies * bytes);
    std::vector<char *> addends;
    addends.reserve(size_t(copies));
    for (int64_t copy = 0; copy < copies; ++copy)
      addends.push_back(scratch.data() + copy * bytes);
    combineAddends(layout, type.dtype, addends, count);
    std::copy_n(scratch.data(), bytes, host.data());
    return host;
  }
  const Shape local = layout.local_shape(type.shape);
  const int64_t localCount = elementCount(local);
  const ArrayView to{host.data(), Box::whole(type.shape)};
  for (int64_t device = 0; device < layout.mesh().size(); ++device) {
    std::vector<int64_t> coords = layout.mesh().coords(device);
    bool first = copyIndex(layout, coords) == 0;
    for (unsigned axis = 0; axis < coords.size(); ++axis)
      first &= coords[axis] == 0 || layout.uses_axis(axis);
    if (!first)
      continue;
    const Box box = layout.shard(type.shape, device);
    if (box.empty())
      continue;
    if (copies == 1) {
      copyBox(to, {memories[device].get(), {box.offset, local}}, box, width);
      continue;
    }
    HostBytes scratch(size_t(copies * localCount * width));
    std::vector<char *> addends;
    for (int64_t other : addendDevices(layout, device)) {
      char *addend =
          scratch.data() + int64_t(addends.size()) * localCount * width;
      copyBox({addend, {box.offset, local}},
              {memories[other].get(), {box.offset, local}}, box, width);
      addends.push_back(addend);
    }
    combineAddends(layout, type.dtype, addends, localCount);
    copyBox(to, {scratch.data(), {box.offset, local}}, box, width);
  }
  return host;
}

Result<OwnedComponent> CPUClient::component(const ArrayType &type,
                                            const Buffer &buffer,
                                            int64_t device) {
  const std::vector<Block> &memories = asCPU(buffer).memories;
  const Layout &layout = type.layout;
  const unsigned width = byteWidth(type.dtype);
  const Box box = layout.shard(type.shape, device);
  OwnedComponent result{box.extent, HostBytes(size_t(box.count()) * width)};
  ArrayView from{nullptr, Box::whole(type.shape)};
  if (options.privateMemories)
    from = {memories[device].get(),
            {box.offset, layout.local_shape(type.shape)}};
  else
    from.data =
        memories[0].get() + copyIndex(layout, layout.mesh().coords(device)) *
                                elementCount(type.shape) * width;
  copyBox({result.bytes.data(), box}, from, box, width);
  return result;
}
