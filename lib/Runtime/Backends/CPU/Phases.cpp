// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Building phases. Conflicts are looked for between the boxes that chunks
// touch, memory by memory.
#include "Phases.h"

#include "EarlyWork.h"

#include "meshloom/Runtime/Plan/Shared/Addends.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

using namespace meshloom;
using namespace meshloom::cpu;
using namespace meshloom::plan;

namespace {
Interval partOf(int64_t extent, int64_t parts, int64_t part) {
  return {chunkBound(extent, parts, part), chunkBound(extent, parts, part + 1)};
}

/// Returns the part of `item.loop` that chunk c runs; `partOfSecond` returns
/// its part of `item.second`.
Interval partOfLoop(const Item &item, const Work &work, int64_t chunks,
                    int64_t c) {
  const int64_t extent = work.extents[item.loop];
  return item.second < 0 ? partOf(extent, chunks, c)
                         : partOf(extent, item.parts, c * item.parts / chunks);
}

Interval partOfSecond(const Item &item, const Work &work, int64_t chunks,
                      int64_t c) {
  const int64_t parts = chunks / item.parts;
  return partOf(work.extents[size_t(item.second)], parts, c % parts);
}
} // namespace

Interval Item::instances(const Work &work, int64_t chunks, int64_t c) const {
  const int64_t count = std::max<int64_t>(1, int64_t(work.instances.size()));
  switch (cut) {
  case Cut::Loop:
    if (partOfLoop(*this, work, chunks, c).empty() ||
        (second >= 0 && partOfSecond(*this, work, chunks, c).empty()))
      return {};
    return {0, count};
  case Cut::Instances:
    return {count * c / chunks, count * (c + 1) / chunks};
  case Cut::Whole:
    return c == int64_t(chunk) ? Interval{0, count} : Interval{};
  }
  return {};
}

void Item::narrow(const Work &work, int64_t chunks, int64_t c,
                  std::span<int64_t> begin, std::span<int64_t> extent) const {
  if (cut != Cut::Loop)
    return;
  auto take = [&](unsigned l, Interval part) {
    begin[l] = part.begin;
    extent[l] = part.size();
  };
  take(loop, partOfLoop(*this, work, chunks, c));
  if (second >= 0)
    take(unsigned(second), partOfSecond(*this, work, chunks, c));
}

namespace {
/// The index values that a dim takes over a box of iterations.
Interval dimRange(const DimAccess &dim, std::span<const int64_t> begin,
                  std::span<const int64_t> extent) {
  int64_t low = dim.offset, high = dim.offset;
  for (auto [loop, coefficient] : dim.terms) {
    const int64_t first = coefficient * begin[loop];
    const int64_t last = coefficient * (begin[loop] + extent[loop] - 1);
    low += std::min(first, last);
    high += std::max(first, last);
  }
  return {low, high + 1};
}

/// Adds what one instance touches to `box`.
/// The part outside of the buffer, of `shape`, is not touched: a guarded read
/// leaves it out.
void addTouched(const Access &access, const Shape &shape, Interval copies,
                std::span<const int64_t> begin, std::span<const int64_t> extent,
                std::span<Interval> box) {
  for (const DimAccess &dim : access.dims)
    for (auto [loop, coefficient] : dim.terms)
      if (extent[loop] <= 0)
        return;
  auto inside = [&](size_t d) {
    return dimRange(access.dims[d], begin, extent).intersect({0, shape[d]});
  };
  for (size_t d = 0; d < access.dims.size(); ++d)
    if (inside(d).empty())
      return;
  for (size_t d = 0; d < access.dims.size(); ++d)
    box[d + 1] = box[d + 1].hull(inside(d));
  box[0] = box[0].hull(copies);
}
} // namespace

void cpu::touchedBox(const StepGraph &graph, const Item &item, int64_t chunks,
                     int64_t c, unsigned index, std::span<Interval> box) {
  std::fill(box.begin(), box.end(), Interval{});
  const Work &work = graph.works[item.work];
  const Access &access = work.accesses[index];
  const Shape &shape = graph.buffers[access.buffer].shape;
  const Interval instances = item.instances(work, chunks, c);
  if (instances.empty())
    return;
  const bool allAddends = work.kind == Work::Kind::Reduce && index == 0;
  const Interval whole{0, graph.buffers[access.buffer].copies};
  auto copies = [&](const Instance &instance) {
    return allAddends
               ? whole
               : Interval{instance.copy[index], instance.copy[index] + 1};
  };
  if (work.instances.empty() || item.cut == Item::Cut::Loop) {
    // All instances: their addends, and their whole iteration space.
    Interval copyRange = work.instances.empty()
                             ? Interval{0, 1}
                             : copies(work.instances.front());
    for (const Instance &instance : work.instances)
      copyRange = copyRange.hull(copies(instance));
    Shape begin(work.extents.size()), extent = work.extents;
    item.narrow(work, chunks, c, begin, extent);
    return addTouched(access, shape, allAddends ? whole : copyRange, begin,
                      extent, box);
  }
  for (int64_t i = instances.begin; i < instances.end; ++i)
    addTouched(access, shape, copies(work.instances[i]),
               work.instances[i].begin, work.instances[i].extent, box);
}

namespace {
/// Nanoseconds of work that is worth waiting for a good cut.
constexpr double DEAR = 50'000;
/// Nanoseconds of work that is worth a chunk of its own.
constexpr double WORTH_A_CHUNK = 2'000;
/// Nanoseconds of a call that is worth a phase of its own, for a team.
constexpr double WORTH_A_TEAM = 50'000;

bool intersect(std::span<const Interval> a, std::span<const Interval> b) {
  for (size_t d = 0; d < a.size(); ++d)
    if (a[d].intersect(b[d]).empty())
      return false;
  return true;
}

/// The accesses of one memory by the chunks of the phase under construction.
struct MemoryUse {
  bool read = false, written = false;
  /// Per chunk, a box (addends, dims): hull of all accesses so far.
  std::vector<Interval> reads, writes;
  /// Where work that is cut along two loops touches it: which dims those count
  /// along. Before it does, `parts` is 0.
  Grid dims{0, 0, 0};
};

class Scheduler {
public:
  Scheduler(const StepGraph &graph, int64_t chunks, int64_t workers)
      : graph(graph), chunks(chunks), workers(workers),
        waiting(graph.plan.numPredecessors), early(graph),
        uses(graph.plan.memories.size()), load(size_t(chunks), 0) {}

  std::vector<Phase> run();
  Phase phaseOf(unsigned work);
  /// Returns whether the chunks of these items are independent of each other.
  /// Chooses anew where whole work goes.
  bool areChunks(std::span<Item> items);

private:
  /// The boxes that a cut of some work touches: per access, per chunk.
  using Boxes = std::vector<std::vector<Interval>>;

  std::vector<Item> cuts(unsigned work) const;
  bool isForTeam(unsigned work) const;
  std::vector<Item> cutsLikeNeighbours(unsigned work) const;
  void findBoxes(const Item &item, Boxes &boxes) const;
  bool fits(Item &item, Boxes &boxes);
  void enter(const Item &item, const Boxes &boxes);
  Phase buildPhase(const std::vector<unsigned> &ready, const Item *first,
                   std::vector<unsigned> &deferred);
  void undo(const Phase &phase);
  std::optional<unsigned> takeExchange(std::vector<unsigned> &ready) const;
  size_t boxSize(unsigned work, unsigned access) const {
    return graph.works[work].accesses[access].dims.size() + 1;
  }

  const StepGraph &graph;
  const int64_t chunks, workers;
  std::vector<unsigned> waiting; ///< per work: predecessors not yet placed
  EarlyWork early;
  std::vector<MemoryUse> uses;   ///< per memory
  std::vector<unsigned> touched; ///< memories with uses
  std::vector<double> load;      ///< per chunk
};

Item alongGrid(unsigned work, const Grid &grid) {
  return {.work = work,
          .cut = Item::Cut::Loop,
          .loop = grid.first,
          .second = int(grid.second),
          .parts = grid.parts};
}

/// The loop that alone counts along dim `dim` of an access; -1 where none does.
int loopOf(const Access &access, size_t dim) {
  const DimAccess &dimAccess = access.dims[dim];
  return dimAccess.offset == 0 && dimAccess.terms.size() == 1 &&
                 dimAccess.terms[0].second == 1
             ? int(dimAccess.terms[0].first)
             : -1;
}

/// Returns whether work is one call, for all workers: it has fewer independent
/// parts than there are workers.
bool Scheduler::isForTeam(unsigned index) const {
  const Work &work = graph.works[index];
  if (!work.usesTeam || work.cost < WORTH_A_TEAM || workers == 1)
    return false;
  int64_t parts = 1;
  for (unsigned loop : work.candidates)
    parts *= work.extents[loop];
  return parts < workers;
}

/// Ways to cut work, best first.
std::vector<Item> Scheduler::cuts(unsigned index) const {
  const Work &work = graph.works[index];
  if (isForTeam(index))
    return {{index}};
  std::vector<Item> items;
  if (work.addendLoop >= 0)
    return {{index, Item::Cut::Instances}};
  std::ranges::transform(
      work.grids, std::back_inserter(items),
      [&](const Grid &grid) { return alongGrid(index, grid); });
  const double wanted = std::min(double(workers), work.cost / WORTH_A_CHUNK);
  auto isWide = [&](unsigned l) { return double(work.extents[l]) >= wanted; };
  std::vector<unsigned> loops = work.candidates;
  std::ranges::stable_partition(loops, isWide);
  for (unsigned loop : loops)
    items.push_back({index, Item::Cut::Loop, loop});
  if (work.instances.size() > 1)
    items.push_back({index, Item::Cut::Instances});
  items.push_back({index, Item::Cut::Whole});
  return items;
}

/// Cuts along two loops that give each chunk what it has of a memory already.
std::vector<Item> Scheduler::cutsLikeNeighbours(unsigned index) const {
  const Work &work = graph.works[index];
  std::vector<Item> items;
  if (work.addendLoop >= 0 || work.kind == Work::Kind::Dot)
    return items;
  auto canCut = [&](int loop) {
    return loop >= 0 && std::ranges::find(work.candidates, unsigned(loop)) !=
                            work.candidates.end();
  };
  for (const Access &access : work.accesses) {
    const MemoryUse &use = uses[graph.buffers[access.buffer].memory];
    if ((!use.read && !use.written) || use.dims.parts == 0 ||
        std::max(use.dims.first, use.dims.second) >= access.dims.size())
      continue;
    const int first = loopOf(access, use.dims.first);
    const int second = loopOf(access, use.dims.second);
    if (!canCut(first) || !canCut(second) || first == second)
      continue;
    const Item item =
        alongGrid(index, {unsigned(first), unsigned(second), use.dims.parts});
    if (std::ranges::none_of(items, [&](const Item &other) {
          return other.loop == item.loop && other.second == item.second &&
                 other.parts == item.parts;
        }))
      items.push_back(item);
  }
  return items;
}

void Scheduler::findBoxes(const Item &item, Boxes &boxes) const {
  const Work &work = graph.works[item.work];
  boxes.resize(work.accesses.size());
  for (unsigned a = 0; a < work.accesses.size(); ++a) {
    const size_t size = boxSize(item.work, a);
    boxes[a].assign(size * size_t(chunks), Interval{});
    for (int64_t c = 0; c < chunks; ++c)
      touchedBox(graph, item, chunks, c, a,
                 std::span(boxes[a]).subspan(size_t(c) * size, size));
  }
}

/// Returns whether chunks do not meet: what chunk c has in `mine` and what any
/// other has in `theirs` are apart.
bool apart(std::span<const Interval> mine, std::span<const Interval> theirs,
           size_t size) {
  // Mostly chunks follow each other along one dim.
  for (size_t d = 0; d < size; ++d) {
    int64_t end = std::numeric_limits<int64_t>::min();
    bool inOrder = true;
    for (size_t base = 0; base < mine.size() && inOrder; base += size) {
      int64_t nextEnd = end;
      for (auto boxes : {mine, theirs})
        if (!boxes[base].empty()) {
          inOrder &= boxes[base + d].begin >= end;
          nextEnd = std::max(nextEnd, boxes[base + d].end);
        }
      end = nextEnd;
    }
    if (inOrder)
      return true;
  }
  for (size_t c = 0; c < mine.size(); c += size)
    for (size_t other = 0; other < theirs.size(); other += size)
      if (c != other && !mine[c].empty() && !theirs[other].empty() &&
          intersect(mine.subspan(c, size), theirs.subspan(other, size)))
        return false;
  return true;
}

/// Returns whether the phase stays one with `item` in it. Chooses the chunk
/// that whole work goes to.
bool Scheduler::fits(Item &item, Boxes &boxes) {
  const Work &work = graph.works[item.work];
  if (item.cut == Item::Cut::Whole) {
    // The chunk that it depends on, if it is only one; else the least loaded.
    item.chunk = 0;
    findBoxes(item, boxes);
    int64_t only = -1;
    for (unsigned a = 0; a < work.accesses.size(); ++a)
      for (int64_t c = 0; c < chunks; ++c) {
        const MemoryUse &use =
            uses[graph.buffers[work.accesses[a].buffer].memory];
        const size_t size = boxSize(item.work, a);
        auto boxesOfChunk = [&](const std::vector<Interval> &boxList,
                                int64_t chunk) {
          return std::span(boxList).subspan(size_t(chunk) * size, size);
        };
        const auto mine = boxesOfChunk(boxes[a], 0);
        if (mine[0].empty() || only == c)
          continue;
        if ((use.written && intersect(mine, boxesOfChunk(use.writes, c))) ||
            (work.accesses[a].writes && use.read &&
             intersect(mine, boxesOfChunk(use.reads, c)))) {
          if (only >= 0)
            return false;
          only = c;
        }
      }
    item.chunk = unsigned(
        only >= 0 ? only
                  : std::min_element(load.begin(), load.end()) - load.begin());
    findBoxes(item, boxes);
    return true;
  }
  findBoxes(item, boxes);
  for (unsigned a = 0; a < work.accesses.size(); ++a) {
    const unsigned memory = graph.buffers[work.accesses[a].buffer].memory;
    const bool writes = work.accesses[a].writes;
    const MemoryUse &use = uses[memory];
    const size_t size = boxSize(item.work, a);
    if ((use.written && !apart(boxes[a], use.writes, size)) ||
        (writes && use.read && !apart(boxes[a], use.reads, size)))
      return false;
    // The work may conflict with its own accesses elsewhere in the same memory.
    for (unsigned b = a; b < work.accesses.size(); ++b)
      if (graph.buffers[work.accesses[b].buffer].memory == memory &&
          (writes || work.accesses[b].writes) &&
          !apart(boxes[a], boxes[b], size))
        return false;
  }
  return true;
}

void Scheduler::enter(const Item &item, const Boxes &boxes) {
  const Work &work = graph.works[item.work];
  for (unsigned a = 0; a < work.accesses.size(); ++a) {
    const Access &access = work.accesses[a];
    const unsigned memory = graph.buffers[access.buffer].memory;
    MemoryUse &use = uses[memory];
    const size_t size = boxSize(item.work, a);
    if (!use.read && !use.written)
      touched.push_back(memory);
    if (item.second >= 0 && use.dims.parts == 0) {
      Grid dims{0, 0, item.parts};
      int found = 0;
      for (unsigned d = 0; d < access.dims.size(); ++d)
        for (auto [loop, dim] : {std::pair(int(item.loop), &dims.first),
                                 {item.second, &dims.second}})
          if (loopOf(access, d) == loop) {
            *dim = d;
            ++found;
          }
      if (found == 2)
        use.dims = dims;
    }
    auto add = [&](std::vector<Interval> &into, bool &flag) {
      if (!flag)
        into.assign(boxes[a].size(), Interval{});
      flag = true;
      for (size_t base = 0; base < boxes[a].size(); base += size) {
        if (!boxes[a][base].empty())
          for (size_t d = base; d < base + size; ++d)
            into[d] = into[d].hull(boxes[a][d]);
      }
    };
    if (access.reads)
      add(use.reads, use.read);
    if (access.writes)
      add(use.writes, use.written);
  }
  if (item.cut == Item::Cut::Whole)
    load[item.chunk] += work.cost;
  else
    for (double &chunkLoad : load)
      chunkLoad += work.cost / double(chunks);
}

/// Takes all ready work that fits, depth first. `first`, if given, goes in
/// front, cut as it says.
Phase Scheduler::buildPhase(const std::vector<unsigned> &ready,
                            const Item *first,
                            std::vector<unsigned> &deferred) {
  for (unsigned memory : touched) {
    uses[memory].read = uses[memory].written = false;
    uses[memory].dims.parts = 0;
  }
  touched.clear();
  std::fill(load.begin(), load.end(), 0);
  deferred.clear();

  Phase phase;
  phase.chunks = chunks;
  Boxes boxes;
  std::vector<unsigned> stack(ready.rbegin(), ready.rend());
  if (first) {
    stack.erase(std::find(stack.begin(), stack.end(), first->work));
    stack.push_back(first->work);
  }
  while (!stack.empty()) {
    const unsigned work = stack.back();
    stack.pop_back();
    if (graph.works[work].isExchange() ||
        (!phase.items.empty() &&
         (phase.isForTeam || isForTeam(work) || early.isTooEarly(work)))) {
      deferred.push_back(work);
      continue;
    }
    std::vector<Item> options = cuts(work);
    if (first && phase.items.empty())
      options = {*first};
    // A phase of its own, where it may be cut in any way, costs less than short
    // rows.
    else if (const Work &next = graph.works[work];
             !phase.items.empty() && next.numBest > 0 && next.cost > DEAR)
      options.resize(std::min<size_t>(options.size(), next.numBest));
    if (!phase.items.empty()) {
      const std::vector<Item> alike = cutsLikeNeighbours(work);
      options.insert(options.begin(), alike.begin(), alike.end());
    }
    auto chosen = std::find_if(options.begin(), options.end(),
                               [&](Item &item) { return fits(item, boxes); });
    if (chosen == options.end()) {
      deferred.push_back(work);
      continue;
    }
    enter(*chosen, boxes);
    early.take(work);
    phase.items.push_back(*chosen);
    phase.isForTeam = isForTeam(work);
    phase.cost += graph.works[work].cost;
    // Program order among what became ready; it goes next.
    std::vector<unsigned> next;
    for (unsigned successor : graph.plan.successors[work])
      if (--waiting[successor] == 0)
        next.push_back(successor);
    std::sort(next.rbegin(), next.rend());
    stack.insert(stack.end(), next.begin(), next.end());
  }
  std::sort(deferred.begin(), deferred.end());
  return phase;
}

void Scheduler::undo(const Phase &phase) {
  for (const Item &item : phase.items) {
    early.giveBack(item.work);
    for (unsigned successor : graph.plan.successors[item.work])
      ++waiting[successor];
  }
}

/// Takes an exchange out of `ready` that is to begin, or to end since there is
/// nothing else to do.
std::optional<unsigned>
Scheduler::takeExchange(std::vector<unsigned> &ready) const {
  auto is = [&](Work::Kind kind) {
    return [&graph = graph, kind](unsigned work) {
      return graph.works[work].kind == kind;
    };
  };
  auto found = std::ranges::find_if(ready, is(Work::Kind::Exchange));
  if (found == ready.end() &&
      std::ranges::all_of(ready, is(Work::Kind::Arrival)))
    found = ready.begin();
  if (found == ready.end())
    return std::nullopt;
  const unsigned work = *found;
  ready.erase(found);
  return work;
}

std::vector<Phase> Scheduler::run() {
  std::vector<Phase> phases;
  std::vector<unsigned> ready, deferred;
  for (unsigned w = 0; w < waiting.size(); ++w)
    if (waiting[w] == 0)
      ready.push_back(w);
  while (!ready.empty()) {
    if (std::optional<unsigned> exchange = takeExchange(ready)) {
      phases.push_back({.items = {{*exchange}}, .chunks = chunks});
      for (unsigned successor : graph.plan.successors[*exchange])
        if (--waiting[successor] == 0)
          ready.push_back(successor);
      std::ranges::sort(ready);
      continue;
    }
    // How the heaviest work is cut decides what can follow it: try each way.
    const unsigned heaviest =
        *std::ranges::max_element(ready, {}, [&](unsigned work) {
          return early.isTooEarly(work) ? 0 : graph.works[work].cost;
        });
    std::vector<Item> options = cuts(heaviest);
    while (!options.empty() && options.back().cut != Item::Cut::Loop)
      options.pop_back();
    options.resize(std::min<size_t>(options.size(), 3));
    if (const unsigned good = graph.works[heaviest].numGood; good > 0)
      options.resize(std::min<size_t>(options.size(), good));
    std::optional<size_t> best;
    double bestCost = 0;
    if (options.size() > 1)
      for (size_t i = 0; i < options.size(); ++i) {
        Phase trial = buildPhase(ready, &options[i], deferred);
        undo(trial);
        if (trial.cost > bestCost) {
          best = i;
          bestCost = trial.cost;
        }
      }
    phases.push_back(
        buildPhase(ready, best ? &options[*best] : nullptr, deferred));
    ready = deferred;
  }
  return phases;
}

bool Scheduler::areChunks(std::span<Item> items) {
  Boxes boxes;
  return std::ranges::all_of(items, [&](Item &item) {
    if (!fits(item, boxes))
      return false;
    enter(item, boxes);
    return true;
  });
}

Phase Scheduler::phaseOf(unsigned work) {
  Phase phase{.items = {{work}},
              .cost = graph.works[work].cost,
              .isForTeam = isForTeam(work),
              .chunks = chunks};
  if (graph.works[work].isExchange())
    return phase;
  Boxes boxes;
  for (Item item : cuts(work))
    if (fits(item, boxes)) {
      phase.items = {item};
      break;
    }
  return phase;
}
} // namespace

Schedule cpu::schedule(const StepGraph &graph, int64_t chunks,
                       int64_t workers) {
  return {Scheduler(graph, chunks, workers).run()};
}

Schedule cpu::scheduleInOrder(const StepGraph &graph, int64_t chunks,
                              int64_t workers,
                              std::span<const unsigned> order) {
  Schedule result;
  for (unsigned work : order)
    result.phases.push_back(Scheduler(graph, chunks, workers).phaseOf(work));
  return result;
}

bool cpu::cutInto(const StepGraph &graph, Phase &phase, int64_t chunks,
                  int64_t workers) {
  std::vector<Item> items = phase.items;
  if (std::ranges::any_of(items, [&](const Item &item) {
        return item.second >= 0 && chunks % item.parts != 0;
      }))
    return false;
  if (!Scheduler(graph, chunks, workers).areChunks(items))
    return false;
  phase.items = std::move(items);
  phase.chunks = chunks;
  return true;
}

namespace {
/// The same of one access of an item that is cut along a loop.
double contendedLines(const StepGraph &graph, const Item &item,
                      const Access &access, int64_t workers) {
  constexpr int64_t line = 64, page = 4096, linesAtBorder = 4;
  const Work &work = graph.works[item.work];
  const GraphBuffer &buffer = graph.buffers[writtenBuffer(access)];
  int64_t rowBytes = byteWidth(buffer.type) * work.extents[item.loop];
  size_t d = access.dims.size();
  while (d > 0 && !access.dims[d - 1].dependsOn(item.loop))
    rowBytes *= buffer.shape[--d];
  int64_t rows = 1;
  for (size_t outer = 0; outer + 1 < d; ++outer)
    for (auto [loop, coefficient] : access.dims[outer].terms)
      rows *= work.extents[loop];
  if (rows == 1 || rowBytes >= page * workers)
    return 0;
  return double(rows * std::min((rowBytes + line - 1) / line,
                                linesAtBorder * (workers - 1)));
}
} // namespace

double cpu::contendedLines(const StepGraph &graph, const Phase &phase,
                           int64_t workers) {
  double lines = 0;
  for (const Item &item : phase.items)
    if (item.cut == Item::Cut::Loop && item.second < 0)
      for (const Access &access : graph.works[item.work].accesses)
        if (access.writes)
          lines += ::contendedLines(graph, item, access, workers);
  return lines;
}

bool cpu::countsMatrices(const StepGraph &graph, const Program &program,
                         const Phase &phase) {
  bool multiplies = false;
  for (const Item &item : phase.items) {
    if (item.cut != Item::Cut::Loop)
      return false;
    const Work &work = graph.works[item.work];
    if (work.kind != Work::Kind::Dot)
      continue;
    multiplies = true;
    const auto &dot = std::get<DotStep>(program.steps[work.step]);
    auto counts = [&](unsigned loop) {
      return dot.lhs.dependsOn(loop) && dot.rhs.dependsOn(loop) &&
             dot.out.dependsOn(loop);
    };
    if (!counts(item.loop) ||
        (item.second >= 0 && !counts(unsigned(item.second))))
      return false;
  }
  return multiplies;
}
