// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layout graphs built by hand, and the cheapest layouts of small ones by trying
// all.
#pragma once

#include "../../lib/Layout/Search/LayoutOptimum.h"
#include "meshloom/Layout/Search/LayoutSearch.h"

#include <functional>
#include <gtest/gtest.h>
#include <set>

namespace meshloom::test {

/// Builds graphs op by op; results are laid out as the operands suggest.
struct GraphBuilder {
  LayoutGraph graph;

  const Shape &shape(unsigned value) const {
    return graph.values[value].shape();
  }
  LayoutGraph::Value &addValue(Shape shape, Layout layout, int producer) {
    return graph.values.emplace_back(
        std::make_shared<LayoutGraph::Tensor>(std::move(shape), DType::F32,
                                              std::move(layout)),
        producer);
  }
  unsigned argument(Shape shape, Layout layout) {
    addValue(std::move(shape), std::move(layout), -1).argument = true;
    return unsigned(graph.values.size() - 1);
  }
  unsigned op(const char *text, std::vector<unsigned> operands, Shape result,
              PartialFlow flow = PartialFlow::None, int64_t flops = 1) {
    ShardingRule rule = *ShardingRule::parse(text);
    rule.partialFlow = flow;
    std::vector<Shape> shapes;
    std::vector<Layout> layouts;
    for (unsigned value : operands) {
      shapes.push_back(graph.values[value].shape());
      layouts.push_back(graph.values[value].layout());
    }
    Status bound = rule.bind(shapes, {result});
    EXPECT_TRUE(bound) << (bound ? "" : bound.error().message());
    FactorSharding factors = FactorSharding::none(rule);
    for (unsigned i = 0; i < operands.size(); ++i)
      merge(rule, factors, project(rule, rule.operands[i], layouts[i]),
            graph.mesh());
    OpSharding sharding = passPartial(rule, layouts, factors);
    addValue(std::move(result), resultLayout(rule, 0, sharding, graph.mesh()),
             int(graph.ops.size()));
    graph.ops.push_back({std::make_shared<ShardingRule>(std::move(rule)),
                         IndexList(operands),
                         {unsigned(graph.values.size() - 1)},
                         flops});
    return unsigned(graph.values.size() - 1);
  }
  unsigned dot(unsigned a, unsigned b) {
    return op("m k, k n -> m n", {a, b}, {shape(a)[0], shape(b)[1]},
              PartialFlow::LinearEach, 2);
  }
  /// a^T b: the gradient of a weight.
  unsigned dotT(unsigned a, unsigned b) {
    return op("k m, k n -> m n", {a, b}, {shape(a)[1], shape(b)[1]},
              PartialFlow::LinearEach, 2);
  }
  unsigned transpose(unsigned a) {
    return op("m n -> n m", {a}, {shape(a)[1], shape(a)[0]},
              PartialFlow::Movement, 0);
  }
  /// Elementwise, not linear.
  unsigned unary(unsigned a) {
    return op(shape(a).size() == 2 ? "m n -> m n" : "n -> n", {a}, shape(a));
  }
  unsigned binary(unsigned a, unsigned b) {
    return op(shape(a).size() == 2 ? "m n, m n -> m n" : "n, n -> n", {a, b},
              shape(a), PartialFlow::LinearJoint);
  }
  void result(unsigned value, Layout layout) {
    graph.outputs.push_back({value, std::move(layout), true});
  }
};

/// All layouts that an op's result can have, its operands being given.
inline std::set<LayoutId> choices(const LayoutGraph &graph, LayoutState &state,
                                  unsigned op,
                                  const std::vector<LayoutId> &layouts) {
  const LayoutGraph::Op &current = graph.ops[op];
  const Mesh &mesh = graph.mesh();
  std::vector<Layout> operands;
  for (unsigned value : current.operands)
    operands.push_back(state.get(layouts[value]));
  std::set<LayoutId> found;
  size_t factors = current.rule->factors.size(), count = 1;
  for (unsigned axis = 0; axis < mesh.rank(); ++axis)
    count *= factors + 1;
  for (size_t code = 0; code < count; ++code) {
    FactorSharding sharding = FactorSharding::none(*current.rule);
    size_t remaining = code;
    for (unsigned axis = 0; axis < mesh.rank(); ++axis) {
      if (size_t factor = remaining % (factors + 1); factor < factors)
        sharding.axes[factor].push_back(axis);
      remaining /= factors + 1;
    }
    if (!canRun(*current.rule, sharding, mesh))
      continue;
    found.insert(
        state.intern(resultLayout(*current.rule, 0, {sharding, {}, 0}, mesh)));
    found.insert(state.intern(
        resultLayout(*current.rule, 0,
                     passPartial(*current.rule, operands, sharding), mesh)));
  }
  return found;
}

/// The cheapest total over all layouts of all ops within the memory that
/// refinement may take, and, for messages, what the ops' results are laid out
/// as.
struct Optimum {
  Cost cost;
  std::string layouts;
};
inline Optimum optimum(const LayoutGraph &graph, const MachineModel &machine) {
  LayoutClusters clusters = findClusters(graph);
  LayoutState state(graph, clusters, machine);
  int64_t limit = allowedPeak(state.peakBytes());
  Optimum best{state.total().cost, "as given"};
  std::vector<LayoutId> layouts;
  for (unsigned value = 0; value < graph.values.size(); ++value)
    layouts.push_back(state.layout(value));
  LayoutState::Change change;
  std::function<void(unsigned)> extend = [&](unsigned op) {
    if (op == graph.ops.size()) {
      if (!state.apply(change))
        return;
      if (state.total().cost < best.cost && state.peakBytes() <= limit) {
        best = {state.total().cost, ""};
        for (auto [value, id] : change)
          best.layouts += state.get(id).spec_string() + " ";
      }
      state.undo();
      return;
    }
    unsigned value = graph.ops[op].results[0];
    LayoutId before = layouts[value];
    for (LayoutId id : choices(graph, state, op, layouts)) {
      layouts[value] = id;
      change.push_back({value, id});
      extend(op + 1);
      change.pop_back();
    }
    layouts[value] = before;
  };
  extend(0);
  return best;
}

/// Returns the least cost by branch and bound, which begins with these layouts
/// of all values and takes a fraction of the time. A plan's peak is at most
/// `peakLimit` bytes per device (< 0: any number). Arguments that nobody laid
/// out come as their users take them most cheaply.
inline Cost optimumFrom(LayoutGraph graph, const MachineModel &machine,
                        const std::vector<Layout> &layouts, int64_t peakLimit) {
  for (unsigned value = 0; value < graph.values.size(); ++value)
    graph.values[value].layOut(layouts[value]);
  const LayoutClusters clusters = findClusters(graph);
  LayoutState state(graph, clusters, machine);
  state.setOpenArguments(OpenArguments::Move);
  constexpr int64_t mostTried = 10'000'000;
  EXPECT_TRUE(LayoutOptimum(graph, clusters, state, peakLimit).find(mostTried));
  return state.total().cost;
}

} // namespace meshloom::test
