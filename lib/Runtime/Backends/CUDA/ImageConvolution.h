// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ImageConvolution: a convolution of any loops as cuDNN takes it, which knows
// an image, a filter and a response, and three forms of work on them.
#pragma once

#include "meshloom/Core/DeviceCode.h"

#include <array>
#include <optional>

namespace meshloom::cuda {

/// Which of a convolution's tensors is computed from the two others: the
/// response, the image or the filter.
enum class ConvolutionForm : uint8_t { Forward, DataGradient, FilterGradient };

/// The response is the sum over channels and places k of the filter of
///
///   image[n, c, p * stride - padBefore + k * dilation] * filter[o, c, k]
///
/// for place p of the response. Channels are in as many groups as the image has
/// more of them than the filter.
struct ImageConvolution {
  /// The tensors, by their places in lists.
  enum Role : uint8_t { Image, Filter, Response };
  /// Dims are the batch or features of the result, channels, and space.
  struct Tensor {
    size_t operand = 0; ///< of the call: lhs, rhs or out
    std::vector<int64_t> extents, strides;
    int64_t offset = 0;    ///< elements behind the operand's beginning
    int64_t alignment = 0; ///< bytes that divide the address
    auto operator<=>(const Tensor &) const = default;
  };
  /// A spatial dim.
  struct Dim {
    int64_t stride = 1, dilation = 1, padBefore = 0, padAfter = 0;
    auto operator<=>(const Dim &) const = default;
  };
  DType type = DType::F32;
  ConvolutionForm form = ConvolutionForm::Forward;
  bool isFlipped = false; ///< the filter is read from its end
  std::array<Tensor, 3> tensors;
  std::vector<Dim> dims;
  auto operator<=>(const ImageConvolution &) const = default;

  /// The loops of a convolution in a box.
  struct Box {
    std::span<const int64_t> extents, origin;
    std::array<std::span<const int64_t>, 3> strides; ///< lhs, rhs and out
    std::array<int64_t, 3> alignments; ///< bytes that divide their addresses
  };
  /// Returns nothing where there is no work, or where the library cannot take
  /// the operands as they lie.
  static std::optional<ImageConvolution> of(const ProductKind &kind,
                                            const Box &box);
};

} // namespace meshloom::cuda
