// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks of attention, which cuDNN does not read as bytes: a kernel makes words
// of them first.
#pragma once

#include "AttentionShape.h"
#include "Launches.h"
#include "LibraryWork.h"

namespace meshloom::cuda {

struct MaskWords {
  LoadedKernel kernel;
  size_t operand = 0;   ///< the bytes
  int64_t count = 0;    ///< of the bytes
  DnnMatrices tensor{}; ///< the words

  /// The words are the operand `number` of the attention.
  static MaskWords of(const DnnMatrices &mask, const LoadedKernel &kernel,
                      size_t number);
};

/// Returns an attention with the kernel in front of it.
LibraryWorkOrError withMaskWords(const Card &card, const MaskWords &words,
                                 const LibraryWorkOrError &attention);

} // namespace meshloom::cuda
