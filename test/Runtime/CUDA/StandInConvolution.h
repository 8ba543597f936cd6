// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions in plain loops, for the stand-in cuDNN.
#pragma once

#include "StandInNumbers.h"

#include <array>
#include <cstddef>
#include <vector>

namespace meshloom::cuda {

struct ConvolutionTensor {
  DType type{};
  std::vector<int64_t> extents, strides;
  int64_t id = 0, alignment = 0;

  /// Returns how many numbers are from the first to the last one in memory.
  size_t span() const {
    int64_t last = 0;
    for (size_t dim = 0; dim < extents.size(); ++dim)
      last += (extents[dim] - 1) * strides[dim];
    return size_t(last + 1);
  }
  size_t bytes() const { return span() * size_t(numberWidth(type)); }
};

/// The spatial dims of a convolution.
struct ConvolutionWindows {
  DType compute{};
  bool isFlipped = false;
  std::vector<int64_t> strides, dilations, before, after;
};

/// The tensors, by their places in lists.
enum ConvolutionRole : uint8_t { Image, Filter, Response };
struct ConvolutionOperation {
  ConvolutionRole result{};
  ConvolutionWindows windows;
  std::array<ConvolutionTensor, 3> tensors;
};

/// Computes the result from the two other tensors. `isRounded`: from their
/// numbers as bf16 has them.
void convolve(const ConvolutionOperation &operation,
              const std::array<char *, 3> &arrays, bool isRounded);

} // namespace meshloom::cuda
