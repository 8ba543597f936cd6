// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results that kernels write part by part: joined tensors, slices taken at
// fixed places, elements with others put between them.
#pragma once

#include "meshloom/Dialect/SPMD/SPMD.h"

namespace meshloom {

/// A box of iterations, each of which writes one element of a result.
struct KernelPart {
  /// Iteration `i` of a dim reads index `sourceBegin + i * sourceStep` of the
  /// source and writes `resultBegin + i * resultStep` of the result.
  struct Dim {
    int64_t extent;
    int64_t sourceBegin = 0, sourceStep = 1;
    int64_t resultBegin = 0, resultStep = 1;
  };
  /// The tensor whose elements are written; a scalar (or null: zero), if it is
  /// the same one everywhere.
  Value source;
  bool isFill = false;
  SmallVector<Dim> dims;
};

/// Returns whether `op` moves elements, but from several sources, or not as
/// linear indices say: concatenate, take, pad with interior padding, and the
/// sum of two such pads whose elements take turns.
bool isAssembled(Operation *op);

/// Returns the parts to write, in this order; at least one.
SmallVector<KernelPart> partsOf(Operation *op);

/// Per shard of a result dim of size `extent` on `axes`: the iterations whose
/// elements are in its block.
std::vector<Interval> partRanges(const KernelPart::Dim &dim, int64_t extent,
                                 ArrayRef<unsigned> axes, const Mesh &mesh);

} // namespace meshloom
