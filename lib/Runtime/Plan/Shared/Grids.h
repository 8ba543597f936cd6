// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Grids: how a product of matrices, a convolution or a reduction of windows is
// cut, along one loop or two. A chunk of few rows (or columns) copies as much
// of the other operand as one of many.
#pragma once

#include "meshloom/Runtime/Plan/Shared/Work.h"

namespace meshloom::plan {

/// Which operands of a product a loop counts along.
enum class Side : uint8_t { Batch, Left, Right, Sum };
Side sideOf(const DotStep &step, unsigned loop);

/// Where the loop that a product would be cut along leaves its chunks matrices
/// that are notably slower than others: fills in grids of `chunks` chunks and
/// puts better loops first. Leaves work alone where that loop is as good.
/// Returns whether it did anything.
bool findGrids(const DotStep &step, int64_t chunks, Work &work);

/// The same for a library's convolution or reduction of windows, of which it
/// may also find that fewer chunks are better (Work::mostChunks).
bool findGrids(const KernelStep &step, int64_t chunks, Work &work);

/// Returns into how many chunks, of the `chunks` wanted, a product may be cut
/// such that all of them together take at most twice the time of the whole.
int64_t efficientChunks(const DotStep &step, int64_t chunks, const Work &work);

} // namespace meshloom::plan
