// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shrinking by trial: each step makes the program smaller and is kept if it
// still fails, until no step helps.
#include "Shrink.h"

#include "ShardMap.h"

#include <algorithm>

namespace meshloom::fuzz {
namespace {

void countUses(const std::vector<Node> &nodes, std::vector<int> &uses) {
  for (const Node &node : nodes) {
    for (unsigned operand : node.operands)
      ++uses[operand];
    for (const Block &block : node.blocks) {
      countUses(block.nodes, uses);
      for (unsigned value : block.yields)
        ++uses[value];
    }
  }
}

void dropUnused(std::vector<Node> &nodes, const std::vector<int> &uses) {
  for (Node &node : nodes)
    for (Block &block : node.blocks)
      dropUnused(block.nodes, uses);
  std::erase_if(nodes, [&](const Node &node) {
    return std::ranges::none_of(node.results,
                                [&](unsigned v) { return uses[v] > 0; });
  });
}

/// Removes ops and arguments that nothing reads.
void tidy(Recipe &recipe) {
  for (size_t before = 1, after = 0; before != after;) {
    std::vector<int> uses(recipe.values.size());
    countUses(recipe.nodes, uses);
    for (unsigned result : recipe.results)
      ++uses[result];
    before = recipe.nodes.size() + recipe.arguments.size();
    dropUnused(recipe.nodes, uses);
    std::erase_if(recipe.arguments,
                  [&](unsigned argument) { return uses[argument] == 0; });
    after = recipe.nodes.size() + recipe.arguments.size();
  }
}

class Shrinker {
public:
  Shrinker(Recipe recipe, const std::function<bool(const Recipe &)> &fails,
           int budget)
      : best(std::move(recipe)), fails(fails), budget(budget) {}

  Recipe run() {
    bool smaller = true;
    while (smaller) {
      // Each is tried in every round.
      smaller = fewerResults();
      smaller |= fewerOps();
      smaller |= noGradient();
      smaller |= fewerLayouts();
    }
    return best;
  }

private:
  bool keep(Recipe candidate) {
    tidy(candidate);
    if (budget-- <= 0 || candidate.results.empty() || !fails(candidate))
      return false;
    best = std::move(candidate);
    return true;
  }

  bool fewerResults() {
    bool any = false;
    for (size_t i = best.results.size(); i-- > (best.gradient ? 1u : 0u);) {
      if (best.results.size() == 1)
        break;
      Recipe candidate = best;
      candidate.results.erase(candidate.results.begin() + ptrdiff_t(i));
      any |= keep(std::move(candidate));
    }
    return any;
  }

  /// Takes an op away: its results become arguments, or are returned in place
  /// of what followed.
  bool fewerOps() {
    bool any = false;
    for (size_t i = best.nodes.size(); i-- > 0;) {
      if (i >= best.nodes.size())
        continue;
      // The program ends here.
      Recipe cut = best;
      cut.gradient = false;
      cut.results = cut.nodes[i].results;
      cut.nodes.resize(i + 1);
      if (cut.nodes.size() < best.nodes.size() && keep(std::move(cut))) {
        any = true;
        continue;
      }
      Recipe candidate = best;
      std::vector<unsigned> results = candidate.nodes[i].results;
      candidate.nodes.erase(candidate.nodes.begin() + ptrdiff_t(i));
      for (unsigned result : results)
        candidate.arguments.push_back(result);
      // No gradient with respect to a value that is returned as it is.
      any |= keep(std::move(candidate));
    }
    return any;
  }

  bool noGradient() {
    if (!best.gradient)
      return false;
    Recipe candidate = best;
    candidate.gradient = false;
    return keep(std::move(candidate));
  }

  bool fewerLayouts() {
    bool any = false;
    for (unsigned value = 0; value < best.values.size(); ++value) {
      if (best.values[value].layout.empty())
        continue;
      Recipe candidate = best;
      Value &changed = candidate.values[value];
      std::string whole = "[";
      for (size_t d = 0; d < changed.shape.size(); ++d)
        whole += d ? ", *" : "*";
      whole += "]";
      if (changed.layout == whole)
        continue;
      changed.layout = whole;
      any |= keep(std::move(candidate));
    }
    return any;
  }

  Recipe best;
  const std::function<bool(const Recipe &)> &fails;
  int budget;
};
} // namespace

Recipe shrink(Recipe recipe, const std::function<bool(const Recipe &)> &fails,
              int budget) {
  return Shrinker(std::move(recipe), fails, budget).run();
}

//===----------------------------------------------------------------------===//
// Bodies of shard_map
//===----------------------------------------------------------------------===//

/// `program` without ops that nothing reads.
static ShardMapProgram tidied(const ShardMapProgram &program) {
  std::vector<bool> used(program.ops.size());
  for (size_t i = 0; i < program.in.size(); ++i)
    used[i] = true;
  for (const ShardMapProgram::Result &result : program.results)
    used[result.value] = true;
  for (size_t i = program.ops.size(); i-- > 0;)
    if (used[i])
      for (unsigned operand : program.ops[i].operands)
        used[operand] = true;
  std::vector<unsigned> number(program.ops.size());
  ShardMapProgram result = program;
  result.ops.clear();
  for (size_t i = 0; i < program.ops.size(); ++i) {
    if (!used[i])
      continue;
    number[i] = unsigned(result.ops.size());
    ManualOp &op = result.ops.emplace_back(program.ops[i]);
    for (unsigned &operand : op.operands)
      operand = number[operand];
  }
  for (ShardMapProgram::Result &shrunk : result.results)
    shrunk.value = number[shrunk.value];
  return result;
}

ShardMapProgram
shrink(ShardMapProgram best,
       const std::function<bool(const ShardMapProgram &)> &fails, int budget) {
  auto keep = [&](const ShardMapProgram &candidate) {
    ShardMapProgram small = tidied(candidate);
    if (--budget < 0 || !describe(small) || !fails(small))
      return false;
    best = std::move(small);
    return true;
  };
  keep(best);
  for (bool better = true; better && budget > 0;) {
    better = false;
    for (size_t r = 0; best.results.size() > 1 && r < best.results.size();
         ++r) {
      ShardMapProgram candidate = best;
      candidate.results.erase(candidate.results.begin() + int64_t(r));
      better |= keep(candidate);
    }
    // Each op's users read its operand, or a value before it, instead.
    for (size_t i = best.ops.size(); i-- > best.in.size();)
      for (size_t other = 0; other < i && i < best.ops.size(); ++other) {
        ShardMapProgram candidate = best;
        for (ManualOp &op : candidate.ops)
          for (unsigned &operand : op.operands)
            if (operand == i)
              operand = unsigned(other);
        for (ShardMapProgram::Result &result : candidate.results)
          if (result.value == i)
            result.value = unsigned(other);
        if (describe(tidied(candidate)) && keep(candidate)) {
          better = true;
          break;
        }
      }
  }
  return best;
}

} // namespace meshloom::fuzz
