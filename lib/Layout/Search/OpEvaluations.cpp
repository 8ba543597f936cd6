// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How one op runs with given layouts: what it needs and produces by its rule,
// its part of the work, and the halo exchanges in front of it. Made once for
// all ops of a kind and layouts that searches come across.
#include "meshloom/Core/SharedWindows.h"
#include "meshloom/Layout/Search/LayoutState.h"

#include <algorithm>

namespace meshloom {

/// Extent of the largest shard of a factor over axes.
static int64_t shardExtent(int64_t extent, const std::vector<unsigned> &axes,
                           const Mesh &mesh) {
  for (unsigned axis : axes)
    extent = (extent + mesh.axis_size(axis) - 1) / mesh.axis_size(axis);
  return extent;
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
    const LayoutGraph::Value &what = graph.values[value];
    add(prices.kindOf(what.shape(), what.type()));
    bool free = what.producer >= 0 && graph.ops[what.producer].free;
    add((what.block == op.block) | what.argument << 1 | free << 2 |
        (shared[value] != 0) << 3);
  }
  for (unsigned value : op.results)
    add(prices.kindOf(graph.values[value].shape(), graph.values[value].type()));
  return text;
}

unsigned LayoutPrices::opKind(const LayoutGraph &graph, unsigned op,
                              std::span<const char> shared) {
  auto [entry, isNew] = opKinds.try_emplace(opText(graph, op, shared, *this),
                                            unsigned(known.size()));
  if (isNew)
    known.emplace_back();
  return entry->second;
}

const OpEvaluation &LayoutState::evaluate(unsigned index) {
  return evaluate(index, graph.ops[index].operands);
}

const OpEvaluation &LayoutState::evaluate(unsigned index,
                                          std::span<const unsigned> operands) {
  const LayoutGraph::Op &op = graph.ops[index];
  key.clear();
  for (unsigned value : operands)
    key.push_back(layouts[value]);
  for (unsigned value : op.results)
    key.push_back(layouts[value]);
  LayoutPrices::Evaluations &known = prices->evaluations(opKinds[index]);
  auto found = known.find(LayoutPrices::Ids(key));
  if (found == known.end())
    found = known.emplace(key, compute(index, key)).first;
  return found->second;
}

bool LayoutState::runsAlike(unsigned op, std::span<const unsigned> operands) {
  if (graph.ops[op].free)
    return true;
  const OpEvaluation &there = evaluate(op, operands), &here = *current[op];
  return there.valid && there.needs == here.needs &&
         there.produces == here.produces;
}

/// One exchange, of which one device moves so much at most; whether what it
/// exchanges is made by an op.
static Objective priceHalos(const MachineModel &machine,
                            const CollectiveOp &exchange, int64_t mostBytes,
                            int64_t bytes, bool waits) {
  Cost cost = machine.transfer(exchange, mostBytes, bytes);
  // In shared memory nobody waits for what is there from the start.
  if (!machine.sharedMemory || waits)
    cost += machine.overhead(exchange);
  return {cost, 1, 0};
}

OpEvaluation LayoutState::compute(unsigned index,
                                  const std::vector<LayoutId> &key) {
  const LayoutGraph::Op &op = graph.ops[index];
  countParts(op.operands.size());
  const ShardingRule &rule = *op.rule;
  const Mesh &mesh = graph.mesh();
  std::vector<Layout> operands, results;
  for (size_t i = 0; i < key.size(); ++i)
    (i < op.operands.size() ? operands : results).push_back(get(key[i]));

  OpEvaluation made;
  made.sharding = opSharding(rule, operands, results);
  const OpSharding &sharding = made.sharding;
  made.valid = true;
  for (unsigned i = 0; i < operands.size(); ++i) {
    Layout need = operandLayout(rule, i, sharding, mesh);
    // Inside of a loop it would be resolved again and again.
    made.valid &=
        !need.is_partial() || graph.values[op.operands[i]].block == op.block;
    for (Partial pending : need.partial())
      made.valid &= std::ranges::count(operands[i].partial(), pending) > 0;
    made.needs.push_back(intern(need));
  }
  for (unsigned i = 0; i < results.size(); ++i) {
    Layout result = resultLayout(rule, i, sharding, mesh);
    // Pending reductions may go, nothing else may differ.
    made.valid &= result.dim_axes() == results[i].dim_axes();
    for (Partial pending : result.partial())
      made.valid &= std::ranges::count(results[i].partial(), pending) > 0;
    made.produces.push_back(intern(result));
  }

  if (!rule.windows.empty())
    addHalos(index, key, made);

  Work &work = made.work;
  work.flops = work.totalFlops = op.flopsPerPoint;
  for (unsigned f = 0; f < rule.factors.size(); ++f) {
    const Factor &factor = rule.factors[f];
    if (std::ranges::count(op.flat, f) > 0)
      continue;
    work.flops *= shardExtent(factor.size, sharding.factors.axes[f], mesh);
    work.totalFlops *= factor.size;
    work.shards *= groupSize(mesh, sharding.factors.axes[f]);
    // The parts of a sum cannot be made apart without adding them up; points
    // of a result can.
    work.splittable &= factor.kind == FactorKind::Parallel;
  }
  // Each addend of a pending reduction is worked on by itself.
  for (Partial pending : sharding.passed) {
    work.totalFlops *= mesh.axis_size(pending.axis);
    work.shards *= mesh.axis_size(pending.axis);
  }
  return made;
}

/// What an op needs of an operand beyond what devices have of it. Nothing of
/// what is made in any layout, or cut from a value that has it.
const LayoutPrices::OperandHalo &
LayoutState::operandHalo(unsigned index, unsigned operand, LayoutId has,
                         const OpEvaluation &made) {
  const LayoutGraph::Op &op = graph.ops[index];
  const unsigned value = op.operands[operand];
  const LayoutGraph::Value &what = graph.values[value];
  const LayoutId needs = made.needs[operand];
  // The axes of windowed dims are those of the factors that they are read for:
  // windows follow from the layout.
  auto [entry, isNew] =
      prices->operandHalos.try_emplace({opKinds[index], operand, has, needs});
  LayoutPrices::OperandHalo &halo = entry->second;
  if (!isNew || (what.producer >= 0 && graph.ops[what.producer].free))
    return halo;
  const Layout &have = get(has), &need = get(needs);
  Windows windows = operandWindows(*op.rule, operand, made.sharding,
                                   what.shape(), graph.mesh());
  if (areWithinBlocks(need, what.shape(), windows))
    return halo;
  // What a pending reduction leaves behind is a block and no more.
  bool isCut = std::ranges::equal(have.partial(), need.partial());
  for (unsigned dim = 0; dim < need.rank(); ++dim) {
    auto axes = have.axes(dim), wanted = need.axes(dim);
    isCut &= axes.size() <= wanted.size() &&
             std::equal(axes.begin(), axes.end(), wanted.begin());
  }
  if (isCut && isWithinSource(have, need, what.shape(), windows))
    return halo;
  halo.windows = std::move(windows);
  if (sharesHalos[value])
    return halo;
  const BlockGrid &grid = *prices->grid(kinds[value], needs, what.shape());
  halo.axes = haloAxes(need, what.shape(), halo.windows);
  halo.moved.emplace(grid).add(grid, halo.windows, byteWidth(what.type()));
  return halo;
}

/// What it costs that devices need windows of operands beyond their blocks: one
/// exchange of all that only this op needs.
void LayoutState::addHalos(unsigned index, std::span<const LayoutId> have,
                           OpEvaluation &made) {
  const LayoutGraph::Op &op = graph.ops[index];
  std::optional<MovedByDevice> moved;
  std::optional<CollectiveOp> exchange;
  int64_t bytes = 0;
  bool waits = false;
  for (unsigned i = 0; i < op.operands.size(); ++i) {
    const LayoutPrices::OperandHalo &halo =
        operandHalo(index, i, have[i], made);
    if (halo.windows.empty())
      continue;
    if (!halo.moved) {
      made.shared.push_back({i, halo.windows});
      continue;
    }
    const LayoutGraph::Value &what = graph.values[op.operands[i]];
    if (moved)
      *moved += *halo.moved;
    else
      moved = halo.moved;
    bytes += globalBytes(what.shape(), what.type());
    waits |= !what.argument;
    const Layout &need = get(made.needs[i]);
    exchange = {CollectiveKind::HaloExchange, halo.axes, need, need};
  }
  if (exchange)
    made.halos = priceHalos(machine, *exchange, moved->most(), bytes, waits);
}

/// Where one op alone needs windows of a value its price is the op's; several
/// uses share exchanges.
void LayoutState::findWindowUses() {
  for (unsigned value = 0; value < graph.values.size(); ++value) {
    std::vector<Use> &windowed = windowUses.emplace_back();
    for (const Use &use : uses[value])
      if (use.op >= 0 &&
          std::ranges::count(graph.ops[use.op].rule->windows, use.index,
                             &ShardingRule::Window::operand) > 0)
        windowed.push_back(use);
    std::ranges::stable_sort(
        windowed, {}, [&](const Use &use) { return graph.ops[use.op].branch; });
    sharesHalos.push_back(windowed.size() > 1);
  }
}

/// What the exchanges for `haloUses` cost. As ExpandToSPMD makes them: of one
/// layout, over the same axes, there is one.
const Objective &LayoutState::sharedHaloPrice(unsigned value) {
  auto [entry, isNew] = prices->sharedHalos.try_emplace(haloUses);
  Objective &all = entry->second;
  if (!isNew)
    return all;
  countParts(haloUses.size());
  const LayoutGraph::Value &what = graph.values[value];
  std::map<LayoutId, SharedWindows> needed;
  for (auto [op, operand] : haloUses) {
    const LayoutId need = op->needs[operand];
    SharedWindows &windows =
        needed.try_emplace(need, prices->grid(kinds[value], need, what.shape()))
            .first->second;
    windows.add(
        std::ranges::find(op->shared, operand, &OpEvaluation::Beyond::operand)
            ->windows);
  }
  for (const auto &[id, windows] : needed) {
    const Layout &need = get(id);
    const BlockGrid &grid = *prices->grid(kinds[value], id, what.shape());
    std::map<std::vector<unsigned>, MovedByDevice> exchanges; ///< by axes
    for (const Windows &each : windows.all())
      exchanges.try_emplace(haloAxes(need, what.shape(), each), grid)
          .first->second.add(grid, each, byteWidth(what.type()));
    for (const auto &[axes, moved] : exchanges)
      all += priceHalos(
          machine, {CollectiveKind::HaloExchange, axes, need, need},
          moved.most(), globalBytes(what.shape(), what.type()), !what.argument);
  }
  return all;
}

} // namespace meshloom
