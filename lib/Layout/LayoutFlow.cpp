// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The flow of mesh axes: a worklist over the ops of a function. See the pass's
// description for the stages, and LayoutFlow.h for why it ends.
// LayoutFlowOps.cpp collects the ops that it flows through, and
// LayoutFlowSeeds.cpp the layouts that it starts from.
#include "LayoutFlow.h"

#include <set>

namespace meshloom {

/// Returns whether propagation may put `axis` on dim `dim` of a value.
bool LayoutFlow::mayTake(const FlowState &state, unsigned dim,
                         unsigned axis) const {
  if (layouts[state.layout].uses_axis(axis))
    return false;
  if (!state.wished)
    return true;
  const auto &[wish, waiting] = *state.wished;
  return !waiting[dim] && wish.isOpen(dim) && !wish.layout.uses_axis(axis) &&
         !llvm::is_contained(wish.replicated, axis);
}

int LayoutFlow::originOf(const FlowOp &op, unsigned factor, unsigned axis) {
  auto find = [&](const ShardingRule::Tensor &tensor, unsigned value) {
    const Layout::DimAxes &dims = layoutOf(value).dim_axes();
    for (auto [dim, factors] : llvm::enumerate(tensor))
      if (llvm::is_contained(factors, factor) &&
          llvm::is_contained(dims[dim], axis))
        return originsOf(value)[axis];
    return -1;
  };
  const ShardingRule &rule = op.rule();
  for (auto [tensor, value] : llvm::zip_equal(rule.results, op.results))
    if (int origin = find(tensor, value); origin >= 0)
      return origin;
  for (auto [tensor, value] : llvm::zip_equal(rule.operands, op.operands))
    if (int origin = find(tensor, value); origin >= 0)
      return origin;
  return -1;
}

void LayoutFlow::enqueueNeighbours(unsigned value) {
  for (unsigned op : touching[value])
    if (!queued[op]) {
      queued[op] = true;
      queue.push_back(op);
    }
}

unsigned LayoutFlow::extended(const FlowState &state, const Layout &wanted) {
  Layout::DimAxes dims = layouts[state.layout].dim_axes();
  bool changed = false;
  for (auto [dim, have] : llvm::enumerate(dims)) {
    std::span<const unsigned> want = wanted.axes(dim);
    if (want.size() <= have.size() ||
        !std::equal(have.begin(), have.end(), want.begin()) ||
        !llvm::all_of(want.subspan(have.size()),
                      [&](unsigned axis) { return mayTake(state, dim, axis); }))
      continue;
    have.assign(want.begin(), want.end());
    changed = true;
  }
  return changed ? layouts.of(*Layout::get(mesh(), std::move(dims)))
                 : state.layout;
}

LayoutFlow::Visit LayoutFlow::findVisit(const FlowOp &op, bool forward,
                                        bool backward) {
  const ShardingRule &rule = op.rule();
  Visit visit{FactorSharding::none(rule), {}};
  FactorSharding &factors = visit.factors;
  for (auto [tensor, value] : llvm::zip_equal(rule.results, op.results))
    merge(rule, factors, project(rule, tensor, layoutOf(value)), mesh());
  std::vector<FactorSharding> wishes;
  wishes.reserve(op.operands.size());
  for (auto [tensor, value] : llvm::zip_equal(rule.operands, op.operands))
    wishes.push_back(project(rule, tensor, layoutOf(value)));
  for (const FactorSharding &wish : wishes) {
    FactorSharding shown = wish;
    for (auto [factor, axes] : llvm::enumerate(shown.axes))
      if (rule.factors[factor].kind == FactorKind::Reduced)
        axes.clear();
    merge(rule, factors, shown, mesh());
  }
  for (const FactorSharding &wish : wishes)
    merge(rule, factors, wish, mesh());

  OpSharding sharding{factors, {}, 0};
  auto add = [&](bool isResult, ArrayRef<unsigned> values) {
    for (auto [i, value] : llvm::enumerate(values)) {
      Layout wanted = isResult ? resultLayout(rule, i, sharding, mesh())
                               : operandLayout(rule, i, sharding, mesh());
      FlowState plain;
      plain.layout = states[value].layout;
      unsigned after = extended(plain, wanted);
      if (after != plain.layout)
        visit.extensions.push_back(
            {isResult, unsigned(i), layouts.of(wanted), plain.layout, after});
    }
  };
  if (forward)
    add(true, op.results);
  if (backward)
    add(false, op.operands);
  return visit;
}

void LayoutFlow::extend(const FlowOp &op, const Extension &extension,
                        const FactorSharding &factors) {
  unsigned value =
      (extension.isResult ? op.results : op.operands)[extension.index];
  FlowState &state = states[value];
  if (state.fixed)
    return;
  unsigned before = state.layout;
  // Else it has a wish, or is the op's value twice and was extended just now.
  unsigned after = !state.wished && before == extension.before
                       ? extension.after
                       : extended(state, layouts[extension.wanted]);
  if (after == before)
    return;
  for (auto [factor, axes] : llvm::enumerate(factors.axes))
    for (unsigned axis : axes)
      if (layouts[after].uses_axis(axis) && !layouts[before].uses_axis(axis))
        originsOf(value)[axis] = originOf(op, factor, axis);
  state.layout = after;
  enqueueNeighbours(value);
}

void LayoutFlow::visit(const FlowOp &op, unsigned stage) {
  const unsigned first[] = {4, 0, 1, 3}; // per kind: the stage it joins at
  if (stage < first[unsigned(op.kind())])
    return;
  // Contractions: forward in stage 1, backward from stage 2 on.
  bool backward = op.kind() != FlowKind::Contraction || stage >= 2;
  using dtensor::WishDirection;
  backward &= op.direction == WishDirection::Both ||
              op.direction == WishDirection::Backward;
  bool forward = op.direction == WishDirection::Both ||
                 op.direction == WishDirection::Forward;

  SmallVector<uintptr_t, 8> key{uintptr_t(op.shared),
                                uintptr_t(forward) << 1 | uintptr_t(backward)};
  for (unsigned value : op.results)
    key.push_back(states[value].layout);
  for (unsigned value : op.operands)
    key.push_back(states[value].layout);
  unsigned number = visitNumbers(key);
  if (number == visits.size())
    visits.push_back(findVisit(op, forward, backward));
  const Visit &visit = visits[number];
  for (const Extension &extension : visit.extensions)
    extend(op, extension, visit.factors);
}

void LayoutFlow::runStage(unsigned stage) {
  // The stage visits the ops that it lets do more; all others are at their
  // fixpoint.
  const FlowKind joining[] = {FlowKind::Identity, FlowKind::Contraction,
                              FlowKind::Contraction, FlowKind::Broadcast};
  queue.clear();
  queued.assign(ops.size(), false);
  for (unsigned i = 0; i < ops.size(); ++i)
    if (ops[i].kind() == joining[stage]) {
      queue.push_back(i);
      queued[i] = true;
    }
  while (!queue.empty()) {
    unsigned next = queue.front();
    queue.pop_front();
    queued[next] = false;
    visit(ops[next], stage);
  }
}

void LayoutFlow::runPriority(int64_t priority) {
  for (FlowState &state : states) {
    if (!state.wished)
      continue;
    auto &[wish, waiting] = *state.wished;
    Layout::DimAxes dims = layouts[state.layout].dim_axes();
    for (unsigned dim = 0; dim < dims.size(); ++dim)
      if (wish.priority(dim) == priority) {
        waiting[dim] = false;
        dims[dim] = wish.layout.dim_axes()[dim];
      }
    Result<Layout> layout = Layout::get(mesh(), dims);
    if (!layout) {
      // Axes that another annotation put on dims whose turn has not come.
      for (auto [axes, waits] : llvm::zip_equal(dims, waiting))
        if (waits)
          axes.clear();
      layout = Layout::get(mesh(), std::move(dims));
    }
    state.layout = layouts.of(*layout);
  }
  for (unsigned stage = 0; stage < 4; ++stage)
    runStage(stage);
}

LogicalResult failWithoutRule(Operation &op) {
  InFlightDiagnostic error =
      op.emitOpError("has no sharding rule, so it cannot be laid out");
  if (StringRef dialect = op.getName().getDialectNamespace();
      dialect == "stablehlo" || dialect == "chlo")
    error << "; run --stablehlo-to-dtensor first";
  return error;
}

LogicalResult LayoutFlow::run() {
  if (failed(collectOps()) || failed(resolveMesh()))
    return failure();
  collectAnnotations();
  std::set<int64_t> priorities{0};
  for (const FlowState &state : states)
    if (state.wished)
      priorities.insert(state.wished->wish.priorities.begin(),
                        state.wished->wish.priorities.end());
  for (int64_t priority : priorities)
    runPriority(priority);
  return success();
}

} // namespace meshloom
