// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The common part of the bodies of the API's ops: operands of one type and
// shape.
#pragma once

#include "meshloom/Engine/OpCall.h"

namespace meshloom::detail {

/// Throws if an extent is negative, or if there are more elements than a
/// program can count.
void checkShape(const Shape &shape, std::string_view op,
                const std::source_location &where);

/// A call without body and layout.
OpCall callOf(std::string_view name, std::vector<Tensor> operands,
              const std::source_location &where);

/// The tensor, or a scalar tensor of the number, which has to fit `type`.
/// `beside`: the tensor whose mesh it will be used on.
Tensor operandLike(const TensorLike &like, DType type, std::string_view op,
                   const Tensor *beside = nullptr);

/// Both as tensors of one type, which is that of the one that is not a number.
struct Pair {
  Tensor x, y;
  std::source_location where;
};
Pair operandPair(const TensorLike &x, const TensorLike &y, std::string_view op);

/// NumPy's result shape; throws, naming both shapes, if they do not broadcast.
Shape broadcastShape(const Shape &x, const Shape &y, std::string_view op,
                     const std::source_location &where);

/// `axis` counted from 0; throws if it is not a dim of a tensor of that rank.
int64_t axisOf(int64_t axis, int64_t rank, std::string_view op,
               const std::source_location &where);
/// Sorted; throws on repeated ones.
std::vector<int64_t> axesOf(std::span<const int64_t> axes, bool allDims,
                            int64_t rank, std::string_view op,
                            const std::source_location &where);

void expectFloat(const Tensor &x, std::string_view op,
                 const std::source_location &where);

/// Returns the list of the result of an op with one result.
inline SmallVector<Value> one(Value value) {
  return {value};
}

} // namespace meshloom::detail
