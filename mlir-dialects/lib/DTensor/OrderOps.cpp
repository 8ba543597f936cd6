// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules, verifiers and builders of sort, top_k and generic_reduce.
#include "ScalarRegion.h"

#include "Reductions.h"

#include "meshloom/Dialect/DTensor/SortKeys.h"

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

OpCost SortOp::getCost(const ShardingRule &) {
  int64_t length = globalShape(getInputs()[0].getType())[getDimension()];
  return {4 * logOf(length) * int64_t(getInputs().size())};
}

namespace {
/// The comparison that a comparator comes down to.
struct KeyComparison {
  /// Which of the sorted inputs it looks at.
  unsigned input;
  ComparisonDirection direction;
  /// The value that is compared: computed by plain ops from the first of the
  /// two elements of the input (a block argument), or that argument itself.
  Value key;
};
} // namespace

/// Returns whether `first` and `second` are computed alike, from `a` and `b`.
static bool areAlike(Value first, Value second, Value a, Value b) {
  if (first == a || second == b)
    return first == a && second == b;
  Operation *x = first.getDefiningOp(), *y = second.getDefiningOp();
  if (!x || !y || x->getName() != y->getName() ||
      x->getNumOperands() != y->getNumOperands() ||
      x->getAttrDictionary() != y->getAttrDictionary() ||
      first.getType() != second.getType() || x->getNumRegions() != 0 ||
      x->getNumResults() != 1)
    return false;
  for (auto [l, r] : llvm::zip_equal(x->getOperands(), y->getOperands()))
    if (!areAlike(l, r, a, b))
      return false;
  return true;
}

/// For a comparator of the form `compare(key(a), key(b))`, a and b being the
/// two elements of one input: then keys need be computed only once an element.
static std::optional<KeyComparison> keyComparison(Region &comparator) {
  Block &block = comparator.front();
  auto compare =
      block.getTerminator()->getOperand(0).getDefiningOp<CompareOp>();
  if (!compare ||
      isa<mlir::ComplexType>(elementTypeOf(compare.getLhs().getType())))
    return std::nullopt;
  using Direction = ComparisonDirection;
  Direction direction = compare.getDirection();
  if (direction == Direction::EQ || direction == Direction::NE)
    return std::nullopt;
  for (unsigned input = 0; 2 * input < block.getNumArguments(); ++input) {
    Value a = block.getArgument(2 * input),
          b = block.getArgument(2 * input + 1);
    if (areAlike(compare.getLhs(), compare.getRhs(), a, b))
      return KeyComparison{input, direction, compare.getLhs()};
    // compare(key(b), key(a)) is the comparison the other way round.
    if (areAlike(compare.getRhs(), compare.getLhs(), a, b)) {
      Direction turned = direction == Direction::LT   ? Direction::GT
                         : direction == Direction::GT ? Direction::LT
                         : direction == Direction::LE ? Direction::GE
                                                      : Direction::LE;
      return KeyComparison{input, turned, compare.getRhs()};
    }
  }
  return std::nullopt;
}

/// Several integer keys, of which the scalar function makes each element's: by
/// `key_types`, a name and a space each, and which of them `descend`.
static LibraryCall &addKeys(LibraryCall &call, Region &comparator) {
  const SmallVector<SortKey> keys = sortKeys(comparator);
  if (keys.size() < 2 || !llvm::all_of(keys, [](const SortKey &key) {
        return isa<IntegerType>(elementTypeOf(key.value.getType()));
      }))
    return call.scalar(comparator);
  Block &block = comparator.front();
  for (unsigned i = 0; i < block.getNumArguments(); i += 2)
    call.scalarArguments.push_back(block.getArgument(i));
  std::string types;
  SmallVector<int64_t> descend;
  for (const SortKey &key : keys) {
    call.scalarResults.push_back(key.value);
    types += name(*dtypeOf(elementTypeOf(key.value.getType())));
    types += ' ';
    descend.push_back(key.descends);
  }
  return call.text("key_types", types).list("descend", descend);
}

/// With `direction`, elements of `key_input` are compared so, or what the
/// scalar function makes of them, of `key_type`; with `key_types`, the numbers
/// that it makes of the elements of all inputs; else the function is the
/// comparator.
LibraryCall SortOp::getLibraryCall() {
  LibraryCall call(*this, "sort");
  call.number("dimension", getDimension());
  std::optional<KeyComparison> comparison = keyComparison(getComparator());
  if (!comparison)
    return addKeys(call, getComparator());
  Value element = getComparator().front().getArgument(2 * comparison->input);
  if (comparison->key != element) {
    call.scalarArguments = {element};
    call.scalarResults = {comparison->key};
  }
  DType type = *dtypeOf(elementTypeOf(comparison->key.getType()));
  return call.text("direction", stringifyEnum(comparison->direction))
      .number("key_input", comparison->input)
      .text("key_type", name(type));
}
int SortOp::getOverwritable(unsigned result) {
  return int(result);
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
                              << " is not a dim of the inputs";
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

OpCost TopKOp::getCost(const ShardingRule &rule) {
  return {2 * logOf(getK()), onlyIn(rule.results[0], rule.operands[0])};
}

LibraryCall TopKOp::getLibraryCall() {
  return LibraryCall(*this, "top_k");
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

int64_t GenericReduceOp::getTerms() {
  return productOf(getInputs()[0], getDimensions());
}

LibraryCall GenericReduceOp::getLibraryCall() {
  return LibraryCall(*this, "generic_reduce")
      .list("dimensions", getDimensions())
      .scalar(getComputation());
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
