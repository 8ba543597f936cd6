// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clusters of ops that are sensibly laid out alike.
//
// Union-find over ops and over (op, factor) pairs. Sets are merged small into
// large, each with the ops that have a factor in it, so the cost is near linear
// in the number of operands.
#include "meshloom/Layout/Search/LayoutGraph.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace meshloom {

namespace {

class UnionFind {
public:
  explicit UnionFind(size_t size) : parent(size) {
    std::iota(parent.begin(), parent.end(), 0u);
  }
  unsigned find(unsigned i) {
    while (parent[i] != i)
      i = parent[i] = parent[parent[i]];
    return i;
  }
  /// `into` stays the representative.
  void merge(unsigned into, unsigned from) { parent[from] = into; }

private:
  std::vector<unsigned> parent;
};

/// The factors of a tensor's dims where each dim is one factor; empty for
/// scalars and where a dim is compound, missing or repeated.
std::vector<unsigned> plainFactors(const ShardingRule::Tensor &tensor) {
  std::vector<unsigned> factors;
  for (const ShardingRule::Dim &dim : tensor) {
    if (dim.size() != 1 ||
        std::find(factors.begin(), factors.end(), dim[0]) != factors.end())
      return {};
    factors.push_back(dim[0]);
  }
  return factors;
}

/// Returns whether every point of the op's iteration space is one element of
/// each result.
bool isPointwise(const ShardingRule &rule) {
  auto parallel = [](const Factor &factor) {
    return factor.kind == FactorKind::Parallel;
  };
  return std::all_of(rule.factors.begin(), rule.factors.end(), parallel) &&
         std::all_of(rule.results.begin(), rule.results.end(),
                     [&](const ShardingRule::Tensor &result) {
                       return plainFactors(result).size() ==
                              rule.factors.size();
                     });
}

class Builder {
public:
  explicit Builder(const LayoutGraph &graph)
      : graph(graph), ops(graph.ops.size()), classes(0) {
    for (const LayoutGraph::Op &op : graph.ops) {
      firstFactor.push_back(owners.size());
      for (size_t f = 0; f < op.rule->factors.size(); ++f)
        owners.push_back({unsigned(firstFactor.size() - 1)});
    }
    classes = UnionFind(owners.size());
  }

  LayoutClusters build() {
    std::vector<char> pointwise;
    for (const LayoutGraph::Op &op : graph.ops)
      pointwise.push_back(!op.free && !op.held && isPointwise(*op.rule));
    for (unsigned consumer = 0; consumer < graph.ops.size(); ++consumer) {
      if (!pointwise[consumer])
        continue;
      const LayoutGraph::Op &op = graph.ops[consumer];
      for (unsigned i = 0; i < op.operands.size(); ++i) {
        int producer = graph.values[op.operands[i]].producer;
        // An operand that is read through a window may well be laid out
        // differently.
        bool windowed = std::ranges::count(op.rule->windows, i,
                                           &ShardingRule::Window::operand) > 0;
        if (producer >= 0 && pointwise[producer] && !windowed &&
            graph.ops[producer].block == op.block)
          link(unsigned(producer), consumer, i);
      }
    }
    return collect();
  }

private:
  void link(unsigned producer, unsigned consumer, unsigned operand) {
    const LayoutGraph::Op &from = graph.ops[producer],
                          &to = graph.ops[consumer];
    unsigned value = to.operands[operand];
    size_t result = std::find(from.results.begin(), from.results.end(), value) -
                    from.results.begin();
    std::vector<unsigned> produced = plainFactors(from.rule->results[result]),
                          used = plainFactors(to.rule->operands[operand]);
    if (produced.empty() || used.size() != produced.size() ||
        used.size() != to.rule->factors.size() || producer == consumer)
      return;
    // One axis cannot be on two factors of an op: classes that would give an op
    // two members stay apart, and so do the ops.
    for (size_t dim = 0; dim < produced.size(); ++dim)
      if (conflict(firstFactor[producer] + produced[dim],
                   firstFactor[consumer] + used[dim]))
        return;
    for (size_t dim = 0; dim < produced.size(); ++dim)
      mergeClasses(firstFactor[producer] + produced[dim],
                   firstFactor[consumer] + used[dim]);
    unsigned a = ops.find(producer), b = ops.find(consumer);
    if (a != b)
      ops.merge(std::min(a, b), std::max(a, b));
  }
  bool conflict(unsigned a, unsigned b) {
    a = classes.find(a), b = classes.find(b);
    if (a == b)
      return false;
    if (owners[a].size() < owners[b].size())
      std::swap(a, b);
    return std::any_of(owners[b].begin(), owners[b].end(),
                       [&](unsigned op) { return owners[a].count(op); });
  }
  void mergeClasses(unsigned a, unsigned b) {
    a = classes.find(a), b = classes.find(b);
    if (a == b)
      return;
    if (owners[a].size() < owners[b].size())
      std::swap(a, b);
    owners[a].merge(owners[b]);
    classes.merge(a, b);
  }

  LayoutClusters collect() {
    LayoutClusters result;
    result.ofOp.assign(graph.ops.size(), -1);
    std::map<unsigned, unsigned> clusterOf; ///< per representative
    std::map<unsigned, std::pair<unsigned, unsigned>> classOf;
    for (unsigned op = 0; op < graph.ops.size(); ++op) {
      if (graph.ops[op].free)
        continue;
      auto [entry, isNew] =
          clusterOf.try_emplace(ops.find(op), result.clusters.size());
      if (isNew)
        result.clusters.emplace_back();
      LayoutCluster &cluster = result.clusters[entry->second];
      result.ofOp[op] = int(entry->second);
      cluster.ops.push_back(op);
      if (graph.ops[op].held)
        continue;
      const ShardingRule &rule = *graph.ops[op].rule;
      for (unsigned f = 0; f < rule.factors.size(); ++f) {
        // The part of a longer dim that a window takes, a slice of one row say,
        // can stay with the device that has it.
        const bool isWindow =
            std::ranges::count(rule.windows, f, &ShardingRule::Window::factor) >
            0;
        if ((rule.factors[f].size <= 1 && !isWindow) ||
            rule.factors[f].kind == FactorKind::Whole)
          continue;
        unsigned representative = classes.find(firstFactor[op] + f);
        auto [entryOfClass, first] = classOf.try_emplace(
            representative, entry->second, cluster.factors.size());
        if (first)
          cluster.factors.emplace_back();
        cluster.factors[entryOfClass->second.second].members.push_back(
            {unsigned(cluster.ops.size() - 1), f});
      }
    }
    return result;
  }

  const LayoutGraph &graph;
  UnionFind ops, classes;
  std::vector<unsigned> firstFactor; ///< per op, into `owners`
  std::vector<std::set<unsigned>>
      owners; ///< per class: ops with a factor in it
};

} // namespace

LayoutClusters findClusters(const LayoutGraph &graph) {
  return Builder(graph).build();
}

} // namespace meshloom
