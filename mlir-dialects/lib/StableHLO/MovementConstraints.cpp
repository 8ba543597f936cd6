// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifiers of the ops that move elements: broadcasts, concatenate, pad,
// reshape, reverse, slice, transpose, and their kin whose shapes are values.

#include "Constraints.h"

using namespace meshloom;
using namespace meshloom::stablehlo;
using mlir::ShapedType;

/// Checks broadcast_in_dim and its dynamic kin (C1 to C5).
static bool broadcasts(const Constraints &c, Value operand, Value result,
                       ArrayRef<int64_t> dims) {
  auto isMoved = [&](int64_t from, int64_t to) { return dims[from] == to; };
  if (!c.movesElements("C1", operand.getType(), result.getType(),
                       /*mayRepeat=*/true) ||
      !c.size("C2", "broadcast_dimensions", dims.size(), rankOf(operand)) ||
      !c.inRange("C3", "broadcast_dimensions", dims, 0, rankOf(result)) ||
      !c.unique("C4", "broadcast_dimensions", dims) ||
      !c.movesDim("C6", operand.getType(), result.getType(), isMoved))
    return false;
  for (auto [i, size] : llvm::enumerate(shapeOf(operand)))
    if (int64_t target = shapeOf(result)[dims[i]];
        size != 1 && !agree(size, target)) {
      c.violates("C5") << "dim " << i << " of the operand has " << size
                       << " elements, dim " << dims[i] << " of the result "
                       << target;
      return false;
    }
  return true;
}

LogicalResult BroadcastInDimOp::verify() {
  return success(broadcasts(Constraints(*this), getOperand(), getResult(),
                            getBroadcastDimensions()));
}

LogicalResult DynamicBroadcastInDimOp::verify() {
  Constraints c(*this);
  ArrayRef<int64_t> expanding =
      getKnownExpandingDimensions().value_or(ArrayRef<int64_t>());
  ArrayRef<int64_t> nonexpanding =
      getKnownNonexpandingDimensions().value_or(ArrayRef<int64_t>());
  int64_t rank = rankOf(getOperand());
  return success(
      broadcasts(c, getOperand(), getResult(), getBroadcastDimensions()) &&
      c.shape("C7", "output_dimensions", getOutputDimensions().getType(),
              rankOf(getResult())) &&
      c.unique("C8", "known_expanding_dimensions", expanding, nonexpanding) &&
      c.inRange("C9", "known_expanding_dimensions", expanding, 0, rank) &&
      c.inRange("C10", "known_nonexpanding_dimensions", nonexpanding, 0, rank));
}

LogicalResult BroadcastOp::verify() {
  Constraints c(*this);
  SmallVector<int64_t> shape(getBroadcastSizes());
  llvm::append_range(shape, shapeOf(getOperand()));
  return success(c.sameElement("C1", {getOperand().getType(), getType()}) &&
                 c.atLeast("C2", "broadcast_sizes", getBroadcastSizes(), 0) &&
                 c.shape("C3", "the result", getType(), shape));
}

LogicalResult ConcatenateOp::verify() {
  Constraints c(*this);
  if (!c.require(!getInputs().empty(), "C3", "expected at least one operand") ||
      !c.sameElement("C1", getInputs().getTypes()))
    return failure();
  int64_t dim = int64_t(getDimension()), rank = rankOf(getInputs()[0]);
  if (!c.inRange("C4", "dimension", dim, 0, rank))
    return failure();
  SmallVector<int64_t> expected(shapeOf(getInputs()[0]));
  expected[dim] = 0;
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    SmallVector<int64_t> shape(shapeOf(input));
    bool fits = rankOf(input) == rank;
    if (fits) {
      int64_t extent = std::exchange(shape[dim], expected[dim]);
      fits = agree(shape, expected);
      // Sizes of a program: their sum may be more than 64 bits hold.
      if (ShapedType::isDynamic(extent) || ShapedType::isDynamic(expected[dim]))
        expected[dim] = ShapedType::kDynamic;
      else if (__builtin_add_overflow(expected[dim], extent, &expected[dim]))
        expected[dim] = INT64_MAX;
    }
    if (!fits)
      return c.violates("C2")
             << "operands may differ along dim " << dim
             << " only, but operand #" << i << " is a " << input.getType()
             << " and operand #0 a " << getInputs()[0].getType();
  }
  return success(c.sameElement("C5", {getInputs()[0].getType(), getType()}) &&
                 c.shape("C6", "the result", getType(), expected));
}

LogicalResult PadOp::verify() {
  Constraints c(*this);
  ArrayRef<int64_t> shape = shapeOf(getOperand()), low = getEdgePaddingLow(),
                    high = getEdgePaddingHigh(), inner = getInteriorPadding();
  int64_t rank = int64_t(shape.size());
  if (!c.sameElement("C1", {getOperand().getType(), getPaddingValue().getType(),
                            getType()}) ||
      !c.scalar("C1", "padding_value", getPaddingValue()) ||
      !c.size("C2", "edge_padding_low", low.size(), rank) ||
      !c.size("C2", "edge_padding_high", high.size(), rank) ||
      !c.size("C2", "interior_padding", inner.size(), rank) ||
      !c.atLeast("C3", "interior_padding", inner, 0))
    return failure();
  SmallVector<int64_t> expected;
  for (int64_t i = 0; i < rank; ++i) {
    // The edge counts as often as a window of one element fits.
    WindowDim one{.size = 1, .low = low[i], .high = high[i]};
    if (__builtin_add_overflow(inner[i], 1, &one.baseDilation))
      return c.violates("C3") << "interior_padding has " << inner[i];
    expected.push_back(windowCount(shape[i], one));
  }
  return success(c.shape("C4", "the result", getType(), expected));
}

/// The number of elements, or nothing where that is not known.
static std::optional<int64_t> elementsOf(ArrayRef<int64_t> shape) {
  int64_t product = 1;
  if (llvm::is_contained(shape, 0))
    return 0;
  for (int64_t size : shape)
    if (ShapedType::isDynamic(size) ||
        __builtin_mul_overflow(product, size, &product))
      return std::nullopt;
  return product;
}

/// Verifies reshape and its dynamic kin (C1 to C3).
static bool reshapes(const Constraints &c, Value operand, Value result) {
  Type source = operand.getType(), target = result.getType();
  ArrayRef<int64_t> shape = shapeOf(operand), resultShape = shapeOf(result);
  if (!c.movesElements("C1", source, target))
    return false;
  auto from = elementsOf(shape), to = elementsOf(resultShape);
  if (from && to && *from != *to) {
    c.violates("C2") << source << " has " << *from << " elements, " << target
                     << " has " << *to;
    return false;
  }
  return c.movesDim("C3", source, target, [&](int64_t dim, int64_t resultDim) {
    return agree(shape[dim], resultShape[resultDim]) &&
           elementsOf(shape.take_front(dim)) ==
               elementsOf(resultShape.take_front(resultDim));
  });
}

LogicalResult ReshapeOp::verify() {
  return success(reshapes(Constraints(*this), getOperand(), getResult()));
}

LogicalResult ReverseOp::verify() {
  Constraints c(*this);
  return success(
      c.sameTypes("C1", {getOperand().getType(), getType()}) &&
      c.unique("C2", "dimensions", getDimensions()) &&
      c.inRange("C3", "dimensions", getDimensions(), 0, rankOf(getResult())));
}

LogicalResult SliceOp::verify() {
  Constraints c(*this);
  ArrayRef<int64_t> shape = shapeOf(getOperand()), starts = getStartIndices(),
                    limits = getLimitIndices(), strides = getStrides();
  int64_t rank = int64_t(shape.size());
  if (!c.sameElement("C1", {getOperand().getType(), getType()}) ||
      !c.size("C2", "start_indices", starts.size(), rank) ||
      !c.size("C2", "limit_indices", limits.size(), rank) ||
      !c.size("C2", "strides", strides.size(), rank) ||
      !c.atLeast("C4", "strides", strides, 1))
    return failure();
  SmallVector<int64_t> expected;
  for (int64_t i = 0; i < rank; ++i) {
    if (starts[i] < 0 || starts[i] > limits[i] ||
        (!ShapedType::isDynamic(shape[i]) && limits[i] > shape[i]))
      return c.violates("C3")
             << "takes " << starts[i] << " to " << limits[i] << " of dim " << i
             << " of " << getOperand().getType();
    expected.push_back(
        windowCount(limits[i] - starts[i], {.size = 1, .stride = strides[i]}));
  }
  return success(c.shape("C5", "the result", getType(), expected));
}

LogicalResult TransposeOp::verify() {
  Constraints c(*this);
  ArrayRef<int64_t> shape = shapeOf(getOperand());
  if (!c.movesElements("C1", getOperand().getType(), getType()) ||
      !c.permutation("C2", "permutation", getPermutation(),
                     int64_t(shape.size())) ||
      !c.movesDim("C4", getOperand().getType(), getType(),
                  [&](int64_t from, int64_t to) {
                    return getPermutation()[to] == from;
                  }))
    return failure();
  SmallVector<int64_t> expected;
  for (int64_t dim : getPermutation())
    expected.push_back(shape[dim]);
  return success(c.shape("C3", "the result", getType(), expected));
}

//===----------------------------------------------------------------------===//
// Shapes that are values
//===----------------------------------------------------------------------===//

/// Checks that there are as many operands as the op has, the last `lists` of
/// which are lists of one number for each dim of `ranked`.
static bool takes(const Constraints &c, StringRef number, ValueRange operands,
                  size_t expected, size_t lists, size_t ranked) {
  if (!c.size(number, "the list of operands", operands.size(),
              int64_t(expected)))
    return false;
  int64_t rank = rankOf(operands[ranked]);
  for (Value list : operands.take_back(lists))
    if (!c.shape(number, "a list of numbers", list.getType(), rank))
      return false;
  return true;
}

LogicalResult DynamicPadOp::verify() {
  Constraints c(*this);
  return success(takes(c, "C2", getOperands(), 5, 3, 0) &&
                 c.scalar("C1", "padding_value", getOperands()[1]) &&
                 c.sameElement("C1", {getOperands()[0].getType(),
                                      getOperands()[1].getType(), getType()}) &&
                 c.size("C4", "the result's shape", size_t(rankOf(getResult())),
                        rankOf(getOperands()[0])));
}

LogicalResult RealDynamicSliceOp::verify() {
  Constraints c(*this);
  return success(takes(c, "C2", getOperands(), 4, 3, 0) &&
                 c.sameElement("C1", {getOperands()[0].getType(), getType()}) &&
                 c.size("C5", "the result's shape", size_t(rankOf(getResult())),
                        rankOf(getOperands()[0])));
}

LogicalResult DynamicReshapeOp::verify() {
  Constraints c(*this);
  if (!c.size("C4", "the list of operands", getOperands().size(), 2) ||
      !c.shape("C4", "output_shape", getOperands()[1].getType(),
               rankOf(getResult())))
    return failure();
  return success(reshapes(c, getOperands()[0], getResult()));
}

LogicalResult DynamicIotaOp::verify() {
  Constraints c(*this);
  int64_t rank = rankOf(getResult());
  return success(
      c.inRange("C1", "iota_dimension", int64_t(getIotaDimension()), 0, rank) &&
      c.shape("C2", "output_shape", getOutputShape().getType(), rank));
}

LogicalResult GetDimensionSizeOp::verify() {
  return success(Constraints(*this).inRange(
      "C1", "dimension", int64_t(getDimension()), 0, rankOf(getOperand())));
}

LogicalResult SetDimensionSizeOp::verify() {
  return success(Constraints(*this).inRange(
      "C1", "dimension", int64_t(getDimension()), 0, rankOf(getOperand())));
}
