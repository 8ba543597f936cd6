// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The phases of a step that runs in microbatches; see Microbatches.h.
#include "Microbatches.h"

#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/Dialect/DTensor/Donated.h"
#include "meshloom/Dialect/DTensor/FunctionLayouts.h"
#include "meshloom/Dialect/DTensor/Notes.h"
#include "meshloom/Dialect/DTensor/WrittenLayouts.h"
#include "meshloom/Layout/Passes.h"
#include "meshloom/SPMD/Passes.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Pass/PassManager.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <thread>

namespace meshloom {

using mlir::func::FuncOp;

RankedTensorType plainType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType());
}

std::vector<Batch> batchesOf(FuncOp function) {
  std::map<int64_t, Batch> bySize;
  for (BlockArgument argument : function.getArguments()) {
    const unsigned number = argument.getArgNumber();
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || type.getRank() == 0 ||
        function.getArgAttr(number, dtensor::aliasAttr) ||
        function.getArgAttr(number, dtensor::donatedAttr))
      continue;
    Batch &batch = bySize[type.getDimSize(0)];
    batch.rows = type.getDimSize(0);
    batch.arguments.push_back(number);
  }
  std::vector<Batch> batches;
  for (auto &[size, batch] : bySize)
    batches.push_back(std::move(batch));
  std::ranges::stable_sort(
      batches, std::ranges::greater(), [](const Batch &batch) {
        return std::pair(batch.arguments.size(), batch.rows);
      });
  return batches;
}

namespace {
/// Finds out why an op cannot be computed for a part of the batch without
/// regard to where the part lies.
class PartCheck {
public:
  PartCheck(Operation *op, const ShardingRule &rule, const OpSharding &sharding)
      : op(op), rule(rule), sharding(sharding) {}

  bool passes() const {
    if (op->getNumOperands() == 0 && isPartial())
      return mlir::matchPattern(op, mlir::m_Zero()) ||
             mlir::matchPattern(op, mlir::m_AnyZeroFloat());
    for (unsigned factor = 0; factor < rule.factors.size(); ++factor)
      if (!sharding.factors.axes[factor].empty() && !canBeCut(factor))
        return false;
    return true;
  }

private:
  bool isPartial() const {
    return llvm::any_of(op->getResultTypes(), [](Type type) {
      return annotatedLayout(type)->is_partial();
    });
  }
  static bool contains(const ShardingRule::Tensor &dims, unsigned factor) {
    return llvm::any_of(dims, [&](const ShardingRule::Dim &dim) {
      return llvm::is_contained(dim, factor);
    });
  }
  bool canBeCut(unsigned factor) const {
    if (llvm::any_of(rule.windows, [&](const ShardingRule::Window &window) {
          return window.factor == factor;
        }))
      return false;
    // A dim that a slice has all of, as the batch of what a loop over layers
    // saves.
    if (isa<dtensor::DynamicSliceOp>(op))
      return contains(rule.operands[0], factor) &&
             contains(rule.results[0], factor);
    // The elements at an index lie in one part.
    if (isa<dtensor::GatherOp, dtensor::ScatterOp,
            dtensor::DynamicUpdateSliceOp>(op))
      return contains(rule.operands[1], factor);
    if (rule.factors[factor].kind == FactorKind::Reduced)
      return rule.reduceKind == ReduceKind::Sum;
    if (auto iota = dyn_cast<dtensor::IotaOp>(op))
      return !contains({rule.results[0][iota.getIotaDimension()]}, factor);
    return isa<dtensor::ConstantOp, dtensor::BroadcastInDimOp>(op) ||
           llvm::any_of(rule.operands, [&](const ShardingRule::Tensor &dims) {
             return contains(dims, factor);
           });
  }

  Operation *op;
  const ShardingRule &rule;
  const OpSharding &sharding;
};
} // namespace

InFlightDiagnostic Microbatches::fail(Location location) const {
  return mlir::emitError(location) << "gradients cannot be accumulated over "
                                   << number << " microbatches: ";
}

/// On a conversion of a value to its own type, which stands for a constraint
/// while the copy is laid out: the attributes of the constraint, and its
/// layout.
static constexpr llvm::StringLiteral constraintAttr = "dtensor.constraint";
static constexpr llvm::StringLiteral constraintLayout = "layout";

static void hideConstraint(dtensor::ConstraintOp constraint) {
  OpBuilder builder(constraint);
  mlir::NamedAttrList attributes(constraint->getDiscardableAttrDictionary());
  if (std::optional<Layout> layout = annotatedLayout(constraint.getType()))
    attributes.set(constraintLayout,
                   dtensor::LayoutAttr::get(builder.getContext(), *layout));
  auto hidden = builder.create<dtensor::ConvertOp>(
      constraint.getLoc(), constraint.getOperand(),
      dtensor::elementTypeOf(constraint.getType()));
  hidden->setAttr(constraintAttr,
                  attributes.getDictionary(builder.getContext()));
  constraint.replaceAllUsesWith(hidden.getResult());
  constraint.erase();
}

/// Returns a constraint on `operand` as the one that `attributes` are of.
static Value constrain(OpBuilder &builder, Location location, Value operand,
                       DictionaryAttr attributes) {
  auto plain = plainType(operand.getType());
  auto constraint = builder.create<dtensor::ConstraintOp>(
      location,
      RankedTensorType::get(plain.getShape(), plain.getElementType(),
                            attributes.get(constraintLayout)),
      operand);
  for (NamedAttribute attribute : attributes)
    if (attribute.getName() != constraintLayout)
      constraint->setAttr(attribute.getName(), attribute.getValue());
  return constraint.getResult();
}

/// Removes the layouts that the user gave to arguments and results, and hides
/// those of other values.
void Microbatches::forgetLayouts() {
  FuncOp copy = this->copy();
  copy.walk([](dtensor::ConstraintOp constraint) {
    if (!llvm::all_of(constraint->getUsers(),
                      llvm::IsaPred<mlir::func::ReturnOp>)) {
      hideConstraint(constraint);
      return;
    }
    constraint.replaceAllUsesWith(constraint.getOperand());
    constraint.erase();
  });
  copy.walk([](Block *block) {
    for (BlockArgument argument : block->getArguments())
      argument.setType(plainType(argument.getType()));
    for (Operation &op : *block)
      for (Value result : op.getResults())
        result.setType(plainType(result.getType()));
  });
  for (unsigned number = 0; number < copy.getNumArguments(); ++number)
    copy.removeArgAttr(number, dtensor::writtenAttr);
  for (unsigned number = 0; number < copy.getNumResults(); ++number)
    copy.removeResultAttr(
        number, StringAttr::get(copy.getContext(), dtensor::writtenAttr));
  copy->removeAttr(dtensor::meshesAttr);
}

/// Cuts the batch along an axis of microbatches, the only one of the mesh, and
/// no different argument.
void Microbatches::layOutBatch() {
  const Mesh mesh = *Mesh::get({{"microbatch", number}});
  MLIRContext *context = function.getContext();
  (*module)->setAttr(dtensor::DTensorDialect::meshAttrName,
                     dtensor::MeshAttr::get(context, mesh));
  for (BlockArgument argument : copy().getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    const auto rank = unsigned(type.getRank());
    const Layout layout = rows.contains(argument.getArgNumber())
                              ? Layout::batch_sharded(mesh, "microbatch", rank)
                              : Layout::replicated(mesh, rank);
    argument.setType(
        RankedTensorType::get(type.getShape(), type.getElementType(),
                              dtensor::LayoutAttr::get(context, layout)));
  }
  Block &body = copy().getBody().front();
  SmallVector<Type> results;
  for (Type type : body.getTerminator()->getOperandTypes())
    results.push_back(plainType(type));
  copy().setFunctionType(
      mlir::FunctionType::get(context, body.getArgumentTypes(), results));
}

/// Fails where what an op does to a part depends on where the part lies.
LogicalResult Microbatches::checkParts() {
  const mlir::WalkResult result = copy().walk([&](Operation *op) {
    auto sharded = dyn_cast<dtensor::ShardedOpInterface>(op);
    if (!sharded || isa<dtensor::RelayoutOp>(op))
      return mlir::WalkResult::advance();
    const ShardingRule rule = sharded.getShardingRule();
    const OpSharding sharding =
        opSharding(rule, annotatedLayouts(op->getOperandTypes()),
                   annotatedLayouts(op->getResultTypes()));
    if (PartCheck(op, rule, sharding).passes())
      return mlir::WalkResult::advance();
    fail(op->getLoc()) << "what this op gives for a row depends on the place "
                          "of the row in the batch";
    return mlir::WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
/// A carried value of a loop that the loop only adds sums over microbatches to,
/// or puts them into: the gradients of weights that a loop over layers stacks.
/// It stays a sum over microbatches until the loop is over.
class PendingSum {
public:
  PendingSum(dtensor::WhileOp loop, unsigned carried)
      : loop(loop), carried(carried) {}

  /// Lays out all values between the carried value and the next one as pending
  /// sums; nothing, where the loop does something else with it.
  void keep() {
    if (!isZero(loop.getInits()[carried]) ||
        !loop.getConditionArgument(carried).use_empty() || !findValues())
      return;
    OpBuilder builder(loop);
    const RankedTensorType type = plainType(loop.getInits()[carried].getType());
    const auto pending = RankedTensorType::get(
        type.getShape(), type.getElementType(),
        dtensor::LayoutAttr::get(builder.getContext(), *layout));
    loop.getInitsMutable()[carried].set(builder.create<dtensor::ConstantOp>(
        loop.getLoc(), pending,
        mlir::DenseElementsAttr::get(
            type, builder.getZeroAttr(type.getElementType()))));
    values.append({loop.getConditionArgument(carried),
                   loop.getBodyArgument(carried), loop.getResult(carried)});
    for (Value value : values)
      value.setType(pending);
  }

private:
  static bool isZero(Value value) {
    if (auto broadcast = value.getDefiningOp<dtensor::BroadcastInDimOp>())
      value = broadcast.getOperand();
    return mlir::matchPattern(value, mlir::m_Zero()) ||
           mlir::matchPattern(value, mlir::m_AnyZeroFloat());
  }

  /// Goes back from the next value, whose users are all in this chain.
  bool findValues() {
    const BlockArgument first = loop.getBodyArgument(carried);
    Value value = loop.getBodyYield().getOperand(carried);
    while (value != first) {
      if (!value.hasOneUse() || value.getParentBlock() != first.getOwner())
        return false;
      values.push_back(value);
      value = operandOf(value.getDefiningOp());
      if (!value)
        return false;
    }
    return layout && first.hasOneUse();
  }

  /// Returns the value to which an op adds a pending sum, or into which it puts
  /// one; null where it does something else.
  Value operandOf(Operation *op) {
    if (auto update = dyn_cast<dtensor::DynamicUpdateSliceOp>(op))
      return takePending(update.getUpdate()) ? update.getOperand() : Value();
    auto add = dyn_cast<dtensor::AddOp>(op);
    if (!add)
      return {};
    for (unsigned side : {0U, 1U})
      if (takePending(add->getOperand(side)))
        return add->getOperand(1 - side);
    return {};
  }

  /// Returns whether a value is a sum over microbatches, whole but for that.
  bool takePending(Value value) {
    const Layout partial = *annotatedLayout(value.getType());
    if (!partial.is_partial() ||
        partial.partial().front().kind != ReduceKind::Sum)
      return false;
    const auto rank =
        unsigned(plainType(loop.getResult(carried).getType()).getRank());
    layout =
        Layout::replicated(partial.mesh(), rank)
            .with_partial({partial.partial().begin(), partial.partial().end()});
    return true;
  }

  dtensor::WhileOp loop;
  const unsigned carried;
  SmallVector<Value> values;
  std::optional<Layout> layout;
};
} // namespace

LogicalResult Microbatches::expand() {
  mlir::PassManager propagation(function.getContext());
  propagation.addNestedPass<FuncOp>(createPropagateLayouts());
  mlir::PassManager layouts(function.getContext());
  layouts.addNestedPass<FuncOp>(createInsertRelayouts());
  mlir::PassManager expansion(function.getContext());
  expansion.addNestedPass<FuncOp>(createExpandToSPMD());
  if (failed(propagation.run(*module)))
    return failure();
  copy().walk([](dtensor::WhileOp loop) {
    for (unsigned carried = 0; carried < loop.getNumResults(); ++carried)
      PendingSum(loop, carried).keep();
  });
  if (failed(layouts.run(*module)) || failed(checkParts()) ||
      failed(expansion.run(*module)))
    return failure();
  copy().walk([](Operation *op) { op->removeAttr(dtensor::originAttr); });
  return success();
}

FailureOr<Phase> Microbatches::findPhase(Operation *op) {
  Phase phase = Phase::Once;
  for (Value value : usedValues(op)) {
    const Phase used = phases.lookup(value);
    if (used == Phase::Once || used == phase)
      continue;
    if (phase != Phase::Once)
      return fail(op->getLoc())
             << "this op needs a sum over the whole batch and rows of it";
    phase = used;
  }
  const mlir::WalkResult exchange = op->walk([&](Operation *nested) {
    return isa<spmd::SPMDDialect>(nested->getDialect()) &&
                   !(nested == op && isa<spmd::AllReduceOp>(op))
               ? mlir::WalkResult::interrupt()
               : mlir::WalkResult::advance();
  });
  if (exchange.wasInterrupted())
    return fail(op->getLoc()) << "rows of the batch depend on one another here";
  auto sum = dyn_cast<spmd::AllReduceOp>(op);
  if (!sum)
    return phase;
  if (sum.getReduceKind() != ReduceKind::Sum)
    return fail(op->getLoc()) << "this is a reduction over the batch that is "
                                 "not a sum";
  allReduces.push_back(sum);
  return Phase::Behind;
}

LogicalResult Microbatches::findPhases() {
  Block &body = copy().getBody().front();
  for (unsigned number : rows.arguments)
    phases[body.getArgument(number)] = Phase::Loop;
  for (Operation &op : body.without_terminator()) {
    FailureOr<Phase> phase = findPhase(&op);
    if (failed(phase))
      return failure();
    for (Value result : op.getResults())
      phases[result] = *phase;
  }
  return success();
}

LogicalResult Microbatches::checkResults() {
  if (allReduces.empty())
    return fail(function.getLoc()) << "no result is a sum over the batch";
  for (Value value : copy().getBody().front().getTerminator()->getOperands())
    if (phases.lookup(value) == Phase::Loop)
      return fail(value.getLoc())
             << "a result has rows of the batch; return sums only";
  return success();
}

LogicalResult Microbatches::analyze() {
  if (rows.rows % number != 0)
    return fail(function.getLoc())
           << "the batch has " << rows.rows << " rows, which " << number
           << " does not divide";
  forgetLayouts();
  layOutBatch();
  if (failed(expand()) || failed(findPhases()) || failed(checkResults()))
    return failure();
  return success();
}

std::string Microbatches::text() const {
  std::vector<std::string> names;
  for (unsigned argument : rows.arguments) {
    auto name = FuncOp(function).getArgAttrOfType<StringAttr>(
        argument, dtensor::nameAttr);
    names.push_back(name ? fmt::format("'{}'", name.str())
                         : fmt::format("argument #{}", argument));
  }
  return fmt::format("{} microbatches of {} rows of {}", number,
                     rows.rows / number, fmt::join(names, ", "));
}

void cloneWithPlainTypes(OpBuilder &builder, Operation *op,
                         mlir::IRMapping &mapping) {
  if (auto hidden = op->getAttrOfType<DictionaryAttr>(constraintAttr)) {
    mapping.map(op->getResult(0),
                constrain(builder, op->getLoc(),
                          mapping.lookup(op->getOperand(0)), hidden));
    return;
  }
  Operation *clone = builder.clone(*op, mapping);
  auto setPlain = [](Value value) {
    value.setType(plainType(value.getType()));
  };
  llvm::for_each(clone->getResults(), setPlain);
  clone->walk([&](Block *block) {
    llvm::for_each(block->getArguments(), setPlain);
    for (Operation &nested : *block)
      llvm::for_each(nested.getResults(), setPlain);
  });
  clone->walk([](dtensor::ConvertOp convert) {
    auto hidden = convert->getAttrOfType<DictionaryAttr>(constraintAttr);
    if (!hidden)
      return;
    OpBuilder inside(convert);
    convert.replaceAllUsesWith(
        constrain(inside, convert.getLoc(), convert.getOperand(), hidden));
    convert.erase();
  });
}

std::unique_ptr<Microbatches> tryToFindMicrobatches(FuncOp function,
                                                    int64_t count) {
  const auto thread = std::this_thread::get_id();
  const mlir::ScopedDiagnosticHandler silent(
      function.getContext(), [thread](mlir::Diagnostic &) {
        return success(std::this_thread::get_id() == thread);
      });
  for (const Batch &batch : batchesOf(function)) {
    auto microbatches = std::make_unique<Microbatches>(function, batch, count);
    if (succeeded(microbatches->analyze()))
      return microbatches;
  }
  return nullptr;
}

FailureOr<std::unique_ptr<Microbatches>> findMicrobatches(FuncOp function,
                                                          int64_t count) {
  if (count < 1)
    return mlir::emitError(function.getLoc(), "gradients are to be accumulated "
                                              "over ")
           << count << " microbatches; expected 1 or more";
  if (failed(expectOneBlock(function)))
    return failure();
  const std::vector<Batch> batches = batchesOf(function);
  if (batches.empty())
    return mlir::emitError(function.getLoc(),
                           "gradients cannot be accumulated: the step updates "
                           "all of its arguments, so no one is a batch");
  if (auto found = tryToFindMicrobatches(function, count))
    return found;
  // The largest batch is the one that the user meant: say why it cannot be cut.
  auto largest =
      std::make_unique<Microbatches>(function, batches.front(), count);
  if (failed(largest->analyze()))
    return failure();
  return largest;
}

} // namespace meshloom
