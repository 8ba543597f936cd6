// When values are used, and how many bytes they take at a time.
//
// Ops are numbered as they run. What a loop uses from outside is there until
// the loop ends, and so is what is made of it in front of the loop; what a loop
// carries is there from its first op to its last use, the next value from where
// it is made to the loop's end. What is live at each op is kept in a tree, so
// that a change costs the values that it touches.
#include "LayoutFold.h"

#include "meshloom/Layout/Search/LayoutState.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace meshloom {

void LayoutState::findUses() {
  // What comes after all ops is made one after the other. Results stay.
  const int end = int(graph.ops.size()), last = lastPlace();
  for (const LayoutGraph::Value &value : graph.values)
    homes.push_back(value.producer);
  for (const LayoutGraph::Op &op : graph.ops)
    if (op.loop >= 0) {
      homes[op.results[0]] = int(graph.loops[op.loop].first);
      homes[op.results[1]] = int(graph.loops[op.loop].last);
    }
  std::vector<int> places; ///< of outputs
  for (const LayoutGraph::Output &output : graph.outputs) {
    const bool isInner = output.result >= 0 && output.place < end;
    places.push_back(isInner ? output.place : end + int(places.size()));
    if (output.result >= 0)
      homes[unsigned(output.result)] = places.back();
  }
  auto runs = [&](unsigned value, unsigned branch, int64_t branchRuns) {
    const LayoutGraph::Value &what = graph.values[value];
    return what.branch == branch ? what.runs : branchRuns;
  };
  for (unsigned op = 0; op < graph.ops.size(); ++op) {
    const LayoutGraph::Op &what = graph.ops[op];
    for (unsigned i = 0; i < what.operands.size(); ++i) {
      unsigned value = what.operands[i];
      bool next = what.loop >= 0 && i == 1;
      int at = next ? int(graph.loops[what.loop].last) : int(op);
      Use use{int(op), i, runs(value, what.branch, what.branchRuns), at, at};
      for (LayoutGraph::Loop loop : graph.loops)
        if (int(loop.first) <= at && at <= int(loop.last) &&
            !(int(loop.first) <= homes[value] &&
              homes[value] <= int(loop.last))) {
          use.first = std::min(use.first, int(loop.first));
          use.last = std::max(use.last, int(loop.last));
        }
      uses[value].push_back(use);
    }
    if (!what.free)
      for (LayoutGraph::Op::Other other : what.others)
        uses[other.value].push_back(
            {int(op), other.operand,
             runs(other.value, what.branch, what.branchRuns), int(op),
             int(op)});
  }
  for (unsigned i = 0; i < graph.outputs.size(); ++i) {
    const LayoutGraph::Output &output = graph.outputs[i];
    uses[output.value].push_back(
        {-1, i, runs(output.value, output.branch, output.branchRuns), places[i],
         output.result < 0 ? last : places[i]});
  }
  for (unsigned value = 0; value < graph.values.size(); ++value) {
    const std::vector<Use> &all = uses[value];
    bool same = std::ranges::all_of(
        all, [&](const Use &use) { return use.runs == all[0].runs; });
    useRuns.push_back(all.empty() ? graph.values[value].runs
                      : same      ? all[0].runs
                                  : 0);
  }
}

int64_t LayoutState::storedBytes(unsigned value, LayoutId id) {
  const Bytes &each = prices->bytes(kinds[value], id);
  if (!machine.sharedMemory)
    return each.local;
  int64_t devices = graph.mesh().size();
  return (each.distinct + devices - 1) / devices;
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

/// What is stored where, as of the last count.
struct LayoutState::Memory {
  struct Span {
    int first, last;
    int64_t bytes;
    bool operator==(const Span &) const = default;
  };
  /// The graph that is counted: the state's own, or the one that it is a fold
  /// of.
  const LayoutState *whole;
  const LayoutFold *fold = nullptr;
  std::vector<std::vector<unsigned>> copies; ///< per value of a fold
  PeakTree live; ///< at op i - 1: arguments are there from -1 on
  std::vector<std::vector<Span>> spans; ///< per value of `whole`
  std::vector<unsigned> stale;          ///< values of the state
  std::vector<char> isStale;

  Memory(const LayoutState &whole, const LayoutFold *fold, size_t values)
      : whole(&whole), fold(fold), live(whole.lastPlace() + 2),
        spans(whole.graph.values.size()), isStale(values, 1) {
    stale.resize(values);
    std::iota(stale.begin(), stale.end(), 0u);
    if (!fold)
      return;
    copies.resize(values);
    for (unsigned value = 0; value < fold->valueOf.size(); ++value)
      copies[fold->valueOf[value]].push_back(value);
  }
};

void LayoutState::countMemoryOf(const LayoutState &whole,
                                const LayoutFold &fold) {
  memory = std::make_shared<Memory>(whole, &fold, graph.values.size());
}

void LayoutState::changed(unsigned value) {
  if (memory && !std::exchange(memory->isStale[value], 1))
    memory->stale.push_back(value);
}

/// Counts one value of the whole graph anew.
void LayoutState::recount(unsigned value) {
  const LayoutState &whole = *memory->whole;
  const LayoutFold *fold = memory->fold;
  const int end = whole.lastPlace();
  const LayoutGraph::Value &what = whole.graph.values[value];
  const unsigned own = fold ? fold->valueOf[value] : value;
  if (what.producer >= 0 && whole.graph.ops[what.producer].free)
    return;
  std::vector<Memory::Span> &had = memory->spans[value];
  std::vector<Memory::Span> now;
  struct Copy {
    LayoutId id;
    int first, last;
    bool view;
  };
  if (what.producer < 0 || !isInside(own)) {
    // What a loop gives takes the place of what it carries.
    bool result = what.producer >= 0 &&
                  whole.graph.ops[what.producer].loop >= 0 &&
                  whole.graph.ops[what.producer].results[1] == value;
    const int home = whole.homes[value] + result;
    const LayoutId source = sourceOf(own);
    std::vector<Copy> copies{{source, home, home, false}};
    if (what.argument)
      copies[0].last = end;
    for (const Use &use : whole.uses[value]) {
      bool output = use.op < 0,
           scalar = !output && whole.graph.ops[use.op].free;
      LayoutId need =
          output   ? whole.graph.outputs[use.index].open
                         ? openTarget(source)
                         : whole.outputTargets[use.index]
            : scalar ? source
                   : current[fold ? fold->opOf[use.op] : unsigned(use.op)]
                         ->needs[use.index];
      // What it gives is a value of its own, which is counted as that.
      if (output && whole.graph.outputs[use.index].result >= 0) {
        copies[0].last = std::max(copies[0].last, use.last - (need == source));
        continue;
      }
      auto same = std::ranges::find(copies, need, &Copy::id);
      if (same == copies.end()) {
        const Way *how = prices->way(kinds[own], source, need);
        copies.push_back({need, use.first, use.last,
                          machine.sharedMemory && how && !how->reduces});
        same = std::prev(copies.end());
      }
      same->first = std::min(same->first, use.first);
      same->last = std::max(same->last, use.last);
      // The value itself is there until what is made of it is; a view keeps it.
      copies[0].last =
          std::max(copies[0].last, same->view ? use.last : same->first);
    }
    copies[0].first = home;
    for (const Copy &copy : copies)
      if (!copy.view)
        now.push_back({copy.first, copy.last, storedBytes(own, copy.id)});
  }
  if (now == had)
    return;
  for (const Memory::Span &span : had)
    memory->live.add(size_t(span.first + 1), size_t(span.last + 1),
                     -span.bytes);
  for (const Memory::Span &span : now)
    memory->live.add(size_t(span.first + 1), size_t(span.last + 1), span.bytes);
  had = std::move(now);
}

int64_t LayoutState::peakBytes() {
  if (!memory)
    memory = std::make_shared<Memory>(*this, nullptr, graph.values.size());
  for (unsigned value : memory->stale) {
    memory->isStale[value] = 0;
    if (!memory->fold)
      recount(value);
    else
      for (unsigned copy : memory->copies[value])
        recount(copy);
  }
  memory->stale.clear();
  return memory->live.largest();
}

} // namespace meshloom
