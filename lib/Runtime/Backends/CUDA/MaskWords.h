// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks of attention, which cuDNN does not read as bytes: a kernel computes
// words first.
#pragma once

#include "Launches.h"
#include "LibraryWork.h"

#include "meshloom/Runtime/Plan/Shared/StepGraph.h"

namespace meshloom::cuda {

/// The kernel of a mask in an attention whose loops have these extents and
/// origins. `first`: the access of the mask's first operand.
struct MaskWords {
  MaskWords(const AttentionMask &mask, const LoadedKernel &kernel, size_t first,
            std::span<const int64_t> extents, std::span<const int64_t> origins,
            std::span<const plan::AccessElements> elements);

  LoadedKernel kernel;
  size_t first;
  std::vector<int64_t> extents, origins;
  /// Per operand, then of the words, which are dense.
  std::vector<std::vector<int64_t>> strides;
  int64_t count = 1; ///< of the words
};

/// Returns an attention with the kernel in front of it.
LibraryWorkOrError withMaskWords(const Card &card, const MaskWords &words,
                                 const LibraryWorkOrError &attention);

} // namespace meshloom::cuda
