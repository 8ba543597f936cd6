// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counting the memory that is in use between two works.
#include "EarlyWork.h"

#include <algorithm>

using namespace meshloom;
using namespace meshloom::cpu;
using namespace meshloom::plan;

namespace {
/// So many works before its turn, work is not early.
constexpr unsigned NEAR_TURN = 4;
/// Less memory than this fits in caches, and is never scarce.
constexpr int64_t SMALL = int64_t(4) << 20;
} // namespace

template <typename F>
void EarlyWork::forEachScratch(unsigned work, F apply) const {
  for (const Access &access : graph.works[work].accesses) {
    const unsigned memory = graph.buffers[access.buffer].memory;
    if (graph.plan.memories[memory].kind == Memory::Kind::Scratch)
      apply(memory);
  }
}

EarlyWork::EarlyWork(const StepGraph &graph)
    : graph(graph), numAccesses(graph.plan.memories.size(), 0),
      taken(graph.works.size(), false) {
  const unsigned count = unsigned(graph.works.size());
  for (unsigned work = 0; work < count; ++work)
    forEachScratch(work, [&](unsigned memory) { ++numAccesses[memory]; });
  numWaiting = numAccesses;
  int64_t most = 0;
  for (unsigned work = 0; work < count; ++work) {
    take(work);
    most = std::max(most, bytes);
  }
  for (unsigned work = 0; work < count; ++work)
    giveBack(work);
  limit = std::max(most + most / 4, SMALL);
}

bool EarlyWork::isTooEarly(unsigned work) const {
  if (work < turn + NEAR_TURN)
    return false;
  int64_t needed = bytes;
  forEachScratch(work, [&](unsigned memory) {
    if (numWaiting[memory] == numAccesses[memory])
      needed += graph.plan.memories[memory].bytes;
  });
  return needed > limit && needed > bytes;
}

void EarlyWork::take(unsigned work) {
  forEachScratch(work, [&](unsigned memory) {
    const int64_t size = graph.plan.memories[memory].bytes;
    if (numWaiting[memory] == numAccesses[memory])
      bytes += size;
    if (--numWaiting[memory] == 0)
      bytes -= size;
  });
  taken[work] = true;
  while (turn < taken.size() && taken[turn])
    ++turn;
}

void EarlyWork::giveBack(unsigned work) {
  forEachScratch(work, [&](unsigned memory) {
    const int64_t size = graph.plan.memories[memory].bytes;
    if (numWaiting[memory]++ == 0)
      bytes += size;
    if (numWaiting[memory] == numAccesses[memory])
      bytes -= size;
  });
  taken[work] = false;
  turn = std::min(turn, work);
}
