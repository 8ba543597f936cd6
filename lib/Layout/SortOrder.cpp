// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recognising the order that a comparator is.
#include "SortOrder.h"

#include "meshloom/Dialect/DTensor/SortKeys.h"

namespace meshloom {
using namespace dtensor;

namespace {

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
  const SmallVector<SortKey> keys = sortKeys(comparator);
  if (keys.empty())
    return std::nullopt;
  SortOrder order;
  order.determined.resize(block.getNumArguments() / 2, false);
  for (const SortKey &key : keys)
    if (isa<IntegerType>(elementTypeOf(key.value.getType())))
      if (auto argument = oneToOneOf(key.value))
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
