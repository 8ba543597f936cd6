// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bytes that values take at a time. A tree keeps what is live at each
// place, so that a change costs the values that it touches; where most of them
// change the tree is made anew, which costs each of them a few additions.
#include "Groups.h"
#include "LayoutFold.h"

#include "meshloom/Layout/Search/LayoutState.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <utility>

namespace meshloom {

int64_t LayoutState::storedBytes(unsigned value, LayoutId id) {
  const Bytes &size = prices->bytes(kinds[value], id);
  if (!machine.sharedMemory)
    return size.local;
  int64_t devices = graph.mesh().size();
  return (size.distinct + devices - 1) / devices;
}

/// Numbers in a row: one is added to all in a range, and the largest is known.
/// A binary tree whose nodes have what was added to the whole of their range,
/// and the largest sum below; both cost the depth.
class PeakTree {
public:
  explicit PeakTree(size_t size) : leaves(std::bit_ceil(size)) {
    added.resize(2 * leaves);
    most.resize(2 * leaves);
  }
  void add(size_t first, size_t last, int64_t bytes) {
    add(1, 0, leaves - 1, first, last, bytes);
  }
  /// All numbers anew: how much each is more than the one before it.
  void assign(std::span<const int64_t> steps) {
    std::fill(added.begin(), added.end(), 0);
    int64_t now = 0;
    for (size_t i = 0; i < steps.size(); ++i)
      added[leaves + i] = most[leaves + i] = now += steps[i];
    for (size_t node = leaves; --node > 0;)
      most[node] = std::max(most[2 * node], most[2 * node + 1]);
  }
  int64_t largest() const { return most[1]; }

private:
  void add(size_t node, size_t low, size_t high, size_t first, size_t last,
           int64_t bytes) {
    if (first <= low && high <= last) {
      added[node] += bytes;
      most[node] += bytes;
      return;
    }
    size_t middle = (low + high) / 2;
    if (first <= middle)
      add(2 * node, low, middle, first, last, bytes);
    if (last > middle)
      add(2 * node + 1, middle + 1, high, first, last, bytes);
    most[node] = std::max(most[2 * node], most[2 * node + 1]) + added[node];
  }
  size_t leaves;
  std::vector<int64_t> added, most;
};

/// The place and time of stored values, as of the last count.
struct LayoutState::Memory {
  struct Span {
    int first, last;
    int64_t bytes;
    bool operator==(const Span &) const = default;
  };
  /// A layout that a value is there in.
  struct Copy {
    LayoutId id;
    int first, last;
    bool view;
  };
  /// The graph that is counted: the state's own, or the one that it is a fold
  /// of.
  const LayoutGraph &graph;
  const LayoutUses &uses;
  const LayoutFold *fold;
  std::vector<LayoutId> outputTargets; ///< of `graph`
  Groups members; ///< values of `graph`, by that of the fold
  std::vector<InlineList<Span, 1>> spans; ///< per value of `graph`
  int64_t peak = 0;
  /// At op i - 1: arguments are there from -1 on. None where all was counted
  /// since it was last asked for.
  std::optional<PeakTree> live;
  std::vector<unsigned> stale; ///< values of the state
  std::vector<char> isStale;

  // Scratch.
  std::vector<Span> now;
  std::vector<Copy> copies;

  Memory(const LayoutGraph &graph, const LayoutUses &uses,
         const LayoutFold *fold, size_t values)
      : graph(graph), uses(uses), fold(fold), spans(graph.values.size()),
        stale(values), isStale(values, 1) {
    std::iota(stale.begin(), stale.end(), 0u);
    if (!fold)
      return;
    std::vector<unsigned> every(graph.values.size());
    std::iota(every.begin(), every.end(), 0u);
    members = Groups(every, fold->valueOf, values);
  }
  /// The values of `graph` that `value` stands for.
  std::span<const unsigned> membersOf(const unsigned &value) const {
    return fold ? members[value] : std::span(&value, 1);
  }
  /// How much more is live at each place than at the one before.
  std::vector<int64_t> steps() const {
    std::vector<int64_t> steps(size_t(uses.lastPlace()) + 3);
    for (const InlineList<Span, 1> &spansOfValue : spans)
      for (const Span &span : spansOfValue) {
        steps[size_t(span.first + 1)] += span.bytes;
        steps[size_t(span.last + 2)] -= span.bytes;
      }
    steps.pop_back();
    return steps;
  }
  void makeTree() {
    if (!live)
      live.emplace(uses.lastPlace() + 2).assign(steps());
  }
  /// Counts all spans anew.
  void countAll() {
    live.reset();
    peak = 0;
    int64_t now = 0;
    for (int64_t step : steps())
      peak = std::max(peak, now += step);
  }
};

void LayoutState::countMemoryOf(const LayoutGraph &whole,
                                const LayoutUses &usesOfWhole,
                                const LayoutFold &fold) {
  memory =
      std::make_shared<Memory>(whole, usesOfWhole, &fold, graph.values.size());
  for (const LayoutGraph::Output &output : whole.outputs)
    memory->outputTargets.push_back(intern(output.layout));
}

void LayoutState::changed(unsigned value) {
  if (memory && !std::exchange(memory->isStale[value], 1))
    memory->stale.push_back(value);
}

/// Counts what one value of the graph whose memory it is takes anew, which
/// `planned` stands for: where that is stored, as `source`.
void LayoutState::recount(unsigned value, unsigned planned,
                          std::optional<LayoutId> source) {
  const LayoutGraph &whole = memory->graph;
  const LayoutFold *fold = memory->fold;
  const int end = memory->uses.lastPlace();
  const LayoutGraph::Value &graphValue = whole.values[value];
  std::vector<Memory::Span> &now = memory->now;
  now.clear();
  if (source) {
    // The value that a loop gives takes the place of what it carries.
    bool result = graphValue.producer >= 0 &&
                  whole.ops[graphValue.producer].loop >= 0 &&
                  whole.ops[graphValue.producer].results[1] == value;
    const int home = memory->uses.home(value) + result;
    std::vector<Memory::Copy> &copies = memory->copies;
    copies.assign({{*source, home, graphValue.argument ? end : home, false}});
    for (const Use &use : memory->uses[value]) {
      bool output = use.op < 0, scalar = !output && whole.ops[use.op].free;
      LayoutId need =
          output   ? whole.outputs[use.index].open ? openTarget(*source)
                     : fold ? memory->outputTargets[use.index]
                            : outputTargets[use.index]
            : scalar ? *source
                   : current[fold ? fold->opOf[use.op] : unsigned(use.op)]
                         ->needs[use.index];
      // The result is a value by itself, which is counted as that.
      if (output && whole.outputs[use.index].result >= 0) {
        copies[0].last = std::max(copies[0].last, use.last - (need == *source));
        continue;
      }
      auto same = std::ranges::find(copies, need, &Memory::Copy::id);
      if (same == copies.end()) {
        const Way *relayout = prices->way(kinds[planned], *source, need);
        copies.push_back(
            {need, use.first, use.last,
             machine.sharedMemory && relayout && !relayout->reduces});
        same = std::prev(copies.end());
      }
      same->first = std::min(same->first, use.first);
      same->last = std::max(same->last, use.last);
      // The value itself is there until what is made of it is; a view keeps it.
      copies[0].last =
          std::max(copies[0].last, same->view ? use.last : same->first);
    }
    copies[0].first = home;
    for (const Memory::Copy &copy : copies)
      if (!copy.view)
        now.push_back({copy.first, copy.last, storedBytes(planned, copy.id)});
  }
  InlineList<Memory::Span, 1> &had = memory->spans[value];
  if (std::ranges::equal(now, had))
    return;
  if (memory->live) {
    for (const Memory::Span &span : had)
      memory->live->add(size_t(span.first + 1), size_t(span.last + 1),
                        -span.bytes);
    for (const Memory::Span &span : now)
      memory->live->add(size_t(span.first + 1), size_t(span.last + 1),
                        span.bytes);
  }
  had.assign(now);
}

int64_t LayoutState::peakBytes() {
  if (!memory)
    memory =
        std::make_shared<Memory>(graph, uses, nullptr, graph.values.size());
  size_t recounted = 0;
  for (const unsigned &value : memory->stale)
    recounted += memory->membersOf(value).size();
  // A change of the tree costs about as much as sixteen additions.
  const bool inTree = 16 * recounted < memory->spans.size();
  if (inTree && recounted > 0)
    memory->makeTree();
  else if (!inTree)
    memory->live.reset();
  for (const unsigned &value : memory->stale) {
    memory->isStale[value] = 0;
    const int producer = graph.values[value].producer;
    if (producer >= 0 && graph.ops[producer].free)
      continue;
    std::optional<LayoutId> source;
    if (producer < 0 || !isInside(value))
      source = sourceOf(value);
    for (unsigned member : memory->membersOf(value))
      recount(member, value, source);
  }
  memory->stale.clear();
  if (!inTree)
    memory->countAll();
  else if (memory->live)
    memory->peak = memory->live->largest();
  return memory->peak;
}

} // namespace meshloom
