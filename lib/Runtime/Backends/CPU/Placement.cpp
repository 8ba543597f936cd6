// Lifetimes by phase for the arena, by position in the phase for the workers'
// scratch.
#include "Placement.h"

#include "meshloom/Runtime/BoxCopy.h"

#include <algorithm>

using namespace meshloom;
using namespace meshloom::cpu;

int64_t OffsetAllocator::allocate(int64_t bytes) {
  bytes = rounded(bytes);
  for (size_t i = 0; i < holes.size(); ++i) {
    auto &[offset, size] = holes[i];
    if (size < bytes)
      continue;
    const int64_t found = offset;
    offset += bytes;
    size -= bytes;
    if (size == 0)
      holes.erase(holes.begin() + long(i));
    return found;
  }
  // Grow the last hole if it reaches the end.
  int64_t found = end;
  if (!holes.empty() && holes.back().first + holes.back().second == end) {
    found = holes.back().first;
    holes.pop_back();
  }
  end = found + bytes;
  return found;
}

void OffsetAllocator::release(int64_t offset, int64_t bytes) {
  bytes = rounded(bytes);
  auto next = std::lower_bound(holes.begin(), holes.end(),
                               std::pair<int64_t, int64_t>(offset, 0));
  if (next != holes.end() && offset + bytes == next->first) {
    next->first = offset;
    next->second += bytes;
  } else {
    next = holes.insert(next, {offset, bytes});
  }
  if (next != holes.begin()) {
    auto before = next - 1;
    if (before->first + before->second == next->first) {
      before->second += next->second;
      holes.erase(next);
    }
  }
}

namespace {
struct Life {
  int firstPhase = -1, lastPhase = -1;
  int firstItem = -1, lastItem = -1; ///< within the one phase
};

/// The part of a root that each chunk touches in its one phase; false if there
/// is nothing to gain.
bool findParts(const StepGraph &graph, const Schedule &schedule,
               const Phase &phase, const Life &life, unsigned root,
               int64_t workers, Place &place) {
  const GraphBuffer &buffer = graph.buffers[graph.roots[root].buffer];
  const size_t rank = buffer.shape.size(), size = rank + 1;
  std::vector<Range> hulls(size * size_t(schedule.chunks)), box(size);
  for (int i = life.firstItem; i <= life.lastItem; ++i) {
    const Item &item = phase.items[size_t(i)];
    const Work &work = graph.works[item.work];
    for (unsigned a = 0; a < work.accesses.size(); ++a) {
      if (graph.buffers[work.accesses[a].buffer].root != root)
        continue;
      for (int64_t c = 0; c < schedule.chunks; ++c) {
        touchedBox(graph, item, schedule.chunks, c, a, box);
        if (box[0].empty())
          continue;
        Range *hull = &hulls[size_t(c) * size];
        const bool first = hull[0].empty();
        for (size_t d = 0; d < size; ++d)
          hull[d] = first ? box[d]
                          : Range{std::min(hull[d].begin, box[d].begin),
                                  std::max(hull[d].end, box[d].end)};
      }
    }
  }
  place.extent.assign(rank, 0);
  place.origin.assign(size_t(schedule.chunks), Shape(rank, 0));
  for (size_t c = 0; c < size_t(schedule.chunks); ++c)
    for (size_t d = 0; d < rank; ++d) {
      const Range &range = hulls[c * size + d + 1];
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
                     int64_t workers) {
  const size_t n = graph.roots.size();
  Placement placement;
  placement.places.resize(n);
  std::vector<Life> lives(n);
  for (int p = 0; p < int(schedule.phases.size()); ++p) {
    const Phase &phase = schedule.phases[size_t(p)];
    for (int i = 0; i < int(phase.items.size()); ++i)
      for (const Access &access :
           graph.works[phase.items[size_t(i)].work].accesses) {
        Life &life = lives[graph.buffers[access.buffer].root];
        if (life.firstPhase < 0) {
          life.firstPhase = p;
          life.firstItem = i;
        }
        life.lastPhase = p;
        life.lastItem = i;
      }
  }

  std::vector<std::vector<unsigned>> starts(schedule.phases.size()),
      ends(schedule.phases.size());
  for (unsigned r = 0; r < n; ++r) {
    if (graph.roots[r].kind != Root::Kind::Scratch || lives[r].firstPhase < 0)
      continue;
    Place &place = placement.places[r];
    const Life &life = lives[r];
    const Phase &phase = schedule.phases[size_t(life.firstPhase)];
    if (life.firstPhase == life.lastPhase &&
        graph.buffers[graph.roots[r].buffer].copies == 1 &&
        findParts(graph, schedule, phase, life, r, workers, place))
      place.kind = Place::Kind::Worker;
    else
      place.kind = Place::Kind::Arena;
    starts[size_t(life.firstPhase)].push_back(r);
    ends[size_t(life.lastPhase)].push_back(r);
  }

  OffsetAllocator arena;
  for (size_t p = 0; p < schedule.phases.size(); ++p) {
    OffsetAllocator scratch;
    std::vector<std::vector<unsigned>> last(schedule.phases[p].items.size());
    std::sort(starts[p].begin(), starts[p].end(), [&](unsigned a, unsigned b) {
      return lives[a].firstItem < lives[b].firstItem;
    });
    int released = 0; // pieces of work before this one have given memory back
    for (unsigned r : starts[p]) {
      Place &place = placement.places[r];
      if (place.kind == Place::Kind::Arena) {
        place.offset = arena.allocate(graph.roots[r].bytes);
        continue;
      }
      auto bytes = [&](unsigned root) {
        return elementCount(placement.places[root].extent) *
               byteWidth(graph.buffers[graph.roots[root].buffer].type);
      };
      for (; released < lives[r].firstItem; ++released)
        for (unsigned done : last[size_t(released)])
          scratch.release(placement.places[done].offset, bytes(done));
      place.offset = scratch.allocate(bytes(r));
      last[size_t(lives[r].lastItem)].push_back(r);
    }
    placement.workerBytes = std::max(placement.workerBytes, scratch.peak());
    for (unsigned r : ends[p])
      if (placement.places[r].kind == Place::Kind::Arena)
        arena.release(placement.places[r].offset, graph.roots[r].bytes);
  }
  placement.arenaBytes = arena.peak();
  return placement;
}
