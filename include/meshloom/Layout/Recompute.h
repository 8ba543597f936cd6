// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that are computed again where they are used, so that no device keeps
// them in between.
#pragma once

#include "meshloom/Core/MachineModel.h"
#include "meshloom/Support/LLVM.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace meshloom {

/// Ops in a row of a function's block. Some of their results are not used
/// before the boundary of the recomputation, and are computed again then.
struct RecomputedPart {
  size_t first = 0, end = 0; ///< the ops [first, end), by number in the block
  int64_t savedBytes = 0;    ///< that a device need not keep
  std::string place;         ///< in the source: "f.py:3:4 to f.py:9:2"
};

/// A choice of values to compute again, in a function whose values have
/// layouts. It also holds for copies of the function.
struct Recomputation {
  /// The number of the op up to which parts reach. In a training step it is
  /// about the first op of the backward part.
  size_t boundary = 0;
  std::vector<RecomputedPart> parts; ///< in program order, disjoint
  Cost time = 0;                     ///< of a step, as the search prices it
  int64_t peak = 0;                  ///< bytes per device, likewise
};

/// Returns the cheapest recomputation that is found whose peak is at most
/// `most` bytes per device, or the one with the lowest peak. It has no parts
/// where the function keeps to `most` as it is. Fails, with a diagnostic, where
/// a value has no layout.
FailureOr<Recomputation> findRecomputation(mlir::func::FuncOp function,
                                           const MachineModel &machine,
                                           int64_t most);

/// Computes the parts again: the ops of a part move into a region that gives
/// only what is used before the boundary, and a copy of those that the other
/// results need is put before the first use of one of these. Both are
/// `dtensor.case`s with `dtensor.recomputed`, which no pass merges, and with
/// `dtensor.inlined`.
void recompute(mlir::func::FuncOp function, const Recomputation &recomputation);

} // namespace meshloom
