// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of scalar regions and of lists of dims.
#include "ScalarRegion.h"

namespace meshloom::dtensor {

SmallVector<Type> elementTypesOf(ValueRange values) {
  SmallVector<Type> types;
  for (Value value : values)
    types.push_back(elementTypeOf(value.getType()));
  return types;
}

bool areDistinct(ArrayRef<int64_t> dims, size_t rank) {
  SmallVector<bool> seen(rank, false);
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= int64_t(rank) || seen[dim])
      return false;
    seen[dim] = true;
  }
  return true;
}

int64_t productOf(Value value, ArrayRef<int64_t> dims) {
  auto shape = globalShape(value.getType());
  int64_t product = 1;
  for (int64_t dim : dims)
    product *= shape[dim];
  return product;
}

SmallVector<int64_t> dropDims(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> remaining;
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (!llvm::is_contained(dims, int64_t(dim)))
      remaining.push_back(extent);
  return remaining;
}

LogicalResult verifyScalarRegion(Operation *op, unsigned number, Region &region,
                                 ArrayRef<Type> arguments,
                                 ArrayRef<Type> yielded) {
  auto isScalarOf = [](Type type, Type element) {
    return type == RankedTensorType::get({}, element);
  };
  if (!region.hasOneBlock())
    return violates(op, number) << "the region must have one block";
  Block &block = region.front();
  if (block.getNumArguments() != arguments.size())
    return violates(op, number)
           << "the region takes " << block.getNumArguments()
           << " values, expected " << arguments.size();
  for (auto [argument, element] :
       llvm::zip_equal(block.getArguments(), arguments))
    if (!isScalarOf(argument.getType(), element))
      return violates(op, number)
             << "argument #" << argument.getArgNumber() << " of the region is "
             << argument.getType() << ", expected "
             << RankedTensorType::get({}, element);
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(&block.back());
  if (!yield || yield.getNumOperands() != yielded.size())
    return violates(op, number)
           << "the region must end with a dtensor.yield of " << yielded.size()
           << " values";
  for (auto [i, element] : llvm::enumerate(yielded))
    if (!isScalarOf(yield.getOperand(i).getType(), element))
      return violates(op, number)
             << "the region yields " << yield.getOperand(i).getType()
             << ", expected " << RankedTensorType::get({}, element);
  return success();
}

} // namespace meshloom::dtensor
