// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a product back: one of its operands is a softmax, of the scores of an
// earlier product.
#include "AttentionForms.h"

#include "AttentionGradients.h"
#include "WeightedSum.h"

#include <cmath>

using namespace meshloom;
using dtensor::DotGeneralOp;
using mlir::AffineExpr;
using Kind = ElementExpression::Kind;
using Expression = ElementExpressions::Expression;

namespace {

/// Matches one attention, whose weights are those of a product.
class Matcher {
public:
  Matcher(WeightedSum product, const DenseMap<Value, unsigned> &buffers)
      : product(std::move(product)), buffers(buffers),
        context(this->product.weights().getContext()) {}

  std::optional<MatchedAttention> match();

private:
  AffineExpr loop(unsigned number) const {
    return mlir::getAffineDimExpr(number, context);
  }
  /// The scores of the softmax that the weights are; null: they are none.
  Expression softmaxOf(Expression weight);
  bool matchScores(Expression scores);
  bool matchMask(Expression scores, Expression &hiding);
  std::optional<double> numberAt(Expression expression, int64_t query,
                                 int64_t key) const;
  bool isCausal(Expression condition) const;
  bool matchProduct(Expression element);

  WeightedSum product;
  const DenseMap<Value, unsigned> &buffers;
  mlir::MLIRContext *const context;
  ElementExpressions expressions;
  MatchedAttention matched;
  Attention &attention = matched.attention;
};

} // namespace

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
                 expressions.termOf(sum, key, product.terms()) == numerator &&
                 expressions.termOf(largest, key, product.terms()) == scores
             ? scores
             : nullptr;
}

/// Returns the number of an expression of indices; nothing where it has
/// elements.
std::optional<double> Matcher::numberAt(Expression expression, int64_t query,
                                        int64_t key) const {
  if (expression->kind == Kind::Index) {
    if (expression->indices[0] == loop(attention.queryLoop()))
      return double(query);
    if (expression->indices[0] == loop(attention.keyLoop()))
      return double(key);
    return std::nullopt;
  }
  return ElementExpressions::evaluate(expression, [&](Expression operand) {
    return numberAt(operand, query, key);
  });
}

/// Returns whether a condition is that the query is not before the key, however
/// it is written: for all keys of some queries, all queries of some keys, and
/// around the diagonal.
bool Matcher::isCausal(Expression condition) const {
  const auto [queries, keys] = product.weightExtents();
  auto holds = [&](int64_t query, int64_t key) {
    if (query < 0 || query >= queries || key < 0 || key >= keys)
      return true;
    const auto number = numberAt(condition, query, key);
    return number && (*number != 0) == (query >= key);
  };
  for (int64_t query : {int64_t(0), int64_t(1), queries / 2, queries - 1})
    for (int64_t key = 0; key < keys; ++key)
      if (!holds(query, key))
        return false;
  for (int64_t key : {int64_t(0), int64_t(1), keys / 2, keys - 1})
    for (int64_t query = 0; query < queries; ++query)
      if (!holds(query, key))
        return false;
  for (int64_t query = 0; query < queries; ++query)
    for (int64_t key : {query - 1, query, query + 1})
      if (!holds(query, key))
        return false;
  return true;
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
  attention.mask = operandOf(condition, buffers);
  attention.isCausal =
      !attention.mask && !attention.hidesWhereTrue && isCausal(condition);
  if (attention.isCausal)
    return true;
  return attention.mask && std::isfinite(attention.hidden);
}

bool Matcher::matchScores(Expression scores) {
  if (scores->is("arith.select") && !matchMask(scores, scores))
    return false;
  if (scores->is("arith.addf")) {
    const bool isFirst =
        scores->operands[0]->kind == Kind::Element &&
        !scores->operands[0]->tensor.getDefiningOp<DotGeneralOp>();
    attention.bias = operandOf(scores->operands[isFirst ? 0 : 1], buffers);
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

/// The scores are those of the queries and the keys, whose dims have the loops
/// of the result's.
bool Matcher::matchProduct(Expression element) {
  const auto factors =
      factorsOf(element, attention.keyLoop(), attention.termLoop(), buffers);
  const auto scores = operandOf(element, buffers);
  if (!factors || !scores)
    return false;
  attention.query = factors->row;
  attention.key = factors->column;
  attention.terms = factors->terms;
  attention.scores = *scores;
  matched.scores = element->tensor;
  matched.scoreIndices = element->indices;
  return true;
}

std::optional<MatchedAttention> Matcher::match() {
  attention.batchLoops = product.batchLoops();
  attention.columns = product.columns();
  const Expression weight =
      expressions.elementOf(product.weights(), product.weightIndices());
  const Expression scores = weight ? softmaxOf(weight) : nullptr;
  if (!scores || !matchScores(scores))
    return std::nullopt;
  const unsigned column = attention.columnLoop();
  const auto value = product.valueOperand(column, buffers),
             result = product.resultOperand(column, buffers);
  if (!value || !result)
    return std::nullopt;
  attention.value = *value;
  attention.result = *result;
  return matched;
}

std::vector<Attention> meshloom::findAttentions(mlir::func::FuncOp function,
                                                const LoweredProgram &lowered) {
  std::vector<MatchedAttention> found;
  std::vector<WeightedSum> others;
  function.walk([&](DotGeneralOp product) {
    for (bool areWeightsRight : {false, true})
      if (auto sum = WeightedSum::of(product, areWeightsRight)) {
        if (auto attention = Matcher(*sum, lowered.buffers).match())
          found.push_back(std::move(*attention));
        else
          others.push_back(std::move(*sum));
      }
  });
  if (!found.empty())
    findGradients(found, others, lowered.buffers);
  std::vector<Attention> attentions;
  for (MatchedAttention &matched : found)
    attentions.push_back(std::move(matched.attention));
  return attentions;
}
