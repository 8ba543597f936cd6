// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// concatenate(a, b) -> select(index < size of a, pad(a), pad(b)), see
// JoinedReads.h. The conditions do not depend on the innermost loop, so LLVM
// takes them out of it, and its code is that of a read of one part.
#include "JoinedReads.h"

#include "meshloom/Dialect/SPMD/SPMD.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/SetVector.h"

using namespace meshloom;
using namespace meshloom::dtensor;

static bool isReadInPlace(ConcatenateOp op, const KernelPolicy &policy) {
  auto type = cast<RankedTensorType>(op.getType());
  auto dim = int64_t(op.getDimension());
  Type element = type.getElementType();
  if (op.getInputs().size() > policy.mostJoinedParts ||
      dim + 1 == type.getRank() || op->use_empty() ||
      !isa<FloatType, IntegerType>(element) ||
      spmd::layoutOf(type).is_partial() ||
      globalShape(type)[dim] > std::numeric_limits<int32_t>::max())
    return false;
  int64_t run = 1;
  for (int64_t inner : type.getShape().drop_front(dim + 1))
    run *= inner;
  return run >= policy.leastJoinedRun &&
         llvm::all_of(op->getUsers(),
                      [](Operation *user) { return isPerElement(user); }) &&
         // Conditions do not nest.
         llvm::none_of(op.getInputs(), [](Value input) {
           return input.getDefiningOp<ConcatenateOp>();
         });
}

void meshloom::readJoinedInPlace(Block &block, const KernelPolicy &policy) {
  SmallVector<ConcatenateOp> joins;
  for (auto op : block.getOps<ConcatenateOp>())
    if (isReadInPlace(op, policy))
      joins.push_back(op);
  for (ConcatenateOp op : joins) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    Type type = op.getType(), element = elementTypeOf(type);
    LayoutAttr layout = layoutAttrOf(type);
    SmallVector<int64_t> shape = globalShape(type);
    auto dim = unsigned(op.getDimension());
    auto of = [&](Type other) { return spmd::shardType(shape, other, layout); };
    auto splat = [&](Type shard, Attribute value) -> Value {
      return b.create<ConstantOp>(
          loc, cast<RankedTensorType>(shard),
          DenseElementsAttr::get(undecided(shard), value));
    };
    Value zero = splat(
        spmd::shardType(
            {}, element,
            LayoutAttr::get(b.getContext(),
                            Layout::replicated(layout.getLayout().mesh(), 0))),
        b.getZeroAttr(element));
    Value index = b.create<IotaOp>(loc, of(b.getI32Type()), dim);
    Value joined;
    int64_t end = shape[dim];
    SmallVector<int64_t> none(shape.size());
    for (Value part : llvm::reverse(op.getInputs())) {
      SmallVector<int64_t> low = none, high = none;
      int64_t begin = end - globalShape(part.getType())[dim];
      low[dim] = begin;
      high[dim] = shape[dim] - end;
      Value padded = b.create<PadOp>(loc, type, part, zero, low, high, none);
      if (joined) {
        Value first =
            splat(of(b.getI32Type()), b.getI32IntegerAttr(int32_t(end)));
        Value here = b.create<CompareOp>(loc, of(b.getI1Type()),
                                         ComparisonDirection::LT, index, first);
        padded = b.create<SelectOp>(loc, type, here, padded, joined);
      }
      joined = padded;
      end = begin;
    }
    op.replaceAllUsesWith(joined);
    op.erase();
  }
}

/// The border of `select`: before it, along `dim`, elements are those of the
/// first value.
struct Border {
  int64_t dim, place;
};

static std::optional<Border> borderOf(SelectOp select) {
  auto compare = select.getPred().getDefiningOp<CompareOp>();
  auto index = compare ? compare.getLhs().getDefiningOp<IotaOp>() : IotaOp();
  mlir::DenseIntElementsAttr place;
  if (!index || compare.getDirection() != ComparisonDirection::LT ||
      !matchPattern(compare.getRhs(), mlir::m_Constant(&place)) ||
      !place.isSplat())
    return std::nullopt;
  return Border{int64_t(index.getIotaDimension()),
                place.getSplatValue<llvm::APInt>().getSExtValue()};
}

/// The slice of what `value` shifts along `dim` that is elements [begin, end)
/// of `value`. Null where that is no shift, or has padding there.
static Value shiftedSlice(Value value, int64_t dim, int64_t begin, int64_t end,
                          OpBuilder &b) {
  auto pad = value.getDefiningOp<PadOp>();
  if (!pad)
    return {};
  Value source = pad.getOperand();
  SmallVector<int64_t> limits = globalShape(source.getType());
  SmallVector<int64_t> starts(limits.size(), 0), strides(limits.size(), 1);
  for (int64_t d = 0; d < int64_t(limits.size()); ++d)
    if (pad.getInteriorPadding()[d] != 0 ||
        (d != dim &&
         (pad.getEdgePaddingLow()[d] != 0 || pad.getEdgePaddingHigh()[d] != 0)))
      return {};
  starts[dim] = begin - pad.getEdgePaddingLow()[dim];
  const int64_t limit = end - pad.getEdgePaddingLow()[dim];
  if (starts[dim] < 0 || limit > limits[dim])
    return {};
  limits[dim] = limit;
  SmallVector<int64_t> sizes = globalShape(value.getType());
  sizes[dim] = end - begin;
  Type type = spmd::shardType(sizes, elementTypeOf(value.getType()),
                              layoutAttrOf(value.getType()));
  return b.create<SliceOp>(pad.getLoc(), type, source, starts, limits, strides);
}

static int64_t product(ArrayRef<int64_t> sizes) {
  return mlir::ShapedType::getNumElements(sizes);
}

/// Returns the border of a local select between two shifts of one tensor.
static std::optional<Border> borderOfRoll(SelectOp select) {
  Type type = select.getType();
  const auto border = borderOf(select);
  auto pad = select.getOnTrue().getDefiningOp<PadOp>();
  if (!border || !pad || spmd::layoutOf(type).is_partial() ||
      !spmd::layoutOf(type).dim_axes()[border->dim].empty() ||
      !spmd::windowsOf(type).empty() ||
      pad.getOperand().getType().getEncoding() !=
          cast<RankedTensorType>(type).getEncoding())
    return std::nullopt;
  return border;
}

/// Short pieces of many short rows take longer to copy than to look for.
static bool hasLongPieces(ArrayRef<int64_t> shape, Border border) {
  constexpr int64_t shortPiece = 16, shortRow = 256;
  const int64_t size = shape[border.dim],
                shorter = std::min(border.place, size - border.place),
                inner = product(shape.drop_front(border.dim + 1));
  return shorter > 0 &&
         (product(shape.take_front(border.dim)) <= 1 ||
          shorter * inner >= shortPiece || size * inner >= shortRow);
}

/// Returns the border of a roll whose parts are copied; it may be a shift of
/// another roll of them (jnp.roll along several dims).
static std::optional<Border> borderOfCopies(SelectOp select) {
  auto isReadAsWhole = [](Operation *user) {
    if (auto pad = dyn_cast<PadOp>(user); pad && pad->hasOneUse())
      if (auto outer = dyn_cast<SelectOp>(*pad->user_begin()))
        return borderOfCopies(outer).has_value();
    return !isPerElement(user) && !isa<PadOp, SliceOp>(user);
  };
  const auto border = borderOfRoll(select);
  return border && hasLongPieces(globalShape(select.getType()), *border) &&
                 llvm::all_of(select->getUsers(), isReadAsWhole)
             ? border
             : std::nullopt;
}

void meshloom::writeRollsByParts(Block &block) {
  for (auto select : llvm::make_early_inc_range(block.getOps<SelectOp>())) {
    const auto border = borderOfCopies(select);
    if (!border)
      continue;
    Operation *source =
        select.getOnTrue().getDefiningOp<PadOp>().getOperand().getDefiningOp();
    if (source && isPerElement(source))
      continue;
    Type type = select.getType();
    const int64_t size = globalShape(type)[border->dim];
    OpBuilder b(select);
    Value first = shiftedSlice(select.getOnTrue(), border->dim, 0,
                               border->place, b),
          second = shiftedSlice(select.getOnFalse(), border->dim, border->place,
                                size, b);
    if (!first || !second)
      continue;
    Value joined = b.create<ConcatenateOp>(
        select.getLoc(), type, ValueRange{first, second}, border->dim);
    SmallVector<Operation *> unused{select};
    select.replaceAllUsesWith(joined);
    while (!unused.empty()) {
      Operation *op = unused.pop_back_val();
      if (!mlir::isOpTriviallyDead(op))
        continue;
      llvm::SmallSetVector<Operation *, 4> operands;
      for (Value operand : op->getOperands())
        if (Operation *producer = operand.getDefiningOp())
          operands.insert(producer);
      op->erase();
      llvm::append_range(unused, operands);
    }
  }
}
