// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Branch and bound over the layouts of a small graph.
#include "LayoutOptimum.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace meshloom {

LayoutOptimum::LayoutOptimum(const LayoutGraph &graph,
                             const LayoutClusters &clusters, LayoutState &state,
                             int64_t peakLimit)
    : graph(graph), clusters(clusters), state(state), peakLimit(peakLimit),
      comparesFrontiers(peakLimit < 0 && std::ranges::all_of(
                                             graph.ops,
                                             [](const LayoutGraph::Op &op) {
                                               return op.rule->windows.empty();
                                             })),
      leastCosts(std::numeric_limits<Cost>::max()),
      valueEnds(graph.values.size()), clusterEnds(clusters.clusters.size()),
      settledValues(graph.ops.size() + 1),
      settledClusters(graph.ops.size() + 1), leastWork(graph.ops.size() + 1) {}

bool LayoutOptimum::isSmall(const LayoutGraph &graph) {
  constexpr size_t mostOps = 10;
  constexpr unsigned mostAxes = 3;
  return graph.ops.size() <= mostOps && graph.mesh().rank() <= mostAxes &&
         std::ranges::none_of(graph.ops, [](const LayoutGraph::Op &op) {
           return op.join || op.held;
         });
}

void LayoutOptimum::findOrder() {
  for (unsigned op = 0; op < graph.ops.size(); ++op)
    for (const IndexList *list :
         {&graph.ops[op].operands, &graph.ops[op].results})
      for (unsigned value : *list)
        valueEnds[value] = op + 1;
  for (unsigned op = 0; op < graph.ops.size(); ++op) {
    const int cluster = clusters.ofOp[op];
    if (cluster < 0)
      continue;
    unsigned &clusterEnd = clusterEnds[unsigned(cluster)];
    clusterEnd = std::max(clusterEnd, op + 1);
    for (unsigned value : graph.ops[op].results)
      clusterEnd = std::max(clusterEnd, valueEnds[value]);
  }
  for (unsigned value = 0; value < valueEnds.size(); ++value)
    settledValues[valueEnds[value]].push_back(value);
  for (unsigned cluster = 0; cluster < clusterEnds.size(); ++cluster)
    settledClusters[clusterEnds[cluster]].push_back(cluster);
}

void LayoutOptimum::findLeastWork() {
  for (unsigned cluster = 0; cluster < clusters.clusters.size(); ++cluster) {
    const std::vector<unsigned> &ops = clusters.clusters[cluster].ops;
    if (ops.size() > 1)
      continue;
    Cost least = state.workCost(cluster);
    for (const Change &choice : choicesOf(ops.front()))
      if (state.apply(choice)) {
        least = std::min(least, state.workCost(cluster));
        state.undo();
      }
    for (unsigned i = 0; i < clusterEnds[cluster]; ++i)
      leastWork[i] += least;
  }
}

LayoutState::Change LayoutOptimum::changeTo(unsigned op,
                                            const OpSharding &sharding) {
  Change change;
  const LayoutGraph::Op &node = graph.ops[op];
  for (unsigned i = 0; i < node.results.size(); ++i)
    change.push_back(
        {node.results[i],
         state.intern(resultLayout(*node.rule, i, sharding, graph.mesh()))});
  return change;
}

/// Returns all layouts of the op's results with the operands that it has: with
/// each axis on each of its factors, or on none, and with the pending
/// reductions that it can pass on, or without.
const std::vector<LayoutState::Change> &LayoutOptimum::choicesOf(unsigned op) {
  const LayoutGraph::Op &node = graph.ops[op];
  const Mesh &mesh = graph.mesh();
  std::vector<LayoutId> key{op};
  std::vector<Layout> operands;
  for (unsigned value : node.operands) {
    key.push_back(state.layout(value));
    operands.push_back(state.get(key.back()));
  }
  auto [entry, isNew] = choices.try_emplace(std::move(key));
  std::vector<Change> &list = entry->second;
  if (!isNew)
    return list;
  auto add = [&](const OpSharding &sharding) {
    if (Change change = changeTo(op, sharding);
        std::ranges::count(list, change) == 0)
      list.push_back(std::move(change));
  };
  FactorSharding factors = FactorSharding::none(*node.rule);
  auto extendTo = [&](auto &self, unsigned axis) -> void {
    if (axis == mesh.rank()) {
      if (!canRun(*node.rule, factors, mesh))
        return;
      add({factors, {}, 0});
      add(passPartial(*node.rule, operands, factors));
      return;
    }
    for (std::vector<unsigned> &axes : factors.axes) {
      axes.push_back(axis);
      self(self, axis + 1);
      axes.pop_back();
    }
    self(self, axis + 1);
  };
  extendTo(extendTo, 0);
  return list;
}

Cost LayoutOptimum::settledBy(unsigned ops) const {
  Cost cost = 0;
  for (unsigned value : settledValues[ops])
    cost += state.relayoutCost(value);
  for (unsigned cluster : settledClusters[ops])
    cost += state.workCost(cluster);
  return cost;
}

LayoutState::Change LayoutOptimum::plan() const {
  Change change;
  for (const LayoutGraph::Op &op : graph.ops)
    if (!op.free)
      for (unsigned value : op.results)
        change.push_back({value, state.layout(value)});
  return change;
}

/// Returns a hash of all that costs which are not settled depend on.
uint64_t LayoutOptimum::frontierAt(unsigned op) const {
  uint64_t hash = mixed(op);
  for (unsigned value = 0; value < valueEnds.size(); ++value)
    if (valueEnds[value] > op)
      hash = mixed(hash ^ state.stateOf(value));
  for (unsigned cluster = 0; cluster < clusterEnds.size(); ++cluster) {
    if (clusterEnds[cluster] <= op)
      continue;
    for (unsigned member : clusters.clusters[cluster].ops) {
      if (member >= op)
        break;
      hash = mixed(hash ^ std::bit_cast<uintptr_t>(&state.evaluation(member)));
      for (unsigned value : graph.ops[member].results)
        hash = mixed(hash ^ state.stateOf(value));
    }
  }
  return hash;
}

/// Returns whether the frontier was reached before at no more cost, and notes
/// the cost otherwise.
bool LayoutOptimum::isReachedForLess(unsigned op, Cost settled) {
  if (!comparesFrontiers)
    return false;
  Cost &least = leastCosts[frontierAt(op)];
  if (settled >= least)
    return true;
  least = settled;
  return false;
}

void LayoutOptimum::extend(unsigned op, Cost settled) {
  if (settled + leastWork[op] >= leastCost || isReachedForLess(op, settled))
    return;
  if (op == graph.ops.size()) {
    if (isWithinLimit()) {
      leastCost = settled;
      best = plan();
    }
    return;
  }
  if (graph.ops[op].free)
    return extend(op + 1, settled + settledBy(op + 1));
  for (const Change &choice : choicesOf(op)) {
    isCut |= state.tried() > end;
    if (isCut)
      return;
    if (state.apply(choice)) {
      extend(op + 1, settled + settledBy(op + 1));
      state.undo();
    }
  }
}

bool LayoutOptimum::find(int64_t mostTried) {
  const bool isPossible = isWithinLimit();
  leastCost =
      isPossible ? state.total().cost : std::numeric_limits<Cost>::max();
  end = state.tried() + mostTried;
  Change replicated;
  for (unsigned op = 0; op < graph.ops.size(); ++op)
    if (!graph.ops[op].free)
      for (auto change :
           changeTo(op, {FactorSharding::none(*graph.ops[op].rule), {}, 0}))
        replicated.push_back(change);
  if (!state.apply(replicated))
    return false;
  findOrder();
  findLeastWork();
  extend(0, settledBy(0));
  state.undo();
  if (!best.empty() && state.apply(best))
    state.commit();
  return !isCut && (isPossible || !best.empty());
}

} // namespace meshloom
