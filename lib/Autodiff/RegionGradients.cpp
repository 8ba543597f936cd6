// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of reductions, of everything or of windows, by functions of
// scalars: the elements are combined one after the other, by the function
// applied to whole tensors, in the order that the op says; that has a gradient.
//
// A generic_reduce whose function only chooses (an argmax) takes the indices of
// the elements along, so that the chosen ones get the gradient; one that is a
// plain kind of something made of each element is a `reduce` of that. Both are
// as parallel as the op itself. So is a function that is said to be
// associative: neighbours are combined in log2(n) rounds. Others are done in
// turn.
#include "GradientRules.h"
#include "WindowElements.h"

#include "meshloom/Dialect/DTensor/ElementwiseRegion.h"

#include "mlir/IR/IRMapping.h"

namespace meshloom {

using dtensor::ComparisonDirection;
using dtensor::GenericReduceOp, dtensor::ReduceWindowOp,
    dtensor::SelectAndScatterOp;

/// More elements of a window than this are left to a loop.
constexpr int64_t mostWindowElements = 64;

static void giveZeros(OpGradient &g, Operation *op) {
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (g.wants(unsigned(i)))
      g.give(unsigned(i), g.zeros(g.typeOf(operand)));
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

void gradientInTurn(ReduceWindowOp op, OpGradient &g) {
  RankedTensorType places = g.typeOf(op.getResult(0));
  if (places.getNumElements() == 0)
    return giveZeros(g, op);
  unsigned count = op.getInputs().size();
  auto expand = [&](dtensor::TensorBuilder &math, ValueRange operands) {
    SmallVector<Value> whole, carried;
    for (unsigned i = 0; i < count; ++i) {
      Value init = operands[count + i];
      whole.push_back(padded(math, operands[i], init, op.getWindow()));
      carried.push_back(math.broadcast(init, places.getShape(), {}));
    }
    WindowElements elements(math, op.getWindow(), math.typeOf(whole[0]),
                            places);
    return repeatSteps(
        math, elements.size(), mostWindowElements, carried,
        [&](dtensor::TensorBuilder &inner, Turn k, ValueRange so) {
          SmallVector<Value> arguments(so);
          for (Value value : whole)
            arguments.push_back(elements.get(inner, value, k));
          if (auto kind = op.getKind())
            return SmallVector<Value>{
                inner.combine(*kind, arguments[0], arguments[1])};
          return applyRegion(inner, op.getBody(), arguments);
        });
  };
  // The results of other ops are conjugated where they need it.
  g.conjugateResults();
  differentiateExpansion(g, op, {&op.getBody()}, expand);
  g.conjugateOperands();
}

/// Finds the chosen elements' indices first, then scatters to them.
void gradientInTurn(SelectAndScatterOp op, OpGradient &g) {
  RankedTensorType places = g.typeOf(op.getSource()),
                   from = g.typeOf(op.getOperand());
  if (from.getNumElements() == 0)
    return giveZeros(g, op);
  int64_t total = from.getNumElements(), sources = places.getNumElements();
  auto keepsFirst = [&](dtensor::TensorBuilder &inner, Value first,
                        Value second) {
    if (auto kind = op.getSelectKind())
      return inner.compare(*kind == ReduceKind::Max ? ComparisonDirection::GE
                                                    : ComparisonDirection::LE,
                           first, second);
    return applyRegion(inner, op.getSelect(), {first, second})[0];
  };
  auto expand = [&](dtensor::TensorBuilder &math, ValueRange operands) {
    Value start = math.broadcast(operands[2], {total}, {});
    if (sources == 0)
      return SmallVector<Value>{math.reshape(start, from.getShape())};
    Type integer = math.getI64Type();
    Value index =
        math.reshape(math.create<dtensor::IotaOp>(
                         math.getLoc(), RankedTensorType::get({total}, integer),
                         math.getI64IntegerAttr(0)),
                     from.getShape());
    // Padding has no index, and is never chosen.
    Value none = math.integers({}, -1, integer);
    dtensor::WindowSpec window = op.getWindow();
    Value indices = padded(math, index, none, window);
    Value zero = math.zeros(RankedTensorType::get({}, from.getElementType()));
    Value values = padded(math, operands[0], zero, window);
    WindowElements elements(math, window, math.typeOf(values), places);
    SmallVector<Value> chosen{math.zeros(RankedTensorType::get(
                                  places.getShape(), from.getElementType())),
                              math.integers(places.getShape(), -1, integer)};
    chosen = repeatSteps(
        math, elements.size(), mostWindowElements, chosen,
        [&](dtensor::TensorBuilder &inner, Turn k, ValueRange so) {
          Value value = elements.get(inner, values, k),
                here = elements.get(inner, indices, k);
          Value outside = inner.integers(places.getShape(), 0, integer);
          auto isReal = [&](Value place) {
            return inner.compare(ComparisonDirection::GE, place, outside);
          };
          Value keep = inner.apply<dtensor::AndOp>(
              isReal(so[1]), keepsFirst(inner, so[0], value));
          keep = inner.apply<dtensor::OrOp>(
              keep, inner.compare(ComparisonDirection::LT, here, outside));
          return SmallVector<Value>{inner.select(keep, so[0], value),
                                    inner.select(keep, so[1], here)};
        });
    auto scattered = math.create<dtensor::ScatterOp>(
        math.getLoc(), ValueRange{start}, math.reshape(chosen[1], {sources, 1}),
        ValueRange{math.reshape(operands[1], {sources})}, ArrayRef<int64_t>{},
        ArrayRef<int64_t>{0}, ArrayRef<int64_t>{}, ArrayRef<int64_t>{},
        ArrayRef<int64_t>{0}, 1, op.getPlainScatter());
    if (!op.getPlainScatter()) {
      mlir::IRMapping mapping;
      op.getScatter().cloneInto(&scattered.getComputation(), mapping);
    }
    return SmallVector<Value>{
        math.reshape(scattered.getResult(0), from.getShape())};
  };
  differentiateExpansion(g, op, {&op.getSelect(), &op.getScatter()}, expand);
  // The element that is chosen does not change with small changes.
  if (g.wants(0) && !g.gradientOf(0))
    g.give(0, g.zeros(from));
}

//===----------------------------------------------------------------------===//
// Whole dims
//===----------------------------------------------------------------------===//

namespace {
/// The block of a reduction's function.
class Reducer {
public:
  explicit Reducer(GenericReduceOp op)
      : op(op), block(op.getComputation().front()),
        count(op.getInputs().size()) {}

  Value yielded(unsigned i) { return block.getTerminator()->getOperand(i); }
  Value accumulator(unsigned i) { return block.getArgument(i); }
  Value element(unsigned i) { return block.getArgument(count + i); }

  /// For result `i`, returns the kind by which its accumulator is combined with
  /// something that no accumulator is part of.
  std::optional<ReduceKind> kindOf(unsigned i) {
    Operation *last = yielded(i).getDefiningOp();
    if (!last || last->getNumOperands() != 2 ||
        dtensor::elementTypeOf(yielded(i).getType()).isInteger(1))
      return std::nullopt;
    if (last->getOperand(0) != accumulator(i) &&
        last->getOperand(1) != accumulator(i))
      return std::nullopt;
    SmallVector<Value> work{partOf(i)};
    DenseSet<Value> seen;
    while (!work.empty()) {
      Value value = work.pop_back_val();
      if (auto argument = dyn_cast<BlockArgument>(value);
          argument && argument.getArgNumber() < count)
        return std::nullopt;
      if (Operation *producer = value.getDefiningOp();
          producer && seen.insert(value).second)
        llvm::append_range(work, producer->getOperands());
    }
    if (isa<dtensor::AddOp>(last))
      return ReduceKind::Sum;
    if (isa<dtensor::MultiplyOp>(last))
      return ReduceKind::Prod;
    if (isa<dtensor::MaximumOp>(last))
      return ReduceKind::Max;
    if (isa<dtensor::MinimumOp>(last))
      return ReduceKind::Min;
    return std::nullopt;
  }
  /// Returns the value that accumulator `i` is combined with.
  Value partOf(unsigned i) {
    Operation *last = yielded(i).getDefiningOp();
    return last->getOperand(last->getOperand(0) == accumulator(i) ? 1 : 0);
  }

  /// The predicate by which all results are either the accumulators (true: or
  /// the elements) or the others; null where they are not.
  Value choice(bool &keeps) {
    Value predicate;
    for (unsigned i = 0; i < count; ++i) {
      auto select = yielded(i).getDefiningOp<dtensor::SelectOp>();
      if (!select || (predicate && predicate != select.getPred()))
        return {};
      bool first = select.getOnTrue() == accumulator(i) &&
                   select.getOnFalse() == element(i);
      bool second = select.getOnTrue() == element(i) &&
                    select.getOnFalse() == accumulator(i);
      if ((!first && !second) || (predicate && keeps != first))
        return {};
      predicate = select.getPred();
      keeps = first;
    }
    return predicate;
  }

private:
  GenericReduceOp op;
  Block &block;
  unsigned count;
};
} // namespace

/// Reduces again with the elements' numbers along. The init values have -1.
static void choiceGradient(OpGradient &g, GenericReduceOp op, Value predicate,
                           bool keeps) {
  unsigned count = op.getInputs().size();
  Type integer = g.getI64Type();
  RankedTensorType from = g.typeOf(op.getInputs()[0]);
  Value numbers = g.reshape(
      g.create<dtensor::IotaOp>(
          g.getLoc(), RankedTensorType::get({from.getNumElements()}, integer),
          g.getI64IntegerAttr(0)),
      from.getShape());
  SmallVector<Value> inputs(op.getInputs()), inits(op.getInitValues());
  inputs.push_back(numbers);
  inits.push_back(g.integers({}, -1, integer));
  auto again =
      g.create<GenericReduceOp>(g.getLoc(), inputs, inits, op.getDimensions());
  if (Attribute associative = op->getAttr(dtensor::associativeAttrName))
    again->setAttr(dtensor::associativeAttrName, associative);
  mlir::IRMapping mapping;
  op.getComputation().cloneInto(&again.getComputation(), mapping);
  Block &block = again.getComputation().front();
  auto scalar = RankedTensorType::get({}, integer);
  Value so = block.insertArgument(count, scalar, g.getLoc());
  Value here = block.addArgument(scalar, g.getLoc());
  OpBuilder inner(block.getTerminator());
  Value number =
      inner.create<dtensor::SelectOp>(g.getLoc(), mapping.lookup(predicate),
                                      keeps ? so : here, keeps ? here : so);
  block.getTerminator()->insertOperands(count, number);

  Value chosen = again.getResults().back();
  Value isInit =
      g.compare(ComparisonDirection::EQ, chosen,
                g.integers(g.typeOf(chosen).getShape(), -1, integer));
  Value isChosen = g.compare(ComparisonDirection::EQ, numbers,
                             g.repeat(chosen, numbers, op.getDimensions()));
  for (unsigned i = 0; i < count; ++i) {
    if (!g.of(i))
      continue;
    if (g.wants(i))
      g.give(i, g.keepIf(isChosen, g.repeat(g.of(i), op.getInputs()[i],
                                            op.getDimensions())));
    if (g.wants(count + i)) {
      SmallVector<int64_t> dims =
          llvm::to_vector(llvm::seq<int64_t>(0, g.typeOf(g.of(i)).getRank()));
      g.give(count + i, g.sum(g.keepIf(isInit, g.of(i)), dims));
    }
  }
}

/// `value` with the dims that are reduced as one, in front.
static Value reducedFirst(dtensor::TensorBuilder &math, GenericReduceOp op,
                          Value value) {
  RankedTensorType type = math.typeOf(value);
  SmallVector<int64_t> order, shape{1};
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (llvm::is_contained(op.getDimensions(), d)) {
      order.push_back(d);
      shape[0] *= type.getDimSize(unsigned(d));
    }
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (!llvm::is_contained(op.getDimensions(), d)) {
      order.push_back(d);
      shape.push_back(type.getDimSize(unsigned(d)));
    }
  return math.reshape(math.transpose(value, order), shape);
}

/// Rows `first`, `first` + 2, ... of `value`, `count` of them.
static Value everySecondRow(dtensor::TensorBuilder &math, Value value,
                            int64_t first, int64_t count) {
  SmallVector<int64_t> limit(math.typeOf(value).getShape()),
      start(limit.size()), strides(limit.size(), 1);
  start[0] = first;
  limit[0] = first + 2 * (count - 1) + 1;
  strides[0] = 2;
  return math.create<dtensor::SliceOp>(math.getLoc(), value, start, limit,
                                       strides);
}

/// Returns the results of the region for all of `rows`, pair by pair; the
/// earlier one is on the left.
static SmallVector<Value> combineInPairs(dtensor::TensorBuilder &math,
                                         Region &region,
                                         SmallVector<Value> rows) {
  while (int64_t count = math.typeOf(rows[0]).getDimSize(0)) {
    if (count == 1)
      break;
    int64_t half = count / 2;
    SmallVector<Value> arguments;
    for (int64_t first : {0, 1})
      for (Value value : rows)
        arguments.push_back(everySecondRow(math, value, first, half));
    SmallVector<Value> combined = applyRegion(math, region, arguments);
    if (count % 2)
      for (auto [value, row] : llvm::zip_equal(combined, rows))
        value = math.concatenate(
            {value, everySecondRow(math, row, count - 1, 1)}, 0);
    rows = combined;
  }
  return rows;
}

static void gradientOf(GenericReduceOp op, OpGradient &g) {
  unsigned count = op.getInputs().size();
  Reducer reducer(op);
  bool keeps = false;
  if (Value predicate = reducer.choice(keeps))
    return choiceGradient(g, op, predicate, keeps);
  bool plain = llvm::all_of(llvm::seq<unsigned>(0, count), [&](unsigned i) {
    return reducer.kindOf(i).has_value();
  });
  auto asKinds = [&](dtensor::TensorBuilder &math, ValueRange operands) {
    // The region, but for the last op of each result.
    SmallVector<Value> arguments(operands.take_front(count)), results;
    llvm::append_range(arguments, operands.take_front(count));
    SmallVector<Value> combined =
        applyRegion(math, op.getComputation(), arguments);
    for (unsigned i = 0; i < count; ++i) {
      Operation *last = combined[i].getDefiningOp();
      bool first = reducer.yielded(i).getDefiningOp()->getOperand(0) ==
                   reducer.accumulator(i);
      Value part = last->getOperand(first ? 1 : 0);
      ReduceKind kind = *reducer.kindOf(i);
      Value reduced = math.reduce(kind, part, op.getDimensions());
      Value init = math.broadcast(operands[count + i],
                                  math.typeOf(reduced).getShape(), {});
      results.push_back(math.combine(kind, init, reduced));
    }
    return results;
  };
  auto inTurn = [&](dtensor::TensorBuilder &math, ValueRange operands) {
    SmallVector<Value> rows, carried;
    ArrayRef<int64_t> shape = math.typeOf(op.getResult(0)).getShape();
    for (unsigned i = 0; i < count; ++i) {
      rows.push_back(reducedFirst(math, op, operands[i]));
      carried.push_back(math.broadcast(operands[count + i], shape, {}));
    }
    if (op->hasAttr(dtensor::associativeAttrName))
      rows = combineInPairs(math, op.getComputation(), rows);
    return repeatSteps(
        math, math.typeOf(rows[0]).getDimSize(0),
        /*writtenOut=*/4, carried,
        [&](dtensor::TensorBuilder &inner, Turn turn, ValueRange so) {
          SmallVector<Value> arguments(so);
          for (Value value : rows)
            arguments.push_back(rowOf(inner, value, turn));
          return applyRegion(inner, op.getComputation(), arguments);
        });
  };
  if (plain)
    differentiateExpansion(g, op, {&op.getComputation()}, asKinds);
  else
    differentiateExpansion(g, op, {&op.getComputation()}, inTurn);
}

void attachRegionGradients(MLIRContext *context) {
  using namespace dtensor;
  attachGradients<GenericReduceOp>(context);
}

} // namespace meshloom
