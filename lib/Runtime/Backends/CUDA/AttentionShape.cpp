// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AttentionShape.h"

#include <algorithm>

using namespace meshloom;
using namespace meshloom::cuda;

/// The loops of a tensor's dims; nothing: the dim has one element.
using DimLoops = std::array<std::optional<unsigned>, 4>;

/// Returns the loops of the batch's two dims, the outer one first: those of
/// several iterations. Nothing where there are more.
static std::optional<std::array<std::optional<unsigned>, 2>>
batchLoops(const Attention &attention, const AttentionShape::Loops &loops) {
  std::vector<unsigned> wide;
  for (unsigned loop = 0; loop < attention.batchLoops; ++loop)
    if (loops.extents[loop] != 1)
      wide.push_back(loop);
  if (wide.size() > 2)
    return std::nullopt;
  std::ranges::stable_sort(wide, std::greater(), [&](unsigned loop) {
    return loops.strides[0][loop];
  });
  std::array<std::optional<unsigned>, 2> result;
  for (size_t i = 0; i < wide.size(); ++i)
    result[2 - wide.size() + i] = wide[i];
  return result;
}

/// Places a tensor whose dims are these loops. A dim that the tensor does not
/// have is one element.
static AttentionShape::Tensor place(size_t operand, const DimLoops &dims,
                                    const AttentionShape::Loops &loops) {
  AttentionShape::Tensor tensor{.operand = operand,
                                .alignment = loops.alignments[operand]};
  int64_t dense = 1;
  for (size_t dim = dims.size(); dim-- > 0;) {
    const int64_t stride = dims[dim] ? loops.strides[operand][*dims[dim]] : 0;
    tensor.extents[dim] = stride == 0 ? 1 : loops.extents[*dims[dim]];
    tensor.strides[dim] = stride == 0 ? dense : stride;
    dense = std::max(dense, tensor.extents[dim] * tensor.strides[dim]);
  }
  return tensor;
}

std::optional<AttentionShape> AttentionShape::of(const Attention &attention,
                                                 const Loops &loops) {
  const auto batch = batchLoops(attention, loops);
  const DType type = loops.types[0];
  if (!batch ||
      std::ranges::any_of(loops.extents,
                          [](int64_t extent) { return extent < 1; }) ||
      (type != DType::F32 && type != DType::BF16 && type != DType::F16) ||
      std::ranges::any_of(std::span(loops.types).first(4),
                          [&](DType other) { return other != type; }))
    return std::nullopt;
  AttentionShape shape{.type = type,
                       .scale = float(attention.scale),
                       .hidden = float(attention.hidden),
                       .isCausal = attention.isCausal,
                       .hidesWhereTrue = attention.hidesWhereTrue};
  auto tensor = [&](size_t operand, unsigned rows, unsigned columns) {
    return place(operand, {(*batch)[0], (*batch)[1], rows, columns}, loops);
  };
  const unsigned query = attention.queryLoop(), key = attention.keyLoop(),
                 term = attention.termLoop(), column = attention.columnLoop();
  shape.query = tensor(0, query, term);
  shape.key = tensor(1, term, key);
  shape.value = tensor(2, key, column);
  shape.result = tensor(3, query, column);
  size_t operand = 4;
  if (attention.bias) {
    shape.biasType = loops.types[operand];
    if (!isFloat(shape.biasType) || shape.biasType == DType::F64)
      return std::nullopt;
    shape.bias = tensor(operand++, query, key);
  }
  if (attention.mask) {
    if (loops.types[operand] != DType::I1)
      return std::nullopt;
    shape.mask = tensor(operand, query, key);
  }
  return shape;
}
