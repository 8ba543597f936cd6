// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AttentionShape: attention of any loops as cuDNN takes it, which knows tensors
// of four dims: two of the batch (examples and heads), and those of a matrix.
#pragma once

#include "meshloom/Core/DeviceCode.h"

#include <array>
#include <optional>
#include <span>

namespace meshloom::cuda {

/// An operand of the call. Its matrix has rows of queries or keys. Dims that it
/// does not have, as a mask that all heads share, have one element.
struct DnnMatrices {
  size_t operand = 0;
  std::array<int64_t, 4> extents{}, strides{};
  int64_t alignment = 0; ///< bytes that divide the address
  auto operator<=>(const DnnMatrices &) const = default;
};

struct AttentionShape {
  using Tensor = DnnMatrices;
  DType type = DType::F32; ///< of all tensors but the bias and the mask
  DType biasType = DType::F32;
  /// The key is a matrix of terms and keys.
  Tensor query = {}, key = {}, value = {}, result = {};
  std::optional<Tensor> bias = {}, mask = {};
  float scale = 1, hidden = 0;
  bool isCausal = false, hidesWhereTrue = false;
  auto operator<=>(const AttentionShape &) const = default;

  /// The loops of an attention, and its tensors in the order of Attention's.
  struct Loops {
    std::span<const int64_t> extents;
    std::vector<std::span<const int64_t>> strides;
    std::vector<int64_t> alignments;
    std::vector<DType> types;
  };
  /// Returns nothing where there is no work, or where the library cannot take
  /// the operands as they lie.
  static std::optional<AttentionShape> of(const Attention &attention,
                                          const Loops &loops);
};

} // namespace meshloom::cuda
