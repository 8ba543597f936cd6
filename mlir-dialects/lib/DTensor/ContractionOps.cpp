// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules, verifiers and builders of products and reductions.

#include "Reductions.h"
#include "ScalarRegion.h"

namespace meshloom::dtensor {

//===----------------------------------------------------------------------===//
// DotGeneralOp
//===----------------------------------------------------------------------===//

/// Dims below `rank` that are in neither list.
static SmallVector<int64_t> freeDims(size_t rank, ArrayRef<int64_t> batching,
                                     ArrayRef<int64_t> contracting) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < int64_t(rank); ++dim)
    if (!llvm::is_contained(batching, dim) &&
        !llvm::is_contained(contracting, dim))
      dims.push_back(dim);
  return dims;
}

static SmallVector<int64_t>
dotShape(ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs,
         ArrayRef<int64_t> lhsBatching, ArrayRef<int64_t> rhsBatching,
         ArrayRef<int64_t> lhsContracting, ArrayRef<int64_t> rhsContracting) {
  SmallVector<int64_t> shape;
  for (int64_t dim : lhsBatching)
    shape.push_back(lhs[dim]);
  for (int64_t dim : freeDims(lhs.size(), lhsBatching, lhsContracting))
    shape.push_back(lhs[dim]);
  for (int64_t dim : freeDims(rhs.size(), rhsBatching, rhsContracting))
    shape.push_back(rhs[dim]);
  return shape;
}

void DotGeneralOp::build(OpBuilder &builder, OperationState &state, Value lhs,
                         Value rhs, ArrayRef<int64_t> lhsBatching,
                         ArrayRef<int64_t> rhsBatching,
                         ArrayRef<int64_t> lhsContracting,
                         ArrayRef<int64_t> rhsContracting, Type resultElement) {
  auto shape =
      dotShape(globalShape(lhs.getType()), globalShape(rhs.getType()),
               lhsBatching, rhsBatching, lhsContracting, rhsContracting);
  RankedTensorType type = undecided(lhs.getType(), shape);
  if (resultElement)
    type = type.clone(resultElement);
  build(builder, state, type, lhs, rhs, lhsBatching, rhsBatching,
        lhsContracting, rhsContracting);
}

SmallVector<int64_t> DotGeneralOp::getLhsFreeDimensions() {
  return freeDims(getLhs().getType().getRank(), getLhsBatchingDimensions(),
                  getLhsContractingDimensions());
}

SmallVector<int64_t> DotGeneralOp::getRhsFreeDimensions() {
  return freeDims(getRhs().getType().getRank(), getRhsBatchingDimensions(),
                  getRhsContractingDimensions());
}

bool DotGeneralOp::isWidening() {
  return elementTypeOf(getLhs().getType()) != getType().getElementType();
}

ShardingRule DotGeneralOp::getShardingRule() {
  RuleBuilder rule(*this);
  ShardingRule::Tensor lhs(getLhs().getType().getRank()),
      rhs(getRhs().getType().getRank()), result;
  for (auto [lhsDim, rhsDim] : llvm::zip_equal(getLhsBatchingDimensions(),
                                               getRhsBatchingDimensions())) {
    lhs[lhsDim] = rhs[rhsDim] = {rule.factor()};
    result.push_back(lhs[lhsDim]);
  }
  for (int64_t dim : getLhsFreeDimensions()) {
    lhs[dim] = {rule.factor()};
    result.push_back(lhs[dim]);
  }
  for (int64_t dim : getRhsFreeDimensions()) {
    rhs[dim] = {rule.factor()};
    result.push_back(rhs[dim]);
  }
  for (auto [lhsDim, rhsDim] : llvm::zip_equal(getLhsContractingDimensions(),
                                               getRhsContractingDimensions()))
    lhs[lhsDim] = rhs[rhsDim] = {rule.factor()};
  rule.operand(std::move(lhs));
  rule.operand(std::move(rhs));
  rule.result(std::move(result));
  return rule.finish(PartialFlow::LinearEach);
}

int64_t DotGeneralOp::getTerms() {
  return productOf(getLhs(), getLhsContractingDimensions());
}

LogicalResult DotGeneralOp::verify() {
  const Type lhsElement = elementTypeOf(getLhs().getType()),
             rhsElement = elementTypeOf(getRhs().getType()),
             element = getType().getElementType();
  const bool areBytes = lhsElement.isInteger(8) && rhsElement.isInteger(8) &&
                        element.isInteger(32);
  if (lhsElement != rhsElement && !areBytes)
    return violates(*this, 1) << "the operands differ in element type";
  if (isWidening() && !areBytes &&
      !((lhsElement.isF16() || lhsElement.isBF16()) && element.isF32()))
    return violates(*this, 1)
           << "the result is neither of the operands' element type, nor f32 "
              "where that is f16 or bf16, nor of 32 bits where that is an "
              "integer of 8";
  ArrayRef<int64_t> lhsBatching = getLhsBatchingDimensions(),
                    rhsBatching = getRhsBatchingDimensions(),
                    lhsContracting = getLhsContractingDimensions(),
                    rhsContracting = getRhsContractingDimensions();
  if (lhsBatching.size() != rhsBatching.size() ||
      lhsContracting.size() != rhsContracting.size())
    return violates(*this, 2)
           << "lists of dims of lhs and rhs differ in length";
  auto lhs = globalShape(getLhs().getType()),
       rhs = globalShape(getRhs().getType());
  if (!areDistinct(llvm::to_vector(llvm::concat<const int64_t>(lhsBatching,
                                                               lhsContracting)),
                   lhs.size()) ||
      !areDistinct(llvm::to_vector(llvm::concat<const int64_t>(rhsBatching,
                                                               rhsContracting)),
                   rhs.size()))
    return violates(*this, 3)
           << "batching and contracting dims are not distinct dims of their "
              "operand";
  auto sameSizes = [&](ArrayRef<int64_t> lefts,
                       ArrayRef<int64_t> rights) -> LogicalResult {
    for (auto [lhsDim, rhsDim] : llvm::zip_equal(lefts, rights))
      if (lhs[lhsDim] != rhs[rhsDim])
        return violates(*this, 4)
               << "dim " << lhsDim << " of lhs has size " << lhs[lhsDim]
               << ", but dim " << rhsDim << " of rhs has size " << rhs[rhsDim];
    return success();
  };
  if (failed(sameSizes(lhsBatching, rhsBatching)) ||
      failed(sameSizes(lhsContracting, rhsContracting)))
    return failure();
  auto expected = dotShape(lhs, rhs, lhsBatching, rhsBatching, lhsContracting,
                           rhsContracting);
  if (globalShape(getType()) != expected)
    return violates(*this, 5)
           << "the result must be " << undecided(getType(), expected);
  return success();
}

//===----------------------------------------------------------------------===//
// MatMulOp
//===----------------------------------------------------------------------===//

void MatMulOp::build(OpBuilder &builder, OperationState &state, Value lhs,
                     Value rhs) {
  auto shape = globalShape(lhs.getType());
  shape.back() = globalShape(rhs.getType()).back();
  build(builder, state, undecided(lhs.getType(), shape), lhs, rhs);
}

int64_t MatMulOp::getTerms() {
  return globalShape(getLhs().getType()).back();
}

LogicalResult MatMulOp::verify() {
  auto lhs = globalShape(getLhs().getType()),
       rhs = globalShape(getRhs().getType()), result = globalShape(getType());
  Type element = getType().getElementType();
  if (elementTypeOf(getLhs().getType()) != element ||
      elementTypeOf(getRhs().getType()) != element)
    return violates(*this, 1)
           << "the operands and the result differ in element type";
  size_t rank = result.size();
  if (rank < 2 || lhs.size() != rank || rhs.size() != rank)
    return violates(*this, 2) << "the ranks are " << lhs.size() << ", "
                              << rhs.size() << " and " << rank;
  for (size_t dim = 0; dim + 2 < rank; ++dim)
    if (lhs[dim] != result[dim] || rhs[dim] != result[dim])
      return violates(*this, 3)
             << "leading dim " << dim << " has sizes " << lhs[dim] << ", "
             << rhs[dim] << " and " << result[dim];
  if (lhs[rank - 1] != rhs[rank - 2])
    return violates(*this, 4) << "lhs has " << lhs[rank - 1] << " columns, rhs "
                              << rhs[rank - 2] << " rows";
  if (result[rank - 2] != lhs[rank - 2] || result[rank - 1] != rhs[rank - 1])
    return violates(*this, 5)
           << "the result must be " << lhs[rank - 2] << " by " << rhs[rank - 1];
  return success();
}

//===----------------------------------------------------------------------===//
// ReduceOp, ArgMaxOp, ArgMinOp
//===----------------------------------------------------------------------===//

void addReduced(RuleBuilder &rule, unsigned count,
                const ShardingRule::Tensor &operand,
                ArrayRef<int64_t> dimensions) {
  ShardingRule::Tensor result;
  for (auto [dim, factors] : llvm::enumerate(operand))
    if (!llvm::is_contained(dimensions, int64_t(dim)))
      result.push_back(factors);
  for (unsigned i = 0; i < count; ++i) {
    rule.operand(operand);
    rule.result(result);
  }
}

LogicalResult verifyReduced(Operation *op, ValueRange inputs, unsigned results,
                            ArrayRef<int64_t> dimensions) {
  if (inputs.empty() || inputs.size() != results)
    return violates(op, 1) << "there are " << inputs.size() << " inputs and "
                           << results << " results";
  if (!areDistinct(dimensions, globalShape(inputs[0].getType()).size()))
    return violates(op, 2) << "dimensions are not distinct dims of the inputs";
  return success();
}

void ReduceOp::build(OpBuilder &builder, OperationState &state, ReduceKind kind,
                     ValueRange inputs, ArrayRef<int64_t> dimensions) {
  SmallVector<Type> types;
  for (Type type : inputs.getTypes())
    types.push_back(undecided(type, dropDims(globalShape(type), dimensions)));
  build(builder, state, types, kind, inputs, dimensions);
}

ShardingRule ReduceOp::getShardingRule() {
  RuleBuilder rule(*this);
  ShardingRule::Tensor operand =
      rule.dims(globalShape(getInputs()[0].getType()).size());
  addReduced(rule, getInputs().size(), operand, getDimensions());
  return rule.finish(PartialFlow::LinearJoint, {}, getKind());
}

int64_t ReduceOp::getTerms() {
  bool rounds = getKind() == ReduceKind::Sum || getKind() == ReduceKind::Prod;
  return rounds ? productOf(getInputs()[0], getDimensions()) : 1;
}

LogicalResult ReduceOp::verify() {
  if (failed(verifyReduced(*this, getInputs(), getOutputs().size(),
                           getDimensions())))
    return failure();
  auto shape = globalShape(getInputs()[0].getType());
  bool logical = getKind() == ReduceKind::And || getKind() == ReduceKind::Or;
  auto reduced = dropDims(shape, getDimensions());
  for (auto [input, output] :
       llvm::zip_equal(getInputs().getTypes(), getOutputs().getTypes())) {
    if (globalShape(input) != shape)
      return violates(*this, 3) << "operands differ in global shape";
    Type element = elementTypeOf(input);
    if (elementTypeOf(output) != element || globalShape(output) != reduced)
      return violates(*this, 4) << "the result of a " << undecided(input)
                                << " must be a " << undecided(input, reduced);
    bool extreme = getKind() == ReduceKind::Min || getKind() == ReduceKind::Max;
    bool complex = isa<mlir::ComplexType>(element);
    if (logical ? complex || isa<FloatType>(element)
                : element.isInteger(1) || (extreme && complex))
      return violates(*this, 5) << "a reduction by " << name(getKind())
                                << " does not take " << element;
  }
  return success();
}

static Type argType(Value operand, int64_t dimension, Type element) {
  return RankedTensorType::get(
      dropDims(globalShape(operand.getType()), {dimension}), element);
}

static ShardingRule argRule(Operation *op, int64_t dimension) {
  RuleBuilder rule(op);
  ShardingRule::Tensor operand, result;
  int64_t rank = globalShape(op->getOperand(0).getType()).size();
  for (int64_t dim = 0; dim < rank; ++dim) {
    operand.push_back({dim == dimension ? rule.whole() : rule.factor()});
    if (dim != dimension)
      result.push_back(operand.back());
  }
  rule.operand(std::move(operand));
  rule.result(std::move(result));
  return rule.finish();
}

static LogicalResult verifyArg(Operation *op, int64_t dimension) {
  auto shape = globalShape(op->getOperand(0).getType());
  if (dimension < 0 || dimension >= int64_t(shape.size()) ||
      shape[dimension] == 0)
    return violates(op, 1) << "dimension " << dimension
                           << " is not a non-empty dim of the operand";
  if (globalShape(op->getResult(0).getType()) != dropDims(shape, {dimension}))
    return violates(op, 2)
           << "the result's global shape is not the operand's without dim "
           << dimension;
  return success();
}

void ArgMaxOp::build(OpBuilder &builder, OperationState &state, Value operand,
                     int64_t dimension, Type elementType) {
  build(builder, state, argType(operand, dimension, elementType), operand,
        dimension);
}
ShardingRule ArgMaxOp::getShardingRule() {
  return argRule(*this, getDimension());
}
LogicalResult ArgMaxOp::verify() {
  return verifyArg(*this, getDimension());
}

void ArgMinOp::build(OpBuilder &builder, OperationState &state, Value operand,
                     int64_t dimension, Type elementType) {
  build(builder, state, argType(operand, dimension, elementType), operand,
        dimension);
}
ShardingRule ArgMinOp::getShardingRule() {
  return argRule(*this, getDimension());
}
LogicalResult ArgMinOp::verify() {
  return verifyArg(*this, getDimension());
}

} // namespace meshloom::dtensor
