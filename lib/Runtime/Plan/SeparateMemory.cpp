// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that is used up is reused: each action is a point in time.
#include "meshloom/Runtime/Plan/SeparateMemory.h"

using namespace meshloom;
using namespace meshloom::plan;

int64_t SeparateMemory::peakBytes() const {
  int64_t bytes = placed.peak;
  for (const Memory &memory : plan.memories)
    if (memory.kind != Memory::Kind::Scratch)
      bytes += memory.bytes;
  return bytes;
}

Result<SeparateMemory> plan::planSeparateMemory(const Program &program) {
  std::vector<int64_t> bytes;
  bytes.reserve(program.buffers.size());
  for (const BufferDecl &decl : program.buffers)
    bytes.push_back(decl.localBytes());
  Result<MemoryPlan> planned = planMemory(
      program, {.bytes = [&](unsigned buffer) { return bytes[buffer]; }});
  if (!planned)
    return planned.error();
  SeparateMemory memory{std::move(*planned), {}, {}};
  const MemoryPlan &plan = memory.plan;
  memory.lives.resize(plan.memories.size());
  for (size_t m = 0; m < memory.lives.size(); ++m)
    memory.lives[m].bytes = plan.memories[m].bytes;
  for (int a = 0; a < int(plan.actions.size()); ++a) {
    const Action &action = plan.actions[size_t(a)];
    for (const auto *buffers : {&action.reads, &action.writes})
      for (unsigned buffer : *buffers) {
        const unsigned index = plan.buffers[buffer].memory;
        if (plan.memories[index].kind != Memory::Kind::Scratch)
          continue;
        Lifetime &life = memory.lives[index];
        if (life.first < 0)
          life.first = a;
        life.last = a;
      }
  }
  memory.placed = placeByLifetime(memory.lives);
  return memory;
}
