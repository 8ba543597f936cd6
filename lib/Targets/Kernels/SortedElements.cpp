// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sort finds `order`, the places of elements in the order of their keys, and
// then gathers. In blocks of elements an element's rank is counted:
//
//   rank[i]  = sum over j != i of (j < i ? !before(i, j) : before(j, i))
//   order[p] = sum over i of (rank[i] == p ? i : 0)
//
// Sorted runs are merged in pairs until there is one. The element at place q of
// two runs A and B is found by itself: `low` becomes the number of elements of
// A among the first q, by a search in halves.
//
//   while low < high: m = (low + high) / 2
//                     before(B[q - 1 - m], A[m]) ? high = m : low = m + 1
//   element = B[q - low] where it is before A[low], else A[low]
//
// Elements with equal keys keep their order. n elements in blocks of b take
// n * b comparisons and log2(n / b) merges, of log2(n) comparisons an element.
#include "SortedElements.h"

#include "meshloom/Targets/Kernels/ScalarLowering.h"

#include "mlir/IR/IRMapping.h"

#include "llvm/Support/MathExtras.h"

using namespace meshloom;
using namespace meshloom::dtensor;

/// The elements of a block. A power of two.
static constexpr int64_t blockSize = 64;

namespace {
/// Finds the order of elements along one dim.
class OrderBuilder {
public:
  OrderBuilder(Operation *op, Type type, int64_t dim, Before before)
      : values(op, type), op(op), type(type), dim(dim), size(values.shape[dim]),
        before(before) {}
  Value build() {
    Value order = orderBlocks();
    for (int64_t run = blockSize; run < size; run *= 2)
      order = mergeRuns(order, run);
    return order;
  }

private:
  Value splat(ShapedBuilder &b, int64_t number) {
    return b.splat(b.b.getI64Type(), number);
  }
  template <typename Op> Value make(ShapedBuilder &b, Value x, Value y) {
    return b.b.create<Op>(b.loc, x.getType(), x, y);
  }
  /// The first place of the block of `length` elements that has `place`.
  Value beginOf(ShapedBuilder &b, Value place, int64_t length) {
    return make<AndOp>(b, place, splat(b, -length));
  }
  Value orderBlocks();
  Value mergeRuns(Value order, int64_t run);

  ShapedBuilder values;
  Operation *const op;
  const Type type;
  const int64_t dim, size;
  const Before before;
};

Value OrderBuilder::orderBlocks() {
  using Direction = ComparisonDirection;
  const auto behind = int64_t(values.shape.size());
  SmallVector<int64_t> shape = values.shape;
  shape.push_back(std::min(blockSize, size));
  ShapedBuilder pairs(op, shape, withDims(layoutAttrOf(type), 1));
  Value place = pairs.index(dim), begin = beginOf(pairs, place, blockSize);
  Value other = make<AddOp>(pairs, begin, pairs.index(behind));
  Value exists = pairs.compare(Direction::LT, other, splat(pairs, size));
  const Type i64 = pairs.b.getI64Type();
  auto sumOf = [&](Value terms) {
    return values.b
        .create<ReduceOp>(values.loc, values.of(i64), ReduceKind::Sum, terms,
                          ArrayRef<int64_t>(behind))
        ->getResult(0);
  };
  // One comparison: the later of the two comes first, or it does not.
  Value isEarlier = pairs.compare(Direction::LT, other, place);
  Value swapped = before(pairs, make<MaximumOp>(pairs, place, other),
                         make<MinimumOp>(pairs, place, other));
  // An element is never before itself, whatever the comparator says.
  Value counted =
      pairs.both(pairs.both(exists, pairs.compare(Direction::NE, other, place)),
                 make<XorOp>(pairs, swapped, isEarlier));
  Value rank =
      sumOf(pairs.b.create<ConvertOp>(pairs.loc, pairs.of(i64), counted));
  Value target = make<AddOp>(pairs, begin, pairs.pick(rank, dim, other));
  Value isHere =
      pairs.both(exists, pairs.compare(Direction::EQ, target, place));
  return sumOf(pairs.select(isHere, other, splat(pairs, 0)));
}

Value OrderBuilder::mergeRuns(Value order, int64_t run) {
  using Direction = ComparisonDirection;
  ShapedBuilder &b = values;
  Value place = b.index(dim), begin = beginOf(b, place, 2 * run),
        second = b.plus(begin, run), inPair = make<SubtractOp>(b, place, begin);
  auto lengthFrom = [&](Value from) {
    Value remaining = make<SubtractOp>(b, splat(b, size), from);
    return make<MaximumOp>(b, make<MinimumOp>(b, remaining, splat(b, run)),
                           splat(b, 0));
  };
  Value firstLength = lengthFrom(begin), secondLength = lengthFrom(second);
  auto pick = [&](Value from, Value index) {
    return b.pick(order, dim, make<AddOp>(b, from, index));
  };
  Value low = make<MaximumOp>(b, make<SubtractOp>(b, inPair, secondLength),
                              splat(b, 0)),
        high = make<MinimumOp>(b, inPair, firstLength);
  // Up to `run` places between them are halved until there is none.
  for (unsigned step = 0; step <= llvm::Log2_64(uint64_t(run)); ++step) {
    Value middle =
        make<ShiftRightLogicalOp>(b, make<AddOp>(b, low, high), splat(b, 1));
    Value opposite = b.plus(make<SubtractOp>(b, inPair, middle), -1);
    Value isOpen = b.compare(Direction::LT, low, high);
    Value secondFirst = before(b, pick(second, opposite), pick(begin, middle));
    low = b.select(secondFirst, low, b.select(isOpen, b.plus(middle, 1), low));
    high = b.select(secondFirst, middle, high);
  }
  Value inSecond = make<SubtractOp>(b, inPair, low);
  Value ofFirst = pick(begin, low), ofSecond = pick(second, inSecond);
  Value firstEnded = b.compare(Direction::GE, low, firstLength),
        secondGoesOn = b.compare(Direction::LT, inSecond, secondLength);
  Value takesSecond = make<OrOp>(
      b, firstEnded, b.both(secondGoesOn, before(b, ofSecond, ofFirst)));
  return b.select(takesSecond, ofSecond, ofFirst);
}

/// Returns whether ops of elements compute what the comparator does.
bool isMath(SortOp op) {
  return llvm::all_of(
      op.getComparator().front().without_terminator(), [](Operation &inner) {
        return isa<ConstantOp>(inner) ||
               (isPerElement(&inner) && inner.getNumResults() == 1);
      });
}

/// The comparator on elements of the inputs at `first` and `second`.
Value compareBy(SortOp op, ShapedBuilder &values, Value first, Value second) {
  Block &body = op.getComparator().front();
  mlir::IRMapping mapping;
  for (BlockArgument argument : body.getArguments()) {
    if (argument.use_empty())
      continue;
    const unsigned number = argument.getArgNumber();
    mapping.map(argument, values.pick(op.getInputs()[number / 2],
                                      int64_t(op.getDimension()),
                                      number % 2 ? second : first));
  }
  for (Operation &inner : body.without_terminator()) {
    const Type type = values.of(elementTypeOf(inner.getResult(0).getType()));
    if (auto constant = dyn_cast<ConstantOp>(inner)) {
      const auto number = cast<DenseElementsAttr>(constant.getValue());
      mapping.map(
          constant.getResult(),
          values.b.create<ConstantOp>(
              values.loc, type,
              DenseElementsAttr::get(undecided(cast<RankedTensorType>(type)),
                                     *number.getValues<Attribute>().begin())));
      continue;
    }
    Operation *copy = values.b.clone(inner, mapping);
    copy->getResult(0).setType(type);
  }
  return mapping.lookup(body.getTerminator()->getOperand(0));
}

/// A number whose order is the total order of elements: of floats, that of
/// their bits, where a sign turns the others over.
Value totalOrder(ShapedBuilder &values, Value element) {
  OpBuilder &b = values.b;
  auto type = dyn_cast<FloatType>(elementTypeOf(element.getType()));
  if (!type)
    return element;
  const unsigned width = type.getWidth();
  const Type integer = b.getIntegerType(width), of = values.of(integer);
  Value bits = b.create<BitcastConvertOp>(values.loc, of, element);
  Value sign = b.create<ShiftRightArithmeticOp>(
      values.loc, of, bits, values.splat(integer, width - 1));
  const auto most = llvm::APInt::getSignedMaxValue(width).getSExtValue();
  Value mask =
      b.create<AndOp>(values.loc, of, sign, values.splat(integer, most));
  return b.create<XorOp>(values.loc, of, bits, mask);
}
} // namespace

Value meshloom::orderBy(Operation *op, Type type, int64_t dim, Before before) {
  return OrderBuilder(op, type, dim, before).build();
}

void meshloom::pickSorted(SortOp op) {
  const auto dim = int64_t(op.getDimension());
  const Type type = op.getInputs()[0].getType();
  if (!llvm::all_of(op.getInputs(),
                    [&](Value input) { return isPickable(input, dim, op); }) ||
      !isMath(op))
    return;
  auto before = [&](ShapedBuilder &values, Value first, Value second) {
    return compareBy(op, values, first, second);
  };
  Value order = orderBy(op, type, dim, before);
  for (auto [input, result] : llvm::zip_equal(op.getInputs(), op.getResults()))
    result.replaceAllUsesWith(
        ShapedBuilder(op, result.getType()).pick(input, dim, order));
  op.erase();
}

void meshloom::pickTop(TopKOp op) {
  const Type type = op.getOperand().getType();
  const auto dim = int64_t(globalShape(type).size()) - 1;
  if (!isPickable(op.getOperand(), dim, op))
    return;
  auto before = [&](ShapedBuilder &values, Value first, Value second) {
    auto keyAt = [&](Value place) {
      return totalOrder(values, values.pick(op.getOperand(), dim, place));
    };
    return values.compare(ComparisonDirection::GT, keyAt(first), keyAt(second));
  };
  Value order = orderBy(op, type, dim, before);
  ShapedBuilder results(op, op.getValues().getType());
  Value places = results.pick(order, dim, results.index(dim));
  op.getValues().replaceAllUsesWith(results.pick(op.getOperand(), dim, places));
  op.getIndices().replaceAllUsesWith(results.b.create<ConvertOp>(
      op.getLoc(), op.getIndices().getType(), places));
  op.erase();
}
