// When values are used, and how many bytes they take at a time.
//
// Ops are numbered as they run. What a loop uses from outside is there until
// the loop ends, and so is what is made of it in front of the loop; what a loop
// carries is there from its first op to its last use, the next value from where
// it is made to the loop's end.
#include "meshloom/Layout/Search/LayoutState.h"

#include <algorithm>

namespace meshloom {

void LayoutState::findUses() {
  const int end = int(graph.ops.size());
  for (const LayoutGraph::Value &value : graph.values)
    homes.push_back(value.producer);
  for (const LayoutGraph::Op &op : graph.ops)
    if (op.loop >= 0) {
      homes[op.results[0]] = int(graph.loops[op.loop].first);
      homes[op.results[1]] = int(graph.loops[op.loop].last);
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
  }
  for (unsigned i = 0; i < graph.outputs.size(); ++i) {
    const LayoutGraph::Output &output = graph.outputs[i];
    uses[output.value].push_back(
        {-1, i, runs(output.value, output.branch, output.branchRuns), end,
         end});
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

int64_t LayoutState::peakBytes() {
  const int end = int(graph.ops.size());
  // Difference of what is live at op i and at op i - 1; arguments from -1.
  std::vector<int64_t> difference(end + 3);
  auto live = [&](int from, int to, int64_t bytes) {
    difference[from + 1] += bytes;
    difference[to + 2] -= bytes;
  };
  for (unsigned value = 0; value < graph.values.size(); ++value) {
    const LayoutGraph::Value &what = graph.values[value];
    bool free = what.producer >= 0 && graph.ops[what.producer].free;
    if (free)
      continue;
    struct Span {
      LayoutId id;
      int first, last;
      bool view;
    };
    // What a loop gives takes the place of what it carries.
    bool result = what.producer >= 0 && graph.ops[what.producer].loop >= 0 &&
                  graph.ops[what.producer].results[1] == value;
    const int home = homes[value] + result;
    std::vector<Span> spans{{layouts[value], home, home, false}};
    if (what.argument)
      spans[0].last = end;
    if (what.producer >= 0 && isInside(value))
      continue;
    for (const Use &use : uses[value]) {
      bool output = use.op < 0, scalar = !output && graph.ops[use.op].free;
      LayoutId need = output   ? outputTargets[use.index]
                      : scalar ? layouts[value]
                               : current[use.op]->needs[use.index];
      auto same = std::ranges::find(spans, need, &Span::id);
      if (same == spans.end()) {
        const Way *how = prices->way(kinds[value], layouts[value], need);
        spans.push_back({need, use.first, use.last,
                         machine.sharedMemory && how && !how->reduces});
        same = std::prev(spans.end());
      }
      same->first = std::min(same->first, use.first);
      same->last = std::max(same->last, use.last);
      // The value itself is there until what is made of it is; a view keeps it.
      spans[0].last =
          std::max(spans[0].last, same->view ? use.last : same->first);
    }
    spans[0].first = home;
    for (const Span &span : spans)
      if (!span.view)
        live(span.first, span.last, storedBytes(value, span.id));
  }
  int64_t peak = 0, now = 0;
  for (int64_t change : difference)
    peak = std::max(peak, now += change);
  return peak;
}

} // namespace meshloom
