// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The comparisons of a kernel's body that ask where an iteration is along one
// loop: joined and padded tensors read their parts under them. Between the
// borders that they have, their outcomes are known, so that loops over the
// pieces read without conditions. (A vector that is read under a condition
// which holds for none of its lanes takes hundreds of cycles where there is no
// memory at its address.)
#pragma once

#include "meshloom/Dialect/SPMD/SPMD.h"

namespace meshloom {

/// `compare` holds where begin <= index < end.
struct IndexRange {
  Operation *compare;
  int64_t begin, end;

  bool contains(int64_t index) const { return begin <= index && index < end; }
};

/// Returns the comparisons that depend on the index of `loop` alone.
SmallVector<IndexRange> rangesAlong(spmd::KernelOp kernel, unsigned loop);

/// Returns the indices at which pieces of `loop` begin but the first one:
/// nothing where one loop over all of it is better.
SmallVector<int64_t> bordersOf(spmd::KernelOp kernel, unsigned loop,
                               ArrayRef<IndexRange> ranges);

} // namespace meshloom
