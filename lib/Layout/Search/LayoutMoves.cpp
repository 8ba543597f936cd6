// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The changes of one cluster.
#include "LayoutMoves.h"

#include <algorithm>
#include <utility>

namespace meshloom {

using Change = LayoutState::Change;

LayoutMoves::LayoutMoves(const LayoutGraph &graph,
                         const LayoutClusters &clusters, LayoutState &state)
    : graph(graph), state(state) {
  for (const LayoutCluster &cluster : clusters.clusters) {
    Cluster &moves = clusterMoves.emplace_back();
    moves.kind =
        &state.priceTables().clusterKinds().kindOf(graph, cluster, state);
    for (const ClusterInput &input : inputsOf(graph, cluster))
      moves.inputs.push_back(input.value);
    for (unsigned op : cluster.ops)
      moves.results.insert(moves.results.end(), graph.ops[op].results.begin(),
                           graph.ops[op].results.end());
    for (const LayoutCluster::FactorClass &factorClass : cluster.factors)
      moves.firstOps.push_back(cluster.ops[factorClass.members.front().first]);
  }
}

/// Returns whether a number is new in the list that is made now.
static bool isNew(std::vector<int64_t> &listedIn, size_t number, int64_t list) {
  if (listedIn.size() <= number)
    listedIn.resize(number + 1);
  return std::exchange(listedIn[number], list) != list;
}

void LayoutMoves::findAssignments(const Cluster &cluster, size_t ways) {
  constexpr size_t most = 80;
  ClusterKind &kind = *cluster.kind;
  const LayoutPrices &prices = state.priceTables();
  found.clear();
  auto add = [&](unsigned assignment) {
    if (isNew(listedIn, assignment, lists))
      found.push_back(assignment);
  };
  running.clear();
  for (unsigned op : cluster.firstOps)
    running.push_back(&state.evaluation(op));
  for (unsigned assignment :
       kind.around(kind.assignmentOf(running), ways, graph.mesh()))
    add(assignment);
  for (unsigned i = 0; i < cluster.inputs.size() && found.size() < most; ++i)
    add(kind.wishOfInput(i, state.layout(cluster.inputs[i]), prices));
  for (unsigned i = 0; i < cluster.results.size() && found.size() < most; ++i)
    for (LayoutId target : state.targets(cluster.results[i]))
      add(kind.wishOfResult(i, target, prices));
}

const Change *LayoutMoves::changeTo(Cluster &cluster, unsigned resultLayouts) {
  if (cluster.changeOf.size() <= resultLayouts)
    cluster.changeOf.resize(resultLayouts + 1);
  const Change *&change = cluster.changeOf[resultLayouts];
  if (!change) {
    Change &added = cluster.changes.emplace_back();
    const ClusterKind::ResultLayouts &layouts =
        cluster.kind->resultLayouts(resultLayouts);
    for (unsigned i = 0; i < layouts.size(); ++i)
      added.push_back({cluster.results[i], layouts[i]});
    change = &added;
  }
  return change;
}

uint64_t LayoutMoves::stateOf(unsigned index, size_t ways) const {
  const Cluster &cluster = clusterMoves[index];
  uint64_t hash = state.layoutsOf(index) ^ mixed(ways);
  for (unsigned value : cluster.inputs)
    hash = mixed(hash ^ state.layout(value));
  for (unsigned value : cluster.results)
    hash = mixed(hash ^ state.stateOf(value));
  return hash;
}

const std::vector<const Change *> &LayoutMoves::list(unsigned index,
                                                     size_t ways) {
  Cluster &cluster = clusterMoves[index];
  unsigned &number = cluster.listNumbers[stateOf(index, ways)];
  if (number == 0) {
    cluster.lists.push_back(newList(cluster, ways));
    number = unsigned(cluster.lists.size());
  }
  return cluster.lists[number - 1];
}

std::vector<const Change *> LayoutMoves::newList(Cluster &cluster,
                                                 size_t ways) {
  ++lists;
  findAssignments(cluster, ways);
  // Without pending inputs there is nothing to pass on: where one of a
  // cluster's ops makes some, it is its only op.
  pending.clear();
  for (unsigned i = 0; i < cluster.inputs.size(); ++i)
    if (LayoutId id = state.layout(cluster.inputs[i]);
        state.get(id).is_partial()) {
      pending.push_back(i);
      pending.push_back(id);
    }
  std::vector<const Change *> moves;
  auto add = [&](int meaning) {
    if (meaning < 0 || !isNew(meaningListed, size_t(meaning), lists))
      return;
    const Change *change = changeTo(cluster, unsigned(meaning));
    if (std::ranges::any_of(*change, [&](auto entry) {
          return state.layout(entry.first) != entry.second;
        }))
      moves.push_back(change);
  };
  for (unsigned assignment : found) {
    add(cluster.kind->meaning(assignment, {}, state.priceTables()));
    if (!pending.empty())
      add(cluster.kind->meaning(assignment, pending, state.priceTables()));
  }
  return moves;
}

} // namespace meshloom
