// The flow of mesh axes: a worklist over the ops of a function. See the pass's
// description for the stages, and LayoutFlow.h for why it ends.

#include "LayoutFlow.h"

#include "meshloom/Analysis/ControlFlow.h"

#include "llvm/ADT/MapVector.h"

#include <set>

namespace meshloom {

std::optional<Layout> givenLayout(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return std::nullopt;
  auto encoding = dyn_cast_or_null<dtensor::LayoutAttr>(tensor.getEncoding());
  if (!encoding)
    return std::nullopt;
  return encoding.getLayout();
}

static std::string locationText(Location location) {
  if (auto file = location->findInstanceOf<mlir::FileLineColLoc>())
    return (Twine(file.getFilename().strref()) + ":" + Twine(file.getLine()) +
            ":" + Twine(file.getColumn()))
        .str();
  return "unknown location";
}

std::string LayoutFlow::argumentName(mlir::func::FuncOp function,
                                     unsigned arg) {
  if (auto name = function.getArgAttrOfType<StringAttr>(arg, "dtensor.name"))
    return "'" + name.str() + "'";
  return "#" + std::to_string(arg);
}

std::string LayoutFlow::resultName(mlir::func::FuncOp function, Value value) {
  if (!value.hasOneUse())
    return "";
  OpOperand &use = *value.getUses().begin();
  if (!isa<mlir::func::ReturnOp>(use.getOwner()))
    return "";
  unsigned index = use.getOperandNumber();
  auto name = function.getResultAttrOfType<StringAttr>(index, "dtensor.name");
  return "result " +
         (name ? "'" + name.str() + "'" : "#" + std::to_string(index));
}

std::string LayoutFlow::joinName(Operation *op, unsigned result) {
  return (isa<dtensor::WhileOp>(op) ? "carried value #" : "result #") +
         std::to_string(result) + " of the " +
         op->getName().stripDialect().str() + " at " +
         locationText(op->getLoc());
}

/// How the factors of `rule` are shared between its tensors.
static FlowKind classify(const ShardingRule &rule) {
  auto has = [](const ShardingRule::Tensor &tensor, unsigned factor) {
    return llvm::any_of(tensor, [&](const ShardingRule::Dim &dim) {
      return llvm::is_contained(dim, factor);
    });
  };
  bool identity = true, broadcast = false;
  for (unsigned factor = 0; factor < rule.factors.size(); ++factor) {
    FactorKind kind = rule.factors[factor].kind;
    if (kind == FactorKind::Whole || rule.factors[factor].size == 1)
      continue; // no axis flows through it
    if (kind == FactorKind::Reduced) {
      identity = false;
      continue;
    }
    bool inOperand = false;
    for (const ShardingRule::Tensor &operand : rule.operands) {
      bool here = has(operand, factor);
      inOperand |= here;
      identity &= here || operand.empty();
    }
    for (const ShardingRule::Tensor &result : rule.results)
      identity &= has(result, factor);
    broadcast |= !inOperand;
  }
  if (broadcast)
    return FlowKind::Broadcast;
  return identity ? FlowKind::Identity : FlowKind::Contraction;
}

LogicalResult expectOneBlock(mlir::func::FuncOp function) {
  if (function.getBody().hasOneBlock())
    return success();
  return function.emitError("expected a body of one block");
}

unsigned LayoutFlow::number(Value value) {
  auto [entry, isNew] = index.try_emplace(value, states.size());
  if (isNew) {
    FlowState &state = states.emplace_back();
    values.push_back(value);
    touching.emplace_back();
    if (auto tensor = dyn_cast<RankedTensorType>(value.getType()))
      state.dims.resize(tensor.getRank());
  }
  return entry->second;
}

void LayoutFlow::add(FlowOp flow) {
  for (unsigned value : llvm::concat<unsigned>(flow.operands, flow.results))
    touching[value].push_back(ops.size());
  ops.push_back(std::move(flow));
}

LogicalResult LayoutFlow::collectOps() {
  if (failed(expectOneBlock(function)))
    return failure();
  for (BlockArgument argument : function.getArguments()) {
    if (!isa<RankedTensorType>(argument.getType()))
      return function.emitError("argument ")
             << argumentName(function, argument.getArgNumber()) << " has type "
             << argument.getType()
             << "; lift variables with --dtensor-lift-variables first";
    number(argument);
  }
  if (failed(collectOps(function.getBody().front())))
    return failure();
  return addGroups();
}

/// A rule of `operands` tensors of this shape and one result, all alike.
static ShardingRule sameShapes(ArrayRef<int64_t> shape, size_t operands) {
  ShardingRule rule;
  ShardingRule::Tensor dims;
  for (int64_t extent : shape) {
    dims.push_back({unsigned(rule.factors.size())});
    rule.factors.emplace_back().size = extent;
  }
  rule.operands.assign(operands, dims);
  rule.results.push_back(dims);
  return rule;
}

/// What the user said that a value is laid out as, leaving nothing open.
static std::optional<Layout> decidedLayout(Value value) {
  if (auto given = givenLayout(value.getType()))
    return given;
  auto constraint = value.getDefiningOp<dtensor::ConstraintOp>();
  auto wish = constraint ? dtensor::wishOf(constraint) : std::nullopt;
  if (!wish)
    return std::nullopt;
  if (!llvm::is_contained(wish->open, true))
    return wish->layout;
  return wish->group ? decidedLayout(constraint.getOperand()) : std::nullopt;
}

/// The values of one group are laid out alike.
LogicalResult LayoutFlow::addGroups() {
  llvm::MapVector<int64_t, SmallVector<FlowOp *>> groups;
  for (FlowOp &flow : ops)
    if (auto constraint = dyn_cast<dtensor::ConstraintOp>(flow.op))
      if (auto wish = dtensor::wishOf(constraint); wish && wish->group)
        groups[*wish->group].push_back(&flow);
  std::vector<FlowOp> links;
  for (auto &[group, members] : groups) {
    Operation *first = members.front()->op, *decides = nullptr;
    SmallVector<int64_t> shape =
        dtensor::globalShape(first->getResult(0).getType());
    auto disagree = [&](Operation *member, Operation *other) {
      auto error = member->emitError("value is in sharding group ")
                   << group << " with another one, but ";
      error.attachNote(other->getLoc()) << "the other one";
      return error;
    };
    FlowOp link{first, FlowKind::Identity, {}, {}, {}};
    std::optional<Layout> decided;
    for (FlowOp *member : members) {
      SmallVector<int64_t> own =
          dtensor::globalShape(member->op->getResult(0).getType());
      if (own != shape)
        return disagree(member->op, first)
               << "their shapes differ: " << member->op->getOperand(0).getType()
               << " and " << first->getOperand(0).getType();
      if (auto layout = decidedLayout(member->op->getOperand(0))) {
        if (decided && !(*layout == *decided))
          return disagree(member->op, decides)
                 << "their layouts differ: " << layout->spec_string() << " and "
                 << decided->spec_string()
                 << "; leave dims of one of them open, or take it out";
        decided = layout;
        decides = member->op;
      }
      if (member != members.front())
        link.operands.push_back(member->results.front());
    }
    link.results = members.front()->results;
    link.rule = sameShapes(shape, link.operands.size());
    link.linksOnly = true;
    links.push_back(std::move(link));
  }
  for (FlowOp &link : links)
    add(std::move(link));
  return success();
}

LogicalResult LayoutFlow::collectOps(Block &block) {
  for (Operation &op : block) {
    if (isa<dtensor::YieldOp>(op))
      continue;
    if (isControl(&op)) {
      auto loop = dyn_cast<dtensor::WhileOp>(op);
      if (failed(loop ? collect(loop) : collect(cast<dtensor::CaseOp>(op))))
        return failure();
      continue;
    }
    FlowOp flow{&op, FlowKind::Barrier, {}, {}, {}};
    std::optional<dtensor::Wish> wish;
    if (auto constraint = dyn_cast<dtensor::ConstraintOp>(op))
      wish = dtensor::wishOf(constraint);
    if (wish) {
      flow.rule = cast<dtensor::ShardedOpInterface>(op).getShardingRule();
      flow.kind = FlowKind::Identity;
      flow.direction = wish->direction;
    } else if (!isa<dtensor::RelayoutOp, dtensor::ConstraintOp,
                    mlir::func::ReturnOp>(op)) {
      auto sharded = dyn_cast<dtensor::ShardedOpInterface>(op);
      if (!sharded)
        return op.emitOpError("has no sharding rule, so it cannot be laid out");
      flow.rule = sharded.getShardingRule();
      flow.kind = classify(flow.rule);
    }
    for (Value operand : op.getOperands())
      flow.operands.push_back(number(operand));
    for (Value result : op.getResults())
      flow.results.push_back(number(result));
    add(std::move(flow));
  }
  return success();
}

/// The values of `operands` and the result have the same factors.
void LayoutFlow::addJoin(Operation *op, unsigned result, ValueRange operands) {
  FlowOp flow{op, FlowKind::Identity, {}, {}, {}, result};
  flow.rule = sameShapes(dtensor::globalShape(op->getResult(result).getType()),
                         operands.size());
  for (Value operand : operands)
    flow.operands.push_back(number(operand));
  flow.results.push_back(number(op->getResult(result)));
  add(std::move(flow));
}

LogicalResult LayoutFlow::collect(dtensor::WhileOp loop) {
  for (unsigned i = 0; i < loop.getNumResults(); ++i) {
    Value parts[] = {loop.getResult(i), loop.getBodyArgument(i),
                     loop.getConditionArgument(i)};
    // A layout on one of them pins all.
    for (Value part : parts)
      if (dtensor::layoutAttrOf(part.getType()))
        parts[0].setType(part.getType());
    unsigned state = number(parts[0]);
    for (Value part : parts) {
      part.setType(parts[0].getType());
      index[part] = state;
    }
  }
  for (unsigned i = 0; i < loop.getNumResults(); ++i)
    addJoin(loop, i, {loop.getInits()[i], loop.getBodyYield().getOperand(i)});
  number(loop.getConditionYield().getOperand(0));
  if (failed(collectOps(loop.getCondition().front())))
    return failure();
  return collectOps(loop.getBody().front());
}

/// The joins come last: all branches are laid out by then.
LogicalResult LayoutFlow::collect(dtensor::CaseOp branch) {
  for (Region &region : branch.getBranches())
    if (failed(collectOps(region.front())))
      return failure();
  for (unsigned i = 0; i < branch.getNumResults(); ++i) {
    SmallVector<Value> yielded;
    for (unsigned b = 0; b < branch.getBranches().size(); ++b)
      yielded.push_back(branch.getYield(b).getOperand(i));
    addJoin(branch, i, yielded);
  }
  return success();
}

/// A value without a layout is on the mesh of the values it meets in ops; what
/// meets none is on the module's mesh, else the function's only one, else on
/// one device.
LogicalResult LayoutFlow::resolveMeshes() {
  std::optional<Mesh> any;
  std::vector<Value> source(states.size());
  auto give = [&](unsigned value, const Mesh &mesh, Value from) {
    states[value].mesh = mesh;
    source[value] = from;
    if (!any)
      any = mesh;
  };
  for (unsigned i = 0; i < values.size(); ++i)
    if (auto layout = givenLayout(values[i].getType()))
      give(i, layout->mesh(), values[i]);
  for (const FlowOp &flow : ops)
    if (auto constraint = dyn_cast<dtensor::ConstraintOp>(flow.op))
      if (auto wish = dtensor::wishOf(constraint))
        give(flow.results.front(), wish->layout.mesh(), flow.op->getResult(0));

  // Forward and backward sweeps until nothing changes.
  for (bool changed = true; changed;) {
    changed = false;
    auto meet = [&](FlowOp &flow) -> LogicalResult {
      if (isa<mlir::func::ReturnOp>(flow.op))
        return success();
      std::optional<unsigned> first;
      for (unsigned value :
           llvm::concat<unsigned>(flow.operands, flow.results)) {
        if (!states[value].mesh)
          continue;
        if (!first) {
          first = value;
        } else if (!(*states[*first].mesh == *states[value].mesh)) {
          auto text = [](const Mesh &mesh) {
            std::string axes;
            for (const MeshAxis &axis : mesh.axes())
              axes += (axes.empty() ? "" : ", ") + axis.name + " = " +
                      std::to_string(axis.size);
            return "<" + axes + ">";
          };
          auto error = flow.op->emitOpError("mixes values of two meshes: ")
                       << text(*states[*first].mesh) << " and "
                       << text(*states[value].mesh)
                       << "; bring them to one mesh first";
          for (unsigned culprit : {*first, value})
            if (Value from = source[culprit])
              error.attachNote(from.getLoc())
                  << "mesh " << text(*states[culprit].mesh) << " is from here";
          return error;
        }
      }
      if (!first)
        return success();
      for (unsigned value : llvm::concat<unsigned>(flow.operands, flow.results))
        if (!states[value].mesh) {
          give(value, *states[*first].mesh, source[*first]);
          changed = true;
        }
      return success();
    };
    for (FlowOp &flow : ops)
      if (failed(meet(flow)))
        return failure();
    for (FlowOp &flow : llvm::reverse(ops))
      if (failed(meet(flow)))
        return failure();
  }

  std::optional<Mesh> fallback;
  if (auto module = function->getParentOfType<ModuleOp>())
    if (auto attr = module->getAttrOfType<dtensor::MeshAttr>(
            dtensor::DTensorDialect::meshAttrName))
      fallback = attr.getMesh();
  if (!fallback)
    fallback = any ? *any : *Mesh::get({{"d", 1}});
  for (FlowState &state : states) {
    if (!state.mesh)
      state.mesh = fallback;
    state.origins.assign(state.mesh->rank(), -1);
  }
  return success();
}

void LayoutFlow::seed(Value value, const Layout &layout, std::string text,
                      Location location, bool given) {
  FlowState &target = state(value);
  if (!(*target.mesh == layout.mesh()))
    return; // the relayout that this needs is refused later, by name
  int annotation = int(annotations.size());
  annotations.push_back({text + " " + layout.spec_string(), location});
  if (given) {
    target.given = true;
    target.actual = layout;
    target.dims = layout.dim_axes();
    target.origins.assign(target.mesh->rank(), -1);
    for (const Partial &partial : layout.partial())
      target.origins[partial.axis] = annotation;
  } else {
    if (target.given ||
        llvm::any_of(target.dims, [](auto &axes) { return !axes.empty(); }))
      return; // an earlier annotation has it
    target.dims = layout.dim_axes();
  }
  for (const auto &axes : target.dims)
    for (unsigned axis : axes)
      target.origins[axis] = annotation;
}

/// A wish's axes come in when their dim's priority does; see runPriority.
void LayoutFlow::seedWish(FlowOp &flow, const dtensor::Wish &wish) {
  FlowState &target = states[flow.results.front()];
  if (!(*target.mesh == wish.layout.mesh()))
    return;
  target.wished = wish;
  target.waiting.assign(target.dims.size(), true);
  std::string text = resultName(function, flow.op->getResult(0));
  if (text.empty())
    if (auto argument = dyn_cast<BlockArgument>(flow.op->getOperand(0));
        argument && argument.getOwner() == &function.getBody().front())
      text = "argument " + argumentName(function, argument.getArgNumber());
  if (text.empty())
    text = "constraint at " + locationText(flow.op->getLoc());
  int annotation = int(annotations.size());
  annotations.push_back(
      {text + " " + wish.layout.spec_string(), flow.op->getLoc()});
  for (const auto &axes : wish.layout.dim_axes())
    for (unsigned axis : axes)
      target.origins[axis] = annotation;
}

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

void LayoutFlow::collectAnnotations() {
  for (BlockArgument argument : function.getArguments())
    if (auto layout = givenLayout(argument.getType()))
      seed(argument, *layout,
           "argument " + argumentName(function, argument.getArgNumber()),
           argument.getLoc(), /*given=*/true);
  // What a constraint asks for is also a wish of the value it takes: the op
  // that makes the value would best make it so.
  for (FlowOp &flow : ops) {
    if (flow.joins) {
      Value result = flow.op->getResult(*flow.joins);
      if (auto layout = givenLayout(result.getType()))
        seed(result, *layout, joinName(flow.op, *flow.joins), result.getLoc(),
             /*given=*/true);
      continue;
    }
    if (flow.op->getNumResults() != 1 || flow.linksOnly)
      continue;
    if (auto constraint = dyn_cast<dtensor::ConstraintOp>(flow.op))
      if (auto wish = dtensor::wishOf(constraint)) {
        seedWish(flow, *wish);
        continue;
      }
    auto layout = givenLayout(flow.op->getResult(0).getType());
    if (!layout)
      continue;
    std::string at = " at " + locationText(flow.op->getLoc());
    Location location = flow.op->getLoc();
    if (isa<dtensor::ConstraintOp>(flow.op)) {
      std::string text = resultName(function, flow.op->getResult(0));
      if (text.empty())
        text = "constraint" + at;
      seed(flow.op->getResult(0), *layout, text, location, /*given=*/true);
      seed(flow.op->getOperand(0), *layout, text, location, /*given=*/false);
    } else if (isa<dtensor::RelayoutOp>(flow.op)) {
      seed(flow.op->getResult(0), *layout, "relayout" + at, location,
           /*given=*/true);
    } else {
      seed(flow.op->getResult(0), *layout, "type" + at, location,
           /*given=*/false);
    }
  }
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

LogicalResult LayoutFlow::run() {
  if (failed(collectOps()) || failed(resolveMeshes()))
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
