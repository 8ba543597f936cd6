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
        context(this->product.weights().getContext()),
        expressions(*matched.expressions) {}

  std::optional<MatchedAttention> match();

private:
  AffineExpr loop(unsigned number) const {
    return mlir::getAffineDimExpr(number, context);
  }
  /// The scores of the softmax that the weights are; null: they are none.
  Expression softmaxOf(Expression weight);
  bool matchScores(Expression scores);
  /// Peels a mask off the scores. Returns false where it is not one.
  bool peelMask(Expression &scores);
  std::optional<double> numberAt(Expression expression, int64_t query,
                                 int64_t key) const;
  bool isCausal(Expression condition) const;
  bool matchProduct(Expression element);

  WeightedSum product;
  const DenseMap<Value, unsigned> &buffers;
  mlir::MLIRContext *const context;
  MatchedAttention matched;
  ElementExpressions &expressions;
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

/// Several conditions hide with the same number.
bool Matcher::peelMask(Expression &scores) {
  MaskCondition condition{scores->operands[0],
                          scores->operands[1]->isConstant()};
  const Expression hidden = scores->operands[condition.hidesWhereTrue ? 1 : 2];
  if (!hidden->isConstant() ||
      (!matched.conditions.empty() && attention.hidden != hidden->number) ||
      matched.conditions.size() == mostMaskConditions)
    return false;
  attention.hidden = hidden->number;
  scores = scores->operands[condition.hidesWhereTrue ? 2 : 1];
  matched.conditions.push_back(condition);
  return true;
}

bool Matcher::matchScores(Expression scores) {
  while (scores->is("arith.select"))
    if (!peelMask(scores))
      return false;
  if (matched.conditions.size() == 1 && !matched.conditions[0].hidesWhereTrue &&
      isCausal(matched.conditions[0].expression)) {
    attention.isCausal = true;
    matched.conditions.clear();
  }
  // Rows that a mask with minus infinity hides are nans, which the library does
  // not promise.
  if (!matched.conditions.empty() && !std::isfinite(attention.hidden))
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
  return std::move(matched);
}

/// Adds the kernel of an attention's mask. Returns false where it has none.
static bool addMask(MatchedAttention &matched,
                    const DenseMap<Value, unsigned> &buffers, ModuleOp masks,
                    std::vector<std::pair<std::string, Operation *>> &kernels) {
  if (matched.conditions.empty())
    return true;
  SmallVector<int64_t> extents(matched.attention.keyLoop() + 1, 1);
  for (auto [index, extent] : llvm::zip_equal(
           matched.scoreIndices, spmd::globalShape(matched.scores.getType())))
    if (auto loop = dyn_cast<mlir::AffineDimExpr>(index))
      extents[loop.getPosition()] = extent;
  matched.attention.mask =
      buildMask(matched.conditions, extents, buffers, masks, kernels);
  return matched.attention.mask.has_value();
}

std::vector<Attention> meshloom::findAttentions(
    mlir::func::FuncOp function, const LoweredProgram &lowered, ModuleOp masks,
    std::vector<std::pair<std::string, Operation *>> &kernels) {
  std::vector<MatchedAttention> found;
  std::vector<WeightedSum> others;
  function.walk([&](DotGeneralOp product) {
    for (bool areWeightsRight : {false, true})
      if (auto sum = WeightedSum::of(product, areWeightsRight)) {
        auto attention = sum->sumsGroups()
                             ? std::nullopt
                             : Matcher(*sum, lowered.buffers).match();
        if (attention && addMask(*attention, lowered.buffers, masks, kernels))
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
