// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses values to compute again, in the block where results that wait for
// their last use take most memory: the function's, or the body of a loop, such
// as one over microbatches. The boundary is where in the block they do. The ops
// before it are cut into parts where
// few bytes go from one to the next. For each of several numbers of parts,
// those that save most bytes for their work are computed again, as few as
// suffice by the prices of the layout search. The caller predicts these
// candidates.
#include "meshloom/Layout/Recompute.h"

#include "FunctionGraph.h"
#include "LayoutFlow.h"

#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/ControlFlow/Determinism.h"
#include "meshloom/ControlFlow/SourceLocation.h"
#include "meshloom/Dialect/DTensor/FunctionLayouts.h"
#include "meshloom/Dialect/DTensor/Inlined.h"
#include "meshloom/Dialect/DTensor/Notes.h"
#include "meshloom/Dialect/DTensor/Recompute.h"
#include "meshloom/Layout/Search/LayoutSearch.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace meshloom {

using dtensor::CaseOp;

namespace {

/// Returns the bytes of a value on each device in a layout.
int64_t bytesOf(Value value, const Layout &layout) {
  auto type = cast<RankedTensorType>(value.getType());
  return localBytes(layout,
                    Shape(type.getShape().begin(), type.getShape().end()),
                    *dtensor::dtypeOf(type.getElementType()));
}

/// A result of an op of the block, by the numbers of ops that need it.
struct LiveResult {
  Value value;
  size_t producer;
  std::vector<size_t> users; ///< in order, without the block's terminator
  int64_t bytes;             ///< on each device
};

/// The results of a block and their uses in program order.
class BlockResults {
public:
  explicit BlockResults(Block &block) : block(block) {
    for (Operation &op : block) {
      numbers[&op] = ops.size();
      ops.push_back(&op);
    }
    for (auto [number, op] : llvm::enumerate(ops))
      if (!dtensor::isFreeToMake(op))
        for (Value value : op->getResults())
          addResult(value, number);
  }

  size_t size() const { return ops.size(); }
  Operation *op(size_t number) const { return ops[number]; }
  /// Returns whether the use is in the block or in a region of its ops.
  bool contains(const OpOperand &use) const {
    return block.findAncestorOpInBlock(*use.getOwner());
  }
  /// Returns the number of the op of the block that uses the operand, or that
  /// holds the op which does.
  size_t userOf(const OpOperand &use) const {
    return numbers.lookup(block.findAncestorOpInBlock(*use.getOwner()));
  }
  ArrayRef<LiveResult> results() const { return found; }

private:
  void addResult(Value value, size_t producer) {
    LiveResult result{value, producer, {}, 0};
    for (const OpOperand &use : value.getUses())
      if (const size_t user = userOf(use); user + 1 < ops.size())
        result.users.push_back(user);
    if (result.users.empty())
      return;
    llvm::sort(result.users);
    result.bytes = bytesOf(value, *annotatedLayout(value.getType()));
    found.push_back(std::move(result));
  }

  Block &block;
  std::vector<Operation *> ops;
  DenseMap<Operation *, size_t> numbers;
  std::vector<LiveResult> found;
};

/// Returns the shapes of the state that a step updates. A gradient has one of
/// these.
std::vector<ArrayRef<int64_t>> stateShapes(mlir::func::FuncOp function) {
  std::vector<ArrayRef<int64_t>> shapes;
  for (BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), dtensor::aliasAttr))
      shapes.push_back(cast<RankedTensorType>(argument.getType()).getShape());
  return shapes;
}

/// Returns the sum of `bytes` over the results for each number of an op, as
/// `rangeOf` says where a result counts: from its first to before its second.
template <typename RangeOf>
std::vector<int64_t> sumsOver(const BlockResults &block, RangeOf &&rangeOf) {
  std::vector<int64_t> sums(block.size() + 1);
  for (const LiveResult &result : block.results())
    if (const auto [first, end] = rangeOf(result); first < end) {
      sums[first] += result.bytes;
      sums[end] -= result.bytes;
    }
  std::partial_sum(sums.begin(), sums.end(), sums.begin());
  return sums;
}

/// Where results of a block that wait for a later use take most bytes.
struct Boundary {
  Block *block = nullptr;
  size_t op = 0; ///< its number in the block
  int64_t waitingBytes = 0;
};

/// Gradients wait for the update and are not counted.
Boundary boundaryOf(Block &block, ArrayRef<ArrayRef<int64_t>> states) {
  const std::vector<int64_t> waiting =
      sumsOver(BlockResults(block), [&](const LiveResult &result) {
        auto type = cast<RankedTensorType>(result.value.getType());
        const bool isGradient = llvm::is_contained(states, type.getShape());
        return std::pair(result.producer + 1,
                         isGradient ? 0 : result.users.back());
      });
  const auto most = std::ranges::max_element(waiting);
  return {&block, size_t(most - waiting.begin()), *most};
}

/// Returns the boundary of the function's block or of the body of a loop, where
/// most bytes wait.
Boundary boundaryOf(mlir::func::FuncOp function) {
  const std::vector<ArrayRef<int64_t>> states = stateShapes(function);
  Boundary boundary = boundaryOf(function.getBody().front(), states);
  function.walk([&](dtensor::WhileOp loop) {
    const Boundary inLoop = boundaryOf(loop.getBody().front(), states);
    if (inLoop.waitingBytes > boundary.waitingBytes)
      boundary = inLoop;
  });
  return boundary;
}

/// Returns the number of operations of `op` on all devices together.
int64_t workOf(Operation *op) {
  auto sharded = dyn_cast<dtensor::ShardedOpInterface>(op);
  if (!sharded || dtensor::isFreeToMake(op))
    return 0;
  const ShardingRule rule = layoutRule(sharded);
  return sharded.getCost(rule).total(rule);
}

/// The cuts of what runs before a boundary.
class Partition {
public:
  Partition(const BlockResults &block, size_t boundary)
      : block(block), boundary(boundary), waiting(boundary + 1),
        work(boundary + 1) {
    crossing = sumsOver(block, [&](const LiveResult &result) {
      auto end = std::ranges::lower_bound(result.users, boundary);
      return std::pair(result.producer + 1,
                       end == result.users.begin() ? 0 : *std::prev(end) + 1);
    });
    for (const LiveResult &result : block.results())
      if (isWaiting(result))
        waiting[result.producer + 1] += result.bytes;
    std::partial_sum(waiting.begin(), waiting.end(), waiting.begin());
    for (size_t number = 0; number < boundary; ++number)
      work[number + 1] = work[number] + double(workOf(block.op(number)));
  }

  /// Returns up to `count` parts, with about as many bytes that wait each,
  /// without those that save nothing or have effects.
  std::vector<RecomputedPart> parts(size_t count) const;

  /// Returns the saved bytes for each operation of a part.
  double yieldOf(const RecomputedPart &part) const {
    return double(part.savedBytes) / (1 + work[part.end] - work[part.first]);
  }

private:
  bool isWaiting(const LiveResult &result) const {
    return result.producer < boundary && result.users.back() >= boundary;
  }
  size_t cutNear(size_t part, size_t count) const;
  int64_t savedBytes(size_t first, size_t end) const;
  bool hasEffects(size_t first, size_t end) const {
    for (size_t number = first; number < end; ++number)
      if (!mlir::isMemoryEffectFree(block.op(number)))
        return true;
    return false;
  }

  const BlockResults &block;
  size_t boundary;
  /// Bytes that go from before an op to it or later ones before the boundary.
  std::vector<int64_t> crossing;
  /// Bytes that ops before a number compute and ops after the boundary use.
  std::vector<int64_t> waiting;
  std::vector<double> work; ///< of the ops before a number
};

/// Returns the bytes that wait only because ops after the boundary use them.
int64_t Partition::savedBytes(size_t first, size_t end) const {
  int64_t bytes = 0;
  for (const LiveResult &result : block.results())
    if (isWaiting(result) && first <= result.producer &&
        result.producer < end &&
        llvm::none_of(
            result.users,
            [&](size_t user) { return user >= end && user < boundary; }))
      bytes += result.bytes;
  return bytes;
}

/// Returns the number of the op before which part `part` of `count` ends: where
/// fewest bytes cross among those whose share of the bytes that wait is within
/// half a part of the even share.
size_t Partition::cutNear(size_t part, size_t count) const {
  if (part == count)
    return boundary;
  const auto share = [&](double parts) {
    return int64_t(double(waiting.back()) * parts / double(count));
  };
  auto rank = [&](size_t number) {
    return std::pair(crossing[number],
                     std::abs(waiting[number] - share(double(part))));
  };
  size_t best = 0;
  for (size_t number = 1; number < boundary; ++number)
    if (share(double(part) - 0.5) <= waiting[number] &&
        waiting[number] <= share(double(part) + 0.5) &&
        (best == 0 || rank(number) < rank(best)))
      best = number;
  return best;
}

std::vector<RecomputedPart> Partition::parts(size_t count) const {
  std::vector<RecomputedPart> found;
  size_t first = 0;
  for (size_t part = 1; part <= count; ++part) {
    const size_t end = cutNear(part, count);
    if (end <= first)
      continue;
    const int64_t bytes = savedBytes(first, end);
    if (bytes > 0 && !hasEffects(first, end))
      found.push_back({first, end, bytes,
                       locationText(block.op(first)->getLoc()) + " to " +
                           locationText(block.op(end - 1)->getLoc())});
    first = end;
  }
  return found;
}

/// A `dtensor.case` of one branch that stays a region of its own.
CaseOp createRegion(OpBuilder &builder, Location location,
                    ArrayRef<Value> yielded, const Layout &anyLayout) {
  const Layout scalar = Layout::replicated(anyLayout.mesh(), 0);
  auto type = RankedTensorType::get(
      {}, builder.getI32Type(),
      dtensor::LayoutAttr::get(builder.getContext(), scalar));
  auto zero = builder.create<dtensor::ConstantOp>(
      location, type,
      DenseElementsAttr::get(RankedTensorType::get({}, builder.getI32Type()),
                             int32_t(0)));
  auto region = builder.create<CaseOp>(
      location, mlir::TypeRange(mlir::ValueRange(yielded)), zero, 1u);
  region->setAttr(dtensor::recomputedAttr, builder.getUnitAttr());
  region->setAttr(dtensor::inlinedAttr, builder.getUnitAttr());
  return region;
}

/// The values of one part, before anything is moved.
struct PartValues {
  SmallVector<Operation *> ops; ///< of the part, without free ones
  SmallVector<Value> early; ///< used outside before the boundary, or returned
  SmallVector<Value> late;  ///< used after the boundary only
  Operation *firstUser = nullptr; ///< of the late values
};

PartValues valuesOf(const BlockResults &block, const RecomputedPart &part,
                    size_t boundary) {
  PartValues values;
  size_t firstUser = block.size();
  for (size_t number = part.first; number < part.end; ++number) {
    Operation *op = block.op(number);
    if (dtensor::isFreeToMake(op))
      continue;
    values.ops.push_back(op);
    for (Value result : op->getResults()) {
      size_t first = block.size();
      bool isReturned = false, isUsedEarly = false;
      for (const OpOperand &use : result.getUses()) {
        const size_t user = block.userOf(use);
        isReturned |= user + 1 == block.size();
        isUsedEarly |= user >= part.end && user < boundary;
        if (user >= boundary)
          first = std::min(first, user);
      }
      if (isReturned || isUsedEarly)
        values.early.push_back(result);
      else if (first < block.size()) {
        values.late.push_back(result);
        firstUser = std::min(firstUser, first);
      }
    }
  }
  if (firstUser < block.size())
    values.firstUser = block.op(firstUser);
  return values;
}

/// Returns the ops of the part that the late values are computed from.
SmallVector<Operation *> opsBehind(const PartValues &values) {
  llvm::DenseSet<Operation *> needed;
  for (Value value : values.late)
    needed.insert(value.getDefiningOp());
  SmallVector<Operation *> ops;
  for (Operation *op : llvm::reverse(values.ops)) {
    if (!needed.contains(op))
      continue;
    ops.push_back(op);
    for (Value used : usedValues(op))
      if (Operation *producer = used.getDefiningOp())
        needed.insert(producer);
  }
  std::ranges::reverse(ops);
  return ops;
}

/// Puts a copy of what the late values need before their first user.
void computeLate(const PartValues &values) {
  OpBuilder builder(values.firstUser);
  const Location location = values.ops.front()->getLoc();
  CaseOp region = createRegion(builder, location, values.late,
                               *annotatedLayout(values.late.front().getType()));
  builder.setInsertionPointToEnd(&region.getBranches()[0].front());
  mlir::IRMapping copies;
  for (Operation *op : opsBehind(values))
    builder.clone(*op, copies);
  SmallVector<Value> yielded;
  for (auto [value, result] :
       llvm::zip_equal(values.late, region.getResults())) {
    yielded.push_back(copies.lookup(value));
    Value(value).replaceUsesWithIf(result, [&](OpOperand &use) {
      return region->isBeforeInBlock(
          region->getBlock()->findAncestorOpInBlock(*use.getOwner()));
    });
  }
  builder.create<dtensor::YieldOp>(location, yielded);
}

/// Moves the ops of the part into a region at its end.
void computeEarly(const PartValues &values) {
  OpBuilder builder(values.ops.back()->getContext());
  builder.setInsertionPointAfter(values.ops.back());
  const Location location = values.ops.front()->getLoc();
  CaseOp region =
      createRegion(builder, location, values.early,
                   *annotatedLayout(values.early.front().getType()));
  Block &body = region.getBranches()[0].front();
  for (Operation *op : values.ops)
    op->moveBefore(&body, body.end());
  for (auto [value, result] :
       llvm::zip_equal(values.early, region.getResults()))
    Value(value).replaceUsesWithIf(result, [&](OpOperand &use) {
      return !region->isProperAncestor(use.getOwner());
    });
  builder.setInsertionPointToEnd(&body);
  builder.create<dtensor::YieldOp>(location, values.early);
}

/// Returns the layout in which `use` needs its value, where the op asks for
/// one.
std::optional<Layout> neededLayout(OpOperand &use) {
  Operation *op = use.getOwner();
  auto sharded = dyn_cast<dtensor::ShardedOpInterface>(op);
  if (!sharded || op->getNumResults() == 0)
    return std::nullopt;
  const std::vector<Layout> results = annotatedLayouts(op->getResultTypes());
  const ShardingRule rule = layoutRule(sharded);
  return operandLayout(
      rule, use.getOperandNumber(),
      opSharding(rule, annotatedLayouts(op->getOperandTypes()), results),
      results.front().mesh());
}

/// Returns the op that has `value` in a layout before the boundary which an op
/// after it needs too, where it is the only one before it.
std::optional<GatherAgain> gatherAgain(const BlockResults &block, Value value,
                                       size_t boundary) {
  Operation *producer = value.getDefiningOp();
  if (producer && dtensor::isFreeToMake(producer))
    return std::nullopt;
  const Layout layout = *annotatedLayout(value.getType());
  OpOperand *early = nullptr;
  std::vector<Layout> late;
  for (OpOperand &use : value.getUses()) {
    const std::optional<Layout> needed = neededLayout(use);
    if (!block.contains(use) || !needed || *needed == layout)
      continue;
    if (block.userOf(use) >= boundary)
      late.push_back(*needed);
    else if (std::exchange(early, &use))
      return std::nullopt;
  }
  if (!early || early->getOwner() != block.op(block.userOf(*early)) ||
      !llvm::is_contained(late, *neededLayout(*early)))
    return std::nullopt;
  return GatherAgain{block.userOf(*early),
                     bytesOf(value, *neededLayout(*early)),
                     locationText(early->getOwner()->getLoc())};
}

} // namespace

struct RecomputationSearch::Cuts {
  Cuts(mlir::func::FuncOp function, const MachineModel &machine)
      : function(function), machine(machine), boundary(boundaryOf(function)),
        block(*boundary.block), partition(block, boundary.op) {}

  FailureOr<Recomputation> price(Recomputation recomputation);
  FailureOr<Recomputation> choose(const std::vector<GatherAgain> &gathers,
                                  std::vector<RecomputedPart> parts,
                                  int64_t most);

  mlir::func::FuncOp function;
  const MachineModel &machine;
  Boundary boundary;
  BlockResults block;
  Partition partition;
  /// The priced choices, by the numbers of the ops that they compute again.
  std::map<std::vector<size_t>, Recomputation> prices;
};

/// Prices a copy of the function with the recomputation, once.
FailureOr<Recomputation>
RecomputationSearch::Cuts::price(Recomputation recomputation) {
  std::vector<size_t> ops;
  for (const RecomputedPart &part : recomputation.parts)
    ops.insert(ops.end(), {part.first, part.end});
  for (const GatherAgain &gather : recomputation.gathers)
    ops.insert(ops.end(), {gather.op, gather.op});
  if (auto priced = prices.find(ops); priced != prices.end())
    return priced->second;
  recomputation.boundary = boundary.op;
  mlir::OwningOpRef<mlir::func::FuncOp> copy =
      mlir::func::FuncOp(function).clone();
  recompute(*copy, recomputation);
  FunctionGraph nodes;
  if (failed(nodes.build(*copy)))
    return failure();
  const LayoutPrice price = priceLayouts(nodes.graph, machine);
  recomputation.time = price.cost.cost;
  recomputation.peak = price.peak;
  return prices.emplace(std::move(ops), std::move(recomputation)).first->second;
}

/// Bisects the number of parts that bring the peak to `most`, those with the
/// largest yields first. Returns all parts where no number does.
FailureOr<Recomputation>
RecomputationSearch::Cuts::choose(const std::vector<GatherAgain> &gathers,
                                  std::vector<RecomputedPart> parts,
                                  int64_t most) {
  std::ranges::stable_sort(
      parts, std::ranges::greater(),
      [&](const RecomputedPart &part) { return partition.yieldOf(part); });
  auto priceOfFirst = [&](size_t count) {
    std::vector<RecomputedPart> first(parts.begin(),
                                      parts.begin() + ptrdiff_t(count));
    std::ranges::sort(first, {}, &RecomputedPart::first);
    return price({.gathers = gathers, .parts = std::move(first)});
  };
  FailureOr<Recomputation> best = priceOfFirst(parts.size());
  if (failed(best) || best->peak > most)
    return best;
  size_t low = 1, high = parts.size();
  while (succeeded(best) && low < high) {
    const size_t count = (low + high) / 2;
    FailureOr<Recomputation> fewer = priceOfFirst(count);
    if (failed(fewer) || fewer->peak <= most) {
      best = std::move(fewer);
      high = count;
    } else {
      low = count + 1;
    }
  }
  return best;
}

RecomputationSearch::RecomputationSearch(mlir::func::FuncOp function,
                                         const MachineModel &machine)
    : cuts(std::make_unique<Cuts>(function, machine)) {}
RecomputationSearch::~RecomputationSearch() = default;

FailureOr<Recomputation> RecomputationSearch::none() const {
  return cuts->price({});
}

FailureOr<Recomputation> RecomputationSearch::gathersAgain() const {
  std::vector<GatherAgain> gathers;
  auto add = [&](Value value) {
    if (auto gather = gatherAgain(cuts->block, value, cuts->boundary.op))
      gathers.push_back(std::move(*gather));
  };
  llvm::SetVector<Value> operands;
  for (size_t number = 0; number < cuts->boundary.op; ++number)
    for (Value operand : cuts->block.op(number)->getOperands())
      operands.insert(operand);
  llvm::for_each(operands, add);
  Recomputation recomputation;
  recomputation.gathers = std::move(gathers);
  return cuts->price(std::move(recomputation));
}

FailureOr<std::vector<Recomputation>>
RecomputationSearch::candidates(const std::vector<GatherAgain> &gathers,
                                int64_t most) const {
  constexpr size_t mostParts = 200;
  std::vector<Recomputation> found;
  for (size_t count = 1; count <= mostParts && 2 * count <= cuts->boundary.op;
       count += 1 + count / 2) {
    std::vector<RecomputedPart> parts = cuts->partition.parts(count);
    if (parts.empty())
      continue;
    FailureOr<Recomputation> choice =
        cuts->choose(gathers, std::move(parts), most);
    if (failed(choice))
      return failure();
    if (!llvm::is_contained(found, *choice))
      found.push_back(std::move(*choice));
  }
  std::ranges::stable_sort(found, {}, [most](const Recomputation &choice) {
    const int64_t excess = std::max<int64_t>(choice.peak - most, 0);
    return std::tuple(excess, choice.time, choice.peak);
  });
  return found;
}

void recompute(mlir::func::FuncOp function,
               const Recomputation &recomputation) {
  if (recomputation.isEmpty())
    return;
  const BlockResults block(*boundaryOf(function).block);
  const size_t boundary = recomputation.boundary;
  std::vector<PartValues> parts, gathers;
  for (const RecomputedPart &part : recomputation.parts)
    parts.push_back(valuesOf(block, part, boundary));
  // The gathers of a part that is computed again are in its regions.
  for (const GatherAgain &gather : recomputation.gathers)
    if (llvm::none_of(recomputation.parts, [&](const RecomputedPart &part) {
          return part.first <= gather.op && gather.op < part.end;
        })) {
      Operation *op = block.op(gather.op);
      gathers.push_back({{op}, op->getResults(), {}});
    }
  for (const PartValues &values : parts) {
    if (values.late.empty())
      continue;
    computeLate(values);
    if (!values.early.empty())
      computeEarly(values);
    else
      for (Operation *op : llvm::reverse(values.ops))
        op->erase();
  }
  llvm::for_each(gathers, computeEarly);
}

} // namespace meshloom
