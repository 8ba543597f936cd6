// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays in blocks.
#include "meshloom/Runtime/Plan/PlanClient.h"

#include "meshloom/Runtime/Communicator.h"
#include "meshloom/Runtime/HappensBefore.h"
#include "meshloom/Runtime/Plan/Components.h"
#include "meshloom/Runtime/Plan/ControlGraph.h"
#include "meshloom/Runtime/Plan/UserMemory.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

using namespace meshloom;
using namespace meshloom::plan;

std::string plan::formatBytes(int64_t bytes) {
  if (bytes >= 1'000'000'000)
    return fmt::format("{:.1f} GB", double(bytes) * 1e-9);
  if (bytes >= 1'000'000)
    return fmt::format("{:.1f} MB", double(bytes) * 1e-6);
  return fmt::format("{} bytes", bytes);
}

int64_t plan::machineMemory() {
  return int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
}

bool plan::mayOverwrite(const Array &array) {
  return array.isUnique() &&
         std::ranges::all_of(BlockBuffer::of(array), [](const Block &block) {
           return isLastReference(block) && !UserMemory::has(block);
         });
}

int64_t PlanClient::processes() const {
  return communicator() ? communicator()->size() : 1;
}
int64_t PlanClient::process() const {
  return communicator() ? communicator()->rank() : 0;
}

Result<MeshProcesses> PlanClient::processesOf(const Mesh &mesh) const {
  return MeshProcesses::of(mesh, process(), processes());
}

Status PlanClient::fill(size_t, const Block &block, int64_t,
                        const std::function<void(char *)> &write) {
  write(block.get());
  return Success();
}

Result<std::shared_ptr<const char>> PlanClient::read(size_t, const Block &block,
                                                     int64_t) {
  return std::shared_ptr<const char>(block);
}

void PlanClient::copy(size_t, char *to, const char *from, int64_t bytes) {
  if (bytes)
    std::memcpy(to, from, size_t(bytes));
}

int64_t PlanClient::blockBytes(const ArrayType &type) const {
  return sharesMemory() ? sharedBytes(type, type.layout.mesh().local_indices())
                        : paddedBytes(type);
}

std::unique_ptr<ControlGraph> PlanClient::makeControlGraph() {
  return nullptr;
}

Result<std::shared_ptr<BlockBuffer>>
PlanClient::allocate(const ArrayType &type) {
  const int64_t byteCount = blockBytes(type);
  std::vector<Block> blocks(slots(type.layout.mesh()));
  for (size_t slot = 0; slot < blocks.size(); ++slot) {
    Result<Block> block = allocate(slot, byteCount);
    if (!block)
      return block.error().withMessage(
          fmt::format("{}: {}", type.to_string(), block.error().message()));
    blocks[slot] = std::move(*block);
  }
  const int64_t bytes = byteCount * int64_t(blocks.size());
  return std::make_shared<BlockBuffer>(shared_from_this(), std::move(blocks),
                                       bytes);
}

Result<std::shared_ptr<Buffer>>
PlanClient::fromHost(const ArrayType &type, std::span<const char> data) {
  if (Result<MeshProcesses> ok = processesOf(type.layout.mesh()); !ok)
    return ok.error();
  Result<std::shared_ptr<BlockBuffer>> buffer = allocate(type);
  if (!buffer)
    return buffer.error();
  const std::vector<Block> &blocks = (*buffer)->blocks();
  const int64_t bytes = blockBytes(type);
  if (sharesMemory()) {
    if (Status ok = fill(0, blocks[0], bytes,
                         [&](char *into) {
                           fillShared(type, type.layout.mesh().local_indices(),
                                      data, into);
                         });
        !ok)
      return ok.error();
  } else {
    const std::span<const int64_t> devices = type.layout.mesh().local_indices();
    for (size_t slot = 0; slot < devices.size(); ++slot)
      if (Status ok = fill(
              slot, blocks[slot], bytes,
              [&](char *into) { fillPadded(type, data, devices[slot], into); });
          !ok)
        return ok.error();
  }
  return std::shared_ptr<Buffer>(std::move(*buffer));
}

Result<std::shared_ptr<Buffer>>
PlanClient::fromComponents(const ArrayType &type,
                           std::span<const Component> components) {
  if (Result<MeshProcesses> ok = processesOf(type.layout.mesh()); !ok)
    return ok.error();
  Result<std::shared_ptr<BlockBuffer>> buffer = allocate(type);
  if (!buffer)
    return buffer.error();
  const std::vector<Block> &blocks = (*buffer)->blocks();
  const int64_t bytes = blockBytes(type);
  const std::span<const int64_t> devices = type.layout.mesh().local_indices();
  auto place = [&](size_t slot, char *into) {
    if (!sharesMemory())
      return placeInPadded(type, components[slot], devices[slot], into);
    for (size_t d = 0; d < devices.size(); ++d)
      placeInShared(type, type.layout.mesh().local_indices(), components[d],
                    devices[d], into);
  };
  for (size_t slot = 0; slot < blocks.size(); ++slot)
    if (Status ok = fill(slot, blocks[slot], bytes,
                         [&](char *into) { place(slot, into); });
        !ok)
      return ok.error();
  return std::shared_ptr<Buffer>(std::move(*buffer));
}

namespace {
/// Where a device is in the list of those that are here, or -1.
int64_t slotOf(std::span<const int64_t> devices, int64_t device) {
  const auto found = std::ranges::find(devices, device);
  return found == devices.end() ? -1 : found - devices.begin();
}
} // namespace

Result<HostBytes> PlanClient::toHost(const ArrayType &type,
                                     const Buffer &buffer) {
  const std::vector<Block> &blocks =
      static_cast<const BlockBuffer &>(buffer).blocks();
  const int64_t bytes = blockBytes(type);
  if (sharesMemory()) {
    const auto view = read(0, blocks[0], bytes);
    return view ? readShared(type, view->get()) : view.error();
  }
  const std::span<const int64_t> devices = type.layout.mesh().local_indices();
  if (int64_t(devices.size()) < type.layout.mesh().size())
    return Error(fmt::format(
        "{} has parts in other processes: make it replicated on devices of "
        "this one first",
        type.to_string()));
  std::vector<std::shared_ptr<const char>> views(devices.size());
  for (size_t slot = 0; slot < devices.size(); ++slot) {
    auto view = read(slot, blocks[slot], bytes);
    if (!view)
      return view.error();
    views[slot] = std::move(*view);
  }
  return readPadded(type, [&](int64_t device) {
    return views[size_t(slotOf(devices, device))].get();
  });
}

Result<OwnedComponent> PlanClient::component(const ArrayType &type,
                                             const Buffer &buffer,
                                             int64_t device) {
  const std::vector<Block> &blocks =
      static_cast<const BlockBuffer &>(buffer).blocks();
  const int64_t bytes = blockBytes(type);
  const int64_t slot = slotOf(type.layout.mesh().local_indices(), device);
  if (slot < 0)
    return Error(fmt::format(
        "device {} of the mesh {} is one of another process, which can read "
        "its component; here are {} to {}",
        device, type.layout.mesh().spec_string(),
        type.layout.mesh().local_indices().front(),
        type.layout.mesh().local_indices().back()));
  const size_t place = sharesMemory() ? 0 : size_t(slot);
  const auto view = read(place, blocks[place], bytes);
  if (!view)
    return view.error();
  return sharesMemory()
             ? takeFromShared(type, type.layout.mesh().local_indices(),
                              view->get(), device)
             : takeFromPadded(type, view->get(), device);
}

/// Returns whether each device of this process has the same part of two arrays
/// of one value.
static bool haveSameParts(const ArrayType &one, const ArrayType &other) {
  auto isHere = [](const Mesh &mesh) {
    return mesh.num_local_devices() == mesh.size();
  };
  if (isHere(one.layout.mesh()) && isHere(other.layout.mesh()))
    return true;
  const std::span<const int64_t> devices = one.layout.mesh().local_indices();
  return std::ranges::equal(devices, other.layout.mesh().local_indices()) &&
         std::ranges::all_of(devices, [&](int64_t device) {
           return one.layout.shard(one.shape, device) ==
                  other.layout.shard(other.shape, device);
         });
}

std::optional<Array> PlanClient::adopt(const ArrayType &type, Array &array) {
  const auto *owner = dynamic_cast<const PlanClient *>(array.client().get());
  const bool isShared = owner && owner->platform() == platform() &&
                        owner->sharesMemory() && sharesMemory() &&
                        haveSameParts(array.type(), type);
  if (!isShared || array.layout().is_partial() || type.layout.is_partial())
    return std::nullopt;
  const int64_t bytes = array.buffer()->bytes();
  if (array.event().isReady() && array.wait())
    return Array(type, std::make_shared<BlockBuffer>(
                           shared_from_this(), BlockBuffer::of(array), bytes));
  // There is no block yet. Whoever waits for `done` finds the array's own
  // reference gone, so that an update may take place in the block.
  auto buffer = std::make_shared<BlockBuffer>(shared_from_this(),
                                              std::vector<Block>(), bytes);
  const Event done = Event::pending(), before = array.event();
  before.then([buffer, done, from = std::make_shared<Array>(std::move(array))](
                  const Status &outcome) {
    if (outcome)
      buffer->set(BlockBuffer::of(*from));
    else if (from->oldValue())
      buffer->setOldValue(BlockBuffer::of(*from));
    *from = Array();
    done.finish(outcome);
  });
  return Array(type, std::move(buffer), done);
}

Result<Array> PlanClient::fromHostLater(const ArrayType &type,
                                        std::shared_ptr<const HostBytes> data,
                                        const Event &ready) {
  auto buffer = std::make_shared<BlockBuffer>(
      shared_from_this(), std::vector<Block>(),
      blockBytes(type) * int64_t(slots(type.layout.mesh())));
  const Event done = Event::pending();
  ready.then([buffer, done, type, data = std::move(data)](const Status &came) {
    if (!came)
      return done.finish(came);
    Result<std::shared_ptr<Buffer>> placed =
        buffer->client()->fromHost(type, *data);
    if (!placed)
      return done.fail(placed.error());
    buffer->set(static_cast<const BlockBuffer &>(**placed).blocks());
    done.complete();
  });
  return Array(type, std::move(buffer), done);
}
