// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules, verifiers and builders of the ops that make or move elements.

#include "RuleBuilder.h"
#include "ScalarRegion.h"
#include "SplatMath.h"

#include "meshloom/Core/ReshapeCuts.h"

#include <numeric>

namespace meshloom::dtensor {

/// C1 of the ops that only move elements.
static LogicalResult verifyElementType(Operation *op) {
  Type expected = elementTypeOf(op->getResult(0).getType());
  for (Type type : op->getOperandTypes())
    if (elementTypeOf(type) != expected)
      return violates(op, 1)
             << "the operand has element type " << elementTypeOf(type)
             << ", the result " << expected;
  return success();
}

//===----------------------------------------------------------------------===//
// ConstantOp, IotaOp, RngOp
//===----------------------------------------------------------------------===//

/// Only a splat can be cut without slicing the attribute.
static bool isSplat(mlir::ElementsAttr value) {
  auto dense = dyn_cast<DenseElementsAttr>(value);
  return dense && dense.isSplat();
}

bool ConstantOp::isFreeToMake() {
  return isSplat(getValue());
}

ShardingRule ConstantOp::getShardingRule() {
  bool splat = isSplat(getValue());
  RuleBuilder rule(*this);
  ShardingRule::Tensor dims;
  for (int64_t i = 0; i < getType().getRank(); ++i)
    dims.push_back({splat ? rule.factor() : rule.whole()});
  rule.result(std::move(dims));
  return rule.finish();
}

/// All elements are 0: whatever adds them up.
static bool isZeroSplat(Attribute value) {
  auto splat = dyn_cast<mlir::SplatElementsAttr>(value);
  if (!splat)
    return false;
  if (isa<FloatType>(splat.getElementType()))
    return splat.getSplatValue<llvm::APFloat>().isZero();
  return isa<IntegerType>(splat.getElementType()) &&
         splat.getSplatValue<llvm::APInt>().isZero();
}

LogicalResult ConstantOp::verify() {
  if (getValue().getType() != undecided(getType()))
    return violates(*this, 1) << "the value is a " << getValue().getType()
                              << ", the result a " << undecided(getType());
  LayoutAttr layout = layoutAttrOf(getType());
  if (!layout)
    return success();
  bool ofSums = llvm::all_of(layout.getPartial(), [](Partial partial) {
    return partial.kind == ReduceKind::Sum;
  });
  if (!layout.getPartial().empty() && !(ofSums && isZeroSplat(getValue())))
    return violates(*this, 2) << "the result is partial";
  if (!layout.getDimAxes().empty() && !isSplat(getValue()))
    return violates(*this, 3)
           << "the value is not a splat, so the result must be whole on every "
              "device; a dtensor.relayout can shard it";
  return success();
}

bool IotaOp::isFreeToMake() {
  return true;
}

ShardingRule IotaOp::getShardingRule() {
  RuleBuilder rule(*this);
  rule.result(rule.dims(getType().getRank()));
  return rule.finish();
}

LogicalResult IotaOp::verify() {
  if (int64_t(getIotaDimension()) < 0 ||
      int64_t(getIotaDimension()) >= getType().getRank())
    return violates(*this, 1)
           << "iota_dimension is " << int64_t(getIotaDimension())
           << ", but the result has " << getType().getRank() << " dims";
  return success();
}

ShardingRule RngOp::getShardingRule() {
  RuleBuilder rule(*this);
  rule.result(rule.dims(getType().getRank()));
  rule.operand({{rule.whole()}});
  return rule.finish();
}

LogicalResult RngOp::verify() {
  if (globalShape(getSeed().getType()) != SmallVector<int64_t>{2})
    return violates(*this, 1)
           << "seed has type " << getSeed().getType() << ", not tensor<2xui32>";
  return success();
}

//===----------------------------------------------------------------------===//
// BroadcastInDimOp
//===----------------------------------------------------------------------===//

/// A broadcast of a scalar that every device has is free.
bool BroadcastInDimOp::isFreeToMake() {
  LayoutAttr layout = layoutAttrOf(getType());
  return globalShape(getOperand().getType()).empty() &&
         !(layout && layout.getLayout().is_partial());
}

IndexMap BroadcastInDimOp::getIndexMap(unsigned) {
  // A dim of one element that stays one can be sharded: it is the result's.
  auto from = globalShape(getOperand().getType()), to = globalShape(getType());
  IndexMap map;
  for (auto [extent, dim] : llvm::zip_equal(from, getBroadcastDimensions()))
    map.push_back({extent == to[dim] ? int(dim) : -1});
  return map;
}

ShardingRule BroadcastInDimOp::getShardingRule() {
  return ruleFromIndexMaps(*this);
}

LogicalResult BroadcastInDimOp::verify() {
  auto from = globalShape(getOperand().getType()), to = globalShape(getType());
  if (failed(verifyElementType(*this)))
    return failure();
  ArrayRef<int64_t> dims = getBroadcastDimensions();
  if (dims.size() != from.size())
    return violates(*this, 2) << "the operand has " << from.size()
                              << " dims, but broadcast_dimensions has "
                              << dims.size() << " entries";
  if (!areDistinct(dims, to.size()))
    return violates(*this, 3) << "broadcast_dimensions are not distinct dims "
                                 "of the result";
  for (auto [index, extent, dim] : llvm::enumerate(from, dims))
    if (extent != 1 && extent != to[dim])
      return violates(*this, 4)
             << "operand dim " << index << " has size " << extent
             << ", but result dim " << dim << " has size " << to[dim];
  return success();
}

//===----------------------------------------------------------------------===//
// ReshapeOp
//===----------------------------------------------------------------------===//

ShardingRule ReshapeOp::getShardingRule() {
  auto from = globalShape(getOperand().getType()), to = globalShape(getType());
  return reshapeRule({from.begin(), from.end()}, {to.begin(), to.end()});
}

LogicalResult ReshapeOp::verify() {
  if (failed(verifyElementType(*this)))
    return failure();
  auto count = [](Type type) {
    auto shape = globalShape(type);
    return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                           std::multiplies<>());
  };
  int64_t from = count(getOperand().getType()), to = count(getType());
  if (from != to)
    return violates(*this, 2)
           << "the operand has " << from << " elements, the result " << to;
  return success();
}

//===----------------------------------------------------------------------===//
// TransposeOp
//===----------------------------------------------------------------------===//

void TransposeOp::build(OpBuilder &builder, OperationState &state,
                        Value operand, ArrayRef<int64_t> permutation) {
  auto from = globalShape(operand.getType());
  SmallVector<int64_t> to;
  for (int64_t dim : permutation)
    to.push_back(from[dim]);
  build(builder, state, undecided(operand.getType(), to), operand, permutation);
}

IndexMap TransposeOp::getIndexMap(unsigned) {
  IndexMap map(getType().getRank());
  for (auto [index, dim] : llvm::enumerate(getPermutation()))
    map[dim] = {int(index)};
  return map;
}

ShardingRule TransposeOp::getShardingRule() {
  return ruleFromIndexMaps(*this);
}

LogicalResult TransposeOp::verify() {
  auto from = globalShape(getOperand().getType()), to = globalShape(getType());
  if (failed(verifyElementType(*this)))
    return failure();
  if (getPermutation().size() != from.size() ||
      !areDistinct(getPermutation(), from.size()))
    return violates(*this, 2)
           << "not a permutation of the operand's " << from.size() << " dims";
  if (to.size() != from.size())
    return violates(*this, 3) << "the result has another rank";
  for (auto [index, dim] : llvm::enumerate(getPermutation()))
    if (to[index] != from[dim])
      return violates(*this, 3)
             << "result dim " << index << " has size " << to[index]
             << ", but operand dim " << dim << " has size " << from[dim];
  return success();
}

//===----------------------------------------------------------------------===//
// SliceOp
//===----------------------------------------------------------------------===//

static int64_t sliceSize(int64_t start, int64_t limit, int64_t stride) {
  return llvm::divideCeil(limit - start, stride);
}

void SliceOp::build(OpBuilder &builder, OperationState &state, Value operand,
                    ArrayRef<int64_t> start, ArrayRef<int64_t> limit,
                    ArrayRef<int64_t> strides) {
  SmallVector<int64_t> to;
  for (auto [first, last, step] : llvm::zip_equal(start, limit, strides))
    to.push_back(sliceSize(first, last, step));
  build(builder, state, undecided(operand.getType(), to), operand, start, limit,
        strides);
}

IndexMap SliceOp::getIndexMap(unsigned) {
  IndexMap map;
  for (auto [dim, start, stride] :
       llvm::enumerate(getStartIndices(), getStrides()))
    map.push_back({int(dim), stride, start});
  return map;
}

ShardingRule SliceOp::getShardingRule() {
  return ruleFromIndexMaps(*this);
}

LogicalResult SliceOp::verify() {
  auto from = globalShape(getOperand().getType()), to = globalShape(getType());
  if (failed(verifyElementType(*this)))
    return failure();
  if (getStartIndices().size() != from.size() ||
      getLimitIndices().size() != from.size() ||
      getStrides().size() != from.size())
    return violates(*this, 2)
           << "start_indices, limit_indices and strides must have "
           << from.size() << " entries";
  if (to.size() != from.size())
    return violates(*this, 4) << "the result has another rank";
  for (size_t dim = 0; dim < from.size(); ++dim) {
    int64_t start = getStartIndices()[dim], limit = getLimitIndices()[dim],
            stride = getStrides()[dim];
    if (start < 0 || start > limit || limit > from[dim] || stride < 1)
      return violates(*this, 3)
             << start << ":" << limit << ":" << stride
             << " does not lie in dim " << dim << " of size " << from[dim];
    if (sliceSize(start, limit, stride) != to[dim])
      return violates(*this, 4)
             << "result dim " << dim << " has size " << to[dim] << ", not "
             << sliceSize(start, limit, stride);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// ConcatenateOp
//===----------------------------------------------------------------------===//

void ConcatenateOp::build(OpBuilder &builder, OperationState &state,
                          ValueRange inputs, int64_t dimension) {
  auto to = globalShape(inputs.front().getType());
  to[dimension] = 0;
  for (Value input : inputs)
    to[dimension] += globalShape(input.getType())[dimension];
  build(builder, state, undecided(inputs.front().getType(), to), inputs,
        dimension);
}

IndexMap ConcatenateOp::getIndexMap(unsigned source) {
  IndexMap map;
  for (int dim = 0; dim < int(getType().getRank()); ++dim)
    map.push_back({dim});
  for (Type before : getInputs().take_front(source).getTypes())
    map[getDimension()].offset -= globalShape(before)[getDimension()];
  return map;
}

ShardingRule ConcatenateOp::getShardingRule() {
  return ruleFromIndexMaps(*this);
}

LogicalResult ConcatenateOp::verify() {
  if (getInputs().empty())
    return violates(*this, 1) << "there is nothing to concatenate";
  for (Type type : getInputs().getTypes())
    if (elementTypeOf(type) != getType().getElementType())
      return violates(*this, 2) << "operands and result differ in element type";
  auto to = globalShape(getType());
  int64_t dimension = getDimension(), sum = 0;
  if (dimension < 0 || dimension >= int64_t(to.size()))
    return violates(*this, 3) << "the result has no dim " << dimension;
  for (auto [index, type] : llvm::enumerate(getInputs().getTypes())) {
    auto from = globalShape(type);
    if (from.size() != to.size())
      return violates(*this, 3) << "operand #" << index << " has another rank";
    for (int64_t dim = 0; dim < int64_t(to.size()); ++dim)
      if (dim != dimension && from[dim] != to[dim])
        return violates(*this, 4)
               << "operand #" << index << " has size " << from[dim]
               << " along dim " << dim << ", the result " << to[dim];
    sum += from[dimension];
  }
  if (sum != to[dimension])
    return violates(*this, 5)
           << "the operands have size " << sum << " along dim " << dimension
           << ", the result " << to[dimension];
  return success();
}

//===----------------------------------------------------------------------===//
// ReverseOp
//===----------------------------------------------------------------------===//

IndexMap ReverseOp::getIndexMap(unsigned) {
  IndexMap map;
  for (auto [dim, extent] : llvm::enumerate(globalShape(getType()))) {
    bool reversed =
        extent > 1 && llvm::is_contained(getDimensions(), int64_t(dim));
    map.push_back({int(dim), reversed ? -1 : 1, reversed ? extent - 1 : 0});
  }
  return map;
}

ShardingRule ReverseOp::getShardingRule() {
  return ruleFromIndexMaps(*this);
}

LogicalResult ReverseOp::verify() {
  if (failed(verifyElementwise(*this)) || failed(verifySameElements(*this)))
    return failure();
  if (!areDistinct(getDimensions(), getType().getRank()))
    return violates(*this, 3)
           << "dimensions are not distinct dims of the operand";
  return success();
}

//===----------------------------------------------------------------------===//
// PadOp
//===----------------------------------------------------------------------===//

static int64_t paddedSize(int64_t size, int64_t low, int64_t high,
                          int64_t interior) {
  return low + high + size + std::max<int64_t>(size - 1, 0) * interior;
}

void PadOp::build(OpBuilder &builder, OperationState &state, Value operand,
                  Value paddingValue, ArrayRef<int64_t> low,
                  ArrayRef<int64_t> high, ArrayRef<int64_t> interior) {
  SmallVector<int64_t> to;
  for (auto [size, before, after, between] :
       llvm::zip_equal(globalShape(operand.getType()), low, high, interior))
    to.push_back(paddedSize(size, before, after, between));
  build(builder, state, undecided(operand.getType(), to), operand, paddingValue,
        low, high, interior);
}

/// Zero is zero however many devices add (multiply, compare) it.
static bool isZero(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto splat = constant ? Splat::get(constant.getValue()) : std::nullopt;
  return splat && splat->isPositiveZero();
}

IndexMap PadOp::getIndexMap(unsigned) {
  IndexMap map;
  for (auto [dim, low, interior] :
       llvm::enumerate(getEdgePaddingLow(), getInteriorPadding()))
    map.push_back({int(dim), 1, -low, interior + 1});
  return map;
}
unsigned PadOp::getNumSources() {
  return 1;
}
Value PadOp::getFill() {
  return getPaddingValue();
}

ShardingRule PadOp::getShardingRule() {
  if (isZero(getPaddingValue()))
    return ruleFromIndexMaps(*this, {0});
  return ruleFromIndexMaps(*this);
}

LogicalResult PadOp::verify() {
  if (failed(verifyElementType(*this)))
    return failure();
  if (!globalShape(getPaddingValue().getType()).empty())
    return violates(*this, 2)
           << "padding_value has type " << getPaddingValue().getType();
  auto from = globalShape(getOperand().getType()), to = globalShape(getType());
  if (getEdgePaddingLow().size() != from.size() ||
      getEdgePaddingHigh().size() != from.size() ||
      getInteriorPadding().size() != from.size())
    return violates(*this, 3) << "edge_padding_low, edge_padding_high and "
                                 "interior_padding must have "
                              << from.size() << " entries";
  if (to.size() != from.size())
    return violates(*this, 4) << "the result has another rank";
  for (size_t dim = 0; dim < from.size(); ++dim) {
    if (getInteriorPadding()[dim] < 0)
      return violates(*this, 3) << "interior padding of dim " << dim << " is "
                                << getInteriorPadding()[dim];
    int64_t size =
        paddedSize(from[dim], getEdgePaddingLow()[dim],
                   getEdgePaddingHigh()[dim], getInteriorPadding()[dim]);
    if (size < 0 || size != to[dim])
      return violates(*this, 4) << "result dim " << dim << " has size "
                                << to[dim] << ", but padding gives " << size;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// TakeOp
//===----------------------------------------------------------------------===//

void TakeOp::build(OpBuilder &builder, OperationState &state, Value operand,
                   int64_t dimension, ArrayRef<int64_t> indices) {
  auto to = globalShape(operand.getType());
  to[dimension] = indices.size();
  build(builder, state, undecided(operand.getType(), to), operand, dimension,
        indices);
}

IndexMap TakeOp::getIndexMap(unsigned) {
  IndexMap map;
  for (int dim = 0; dim < int(getType().getRank()); ++dim)
    map.push_back({dim});
  map[getDimension()].indices = std::vector<int64_t>(getIndices());
  return map;
}

ShardingRule TakeOp::getShardingRule() {
  return ruleFromIndexMaps(*this);
}

LogicalResult TakeOp::verify() {
  if (failed(verifyElementType(*this)))
    return failure();
  auto from = globalShape(getOperand().getType()), to = globalShape(getType());
  if (int64_t(getDimension()) < 0 || getDimension() >= from.size())
    return violates(*this, 2)
           << "the operand has no dim " << int64_t(getDimension());
  for (int64_t index : getIndices())
    if (index < -1 || index >= from[getDimension()])
      return violates(*this, 3)
             << "index " << index << " is not in dim " << getDimension()
             << " of size " << from[getDimension()];
  from[getDimension()] = getIndices().size();
  if (from != to)
    return violates(*this, 4) << "the result has type " << getType();
  return success();
}

} // namespace meshloom::dtensor
