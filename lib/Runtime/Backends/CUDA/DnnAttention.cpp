// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention as a graph of cuDNN's: the operations that its engines of attention
// look for, in their order. They expect the logarithm of the sums of each row,
// also where nobody needs it.
#include "DnnGraph.h"

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

DnnAttention::Node DnnAttention::addOperand(const DnnMatrices &matrices,
                                            DnnType type) {
  return &addTensor({type,
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

DnnAttention::Node DnnAttention::addMask(const AttentionShape &attention,
                                         Node scores) {
  const std::vector<int64_t> extents = scoresOf(attention);
  Node isSeen = nullptr;
  if (attention.isCausal) {
    auto index = [&](int64_t axis) {
      return addPointwise(DnnPointwise::Index, scores, nullptr,
                          &addIntermediate(DnnType::I32, extents), nullptr,
                          axis);
    };
    const Node row = index(2), column = index(3);
    isSeen = addPointwise(DnnPointwise::IsGreaterOrEqual, row, column,
                          &addIntermediate(DnnType::Boolean, extents));
  } else {
    isSeen = addOperand(*attention.mask, DnnType::Boolean);
  }
  Node hidden = &addScalar(attention.hidden, extents.size());
  if (attention.hidesWhereTrue)
    std::swap(scores, hidden);
  return addPointwise(DnnPointwise::Select, scores, hidden,
                      &addIntermediate(DnnType::F32, extents), isSeen);
}

DnnAttention::DnnAttention(const DnnLibrary &library, DnnHandle handle,
                           std::mutex &running, const AttentionShape &attention)
    : DnnGraph(library, handle, running, attention.type) {
  const DnnType type = dnnTypeOf(attention.type);
  const std::vector<int64_t> extents = scoresOf(attention);
  std::vector<int64_t> rows = extents;
  rows.back() = 1;
  auto score = [&] { return &addIntermediate(DnnType::F32, extents); };
  auto row = [&] { return &addIntermediate(DnnType::F32, rows); };
  Node scores = addProduct(addOperand(attention.query, type),
                           addOperand(attention.key, type), score());
  if (attention.scale != 1)
    scores = addPointwise(DnnPointwise::Multiply, scores,
                          &addScalar(attention.scale, extents.size()), score());
  if (attention.bias)
    scores = addPointwise(
        DnnPointwise::Add, scores,
        addOperand(*attention.bias, dnnTypeOf(attention.biasType)), score());
  if (attention.isCausal || attention.mask)
    scores = addMask(attention, scores);
  const Node largest = addReduction(DnnReduction::Largest, scores, row());
  const Node distance =
      addPointwise(DnnPointwise::Subtract, scores, largest, score());
  const Node power =
      addPointwise(DnnPointwise::Exponential, distance, nullptr, score());
  const Node sum = addReduction(DnnReduction::Sum, power, row());
  const Node logarithm =
      addPointwise(DnnPointwise::Logarithm, sum, nullptr, row());
  addPointwise(DnnPointwise::Add, largest, logarithm, row());
  const Node weights = addPointwise(DnnPointwise::Divide, power, sum,
                                    &addIntermediate(type, extents));
  addProduct(weights, addOperand(attention.value, type),
             addOperand(attention.result, type));
}
