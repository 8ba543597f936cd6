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
  const OpEvaluation &evaluation = prices->evaluation(
      opKinds[index], key, [&] { return compute(index, key); });
  countParts(&evaluation, operands.size());
  return evaluation;
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
  const ShardingRule &rule = *op.rule;
  const Mesh &mesh = graph.mesh();
  std::vector<Layout> operands, results;
  for (size_t i = 0; i < key.size(); ++i)
    (i < op.operands.size() ? operands : results).push_back(get(key[i]));

  OpEvaluation evaluation;
  evaluation.sharding = opSharding(rule, operands, results);
  const OpSharding &sharding = evaluation.sharding;
  evaluation.valid = true;
  for (unsigned i = 0; i < operands.size(); ++i) {
    Layout need = operandLayout(rule, i, sharding, mesh);
    // Inside of a loop it would be resolved again and again.
    evaluation.valid &=
        !need.is_partial() || graph.values[op.operands[i]].block == op.block;
    for (Partial pending : need.partial())
      evaluation.valid &=
          std::ranges::count(operands[i].partial(), pending) > 0;
    evaluation.needs.push_back(intern(need));
  }
  for (unsigned i = 0; i < results.size(); ++i) {
    Layout result = resultLayout(rule, i, sharding, mesh);
    // Pending reductions may go, nothing else may differ.
    evaluation.valid &= result.dim_axes() == results[i].dim_axes();
    for (Partial pending : result.partial())
      evaluation.valid &= std::ranges::count(results[i].partial(), pending) > 0;
    evaluation.produces.push_back(intern(result));
  }

  if (!rule.windows.empty())
    addHalos(index, key, evaluation);

  Work &work = evaluation.work;
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
  return evaluation;
}

/// Returns the part that an op needs of an operand beyond what devices have of
/// it. A value that is made in any layout, or cut from a value that has it,
/// needs nothing.
const LayoutPrices::OperandHalo &
LayoutState::operandHalo(unsigned index, unsigned operand, LayoutId has,
                         const OpEvaluation &evaluation) {
  const LayoutGraph::Op &op = graph.ops[index];
  const unsigned value = op.operands[operand];
  const LayoutGraph::Value &graphValue = graph.values[value];
  const LayoutId needs = evaluation.needs[operand];
  // The axes of windowed dims are those of the factors that they are read for:
  // windows follow from the layout.
  auto [entry, isNew] =
      prices->operandHalos.try_emplace({opKinds[index], operand, has, needs});
  LayoutPrices::OperandHalo &halo = entry->second;
  if (!isNew ||
      (graphValue.producer >= 0 && graph.ops[graphValue.producer].free))
    return halo;
  const Layout &have = get(has), &need = get(needs);
  Windows windows = operandWindows(*op.rule, operand, evaluation.sharding,
                                   graphValue.shape(), graph.mesh());
  if (areWithinBlocks(need, graphValue.shape(), windows))
    return halo;
  // A pending reduction leaves behind a block and no more.
  bool isCut = std::ranges::equal(have.partial(), need.partial());
  for (unsigned dim = 0; dim < need.rank(); ++dim) {
    auto axes = have.axes(dim), wanted = need.axes(dim);
    isCut &= axes.size() <= wanted.size() &&
             std::equal(axes.begin(), axes.end(), wanted.begin());
  }
  if (isCut && isWithinSource(have, need, graphValue.shape(), windows))
    return halo;
  halo.windows = std::move(windows);
  if (sharesHalos[value])
    return halo;
  const BlockGrid &grid =
      *prices->grid(kinds[value], needs, graphValue.shape());
  halo.axes = haloAxes(need, graphValue.shape(), halo.windows);
  halo.moved.emplace(grid).add(grid, halo.windows,
                               byteWidth(graphValue.type()));
  return halo;
}

/// Adds the cost of the windows of operands that devices need beyond their
/// blocks: one exchange of all that only this op needs.
void LayoutState::addHalos(unsigned index, std::span<const LayoutId> have,
                           OpEvaluation &evaluation) {
  const LayoutGraph::Op &op = graph.ops[index];
  std::optional<MovedByDevice> moved;
  std::optional<CollectiveOp> exchange;
  int64_t bytes = 0;
  bool waits = false;
  for (unsigned i = 0; i < op.operands.size(); ++i) {
    const LayoutPrices::OperandHalo &halo =
        operandHalo(index, i, have[i], evaluation);
    if (halo.windows.empty())
      continue;
    if (!halo.moved) {
      evaluation.shared.push_back({i, halo.windows});
      continue;
    }
    const LayoutGraph::Value &graphValue = graph.values[op.operands[i]];
    if (moved)
      *moved += *halo.moved;
    else
      moved = halo.moved;
    bytes += globalBytes(graphValue.shape(), graphValue.type());
    waits |= !graphValue.argument;
    const Layout &need = get(evaluation.needs[i]);
    exchange = {CollectiveKind::HaloExchange, halo.axes, need, need};
  }
  if (exchange)
    evaluation.halos =
        priceHalos(machine, *exchange, moved->most(), bytes, waits);
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

/// Returns the cost of the exchanges for `haloUses`. ExpandToSPMD makes one
/// exchange of one layout, over the same axes.
const Objective &LayoutState::sharedHaloPrice(unsigned value) {
  auto [entry, isNew] = prices->sharedHalos.try_emplace(haloUses);
  Objective &total = entry->second;
  countParts(&total, haloUses.size());
  if (!isNew)
    return total;
  const LayoutGraph::Value &graphValue = graph.values[value];
  std::map<LayoutId, SharedWindows> needed;
  for (auto [op, operand] : haloUses) {
    const LayoutId need = op->needs[operand];
    SharedWindows &windows =
        needed
            .try_emplace(need,
                         prices->grid(kinds[value], need, graphValue.shape()))
            .first->second;
    windows.add(
        std::ranges::find(op->shared, operand, &OpEvaluation::Beyond::operand)
            ->windows);
  }
  for (const auto &[id, windows] : needed) {
    const Layout &need = get(id);
    const BlockGrid &grid = *prices->grid(kinds[value], id, graphValue.shape());
    std::map<std::vector<unsigned>, MovedByDevice> exchanges; ///< by axes
    for (const Windows &shared : windows.list())
      exchanges.try_emplace(haloAxes(need, graphValue.shape(), shared), grid)
          .first->second.add(grid, shared, byteWidth(graphValue.type()));
    for (const auto &[axes, moved] : exchanges)
      total += priceHalos(
          machine, {CollectiveKind::HaloExchange, axes, need, need},
          moved.most(), globalBytes(graphValue.shape(), graphValue.type()),
          !graphValue.argument);
  }
  return total;
}

} // namespace meshloom
