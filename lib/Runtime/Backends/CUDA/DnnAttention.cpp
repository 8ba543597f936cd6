// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention as a graph of cuDNN's: the operations that its engines of attention
// look for, in their order. They expect the logarithm of the sums of each row,
// also where nobody needs it.
#include "DnnGraph.h"

using namespace meshloom;
using namespace meshloom::cuda;

const DnnDescriptor &DnnAttention::addProduct(const DnnDescriptor &a,
                                              const DnnDescriptor &b,
                                              const DnnDescriptor &result) {
  DnnDescriptor &product = add(DnnObject::Matmul);
  product.set(DnnAttribute::MatmulCompute, DnnValue::DataType, DnnType::F32);
  product.finish();
  DnnDescriptor &operation = add(DnnObject::MatmulOperation);
  operation.set(DnnAttribute::MatmulMatmul, product);
  operation.set(DnnAttribute::MatmulA, a);
  operation.set(DnnAttribute::MatmulB, b);
  operation.set(DnnAttribute::MatmulC, result);
  addOperation(operation);
  return result;
}

const DnnDescriptor &DnnAttention::addPointwise(DnnPointwise mode,
                                                const DnnDescriptor &x,
                                                const DnnDescriptor *b,
                                                const DnnDescriptor &result,
                                                const DnnDescriptor *condition,
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
  operation.set(DnnAttribute::PointwiseX, x);
  if (b)
    operation.set(DnnAttribute::PointwiseB, *b);
  if (condition)
    operation.set(DnnAttribute::PointwiseCondition, *condition);
  operation.set(DnnAttribute::PointwiseY, result);
  addOperation(operation);
  return result;
}

const DnnDescriptor &DnnAttention::addReduction(DnnReduction mode,
                                                const DnnDescriptor &x,
                                                const DnnDescriptor &result) {
  DnnDescriptor &reduction = add(DnnObject::Reduction);
  reduction.set(DnnAttribute::ReductionOperator, DnnValue::ReductionOperator,
                mode);
  reduction.set(DnnAttribute::ReductionCompute, DnnValue::DataType,
                DnnType::F32);
  reduction.finish();
  DnnDescriptor &operation = add(DnnObject::ReductionOperation);
  operation.set(DnnAttribute::ReductionReduction, reduction);
  operation.set(DnnAttribute::ReductionX, x);
  operation.set(DnnAttribute::ReductionY, result);
  addOperation(operation);
  return result;
}

/// Returns the extents of the scores.
static std::vector<int64_t> scoresOf(const AttentionShape &attention) {
  return {attention.query.extents[0], attention.query.extents[1],
          attention.query.extents[2], attention.key.extents[3]};
}

const DnnDescriptor &DnnAttention::addMask(const AttentionShape &attention,
                                           const DnnDescriptor &scores) {
  const Extents extents = scoresOf(attention);
  const DnnDescriptor *isSeen = nullptr;
  if (attention.isCausal) {
    auto index = [&](int64_t axis) -> const DnnDescriptor & {
      return addPointwise(DnnPointwise::Index, scores, nullptr,
                          addIntermediate(DnnType::I32, extents), nullptr,
                          axis);
    };
    const DnnDescriptor &row = index(2), &column = index(3);
    isSeen = &addPointwise(DnnPointwise::IsGreaterOrEqual, row, &column,
                           addIntermediate(DnnType::Boolean, extents));
  } else {
    const AttentionShape::Tensor &mask = *attention.mask;
    isSeen = &addTensor({DnnType::Boolean,
                         {mask.extents.begin(), mask.extents.end()},
                         {mask.strides.begin(), mask.strides.end()},
                         mask.alignment},
                        mask.operand, 0);
  }
  const DnnDescriptor &hidden = addScalar(attention.hidden, extents.size()),
                      &result = addIntermediate(DnnType::F32, extents);
  return attention.hidesWhereTrue ? addPointwise(DnnPointwise::Select, hidden,
                                                 &scores, result, isSeen)
                                  : addPointwise(DnnPointwise::Select, scores,
                                                 &hidden, result, isSeen);
}

DnnAttention::DnnAttention(const DnnLibrary &library, DnnHandle handle,
                           std::mutex &running, const AttentionShape &attention)
    : DnnGraph(library, handle, running, attention.type) {
  const DnnType type = dnnTypeOf(attention.type);
  auto operand = [&](const AttentionShape::Tensor &tensor,
                     DnnType type) -> const DnnDescriptor & {
    return addTensor({type,
                      {tensor.extents.begin(), tensor.extents.end()},
                      {tensor.strides.begin(), tensor.strides.end()},
                      tensor.alignment},
                     tensor.operand, 0);
  };
  const Extents extents = scoresOf(attention);
  Extents rows = extents;
  rows.back() = 1;
  auto score = [&]() -> const DnnDescriptor & {
    return addIntermediate(DnnType::F32, extents);
  };
  auto row = [&]() -> const DnnDescriptor & {
    return addIntermediate(DnnType::F32, rows);
  };
  const DnnDescriptor *scores = &addProduct(
      operand(attention.query, type), operand(attention.key, type), score());
  if (attention.scale != 1)
    scores =
        &addPointwise(DnnPointwise::Multiply, *scores,
                      &addScalar(attention.scale, extents.size()), score());
  if (attention.bias)
    scores = &addPointwise(
        DnnPointwise::Add, *scores,
        &operand(*attention.bias, dnnTypeOf(attention.biasType)), score());
  if (attention.isCausal || attention.mask)
    scores = &addMask(attention, *scores);
  const DnnDescriptor &largest =
      addReduction(DnnReduction::Largest, *scores, row());
  const DnnDescriptor &power = addPointwise(
      DnnPointwise::Exponential,
      addPointwise(DnnPointwise::Subtract, *scores, &largest, score()), nullptr,
      score());
  const DnnDescriptor &sum = addReduction(DnnReduction::Sum, power, row());
  const DnnDescriptor &logarithm =
      addPointwise(DnnPointwise::Logarithm, sum, nullptr, row());
  addPointwise(DnnPointwise::Add, largest, &logarithm, row());
  addProduct(addPointwise(DnnPointwise::Divide, power, &sum,
                          addIntermediate(type, extents)),
             operand(attention.value, type), operand(attention.result, type));
}
