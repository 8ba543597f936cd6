// The flow of mesh axes: a worklist over the ops of a function. See the pass's
// description for the stages, and LayoutFlow.h for why it ends. What it flows
// through is collected in LayoutFlowOps.cpp, where it starts in
// LayoutFlowSeeds.cpp.
#include "meshloom/Layout/LayoutFlow.h"

#include <set>

namespace meshloom {

/// Whether propagation may put `axis` on dim `dim` of a value.
bool LayoutFlow::mayTake(const FlowState &state, unsigned dim,
                         unsigned axis) const {
  if (llvm::any_of(state.dims, [&](const auto &axes) {
        return llvm::is_contained(axes, axis);
      }))
    return false;
  return !state.wished || (!state.waiting[dim] && state.wished->isOpen(dim) &&
                           !state.wished->layout.uses_axis(axis) &&
                           !llvm::is_contained(state.wished->replicated, axis));
}

int LayoutFlow::originOf(const FlowOp &op, unsigned factor,
                         unsigned axis) const {
  auto find = [&](const ShardingRule::Tensor &tensor, unsigned value) {
    const FlowState &state = states[value];
    for (auto [dim, factors] : llvm::enumerate(tensor))
      if (llvm::is_contained(factors, factor) &&
          llvm::is_contained(state.dims[dim], axis))
        return state.origins[axis];
    return -1;
  };
  for (auto [tensor, value] : llvm::zip_equal(op.rule.results, op.results))
    if (int origin = find(tensor, value); origin >= 0)
      return origin;
  for (auto [tensor, value] : llvm::zip_equal(op.rule.operands, op.operands))
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

/// Adds to a value the axes that `layout` has beyond its own, dim by dim, where
/// they extend what is there and are not in use elsewhere in the value.
void LayoutFlow::write(unsigned value, const Layout &layout, const FlowOp &op,
                       const FactorSharding &factors) {
  FlowState &state = states[value];
  if (state.given)
    return;
  bool changed = false;
  for (auto [dim, have] : llvm::enumerate(state.dims)) {
    std::span<const unsigned> want = layout.axes(dim);
    if (want.size() <= have.size() ||
        !std::equal(have.begin(), have.end(), want.begin()))
      continue;
    if (!llvm::all_of(want.subspan(have.size()),
                      [&](unsigned axis) { return mayTake(state, dim, axis); }))
      continue;
    for (unsigned axis : want.subspan(have.size())) {
      have.push_back(axis);
      for (auto [factor, axes] : llvm::enumerate(factors.axes))
        if (llvm::is_contained(axes, axis))
          state.origins[axis] = originOf(op, factor, axis);
    }
    changed = true;
  }
  if (changed)
    enqueueNeighbours(value);
}

void LayoutFlow::visit(const FlowOp &op, unsigned stage) {
  const unsigned first[] = {4, 0, 1, 3}; // per kind: the stage it joins at
  unsigned joins = first[unsigned(op.kind)];
  if (stage < joins)
    return;
  // Contractions: forward in stage 1, backward from stage 2 on.
  bool backward = op.kind != FlowKind::Contraction || stage >= 2;
  using dtensor::WishDirection;
  backward &= op.direction == WishDirection::Both ||
              op.direction == WishDirection::Backward;
  bool forward = op.direction == WishDirection::Both ||
                 op.direction == WishDirection::Forward;

  const Mesh &mesh = *states[op.results.front()].mesh;
  FactorSharding factors = FactorSharding::none(op.rule);
  for (auto [tensor, value] : llvm::zip_equal(op.rule.results, op.results))
    merge(op.rule, factors, project(op.rule, tensor, states[value].wish()),
          mesh);
  std::vector<FactorSharding> wishes;
  for (auto [tensor, value] : llvm::zip_equal(op.rule.operands, op.operands))
    wishes.push_back(project(op.rule, tensor, states[value].wish()));
  for (const FactorSharding &wish : wishes) {
    FactorSharding shown = wish;
    for (auto [factor, axes] : llvm::enumerate(shown.axes))
      if (op.rule.factors[factor].kind == FactorKind::Reduced)
        axes.clear();
    merge(op.rule, factors, shown, mesh);
  }
  for (const FactorSharding &wish : wishes)
    merge(op.rule, factors, wish, mesh);

  OpSharding sharding{factors, {}, 0};
  if (forward)
    for (auto [i, value] : llvm::enumerate(op.results))
      write(value, resultLayout(op.rule, i, sharding, mesh), op, factors);
  if (backward)
    for (auto [i, value] : llvm::enumerate(op.operands))
      write(value, operandLayout(op.rule, i, sharding, mesh), op, factors);
}

void LayoutFlow::runStage(unsigned stage) {
  // Those that the stage lets do more; the rest is at its fixpoint.
  const FlowKind kinds[] = {FlowKind::Identity, FlowKind::Contraction,
                            FlowKind::Contraction, FlowKind::Broadcast};
  queue.clear();
  queued.assign(ops.size(), false);
  for (unsigned i = 0; i < ops.size(); ++i)
    if (ops[i].kind == kinds[stage]) {
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
  for (FlowState &state : states)
    for (unsigned dim = 0; state.wished && dim < state.dims.size(); ++dim)
      if (state.wished->priority(dim) == priority) {
        state.waiting[dim] = false;
        state.dims[dim] = state.wished->layout.dim_axes()[dim];
      }
  for (unsigned stage = 0; stage < 4; ++stage)
    runStage(stage);
}

LogicalResult LayoutFlow::run() {
  if (failed(collectOps()) || failed(resolveMesh()))
    return failure();
  collectAnnotations();
  std::set<int64_t> priorities{0};
  for (const FlowState &state : states)
    if (state.wished)
      priorities.insert(state.wished->priorities.begin(),
                        state.wished->priorities.end());
  for (int64_t priority : priorities)
    runPriority(priority);
  return success();
}

} // namespace meshloom
