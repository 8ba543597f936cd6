// Rules, verifiers and builders of the ops that make or move elements.

#include "RuleBuilder.h"

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

/// Whether `dims` are dims of a tensor of rank `rank`, each at most once.
static bool areDistinctDims(ArrayRef<int64_t> dims, size_t rank) {
  SmallVector<bool> seen(rank, false);
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= int64_t(rank) || seen[dim])
      return false;
    seen[dim] = true;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// ConstantOp, IotaOp, RngOp
//===----------------------------------------------------------------------===//

ShardingRule ConstantOp::getShardingRule() {
  // Only a splat can be cut without slicing the attribute.
  auto dense = dyn_cast<DenseElementsAttr>(getValue());
  bool splat = dense && dense.isSplat();
  RuleBuilder rule(*this);
  ShardingRule::Tensor dims;
  for (int64_t i = 0; i < getType().getRank(); ++i)
    dims.push_back({splat ? rule.factor() : rule.whole()});
  rule.result(std::move(dims));
  return rule.finish();
}

LogicalResult ConstantOp::verify() {
  if (getValue().getType() != undecided(getType()))
    return violates(*this, 1) << "the value is a " << getValue().getType()
                              << ", the result a " << undecided(getType());
  if (LayoutAttr layout = layoutAttrOf(getType()))
    if (!layout.getPartial().empty())
      return violates(*this, 2) << "the result is partial";
  return success();
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

ShardingRule BroadcastInDimOp::getShardingRule() {
  RuleBuilder rule(*this);
  auto from = globalShape(getOperand().getType()), to = globalShape(getType());
  ShardingRule::Tensor result = rule.dims(to.size());
  ShardingRule::Tensor operand;
  for (auto [extent, dim] : llvm::zip_equal(from, getBroadcastDimensions()))
    operand.push_back(extent == to[dim] ? result[dim] : ShardingRule::Dim{});
  rule.operand(std::move(operand));
  rule.result(std::move(result));
  return rule.finish(PartialFlow::Movement);
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
  if (!areDistinctDims(dims, to.size()))
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

/// Walks both shapes from the major end, in groups of dims with equal products
/// (such groups are row-major boxes of each other). Within a group, a common
/// factor of what is left of the two current dims is the major part of both,
/// as long as one of them divides the other; else the rest of the group has no
/// dim-wise correspondence and must be whole. Linear in the ranks.
ShardingRule ReshapeOp::getShardingRule() {
  RuleBuilder rule(*this);
  auto from = globalShape(getOperand().getType()), to = globalShape(getType());
  ShardingRule::Tensor operand(from.size()), result(to.size());
  bool empty = llvm::is_contained(from, 0);
  size_t i = 0, j = 0;
  int64_t left = 1, right = 1; // what of dims i and j has no factor yet
  auto skipOnes = [](ArrayRef<int64_t> shape, size_t &at, int64_t &rest) {
    while (rest == 1 && at < shape.size())
      if ((rest = shape[at]) == 1)
        ++at;
  };
  if (!empty) {
    skipOnes(from, i, left);
    skipOnes(to, j, right);
  }
  while (!empty && i < from.size() && j < to.size()) {
    int64_t common = std::min(left, right);
    if (std::max(left, right) % common == 0) {
      unsigned factor = rule.factor();
      operand[i].push_back(factor);
      result[j].push_back(factor);
    } else {
      // No correspondence: whole until the products of both sides agree.
      int64_t products[2] = {left, right};
      operand[i].push_back(rule.whole());
      result[j].push_back(rule.whole());
      while (products[0] != products[1]) {
        bool side = products[0] > products[1];
        size_t &at = side ? j : i;
        ++at;
        products[side] *= side ? to[at] : from[at];
        (side ? result : operand)[at].push_back(rule.whole());
      }
      common = left = right = 1;
      ++i, ++j;
      skipOnes(from, i, left);
      skipOnes(to, j, right);
      continue;
    }
    left /= common;
    right /= common;
    if (left == 1)
      ++i;
    if (right == 1)
      ++j;
    skipOnes(from, i, left);
    skipOnes(to, j, right);
  }
  if (empty) {
    for (ShardingRule::Dim &dim : operand)
      dim = {rule.whole()};
    for (ShardingRule::Dim &dim : result)
      dim = {rule.whole()};
  }
  rule.operand(std::move(operand));
  rule.result(std::move(result));
  return rule.finish(PartialFlow::Movement);
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

ShardingRule TransposeOp::getShardingRule() {
  RuleBuilder rule(*this);
  ShardingRule::Tensor result = rule.dims(getType().getRank());
  ShardingRule::Tensor operand(result.size());
  for (auto [index, dim] : llvm::enumerate(getPermutation()))
    operand[dim] = result[index];
  rule.operand(std::move(operand));
  rule.result(std::move(result));
  return rule.finish(PartialFlow::Movement);
}

LogicalResult TransposeOp::verify() {
  auto from = globalShape(getOperand().getType()), to = globalShape(getType());
  if (failed(verifyElementType(*this)))
    return failure();
  if (getPermutation().size() != from.size() ||
      !areDistinctDims(getPermutation(), from.size()))
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

ShardingRule SliceOp::getShardingRule() {
  RuleBuilder rule(*this);
  auto from = globalShape(getOperand().getType()), to = globalShape(getType());
  ShardingRule::Tensor operand, result;
  for (auto [before, after] : llvm::zip_equal(from, to)) {
    // A slice of full size is the whole dim: it starts at 0, stride 1.
    bool kept = before == after;
    operand.push_back({kept ? rule.factor() : rule.whole()});
    result.push_back(kept ? operand.back() : ShardingRule::Dim{rule.whole()});
  }
  rule.operand(std::move(operand));
  rule.result(std::move(result));
  return rule.finish(PartialFlow::Movement);
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

ShardingRule ConcatenateOp::getShardingRule() {
  RuleBuilder rule(*this);
  // The joined dim is a whole factor of its own in every tensor.
  ShardingRule::Tensor dims;
  for (uint64_t dim = 0; dim < uint64_t(getType().getRank()); ++dim)
    dims.push_back({dim == getDimension() ? rule.whole() : rule.factor()});
  rule.result(dims);
  for ([[maybe_unused]] Value input : getInputs()) {
    dims[getDimension()] = {rule.whole()};
    rule.operand(dims);
  }
  return rule.finish(PartialFlow::Movement);
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

ShardingRule ReverseOp::getShardingRule() {
  RuleBuilder rule(*this);
  ShardingRule::Tensor dims;
  for (int64_t dim = 0; dim < getType().getRank(); ++dim)
    dims.push_back({llvm::is_contained(getDimensions(), dim) ? rule.whole()
                                                             : rule.factor()});
  rule.operand(dims);
  rule.result(dims);
  return rule.finish(PartialFlow::Movement);
}

LogicalResult ReverseOp::verify() {
  if (failed(verifyElementwise(*this)) || failed(verifySameElements(*this)))
    return failure();
  if (!areDistinctDims(getDimensions(), getType().getRank()))
    return violates(*this, 3)
           << "dimensions are not distinct dims of the operand";
  return success();
}

} // namespace meshloom::dtensor
