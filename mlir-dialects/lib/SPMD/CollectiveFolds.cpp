// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folders and canonicalisation of the collectives. A change that needs a cost
// or looks at more than two ops is in --spmd-simplify-collectives.

#include "meshloom/Dialect/SPMD/SPMD.h"

namespace meshloom::spmd {

static bool moves(Operation *op) {
  auto collective = dyn_cast_or_null<CollectiveOpInterface>(op);
  return collective && !collective.getReduceKind();
}

/// The value that `value`, the result of a moving collective, was before.
static Value before(Value value) {
  Operation *op = value.getDefiningOp();
  if (!moves(op))
    return {};
  return op->getOperand(cast<OpResult>(value).getResultNumber());
}

/// Moves that lead back to where a value came from, moves that change nothing,
/// and moves of a constant that is the same everywhere.
LogicalResult foldCollective(Operation *op, ArrayRef<Attribute> inputs,
                             SmallVectorImpl<mlir::OpFoldResult> &results) {
  if (!moves(op))
    return failure();
  for (auto [operand, attr, result] :
       llvm::zip_equal(op->getOperands(), inputs, op->getResults())) {
    Value source = before(operand);
    auto splat = mlir::dyn_cast_or_null<mlir::SplatElementsAttr>(attr);
    if (operand.getType() == result.getType())
      results.push_back(operand);
    else if (source && source.getType() == result.getType())
      results.push_back(source);
    else if (splat && windowsOf(result.getType()).empty() &&
             dtensor::layoutAttrOf(result.getType()).getPartial().empty())
      results.push_back(attr);
    else
      return failure();
  }
  return success();
}

namespace {

/// Makes `op` again with other operands and result types, `bytes` updated.
Operation *rebuild(PatternRewriter &rewriter, Operation *op,
                   ArrayRef<Value> operands, ArrayRef<Type> types,
                   mlir::ArrayAttr axes) {
  Operation *rebuilt =
      rewriter.create(op->getLoc(), op->getName().getIdentifier(), operands,
                      types, op->getAttrs());
  rebuilt->setAttr("axes", axes);
  if (cast<CollectiveOpInterface>(op).getBytes())
    rebuilt->setAttr("bytes", rewriter.getI64IntegerAttr(resultBytes(rebuilt)));
  return rebuilt;
}

/// Drops operands whose result has no use, and sends each value once.
struct DropOperands : mlir::RewritePattern {
  DropOperands(StringRef name, MLIRContext *context)
      : RewritePattern(name, 1, context) {}
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumOperands() < 2)
      return failure();
    SmallVector<Value> operands;
    SmallVector<Type> types;
    // Index of the new result that stands for each old one.
    SmallVector<std::optional<size_t>> newIndices;
    for (auto [operand, result] :
         llvm::zip_equal(op->getOperands(), op->getResults())) {
      if (result.use_empty()) {
        newIndices.push_back(std::nullopt);
        continue;
      }
      size_t index = 0;
      while (index < operands.size() &&
             (operands[index] != operand || types[index] != result.getType()))
        ++index;
      if (index == operands.size()) {
        operands.push_back(operand);
        types.push_back(result.getType());
      }
      newIndices.push_back(index);
    }
    if (operands.empty() || operands.size() == op->getNumOperands())
      return failure();
    Operation *rebuilt = rebuild(rewriter, op, operands, types,
                                 cast<CollectiveOpInterface>(op).getAxes());
    SmallVector<Value> replacements;
    for (std::optional<size_t> index : newIndices)
      replacements.push_back(index ? Value(rebuilt->getResult(*index))
                                   : Value());
    rewriter.replaceOp(op, replacements);
    return success();
  }
};

/// One collective over the axes of two of the same kind that follow each other,
/// where nothing else uses what is between and Core agrees that it is one.
struct MergeChain : mlir::RewritePattern {
  MergeChain(StringRef name, MLIRContext *context)
      : RewritePattern(name, 1, context) {}
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    Operation *first = op->getOperand(0).getDefiningOp();
    if (op->getNumOperands() != 1 || !first ||
        first->getName() != op->getName() || first->getNumOperands() != 1 ||
        !first->getResult(0).hasOneUse())
      return failure();
    auto collective = cast<CollectiveOpInterface>(op);
    if (collective.getReduceKind() !=
        cast<CollectiveOpInterface>(first).getReduceKind())
      return failure();
    CollectiveOp step = collective.getCollective(0);
    step.from = layoutOf(first->getOperand(0).getType());
    for (unsigned axis : axisIndices(first))
      if (!llvm::is_contained(step.axes, axis))
        step.axes.push_back(axis);
    llvm::sort(step.axes);
    if (Status ok = verify(step); !ok)
      return failure();
    dtensor::MeshAttr mesh =
        dtensor::layoutAttrOf(op->getOperand(0).getType()).getMeshAttr();
    Operation *rebuilt =
        rebuild(rewriter, op, first->getOperand(0), op->getResult(0).getType(),
                axesAttr(mesh, step.axes));
    rewriter.replaceOp(op, rebuilt);
    return success();
  }
};

} // namespace

void addCollectivePatterns(mlir::RewritePatternSet &patterns, StringRef name) {
  patterns.add<DropOperands, MergeChain>(name, patterns.getContext());
}

} // namespace meshloom::spmd
