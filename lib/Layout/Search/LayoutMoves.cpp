// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The changes of one cluster, and the tables that make listing them cheap.
#include "LayoutMoves.h"

#include <algorithm>
#include <utility>

namespace meshloom {

LayoutMoves::LayoutMoves(const LayoutGraph &graph,
                         const LayoutClusters &clusters, LayoutState &state)
    : graph(graph), clusters(clusters), state(state),
      clusterMoves(clusters.clusters.size()) {
  for (unsigned index = 0; index < clusterMoves.size(); ++index) {
    const LayoutCluster &cluster = clusters.clusters[index];
    Cluster &moves = clusterMoves[index];
    for (unsigned position = 0; position < cluster.ops.size(); ++position) {
      const LayoutGraph::Op &op = graph.ops[cluster.ops[position]];
      moves.classOf.emplace_back(op.rule->factors.size(), -1);
      for (unsigned i = 0; i < op.operands.size(); ++i) {
        int producer = graph.values[op.operands[i]].producer;
        if (producer < 0 || clusters.ofOp[producer] != int(index))
          moves.inputs.push_back(
              {position, op.operands[i], &op.rule->operands[i]});
      }
      for (LayoutGraph::Op::Other other : op.others)
        moves.inputs.push_back(
            {position, other.value, &op.rule->operands[other.operand]});
      for (unsigned i = 0; i < op.results.size(); ++i)
        moves.results.push_back(
            {position, op.results[i], &op.rule->results[i]});
    }
    for (unsigned c = 0; c < cluster.factors.size(); ++c)
      for (auto [position, factor] : cluster.factors[c].members)
        moves.classOf[position][factor] = int(c);
    moves.wishes.resize(moves.inputs.size() + moves.results.size());
  }
}

size_t
LayoutMoves::IdsHash::operator()(const std::vector<unsigned> &ids) const {
  size_t hash = ids.size();
  for (unsigned id : ids)
    hash = (hash ^ id) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 32);
}

unsigned LayoutMoves::number(Cluster &cluster, const Assignment &assignment) {
  auto [entry, isNew] = cluster.assignmentIds.try_emplace(
      assignment, unsigned(cluster.assignments.size()));
  if (isNew)
    cluster.assignments.push_back(assignment);
  return entry->second;
}

unsigned LayoutMoves::assignmentNow(unsigned index) {
  const LayoutCluster &cluster = clusters.clusters[index];
  Assignment assignment;
  for (const LayoutCluster::FactorClass &factorClass : cluster.factors) {
    auto [op, factor] = factorClass.members.front();
    assignment.push_back(
        state.evaluate(cluster.ops[op]).sharding.factors.axes[factor]);
  }
  return number(clusterMoves[index], assignment);
}

/// Each axis on every class, or none, in the order that there is.
const std::vector<unsigned> &LayoutMoves::around(Cluster &cluster, unsigned id,
                                                 size_t ways) {
  auto [entry, isNew] = cluster.around.try_emplace({id, ways});
  if (!isNew)
    return entry->second;
  const Assignment now = cluster.assignments[id];
  const Mesh &mesh = graph.mesh();
  unsigned classes = now.size();
  // `where`: per axis its class, `classes` for none.
  auto place = [&](const std::vector<unsigned> &where) {
    Assignment assignment(classes);
    for (unsigned c = 0; c < classes; ++c)
      for (unsigned axis : now[c])
        if (where[axis] == c)
          assignment[c].push_back(axis);
    for (unsigned axis = 0; axis < mesh.rank(); ++axis)
      if (unsigned c = where[axis];
          c < classes && std::ranges::count(assignment[c], axis) == 0)
        assignment[c].push_back(axis);
    entry->second.push_back(number(cluster, assignment));
  };
  std::vector<unsigned> where(mesh.rank(), classes);
  for (unsigned c = 0; c < classes; ++c)
    for (unsigned axis : now[c])
      where[axis] = c;
  size_t count = 1;
  for (unsigned axis = 0; axis < mesh.rank() && count <= ways; ++axis)
    count *= classes + 1;
  if (count <= ways) {
    for (size_t code = 0; code < count; ++code) {
      size_t remainder = code;
      for (unsigned axis = 0; axis < mesh.rank(); ++axis) {
        where[axis] = unsigned(remainder % (classes + 1));
        remainder /= classes + 1;
      }
      place(where);
    }
  } else {
    for (unsigned axis = 0; axis < mesh.rank(); ++axis)
      for (unsigned c = 0; c <= classes; ++c) {
        std::vector<unsigned> one = where;
        one[axis] = c;
        place(one);
      }
  }
  return entry->second;
}

unsigned LayoutMoves::wish(unsigned index, unsigned place, LayoutId layout) {
  Cluster &cluster = clusterMoves[index];
  auto [entry, isNew] = cluster.wishes[place].try_emplace(layout);
  if (!isNew)
    return entry->second;
  const Place &neighbour = place < cluster.inputs.size()
                               ? cluster.inputs[place]
                               : cluster.results[place - cluster.inputs.size()];
  const LayoutCluster &layoutCluster = clusters.clusters[index];
  FactorSharding found =
      project(*graph.ops[layoutCluster.ops[neighbour.position]].rule,
              *neighbour.dims, state.get(layout));
  Assignment assignment(layoutCluster.factors.size());
  for (unsigned f = 0; f < found.axes.size(); ++f)
    if (int c = cluster.classOf[neighbour.position][f]; c >= 0)
      assignment[c] = found.axes[f];
  return entry->second = number(cluster, assignment);
}

/// The results' layouts that `assignment` means, with pending reductions of
/// operands passed on where they can be, or not. Nothing where a factor cannot
/// be on its axes.
std::optional<LayoutMoves::Change>
LayoutMoves::change(unsigned index, const Assignment &assignment, bool pass) {
  const LayoutCluster &cluster = clusters.clusters[index];
  const Mesh &mesh = graph.mesh();
  std::vector<FactorSharding> shardings;
  for (unsigned op : cluster.ops)
    shardings.push_back(FactorSharding::none(*graph.ops[op].rule));
  for (unsigned c = 0; c < assignment.size(); ++c)
    for (auto [position, factor] : cluster.factors[c].members)
      shardings[position].axes[factor] = assignment[c];
  for (unsigned position = 0; position < cluster.ops.size(); ++position)
    if (!canRun(*graph.ops[cluster.ops[position]].rule, shardings[position],
                mesh))
      return std::nullopt;
  std::unordered_map<unsigned, LayoutId> changed;
  auto layoutOf = [&](unsigned value) {
    auto found = changed.find(value);
    return state.get(found == changed.end() ? state.layout(value)
                                            : found->second);
  };
  Change result;
  for (unsigned position = 0; position < cluster.ops.size(); ++position) {
    const LayoutGraph::Op &op = graph.ops[cluster.ops[position]];
    OpSharding sharding{std::move(shardings[position]), {}, 0};
    if (pass) {
      std::vector<Layout> operands;
      for (unsigned value : op.operands)
        operands.push_back(layoutOf(value));
      sharding = passPartial(*op.rule, operands, std::move(sharding.factors));
    }
    for (unsigned i = 0; i < op.results.size(); ++i) {
      LayoutId id = state.intern(resultLayout(*op.rule, i, sharding, mesh));
      changed[op.results[i]] = id;
      result.push_back({op.results[i], id});
    }
  }
  return result;
}

int LayoutMoves::meaning(unsigned index, unsigned assignment,
                         const std::vector<unsigned> &pending) {
  Cluster &cluster = clusterMoves[index];
  auto find = [&] {
    auto moved =
        change(index, cluster.assignments[assignment], !pending.empty());
    if (!moved)
      return -1;
    auto [id, isNew] =
        cluster.changeIds.try_emplace(*moved, unsigned(cluster.changes.size()));
    if (isNew)
      cluster.changes.push_back(std::move(*moved));
    return int(id->second);
  };
  if (pending.empty()) {
    constexpr int unknown = -2;
    if (cluster.meaning.size() <= assignment)
      cluster.meaning.resize(assignment + 1, unknown);
    if (cluster.meaning[assignment] == unknown)
      cluster.meaning[assignment] = find();
    return cluster.meaning[assignment];
  }
  std::vector<unsigned> key{assignment};
  key.insert(key.end(), pending.begin(), pending.end());
  auto [entry, isNew] = cluster.pendingMeaning.try_emplace(std::move(key), -1);
  if (isNew)
    entry->second = find();
  return entry->second;
}

std::vector<const LayoutMoves::Change *> LayoutMoves::list(unsigned index,
                                                           size_t ways) {
  constexpr size_t most = 80;
  Cluster &cluster = clusterMoves[index];
  // Without pending inputs there is nothing to pass on: where one of a
  // cluster's ops makes some, it is its only op.
  std::vector<unsigned> pending;
  for (unsigned i = 0; i < cluster.inputs.size(); ++i)
    if (LayoutId id = state.layout(cluster.inputs[i].value);
        state.get(id).is_partial()) {
      pending.push_back(i);
      pending.push_back(id);
    }

  found.clear();
  ++lists;
  auto add = [&](unsigned assignment) {
    if (listed.size() <= assignment)
      listed.resize(assignment + 1);
    if (std::exchange(listed[assignment], lists) != lists)
      found.push_back(assignment);
  };
  for (unsigned assignment : around(cluster, assignmentNow(index), ways))
    add(assignment);
  for (unsigned i = 0; i < cluster.inputs.size() && found.size() < most; ++i)
    add(wish(index, i, state.layout(cluster.inputs[i].value)));
  for (unsigned i = 0; i < cluster.results.size() && found.size() < most; ++i)
    for (LayoutId target : state.targets(cluster.results[i].value))
      add(wish(index, cluster.inputs.size() + i, target));
  std::sort(found.begin(), found.end());

  ids.clear();
  for (unsigned assignment : found) {
    ids.push_back(meaning(index, assignment, {}));
    if (!pending.empty())
      ids.push_back(meaning(index, assignment, pending));
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::vector<const Change *> moves;
  for (int id : ids)
    if (id >= 0 && std::ranges::any_of(cluster.changes[id], [&](auto entry) {
          return state.layout(entry.first) != entry.second;
        }))
      moves.push_back(&cluster.changes[id]);
  return moves;
}

} // namespace meshloom
