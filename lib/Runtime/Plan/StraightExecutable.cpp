// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Binding the plan's memories to blocks.
#include "meshloom/Runtime/Plan/StraightExecutable.h"

#include "meshloom/Runtime/Plan/Steps.h"

#include <algorithm>
#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::plan;

Status StraightExecutable::count(int64_t arenaBytes, int64_t workBytes) {
  int64_t slotBytes = arenaBytes;
  unsigned largest = 0;
  for (unsigned m = 0; m < planned.memories.size(); ++m) {
    const Memory &memory = planned.memories[m];
    if (memory.kind != Memory::Kind::Scratch)
      slotBytes += memory.bytes;
    if (memory.bytes > planned.memories[largest].bytes)
      largest = m;
  }
  std::string culprit, detail;
  if (!planned.memories.empty()) {
    const Memory &memory = planned.memories[largest];
    detail =
        fmt::format(", {} of them for '{}'", formatBytes(memory.bytes),
                    loaded.buffers[planned.buffers[memory.buffer].decl].name);
    for (const Action &action : planned.actions)
      if (culprit.empty() &&
          std::ranges::any_of(action.writes, [&](unsigned buffer) {
            return planned.buffers[buffer].memory == largest;
          }))
        culprit = describe(loaded, action.step);
  }
  return countMemory(slotBytes * int64_t(device->slots(mesh())) + workBytes,
                     culprit, detail);
}

Status StraightExecutable::setPlan(MemoryPlan memory,
                                   std::vector<int64_t> places,
                                   int64_t arenaBytes, int64_t workBytes) {
  planned = std::move(memory);
  offsets = std::move(places);
  if (Status ok = count(arenaBytes, workBytes); !ok)
    return ok;
  for (size_t slot = 0; slot < device->slots(mesh()); ++slot) {
    Result<Block> arena = device->allocate(slot, arenaBytes);
    if (!arena)
      return arena.error();
    arenas.blocks.push_back(std::move(*arena));
  }
  arenas.bytes = arenaBytes;
  for (const ConstantData &constant : loaded.constants) {
    Result<Array> array = constantArray(constant);
    if (!array)
      return array.error();
    constants.push_back(std::move(*array));
  }
  return Success();
}

int64_t StraightExecutable::scratchBytes() const {
  return arenas.bytes * int64_t(arenas.blocks.size()) + work.bytes;
}

int64_t
StraightExecutable::shareScratch(std::span<StraightExecutable *const> others) {
  for (Scratch StraightExecutable::*kind :
       {&StraightExecutable::arenas, &StraightExecutable::work}) {
    if (others.empty())
      break;
    if ((others.front()->*kind).bytes >= (this->*kind).bytes)
      this->*kind = others.front()->*kind;
    else
      for (StraightExecutable *other : others)
        other->*kind = this->*kind;
  }
  return scratchBytes();
}

void StraightExecutable::recordOldValue(int64_t worker, int64_t bytes,
                                        int64_t begin) const {
  ProfileEvent event =
      profiled->event(ProfileEvent::Kind::Copy, ProfileEvent::NONE, begin);
  event.worker = worker;
  event.bytes = 2 * bytes;
  profiled->profiler().add(std::move(event));
}

Result<std::vector<Array>>
StraightExecutable::record(std::vector<Array> &&arguments,
                           ControlGraph &graph) {
  recording = &graph;
  Result<std::vector<Array>> results = run(std::move(arguments));
  recording = nullptr;
  return results;
}

Status StraightExecutable::recordActions(const Frame &, ControlGraph &) {
  return Error("the backend records no programs", ErrorCode::UNIMPLEMENTED);
}

Result<Block> StraightExecutable::allocate(size_t slot, int64_t bytes) {
  return recording ? recording->allocate(bytes) : device->allocate(slot, bytes);
}

Result<Event> StraightExecutable::doActions(const Frame &frame) {
  if (!recording)
    return runActions(frame);
  if (Status ok = recordActions(frame, *recording); !ok)
    return ok.error();
  return Event();
}

Result<std::vector<Array>>
StraightExecutable::run(std::vector<Array> &&arguments) {
  const size_t slots = arenas.blocks.size(), count = planned.memories.size();
  Frame frame{slots, std::vector<char *>(count * slots), {}};
  std::vector<Block> blocks(count * slots);
  for (size_t m = 0; m < count; ++m) {
    const Memory &memory = planned.memories[m];
    Block *memoryBlocks = blocks.data() + m * slots;
    char **addresses = frame.addresses.data() + m * slots;
    if (memory.kind == Memory::Kind::Scratch) {
      for (size_t slot = 0; slot < slots; ++slot)
        addresses[slot] = arenas.blocks[slot].get() + offsets[m];
      continue;
    }
    const std::vector<Block> *source = nullptr;
    bool fresh = memory.kind == Memory::Kind::Result;
    if (memory.kind == Memory::Kind::Constant)
      source = &BlockBuffer::of(constants[memory.index]);
    if (memory.kind == Memory::Kind::Argument) {
      const Array &array = arguments[memory.index];
      source = &BlockBuffer::of(array);
      fresh = memory.overwritten && !mayOverwrite(array);
    }
    for (size_t slot = 0; slot < slots; ++slot) {
      if (!fresh) {
        memoryBlocks[slot] = (*source)[slot];
      } else {
        Result<Block> block = allocate(slot, memory.bytes);
        if (!block)
          return block.error();
        memoryBlocks[slot] = std::move(*block);
        if (source)
          frame.oldValues.push_back(
              {slot, memoryBlocks[slot].get(), (*source)[slot], memory.bytes});
      }
      addresses[slot] = memoryBlocks[slot].get();
    }
  }

  // Until here there may have been no memory; the actions overwrite values.
  const std::vector<Array> used = std::move(arguments);
  const Result<Event> done = doActions(frame);
  if (!done)
    return done.error();

  std::vector<Array> results;
  results.reserve(loaded.results.size());
  for (size_t r = 0; r < loaded.results.size(); ++r) {
    const size_t m = planned.buffers[loaded.results[r].buffer].memory;
    auto first = blocks.begin() + long(m * slots);
    auto buffer = std::make_shared<BlockBuffer>(
        client(), std::vector<Block>(first, first + long(slots)),
        planned.memories[m].bytes * int64_t(slots));
    if (isInOrder())
      buffer->setInOrder();
    results.emplace_back(signature().results[r].type, std::move(buffer), *done);
  }
  return results;
}
