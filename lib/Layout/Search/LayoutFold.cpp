// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Colour refinement (Weisfeiler and Leman, 1968), for a few rounds, and the
// fold by its colours. Colours are 64-bit hashes: where two meet by chance the
// fold decides two parts alike that differ.
#include "LayoutFold.h"
#include "Groups.h"

#include "meshloom/Layout/Search/LayoutPrices.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

namespace meshloom {

static uint64_t mix(uint64_t a, uint64_t b) {
  a = (a ^ b) * 0x9e3779b97f4a7c15u;
  a = (a ^ (a >> 29)) * 0xbf58476d1ce4e5b9u;
  return a ^ (a >> 32);
}

static uint64_t mixAll(std::initializer_list<int64_t> numbers) {
  uint64_t hash = numbers.size();
  for (int64_t number : numbers)
    hash = mix(hash, uint64_t(number));
  return hash;
}

namespace {

/// A hash of where and how often something runs, made anew where that differs
/// from the one before.
class ScopeHash {
public:
  uint64_t operator()(const std::array<int64_t, 4> &scope) {
    if (scope != last) {
      last = scope;
      hash = mixAll({scope[0], scope[1], scope[2], scope[3]});
    }
    return hash;
  }

private:
  std::array<int64_t, 4> last = {};
  uint64_t hash = mixAll({0, 0, 0, 0});
};

} // namespace

/// Values that several uses read windows of.
static std::vector<char> findSharedWindows(const LayoutGraph &graph) {
  std::vector<char> some(graph.values.size()), several = some;
  auto add = [&](unsigned value) {
    several[value] |= std::exchange(some[value], 1);
  };
  for (const LayoutGraph::Op &op : graph.ops) {
    if (op.rule->windows.empty())
      continue;
    auto isWindowed = [&](unsigned operand) {
      return std::ranges::count(op.rule->windows, operand,
                                &ShardingRule::Window::operand) > 0;
    };
    for (unsigned i = 0; i < op.operands.size(); ++i)
      if (isWindowed(i))
        add(op.operands[i]);
    for (LayoutGraph::Op::Other other : op.others)
      if (isWindowed(other.operand))
        add(other.value);
  }
  return several;
}

LayoutColouring::LayoutColouring(const LayoutGraph &graph,
                                 std::span<const uint64_t> layouts)
    : users(graph.values.size()) {
  std::vector<uint64_t> tensors; ///< per value: its shape and type
  tensors.reserve(graph.values.size());
  std::unordered_map<const LayoutGraph::Tensor *, uint64_t> hashes;
  const LayoutGraph::Tensor *last = nullptr;
  for (const LayoutGraph::Value &value : graph.values) {
    if (value.tensor.get() == last) {
      tensors.push_back(tensors.back());
      continue;
    }
    last = value.tensor.get();
    auto [entry, isNew] = hashes.try_emplace(last);
    if (isNew) {
      uint64_t hash =
          mixAll({int64_t(value.type()), int64_t(value.shape().size())});
      for (int64_t extent : value.shape())
        hash = mix(hash, uint64_t(extent));
      entry->second = hash;
    }
    tensors.push_back(entry->second);
  }
  ScopeHash scopeHash;
  // The hash of an op: its rule, its work, and what it takes and gives.
  const std::vector<char> shared = findSharedWindows(graph);
  std::unordered_map<const ShardingRule *, uint64_t> rules;
  now.ops.reserve(graph.ops.size());
  operandEnds.reserve(graph.ops.size());
  resultEnds.reserve(graph.ops.size());
  results.reserve(graph.values.size());
  operands.reserve(2 * graph.ops.size());
  for (const LayoutGraph::Op &op : graph.ops) {
    operands.insert(operands.end(), op.operands.begin(), op.operands.end());
    operandEnds.push_back(unsigned(operands.size()));
    results.insert(results.end(), op.results.begin(), op.results.end());
    resultEnds.push_back(unsigned(results.size()));
    auto [rule, isNew] = rules.try_emplace(op.rule.get());
    if (isNew)
      rule->second = std::hash<std::string>()(ruleText(*op.rule));
    uint64_t hash = mix(rule->second, uint64_t(op.flopsPerPoint));
    for (unsigned factor : op.flat)
      hash = mix(hash, factor);
    for (unsigned value : op.operands) {
      const LayoutGraph::Value &graphValue = graph.values[value];
      const bool free =
          graphValue.producer >= 0 && graph.ops[graphValue.producer].free;
      hash = mix(hash, tensors[value] ^
                           uint64_t((graphValue.block == op.block) |
                                    graphValue.argument << 1 | free << 2 |
                                    (shared[value] != 0) << 3));
    }
    for (unsigned value : op.results)
      hash = mix(hash, tensors[value]);
    const uint64_t scope =
        scopeHash({op.runs, op.block, op.branch, op.branchRuns});
    now.ops.push_back(mix(mix(hash, scope), uint64_t(op.free | op.join << 1 |
                                                     (op.loop + 1) << 2)));
  }
  now.values.reserve(graph.values.size());
  for (unsigned i = 0; i < graph.values.size(); ++i) {
    const LayoutGraph::Value &value = graph.values[i];
    const uint64_t scope =
        scopeHash({value.runs, value.sumRuns, value.block, value.branch});
    now.values.push_back(mix(mix(mix(tensors[i], layouts[i]), scope),
                             uint64_t((value.producer < 0) |
                                      value.argument << 1 | value.open << 2)));
  }
  // Sums do not depend on the order of users.
  for (const LayoutGraph::Output &output : graph.outputs)
    users[output.value] +=
        mixAll({int64_t(output.layout.hash()), output.atEnd, output.branch,
                output.branchRuns, output.open});
  for (unsigned i = 0; i < graph.values.size(); ++i)
    now.values[i] = mix(now.values[i], users[i]);
}

const LayoutColours &LayoutColouring::after(unsigned number) {
  for (; rounds < number; ++rounds) {
    std::fill(users.begin(), users.end(), 0);
    unsigned operand = 0, result = 0;
    for (unsigned i = 0; i < now.ops.size(); ++i) {
      const uint64_t op = now.ops[i];
      for (unsigned k = 0; operand < operandEnds[i]; ++operand, ++k)
        users[operands[operand]] += mix(op, k);
      for (unsigned k = 0; result < resultEnds[i]; ++result, ++k) {
        uint64_t &value = now.values[results[result]];
        value = mix(mix(value, op), k);
      }
    }
    for (unsigned i = 0; i < now.values.size(); ++i)
      now.values[i] = mix(now.values[i], users[i]);
    operand = result = 0;
    for (unsigned i = 0; i < now.ops.size(); ++i) {
      uint64_t op = now.ops[i];
      for (; operand < operandEnds[i]; ++operand)
        op = mix(op, now.values[operands[operand]]);
      for (; result < resultEnds[i]; ++result)
        op = mix(op, now.values[results[result]]);
      now.ops[i] = op;
    }
  }
  return now;
}

namespace {

/// The members of each colour, and the one in the middle: of layers, what the
/// fold takes from one colour and from the next is then mostly of one layer.
class Classes {
public:
  Classes(const std::vector<uint64_t> &colours,
          const std::vector<unsigned> &included);
  size_t size() const { return order.size(); }
  /// By what is in the middle, ascending.
  std::span<const unsigned> members(unsigned i) const {
    return groups[order[i]];
  }
  unsigned middle(unsigned i) const {
    return members(i)[members(i).size() / 2];
  }

private:
  Groups groups;
  std::vector<unsigned> order;
};

} // namespace

/// Ascending numbers, of those that are `included`.
Classes::Classes(const std::vector<uint64_t> &colours,
                 const std::vector<unsigned> &included) {
  std::unordered_map<uint64_t, unsigned> numbers;
  std::vector<unsigned> classOf;
  classOf.reserve(included.size());
  for (unsigned i : included)
    classOf.push_back(numbers.try_emplace(colours[i], unsigned(numbers.size()))
                          .first->second);
  groups = Groups(included, classOf, numbers.size());
  order.resize(numbers.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {}, [&](unsigned number) {
    const std::span<const unsigned> group = groups[number];
    return group[group.size() / 2];
  });
}

LayoutFold foldLayouts(const LayoutGraph &graph, const LayoutColours &colours) {
  LayoutFold fold;
  fold.valueOf.resize(graph.values.size());
  fold.opOf.resize(graph.ops.size());
  std::vector<unsigned> arguments, every(graph.ops.size());
  std::iota(every.begin(), every.end(), 0u);
  for (unsigned value = 0; value < graph.values.size(); ++value)
    if (graph.values[value].producer < 0)
      arguments.push_back(value);
  const Classes values(colours.values, arguments), ops(colours.ops, every);
  auto addValue = [&](unsigned value, int producer, int64_t copies) {
    LayoutGraph::Value copy = graph.values[value];
    copy.producer = producer;
    copy.runs *= copies;
    copy.sumRuns *= copies;
    fold.graph.values.push_back(std::move(copy));
    return unsigned(fold.graph.values.size() - 1);
  };
  for (unsigned i = 0; i < values.size(); ++i) {
    unsigned number =
        addValue(values.middle(i), -1, int64_t(values.members(i).size()));
    for (unsigned member : values.members(i))
      fold.valueOf[member] = number;
  }
  for (unsigned i = 0; i < ops.size(); ++i) {
    const LayoutGraph::Op &middle = graph.ops[ops.middle(i)];
    const auto copies = int64_t(ops.members(i).size());
    LayoutGraph::Op copy = middle;
    copy.copies = copies;
    copy.runs *= copies;
    copy.branchRuns *= copies;
    copy.operands.clear();
    copy.results.clear();
    for (unsigned k = 0; k < middle.results.size(); ++k) {
      copy.results.push_back(addValue(middle.results[k], int(i), copies));
      for (unsigned member : ops.members(i))
        fold.valueOf[graph.ops[member].results[k]] = copy.results[k];
    }
    for (unsigned member : ops.members(i))
      fold.opOf[member] = i;
    fold.graph.ops.push_back(std::move(copy));
  }
  for (unsigned i = 0; i < ops.size(); ++i) {
    IndexList &operands = fold.graph.ops[i].operands;
    for (unsigned value : graph.ops[ops.middle(i)].operands)
      operands.push_back(fold.valueOf[value]);
    std::set<std::pair<unsigned, unsigned>> others;
    for (unsigned member : ops.members(i))
      for (unsigned k = 0; k < operands.size(); ++k)
        if (unsigned value = fold.valueOf[graph.ops[member].operands[k]];
            value != operands[k])
          others.insert({k, value});
    for (auto [operand, value] : others)
      fold.graph.ops[i].others.push_back({operand, value});
  }
  std::map<std::tuple<unsigned, size_t, bool, unsigned, bool>, size_t> outputs;
  for (const LayoutGraph::Output &output : graph.outputs) {
    LayoutGraph::Output copy = output;
    copy.value = fold.valueOf[output.value];
    if (output.result >= 0)
      copy.result = int(fold.valueOf[unsigned(output.result)]);
    auto [entry, isNew] = outputs.try_emplace(
        {copy.value, copy.layout.hash(), copy.atEnd, copy.branch, copy.open},
        fold.graph.outputs.size());
    if (isNew)
      fold.graph.outputs.push_back(std::move(copy));
    else
      fold.graph.outputs[entry->second].branchRuns += output.branchRuns;
  }
  std::vector<unsigned> places; ///< of the fold's ops, in the whole graph
  for (unsigned i = 0; i < ops.size(); ++i)
    places.push_back(ops.middle(i));
  auto firstFrom = [&](unsigned op) {
    return unsigned(std::ranges::lower_bound(places, op) - places.begin());
  };
  for (const LayoutGraph::Loop &loop : graph.loops) {
    unsigned first = firstFrom(loop.first), next = firstFrom(loop.last + 1);
    fold.graph.loops.push_back({first, std::max(first, next - (next > first))});
  }
  return fold;
}

FoldedLayouts::FoldedLayouts(const LayoutGraph &whole, bool isFolded)
    : whole(whole) {
  constexpr size_t fewOps = 600;
  // More rounds keep more of the ends apart, but cost as many ops, and the
  // plans were no better: what differs at the ends is settled there.
  constexpr unsigned roundsOfParts = 1, roundsOfPlan = 4;
  if (whole.ops.size() < fewOps)
    return;
  std::vector<uint64_t> layouts;
  layouts.reserve(whole.values.size());
  for (const LayoutGraph::Value &value : whole.values)
    layouts.push_back(value.layout().hash());
  LayoutColouring colouring(whole, layouts);
  auto isSmall = [&](const LayoutFold &fold) {
    return 2 * fold.graph.ops.size() <= whole.ops.size();
  };
  LayoutFold parts = foldLayouts(whole, colouring.after(roundsOfParts));
  if (!isSmall(parts))
    return;
  partsFold = std::move(parts);
  if (isFolded) {
    LayoutFold plan = foldLayouts(whole, colouring.after(roundsOfPlan));
    if (isSmall(plan))
      planFold = std::move(plan);
  }
  usesOfWhole.emplace(whole);
  partOf.resize(graph().values.size());
  for (unsigned value = 0; value < whole.values.size(); ++value)
    partOf[planned(value)] = partsFold->valueOf[value];
}

} // namespace meshloom
