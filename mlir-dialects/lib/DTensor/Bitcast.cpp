// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bitcast_convert: its rule, its verifier, and its canonical form. Only casts
// between real types of one width stay; what changes the width becomes shifts
// of unsigned words, and complex numbers their parts.

#include "RuleBuilder.h"
#include "SplatMath.h"

namespace meshloom::dtensor {

/// Bits of an element; of a complex number both parts.
static unsigned widthOf(Type element) {
  if (auto complex = dyn_cast<mlir::ComplexType>(element))
    return 2 * complex.getElementType().getIntOrFloatBitWidth();
  return element.getIntOrFloatBitWidth();
}

/// The shape of `operand` as elements of `to`.
static FailureOr<SmallVector<int64_t>> castShape(Type operand, Type to) {
  SmallVector<int64_t> shape = globalShape(operand);
  unsigned from = widthOf(elementTypeOf(operand)), width = widthOf(to);
  if (from > width)
    shape.push_back(from / width);
  if (from < width) {
    if (shape.empty() || shape.back() != int64_t(width / from))
      return failure();
    shape.pop_back();
  }
  return shape;
}

void BitcastConvertOp::build(OpBuilder &builder, OperationState &state,
                             Value operand, Type elementType) {
  auto shape = castShape(operand.getType(), elementType);
  assert(succeeded(shape) && "the last dim must have as many elements as one "
                             "element of the other type holds");
  build(builder, state, RankedTensorType::get(*shape, elementType), operand);
}

LogicalResult BitcastConvertOp::verify() {
  Type from = elementTypeOf(getOperand().getType());
  Type to = getType().getElementType();
  if (from.isInteger(1) || to.isInteger(1))
    return violates(*this, 1) << "casts " << from << " to " << to
                              << ", but i1 has no bits of its own";
  auto shape = castShape(getOperand().getType(), to);
  if (failed(shape))
    return violates(*this, 2) << "the operand's last dim has not the extent "
                              << widthOf(to) / widthOf(from) << " that " << to
                              << " has of " << from;
  if (*shape != globalShape(getType()))
    return violates(*this, 2)
           << "the result's global shape is not the operand's as " << to;
  return success();
}

ShardingRule BitcastConvertOp::getShardingRule() {
  size_t from = globalShape(getOperand().getType()).size();
  size_t to = globalShape(getType()).size();
  return ruleFromText(*this, from < to   ? "... -> ... k!"
                             : from > to ? "... k! -> ..."
                                         : "... -> ...");
}

bool BitcastConvertOp::isPerElement() {
  Type from = elementTypeOf(getOperand().getType());
  Type to = elementTypeOf(getType());
  return !isa<mlir::ComplexType>(from) && !isa<mlir::ComplexType>(to) &&
         widthOf(from) == widthOf(to);
}

mlir::OpFoldResult BitcastConvertOp::fold(FoldAdaptor adaptor) {
  Type from = elementTypeOf(getOperand().getType());
  Type to = getType().getElementType();
  if (getOperand().getType() == getType())
    return getOperand();
  auto x = Splat::get(adaptor.getOperand());
  if (!x || x->isComplex() || isa<mlir::ComplexType>(to) ||
      widthOf(from) != widthOf(to))
    return {};
  llvm::APInt bits =
      x->isFloat() ? x->real.bitcastToAPInt() : llvm::APInt(x->integer);
  if (auto real = dyn_cast<FloatType>(to))
    return Splat::of(real, llvm::APFloat(real.getFloatSemantics(), bits))
        .attribute(getType());
  return Splat::of(cast<IntegerType>(to), bits).attribute(getType());
}

//===----------------------------------------------------------------------===//
// Canonical form
//===----------------------------------------------------------------------===//

namespace {
/// Writes one cast in simpler ops, on tensors whose layouts are not decided.
struct CastWriter {
  OpBuilder &b;
  Location loc;

  template <typename Op, typename... Args> Value make(Args &&...args) {
    return b.createOrFold<Op>(loc, std::forward<Args>(args)...);
  }
  Type word(unsigned width) {
    return b.getIntegerType(width, /*isSigned=*/false);
  }
  Value reshape(Value x, ArrayRef<int64_t> shape) {
    return make<ReshapeOp>(undecided(x.getType(), shape), x);
  }
  /// `x` repeated along a new last dim.
  Value repeat(Value x, int64_t extent) {
    SmallVector<int64_t> shape = globalShape(x.getType()), dims;
    for (unsigned dim = 0; dim < shape.size(); ++dim)
      dims.push_back(dim);
    shape.push_back(extent);
    return make<BroadcastInDimOp>(undecided(x.getType(), shape), x, dims);
  }
  /// `factor` times the index along the last dim, like `x`.
  Value indexTimes(Value x, uint64_t factor) {
    RankedTensorType type = undecided(x.getType());
    Value index = make<IotaOp>(type, type.getRank() - 1);
    Value by = make<ConstantOp>(DenseElementsAttr::get(
        type, llvm::APInt(type.getElementTypeBitWidth(), factor)));
    return make<MultiplyOp>(index, by);
  }
  Value part(Value x, int64_t index) {
    SmallVector<int64_t> shape = globalShape(x.getType());
    SmallVector<int64_t> starts(shape.size()), strides(shape.size(), 1);
    SmallVector<int64_t> limits = shape;
    starts.back() = index;
    limits.back() = index + 1;
    Value slice = make<SliceOp>(x, starts, limits, strides);
    shape.pop_back();
    return reshape(slice, shape);
  }

  /// The parts of complex numbers along a new last dim.
  Value parts(Value x) {
    Value real = repeat(make<RealOp>(x), 2), imag = repeat(make<ImagOp>(x), 2);
    RankedTensorType index = undecided(real.getType(), b.getI32Type());
    Value zero =
        make<ConstantOp>(DenseElementsAttr::get(index, llvm::APInt(32, 0)));
    Value which = make<IotaOp>(index, index.getRank() - 1);
    Value first = make<CompareOp>(ComparisonDirection::EQ, which, zero);
    return make<SelectOp>(first, real, imag);
  }

  Value narrower(Value x, Type to) {
    unsigned from = widthOf(elementTypeOf(x.getType())), width = widthOf(to);
    Value words = repeat(cast(x, word(from)), from / width);
    Value moved = make<ShiftRightLogicalOp>(words, indexTimes(words, width));
    return cast(make<ConvertOp>(moved, word(width)), to);
  }
  Value wider(Value x, Type to) {
    unsigned from = widthOf(elementTypeOf(x.getType())), width = widthOf(to);
    Value words = make<ConvertOp>(cast(x, word(from)), word(width));
    Value moved = make<ShiftLeftOp>(words, indexTimes(words, from));
    int64_t last = undecided(moved.getType()).getRank() - 1;
    auto joined = b.create<ReduceOp>(loc, ReduceKind::Or, moved, last);
    return cast(joined.getResult(0), to);
  }

  Value cast(Value x, Type to) {
    Type from = elementTypeOf(x.getType());
    if (from == to)
      return x;
    SmallVector<int64_t> shape = *castShape(x.getType(), to);
    if (isa<mlir::ComplexType>(from)) {
      // The result of the parts, in the shape that the whole would have.
      Value split = parts(x);
      SmallVector<int64_t> flat = globalShape(split.getType());
      unsigned part = widthOf(partTypeOf(x.getType()));
      if (widthOf(to) > 2 * part) {
        flat.pop_back();
        flat.back() *= 2;
        split = reshape(split, flat);
      }
      return reshape(cast(split, to), shape);
    }
    if (auto complex = dyn_cast<mlir::ComplexType>(to)) {
      Type part = complex.getElementType();
      if (widthOf(from) < widthOf(part)) {
        SmallVector<int64_t> pairs = globalShape(x.getType());
        pairs.back() /= 2;
        pairs.insert(pairs.end() - 1, 2);
        x = reshape(x, pairs);
      }
      SmallVector<int64_t> pairs = shape;
      pairs.push_back(2);
      Value split = reshape(cast(x, part), pairs);
      return make<ComplexOp>(this->part(split, 0), this->part(split, 1));
    }
    if (widthOf(from) > widthOf(to))
      return narrower(x, to);
    if (widthOf(from) < widthOf(to))
      return wider(x, to);
    return make<BitcastConvertOp>(x, to);
  }
};
} // namespace

static LogicalResult castByWords(BitcastConvertOp op,
                                 PatternRewriter &rewriter) {
  Type from = elementTypeOf(op.getOperand().getType());
  Type to = op.getType().getElementType();
  bool simple = !isa<mlir::ComplexType>(from) && !isa<mlir::ComplexType>(to) &&
                widthOf(from) == widthOf(to);
  if (simple || from == to || isShard(op.getType()))
    return failure();
  CastWriter writer{rewriter, op.getLoc()};
  Value result = writer.cast(op.getOperand(), to);
  // The layout that the user gave the result stays on it.
  if (result.getType() != op.getType())
    result = rewriter.create<ConstraintOp>(op.getLoc(), op.getType(), result);
  rewriter.replaceOp(op, result);
  return success();
}

void BitcastConvertOp::getCanonicalizationPatterns(
    mlir::RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(castByWords);
}

} // namespace meshloom::dtensor
