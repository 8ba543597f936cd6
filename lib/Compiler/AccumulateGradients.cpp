// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Microbatches are an axis of time. A copy of the function is laid out over a
// mesh of that axis alone, with the batch cut along it, and expanded: what one
// device of that mesh computes is the body of the loop, and the all_reduces are
// the sums that the loop carries. Any different collective would be an exchange
// between microbatches.
#include "meshloom/Compiler/AccumulateGradients.h"

#include "meshloom/Compiler/Annotations.h"
#include "meshloom/Compiler/Compiler.h"
#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/ControlFlow/ReturnTypes.h"
#include "meshloom/ControlFlow/SourceLocation.h"
#include "meshloom/Dialect/DTensor/FunctionLayouts.h"
#include "meshloom/Dialect/DTensor/Notes.h"
#include "meshloom/Dialect/DTensor/TensorBuilder.h"
#include "meshloom/Dialect/DTensor/WrittenLayouts.h"
#include "meshloom/Dialect/SPMD/SPMD.h"
#include "meshloom/Layout/Passes.h"
#include "meshloom/SPMD/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/PassManager.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <thread>

namespace meshloom {

using mlir::func::FuncOp;

namespace {

RankedTensorType plainType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType());
}

/// The arguments whose leading dim is the batch.
struct Batch {
  int64_t rows = 0;
  std::vector<unsigned> arguments;
  bool contains(unsigned argument) const {
    return llvm::is_contained(arguments, argument);
  }
};

/// Returns the possible batches: the arguments that the step does not update,
/// by the sizes of their leading dims, those with most arguments first.
std::vector<Batch> batchesOf(FuncOp function) {
  std::map<int64_t, Batch> bySize;
  for (BlockArgument argument : function.getArguments()) {
    const unsigned number = argument.getArgNumber();
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || type.getRank() == 0 ||
        function.getArgAttr(number, dtensor::aliasAttr))
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
    // The elements at an index lie in one part.
    if (isa<dtensor::GatherOp, dtensor::ScatterOp, dtensor::DynamicSliceOp,
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

/// Where an op of the copy runs.
enum class Phase : uint8_t {
  Once,   ///< It does not depend on the batch.
  Loop,   ///< It is computed for each microbatch.
  Behind, ///< It depends on a sum of all microbatches.
};

class Accumulation {
public:
  Accumulation(FuncOp function, Batch batch, int64_t count)
      : function(function), batch(std::move(batch)), count(count),
        module(copyAlone(function)) {}

  /// Fails, with a diagnostic, where the batch is needed as a whole.
  LogicalResult analyze();
  /// Replaces the body of the function.
  void rewrite();

private:
  FuncOp copy() { return *module->getOps<FuncOp>().begin(); }
  LogicalResult forgetLayouts();
  void layOutBatch();
  LogicalResult expand();
  LogicalResult checkParts();
  LogicalResult findPhases();
  FailureOr<Phase> phaseOf(Operation *op);
  void findOpsBefore();
  LogicalResult checkResults();

  Value microbatch(OpBuilder &builder, Value argument, Value iteration) const;
  void cloneTo(OpBuilder &builder, Operation *op);
  void buildLoop(OpBuilder &builder);
  std::string note() const;
  InFlightDiagnostic fail(Location location) const {
    return mlir::emitError(location) << "gradients cannot be accumulated over "
                                     << count << " microbatches: ";
  }

  FuncOp function;
  Batch batch;
  int64_t count;
  OwningOpRef<ModuleOp> module;
  DenseMap<Value, Phase> phases; ///< of values of the copy
  llvm::DenseSet<Operation *> before;
  SmallVector<spmd::AllReduceOp> sums;
  mlir::IRMapping mapping; ///< from values of the copy
};

/// Removes the layouts that the user gave to arguments and results.
LogicalResult Accumulation::forgetLayouts() {
  FuncOp copy = this->copy();
  for (auto constraint :
       llvm::make_early_inc_range(copy.getOps<dtensor::ConstraintOp>())) {
    if (!llvm::all_of(constraint->getUsers(),
                      llvm::IsaPred<mlir::func::ReturnOp>))
      return fail(constraint.getLoc())
             << "this value has a layout; only arguments and results may";
    constraint.replaceAllUsesWith(constraint.getOperand());
    constraint.erase();
  }
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
  return success();
}

/// Cuts the batch along an axis of microbatches, the only one of the mesh, and
/// no different argument.
void Accumulation::layOutBatch() {
  const Mesh mesh = *Mesh::get({{"microbatch", count}});
  MLIRContext *context = function.getContext();
  (*module)->setAttr(dtensor::DTensorDialect::meshAttrName,
                     dtensor::MeshAttr::get(context, mesh));
  for (BlockArgument argument : copy().getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    const auto rank = unsigned(type.getRank());
    const Layout layout = batch.contains(argument.getArgNumber())
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
LogicalResult Accumulation::checkParts() {
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

LogicalResult Accumulation::expand() {
  mlir::PassManager layouts(function.getContext());
  layouts.addNestedPass<FuncOp>(createPropagateLayouts());
  layouts.addNestedPass<FuncOp>(createInsertRelayouts());
  mlir::PassManager expansion(function.getContext());
  expansion.addNestedPass<FuncOp>(createExpandToSPMD());
  if (failed(layouts.run(*module)) || failed(checkParts()) ||
      failed(expansion.run(*module)))
    return failure();
  copy().walk([](Operation *op) { op->removeAttr(dtensor::originAttr); });
  return success();
}

FailureOr<Phase> Accumulation::phaseOf(Operation *op) {
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
  sums.push_back(sum);
  return Phase::Behind;
}

LogicalResult Accumulation::findPhases() {
  Block &body = copy().getBody().front();
  for (unsigned number : batch.arguments)
    phases[body.getArgument(number)] = Phase::Loop;
  for (Operation &op : body.without_terminator()) {
    FailureOr<Phase> phase = phaseOf(&op);
    if (failed(phase))
      return failure();
    for (Value result : op.getResults())
      phases[result] = *phase;
  }
  return success();
}

/// Finds the ops that do not depend on the batch and that the loop needs.
void Accumulation::findOpsBefore() {
  Block &body = copy().getBody().front();
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    const bool isNeeded =
        before.contains(&op) || (op.getNumResults() > 0 &&
                                 phases.lookup(op.getResult(0)) == Phase::Loop);
    if (isNeeded)
      for (Value value : usedValues(&op))
        if (Operation *producer = value.getDefiningOp();
            producer && phases.lookup(value) == Phase::Once)
          before.insert(producer);
  }
}

LogicalResult Accumulation::checkResults() {
  if (sums.empty())
    return fail(function.getLoc()) << "no result is a sum over the batch";
  for (Value value : copy().getBody().front().getTerminator()->getOperands())
    if (phases.lookup(value) == Phase::Loop)
      return fail(value.getLoc())
             << "a result has rows of the batch; return sums only";
  return success();
}

LogicalResult Accumulation::analyze() {
  if (batch.rows % count != 0)
    return fail(function.getLoc())
           << "the batch has " << batch.rows << " rows, which " << count
           << " does not divide";
  if (failed(forgetLayouts()))
    return failure();
  layOutBatch();
  if (failed(expand()) || failed(findPhases()) || failed(checkResults()))
    return failure();
  findOpsBefore();
  return success();
}

/// Returns the rows i, i + count, ... of an argument.
Value Accumulation::microbatch(OpBuilder &builder, Value argument,
                               Value iteration) const {
  dtensor::TensorBuilder tensors(builder, argument.getLoc());
  const int64_t rows = batch.rows / count;
  const Value split = tensors.splitDim(argument, 0, {rows, count});
  SmallVector<Value> start(size_t(tensors.rankOf(split)),
                           tensors.integers({}, 0, builder.getI32Type()));
  start[1] = iteration;
  SmallVector<int64_t> sizes = tensors.shapeOf(split);
  sizes[1] = 1;
  const Value slice = tensors.create<dtensor::DynamicSliceOp>(
      argument.getLoc(), split, start, sizes);
  return tensors.mergeDims(slice, 0);
}

/// Copies an op with the types of its shards as tensors.
void Accumulation::cloneTo(OpBuilder &builder, Operation *op) {
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
}

void Accumulation::buildLoop(OpBuilder &builder) {
  const Location location = sums.front().getLoc();
  dtensor::TensorBuilder tensors(builder, location);
  auto number = [&](OpBuilder &place, int64_t value) {
    return dtensor::TensorBuilder(place, location)
        .integers({}, value, builder.getI32Type());
  };
  SmallVector<Value> inits{number(tensors, 0)};
  for (spmd::AllReduceOp sum : sums)
    inits.push_back(tensors.zeros(plainType(sum->getOperand(0).getType())));
  auto loop = tensors.create<dtensor::WhileOp>(location, inits);
  loop->setAttr(tripCountAttr, builder.getI64IntegerAttr(count));
  OpBuilder condition = OpBuilder::atBlockEnd(&loop.getCondition().front());
  const Value isBelow =
      dtensor::TensorBuilder(condition, location)
          .compare(dtensor::ComparisonDirection::LT,
                   loop.getConditionArgument(0), number(condition, count));
  condition.setInsertionPointToEnd(&loop.getCondition().front());
  condition.create<dtensor::YieldOp>(location, isBelow);

  OpBuilder body = OpBuilder::atBlockEnd(&loop.getBody().front());
  Block &source = copy().getBody().front();
  for (unsigned argument : batch.arguments) {
    mapping.map(source.getArgument(argument),
                microbatch(body, function.getArgument(argument),
                           loop.getBodyArgument(0)));
    body.setInsertionPointToEnd(&loop.getBody().front());
  }
  for (Operation &op : source.without_terminator())
    if (op.getNumResults() > 0 && phases.lookup(op.getResult(0)) == Phase::Loop)
      cloneTo(body, &op);
  dtensor::TensorBuilder end(body, location);
  SmallVector<Value> yielded{end.add(loop.getBodyArgument(0), number(end, 1))};
  for (auto [i, sum] : llvm::enumerate(sums))
    yielded.push_back(end.add(loop.getBodyArgument(unsigned(i) + 1),
                              mapping.lookup(sum->getOperand(0))));
  end.create<dtensor::YieldOp>(location, yielded);
  for (auto [i, sum] : llvm::enumerate(sums))
    mapping.map(sum->getResult(0), loop.getResult(unsigned(i) + 1));
}

void Accumulation::rewrite() {
  Block &body = function.getBody().front();
  Block &source = copy().getBody().front();
  SmallVector<Operation *> replaced;
  for (Operation &op : body.without_terminator())
    replaced.push_back(&op);
  Operation *terminator = body.getTerminator();
  OpBuilder builder(terminator);
  for (auto [from, to] :
       llvm::zip_equal(source.getArguments(), body.getArguments()))
    mapping.map(from, to);
  for (Operation &op : source.without_terminator())
    if (before.contains(&op))
      cloneTo(builder, &op);
  buildLoop(builder);
  for (Operation &op : source.without_terminator())
    if (!before.contains(&op) && !isa<spmd::AllReduceOp>(op) &&
        !(op.getNumResults() > 0 &&
          phases.lookup(op.getResult(0)) == Phase::Loop))
      cloneTo(builder, &op);
  for (auto [use, value] : llvm::zip_equal(
           terminator->getOpOperands(), source.getTerminator()->getOperands()))
    use.set(mapping.lookup(value));
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
  matchReturnTypes(function);
  function->setAttr(dtensor::memoryChoicesAttr,
                    builder.getStrArrayAttr({note()}));
}

/// Returns the note that --explain prints.
std::string Accumulation::note() const {
  std::vector<std::string> names;
  for (unsigned number : batch.arguments) {
    auto name = FuncOp(function).getArgAttrOfType<StringAttr>(
        number, dtensor::nameAttr);
    names.push_back(name ? fmt::format("'{}'", name.str())
                         : fmt::format("argument #{}", number));
  }
  return fmt::format(
      "accumulate gradients over {} microbatches of {} rows of {}", count,
      batch.rows / count, fmt::join(names, ", "));
}

/// Returns the analysed accumulation over the first batch that can be cut,
/// without diagnostics; null where there is none.
std::unique_ptr<Accumulation>
findAccumulation(FuncOp function, const std::vector<Batch> &batches,
                 int64_t count) {
  const auto thread = std::this_thread::get_id();
  const mlir::ScopedDiagnosticHandler silent(
      function.getContext(), [thread](mlir::Diagnostic &) {
        return success(std::this_thread::get_id() == thread);
      });
  for (const Batch &batch : batches) {
    auto accumulation = std::make_unique<Accumulation>(function, batch, count);
    if (succeeded(accumulation->analyze()))
      return accumulation;
  }
  return nullptr;
}

} // namespace

Status askToAccumulate(ModuleOp module, const std::string &name,
                       int64_t count) {
  Result<FuncOp> function = functionToCompile(module, name);
  if (!function)
    return function.error();
  (*function)->setAttr(accumulateGradientsAttr,
                       Builder(module.getContext()).getI64IntegerAttr(count));
  return Success();
}

bool tryToAccumulateGradients(FuncOp function, int64_t count) {
  if (!function.getBody().hasOneBlock())
    return false;
  const auto found = findAccumulation(function, batchesOf(function), count);
  if (found)
    found->rewrite();
  return found != nullptr;
}

LogicalResult accumulateGradients(FuncOp function, int64_t count) {
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
  if (const auto found = findAccumulation(function, batches, count)) {
    found->rewrite();
    return success();
  }
  // The largest batch is the one that the user meant: say why it cannot be cut.
  return Accumulation(function, batches.front(), count).analyze();
}

} // namespace meshloom
