// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recognising the keys that a comparator compares.
#include "meshloom/Dialect/DTensor/SortKeys.h"

namespace meshloom::dtensor {
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

using D = ComparisonDirection;

/// LT or GT of a key at both positions, in either order.
std::optional<SortKey> strictKey(CompareOp compare) {
  const D direction = compare.getDirection();
  if (areCounterparts(compare.getLhs(), compare.getRhs()))
    return SortKey{compare.getLhs(), direction == D::GT};
  if (areCounterparts(compare.getRhs(), compare.getLhs()))
    return SortKey{compare.getRhs(), direction == D::LT};
  return std::nullopt;
}

/// The keys of an order, most important first; false where it is none.
bool readKeys(Value before, SmallVectorImpl<SortKey> &keys);

/// `main`, and `tieBreak` where the keys of `main` are equal, as `equal` says.
bool readTwo(Value main, Value equal, Value tieBreak,
             SmallVectorImpl<SortKey> &keys) {
  size_t first = keys.size();
  CompareOp same = comparison(equal, D::EQ);
  return same && readKeys(main, keys) && keys.size() == first + 1 &&
         areCounterparts(same.getLhs(), same.getRhs()) &&
         areSame(same.getLhs(), keys.back().value) && readKeys(tieBreak, keys);
}

/// A number compared with a number, or a number before a nan.
bool readFloat(Value main, Value isNumber, Value isNan,
               SmallVectorImpl<SortKey> &keys) {
  CompareOp compare = comparison(main, {D::LT, D::GT}),
            number = comparison(isNumber, D::EQ),
            nan = comparison(isNan, D::NE);
  if (!compare || !number || !nan)
    return false;
  std::optional<SortKey> key = strictKey(compare);
  if (!key)
    return false;
  Value a = compare.getLhs(), b = compare.getRhs();
  if (key->value != a)
    std::swap(a, b);
  if (!areSame(number.getLhs(), a) || !areSame(number.getRhs(), a) ||
      !areSame(nan.getLhs(), b) || !areSame(nan.getRhs(), b))
    return false;
  keys.push_back(*key);
  return true;
}

bool readKeys(Value before, SmallVectorImpl<SortKey> &keys) {
  size_t first = keys.size();
  auto attempt = [&](bool read) {
    if (!read)
      keys.truncate(first);
    return read;
  };
  if (CompareOp compare = comparison(before, {D::LT, D::GT})) {
    std::optional<SortKey> key = strictKey(compare);
    if (!key || !isa<IntegerType>(elementTypeOf(key->value.getType())))
      return false;
    keys.push_back(*key);
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
         areSame(differ.getLhs(), keys.back().value) &&
         readKeys(select.getOnFalse(), keys);
}

} // namespace

bool areSame(Value x, Value y) {
  return x == y || areAlike(x, y, std::equal_to<unsigned>());
}

SmallVector<SortKey> sortKeys(Region &comparator) {
  SmallVector<SortKey> keys;
  if (!readKeys(comparator.front().getTerminator()->getOperand(0), keys))
    keys.clear();
  return keys;
}

} // namespace meshloom::dtensor
