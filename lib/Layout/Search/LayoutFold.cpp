// Colour refinement (Weisfeiler and Leman, 1968), for a few rounds, and the
// fold by its colours. Colours are 64-bit hashes: where two meet by chance the
// fold decides two parts alike that differ.
#include "LayoutFold.h"

#include "meshloom/Layout/Search/LayoutPrices.h"

#include <algorithm>
#include <map>
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
    : graph(graph), users(graph.values.size()) {
  std::vector<uint64_t> tensors; ///< per value: its shape and type
  tensors.reserve(graph.values.size());
  for (const LayoutGraph::Value &value : graph.values) {
    uint64_t hash = mixAll({int64_t(value.type), int64_t(value.shape.size())});
    for (int64_t extent : value.shape)
      hash = mix(hash, uint64_t(extent));
    tensors.push_back(hash);
  }
  // What an op does: its rule, its work, and what it takes and gives.
  const std::vector<char> shared = findSharedWindows(graph);
  std::unordered_map<const ShardingRule *, uint64_t> rules;
  now.ops.reserve(graph.ops.size());
  for (const LayoutGraph::Op &op : graph.ops) {
    auto [rule, isNew] = rules.try_emplace(op.rule.get());
    if (isNew)
      rule->second = std::hash<std::string>()(ruleText(*op.rule));
    uint64_t hash = mix(rule->second, uint64_t(op.flopsPerPoint));
    for (unsigned factor : op.flat)
      hash = mix(hash, factor);
    for (unsigned value : op.operands) {
      const LayoutGraph::Value &what = graph.values[value];
      const bool free = what.producer >= 0 && graph.ops[what.producer].free;
      hash =
          mix(hash, tensors[value] ^
                        uint64_t((what.block == op.block) | what.argument << 1 |
                                 free << 2 | (shared[value] != 0) << 3));
    }
    for (unsigned value : op.results)
      hash = mix(hash, tensors[value]);
    now.ops.push_back(mixAll({int64_t(hash), op.runs, op.block, op.branch,
                              op.branchRuns, op.free | op.join << 1, op.loop}));
  }
  for (unsigned i = 0; i < graph.values.size(); ++i) {
    const LayoutGraph::Value &value = graph.values[i];
    now.values.push_back(
        mixAll({int64_t(tensors[i]), int64_t(layouts[i]),
                (value.producer < 0) | value.argument << 1 | value.open << 2,
                value.runs, value.sumRuns, value.block, value.branch}));
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
    for (unsigned i = 0; i < graph.ops.size(); ++i)
      for (unsigned k = 0; k < graph.ops[i].operands.size(); ++k)
        users[graph.ops[i].operands[k]] += mix(now.ops[i], k);
    for (unsigned i = 0; i < graph.ops.size(); ++i) {
      const LayoutGraph::Op &op = graph.ops[i];
      for (unsigned k = 0; k < op.results.size(); ++k) {
        uint64_t &value = now.values[op.results[k]];
        value = mix(mix(value, now.ops[i]), k);
      }
    }
    for (unsigned i = 0; i < graph.values.size(); ++i)
      now.values[i] = mix(now.values[i], users[i]);
    for (unsigned i = 0; i < graph.ops.size(); ++i) {
      const LayoutGraph::Op &op = graph.ops[i];
      for (const auto *values : {&op.operands, &op.results})
        for (unsigned value : *values)
          now.ops[i] = mix(now.ops[i], now.values[value]);
    }
  }
  return now;
}

namespace {

/// The members of each colour, and the one in the middle: of layers, what the
/// fold takes from one colour and from the next is then mostly of one layer.
struct Classes {
  std::vector<std::vector<unsigned>> members; ///< ascending
  unsigned middle(unsigned i) const {
    return members[i][members[i].size() / 2];
  }
};

} // namespace

static Classes classesOf(const std::vector<uint64_t> &colours,
                         const std::vector<char> &include) {
  Classes classes;
  std::unordered_map<uint64_t, unsigned> numbers;
  for (unsigned i = 0; i < colours.size(); ++i) {
    if (!include[i])
      continue;
    auto [entry, isNew] =
        numbers.try_emplace(colours[i], unsigned(classes.members.size()));
    if (isNew)
      classes.members.emplace_back();
    classes.members[entry->second].push_back(i);
  }
  std::ranges::sort(classes.members, {}, [](const auto &members) {
    return members[members.size() / 2];
  });
  return classes;
}

LayoutFold foldLayouts(const LayoutGraph &graph, const LayoutColours &colours) {
  LayoutFold fold;
  fold.valueOf.resize(graph.values.size());
  fold.opOf.resize(graph.ops.size());
  std::vector<char> given;
  for (const LayoutGraph::Value &value : graph.values)
    given.push_back(value.producer < 0);
  Classes values = classesOf(colours.values, given),
          ops = classesOf(colours.ops, std::vector<char>(graph.ops.size(), 1));
  auto addValue = [&](unsigned value, int producer, int64_t copies) {
    LayoutGraph::Value made = graph.values[value];
    made.producer = producer;
    made.runs *= copies;
    made.sumRuns *= copies;
    fold.graph.values.push_back(std::move(made));
    return unsigned(fold.graph.values.size() - 1);
  };
  for (unsigned i = 0; i < values.members.size(); ++i) {
    unsigned number =
        addValue(values.middle(i), -1, int64_t(values.members[i].size()));
    for (unsigned member : values.members[i])
      fold.valueOf[member] = number;
  }
  for (unsigned i = 0; i < ops.members.size(); ++i) {
    const LayoutGraph::Op &middle = graph.ops[ops.middle(i)];
    const auto copies = int64_t(ops.members[i].size());
    LayoutGraph::Op made = middle;
    made.copies = copies;
    made.runs *= copies;
    made.branchRuns *= copies;
    made.operands.clear();
    made.results.clear();
    for (unsigned k = 0; k < middle.results.size(); ++k) {
      made.results.push_back(addValue(middle.results[k], int(i), copies));
      for (unsigned member : ops.members[i])
        fold.valueOf[graph.ops[member].results[k]] = made.results[k];
    }
    for (unsigned member : ops.members[i])
      fold.opOf[member] = i;
    fold.graph.ops.push_back(std::move(made));
  }
  for (unsigned i = 0; i < ops.members.size(); ++i) {
    std::vector<unsigned> &operands = fold.graph.ops[i].operands;
    for (unsigned value : graph.ops[ops.middle(i)].operands)
      operands.push_back(fold.valueOf[value]);
    std::set<std::pair<unsigned, unsigned>> others;
    for (unsigned member : ops.members[i])
      for (unsigned k = 0; k < operands.size(); ++k)
        if (unsigned value = fold.valueOf[graph.ops[member].operands[k]];
            value != operands[k])
          others.insert({k, value});
    for (auto [operand, value] : others)
      fold.graph.ops[i].others.push_back({operand, value});
  }
  std::map<std::tuple<unsigned, size_t, bool, unsigned, bool>, size_t> outputs;
  for (const LayoutGraph::Output &output : graph.outputs) {
    LayoutGraph::Output made = output;
    made.value = fold.valueOf[output.value];
    if (output.result >= 0)
      made.result = int(fold.valueOf[unsigned(output.result)]);
    auto [entry, isNew] = outputs.try_emplace(
        {made.value, made.layout.hash(), made.atEnd, made.branch, made.open},
        fold.graph.outputs.size());
    if (isNew)
      fold.graph.outputs.push_back(std::move(made));
    else
      fold.graph.outputs[entry->second].branchRuns += output.branchRuns;
  }
  std::vector<unsigned> places; ///< of the fold's ops, in the whole graph
  for (unsigned i = 0; i < ops.members.size(); ++i)
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
    layouts.push_back(value.layout.hash());
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
