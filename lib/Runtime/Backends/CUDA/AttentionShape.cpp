// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AttentionShape.h"

#include <algorithm>
#include <initializer_list>

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
                                .type = loops.types[operand],
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
                                                 AttentionForm form,
                                                 const Loops &loops) {
  const auto batch = batchLoops(attention, loops);
  const DType type = loops.types[0];
  if (!batch ||
      std::ranges::any_of(loops.extents,
                          [](int64_t extent) { return extent < 1; }) ||
      (type != DType::F32 && type != DType::BF16 && type != DType::F16))
    return std::nullopt;
  AttentionShape shape{.form = form,
                       .type = type,
                       .scale = float(attention.scale),
                       .hidden = float(attention.hidden),
                       .isCausal = attention.isCausal,
                       .hidesWhereTrue = attention.hidesWhereTrue};
  size_t operand = 0;
  bool haveTypes = true;
  using DimLoop = std::optional<unsigned>;
  auto next = [&](std::initializer_list<DType> types, DimLoop rows,
                  DimLoop columns) {
    haveTypes &= std::ranges::count(types, loops.types[operand]) != 0;
    return place(operand++, {(*batch)[0], (*batch)[1], rows, columns}, loops);
  };
  const unsigned query = attention.queryLoop(), key = attention.keyLoop(),
                 term = attention.termLoop(), column = attention.columnLoop();
  shape.query = next({type}, query, term);
  shape.key = next({type}, term, key);
  shape.value = next({type}, key, column);
  shape.result = next({type}, query, column);
  if (attention.bias)
    shape.bias = next({DType::F32, DType::BF16, DType::F16}, query, key);
  if (attention.mask)
    shape.mask = next({DType::I1}, query, key);
  if (form != AttentionForm::Result)
    shape.logarithms = next({DType::F32}, query, std::nullopt);
  if (form == AttentionForm::Gradient) {
    shape.resultGradient = next({type}, query, column);
    shape.queryGradient = next({type, DType::F32}, query, term);
    shape.keyGradient = next({type, DType::F32}, key, term);
    shape.valueGradient = next({type, DType::F32}, key, column);
  }
  return haveTypes ? std::optional(shape) : std::nullopt;
}
