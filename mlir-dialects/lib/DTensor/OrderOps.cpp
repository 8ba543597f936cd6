// Rules, verifiers and builders of sort, top_k and generic_reduce.
#include "ScalarRegion.h"

#include "Reductions.h"

namespace meshloom::dtensor {

/// Dims of a tensor of rank `rank`; those in `whole` must be whole.
static ShardingRule::Tensor dimsWithWhole(RuleBuilder &rule, size_t rank,
                                          ArrayRef<int64_t> whole) {
  ShardingRule::Tensor dims;
  for (int64_t dim = 0; dim < int64_t(rank); ++dim)
    dims.push_back(
        {llvm::is_contained(whole, dim) ? rule.whole() : rule.factor()});
  return dims;
}

//===----------------------------------------------------------------------===//
// SortOp
//===----------------------------------------------------------------------===//

void SortOp::build(OpBuilder &builder, OperationState &state, ValueRange inputs,
                   int64_t dimension, bool isStable) {
  SmallVector<Type> types;
  for (Value input : inputs)
    types.push_back(undecided(input.getType()));
  build(builder, state, types, inputs, uint64_t(dimension), isStable);
}

ShardingRule SortOp::getShardingRule() {
  RuleBuilder rule(*this);
  ShardingRule::Tensor dims =
      dimsWithWhole(rule, globalShape(getInputs()[0].getType()).size(),
                    {int64_t(getDimension())});
  for (unsigned i = 0; i < getInputs().size(); ++i) {
    rule.operand(dims);
    rule.result(dims);
  }
  return rule.finish();
}

LogicalResult SortOp::verify() {
  if (getInputs().empty() || getInputs().size() != getResults().size())
    return violates(*this, 1)
           << "there are " << getInputs().size() << " inputs and "
           << getResults().size() << " results";
  auto shape = globalShape(getInputs()[0].getType());
  for (auto [input, result] :
       llvm::zip_equal(getInputs().getTypes(), getResults().getTypes()))
    if (globalShape(input) != shape || undecided(input) != undecided(result))
      return violates(*this, 1)
             << "input " << undecided(input) << " and result "
             << undecided(result) << " do not fit";
  if (int64_t(getDimension()) < 0 ||
      int64_t(getDimension()) >= int64_t(shape.size()))
    return violates(*this, 2) << "dimension " << int64_t(getDimension())
                              << " is no dim of the inputs";
  SmallVector<Type> pairs;
  for (Type element : elementTypesOf(getInputs()))
    pairs.append(2, element);
  return verifyScalarRegion(*this, 3, getComparator(), pairs,
                            IntegerType::get(getContext(), 1));
}

//===----------------------------------------------------------------------===//
// TopKOp
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> topShape(Value operand, int64_t k) {
  SmallVector<int64_t> shape = globalShape(operand.getType());
  if (!shape.empty())
    shape.back() = k;
  return shape;
}

void TopKOp::build(OpBuilder &builder, OperationState &state, Value operand,
                   int64_t k) {
  SmallVector<int64_t> shape = topShape(operand, k);
  build(builder, state, undecided(operand.getType(), shape),
        RankedTensorType::get(shape, builder.getI32Type()), operand,
        uint64_t(k));
}

ShardingRule TopKOp::getShardingRule() {
  RuleBuilder rule(*this);
  int64_t last = int64_t(globalShape(getOperand().getType()).size()) - 1;
  ShardingRule::Tensor operand = dimsWithWhole(rule, last + 1, {last});
  ShardingRule::Tensor result = operand;
  result[last] = {rule.whole()};
  rule.operand(std::move(operand));
  rule.result(result);
  rule.result(result);
  return rule.finish();
}

LogicalResult TopKOp::verify() {
  auto shape = globalShape(getOperand().getType());
  int64_t k = getK();
  if (shape.empty() || k < 0 || k > shape.back())
    return violates(*this, 1) << "k is " << k << " for an operand "
                              << undecided(getOperand().getType());
  auto expected = topShape(getOperand(), k);
  if (undecided(getValues().getType()) !=
          undecided(getOperand().getType(), expected) ||
      globalShape(getIndices().getType()) != expected)
    return violates(*this, 2) << "the first result must be "
                              << undecided(getOperand().getType(), expected)
                              << ", the second one of that shape";
  return success();
}

//===----------------------------------------------------------------------===//
// GenericReduceOp
//===----------------------------------------------------------------------===//

void GenericReduceOp::build(OpBuilder &builder, OperationState &state,
                            ValueRange inputs, ValueRange initValues,
                            ArrayRef<int64_t> dimensions) {
  SmallVector<Type> types;
  for (Type type : inputs.getTypes())
    types.push_back(undecided(type, dropDims(globalShape(type), dimensions)));
  build(builder, state, types, inputs, initValues, dimensions);
}

ShardingRule GenericReduceOp::getShardingRule() {
  RuleBuilder rule(*this);
  ShardingRule::Tensor operand = dimsWithWhole(
      rule, globalShape(getInputs()[0].getType()).size(), getDimensions());
  addReduced(rule, getInputs().size(), operand, getDimensions());
  for (unsigned i = 0; i < getInitValues().size(); ++i)
    rule.operand({});
  return rule.finish();
}

LogicalResult GenericReduceOp::verify() {
  if (failed(verifyReduced(*this, getInputs(), getResults().size(),
                           getDimensions())))
    return failure();
  auto shape = globalShape(getInputs()[0].getType());
  auto reduced = dropDims(shape, getDimensions());
  for (auto [input, init, result] :
       llvm::zip_equal(getInputs().getTypes(), getInitValues().getTypes(),
                       getResults().getTypes())) {
    if (globalShape(input) != shape)
      return violates(*this, 3) << "inputs differ in global shape";
    if (undecided(init) != RankedTensorType::get({}, elementTypeOf(input)))
      return violates(*this, 3) << "the init value of " << undecided(input)
                                << " is " << undecided(init);
    if (undecided(result) != undecided(input, reduced))
      return violates(*this, 4) << "the result of " << undecided(input)
                                << " must be " << undecided(input, reduced);
  }
  SmallVector<Type> elements = elementTypesOf(getInputs());
  return verifyScalarRegion(
      *this, 5, getComputation(),
      llvm::to_vector(llvm::concat<Type>(elements, elements)), elements);
}

} // namespace meshloom::dtensor
