// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AttentionShape.h"

#include <algorithm>
#include <array>
#include <initializer_list>

using namespace meshloom;
using namespace meshloom::cuda;

namespace {
/// The loops of the batch's two dims. Heads may be two loops, where queries
/// share keys in groups: the outer one counts the groups.
struct BatchLoops {
  std::optional<unsigned> examples;
  std::vector<unsigned> heads;
};
} // namespace

/// Returns the batch's loops of several iterations, the outer ones first.
/// Nothing where there are too many.
static std::optional<BatchLoops>
batchLoops(const Attention &attention, const AttentionShape::Loops &loops) {
  std::vector<unsigned> wide;
  for (unsigned loop = 0; loop < attention.batchLoops; ++loop)
    if (loops.extents[loop] != 1)
      wide.push_back(loop);
  std::ranges::stable_sort(wide, std::greater(), [&](unsigned loop) {
    return loops.strides[0][loop];
  });
  if (wide.size() > 3)
    return std::nullopt;
  BatchLoops batch;
  if (wide.size() > 1) {
    batch.examples = wide.front();
    wide.erase(wide.begin());
  }
  batch.heads = std::move(wide);
  return batch;
}

namespace {
struct DimPlace {
  int64_t extent = 1, stride = 0; ///< 0 where the tensor has no such dim
};
} // namespace

/// Returns the dim of some loops in an operand, the outer ones first; nothing
/// where they are no one dim there.
static std::optional<DimPlace> placeOf(std::span<const unsigned> dim,
                                       size_t operand,
                                       const AttentionShape::Loops &loops) {
  DimPlace place;
  for (unsigned loop : dim) {
    const int64_t stride = loops.strides[operand][loop],
                  extent = loops.extents[loop];
    // The loops inside of the groups have no dim in keys.
    if (stride == 0)
      continue;
    if (place.extent != 1 && place.stride != stride * extent)
      return std::nullopt;
    if (place.stride == 0 && loop != dim.front())
      return std::nullopt;
    place = {place.extent * extent, stride};
  }
  return place;
}

/// Places a tensor whose dims are these loops. A dim that the tensor does not
/// have is one element.
static std::optional<AttentionShape::Tensor>
place(size_t operand, std::span<const std::span<const unsigned>, 4> dims,
      const AttentionShape::Loops &loops) {
  AttentionShape::Tensor tensor{.operand = loops.operands[operand],
                                .type = loops.types[operand],
                                .alignment = loops.alignments[operand]};
  int64_t dense = 1;
  for (size_t dim = dims.size(); dim-- > 0;) {
    const auto found = placeOf(dims[dim], operand, loops);
    if (!found)
      return std::nullopt;
    tensor.extents[dim] = found->extent;
    tensor.strides[dim] = found->stride == 0 ? dense : found->stride;
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
                       .isCausal = attention.isCausal};
  size_t operand = 0;
  bool isTaken = true;
  auto spanOf = [](const std::optional<unsigned> &loop) {
    return loop ? std::span(&*loop, 1) : std::span<const unsigned>();
  };
  auto next = [&](std::initializer_list<DType> types,
                  std::optional<unsigned> rows,
                  std::optional<unsigned> columns) {
    const std::array dims{spanOf(batch->examples),
                          std::span<const unsigned>(batch->heads), spanOf(rows),
                          spanOf(columns)};
    const auto tensor = place(operand, dims, loops);
    isTaken &= tensor && std::ranges::count(types, loops.types[operand]) != 0;
    ++operand;
    return tensor.value_or(Tensor());
  };
  auto hasBatch = [&](const Tensor &tensor, bool mayBeShared) {
    return std::ranges::all_of(std::array<size_t, 2>{0, 1}, [&](size_t dim) {
      return tensor.extents[dim] == shape.query.extents[dim] ||
             (mayBeShared && tensor.extents[dim] == 1);
    });
  };
  const unsigned query = attention.queryLoop(), key = attention.keyLoop(),
                 term = attention.termLoop(), column = attention.columnLoop();
  shape.query = next({type}, query, term);
  shape.key = next({type}, term, key);
  shape.value = next({type}, key, column);
  shape.result = next({type}, query, column);
  if (attention.bias) {
    shape.bias = next({DType::F32, DType::BF16, DType::F16}, query, key);
    isTaken &= hasBatch(*shape.bias, /*mayBeShared=*/true);
  }
  if (attention.mask) {
    shape.mask = next({DType::I32}, query, key);
    isTaken &= hasBatch(*shape.mask, /*mayBeShared=*/true);
  }
  auto nextRows = [&] { return next({DType::F32}, query, std::nullopt); };
  if (form != AttentionForm::Result && !attention.mask) {
    shape.logarithms = nextRows();
  } else if (form != AttentionForm::Result) {
    shape.largest = nextRows();
    shape.sums = nextRows();
  }
  if (form == AttentionForm::Gradient) {
    shape.resultGradient = next({type}, query, column);
    shape.queryGradient = next({type, DType::F32}, query, term);
    shape.keyGradient = next({type, DType::F32}, key, term);
    shape.valueGradient = next({type, DType::F32}, key, column);
    isTaken &= shape.keyGradient.extents[1] == shape.key.extents[1] &&
               shape.valueGradient.extents[1] == shape.value.extents[1];
  }
  return isTaken ? std::optional(shape) : std::nullopt;
}
