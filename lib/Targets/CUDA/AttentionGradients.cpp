// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AttentionGradients.h"

#include <array>
#include <cmath>
#include <map>

using namespace meshloom;
using mlir::AffineExpr;
using Kind = ElementExpression::Kind;
using Expression = ElementExpressions::Expression;

namespace {

/// The numbers of one query and five keys, of which a causal mask hides the
/// last one.
constexpr unsigned numKeys = 5;
constexpr int64_t sampleQuery = 3;
using PerKey = std::array<double, numKeys>;
constexpr PerKey sampleScores{0.3, -0.7, 0.5, 0.1, -0.2},
    sampleBias{0.2, -0.1, 0.4, 0.3, -0.5};
/// These say which keys each condition of a mask leaves to be seen.
constexpr std::array<std::array<bool, numKeys>, mostMaskConditions> sampleMasks{
    {{true, false, true, true, true}, {true, true, true, false, true}}};
/// The products of the result's gradient and the values.
constexpr PerKey sampleProducts{0.9, -0.4, 1.1, 0.6, -0.8};

/// The products that an attention's gradient consists of.
enum class Role : uint8_t { Query, Key, Value };

/// One of them: where its result and the gradient of the attention's result
/// lie.
struct GradientProduct {
  Role role;
  Operand result, gradient;
};

/// Holds the weights of one product against the numbers that an attention's
/// gradient has.
class GradientMatcher {
public:
  GradientMatcher(WeightedSum product, const DenseMap<Value, unsigned> &buffers)
      : product(std::move(product)), buffers(buffers) {}

  /// Finds the attention whose scores the weights are made of, and takes over
  /// its loops. Null: there is none.
  const MatchedAttention *
  attentionOf(const std::vector<MatchedAttention> &attentions);
  std::optional<GradientProduct> match();

private:
  const Attention &attention() const { return matched->attention; }
  AffineExpr loop(unsigned number) const {
    return mlir::getAffineDimExpr(number, product.weights().getContext());
  }
  bool dependsOnKey(const Operand &operand) const;
  static Expression findScores(Expression expression, Value scores,
                               llvm::DenseSet<Expression> &seen);
  /// Returns the number of an expression for one key.
  std::optional<double> evaluate(Expression expression, unsigned key);
  std::optional<double> compute(Expression expression, unsigned key);
  std::optional<double> numberOf(Expression element, unsigned key);
  std::optional<double> reduce(Expression reduction);
  /// Returns whether an element is a product of the result's gradient and the
  /// values.
  bool isProduct(Expression element);

  WeightedSum product;
  const DenseMap<Value, unsigned> &buffers;
  ElementExpressions expressions;
  const MatchedAttention *matched = nullptr;
  SmallVector<Expression> conditions; ///< of the mask, as expressions here
  std::optional<Operand> gradient;
  Expression products = nullptr; ///< the element that `gradient` is from
  std::map<std::pair<Expression, unsigned>, std::optional<double>> evaluated;
};

} // namespace

bool GradientMatcher::dependsOnKey(const Operand &operand) const {
  return operand.dependsOn(attention().keyLoop());
}

Expression GradientMatcher::findScores(Expression expression, Value scores,
                                       llvm::DenseSet<Expression> &seen) {
  if (!seen.insert(expression).second)
    return nullptr;
  if (expression->kind == Kind::Element && expression->tensor == scores)
    return expression;
  for (Expression operand : expression->operands)
    if (Expression found = findScores(operand, scores, seen))
      return found;
  return nullptr;
}

const MatchedAttention *
GradientMatcher::attentionOf(const std::vector<MatchedAttention> &attentions) {
  const Expression weight =
      expressions.elementOf(product.weights(), product.weightIndices());
  if (!weight)
    return nullptr;
  for (const MatchedAttention &candidate : attentions) {
    llvm::DenseSet<Expression> seen;
    const Expression scores = findScores(weight, candidate.scores, seen);
    if (!scores)
      continue;
    // The loops of the product, as the attention numbers them.
    SmallVector<AffineExpr> loops(product.batchLoops() + 2);
    for (auto [here, there] :
         llvm::zip_equal(scores->indices, candidate.scoreIndices))
      if (auto number = dyn_cast<mlir::AffineDimExpr>(here))
        loops[number.getPosition()] = there;
      else if (here != there)
        return nullptr;
    if (llvm::is_contained(loops, AffineExpr()) ||
        product.batchLoops() != candidate.attention.batchLoops)
      return nullptr;
    SmallVector<AffineExpr> indices;
    for (AffineExpr index : product.weightIndices())
      indices.push_back(index.replaceDims(loops));
    product.setWeightIndices(indices);
    for (const MaskCondition &condition : candidate.conditions)
      conditions.push_back(expressions.copyOf(condition.expression));
    return matched = &candidate;
  }
  return nullptr;
}

bool GradientMatcher::isProduct(Expression element) {
  if (products)
    return element == products;
  const auto factors = factorsOf(element, attention().keyLoop(),
                                 attention().columnLoop(), buffers);
  if (!factors || factors->column != attention().value)
    return false;
  gradient = factors->row;
  products = element;
  return true;
}

std::optional<double> GradientMatcher::numberOf(Expression element,
                                                unsigned key) {
  if (element->tensor == matched->scores)
    return element->indices == matched->scoreIndices
               ? std::optional(sampleScores[key])
               : std::nullopt;
  const auto operand = operandOf(element, buffers);
  if (operand && operand == attention().bias)
    return sampleBias[dependsOnKey(*operand) ? key : 0];
  return isProduct(element) ? std::optional(sampleProducts[key]) : std::nullopt;
}

std::optional<double> GradientMatcher::reduce(Expression reduction) {
  const AffineExpr key = loop(attention().keyLoop());
  const auto type = cast<RankedTensorType>(matched->scores.getType());
  const auto dim = llvm::find(matched->scoreIndices, key);
  if (dim == matched->scoreIndices.end() ||
      llvm::is_contained(reduction->indices, key))
    return std::nullopt;
  const int64_t extent =
      spmd::globalShape(type)[dim - matched->scoreIndices.begin()];
  const Expression term = expressions.termOf(reduction, key, extent);
  const spmd::Reducer reducer = ElementExpressions::reducerOf(reduction);
  const bool isSum = reducer == spmd::Reducer::Sum;
  if (!term || (!isSum && reducer != spmd::Reducer::Max))
    return std::nullopt;
  double result = isSum ? 0 : -HUGE_VAL;
  for (unsigned k = 0; k < numKeys; ++k) {
    const auto number = evaluate(term, k);
    if (!number)
      return std::nullopt;
    result = isSum ? result + *number : std::max(result, *number);
  }
  return result;
}

std::optional<double> GradientMatcher::compute(Expression expression,
                                               unsigned key) {
  const size_t condition =
      llvm::find(conditions, expression) - conditions.begin();
  if (condition != conditions.size())
    return double(sampleMasks[condition][key] !=
                  matched->conditions[condition].hidesWhereTrue);
  switch (expression->kind) {
  case Kind::Index:
    if (expression->indices[0] == loop(attention().queryLoop()))
      return double(sampleQuery);
    if (expression->indices[0] == loop(attention().keyLoop()))
      return double(key);
    return std::nullopt;
  case Kind::Element:
    return numberOf(expression, key);
  case Kind::Reduction:
    return reduce(expression);
  case Kind::Constant:
  case Kind::Operation:
    break;
  }
  return ElementExpressions::evaluate(
      expression, [&](Expression operand) { return evaluate(operand, key); });
}

std::optional<double> GradientMatcher::evaluate(Expression expression,
                                                unsigned key) {
  const auto found = evaluated.find({expression, key});
  if (found != evaluated.end())
    return found->second;
  const auto number = compute(expression, key);
  evaluated[{expression, key}] = number;
  return number;
}

/// The weights and the gradients of the scores for the sample numbers.
struct Expected {
  PerKey weights{}, scores{};
};

static Expected expectedOf(const MatchedAttention &matched,
                           llvm::function_ref<bool(const Operand &)> hasKeys) {
  const Attention &attention = matched.attention;
  Expected expected;
  double sum = 0, mean = 0;
  std::array<bool, numKeys> isHidden{};
  for (unsigned key = 0; key < numKeys; ++key) {
    double score = attention.scale * sampleScores[key];
    if (attention.bias)
      score += sampleBias[hasKeys(*attention.bias) ? key : 0];
    if (attention.isCausal)
      isHidden[key] = key > sampleQuery;
    for (size_t number = 0; number < matched.conditions.size(); ++number)
      isHidden[key] |= !sampleMasks[number][key];
    expected.weights[key] = std::exp(isHidden[key] ? attention.hidden : score);
    sum += expected.weights[key];
  }
  for (unsigned key = 0; key < numKeys; ++key) {
    expected.weights[key] /= sum;
    mean += expected.weights[key] * sampleProducts[key];
  }
  for (unsigned key = 0; key < numKeys; ++key)
    expected.scores[key] = isHidden[key]
                               ? 0
                               : attention.scale * expected.weights[key] *
                                     (sampleProducts[key] - mean);
  return expected;
}

static bool areClose(const PerKey &numbers, const PerKey &expected) {
  constexpr double tolerance = 1e-6;
  for (unsigned key = 0; key < numKeys; ++key)
    if (!(std::abs(numbers[key] - expected[key]) <= tolerance))
      return false;
  return true;
}

std::optional<GradientProduct> GradientMatcher::match() {
  const Expression weight =
      expressions.elementOf(product.weights(), product.weightIndices());
  PerKey numbers{};
  for (unsigned key = 0; key < numKeys; ++key) {
    const auto number = weight ? evaluate(weight, key) : std::nullopt;
    if (!number)
      return std::nullopt;
    numbers[key] = *number;
  }
  const Expected expected = expectedOf(
      *matched, [&](const Operand &operand) { return dependsOnKey(operand); });
  auto values = [&](unsigned column) {
    return product.valueOperand(column, buffers);
  };
  auto found = [&](Role role,
                   unsigned column) -> std::optional<GradientProduct> {
    const auto result = product.resultOperand(column, buffers);
    if (!result || !gradient || dependsOnKey(*gradient))
      return std::nullopt;
    return GradientProduct{role, *result, *gradient};
  };
  const unsigned term = attention().termLoop(),
                 column = attention().columnLoop();
  if (areClose(numbers, expected.scores)) {
    if (values(term) == attention().key)
      return found(Role::Query, term);
    if (values(term) == attention().query)
      return found(Role::Key, term);
  }
  if (areClose(numbers, expected.weights)) {
    gradient = values(column);
    return found(Role::Value, column);
  }
  return std::nullopt;
}

void meshloom::findGradients(std::vector<MatchedAttention> &attentions,
                             ArrayRef<WeightedSum> products,
                             const DenseMap<Value, unsigned> &buffers) {
  struct Candidate {
    std::array<std::optional<Operand>, 3> results; ///< by their roles
    std::optional<Operand> gradient;
    bool isUnique = true;
  };
  std::vector<Candidate> candidates(attentions.size());
  for (const WeightedSum &product : products) {
    GradientMatcher matcher(product, buffers);
    const MatchedAttention *attention = matcher.attentionOf(attentions);
    const auto found = attention ? matcher.match() : std::nullopt;
    if (!found)
      continue;
    Candidate &candidate = candidates[attention - attentions.data()];
    auto &result = candidate.results[size_t(found->role)];
    candidate.isUnique &= !result && candidate.gradient.value_or(
                                         found->gradient) == found->gradient;
    candidate.gradient = found->gradient;
    result = found->result;
  }
  for (auto [matched, candidate] : llvm::zip_equal(attentions, candidates)) {
    const auto &[query, key, value] = candidate.results;
    if (candidate.isUnique && query && key && value)
      matched.attention.gradient = {*candidate.gradient, *query, *key, *value};
  }
}
