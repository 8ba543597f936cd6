// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention as a graph of cuDNN's: the operations that its engines of attention
// look for, in their order. They expect the logarithm of the sums of each row,
// also where nobody needs it.
#include "DnnGraph.h"

#include "meshloom/Runtime/BoxCopy.h"

#include <utility>

using namespace meshloom;
using namespace meshloom::cuda;

DnnAttention::Node DnnAttention::addProduct(Node a, Node b, Node result) {
  DnnDescriptor &product = add(DnnObject::Matmul);
  product.set(DnnAttribute::MatmulCompute, DnnValue::DataType, DnnType::F32);
  product.finish();
  DnnDescriptor &operation = add(DnnObject::MatmulOperation);
  operation.set(DnnAttribute::MatmulMatmul, product);
  operation.set(DnnAttribute::MatmulA, *a);
  operation.set(DnnAttribute::MatmulB, *b);
  operation.set(DnnAttribute::MatmulC, *result);
  addOperation(operation);
  return result;
}

DnnAttention::Node DnnAttention::addPointwise(DnnPointwise mode, Node x, Node b,
                                              Node result, Node condition,
                                              std::optional<int64_t> axis) {
  DnnDescriptor &pointwise = add(DnnObject::Pointwise);
  pointwise.set(DnnAttribute::PointwiseMode, DnnValue::PointwiseMode, mode);
  pointwise.set(DnnAttribute::PointwiseCompute, DnnValue::DataType,
                DnnType::F32);
  if (axis)
    pointwise.set(DnnAttribute::PointwiseAxis, DnnValue::Int64, *axis);
  pointwise.finish();
  DnnDescriptor &operation = add(DnnObject::PointwiseOperation);
  operation.set(DnnAttribute::PointwisePointwise, pointwise);
  operation.set(DnnAttribute::PointwiseX, *x);
  if (b)
    operation.set(DnnAttribute::PointwiseB, *b);
  if (condition)
    operation.set(DnnAttribute::PointwiseCondition, *condition);
  operation.set(DnnAttribute::PointwiseY, *result);
  addOperation(operation);
  return result;
}

DnnAttention::Node DnnAttention::addReduction(DnnReduction mode, Node x,
                                              Node result) {
  DnnDescriptor &reduction = add(DnnObject::Reduction);
  reduction.set(DnnAttribute::ReductionOperator, DnnValue::ReductionOperator,
                mode);
  reduction.set(DnnAttribute::ReductionCompute, DnnValue::DataType,
                DnnType::F32);
  reduction.finish();
  DnnDescriptor &operation = add(DnnObject::ReductionOperation);
  operation.set(DnnAttribute::ReductionReduction, reduction);
  operation.set(DnnAttribute::ReductionX, *x);
  operation.set(DnnAttribute::ReductionY, *result);
  addOperation(operation);
  return result;
}

DnnAttention::Node
DnnAttention::addTurned(Node x, const std::vector<int64_t> &extents,
                        const std::vector<int64_t> &strides) {
  Shape shape{type, extents, strides};
  std::swap(shape.extents[2], shape.extents[3]);
  std::swap(shape.strides[2], shape.strides[3]);
  const Node result = &addIntermediate(shape);
  DnnDescriptor &operation = add(DnnObject::ReshapeOperation);
  operation.set(DnnAttribute::ReshapeX, *x);
  operation.set(DnnAttribute::ReshapeY, *result);
  addOperation(operation);
  return result;
}

DnnAttention::Node DnnAttention::addOperand(const DnnMatrices &matrices) {
  return &addTensor({dnnTypeOf(matrices.type),
                     {matrices.extents.begin(), matrices.extents.end()},
                     {matrices.strides.begin(), matrices.strides.end()},
                     matrices.alignment},
                    matrices.operand, 0);
}

/// Returns the extents of the scores.
static std::vector<int64_t> scoresOf(const AttentionShape &attention) {
  return {attention.query.extents[0], attention.query.extents[1],
          attention.query.extents[2], attention.key.extents[3]};
}

DnnAttention::Node DnnAttention::addScores() {
  return &addIntermediate(DnnType::F32, scoresOf(attention));
}

static std::vector<int64_t> rowsOf(const AttentionShape &attention) {
  std::vector<int64_t> rows = scoresOf(attention);
  rows.back() = 1;
  return rows;
}

DnnAttention::Node DnnAttention::addRows() {
  return &addIntermediate(DnnType::F32, rowsOf(attention));
}

DnnAttention::Node DnnAttention::addNumber(float value) {
  return &addScalar(value, attention.query.extents.size());
}

/// Engines read no truth values from memory. The words of a mask are 0, or
/// larger than each index.
DnnAttention::Node DnnAttention::addMask(Node scores) {
  const std::vector<int64_t> extents = scoresOf(attention);
  auto index = [&](int64_t axis) {
    return addPointwise(DnnPointwise::Index, scores, nullptr,
                        &addIntermediate(DnnType::I32, extents), nullptr, axis);
  };
  constexpr int64_t rowAxis = 2, columnAxis = 3;
  isSeen = &addIntermediate(DnnType::Boolean, extents);
  if (attention.isCausal) {
    const Node row = index(rowAxis), column = index(columnAxis);
    addPointwise(DnnPointwise::IsGreaterOrEqual, row, column, isSeen);
  } else {
    addPointwise(DnnPointwise::IsLess, index(columnAxis),
                 addOperand(*attention.mask), isSeen);
  }
  return addPointwise(DnnPointwise::Select, scores, addNumber(attention.hidden),
                      addScores(), isSeen);
}

DnnAttention::Node DnnAttention::addScaledScores() {
  query = addOperand(attention.query);
  key = addOperand(attention.key);
  Node scores = addProduct(query, key, addScores());
  if (attention.scale != 1)
    scores = addPointwise(DnnPointwise::Multiply, scores,
                          addNumber(attention.scale), addScores());
  if (attention.bias)
    scores = addPointwise(DnnPointwise::Add, scores,
                          addOperand(*attention.bias), addScores());
  return attention.isCausal || attention.mask ? addMask(scores) : scores;
}

void DnnAttention::addResult(Node scores) {
  auto rows = [&](const std::optional<DnnMatrices> &stored) {
    return stored ? addOperand(*stored) : addRows();
  };
  const Node largest =
      addReduction(DnnReduction::Largest, scores, rows(attention.largest));
  const Node distance =
      addPointwise(DnnPointwise::Subtract, scores, largest, addScores());
  const Node power =
      addPointwise(DnnPointwise::Exponential, distance, nullptr, addScores());
  const Node sum = addReduction(DnnReduction::Sum, power, rows(attention.sums));
  const Node logarithm =
      addPointwise(DnnPointwise::Logarithm, sum, nullptr, addRows());
  addPointwise(DnnPointwise::Add, largest, logarithm,
               rows(attention.logarithms));
  const Node weights =
      addPointwise(DnnPointwise::Divide, power, sum,
                   &addIntermediate(type, scoresOf(attention)));
  addProduct(weights, addOperand(attention.value),
             addOperand(attention.result));
}

/// Heads of a group have one result, which is the sum of theirs.
void DnnAttention::addTurnedProduct(Node scores, Node rows,
                                    const DnnMatrices &result) {
  const std::vector<int64_t> extents = scoresOf(attention);
  const Node turned = addTurned(scores, extents, rowMajorStrides(extents));
  std::vector<int64_t> ofHeads(result.extents.begin(), result.extents.end());
  constexpr size_t heads = 1;
  if (ofHeads[heads] == extents[heads]) {
    addProduct(turned, rows, addOperand(result));
    return;
  }
  ofHeads[heads] = extents[heads];
  addReduction(
      DnnReduction::Sum,
      addProduct(turned, rows, &addIntermediate(DnnType::F32, ofHeads)),
      addOperand(result));
}

/// The gradient of a weight is `resultGradient` times the value, and their sum
/// over all keys with the weights is `resultGradient` times the result. Engines
/// expect that sum in memory, and a product with 1 in front of it.
///
/// An engine that adds up the query's gradient in memory does so in any order;
/// this graph has none, so that each run gives the same bits.
void DnnAttention::addGradient(Node scores) {
  const Node gradient = addOperand(attention.resultGradient);
  std::vector<int64_t> extents(attention.result.extents.begin(),
                               attention.result.extents.end());
  const Node products = addPointwise(DnnPointwise::Multiply, gradient,
                                     addOperand(attention.result),
                                     &addIntermediate(DnnType::F32, extents));
  const Node sum =
      addPointwise(DnnPointwise::Multiply,
                   addReduction(DnnReduction::Sum, products, addRows()),
                   addNumber(1), &addScratch(rowsOf(attention)));
  const Node rows = addOperand(attention.logarithms ? *attention.logarithms
                                                    : *attention.largest);
  Node weights = addPointwise(
      DnnPointwise::Exponential,
      addPointwise(DnnPointwise::Subtract, scores, rows, addScores()), nullptr,
      addScores());
  if (attention.sums)
    weights = addPointwise(DnnPointwise::Divide, weights,
                           addOperand(*attention.sums), addScores());
  addTurnedProduct(weights, gradient, attention.valueGradient);

  DnnMatrices values = attention.value;
  std::swap(values.extents[2], values.extents[3]);
  std::swap(values.strides[2], values.strides[3]);
  Node scoreGradient = addProduct(gradient, addOperand(values), addScores());
  scoreGradient =
      addPointwise(DnnPointwise::Subtract, scoreGradient, sum, addScores());
  scoreGradient =
      addPointwise(DnnPointwise::Multiply, scoreGradient, weights, addScores());
  // A row that a mask hides as a whole has weights, which depend on nothing.
  if (attention.mask)
    scoreGradient = addPointwise(DnnPointwise::Select, scoreGradient,
                                 addNumber(0), addScores(), isSeen);
  if (attention.scale != 1)
    scoreGradient = addPointwise(DnnPointwise::Multiply, scoreGradient,
                                 addNumber(attention.scale), addScores());
  addTurnedProduct(scoreGradient, query, attention.keyGradient);
  const Node keys = addTurned(
      key, {attention.key.extents.begin(), attention.key.extents.end()},
      {attention.key.strides.begin(), attention.key.strides.end()});
  addProduct(scoreGradient, keys, addOperand(attention.queryGradient));
}

DnnAttention::DnnAttention(const DnnLibrary &library, DnnHandle handle,
                           std::mutex &running, const AttentionShape &attention)
    : DnnGraph(library, handle, running, attention.type), attention(attention),
      type(dnnTypeOf(attention.type)) {
  const Node scores = addScaledScores();
  if (attention.form == AttentionForm::Gradient)
    addGradient(scores);
  else
    addResult(scores);
}
