// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tables of clusters that are alike, and what makes clusters alike.
#include "ClusterKinds.h"

#include <algorithm>

namespace meshloom {

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

std::vector<ClusterInput> inputsOf(const LayoutGraph &graph,
                                   const LayoutCluster &cluster) {
  std::vector<ClusterInput> inputs;
  std::vector<unsigned> before; ///< results
  for (unsigned position = 0; position < cluster.ops.size(); ++position) {
    const LayoutGraph::Op &op = graph.ops[cluster.ops[position]];
    for (unsigned i = 0; i < op.operands.size(); ++i)
      if (std::ranges::count(before, op.operands[i]) == 0)
        inputs.push_back({position, i, op.operands[i]});
    for (LayoutGraph::Op::Other other : op.others)
      inputs.push_back({position, other.operand, other.value});
    before.insert(before.end(), op.results.begin(), op.results.end());
  }
  return inputs;
}

ClusterKind &ClusterKinds::kindOf(const LayoutGraph &graph,
                                  const LayoutCluster &cluster,
                                  const LayoutState &state) {
  std::vector<unsigned> key;
  std::unordered_map<unsigned, unsigned> numbers; ///< of results, from 1
  for (unsigned op : cluster.ops) {
    key.push_back(state.opKind(op));
    for (unsigned value : graph.ops[op].operands) {
      auto result = numbers.find(value);
      key.push_back(result == numbers.end() ? 0 : result->second);
    }
    key.push_back(unsigned(graph.ops[op].others.size()));
    for (LayoutGraph::Op::Other other : graph.ops[op].others)
      key.push_back(other.operand);
    for (unsigned value : graph.ops[op].results)
      numbers.try_emplace(value, unsigned(numbers.size() + 1));
  }
  for (const LayoutCluster::FactorClass &factorClass : cluster.factors) {
    key.push_back(unsigned(factorClass.members.size()));
    for (auto [position, factor] : factorClass.members) {
      key.push_back(position);
      key.push_back(factor);
    }
  }
  return kinds.try_emplace(std::move(key), graph, cluster).first->second;
}

ClusterKind::ClusterKind(const LayoutGraph &graph,
                         const LayoutCluster &cluster) {
  std::unordered_map<unsigned, int> numbers; ///< of results
  const std::vector<ClusterInput> list = inputsOf(graph, cluster);
  size_t next = 0; ///< input
  for (unsigned position = 0; position < cluster.ops.size(); ++position) {
    const LayoutGraph::Op &node = graph.ops[cluster.ops[position]];
    Op &op = ops.emplace_back(Op{node.rule, {}, {}, node.results.size()});
    op.classOf.assign(node.rule->factors.size(), -1);
    for (unsigned value : node.operands) {
      auto result = numbers.find(value);
      op.sources.push_back(result == numbers.end() ? -1 - int(next++)
                                                   : result->second);
    }
    next += node.others.size();
    for (unsigned i = 0; i < node.results.size(); ++i) {
      numbers.try_emplace(node.results[i], int(numbers.size()));
      results.push_back({position, node.rule->results[i]});
    }
  }
  for (const ClusterInput &input : list)
    inputs.push_back(
        {input.position, ops[input.position].rule->operands[input.operand]});
  for (unsigned c = 0; c < cluster.factors.size(); ++c) {
    firstFactors.push_back(cluster.factors[c].members.front().second);
    for (auto [position, factor] : cluster.factors[c].members)
      ops[position].classOf[factor] = int(c);
  }
  inputWishes.resize(inputs.size());
  resultWishes.resize(results.size());
}

//===----------------------------------------------------------------------===//
// Assignments
//===----------------------------------------------------------------------===//

size_t ClusterKind::RunningHash::operator()(
    const std::vector<const OpEvaluation *> &running) const {
  size_t hash = running.size();
  for (const OpEvaluation *evaluation : running)
    hash = mixed(hash ^ reinterpret_cast<uintptr_t>(evaluation));
  return hash;
}

unsigned ClusterKind::number(const Assignment &assignment) {
  auto [entry, isNew] =
      assignmentIds.try_emplace(assignment, unsigned(assignments.size()));
  if (isNew)
    assignments.push_back(assignment);
  return entry->second;
}

unsigned
ClusterKind::assignmentOf(const std::vector<const OpEvaluation *> &running) {
  auto [entry, isNew] = runningAssignments.try_emplace(running);
  if (!isNew)
    return entry->second;
  Assignment assignment;
  for (unsigned c = 0; c < running.size(); ++c)
    assignment.push_back(running[c]->sharding.factors.axes[firstFactors[c]]);
  return entry->second = number(assignment);
}

/// Returns the assignment with each axis on the class that `classOfAxis` has,
/// or on none where that is no class, in the order of `now`.
ClusterKind::Assignment
ClusterKind::assignmentOn(const Assignment &now,
                          const std::vector<unsigned> &classOfAxis,
                          const Mesh &mesh) const {
  Assignment assignment(now.size());
  for (unsigned c = 0; c < now.size(); ++c)
    for (unsigned axis : now[c])
      if (classOfAxis[axis] == c)
        assignment[c].push_back(axis);
  for (unsigned axis = 0; axis < mesh.rank(); ++axis)
    if (unsigned c = classOfAxis[axis];
        c < now.size() && std::ranges::count(assignment[c], axis) == 0)
      assignment[c].push_back(axis);
  return assignment;
}

const std::vector<unsigned> &ClusterKind::around(unsigned id, size_t most,
                                                 const Mesh &mesh) {
  auto [entry, isNew] = assignmentsNear.try_emplace({id, most});
  std::vector<unsigned> &list = entry->second;
  if (!isNew)
    return list;
  const Assignment &now = assignments[id];
  const unsigned classes = now.size();
  auto add = [&](const std::vector<unsigned> &classOfAxis) {
    list.push_back(number(assignmentOn(now, classOfAxis, mesh)));
  };
  std::vector<unsigned> classOfAxis(mesh.rank(), classes);
  for (unsigned c = 0; c < classes; ++c)
    for (unsigned axis : now[c])
      classOfAxis[axis] = c;
  size_t count = 1;
  for (unsigned axis = 0; axis < mesh.rank() && count <= most; ++axis)
    count *= classes + 1;
  if (count > most) {
    for (unsigned axis = 0; axis < mesh.rank(); ++axis)
      for (unsigned c = 0; c <= classes; ++c) {
        std::vector<unsigned> moved = classOfAxis;
        moved[axis] = c;
        add(moved);
      }
    return list;
  }
  for (size_t code = 0; code < count; ++code) {
    size_t remainder = code;
    for (unsigned axis = 0; axis < mesh.rank(); ++axis) {
      classOfAxis[axis] = unsigned(remainder % (classes + 1));
      remainder /= classes + 1;
    }
    add(classOfAxis);
  }
  return list;
}

unsigned ClusterKind::wish(std::unordered_map<LayoutId, unsigned> &wishes,
                           const Tensor &tensor, LayoutId id,
                           const LayoutPrices &prices) {
  auto [entry, isNew] = wishes.try_emplace(id);
  if (!isNew)
    return entry->second;
  const Op &op = ops[tensor.position];
  const FactorSharding wanted = project(*op.rule, tensor.dims, prices.get(id));
  Assignment assignment(firstFactors.size());
  for (unsigned f = 0; f < wanted.axes.size(); ++f)
    if (int c = op.classOf[f]; c >= 0)
      assignment[c] = wanted.axes[f];
  return entry->second = number(assignment);
}

unsigned ClusterKind::wishOfInput(unsigned input, LayoutId id,
                                  const LayoutPrices &prices) {
  return wish(inputWishes[input], inputs[input], id, prices);
}

unsigned ClusterKind::wishOfResult(unsigned result, LayoutId id,
                                   const LayoutPrices &prices) {
  return wish(resultWishes[result], results[result], id, prices);
}

//===----------------------------------------------------------------------===//
// Meanings
//===----------------------------------------------------------------------===//

/// Returns the results' layouts that an assignment means; nothing where a
/// factor cannot be on its axes.
std::optional<ClusterKind::ResultLayouts>
ClusterKind::resultsOf(const Assignment &assignment, const Pending &pending,
                       LayoutPrices &prices) const {
  const Mesh &mesh = prices.meshOfLayouts();
  std::vector<FactorSharding> shardings;
  for (const Op &op : ops) {
    FactorSharding &sharding =
        shardings.emplace_back(FactorSharding::none(*op.rule));
    for (unsigned f = 0; f < op.classOf.size(); ++f)
      if (int c = op.classOf[f]; c >= 0)
        sharding.axes[f] = assignment[c];
    if (!canRun(*op.rule, sharding, mesh))
      return std::nullopt;
  }
  const Layout whole = Layout::replicated(mesh, 0);
  std::unordered_map<unsigned, LayoutId> pendingLayouts;
  for (size_t i = 0; i < pending.size(); i += 2)
    pendingLayouts[pending[i]] = pending[i + 1];
  ResultLayouts layouts;
  auto layoutOf = [&](int source) {
    if (source >= 0)
      return prices.get(layouts[source]);
    auto found = pendingLayouts.find(unsigned(-1 - source));
    return found == pendingLayouts.end() ? whole : prices.get(found->second);
  };
  for (unsigned position = 0; position < ops.size(); ++position) {
    const Op &op = ops[position];
    OpSharding sharding{std::move(shardings[position]), {}, 0};
    if (!pending.empty()) {
      std::vector<Layout> operands;
      operands.reserve(op.sources.size());
      for (int source : op.sources)
        operands.push_back(layoutOf(source));
      sharding = passPartial(*op.rule, operands, std::move(sharding.factors));
    }
    for (unsigned i = 0; i < op.numberOfResults; ++i)
      layouts.push_back(
          prices.intern(resultLayout(*op.rule, i, sharding, mesh)));
  }
  return layouts;
}

int ClusterKind::meaning(unsigned assignment, const Pending &pending,
                         LayoutPrices &prices) {
  auto find = [&] {
    auto layouts = resultsOf(assignments[assignment], pending, prices);
    if (!layouts)
      return -1;
    auto [entry, isNew] =
        meaningIds.try_emplace(*layouts, unsigned(meanings.size()));
    if (isNew)
      meanings.push_back(std::move(*layouts));
    return int(entry->second);
  };
  if (pending.empty()) {
    constexpr int unknown = -2;
    if (plainMeanings.size() <= assignment)
      plainMeanings.resize(assignments.size(), unknown);
    if (plainMeanings[assignment] == unknown)
      plainMeanings[assignment] = find();
    return plainMeanings[assignment];
  }
  std::vector<unsigned> key{assignment};
  key.insert(key.end(), pending.begin(), pending.end());
  auto [entry, isNew] = pendingMeanings.try_emplace(std::move(key), -1);
  if (isNew)
    entry->second = find();
  return entry->second;
}

} // namespace meshloom
