// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops and branches of values with lanes. Which lanes a carried value has is a
// fixpoint; a condition that differs from place to place runs all places until
// the last one is done, and where branches differ all are computed.
#pragma once

#include "meshloom/Lanes/LaneBuilder.h"

#include <functional>

namespace meshloom::lanes {

using MaybeValues = FailureOr<SmallVector<Value>>;

/// The parts of a loop. Each part may be asked for again: an attempt shows
/// which lanes the carried values have.
struct LoopParts {
  /// The governor of what no condition stops.
  static constexpr int always = -1;

  /// Gives i1 scalars; the loop goes on while any of them holds anywhere.
  std::function<MaybeValues(ArrayRef<Value> carried)> condition;
  /// Gives the next values. `diverges`: not all places are still running.
  std::function<MaybeValues(ArrayRef<Value> carried, bool diverges)> body;
  /// Takes out a loop that turned out not to fit.
  std::function<void(dtensor::WhileOp)> retract;
  /// For each carried value the condition that it goes by.
  SmallVector<int> governors;
};

/// The carried values in the end.
MaybeValues buildWhile(LaneBuilder &b, ArrayRef<Value> inits,
                       const LoopParts &parts);

/// Builds branch `index`, else the last one; returns values of the local
/// `types`. `branch` makes number i; `diverges`: others are made beside it.
MaybeValues
buildCase(LaneBuilder &b, Value index, ArrayRef<RankedTensorType> types,
          unsigned branches,
          llvm::function_ref<MaybeValues(unsigned i, bool diverges)> branch);

} // namespace meshloom::lanes
