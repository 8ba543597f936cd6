// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads loops and branches; changes nothing.
#include "meshloom/ControlFlow/ControlFlow.h"

#include "llvm/ADT/SetVector.h"

#include <algorithm>
#include <limits>

namespace meshloom {

using dtensor::CaseOp, dtensor::WhileOp;

bool isControl(Operation *op) {
  return isa<WhileOp, CaseOp>(op);
}

static void addBlocks(Block &block, SmallVector<Block *> &blocks) {
  blocks.push_back(&block);
  for (Operation &op : block)
    if (isControl(&op))
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          addBlocks(inner, blocks);
}

SmallVector<Block *> runBlocks(mlir::func::FuncOp function) {
  SmallVector<Block *> blocks;
  for (Block &block : function.getBody())
    addBlocks(block, blocks);
  return blocks;
}

SmallVector<Value> capturedValues(Operation *control) {
  llvm::SmallSetVector<Value, 8> values;
  control->walk([&](Operation *inner) {
    if (inner == control)
      return;
    for (Value operand : inner->getOperands()) {
      Operation *owner = operand.getParentBlock()->getParentOp();
      if (owner != control && !control->isProperAncestor(owner))
        values.insert(operand);
    }
  });
  return values.takeVector();
}

SmallVector<Value> usedValues(Operation *op) {
  llvm::SmallSetVector<Value, 8> values;
  values.insert(op->operand_begin(), op->operand_end());
  if (isControl(op))
    for (Value value : capturedValues(op))
      values.insert(value);
  return values.takeVector();
}

SmallVector<WhileOp> loopsAround(Operation *op) {
  SmallVector<WhileOp> loops;
  while ((op = op->getParentOp()))
    if (auto loop = dyn_cast<WhileOp>(op))
      loops.push_back(loop);
  return loops;
}

//===----------------------------------------------------------------------===//
// Trip counts
//===----------------------------------------------------------------------===//

/// The value behind relayouts, constraints, and carried values that never
/// change.
static Value sourceOf(Value value) {
  while (true) {
    Operation *op = value.getDefiningOp();
    if (!op) {
      auto argument = cast<BlockArgument>(value);
      auto loop = dyn_cast<WhileOp>(argument.getOwner()->getParentOp());
      unsigned i = argument.getArgNumber();
      if (!loop || loop.getBodyYield().getOperand(i) != loop.getBodyArgument(i))
        return value;
      value = loop.getInits()[i];
    } else if (isa<dtensor::RelayoutOp, dtensor::ConstraintOp>(op)) {
      value = op->getOperand(0);
    } else {
      return value;
    }
  }
}

static std::optional<int64_t> constantOf(Value value) {
  auto constant = sourceOf(value).getDefiningOp<dtensor::ConstantOp>();
  auto type =
      constant
          ? dyn_cast<IntegerType>(dtensor::elementTypeOf(constant.getType()))
          : IntegerType();
  auto dense = type ? dyn_cast<DenseElementsAttr>(constant.getValue())
                    : DenseElementsAttr();
  if (!dense || !dense.isSplat() ||
      !dtensor::globalShape(constant.getType()).empty())
    return std::nullopt;
  auto bits = dense.getSplatValue<llvm::APInt>();
  if (!type.isUnsigned())
    return bits.getSExtValue();
  return bits.getActiveBits() < 64 ? std::optional(int64_t(bits.getZExtValue()))
                                   : std::nullopt;
}

/// Which carried value `value` is an argument of.
static std::optional<unsigned> carriedBy(Value value, Block *block) {
  auto argument = dyn_cast<BlockArgument>(sourceOf(value));
  if (!argument || argument.getOwner() != block)
    return std::nullopt;
  return argument.getArgNumber();
}

/// Iterations of `for (i = first; i <direction> limit; i += step)`, if they
/// end before the counter's type overflows.
static std::optional<int64_t> iterations(int64_t first,
                                         dtensor::ComparisonDirection direction,
                                         int64_t limit, int64_t step,
                                         IntegerType type) {
  using Direction = dtensor::ComparisonDirection;
  __int128 distance = __int128(limit) - first;
  __int128 count;
  switch (direction) {
  case Direction::EQ:
    if (distance != 0)
      return 0;
    if (step == 0)
      return std::nullopt;
    count = 1;
    break;
  case Direction::NE:
    if (distance == 0)
      return 0;
    if (step == 0 || distance % step != 0 || distance / step < 0)
      return std::nullopt;
    count = distance / step;
    break;
  default: {
    bool up = direction == Direction::LT || direction == Direction::LE;
    // The count is that of a `<` with a counter that goes up.
    __int128 far = up ? distance : -distance,
             each = up ? step : -__int128(step);
    far += direction == Direction::LE || direction == Direction::GE;
    if (far <= 0)
      return 0;
    if (each <= 0)
      return std::nullopt;
    count = (far + each - 1) / each;
  }
  }
  // The last value that is compared must be one of the type.
  __int128 last = first + count * step;
  unsigned width = type.getWidth();
  bool isSigned = !type.isUnsigned();
  __int128 top = __int128(1) << (isSigned ? width - 1 : width);
  if (last >= top || last < (isSigned ? -top : 0) ||
      count > std::numeric_limits<int64_t>::max())
    return std::nullopt;
  return int64_t(count);
}

static dtensor::ComparisonDirection
mirrored(dtensor::ComparisonDirection direction) {
  using Direction = dtensor::ComparisonDirection;
  switch (direction) {
  case Direction::LT:
    return Direction::GT;
  case Direction::LE:
    return Direction::GE;
  case Direction::GT:
    return Direction::LT;
  case Direction::GE:
    return Direction::LE;
  default:
    return direction;
  }
}

std::optional<LoopCounter> loopCounter(WhileOp loop) {
  auto compare = sourceOf(loop.getConditionYield().getOperand(0))
                     .getDefiningOp<dtensor::CompareOp>();
  if (!compare)
    return std::nullopt;
  Value lhs = compare->getOperand(0), rhs = compare->getOperand(1);
  dtensor::ComparisonDirection direction = compare.getDirection();
  Block *condition = &loop.getCondition().front(),
        *body = &loop.getBody().front();
  auto carried = carriedBy(lhs, condition);
  if (!carried) {
    carried = carriedBy(rhs, condition);
    std::swap(lhs, rhs);
    direction = mirrored(direction);
  }
  auto limit = constantOf(rhs);
  if (!carried || !limit)
    return std::nullopt;
  auto type = dyn_cast<IntegerType>(dtensor::elementTypeOf(lhs.getType()));
  auto first = constantOf(loop.getInits()[*carried]);
  if (!type || type.getWidth() == 1 || !first)
    return std::nullopt;

  Operation *next =
      sourceOf(loop.getBodyYield().getOperand(*carried)).getDefiningOp();
  if (!next || !isa<dtensor::AddOp, dtensor::SubtractOp>(next))
    return std::nullopt;
  bool add = isa<dtensor::AddOp>(next);
  auto step = constantOf(next->getOperand(1));
  bool isLhs = carriedBy(next->getOperand(0), body) == carried;
  if (!isLhs && add && carriedBy(next->getOperand(1), body) == carried) {
    step = constantOf(next->getOperand(0));
    isLhs = true;
  }
  if (!isLhs || !step || (!add && *step == std::numeric_limits<int64_t>::min()))
    return std::nullopt;
  int64_t change = add ? *step : -*step;
  auto count = iterations(*first, direction, *limit, change, type);
  if (!count)
    return std::nullopt;
  return LoopCounter{*carried, *first, change, *count};
}

std::optional<int64_t> tripCount(WhileOp loop) {
  if (auto attribute = loop->getAttrOfType<IntegerAttr>(tripCountAttr))
    return attribute.getInt();
  auto counter = loopCounter(loop);
  return counter ? std::optional(counter->count) : std::nullopt;
}

std::optional<int64_t> executions(Operation *op) {
  int64_t count = 1;
  for (Operation *inner = op; Operation *outer = inner->getParentOp();
       inner = outer) {
    auto loop = dyn_cast<WhileOp>(outer);
    if (!loop)
      continue;
    auto trips = tripCount(loop);
    if (!trips)
      return std::nullopt;
    // The condition runs once more than the body.
    bool body = inner->getParentRegion() == &loop.getBody();
    if (__builtin_mul_overflow(count, *trips + !body, &count))
      return std::nullopt;
  }
  return count;
}

int64_t runsPerRelayout(Block &block, Value value) {
  int64_t runs = 1;
  for (Block *inner = &block; inner != value.getParentBlock();) {
    auto loop = dyn_cast<WhileOp>(inner->getParentOp());
    if (!loop)
      break; // relayouts do not leave branches
    int64_t trips = tripCount(loop).value_or(unknownTrips);
    trips += inner == &loop.getCondition().front();
    if (__builtin_mul_overflow(runs, std::max<int64_t>(trips, 1), &runs))
      return std::numeric_limits<int32_t>::max();
    inner = loop->getBlock();
  }
  return runs;
}

} // namespace meshloom
