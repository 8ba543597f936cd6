// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cheapest layouts of a small program, by branch and bound.
#pragma once

#include "SmallPrograms.h"

#include <map>

namespace meshloom::test {

/// Finds the result of `optimum` in a fraction of the time.
///
/// Ops get their results' layouts in program order, those to come being
/// replicated meanwhile, which any op can be. The cost of a value is settled
/// once its producer and its users are, that of a cluster once its ops are and
/// the users of what they make; nothing that comes later lowers it. So a branch
/// is given up when what is settled, and the least work that other ops can have
/// (that of a cluster of several ops counts as nothing), is no less than the
/// best known. `bound` is the cost of a known plan that keeps to the memory.
/// Arguments that nobody laid out come as their users take them most cheaply.
class BranchAndBound {
public:
  BranchAndBound(const LayoutGraph &graph, const MachineModel &machine,
                 Cost bound)
      : graph(graph), clusters(findClusters(graph)),
        state(graph, clusters, machine), limit(allowedPeak(state.peakBytes())),
        best{std::min(bound, state.total().cost), ""},
        values(graph.ops.size() + 1), finished(graph.ops.size() + 1) {
    state.setOpenArguments(OpenArguments::Move);
    order();
    LayoutState::Change plain;
    for (const LayoutGraph::Op &op : graph.ops)
      for (unsigned value : op.results)
        plain.push_back(
            {value,
             state.intern(Layout::replicated(
                 graph.mesh(), unsigned(graph.values[value].shape().size())))});
    EXPECT_TRUE(state.apply(plain));
    leastWork();
  }

  Optimum find() {
    extend(0, settledAt(0));
    return best;
  }

private:
  /// Fills in what is settled once the first i ops are.
  void order() {
    std::vector<unsigned> done(graph.values.size(), 0);
    std::vector<unsigned> whole(clusters.clusters.size(), 0);
    for (unsigned op = 0; op < graph.ops.size(); ++op)
      for (const auto *list : {&graph.ops[op].operands, &graph.ops[op].results})
        for (unsigned value : *list)
          done[value] = std::max(done[value], op + 1);
    for (unsigned op = 0; op < graph.ops.size(); ++op) {
      unsigned &last = whole[clusters.ofOp[op]];
      last = std::max(last, op + 1);
      for (unsigned value : graph.ops[op].results)
        last = std::max(last, done[value]);
    }
    for (unsigned value = 0; value < done.size(); ++value)
      values[done[value]].push_back(value);
    for (unsigned cluster = 0; cluster < whole.size(); ++cluster)
      finished[whole[cluster]].push_back(cluster);
    pending.assign(graph.ops.size() + 1, 0);
  }
  /// The least that unsettled clusters can cost, by how many ops are settled.
  void leastWork() {
    for (unsigned cluster = 0; cluster < clusters.clusters.size(); ++cluster) {
      if (clusters.clusters[cluster].ops.size() != 1)
        continue;
      unsigned op = clusters.clusters[cluster].ops[0];
      Cost least = state.workCost(cluster);
      for (LayoutId id : choicesOf(op))
        if (state.apply({{graph.ops[op].results[0], id}})) {
          least = std::min(least, state.workCost(cluster));
          state.undo();
        }
      for (unsigned i = 0; i < pending.size(); ++i) {
        if (std::ranges::count(finished[i], cluster))
          break;
        pending[i] += least;
      }
    }
  }
  const std::set<LayoutId> &choicesOf(unsigned op) {
    std::vector<LayoutId> key{op};
    std::vector<LayoutId> layouts(graph.values.size());
    for (unsigned value : graph.ops[op].operands) {
      layouts[value] = state.layout(value);
      key.push_back(layouts[value]);
    }
    auto [entry, isNew] = seen.try_emplace(key);
    if (isNew)
      entry->second = choices(graph, state, op, layouts);
    return entry->second;
  }
  Cost settledAt(unsigned ops) const {
    Cost cost = 0;
    for (unsigned value : values[ops])
      cost += state.relayoutCost(value);
    for (unsigned cluster : finished[ops])
      cost += state.workCost(cluster);
    return cost;
  }
  void extend(unsigned op, Cost settled) {
    if (settled + pending[op] >= best.cost)
      return;
    if (op == graph.ops.size()) {
      if (state.peakBytes() > limit)
        return;
      best = {settled, ""};
      for (const LayoutGraph::Op &op : graph.ops)
        best.layouts +=
            state.get(state.layout(op.results[0])).spec_string() + " ";
      return;
    }
    unsigned value = graph.ops[op].results[0];
    for (LayoutId id : choicesOf(op))
      if (state.apply({{value, id}})) {
        extend(op + 1, settled + settledAt(op + 1));
        state.undo();
      }
  }

  const LayoutGraph &graph;
  LayoutClusters clusters;
  LayoutState state;
  int64_t limit;
  Optimum best;
  std::vector<std::vector<unsigned>> values, finished; ///< by ops settled
  std::vector<Cost> pending;
  std::map<std::vector<LayoutId>, std::set<LayoutId>> seen;
};

} // namespace meshloom::test
