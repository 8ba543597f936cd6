// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recognising the order that a comparator is.
#include "SortOrder.h"

namespace meshloom {
using namespace dtensor;

namespace {

/// Returns whether two values are computed alike, given how their arguments
/// match.
template <typename Match> bool areAlike(Value x, Value y, const Match &match) {
  auto lhs = dyn_cast<BlockArgument>(x), rhs = dyn_cast<BlockArgument>(y);
  if (lhs || rhs)
    return lhs && rhs && match(lhs.getArgNumber(), rhs.getArgNumber());
  Operation *a = x.getDefiningOp(), *b = y.getDefiningOp();
  return a->getName() == b->getName() && a->getNumResults() == 1 &&
         a->getNumRegions() == 0 && x.getType() == y.getType() &&
         a->getAttrDictionary() == b->getAttrDictionary() &&
         a->getNumOperands() == b->getNumOperands() &&
         llvm::all_of(llvm::zip_equal(a->getOperands(), b->getOperands()),
                      [&](auto pair) {
                        return areAlike(std::get<0>(pair), std::get<1>(pair),
                                        match);
                      });
}

bool areSame(Value x, Value y) {
  return x == y || areAlike(x, y, std::equal_to<unsigned>());
}

/// `x` of the first position and `y` of the second one are the same function.
bool areCounterparts(Value x, Value y) {
  return areAlike(x, y, [](unsigned first, unsigned second) {
    return first % 2 == 0 && second == first + 1;
  });
}

CompareOp comparison(Value value, ArrayRef<ComparisonDirection> directions) {
  auto compare = value.getDefiningOp<CompareOp>();
  if (!compare ||
      isa<mlir::ComplexType>(elementTypeOf(compare.getLhs().getType())) ||
      !llvm::is_contained(directions, compare.getDirection()))
    return nullptr;
  return compare;
}

/// LT or GT of a key at both positions, in either order; gives the key.
Value strictKey(CompareOp compare) {
  if (areCounterparts(compare.getLhs(), compare.getRhs()))
    return compare.getLhs();
  if (areCounterparts(compare.getRhs(), compare.getLhs()))
    return compare.getRhs();
  return nullptr;
}

using D = ComparisonDirection;

/// The keys of an order, most important first; false where it is none.
bool readKeys(Value before, SmallVectorImpl<Value> &keys);

/// `main`, and `tieBreak` where the keys of `main` are equal, as `equal` says.
bool readTwo(Value main, Value equal, Value tieBreak,
             SmallVectorImpl<Value> &keys) {
  size_t first = keys.size();
  CompareOp same = comparison(equal, D::EQ);
  return same && readKeys(main, keys) && keys.size() == first + 1 &&
         areCounterparts(same.getLhs(), same.getRhs()) &&
         areSame(same.getLhs(), keys.back()) && readKeys(tieBreak, keys);
}

/// A number compared with a number, or a number before a nan.
bool readFloat(Value main, Value isNumber, Value isNan,
               SmallVectorImpl<Value> &keys) {
  CompareOp compare = comparison(main, {D::LT, D::GT}),
            number = comparison(isNumber, D::EQ),
            nan = comparison(isNan, D::NE);
  if (!compare || !number || !nan)
    return false;
  Value a = compare.getLhs(), b = compare.getRhs();
  if (!areCounterparts(a, b))
    std::swap(a, b);
  if (!areCounterparts(a, b) || !areSame(number.getLhs(), a) ||
      !areSame(number.getRhs(), a) || !areSame(nan.getLhs(), b) ||
      !areSame(nan.getRhs(), b))
    return false;
  keys.push_back(a);
  return true;
}

bool readKeys(Value before, SmallVectorImpl<Value> &keys) {
  size_t first = keys.size();
  auto attempt = [&](bool read) {
    if (!read)
      keys.truncate(first);
    return read;
  };
  if (CompareOp compare = comparison(before, {D::LT, D::GT})) {
    Value key = strictKey(compare);
    if (!key || !isa<IntegerType>(elementTypeOf(key.getType())))
      return false;
    keys.push_back(key);
    return true;
  }
  if (auto either = before.getDefiningOp<OrOp>()) {
    for (auto [main, other] : {std::pair(either.getLhs(), either.getRhs()),
                               std::pair(either.getRhs(), either.getLhs())})
      if (auto both = other.getDefiningOp<AndOp>())
        for (auto [x, y] : {std::pair(both.getLhs(), both.getRhs()),
                            std::pair(both.getRhs(), both.getLhs())})
          if (attempt(readTwo(main, x, y, keys)) ||
              attempt(readFloat(main, x, y, keys)))
            return true;
    return false;
  }
  auto select = before.getDefiningOp<SelectOp>();
  if (!select)
    return false;
  if (attempt(readTwo(select.getOnFalse(), select.getPred(), select.getOnTrue(),
                      keys)))
    return true;
  // A NE says the same the other way round.
  CompareOp differ = comparison(select.getPred(), D::NE);
  return differ && readKeys(select.getOnTrue(), keys) &&
         keys.size() == first + 1 &&
         areCounterparts(differ.getLhs(), differ.getRhs()) &&
         areSame(differ.getLhs(), keys.back()) &&
         readKeys(select.getOnFalse(), keys);
}

bool isConstant(Value value) {
  return isa_and_nonnull<ConstantOp>(value.getDefiningOp());
}

/// Returns whether `widened` has a value for each of `type`.
bool holdsAll(Type type, Type widened) {
  auto from = dyn_cast<IntegerType>(type), to = dyn_cast<IntegerType>(widened);
  return from && to && to.getWidth() >= from.getWidth() && to.getWidth() > 1;
}

/// The argument that `key` is a one-to-one function of the bits of, if any.
std::optional<unsigned> oneToOneOf(Value key) {
  if (auto argument = dyn_cast<BlockArgument>(key))
    return argument.getArgNumber();
  Operation *op = key.getDefiningOp();
  if (isa<BitcastConvertOp, NotOp>(op))
    return oneToOneOf(op->getOperand(0));
  if (!isa<IntegerType>(elementTypeOf(key.getType())))
    return std::nullopt;
  if (isa<NegateOp>(op))
    return oneToOneOf(op->getOperand(0));
  if (auto convert = dyn_cast<ConvertOp>(op))
    return holdsAll(elementTypeOf(convert.getOperand().getType()),
                    elementTypeOf(key.getType()))
               ? oneToOneOf(convert.getOperand())
               : std::nullopt;
  if (isa<AddOp, SubtractOp, XorOp>(op)) {
    Value lhs = op->getOperand(0), rhs = op->getOperand(1);
    if (isConstant(lhs) != isConstant(rhs))
      return oneToOneOf(isConstant(lhs) ? rhs : lhs);
    // A float's bits, all but the sign flipped if that is set: the key of the
    // total order.
    auto mask = rhs.getDefiningOp<AndOp>();
    auto sign = mask ? mask.getLhs().getDefiningOp<ShiftRightArithmeticOp>()
                     : ShiftRightArithmeticOp();
    auto most = mask ? mask.getRhs().getDefiningOp<ConstantOp>() : ConstantOp();
    auto bits = most ? dyn_cast<DenseElementsAttr>(most.getValue())
                     : DenseElementsAttr();
    if (isa<XorOp>(op) && sign && bits && areSame(sign.getLhs(), lhs) &&
        isConstant(sign.getRhs()) &&
        bits.getSplatValue<llvm::APInt>().isMaxSignedValue())
      return oneToOneOf(lhs);
  }
  return std::nullopt;
}

} // namespace

std::optional<SortOrder> sortOrder(Region &comparator) {
  Block &block = comparator.front();
  SmallVector<Value> keys;
  if (!readKeys(block.getTerminator()->getOperand(0), keys))
    return std::nullopt;
  SortOrder order;
  order.determined.resize(block.getNumArguments() / 2, false);
  for (Value key : keys)
    if (isa<IntegerType>(elementTypeOf(key.getType())))
      if (auto argument = oneToOneOf(key))
        order.determined[*argument / 2] = true;
  return order;
}

bool isIndexAlong(Value value, int64_t dim) {
  auto element = dyn_cast<IntegerType>(elementTypeOf(value.getType()));
  int64_t extent = globalShape(value.getType())[dim];
  // Indices that do not fit begin again.
  if (!element || !llvm::isUIntN(element.getWidth() - 1, extent))
    return false;
  if (auto iota = value.getDefiningOp<IotaOp>())
    return int64_t(iota.getIotaDimension()) == dim;
  if (auto convert = value.getDefiningOp<ConvertOp>())
    return isIndexAlong(convert.getOperand(), dim);
  auto repeated = value.getDefiningOp<BroadcastInDimOp>();
  if (!repeated)
    return false;
  ArrayRef<int64_t> dims = repeated.getBroadcastDimensions();
  auto from = llvm::find(dims, dim);
  return from != dims.end() &&
         globalShape(repeated.getOperand().getType())[from - dims.begin()] ==
             extent &&
         isIndexAlong(repeated.getOperand(), from - dims.begin());
}

bool isDistinctAlong(Value value, int64_t dim) {
  if (isIndexAlong(value, dim))
    return true;
  auto sort = value.getDefiningOp<SortOp>();
  return sort && int64_t(sort.getDimension()) == dim &&
         isDistinctAlong(
             sort.getInputs()[cast<OpResult>(value).getResultNumber()], dim);
}

} // namespace meshloom
