// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lifetimes by phase for the arena, by position in the phase for the workers'
// scratch.
#include "Placement.h"

#include "meshloom/Runtime/Plan/Offsets.h"

#include <algorithm>

using namespace meshloom;
using namespace meshloom::cpu;
using namespace meshloom::plan;

namespace {
/// An access of a memory: that of an item of a phase.
struct Use {
  unsigned item, access;
};

struct Life {
  int firstPhase = -1, lastPhase = -1;
  int firstItem = -1, lastItem = -1; ///< within the one phase
  std::vector<Use> uses;             ///< of the first phase
};

/// The part of a memory that each chunk touches in its one phase; false if
/// there is nothing to gain.
bool findParts(const StepGraph &graph, const Phase &phase, const Life &life,
               unsigned memory, int64_t workers, Place &place) {
  const GraphBuffer &buffer = graph.buffers[graph.plan.memories[memory].buffer];
  const size_t rank = buffer.shape.size(), size = rank + 1;
  std::vector<Interval> hulls(size * size_t(phase.chunks)), box(size);
  for (const Use &use : life.uses)
    for (int64_t c = 0; c < phase.chunks; ++c) {
      touchedBox(graph, phase.items[use.item], phase.chunks, c, use.access,
                 box);
      if (box[0].empty())
        continue;
      Interval *hull = &hulls[size_t(c) * size];
      if (hull[0].empty())
        std::ranges::copy(box, hull);
      else
        for (size_t d = 0; d < size; ++d)
          hull[d] = hull[d].hull(box[d]);
    }
  place.extent.assign(rank, 0);
  place.origin.assign(size_t(phase.chunks), Shape(rank, 0));
  for (size_t c = 0; c < size_t(phase.chunks); ++c)
    for (size_t d = 0; d < rank; ++d) {
      const Interval &range = hulls[c * size + d + 1];
      if (range.empty())
        continue;
      place.origin[c][d] = range.begin;
      place.extent[d] = std::max(place.extent[d], range.end - range.begin);
    }
  constexpr int64_t NEGLIGIBLE = 1 << 14;
  const int64_t part = elementCount(place.extent) * byteWidth(buffer.type);
  return part * workers <= std::max(buffer.bytesPerCopy(), NEGLIGIBLE);
}
} // namespace

Placement cpu::place(const StepGraph &graph, const Schedule &schedule,
                     int64_t workers, std::span<const int64_t> stagingBytes) {
  const std::vector<Memory> &memories = graph.plan.memories;
  const size_t n = memories.size();
  Placement placement;
  placement.places.resize(n);
  std::vector<Life> lives(n);
  std::vector<Lifetime> staged(stagingBytes.size());
  for (int p = 0; p < int(schedule.phases.size()); ++p) {
    const Phase &phase = schedule.phases[size_t(p)];
    for (int i = 0; i < int(phase.items.size()); ++i) {
      const Work &work = graph.works[phase.items[size_t(i)].work];
      if (work.isExchange() && !staged.empty()) {
        Lifetime &life = staged[work.exchange];
        if (work.kind == Work::Kind::Exchange)
          life.first = p;
        life.last = p;
        life.bytes = stagingBytes[work.exchange];
      }
      for (unsigned a = 0; a < work.accesses.size(); ++a) {
        Life &life = lives[graph.buffers[work.accesses[a].buffer].memory];
        if (life.firstPhase < 0) {
          life.firstPhase = p;
          life.firstItem = i;
        }
        life.lastPhase = p;
        life.lastItem = i;
        if (life.firstPhase == p)
          life.uses.push_back({unsigned(i), a});
      }
    }
  }

  // Global memory is placed over phases; memory that chunks keep to themselves
  // is placed over the items of their phase.
  std::vector<unsigned> used;
  for (unsigned m = 0; m < n; ++m)
    if (memories[m].kind == Memory::Kind::Scratch && lives[m].firstPhase >= 0)
      used.push_back(m);
  std::ranges::sort(
      used, {}, [&](unsigned m) { return std::pair(lives[m].firstItem, m); });
  std::vector<unsigned> inArena;
  std::vector<std::vector<unsigned>> inWorkers(schedule.phases.size());
  for (unsigned m : used) {
    Place &place = placement.places[m];
    const Life &life = lives[m];
    const Phase &phase = schedule.phases[size_t(life.firstPhase)];
    if (life.firstPhase == life.lastPhase &&
        graph.buffers[memories[m].buffer].copies == 1 &&
        findParts(graph, phase, life, m, workers, place)) {
      place.kind = Place::Kind::Worker;
      inWorkers[size_t(life.firstPhase)].push_back(m);
    } else {
      place.kind = Place::Kind::Arena;
      inArena.push_back(m);
    }
  }
  std::vector<int64_t> offsets;
  auto placeAll = [&](const std::vector<unsigned> &which,
                      const std::vector<Lifetime> &lifetimes) {
    Offsets placed = placeByLifetime(lifetimes);
    for (size_t i = 0; i < which.size(); ++i)
      placement.places[which[i]].offset = placed.offsets[i];
    offsets = std::move(placed.offsets);
    return placed.peak;
  };
  std::vector<Lifetime> lifetimes;
  lifetimes.reserve(inArena.size());
  for (unsigned m : inArena)
    lifetimes.push_back(
        {lives[m].firstPhase, lives[m].lastPhase, memories[m].bytes});
  lifetimes.insert(lifetimes.end(), staged.begin(), staged.end());
  placement.arenaBytes = placeAll(inArena, lifetimes);
  placement.staging.assign(offsets.begin() + long(inArena.size()),
                           offsets.end());
  for (const std::vector<unsigned> &inPhase : inWorkers) {
    lifetimes.clear();
    for (unsigned m : inPhase)
      lifetimes.push_back(
          {lives[m].firstItem, lives[m].lastItem,
           elementCount(placement.places[m].extent) *
               byteWidth(graph.buffers[memories[m].buffer].type)});
    placement.phaseBytes.push_back(placeAll(inPhase, lifetimes));
    placement.workerBytes =
        std::max(placement.workerBytes, placement.phaseBytes.back());
  }
  return placement;
}
