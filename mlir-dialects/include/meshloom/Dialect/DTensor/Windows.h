// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions and windowed reductions along each dim, as plain values, and the
// arithmetic of windows that verifiers, rules, gradients and lowerings share.
#pragma once

#include "meshloom/Support/LLVM.h"

#include "mlir/IR/Region.h"

#include "meshloom/Core/Collective.h"

namespace meshloom::dtensor {

/// The attributes of a window over every dim of a tensor; lists have one entry
/// a dim, `padding` two (low, high).
struct WindowSpec {
  SmallVector<int64_t> dimensions, strides, baseDilations, windowDilations,
      padding;

  /// A window of `dimensions` that moves by one and is not padded.
  static WindowSpec of(ArrayRef<int64_t> dimensions);
};

/// The attributes of a convolution. Lists have one entry a spatial dim,
/// `padding` two (low, high).
struct ConvolutionSpec {
  SmallVector<int64_t> strides, padding, lhsDilation, rhsDilation;
  SmallVector<bool> reversal;
  int64_t inputBatch = 0, inputFeature = 1;
  SmallVector<int64_t> inputSpatial;
  int64_t kernelInput = 1, kernelOutput = 0;
  SmallVector<int64_t> kernelSpatial;
  int64_t outputBatch = 0, outputFeature = 1;
  SmallVector<int64_t> outputSpatial;
  int64_t featureGroups = 1, batchGroups = 1;

  /// Strides and dilations of one, no padding, NHWC activations and HWIO
  /// kernels, with `spatial` spatial dims.
  static ConvolutionSpec of(unsigned spatial);
};

/// How many elements `extent` has with `dilation - 1` holes between each two.
int64_t dilated(int64_t extent, int64_t dilation);

/// How many positions a window of `window` elements (`windowDilation` apart)
/// has in a dim of `extent` elements (`baseDilation` apart, `low` and `high`
/// more at its ends) where it moves by `stride`.
int64_t windowCount(int64_t extent, int64_t window, int64_t stride,
                    int64_t baseDilation, int64_t windowDilation, int64_t low,
                    int64_t high);

/// The kind that `region` combines two scalars by, where it is one plain add,
/// multiply, min, max, and or or of its two arguments.
std::optional<ReduceKind> plainKind(Region &region);

} // namespace meshloom::dtensor
