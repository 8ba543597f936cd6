// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kinds of ops, and the prices that the searches of a thread share.
#include "meshloom/Layout/Search/LayoutPrices.h"

#include "ClusterKinds.h"

namespace meshloom {

LayoutPrices::LayoutPrices(const Mesh &mesh, const MachineModel &machine)
    : RelayoutCosts(mesh, machine),
      kindsOfClusters(std::make_unique<ClusterKinds>()) {}

LayoutPrices::~LayoutPrices() = default;

std::shared_ptr<LayoutPrices>
LayoutPrices::ofThread(const Mesh &mesh, const MachineModel &machine) {
  constexpr size_t mostEvaluations = 20'000; // about 10 MB
  thread_local std::shared_ptr<LayoutPrices> last;
  const bool isUsable = last && last->meshOfLayouts() == mesh &&
                        last->fits(machine) &&
                        last->evaluated.size() < mostEvaluations;
  if (!isUsable)
    last = std::make_shared<LayoutPrices>(mesh, machine);
  return last;
}

std::string ruleText(const ShardingRule &rule) {
  std::string text;
  auto add = [&](int64_t number) {
    text.append(reinterpret_cast<const char *>(&number), sizeof number);
  };
  add(int64_t(rule.factors.size()));
  for (const Factor &factor : rule.factors) {
    add(factor.size);
    add(int64_t(factor.kind));
  }
  for (const auto *tensors : {&rule.operands, &rule.results}) {
    add(int64_t(tensors->size()));
    for (const ShardingRule::Tensor &tensor : *tensors) {
      add(int64_t(tensor.size()));
      for (const ShardingRule::Dim &dim : tensor) {
        add(int64_t(dim.size()));
        for (unsigned factor : dim)
          add(factor);
      }
    }
  }
  add(int64_t(rule.windows.size()));
  for (const ShardingRule::Window &window : rule.windows) {
    for (int64_t number :
         {int64_t(window.operand), int64_t(window.dim), int64_t(window.factor),
          window.scale, window.low, window.high, window.divisor,
          int64_t(window.sources.size())})
      add(number);
    for (int64_t source : window.sources)
      add(source);
  }
  add(int64_t(rule.partialFlow));
  add(int64_t(rule.reduceKind));
  add(int64_t(rule.carriers.size()));
  for (unsigned carrier : rule.carriers)
    add(carrier);
  return text;
}

/// All that an evaluation depends on but layouts.
static std::string opText(const LayoutGraph &graph, unsigned index,
                          std::span<const char> shared, RelayoutCosts &prices) {
  const LayoutGraph::Op &op = graph.ops[index];
  std::string text = ruleText(*op.rule);
  auto add = [&](int64_t number) {
    text.append(reinterpret_cast<const char *>(&number), sizeof number);
  };
  add(op.flopsPerPoint);
  add(int64_t(op.flat.size()));
  for (unsigned factor : op.flat)
    add(factor);
  for (unsigned value : op.operands) {
    const LayoutGraph::Value &graphValue = graph.values[value];
    add(prices.kindOf(graphValue.shape(), graphValue.type()));
    bool free = graphValue.producer >= 0 && graph.ops[graphValue.producer].free;
    add((graphValue.block == op.block) | graphValue.argument << 1 | free << 2 |
        (shared[value] != 0) << 3);
  }
  for (unsigned value : op.results)
    add(prices.kindOf(graph.values[value].shape(), graph.values[value].type()));
  return text;
}

unsigned LayoutPrices::opKind(const LayoutGraph &graph, unsigned op,
                              std::span<const char> shared) {
  return opKinds
      .try_emplace(opText(graph, op, shared, *this), unsigned(opKinds.size()))
      .first->second;
}

} // namespace meshloom
