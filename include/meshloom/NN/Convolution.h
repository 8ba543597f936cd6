// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nn: convolutions and pooling, which are ops (API/WindowOps.h), and transposed
// convolutions.
#pragma once

#include "meshloom/API/WindowOps.h"

namespace meshloom::nn {

using meshloom::avg_pool;
using meshloom::conv1d;
using meshloom::conv2d;
using meshloom::conv3d;
using meshloom::max_pool;

/// The options of conv_transpose beside its operands.
struct ConvTransposeOptions {
  /// How far apart elements of x are put; one number for each spatial dim;
  /// none: all 1. "SAME" gives x's size times that, "VALID" what the filters
  /// reach.
  std::vector<int64_t> strides = {};
  Padding padding = "SAME"; ///< or counts of zeros around x
  /// Filters are those of a convolution whose gradient this is, [k..., out,
  /// in]: they are mirrored, as Keras and PyTorch have it. Else, as Flax has
  /// it, [k..., in, out].
  bool transpose_filters = false;
};
/// x [batch, spatial..., in], filters [k..., in, out] -> [batch, spatial'...,
/// out], with 1, 2 or 3 spatial dims: a convolution of x with zeros between its
/// elements. See conv1d for layouts. Throws meshloom::Error if shapes do not
/// fit.
[[nodiscard]] Tensor conv_transpose(const Tensor &x, const Tensor &filters,
                                    const ConvTransposeOptions &options = {},
                                    Where loc = Where::current());

} // namespace meshloom::nn
