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
  DType type = DType::F32;
  std::array<int64_t, 4> extents{}, strides{};
  int64_t alignment = 0; ///< bytes that divide the address
  auto operator<=>(const DnnMatrices &) const = default;
};

/// Work of an attention: its result, also with numbers of the softmax's rows
/// for the gradient, or the gradient.
enum class AttentionForm : uint8_t { Result, ResultAndRows, Gradient };

struct AttentionShape {
  using Tensor = DnnMatrices;
  AttentionForm form = AttentionForm::Result;
  /// The type of the query, the key, the value, the result and its gradient.
  /// The other gradients may be f32 too, and a bias any float.
  DType type = DType::F32;
  /// The key is a matrix of terms and keys.
  Tensor query = {}, key = {}, value = {}, result = {};
  std::optional<Tensor> bias = {}, mask = {};
  /// A number for each row of the scores, which the gradient computes weights
  /// from: the logarithm of the sum of the powers of the row's scores. With a
  /// mask, which may hide a whole row, the largest score, and the sum of the
  /// powers of the distances from it: a large hidden number would take up the
  /// logarithm of the number of keys.
  std::optional<Tensor> logarithms = {}, largest = {}, sums = {};
  /// The gradients of the tensors.
  Tensor resultGradient = {}, queryGradient = {}, keyGradient = {},
         valueGradient = {};
  float scale = 1, hidden = 0;
  bool isCausal = false;
  auto operator<=>(const AttentionShape &) const = default;

  /// The loops of an attention, and its tensors: the query, the key, the value,
  /// the result, the bias and the mask's words where these are there, the
  /// numbers of the rows, and the gradients of the result, the query, the key
  /// and the value.
  struct Loops {
    std::span<const int64_t> extents;
    std::vector<std::span<const int64_t>> strides;
    std::vector<int64_t> alignments;
    std::vector<DType> types;
    std::vector<size_t> operands; ///< their numbers in the call
  };
  /// Returns nothing where there is no work, or where the library cannot take
  /// the operands as they lie.
  static std::optional<AttentionShape>
  of(const Attention &attention, AttentionForm form, const Loops &loops);
};

} // namespace meshloom::cuda
