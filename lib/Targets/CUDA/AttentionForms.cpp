// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a product back: one of its operands is a softmax, of the scores of an
// earlier product.
#include "AttentionForms.h"

#include "ElementExpressions.h"

#include "meshloom/Dialect/DTensor/DTensor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace meshloom;
using dtensor::DotGeneralOp;
using mlir::AffineExpr;
using Kind = ElementExpression::Kind;
using Expression = ElementExpressions::Expression;

namespace {

/// An operand of a product.
struct Side {
  Value value;
  ArrayRef<int64_t> batching, contracting;

  static Side of(DotGeneralOp dot, bool isRight) {
    if (isRight)
      return {dot.getRhs(), dot.getRhsBatchingDimensions(),
              dot.getRhsContractingDimensions()};
    return {dot.getLhs(), dot.getLhsBatchingDimensions(),
            dot.getLhsContractingDimensions()};
  }
  SmallVector<int64_t> freeDims() const {
    SmallVector<int64_t> dims;
    for (int64_t dim = 0;
         dim < cast<RankedTensorType>(value.getType()).getRank(); ++dim)
      if (!llvm::is_contained(batching, dim) &&
          !llvm::is_contained(contracting, dim))
        dims.push_back(dim);
    return dims;
  }
};

/// Matches one attention, whose weights are one side of a product.
class Matcher {
public:
  Matcher(DotGeneralOp product, bool areWeightsRight,
          const DenseMap<Value, unsigned> &buffers)
      : product(product), weights(Side::of(product, areWeightsRight)),
        values(Side::of(product, !areWeightsRight)),
        areWeightsRight(areWeightsRight), buffers(buffers),
        context(product.getContext()) {}

  std::optional<Attention> match();

private:
  AffineExpr loop(unsigned number) const {
    return mlir::getAffineDimExpr(number, context);
  }
  /// Gives the dims of the weights loops: the batch's, the queries', the keys'.
  bool nameLoops();
  /// The scores of the softmax that the weights are; null: they are none.
  Expression softmaxOf(Expression weight);
  bool matchScores(Expression scores);
  bool matchMask(Expression scores, Expression &hiding);
  bool isCausal(Expression condition) const;
  bool matchProduct(Expression element);
  /// The tensor that an operand's elements are, through kernels that only move
  /// or widen them. `loops`: of its dims.
  std::optional<Attention::Tensor> tensorOf(Value value,
                                            ArrayRef<AffineExpr> indices);
  std::optional<Attention::Tensor> tensorOf(Expression element) const;
  /// The only dim of several elements; -1: there is none. Nothing: several.
  static std::optional<int64_t> wideDim(Value value, ArrayRef<int64_t> dims);
  /// The index of a dim: `number`, or 0 where it has one element.
  AffineExpr indexOf(Value value, int64_t dim, unsigned number) const {
    return spmd::globalShape(value.getType())[dim] == 1
               ? mlir::getAffineConstantExpr(0, context)
               : loop(number);
  }

  DotGeneralOp product;
  const Side weights, values;
  const bool areWeightsRight;
  const DenseMap<Value, unsigned> &buffers;
  mlir::MLIRContext *const context;
  ElementExpressions expressions;
  SmallVector<AffineExpr> weightIndices;
  Attention attention;
};

} // namespace

std::optional<int64_t> Matcher::wideDim(Value value, ArrayRef<int64_t> dims) {
  int64_t wide = -1;
  for (int64_t dim : dims)
    if (spmd::globalShape(value.getType())[dim] != 1) {
      if (wide >= 0)
        return std::nullopt;
      wide = dim;
    }
  return wide;
}

bool Matcher::nameLoops() {
  const Value value = weights.value;
  const auto query = wideDim(value, weights.freeDims()),
             key = wideDim(value, weights.contracting);
  if (!query || !key || *key < 0)
    return false;
  const SmallVector<int64_t> shape = spmd::globalShape(value.getType());
  weightIndices.assign(shape.size(), mlir::getAffineConstantExpr(0, context));
  for (int64_t dim : weights.batching)
    if (shape[dim] != 1)
      weightIndices[dim] = loop(attention.batchLoops++);
  if (*query >= 0)
    weightIndices[*query] = loop(attention.queryLoop());
  weightIndices[*key] = loop(attention.keyLoop());
  return true;
}

Expression Matcher::softmaxOf(Expression weight) {
  if (!weight->is("arith.divf"))
    return nullptr;
  const Expression numerator = weight->operands[0], sum = weight->operands[1];
  if (!numerator->is("math.exp") || !numerator->operands[0]->is("arith.subf") ||
      sum->kind != Kind::Reduction ||
      expressions.reducerOf(sum) != spmd::Reducer::Sum)
    return nullptr;
  const Expression scores = numerator->operands[0]->operands[0],
                   largest = numerator->operands[0]->operands[1];
  const AffineExpr key = loop(attention.keyLoop());
  return largest->kind == Kind::Reduction &&
                 expressions.reducerOf(largest) == spmd::Reducer::Max &&
                 expressions.termOf(sum, key) == numerator &&
                 expressions.termOf(largest, key) == scores
             ? scores
             : nullptr;
}

/// Returns whether a condition is that the query is not before the key.
bool Matcher::isCausal(Expression condition) const {
  if (!condition->is("arith.cmpi"))
    return false;
  const auto predicate = cast<mlir::arith::CmpIPredicateAttr>(
                             condition->attributes.get("predicate"))
                             .getValue();
  const bool isLess = predicate == mlir::arith::CmpIPredicate::sle;
  if (!isLess && predicate != mlir::arith::CmpIPredicate::sge)
    return false;
  auto isLoop = [&](Expression index, unsigned number) {
    return index->kind == Kind::Index && index->indices[0] == loop(number);
  };
  return isLoop(condition->operands[isLess], attention.queryLoop()) &&
         isLoop(condition->operands[!isLess], attention.keyLoop());
}

/// Peels a mask off the scores. Rows that a mask with minus infinity hides are
/// nans, which the library does not promise.
bool Matcher::matchMask(Expression scores, Expression &hiding) {
  const Expression condition = scores->operands[0];
  attention.hidesWhereTrue = scores->operands[1]->isConstant();
  const Expression hidden = scores->operands[attention.hidesWhereTrue ? 1 : 2];
  hiding = scores->operands[attention.hidesWhereTrue ? 2 : 1];
  if (!hidden->isConstant())
    return false;
  attention.hidden = hidden->number;
  attention.isCausal = !attention.hidesWhereTrue && isCausal(condition);
  if (attention.isCausal)
    return true;
  attention.mask = tensorOf(condition);
  return attention.mask && std::isfinite(attention.hidden);
}

bool Matcher::matchScores(Expression scores) {
  if (scores->is("arith.select") && !matchMask(scores, scores))
    return false;
  if (scores->is("arith.addf")) {
    const bool isFirst =
        scores->operands[0]->kind == Kind::Element &&
        !scores->operands[0]->tensor.getDefiningOp<DotGeneralOp>();
    attention.bias = tensorOf(scores->operands[isFirst ? 0 : 1]);
    if (!attention.bias)
      return false;
    scores = scores->operands[isFirst ? 1 : 0];
  }
  const bool isQuotient = scores->is("arith.divf");
  if (isQuotient || scores->is("arith.mulf")) {
    const bool isFirst = !isQuotient && scores->operands[0]->isConstant();
    const Expression factor = scores->operands[isFirst ? 0 : 1];
    if (!factor->isConstant())
      return false;
    attention.scale = isQuotient ? 1 / factor->number : factor->number;
    scores = scores->operands[isFirst ? 1 : 0];
  }
  return scores->kind == Kind::Element && matchProduct(scores);
}

std::optional<Attention::Tensor> Matcher::tensorOf(Expression element) const {
  const auto buffer = element && element->kind == Kind::Element
                          ? buffers.find(element->tensor)
                          : buffers.end();
  if (buffer == buffers.end())
    return std::nullopt;
  Attention::Tensor tensor{.buffer = buffer->second};
  for (AffineExpr index : element->indices) {
    auto number = dyn_cast<mlir::AffineDimExpr>(index);
    auto constant = dyn_cast<mlir::AffineConstantExpr>(index);
    if (!number && (!constant || constant.getValue() != 0))
      return std::nullopt;
    tensor.loops.push_back(number ? std::optional(number.getPosition())
                                  : std::nullopt);
  }
  return tensor;
}

std::optional<Attention::Tensor>
Matcher::tensorOf(Value value, ArrayRef<AffineExpr> indices) {
  return tensorOf(expressions.elementOf(value, indices));
}

/// The scores are those of the queries and the keys, whose dims have the loops
/// of the result's.
bool Matcher::matchProduct(Expression element) {
  auto scores = element->tensor.getDefiningOp<DotGeneralOp>();
  if (!scores)
    return false;
  std::array sides{Side::of(scores, false), Side::of(scores, true)};
  std::array<SmallVector<AffineExpr>, 2> indices;
  ArrayRef<AffineExpr> next = element->indices;
  for (size_t side : {0, 1})
    indices[side].resize(spmd::globalShape(sides[side].value.getType()).size());
  for (auto [lhsDim, rhsDim] :
       llvm::zip_equal(sides[0].batching, sides[1].batching)) {
    indices[0][lhsDim] = indices[1][rhsDim] = next.front();
    next = next.drop_front();
  }
  std::optional<size_t> keys;
  for (size_t side : {0, 1})
    for (int64_t dim : sides[side].freeDims()) {
      indices[side][dim] = next.front();
      if (next.front() == loop(attention.keyLoop()))
        keys = side;
      next = next.drop_front();
    }
  if (!keys)
    return false;
  for (auto [lhsDim, rhsDim] :
       llvm::zip_equal(sides[0].contracting, sides[1].contracting))
    for (auto [side, dim] : {std::pair(0, lhsDim), std::pair(1, rhsDim)})
      indices[side][dim] =
          indexOf(sides[side].value, dim, attention.termLoop());
  if (!wideDim(sides[0].value, sides[0].contracting))
    return false;
  const auto query = tensorOf(sides[1 - *keys].value, indices[1 - *keys]),
             key = tensorOf(sides[*keys].value, indices[*keys]);
  if (!query || !key)
    return false;
  attention.query = *query;
  attention.key = *key;
  return true;
}

std::optional<Attention> Matcher::match() {
  if (!nameLoops())
    return std::nullopt;
  const Expression weight = expressions.elementOf(weights.value, weightIndices);
  const Expression scores = weight ? softmaxOf(weight) : nullptr;
  if (!scores || !matchScores(scores))
    return std::nullopt;
  SmallVector<AffineExpr> valueIndices(
      spmd::globalShape(values.value.getType()).size());
  SmallVector<AffineExpr> resultIndices;
  for (auto [here, there] :
       llvm::zip_equal(weights.batching, values.batching)) {
    valueIndices[there] = weightIndices[here];
    resultIndices.push_back(weightIndices[here]);
  }
  for (auto [here, there] :
       llvm::zip_equal(weights.contracting, values.contracting))
    valueIndices[there] = weightIndices[here];
  for (int64_t dim : values.freeDims())
    valueIndices[dim] = indexOf(values.value, dim, attention.columnLoop());
  for (bool isRight : {false, true})
    for (int64_t dim :
         isRight == areWeightsRight ? weights.freeDims() : values.freeDims())
      resultIndices.push_back(isRight == areWeightsRight ? weightIndices[dim]
                                                         : valueIndices[dim]);
  if (!wideDim(values.value, values.freeDims()))
    return std::nullopt;
  const auto value = tensorOf(values.value, valueIndices),
             result = tensorOf(product.getResult(), resultIndices);
  if (!value || !result)
    return std::nullopt;
  attention.value = *value;
  attention.result = *result;
  return attention;
}

std::vector<Attention> meshloom::findAttentions(mlir::func::FuncOp function,
                                                const LoweredProgram &lowered) {
  std::vector<Attention> found;
  function.walk([&](DotGeneralOp product) {
    for (bool areWeightsRight : {false, true})
      if (auto attention =
              Matcher(product, areWeightsRight, lowered.buffers).match())
        found.push_back(std::move(*attention));
  });
  return found;
}
