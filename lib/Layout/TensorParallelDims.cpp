// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many products lie in front of each weight, by the ops' sharding rules.
#include "TensorParallelDims.h"

#include "meshloom/ControlFlow/Determinism.h"
#include "meshloom/Dialect/DTensor/FunctionLayouts.h"
#include "meshloom/Dialect/DTensor/Notes.h"

#include <algorithm>

namespace meshloom {

namespace {

class TensorParallelDims {
public:
  TensorParallelDims(mlir::func::FuncOp function,
                     const std::vector<bool> &isWeight)
      : function(function), isWeight(isWeight), dims(isWeight.size()) {}

  std::vector<std::optional<unsigned>> find();

private:
  using Dims = SmallVector<unsigned>;

  std::optional<unsigned> weightOf(Value value);
  void visit(Operation &op);
  bool takeWeight(const ShardingRule &rule, Operation &op, unsigned operand,
                  unsigned depth);
  void cutMoments();

  mlir::func::FuncOp function;
  const std::vector<bool> &isWeight;
  std::vector<std::optional<unsigned>> dims;
  /// The number of products with weights on the longest way to a value.
  DenseMap<Value, unsigned> depths;
};

/// Returns whether each element of the result follows from the elements of
/// operands at the same place.
bool isElementwise(Operation *op) {
  auto sharded = dyn_cast<dtensor::ShardedOpInterface>(op);
  if (!sharded || op->getNumResults() != 1 || op->getNumOperands() == 0)
    return false;
  const ShardingRule rule = layoutRule(sharded);
  return llvm::all_of(rule.operands, [&](const ShardingRule::Tensor &operand) {
    return operand == rule.results[0];
  });
}

/// Returns the number of the weight that a value is, or has the elements of.
std::optional<unsigned> TensorParallelDims::weightOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (op->getNumOperands() > 1 || !isElementwise(op))
      return std::nullopt;
    value = op->getOperand(0);
  }
  auto argument = cast<BlockArgument>(value);
  const bool isOfFunction =
      argument.getOwner()->getParentOp() == function.getOperation() &&
      isWeight[argument.getArgNumber()];
  return isOfFunction ? std::optional(argument.getArgNumber()) : std::nullopt;
}

/// Returns the dims of an operand whose factors are summed over, and whether a
/// different operand has such a factor as well.
std::pair<SmallVector<unsigned>, bool> summedDims(const ShardingRule &rule,
                                                  unsigned operand) {
  SmallVector<unsigned> summed;
  bool isProduct = false;
  for (auto [dim, factors] : llvm::enumerate(rule.operands[operand]))
    for (unsigned factor : factors) {
      if (rule.factors[factor].kind != FactorKind::Reduced)
        continue;
      summed.push_back(unsigned(dim));
      for (auto [other, tensor] : llvm::enumerate(rule.operands))
        isProduct |= other != operand && llvm::any_of(tensor, [&](auto &names) {
                       return llvm::is_contained(names, factor);
                     });
    }
  return {summed, isProduct};
}

/// Notes the dim of a weight that the op takes first. Returns whether the op is
/// a product with it.
bool TensorParallelDims::takeWeight(const ShardingRule &rule, Operation &op,
                                    unsigned operand, unsigned depth) {
  const std::optional<unsigned> weight = weightOf(op.getOperand(operand));
  if (!weight)
    return false;
  const auto [summed, isProduct] = summedDims(rule, operand);
  if (summed.empty())
    return false;
  const SmallVector<int64_t> shape =
      dtensor::globalShape(op.getOperand(operand).getType());
  const bool cutsColumns = isProduct && depth % 2 == 0;
  std::optional<unsigned> largest;
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    if (llvm::is_contained(summed, dim) != cutsColumns &&
        (!largest || shape[dim] >= shape[*largest]))
      largest = dim;
  if (!dims[*weight])
    dims[*weight] = largest;
  return isProduct;
}

void TensorParallelDims::visit(Operation &op) {
  unsigned depth = 0;
  for (Value operand : op.getOperands())
    depth = std::max(depth, depths.lookup(operand));
  bool isProduct = false;
  if (auto sharded = dyn_cast<dtensor::ShardedOpInterface>(op)) {
    const ShardingRule rule = layoutRule(sharded);
    for (unsigned operand = 0; operand < rule.operands.size(); ++operand)
      isProduct |= takeWeight(rule, op, operand, depth);
  }
  for (Value result : op.getResults())
    depths[result] = depth + isProduct;
}

/// Cuts the moments of each weight as the weight: what its next value follows
/// from element by element.
void TensorParallelDims::cutMoments() {
  Operation *terminator = function.getBody().front().getTerminator();
  for (unsigned weight = 0; weight < dims.size(); ++weight) {
    auto alias =
        function.getArgAttrOfType<IntegerAttr>(weight, dtensor::aliasAttr);
    if (!isWeight[weight] || !dims[weight] || !alias)
      continue;
    SmallVector<Value> open{terminator->getOperand(unsigned(alias.getInt()))};
    llvm::DenseSet<Value> seen;
    while (!open.empty()) {
      const Value value = open.pop_back_val();
      if (!seen.insert(value).second)
        continue;
      if (Operation *op = value.getDefiningOp()) {
        if (isElementwise(op))
          llvm::append_range(open, op->getOperands());
      } else if (unsigned number = cast<BlockArgument>(value).getArgNumber();
                 !isWeight[number]) {
        dims[number] = dims[weight];
      }
    }
  }
}

std::vector<std::optional<unsigned>> TensorParallelDims::find() {
  for (Operation &op : function.getBody().front().without_terminator())
    visit(op);
  cutMoments();
  return dims;
}

} // namespace

std::vector<std::optional<unsigned>>
tensorParallelDims(mlir::func::FuncOp function,
                   const std::vector<bool> &isWeight) {
  return TensorParallelDims(function, isWeight).find();
}

} // namespace meshloom
